#include "device/plugin/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hone::device {
namespace {

// The interface grew to what hone uses over 2023; nobody here has plugins from before then to test
// with.
constexpr int kOldestMinor = 40;

tl::unexpected<Error> Unfit(const std::string& path, const std::string& why) {
  return MakeError(ErrorCode::kInvalidInput, path + ": " + why);
}

// What a program needs of a plugin.
const char* Missing(const PJRT_Api* api) {
#define HONE_NEEDS(function) \
  if (!HONE_PJRT_HAS(api, function)) return #function;
  HONE_NEEDS(PJRT_Error_Destroy)
  HONE_NEEDS(PJRT_Error_Message)
  HONE_NEEDS(PJRT_Error_GetCode)
  HONE_NEEDS(PJRT_Event_Await)
  HONE_NEEDS(PJRT_Event_Destroy)
  HONE_NEEDS(PJRT_Client_Create)
  HONE_NEEDS(PJRT_Client_PlatformName)
  HONE_NEEDS(PJRT_Client_PlatformVersion)
  HONE_NEEDS(PJRT_Client_AddressableDevices)
  HONE_NEEDS(PJRT_Client_Compile)
  HONE_NEEDS(PJRT_Client_BufferFromHostBuffer)
  HONE_NEEDS(PJRT_DeviceDescription_Id)
  HONE_NEEDS(PJRT_DeviceDescription_Kind)
  HONE_NEEDS(PJRT_Device_GetDescription)
  HONE_NEEDS(PJRT_Executable_NumOutputs)
  HONE_NEEDS(PJRT_Executable_Destroy)
  HONE_NEEDS(PJRT_LoadedExecutable_Destroy)
  HONE_NEEDS(PJRT_LoadedExecutable_GetExecutable)
  HONE_NEEDS(PJRT_LoadedExecutable_Execute)
  HONE_NEEDS(PJRT_Buffer_Destroy)
  HONE_NEEDS(PJRT_Buffer_ElementType)
  HONE_NEEDS(PJRT_Buffer_Dimensions)
  HONE_NEEDS(PJRT_Buffer_ToHostBuffer)
  HONE_NEEDS(PJRT_Buffer_ReadyEvent)
#undef HONE_NEEDS
  return nullptr;
}

}  // namespace

Status ToStatus(const PJRT_Api* api, PJRT_Error* error, const std::string& doing) {
  if (error == nullptr) return {};
  auto message = HONE_PJRT_ARGS(PJRT_Error_Message_Args);
  message.error = error;
  api->PJRT_Error_Message(&message);
  const std::string text(message.message, message.message_size);
  auto code = HONE_PJRT_ARGS(PJRT_Error_GetCode_Args);
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;
  if (PJRT_Error* second = api->PJRT_Error_GetCode(&code)) {
    auto destroy = HONE_PJRT_ARGS(PJRT_Error_Destroy_Args);
    destroy.error = second;
    api->PJRT_Error_Destroy(&destroy);
  }
  auto destroy = HONE_PJRT_ARGS(PJRT_Error_Destroy_Args);
  destroy.error = error;
  api->PJRT_Error_Destroy(&destroy);
  return MakeError(code.code == PJRT_Error_Code_RESOURCE_EXHAUSTED ? ErrorCode::kMemory
                                                                   : ErrorCode::kUnsupported,
                   doing + ": " + text);
}

Status Await(const PJRT_Api* api, PJRT_Event* event, const std::string& doing) {
  if (event == nullptr) return {};
  auto await = HONE_PJRT_ARGS(PJRT_Event_Await_Args);
  await.event = event;
  Status status = ToStatus(api, api->PJRT_Event_Await(&await), doing);
  auto destroy = HONE_PJRT_ARGS(PJRT_Event_Destroy_Args);
  destroy.event = event;
  const Status destroyed = ToStatus(api, api->PJRT_Event_Destroy(&destroy), doing);
  return status ? destroyed : status;
}

StatusOr<const PJRT_Api*> LoadPlugin(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) return Unfit(path, std::strerror(errno));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Unfit(path, std::string("it cannot be loaded: ") + dlerror());
  using GetApi = const PJRT_Api* (*)();
  const auto get = reinterpret_cast<GetApi>(dlsym(library, "GetPjrtApi"));
  if (get == nullptr) {
    return Unfit(path, "it is no PJRT plugin: it exports no GetPjrtApi");
  }
  const PJRT_Api* const api = get();
  if (api == nullptr) return Unfit(path, "its GetPjrtApi returns nothing");
  const PJRT_Api_Version& version = api->pjrt_api_version;
  const std::string versions = "its PJRT API is " + std::to_string(version.major_version) + "." +
                               std::to_string(version.minor_version) + ", hone's is " +
                               std::to_string(PJRT_API_MAJOR) + "." +
                               std::to_string(PJRT_API_MINOR);
  if (version.major_version != PJRT_API_MAJOR) {
    return Unfit(path, versions + ": they do not fit together");
  }
  if (version.minor_version < kOldestMinor) {
    return Unfit(path, versions + ": the plugin is too old, hone needs " +
                           std::to_string(PJRT_API_MAJOR) + "." + std::to_string(kOldestMinor) +
                           " or newer");
  }
  if (const char* missing = Missing(api)) {
    return Unfit(path, versions + ": it lacks " + missing);
  }
  if (HONE_PJRT_HAS(api, PJRT_Plugin_Initialize)) {
    auto initialise = HONE_PJRT_ARGS(PJRT_Plugin_Initialize_Args);
    const Status done = ToStatus(api, api->PJRT_Plugin_Initialize(&initialise),
                                 path + ": it cannot be initialised");
    if (!done) return tl::unexpected(done.error());
  }
  return api;
}

}  // namespace hone::device
