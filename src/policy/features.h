// The features of a state that a policy's network sees, as a row of numbers.
#ifndef HONE_POLICY_FEATURES_H_
#define HONE_POLICY_FEATURES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/pass.h"
#include "core/result.h"
#include "core/state.h"

namespace hone::policy {

// Kinds of features over O opcodes and A actions:
//   "counts"  [O] the count of each opcode over the op count of the program as loaded: XLA Gym's
//             (Ganai et al. 2023, section 3), scaled.
//   "hone"    [2 O + 2 A + 3] beside it the logarithm of the counts, how lately and how often each
//             action has changed something, and the op count now: absolute, relative, and how many
//             changes led to it. Actions that changed nothing leave no trace, so that a state
//             reached with and without them looks the same.
const std::vector<std::string>& FeatureKinds();

class Features {
 public:
  // `opcodes` and `actions` are the vocabulary that a network was trained with; `known_opcodes` and
  // `passes` are those of the XLA at hand, by which states speak. Whatever only one side knows
  // is left out. Errors: a kind that there is not.
  static StatusOr<Features> Make(const std::string& kind, const std::vector<std::string>& opcodes,
                                 const std::vector<std::string>& actions,
                                 const std::vector<std::string>& known_opcodes,
                                 const std::vector<PassInfo>& passes);

  int64_t size() const { return size_; }
  // `changes`: the passes that changed something on the way to the state, in order. `out` has
  // size() places.
  void Write(const OpcodeCounts& opcodes, int64_t initial_op_count, std::span<const PassId> changes,
             std::span<float> out) const;

 private:
  bool history_ = false;
  int64_t size_ = 0;
  size_t opcodes_ = 0;
  size_t actions_ = 0;
  std::vector<int> opcode_place_;  // by known opcode; -1 where the network does not know it
  std::vector<int> action_place_;  // by pass
};

}  // namespace hone::policy

#endif  // HONE_POLICY_FEATURES_H_
