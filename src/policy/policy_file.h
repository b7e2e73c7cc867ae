// A trained policy, as a file: the safetensors format (a length, a JSON header, raw tensors), which
// needs no torch to be read, here or in Python.
#ifndef HONE_POLICY_POLICY_FILE_H_
#define HONE_POLICY_POLICY_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::policy {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;  // row-major
};

// Networks are stacks of dense layers, y = x W^T + b, by the names of their tensors:
// "policy.0.weight" [out, in], "policy.0.bias" [out], "policy.1.…", and "value.…" where there is a
// value network. Between layers, not behind the last, is the activation.
struct PolicyFile {
  // In the file's __metadata__. Ours: see kMetadata… below; further ones are the card: algorithm,
  // settings as JSON, seed, steps, data, figures.
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;
};

inline constexpr const char* kPolicyFormat = "hone-policy-1";
inline constexpr const char* kMetadataFormat = "format";          // kPolicyFormat
inline constexpr const char* kMetadataFeatures = "features";      // a name of features.h
inline constexpr const char* kMetadataOpcodes = "opcodes";        // names, with commas between them
inline constexpr const char* kMetadataActions = "actions";        // pass names, likewise
inline constexpr const char* kMetadataActivation = "activation";  // "tanh" or "relu"
// "logits", or "q": action values, which are divided by "temperature" to be logits.
inline constexpr const char* kMetadataHead = "head";
inline constexpr const char* kMetadataTemperature = "temperature";

std::string WritePolicyFile(const PolicyFile& file);
// The error says what is wrong with the bytes.
StatusOr<PolicyFile> ReadPolicyFile(std::string_view bytes);

}  // namespace hone::policy

#endif  // HONE_POLICY_POLICY_FILE_H_
