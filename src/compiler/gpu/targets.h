// The descriptions of machines in gpu/targets/, which travel inside the worker.
#ifndef HONE_COMPILER_GPU_TARGETS_H_
#define HONE_COMPILER_GPU_TARGETS_H_

#include <map>
#include <string>

namespace hone::compiler::gpu {

// By name: GpuTargetConfigProto as text.
const std::map<std::string, std::string>& EmbeddedTargets();

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_TARGETS_H_
