// Answers the calls of device.capnp, one after another.
#ifndef HONE_DEVICE_PLUGIN_SERVER_H_
#define HONE_DEVICE_PLUGIN_SERVER_H_

#include "wire/helper_program.h"

namespace hone::device {

// Until the other side is gone. The process locks itself up before the plugin is loaded. Only a
// plugin of the CPU works so: others talk to drivers, in ways that only they know.
void Serve(int socket, const wire::HelperOptions& options);

}  // namespace hone::device

#endif  // HONE_DEVICE_PLUGIN_SERVER_H_
