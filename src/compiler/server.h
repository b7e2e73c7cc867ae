// Answers the wire's calls (wire/hone.capnp) from States.
#ifndef HONE_COMPILER_SERVER_H_
#define HONE_COMPILER_SERVER_H_

#include <capnp/capability.h>

#include <cstddef>

#include "wire/heartbeat.h"
#include "wire/hone.capnp.h"

namespace hone::compiler {

// `cache_bytes` bounds the modules that the server keeps beside the loaded programs.
wire::Worker::Client MakeServer(size_t cache_bytes, wire::Heartbeat* heartbeat);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SERVER_H_
