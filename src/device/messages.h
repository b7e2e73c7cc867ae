// The few protocol buffers that a PJRT plugin is given, written by hand: hone's agent side links no
// protobuf of XLA's.
#ifndef HONE_DEVICE_MESSAGES_H_
#define HONE_DEVICE_MESSAGES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hone::device {

// XLA's flags by name, with values as text.
using Flags = std::vector<std::pair<std::string, std::string>>;

// A serialized xla::CompileOptionsProto (xla/pjrt/proto/compile_options.proto) for one replica and
// one partition on the device of that id. "true" and "false" go as booleans, everything else as
// text, which PJRT reads as what the flag is; "none" empties a list.
std::string CompileOptionsProto(int device_id, bool tupled_arguments, const Flags& flags);

// Of a serialized xla::HloProto (xla/service/hlo.proto) the HloModuleProto in it: what the PJRT
// format "hlo" is.
StatusOr<std::string> ModuleOf(std::string_view hlo_proto);

}  // namespace hone::device

#endif  // HONE_DEVICE_MESSAGES_H_
