// Answers the wire's calls (wire/hone.capnp) from States.
#ifndef HONE_COMPILER_SERVER_H_
#define HONE_COMPILER_SERVER_H_

#include "compiler/states.h"
#include "wire/heartbeat.h"

namespace hone::compiler {

// Until the other side is gone.
void Serve(int socket, const StatesOptions& options, wire::Heartbeat* heartbeat);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SERVER_H_
