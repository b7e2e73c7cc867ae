#include "device/messages.h"

#include <cstdint>
#include <optional>

namespace hone::device {
namespace {

// https://protobuf.dev/programming-guides/encoding
enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void PutNumber(int field, uint64_t value, std::string& out) {
  PutVarint(static_cast<uint64_t>(field) << 3 | kVarint, out);
  PutVarint(value, out);
}

void PutBytes(int field, std::string_view bytes, std::string& out) {
  PutVarint(static_cast<uint64_t>(field) << 3 | kBytes, out);
  PutVarint(bytes.size(), out);
  out += bytes;
}

std::optional<uint64_t> TakeVarint(std::string_view& in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// One field, of which the bytes are kept where it has some.
struct Field {
  uint64_t number = 0;
  std::string_view bytes;
};
std::optional<Field> TakeField(std::string_view& in) {
  const auto tag = TakeVarint(in);
  if (!tag) return std::nullopt;
  Field field{*tag >> 3, {}};
  uint64_t length = 0;
  switch (*tag & 7) {
    case kVarint:
      return TakeVarint(in) ? std::optional(field) : std::nullopt;
    case kFixed64:
      length = 8;
      break;
    case kFixed32:
      length = 4;
      break;
    case kBytes: {
      const auto size = TakeVarint(in);
      if (!size) return std::nullopt;
      length = *size;
      break;
    }
    default:
      return std::nullopt;
  }
  if (length > in.size()) return std::nullopt;
  field.bytes = in.substr(0, length);
  in.remove_prefix(length);
  return field;
}

}  // namespace

std::string CompileOptionsProto(int device_id, bool tupled_arguments, const Flags& flags) {
  std::string devices;  // DeviceAssignmentProto.ComputationDevice
  PutNumber(1, static_cast<uint64_t>(device_id), devices);  // replica_device_ids
  std::string assignment;                                   // DeviceAssignmentProto
  PutNumber(1, 1, assignment);                              // replica_count
  PutNumber(2, 1, assignment);                              // computation_count
  PutBytes(3, devices, assignment);
  std::string build;                                        // ExecutableBuildOptionsProto
  PutNumber(1, static_cast<uint64_t>(int64_t{-1}), build);  // device_ordinal
  PutNumber(4, 1, build);                                   // num_replicas
  PutNumber(5, 1, build);                                   // num_partitions
  PutBytes(9, assignment, build);
  std::string options;
  if (tupled_arguments) PutNumber(2, 1, options);
  PutBytes(3, build, options);
  for (const auto& [name, value] : flags) {
    std::string override;  // OptionOverrideProto
    if (value == "true" || value == "false") {
      PutNumber(2, value == "true" ? 1 : 0, override);
    } else {
      PutBytes(1, value == "none" ? "" : value, override);
    }
    std::string entry;
    PutBytes(1, name, entry);
    PutBytes(2, override, entry);
    PutBytes(7, entry, options);  // env_option_overrides
  }
  return options;
}

StatusOr<std::string> ModuleOf(std::string_view hlo_proto) {
  while (!hlo_proto.empty()) {
    const std::optional<Field> field = TakeField(hlo_proto);
    if (!field) break;
    if (field->number == 1) return std::string(field->bytes);
  }
  return MakeError(ErrorCode::kInternal, "the worker exported no HloProto");
}

}  // namespace hone::device
