// Answers the calls of device.capnp, one after another.
#ifndef HONE_DEVICE_PLUGIN_SERVER_H_
#define HONE_DEVICE_PLUGIN_SERVER_H_

namespace hone::device {

// Until the other side is gone.
void Serve(int socket);

}  // namespace hone::device

#endif  // HONE_DEVICE_PLUGIN_SERVER_H_
