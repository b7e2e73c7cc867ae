// A policy for tuning: which change of a plan to try first, by what such changes have gained in
// other programs. The search takes it as its prior (choices::Problem::promise).
#ifndef HONE_TUNE_CHANGE_POLICY_H_
#define HONE_TUNE_CHANGE_POLICY_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/result.h"
#include "store/rows.h"
#include "tune/space.h"

namespace hone::tune {

// One choice of a plan, by what programs have in common: all sites of a program that are alike, a
// flag, an implementation.
struct Change {
  std::string stage;
  std::string like;  // Decision::like
  std::string value;
  friend bool operator<(const Change& a, const Change& b) {
    return std::tie(a.stage, a.like, a.value) < std::tie(b.stage, b.like, b.value);
  }
};

// The gain of a change in a program: the logarithm of the speed-up, the best of several plans'.
struct ChangeExample {
  std::string program;
  Change change;
  double gain = 0;
};

// From the measurements of plans that differ in one change. By program, then by change.
std::vector<ChangeExample> ChangeExamples(const std::vector<store::MeasuredPlan>& plans);

class ChangePolicy {
 public:
  // The number of programs that a change was tried on, and its mean gain there; a loss counts as 0,
  // for a change that does not help is not kept.
  struct Known {
    int64_t programs = 0;
    double gain = 0;
  };

  ChangePolicy() = default;
  explicit ChangePolicy(const std::vector<ChangeExample>& examples);

  // The expected gain, 0 or more. Where few programs have tried the change, the mean of its stage
  // counts too.
  double Gain(const Change& change) const;

  // What the other one knows counts as well, by its programs.
  void Add(const ChangePolicy& other);

  const std::map<Change, Known>& known() const { return known_; }
  // The one that comes with hone, for XLA:CPU: policies/changes.json.
  static const ChangePolicy& Shipped();
  std::string ToJson() const;
  // Errors: kInvalidInput, what is wrong with which field.
  static StatusOr<ChangePolicy> FromJson(std::string_view text);

 private:
  void Sum();

  std::map<Change, Known> known_;
  std::map<std::string, Known> of_stage_;  // the mean over its changes
};

// How good policies are on programs that they have not learnt from.
struct ChangePolicyQuality {
  static constexpr int kFirst[] = {1, 3, 5};
  int64_t programs = 0;  // with enough changes to tell; where 0, the shares are 0
  // The share of programs where one of the first kFirst[i] changes is within 5 % of the best that
  // is known: in the policy's order, and in random order.
  std::array<double, std::size(kFirst)> within{};
  std::array<double, std::size(kFirst)> by_chance{};
};

// By folds: each program by a policy of the programs in the others.
ChangePolicyQuality CrossValidate(const std::vector<ChangeExample>& examples);

// The texts behind Shipped(), by their files' names, embedded when hone is built.
const std::map<std::string, std::string>& ShippedPolicyFiles();

// The expected gain of setting these variables, which are alike, to the choice. Sites that take a
// smaller share of the time than the most expensive one gain less.
double Promise(const ChangePolicy& policy, const Space& space, const std::vector<size_t>& variables,
               uint32_t choice);

}  // namespace hone::tune

#endif  // HONE_TUNE_CHANGE_POLICY_H_
