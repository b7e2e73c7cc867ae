// A PJRT plugin: a shared object that exports GetPjrtApi (xla/pjrt/c/pjrt_c_api.h).
#ifndef HONE_DEVICE_PLUGIN_PLUGIN_H_
#define HONE_DEVICE_PLUGIN_PLUGIN_H_

#include <string>

#include "core/result.h"
#include "xla/pjrt/c/pjrt_c_api.h"

namespace hone::device {

// Loads and initialises it, for as long as the process lives: plugins do not survive being
// unloaded. Errors: there is no such file, it cannot be loaded, it is no plugin, its version does
// not fit.
StatusOr<const PJRT_Api*> LoadPlugin(const std::string& path);

// The status of a call; frees the plugin's error.
Status ToStatus(const PJRT_Api* api, PJRT_Error* error, const std::string& doing);
// Waits for an event, which may be null, and frees it.
Status Await(const PJRT_Api* api, PJRT_Event* event, const std::string& doing);

// Arguments of a call, zeroed but for their size.
template <class Args>
Args MakeArgs(size_t struct_size) {
  Args args{};
  args.struct_size = struct_size;
  return args;
}
#define HONE_PJRT_ARGS(type) ::hone::device::MakeArgs<type>(type##_STRUCT_SIZE)

// Whether the plugin's table reaches as far as that function and has it: versions add functions at
// the end.
#define HONE_PJRT_HAS(api, function)                                               \
  ((api)->struct_size >= offsetof(PJRT_Api, function) + sizeof((api)->function) && \
   (api)->function != nullptr)

}  // namespace hone::device

#endif  // HONE_DEVICE_PLUGIN_PLUGIN_H_
