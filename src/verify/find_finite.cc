#include "verify/find_finite.h"

#include <algorithm>
#include <vector>

#include "core/input_seed.h"
#include "verify/compare_output.h"

namespace hone::verify {
namespace {

constexpr uint64_t kNumbers = 255;      // that a draw may have
constexpr uint64_t kMostOfAPlace = 60;  // draws, each a run of the reference

// Of a run of the reference, the mean over its outputs; 1 only where all of them show something.
std::optional<double> FiniteShare(Subject& subject, const InputChoice& choice) {
  if (Status chosen = subject.Choose(choice); !chosen) return std::nullopt;
  const StatusOr<Outputs> y = subject.RunReference();
  if (!y) return std::nullopt;
  std::vector<OutputComparison> itself;
  double share = 0;
  for (const ArrayView& array : y->arrays) {
    itself.push_back(CompareOutput(array, array, {}));
    const OutputComparison& output = itself.back();
    share += ShowsSomething(output) ? 1 : Share(output.finite, output.floats);
  }
  if (AllShowSomething(itself)) return 1;
  return std::min(0.999, share / static_cast<double>(itself.size()));
}

}  // namespace

std::optional<InputChoice> FindFinite(Subject& subject, uint64_t seed,
                                      const std::function<bool()>& over) {
  const uint64_t values = static_cast<uint32_t>(FirstInputsSeed(seed));
  InputChoice best{-1, false, kSearchedKind, values << 32};
  double best_share = -1;
  for (int place = 0; place < kDraws; ++place) {
    const InputChoice before = best;
    for (uint64_t k = 0; k < kMostOfAPlace && !over(); ++k) {
      InputChoice drawn = before;
      drawn.seed |= (1 + (values + k) % kNumbers) << (8 * place);
      const std::optional<double> share = FiniteShare(subject, drawn);
      if (!share) return std::nullopt;
      if (*share == 1) return drawn;
      if (*share <= best_share) continue;
      best_share = *share;
      best = drawn;
    }
    if (best.seed == before.seed) break;
  }
  return std::nullopt;
}

InputChoice WithOtherValues(InputChoice searched, uint64_t number) {
  searched.seed += (number + 1) << 32;
  return searched;
}

}  // namespace hone::verify
