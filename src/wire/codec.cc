#include "wire/codec.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

namespace hone::wire {
namespace {

template <class T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;

// Two numbers in one word, many of which are sent.
uint64_t Packed(const OpcodeCount& count) {
  return static_cast<uint64_t>(count.opcode) << 32 | count.count;
}
uint64_t Packed(const std::pair<uint32_t, uint32_t>& pair) {
  return uint64_t{pair.first} << 32 | pair.second;
}
void Unpack(uint64_t word, OpcodeCount& count) {
  count = {static_cast<uint16_t>(word >> 32), static_cast<uint32_t>(word)};
}
void Unpack(uint64_t word, std::pair<uint32_t, uint32_t>& pair) {
  pair = {static_cast<uint32_t>(word >> 32), static_cast<uint32_t>(word)};
}

void ToWire(const std::pair<std::string, std::string>& attribute, Attribute::Builder out) {
  out.setName(attribute.first);
  out.setValue(attribute.second);
}
void FromWire(Attribute::Reader in, std::pair<std::string, std::string>& attribute) {
  attribute = {in.getName().cStr(), in.getValue().cStr()};
}

// Texts, or the numbers of a vector, as bytes.
template <class T>
capnp::Data::Reader Bytes(const T& value) {
  return {reinterpret_cast<const kj::byte*>(value.data()),
          value.size() * sizeof(typename T::value_type)};
}

template <class Values, class List>
void PutList(const Values& values, List out) {
  using T = typename Values::value_type;
  using Wire = decltype(out.asReader()[0]);
  for (unsigned i = 0; i < out.size(); ++i) {
    if constexpr (kIsNumber<T>) {
      out.set(i, static_cast<Wire>(values[i]));
    } else if constexpr (std::is_same_v<Wire, capnp::Text::Reader>) {
      out.set(i, Wire(values[i].c_str(), values[i].size()));
    } else if constexpr (std::is_same_v<Wire, capnp::Data::Reader>) {
      out.set(i, Bytes(values[i]));
    } else if constexpr (std::is_same_v<Wire, uint64_t>) {
      out.set(i, Packed(values[i]));
    } else if constexpr (std::is_same_v<T, DecisionsPtr>) {
      if (values[i] != nullptr) ToWire(*values[i], out[i]);
    } else if constexpr (kIsVector<T>) {
      PutList(values[i], out.init(i, static_cast<unsigned>(values[i].size())));
    } else {
      ToWire(values[i], out[i]);
    }
  }
}

// What is empty is not sent, and read as empty.
template <class T, class Builder, class Get, class Set, class Init>
void Put(const T& value, Builder out, Get get, Set set, Init init) {
  using Wire = decltype(get(out.asReader()));
  if constexpr (kIsNumber<T>) {
    set(out, static_cast<Wire>(value));
  } else if constexpr (std::is_same_v<Wire, capnp::Text::Reader>) {
    if (!value.empty()) set(out, Wire(value.c_str(), value.size()));
  } else if constexpr (std::is_same_v<Wire, capnp::Data::Reader>) {
    if (!value.empty()) set(out, Bytes(value));
  } else if constexpr (kIsVector<T>) {
    if (!value.empty()) PutList(value, init(out, static_cast<unsigned>(value.size())));
  } else if constexpr (std::is_same_v<T, DecisionsPtr>) {
    if (value != nullptr) ToWire(*value, init(out));
  } else {
    ToWire(value, init(out));
  }
}

template <class Wire, class T>
void Take(const Wire& in, T& value) {
  if constexpr (kIsNumber<T>) {
    value = static_cast<T>(in);
  } else if constexpr (std::is_same_v<Wire, capnp::Text::Reader>) {
    value.assign(in.begin(), in.size());
  } else if constexpr (std::is_same_v<Wire, capnp::Data::Reader> && kIsVector<T>) {
    value.resize(in.size() / sizeof(typename T::value_type));
    if (!value.empty()) std::memcpy(value.data(), in.begin(), Bytes(value).size());
  } else if constexpr (std::is_same_v<Wire, capnp::Data::Reader>) {
    value = {reinterpret_cast<const char*>(in.begin()), in.size()};
  } else if constexpr (kIsVector<T>) {
    value.reserve(in.size());
    for (const auto& one : in) Take(one, value.emplace_back());
  } else if constexpr (std::is_same_v<Wire, uint64_t>) {
    Unpack(in, value);
  } else if constexpr (std::is_same_v<T, DecisionsPtr>) {
    hone::Decisions decisions;
    FromWire(in, decisions);
    if (!decisions.AcceptAll())
      value = std::make_shared<const hone::Decisions>(std::move(decisions));
  } else {
    FromWire(in, value);
  }
}

}  // namespace

void ToWire(const Error& error, Failure::Builder out) {
  out.setCode(static_cast<uint8_t>(error.code));
  out.setMessage(error.message);
}

bool FromWire(Failure::Reader in, Error& error) {
  if (!in.hasMessage()) return false;
  error.code = static_cast<ErrorCode>(
      std::min<uint8_t>(in.getCode(), static_cast<uint8_t>(ErrorCode::kInternal)));
  error.message = in.getMessage().cStr();
  return true;
}

void ToWire(const hone::Decisions& decisions, Decisions::Builder out) {
  out.setOtherwise(static_cast<uint8_t>(decisions.otherwise));
  out.setSeed(decisions.seed);
  const auto size = static_cast<unsigned>(decisions.choices.size());
  auto keys = out.initKeys(size);
  auto accept = out.initAccept(size);
  for (unsigned i = 0; i < size; ++i) {
    keys.set(i, decisions.choices[i].key);
    accept.set(i, decisions.choices[i].accept);
  }
}

void FromWire(Decisions::Reader in, hone::Decisions& decisions) {
  decisions.otherwise =
      static_cast<Otherwise>(std::min<size_t>(in.getOtherwise(), std::size(kOtherwiseNames) - 1));
  decisions.seed = in.getSeed();
  const auto keys = in.getKeys();
  const auto accept = in.getAccept();
  for (unsigned i = 0; i < keys.size() && i < accept.size(); ++i) {
    decisions.choices.push_back({keys[i], accept[i]});
  }
}

void ToWire(const hone::CompilePlan& plan, CompilePlan::Builder out) {
  const auto size = static_cast<unsigned>(plan.choices.size());
  auto keys = out.initKeys(size);
  auto values = out.initValues(size);
  for (unsigned i = 0; i < size; ++i) {
    keys.set(i, plan.choices[i].key);
    values.set(i, plan.choices[i].value);
  }
  auto flags = out.initFlags(static_cast<unsigned>(plan.flags.size()));
  for (unsigned i = 0; i < flags.size(); ++i) {
    flags[i].setName(plan.flags[i].first);
    flags[i].initValues(1).set(0, plan.flags[i].second);
  }
}

void FromWire(CompilePlan::Reader in, hone::CompilePlan& plan) {
  const auto keys = in.getKeys();
  const auto values = in.getValues();
  for (unsigned i = 0; i < std::min(keys.size(), values.size()); ++i) {
    plan.choices.push_back({keys[i], values[i].cStr()});
  }
  for (auto flag : in.getFlags()) {
    if (flag.getValues().size() == 1) {
      plan.flags.emplace_back(flag.getName().cStr(), flag.getValues()[0].cStr());
    }
  }
}

// A field by what reads, sets and makes it: `to` and `from` are parameters, so that what a field
// has not is not looked for.
#define HONE_PUT(value, field)                                        \
  Put(                                                                \
      value, out, [](const auto& from) { return from.get##field(); }, \
      [](auto& to, const auto& one) { to.set##field(one); },          \
      [](auto& to, auto... size) { return to.init##field(size...); });

#define HONE_STRUCT(core, schema) \
  void ToWire([[maybe_unused]] const hone::core& value, [[maybe_unused]] schema::Builder out) {
#define HONE_FIELD(member, field) HONE_PUT(value.member, field)
#define HONE_END }
#include "wire/structs.def"

#define HONE_STRUCT(core, schema) void FromWire(schema::Reader in, hone::core& value) {
#define HONE_FIELD(member, field) Take(in.get##field(), value.member);
#define HONE_FIELD_MOST(member, field, most) \
  Take(std::min<uint64_t>(in.get##field(), static_cast<uint64_t>(most)), value.member);
#define HONE_END }
#include "wire/structs.def"

#define HONE_CALL(name, doing)                                   \
  void ToWire([[maybe_unused]] const hone::name##Request& value, \
              [[maybe_unused]] Worker::name##Params::Builder out) {
#define HONE_TAKES(type, member, field) HONE_PUT(value.member, field)
#define HONE_GIVES(name, type)                                           \
  }                                                                      \
  void ToWire([[maybe_unused]] const hone::name##Request::Result& value, \
              [[maybe_unused]] Worker::name##Results::Builder out) {
#define HONE_FIELD(member, field) HONE_PUT(value.member, field)
#define HONE_IS(field) HONE_PUT(value, field)
#define HONE_END }
#include "wire/calls.def"

#define HONE_CALL(name, doing)                                    \
  void FromWire([[maybe_unused]] Worker::name##Params::Reader in, \
                [[maybe_unused]] hone::name##Request& value) {
#define HONE_TAKES(type, member, field) Take(in.get##field(), value.member);
#define HONE_GIVES(name, type)                                     \
  }                                                                \
  void FromWire([[maybe_unused]] Worker::name##Results::Reader in, \
                [[maybe_unused]] hone::name##Request::Result& value) {
#define HONE_FIELD(member, field) Take(in.get##field(), value.member);
#define HONE_IS(field) Take(in.get##field(), value);
#define HONE_END }
#include "wire/calls.def"

}  // namespace hone::wire
