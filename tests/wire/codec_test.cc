// What crosses the wire arrives, whole: every struct of structs.def and every call of calls.def,
// each member with a value of its own.
#include "wire/codec.h"

#include <capnp/message.h>
#include <capnp/schema.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hone {
namespace {

constexpr int kMostDepth = 4;  // of structs within structs: a shape holds shapes

// Fills a value with something that is nowhere else.
class Filler {
 public:
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1);
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(Next());
    } else {
      Fill(value);
    }
  }

 private:
  int Next() { return next_ = next_ % 60 + 1; }  // within all bounds

  void Fill(std::string& value) { value = "text " + std::to_string(Next()); }
  void Fill(std::string_view& value) { value = "view"; }
  void Fill(std::pair<std::string, std::string>& value) {
    (*this)(value.first);
    (*this)(value.second);
  }
  void Fill(std::pair<uint32_t, uint32_t>& value) {
    (*this)(value.first);
    (*this)(value.second);
  }
  void Fill(OpcodeCount& value) {
    (*this)(value.opcode);
    (*this)(value.count);
  }
  void Fill(Decisions& value) {
    (*this)(value.otherwise);
    (*this)(value.seed);
    value.choices = {{3, true}, {5, false}};
  }
  void Fill(DecisionsPtr& value) {
    Decisions decisions;
    Fill(decisions);
    value = std::make_shared<const Decisions>(decisions);
  }
  void Fill(CompilePlan& value) {
    value.choices = {{7, "fuse"}, {8, "keep"}};
    value.flags = {{"flag", "value"}, {"other", ""}};
  }
  template <class T>
  void Fill(std::vector<T>& value) {
    if (depth_ >= kMostDepth) return;
    ++depth_;
    value.resize(2);
    for (T& one : value) (*this)(one);
    --depth_;
  }
  void Fill(Nothing&) {}

#define HONE_STRUCT(core, schema) void Fill(core& value) {
#define HONE_FIELD(member, field) (*this)(value.member);
#define HONE_END }
#include "wire/structs.def"

#define HONE_CALL(name, doing) void Fill([[maybe_unused]] name##Request& value) {
#define HONE_TAKES(type, member, field) (*this)(value.member);
#define HONE_END }
#include "wire/calls.def"

  void Fill(WorkerFacts& value) { FillHello(value); }
  void Fill(Applied& value) { FillApply(value); }
  void Fill(Exported& value) { FillExport(value); }
  void Fill(RunTimeReport& value) { FillRunTime(value); }
  void Fill(RawLoopResult& value) { FillRawLoop(value); }
  void Fill(Question& value) { FillConverse(value); }
  void Fill(Extracted& value) { FillExtract(value); }
#define HONE_GIVES(name, type) void Fill##name([[maybe_unused]] name##Request::Result& value) {
#define HONE_FIELD(member, field) (*this)(value.member);
#define HONE_END }
#include "wire/calls.def"

  int next_ = 0;
  int depth_ = 0;
};

bool Same(const DecisionsPtr& a, const DecisionsPtr& b) { return HashOf(a) == HashOf(b); }
bool Same(const OpcodeCount& a, const OpcodeCount& b) {
  return a.opcode == b.opcode && a.count == b.count;
}
template <class T>
auto Same(const T& a, const T& b) -> decltype(static_cast<bool>(a == b)) {
  return a == b;
}
#define HONE_STRUCT(core, schema) bool SameFields(const core& a, const core& b);
#include "wire/structs.def"
template <class T>
bool SameMember(const T& a, const T& b);
template <class T>
bool SameMember(const std::vector<T>& a, const std::vector<T>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!SameMember(a[i], b[i])) return false;
  }
  return a.size() == b.size();
}
template <class T, class = void>
constexpr bool kIsListed = false;
template <class T>
constexpr bool kIsListed<
    T, std::void_t<decltype(SameFields(std::declval<const T&>(), std::declval<const T&>()))>> =
    true;
template <class T>
bool SameMember(const T& a, const T& b) {
  if constexpr (kIsListed<T>) {
    return SameFields(a, b);
  } else {
    return Same(a, b);
  }
}
#define HONE_STRUCT(core, schema) bool SameFields(const core& a, const core& b) {
#define HONE_FIELD(member, field) \
  if (!SameMember(a.member, b.member)) return false;
#define HONE_END \
  return true;   \
  }
#include "wire/structs.def"

template <class Schema>
unsigned FieldsOf() {
  return capnp::Schema::from<Schema>().getFields().size();
}

TEST(Codec, EveryStructArrivesWhole){
#define HONE_STRUCT(core, schema)                          \
  {                                                        \
    SCOPED_TRACE(#core);                                   \
    core sent, received;                                   \
    Filler()(sent);                                        \
    capnp::MallocMessageBuilder message;                   \
    const auto builder = message.initRoot<wire::schema>(); \
    wire::ToWire(sent, builder);                           \
    wire::FromWire(builder.asReader(), received);          \
    EXPECT_TRUE(SameFields(sent, received));               \
    EXPECT_FALSE(SameFields(sent, core()));                \
  }
#include "wire/structs.def"
}

TEST(Codec, EveryRequestArrivesWhole){
#define HONE_CALL(name, doing)                                         \
  {                                                                    \
    SCOPED_TRACE(#name);                                               \
    name##Request sent, received;                                      \
    Filler()(sent);                                                    \
    capnp::MallocMessageBuilder message;                               \
    const auto builder = message.initRoot<wire::name##Call::Params>(); \
    wire::ToWire(sent, builder);                                       \
    wire::FromWire(builder.asReader(), received);
#define HONE_TAKES(type, member, field) \
  EXPECT_TRUE(SameMember(sent.member, received.member)) << #member;
#define HONE_END }
#include "wire/calls.def"
}

TEST(Codec, EveryAnswerArrivesWhole){
#define HONE_CALL(name, doing)                                          \
  {                                                                     \
    SCOPED_TRACE(#name);                                                \
    name##Request::Result sent, received;                               \
    Filler()(sent);                                                     \
    capnp::MallocMessageBuilder message;                                \
    const auto builder = message.initRoot<wire::name##Call::Results>(); \
    wire::ToWire(sent, builder);                                        \
    wire::FromWire(builder.asReader(), received);
#define HONE_FIELD(member, field) EXPECT_TRUE(SameMember(sent.member, received.member)) << #member;
#define HONE_IS(field) EXPECT_TRUE(SameMember(sent, received));
#define HONE_END }
#include "wire/calls.def"
}

// A field that is added to the schema and not to the tables would be lost without a word.
TEST(Codec, EveryFieldOfTheSchemaHasALine) {
  unsigned lines = 0;
#define HONE_STRUCT(core, schema)                     \
  lines = 0;                                          \
  {                                                   \
    const unsigned fields = FieldsOf<wire::schema>(); \
    const char* const name = #schema;
#define HONE_FIELD(member, field) ++lines;
#define HONE_END                    \
  EXPECT_EQ(lines, fields) << name; \
  }
#include "wire/structs.def"
#define HONE_CALL(name, doing) lines = 0;
#define HONE_TAKES(type, member, field) ++lines;
#define HONE_GIVES(name, type)                                     \
  EXPECT_EQ(lines, FieldsOf<wire::name##Call::Params>()) << #name; \
  lines = 1; /* failure */                                         \
  {                                                                \
    const unsigned fields = FieldsOf<wire::name##Call::Results>(); \
    const char* const call = #name;
#define HONE_FIELD(member, field) ++lines;
#define HONE_IS(field) ++lines;
#define HONE_END                    \
  EXPECT_EQ(lines, fields) << call; \
  }
#include "wire/calls.def"
}

TEST(Codec, NumbersBeyondTheirBoundsAreReadAsTheBound) {
  capnp::MallocMessageBuilder message;
  auto report = message.initRoot<wire::ComparisonReport>();
  report.setVerdict(200);
  ComparisonReport read;
  wire::FromWire(report.asReader(), read);
  EXPECT_EQ(read.verdict, Verdict::kCannotTell);

  auto race = message.initRoot<wire::RaceOptions>();
  race.setMostPairs(4'000'000'000);
  RaceOptions options;
  wire::FromWire(race.asReader(), options);
  EXPECT_EQ(options.most_pairs, 1'000'000);
}

TEST(Codec, AFailureIsToldFromAnAnswer) {
  capnp::MallocMessageBuilder message;
  auto results = message.initRoot<wire::HoldCall::Results>();
  Error error;
  EXPECT_FALSE(wire::FromWire(results.asReader().getFailure(), error));
  wire::ToWire(Error{ErrorCode::kDeadline, ""}, results.initFailure());
  EXPECT_TRUE(wire::FromWire(results.asReader().getFailure(), error));
  EXPECT_EQ(error.code, ErrorCode::kDeadline);
}

}  // namespace
}  // namespace hone
