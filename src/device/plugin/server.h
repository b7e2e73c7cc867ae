// Answers the calls of device.capnp, one after another.
#ifndef HONE_DEVICE_PLUGIN_SERVER_H_
#define HONE_DEVICE_PLUGIN_SERVER_H_

#include <cstddef>

namespace hone::device {

struct ServerOptions {
  // Before the plugin is loaded. Only a plugin of the CPU works so: others talk to drivers, in ways
  // that only they know.
  bool sandbox = false;
  size_t data_bytes = 0;  // wire::SandboxOptions
};

// Until the other side is gone.
void Serve(int socket, const ServerOptions& options);

}  // namespace hone::device

#endif  // HONE_DEVICE_PLUGIN_SERVER_H_
