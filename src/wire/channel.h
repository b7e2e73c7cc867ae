// Calls over a socket: a Cap'n Proto message each way, one call at a time, blocking.
//
// Not Cap'n Proto's RPC: its event loop belongs to one thread and takes several wake-ups a call, and
// a step of an environment is a call (docs/decisions.md).
#ifndef HONE_WIRE_CHANNEL_H_
#define HONE_WIRE_CHANNEL_H_

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/array.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "wire/hone.capnp.h"

namespace hone::wire {

// The methods of the schema's interface, with its numbers; each with the structs that Cap'n Proto
// makes of its parameters and results.
enum class Method : uint64_t {
  kHello,
  kLoad,
  kUnload,
  kApply,
  kHold,
  kMetrics,
  kDescribe,
  kExport,
  kCompare,
  kStockPasses,
  kArrays,
  kRunTime,
  kRawLoop,
  kRewrites,
  kConverse,
  kAnswer,
  kRace,
  kExtract,
  kCompile,
  kProfile,
  kEvaluate,
  kGiveKernel,
};

#define HONE_WIRE_CALL(name)                       \
  struct name##Call {                              \
    using Params = Worker::name##Params;           \
    using Results = Worker::name##Results;         \
    static constexpr Method kMethod = Method::k##name; \
  };
HONE_WIRE_CALL(Hello)
HONE_WIRE_CALL(Load)
HONE_WIRE_CALL(Unload)
HONE_WIRE_CALL(Apply)
HONE_WIRE_CALL(Hold)
HONE_WIRE_CALL(Metrics)
HONE_WIRE_CALL(Describe)
HONE_WIRE_CALL(Export)
HONE_WIRE_CALL(Compare)
HONE_WIRE_CALL(StockPasses)
HONE_WIRE_CALL(Arrays)
HONE_WIRE_CALL(RunTime)
HONE_WIRE_CALL(RawLoop)
HONE_WIRE_CALL(Rewrites)
HONE_WIRE_CALL(Converse)
HONE_WIRE_CALL(Answer)
HONE_WIRE_CALL(Race)
HONE_WIRE_CALL(Extract)
HONE_WIRE_CALL(Compile)
HONE_WIRE_CALL(Profile)
HONE_WIRE_CALL(Evaluate)
HONE_WIRE_CALL(GiveKernel)
#undef HONE_WIRE_CALL

// A message that was received, and what it is about.
struct Received {
  Method method = Method::kHello;
  kj::Array<capnp::word> words;
};

// False where the other side is gone. An answer carries the method that it answers.
bool Send(int socket, Method method, capnp::MessageBuilder& message);

// Waits by calling `wait` whenever there is nothing to read: false from it ends the waiting.
// False where the other side is gone or waiting was ended.
bool Receive(int socket, const std::function<bool()>& wait, Received& received);

// Whether something can be read, or the other side is gone, within so many milliseconds.
bool Readable(int socket, int milliseconds);

// Messages come from the other half of hone, so their size is not limited.
inline capnp::ReaderOptions NoLimits() {
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = uint64_t{1} << 40;
  return limits;
}

// The results of a call, with the message that they are in.
template <class Call>
class Reply : public Call::Results::Reader {
 public:
  explicit Reply(Received received) : Reply(std::make_unique<Message>(std::move(received))) {}

 private:
  struct Message {
    explicit Message(Received received)
        : words(kj::mv(received.words)), reader(words.asPtr(), NoLimits()) {}
    kj::Array<capnp::word> words;
    capnp::FlatArrayMessageReader reader;
  };
  explicit Reply(std::unique_ptr<Message> message)
      : Call::Results::Reader(message->reader.template getRoot<typename Call::Results>()),
        message_(std::move(message)) {}

  std::unique_ptr<Message> message_;
};

}  // namespace hone::wire

#endif  // HONE_WIRE_CHANNEL_H_
