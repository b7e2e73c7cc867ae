// Answers the wire's calls (wire/hone.capnp) from States.
#ifndef HONE_COMPILER_SERVER_H_
#define HONE_COMPILER_SERVER_H_

#include "compiler/states.h"
#include "core/result.h"
#include "wire/heartbeat.h"

namespace hone::compiler {

// Until the other side is gone. `ready`: what is wrong with how the worker was started, if anything; it
// is the answer to the first call.
void Serve(int socket, const StatesOptions& options, wire::Heartbeat* heartbeat,
           const Status& ready);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SERVER_H_
