// Bytes as a message has them.
#ifndef HONE_WIRE_CODEC_DATA_H_
#define HONE_WIRE_CODEC_DATA_H_

#include <capnp/blob.h>

#include <string>

namespace hone::wire {

inline capnp::Data::Reader AsData(const std::string& bytes) {
  return {reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()};
}

inline std::string AsString(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

}  // namespace hone::wire

#endif  // HONE_WIRE_CODEC_DATA_H_
