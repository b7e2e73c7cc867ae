// Answers the wire's calls (wire/hone.capnp) from States.
#ifndef HONE_COMPILER_SERVER_H_
#define HONE_COMPILER_SERVER_H_

#include <capnp/capability.h>

#include "compiler/states.h"
#include "wire/heartbeat.h"
#include "wire/hone.capnp.h"

namespace hone::compiler {

wire::Worker::Client MakeServer(const StatesOptions& options, wire::Heartbeat* heartbeat);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SERVER_H_
