// A learner's description of itself in checkpoints and policy files.
#ifndef HONE_LEARN_CARD_H_
#define HONE_LEARN_CARD_H_

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>

#include "learn/checkpoint.h"
#include "learn/config.h"
#include "policy/policy_file.h"

namespace hone::learn {

inline constexpr const char* kCheckpointFormat = "hone-learner-1";

// Throws c10::Error where it is no checkpoint of the algorithm.
inline void CheckFormat(CheckpointReader& from, const std::string& algorithm) {
  const std::string format = from.ReadText("format");
  TORCH_CHECK(format == kCheckpointFormat, "it is of format '", format, "', not ",
              kCheckpointFormat);
  const std::string saved = from.ReadText("algorithm");
  TORCH_CHECK(saved == algorithm, "it is of the algorithm '", saved, "', not ", algorithm);
}

inline std::map<std::string, std::string> MakeCard(const Config& config, int64_t steps,
                                                   const std::string& head, double temperature) {
  return {{policy::kMetadataHead, head},
          {policy::kMetadataTemperature, fmt::format("{}", temperature)},
          {policy::kMetadataActivation, config.activation},
          {"algorithm", config.algorithm},
          {"settings", ToJson(config)},
          {"seed", std::to_string(config.seed)},
          {"steps", std::to_string(steps)}};
}

}  // namespace hone::learn

#endif  // HONE_LEARN_CARD_H_
