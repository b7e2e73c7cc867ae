#include "policy/policy_file.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace hone::policy {
namespace {

using Json = nlohmann::ordered_json;

// A header beyond this is no header (the reference implementation's limit).
constexpr uint64_t kMostHeaderBytes = 100'000'000;
constexpr int64_t kMostElements = int64_t{1} << 31;

Error Bad(const std::string& what) {
  return {ErrorCode::kInvalidInput,
          "it is not a policy file (safetensors): " + what + "; make one with `hone train`"};
}

StatusOr<Tensor> ReadTensor(const std::string& name, const Json& entry, std::string_view data) {
  const auto bad = [&](const char* what) {
    return tl::unexpected(Bad("tensor '" + name + "' " + what));
  };
  if (!entry.is_object() || !entry.contains("dtype") || entry["dtype"] != "F32") {
    return bad("is not of type F32");
  }
  if (!entry.contains("shape") || !entry["shape"].is_array()) return bad("has no shape");
  Tensor tensor;
  int64_t elements = 1;
  for (const Json& extent : entry["shape"]) {
    if (!extent.is_number_unsigned() || extent.get<uint64_t>() > uint64_t{kMostElements}) {
      return bad("has a bad shape");
    }
    tensor.shape.push_back(extent.get<int64_t>());
    elements *= tensor.shape.back();
    if (elements > kMostElements) return bad("is too large");
  }
  // Not copied: that recurses, and the file says how deep.
  const auto offsets = entry.find("data_offsets");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
      !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    return bad("has no data_offsets");
  }
  const auto begin = (*offsets)[0].get<uint64_t>();
  const auto end = (*offsets)[1].get<uint64_t>();
  if (end > data.size() || begin > end || end - begin != static_cast<uint64_t>(elements) * 4) {
    return bad("has data_offsets that do not fit its shape or the file");
  }
  tensor.values.resize(static_cast<size_t>(elements));
  if (elements > 0) std::memcpy(tensor.values.data(), data.data() + begin, end - begin);
  return tensor;
}

}  // namespace

std::string WritePolicyFile(const PolicyFile& file) {
  Json header;
  header["__metadata__"] = file.metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const uint64_t bytes = tensor.values.size() * sizeof(float);
    header[name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>(text.size() >> (8 * i) & 0xff));
  }
  bytes += text;
  for (const auto& [name, tensor] : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  }
  return bytes;
}

StatusOr<PolicyFile> ReadPolicyFile(std::string_view bytes) {
  if (bytes.size() < 8) return tl::unexpected(Bad("it is too short"));
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i) length |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  if (length > kMostHeaderBytes || length > bytes.size() - 8) {
    return tl::unexpected(Bad("its header would be longer than the file"));
  }
  const Json header = Json::parse(bytes.substr(8, length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return tl::unexpected(Bad("its header is not a JSON object"));
  const std::string_view data = bytes.substr(8 + length);
  PolicyFile file;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) return tl::unexpected(Bad("its __metadata__ is not an object"));
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) {
          return tl::unexpected(Bad("'" + key + "' of its __metadata__ is not a string"));
        }
        file.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    StatusOr<Tensor> tensor = ReadTensor(name, entry, data);
    if (!tensor) return tl::unexpected(tensor.error());
    file.tensors[name] = *std::move(tensor);
  }
  return file;
}

}  // namespace hone::policy
