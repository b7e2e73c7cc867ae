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

namespace hone::wire {

// The methods of the schema's interface, with its numbers.
enum class Method : uint64_t {
#define HONE_CALL(name, doing) k##name,
#include "wire/calls.def"
};

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
