// A trained policy at work: from a state to probabilities of actions. No torch.
#ifndef HONE_POLICY_POLICY_H_
#define HONE_POLICY_POLICY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/pass.h"
#include "core/result.h"
#include "policy/policy_file.h"
#include "search/prior.h"

namespace hone::policy {

// Immutable once read; thread-safe.
class Policy {
 public:
  // The whole of a policy file; the error says what is wrong with it.
  static StatusOr<std::shared_ptr<const Policy>> Read(std::string_view bytes);

  const std::map<std::string, std::string>& metadata() const { return file_.metadata; }
  const std::vector<std::string>& actions() const { return actions_; }

  // For a program of that many instructions. Actions that the policy was not trained with get a
  // hundredth of the probability together. Errors: it knows none of the actions.
  StatusOr<std::shared_ptr<const Prior>> MakePrior(const std::vector<PassInfo>& passes,
                                                   const std::vector<std::string>& opcodes,
                                                   const std::vector<PassId>& actions,
                                                   int64_t initial_op_count) const;

 private:
  PolicyFile file_;
  std::vector<std::string> actions_;
  std::vector<std::string> opcodes_;
};

}  // namespace hone::policy

#endif  // HONE_POLICY_POLICY_H_
