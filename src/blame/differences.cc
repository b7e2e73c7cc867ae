#include "blame/differences.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "tune/plan.h"

namespace hone::blame {
namespace {

using tune::PlannedPass;

// Lengths of the longest common subsequence of what begins at (i, j).
std::vector<std::vector<size_t>> CommonLengths(const std::vector<PlannedPass>& a,
                                               const std::vector<PlannedPass>& b) {
  std::vector<std::vector<size_t>> length(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      length[i][j] =
          a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  return length;
}

// Both maps by name: what they differ in.
void Compare(DifferenceKind kind, const std::map<std::string, std::string>& a,
             const std::map<std::string, std::string>& b, std::vector<Difference>& list) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, value] : a) both[name].first = value;
  for (const auto& [name, value] : b) both[name].second = value;
  for (const auto& [name, values] : both) {
    if (values.first != values.second) list.push_back({kind, name, values.first, values.second});
  }
}

std::map<std::string, std::string> ChoicesByKey(const tune::TunePlan& plan) {
  std::map<std::string, std::string> choices;
  for (const CompileChoice& choice : plan.compile.choices) {
    choices[KeyText(choice.key)] = choice.value;
  }
  return choices;
}

}  // namespace

Differences::Differences(tune::TunePlan a, tune::TunePlan b) : a_(std::move(a)) {
  const auto common = CommonLengths(a_.passes, b.passes);
  size_t i = 0;
  size_t j = 0;
  while (i < a_.passes.size() || j < b.passes.size()) {
    const bool both = i < a_.passes.size() && j < b.passes.size() && a_.passes[i] == b.passes[j];
    if (both) {
      steps_.push_back({a_.passes[i++], -1, false});
      ++j;
      continue;
    }
    const bool added =
        i == a_.passes.size() || (j < b.passes.size() && common[i][j + 1] >= common[i + 1][j]);
    const PlannedPass& pass = added ? b.passes[j++] : a_.passes[i++];
    steps_.push_back({pass, static_cast<int>(list_.size()), added});
    list_.push_back({DifferenceKind::kPass, pass.pass, added ? "" : "run", added ? "run" : ""});
  }
  Compare(DifferenceKind::kChoice, ChoicesByKey(a_), ChoicesByKey(b), list_);
  const auto flags = [](const tune::TunePlan& plan) {
    return std::map<std::string, std::string>(plan.compile.flags.begin(), plan.compile.flags.end());
  };
  Compare(DifferenceKind::kFlag, flags(a_), flags(b), list_);
}

bool Differences::Runs(const Step& step, const std::vector<size_t>& chosen) const {
  if (step.difference < 0) return true;
  const bool taken =
      std::binary_search(chosen.begin(), chosen.end(), static_cast<size_t>(step.difference));
  return taken == step.added;
}

tune::TunePlan Differences::With(const std::vector<size_t>& chosen) const {
  tune::TunePlan plan;
  for (const Step& step : steps_) {
    if (Runs(step, chosen)) plan.passes.push_back(step.pass);
  }
  std::map<std::string, std::string> choices = ChoicesByKey(a_);
  std::map<std::string, std::string> flags(a_.compile.flags.begin(), a_.compile.flags.end());
  for (size_t i : chosen) {
    const Difference& difference = list_[i];
    if (difference.kind == DifferenceKind::kPass) continue;
    auto& values = difference.kind == DifferenceKind::kChoice ? choices : flags;
    if (difference.to.empty()) {
      values.erase(difference.name);
    } else {
      values[difference.name] = difference.to;
    }
  }
  for (const auto& [text, value] : choices) {
    SiteKey key = 0;
    std::from_chars(text.data(), text.data() + text.size(), key, 16);
    plan.compile.choices.push_back({key, value});
  }
  plan.compile.flags.assign(flags.begin(), flags.end());
  Sort(plan.compile);
  return plan;
}

size_t Differences::PassIn(const std::vector<size_t>& chosen, size_t difference) const {
  size_t position = 0;
  for (const Step& step : steps_) {
    if (step.difference == static_cast<int>(difference)) break;
    position += Runs(step, chosen);
  }
  return position;
}

}  // namespace hone::blame
