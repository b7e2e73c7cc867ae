#include "policy/features.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/nearest.h"

namespace hone::policy {
namespace {

constexpr double kFade = 0.7;  // of an action's trace, with every change after it

// places[i] is where names[i] stands in `vocabulary`, or -1.
template <class Names, class NameOf>
std::vector<int> Places(const std::vector<std::string>& vocabulary, const Names& names,
                        NameOf name_of) {
  std::unordered_map<std::string, int> place;
  for (size_t i = 0; i < vocabulary.size(); ++i) place[vocabulary[i]] = static_cast<int>(i);
  std::vector<int> places;
  for (const auto& name : names) {
    const auto found = place.find(name_of(name));
    places.push_back(found == place.end() ? -1 : found->second);
  }
  return places;
}

}  // namespace

const std::vector<std::string>& FeatureKinds() {
  static const std::vector<std::string> kinds = {"hone", "counts"};
  return kinds;
}

StatusOr<Features> Features::Make(const std::string& kind, const std::vector<std::string>& opcodes,
                                  const std::vector<std::string>& actions,
                                  const std::vector<std::string>& known_opcodes,
                                  const std::vector<PassInfo>& passes) {
  const auto& kinds = FeatureKinds();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "there are no features '" + kind + "'" + DidYouMean(kind, kinds));
  }
  Features features;
  features.history_ = kind == "hone";
  features.opcodes_ = opcodes.size();
  features.actions_ = actions.size();
  features.size_ = static_cast<int64_t>(
      features.history_ ? 2 * opcodes.size() + 2 * actions.size() + 3 : opcodes.size());
  features.opcode_place_ =
      Places(opcodes, known_opcodes, [](const std::string& name) { return name; });
  features.action_place_ = Places(actions, passes, [](const PassInfo& pass) { return pass.name; });
  return features;
}

void Features::Write(const OpcodeCounts& opcodes, int64_t initial_op_count,
                     std::span<const PassId> changes, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  const double initial = static_cast<double>(std::max<int64_t>(1, initial_op_count));
  double now = 0;
  for (const OpcodeCount& of : opcodes) {
    now += of.count;
    const int place = opcode_place_[of.opcode];
    if (place < 0) continue;
    out[static_cast<size_t>(place)] = static_cast<float>(of.count / initial);
    if (history_) {
      out[opcodes_ + static_cast<size_t>(place)] = static_cast<float>(std::log1p(of.count) / 8);
    }
  }
  if (!history_) return;
  const std::span<float> trace = out.subspan(2 * opcodes_, actions_);
  const std::span<float> times = out.subspan(2 * opcodes_ + actions_, actions_);
  double weight = 1;
  for (size_t i = changes.size(); i-- > 0; weight *= kFade) {
    const int place = action_place_[changes[i]];
    if (place < 0) continue;
    trace[static_cast<size_t>(place)] += static_cast<float>(weight);
    times[static_cast<size_t>(place)] = std::min(1.0f, times[static_cast<size_t>(place)] + 0.25f);
  }
  const std::span<float> scalars = out.subspan(2 * (opcodes_ + actions_), 3);
  scalars[0] = static_cast<float>(std::log1p(now) / 10);
  scalars[1] = static_cast<float>(now / initial);
  scalars[2] = static_cast<float>(std::min(1.0, static_cast<double>(changes.size()) / 32));
}

}  // namespace hone::policy
