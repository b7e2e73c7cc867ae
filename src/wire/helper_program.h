// What hone's helper programs share: hone-device and hone-loops, started by hone, which they serve
// over an inherited socket.
#ifndef HONE_WIRE_HELPER_PROGRAM_H_
#define HONE_WIRE_HELPER_PROGRAM_H_

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstddef>
#include <optional>

#include "core/result.h"
#include "wire/channel.h"

namespace hone::wire {

struct HelperOptions {
  bool sandbox = true;    // whether it is to lock itself up
  size_t data_bytes = 0;  // that it may then have (sandbox.h)
};
// As wire/helper_client.h gives them. Nothing where hone did not start the program, which is then
// said on stderr, with `help` for how it is used.
std::optional<HelperOptions> HelperOptionsOf(int argc, char** argv, const char* program,
                                             const char* help);

// From now on the process ends with the one that started it, whatever it is at.
void EndWithStarter();

// Answers a call that is of this kind by `work`, which takes its parameters and results and returns
// a Status. False where it is another, or the answer cannot be sent.
template <class Call, class Work>
bool Answer(int socket, const Received& received, Work work) {
  if (received.method != Call::kMethod) return false;
  capnp::FlatArrayMessageReader reader(received.words.asPtr(), NoLimits());
  capnp::MallocMessageBuilder message;
  auto results = message.initRoot<typename Call::Results>();
  const Status done = work(reader.getRoot<typename Call::Params>(), results);
  if (!done) {
    auto failure = results.initFailure();
    failure.setCode(static_cast<uint8_t>(done.error().code));
    failure.setMessage(done.error().message);
  }
  return Send(socket, Call::kMethod, message);
}

}  // namespace hone::wire

#endif  // HONE_WIRE_HELPER_PROGRAM_H_
