#include "env/pass_order.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/native_kernel.h"
#include "core/nearest.h"
#include "core/objective.h"

namespace hone {

std::vector<PassId> InActions(const std::vector<StockPass>& stock,
                              const std::vector<PassInfo>& passes,
                              const std::vector<PassId>& actions) {
  std::unordered_map<std::string, PassId> by_name;
  for (PassId action : actions) by_name[passes[action].name] = action;
  std::vector<PassId> order;
  for (const StockPass& pass : stock) {
    if (const auto found = by_name.find(pass.name); found != by_name.end()) {
      order.push_back(found->second);
    }
  }
  return order;
}

StatusOr<std::vector<PassId>> DefaultOrder(Pool& pool, const ProgramInfo& program,
                                           const std::vector<PassId>& actions) {
  StatusOr<std::vector<StockPass>> stock = pool.StockPasses(program.id);
  if (!stock) return tl::unexpected(stock.error());
  return InActions(*stock, pool.passes(), actions);
}

namespace {

using InSet = bool (*)(const PassInfo&);

std::optional<InSet> FindActionSet(std::string_view name) {
  struct Named {
    std::string_view name;
    InSet is_in;
  };
  constexpr Named kSets[] = {
      {"simplify", [](const PassInfo& pass) { return pass.simplify; }},
      {"all", [](const PassInfo& pass) { return pass.kind == PassKind::kXla; }},
      {"rewrites", [](const PassInfo& pass) { return pass.kind == PassKind::kRewrites; }},
      {"rules", [](const PassInfo& pass) { return pass.kind == PassKind::kRules; }},
      {"implementations",
       [](const PassInfo& pass) {  // but what no cost can be told of
         return pass.kind == PassKind::kImplementation && !loops::MakesKernels(pass.name);
       }},
  };
  for (const Named& set : kSets) {
    if (set.name == name) return set.is_in;
  }
  return std::nullopt;
}

}  // namespace

StatusOr<std::vector<PassId>> ActionSet(const std::vector<PassInfo>& passes,
                                        const std::string& name) {
  std::vector<PassId> actions;
  const auto add = [&](PassId action) {
    if (std::find(actions.begin(), actions.end(), action) == actions.end()) {
      actions.push_back(action);
    }
  };
  std::unordered_map<std::string, PassId> by_name;
  for (size_t i = 0; i < passes.size(); ++i) by_name[passes[i].name] = static_cast<PassId>(i);
  std::string separated = name;
  std::replace(separated.begin(), separated.end(), '+', ',');
  std::stringstream list(separated);
  for (std::string pass; std::getline(list, pass, ',');) {
    if (const auto is_in = FindActionSet(pass)) {
      for (size_t i = 0; i < passes.size(); ++i) {
        if ((*is_in)(passes[i])) add(static_cast<PassId>(i));
      }
      continue;
    }
    const auto found = by_name.find(pass);
    if (found == by_name.end()) {
      std::vector<std::string> names{"simplify", "all", "rewrites", "rules", "implementations"};
      for (const PassInfo& known : passes) names.push_back(known.name);
      return MakeError(ErrorCode::kInvalidInput,
                       "there is no action set and no pass '" + pass + "'" +
                           DidYouMean(pass, names) +
                           ": a set is simplify, all, rewrites, rules, implementations, or "
                           "passes, several of these with + or commas between them "
                           "(`hone passes` lists them)");
    }
    add(found->second);
  }
  if (actions.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "the action set is empty: it is simplify, all, "
                     "rewrites, rules, implementations, or passes, "
                     "with + between them");
  }
  return actions;
}

Status CanHave(const Pool& pool, Objective objective) {
  if (InfoOf(objective).found_by != FoundBy::kModel || pool.is_gpu()) return {};
  return MakeError(ErrorCode::kInvalidInput,
                   "XLA has no model of this CPU to estimate with: the objective 'estimate' takes "
                   "--target of a GPU, such as h100");
}

PassOrder::PassOrder(Pool& pool, const ProgramInfo& program, Objective objective, bool opcodes)
    : pool_(pool),
      program_(program),
      objective_(objective),
      opcodes_(opcodes),
      initial_(program.metrics) {
  if (IsMeasuredApart(objective)) {
    if (const auto measured = pool.Measure({program.id, {}})) initial_ = *measured;
  }
  table_.RecordState(program.fingerprint, initial_, program.opcodes);
}

const OpcodeCounts& PassOrder::Opcodes(const Fingerprint& state) const {
  static const OpcodeCounts none;
  const TransitionTable::State* known = table_.Find(state);
  return known == nullptr ? none : known->opcodes;
}

ApplyOptions PassOrder::Options() const {
  ApplyOptions options;
  Require(objective_, options);
  options.opcodes = opcodes_;
  return options;
}

size_t PassOrder::Walk(std::span<const PassId> sequence, std::vector<Step>& steps,
                       StateName& state) const {
  Fingerprint here = program_.fingerprint;
  for (size_t i = 0; i < sequence.size(); ++i) {
    const TransitionTable::Transition* known = table_.Find(here, sequence[i]);
    if (known == nullptr) return i;
    Step& step = steps.emplace_back();
    step.pass = sequence[i];
    step.changed = known->to != here;
    step.state = known->to;
    step.metrics = table_.Find(known->to)->metrics;
    step.looked = true;
    step.failure = known->failure;
    if (step.changed) state.links.push_back({step.pass, step.state});
    here = known->to;
  }
  return sequence.size();
}

void PassOrder::Record(Fingerprint from, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const TransitionTable::Transition* const known = table_.Find(from, step.pass);
    const bool news = known == nullptr || known->failure.empty();
    table_.Record(from, step);
    if (news && !step.failure.empty()) ++failures_[{step.pass, step.failure}];
    from = step.state;
  }
}

std::vector<StatusOr<std::vector<Step>>> PassOrder::Evaluate(
    std::span<const std::vector<PassId>> sequences) {
  std::vector<StatusOr<std::vector<Step>>> results(sequences.size());
  std::vector<ApplyRequest> requests;
  std::vector<size_t> asked;  // requests[i] is the rest of sequences[asked[i]]
  for (size_t i = 0; i < sequences.size(); ++i) {
    ApplyRequest request;
    request.from.program = program_.id;
    const size_t known = Walk(sequences[i], *results[i], request.from);
    if (known == sequences[i].size()) continue;
    request.passes.assign(sequences[i].begin() + static_cast<std::ptrdiff_t>(known),
                          sequences[i].end());
    request.options = Options();
    request.until = until_;
    requests.push_back(std::move(request));
    asked.push_back(i);
  }
  if (!requests.empty()) {
    std::vector<StatusOr<Applied>> applied = pool_.Apply(requests);
    for (size_t i = 0; i < applied.size(); ++i) {
      StatusOr<std::vector<Step>>& result = results[asked[i]];
      if (!applied[i]) {
        result = tl::unexpected(applied[i].error());
        continue;
      }
      Record(applied[i]->start, applied[i]->steps);
      result->insert(result->end(), applied[i]->steps.begin(), applied[i]->steps.end());
    }
  }
  for (const auto& result : results) {
    if (result) steps_ += static_cast<int64_t>(result->size());
  }
  return results;
}

bool PassOrder::AreWellFormed(std::span<const Step> steps) {
  ApplyRequest request;
  request.from.program = program_.id;
  request.options.verify = true;
  request.until = until_;
  Fingerprint here = program_.fingerprint;
  std::vector<Fingerprint> promised;
  for (const Step& step : steps) {
    if (!step.changed) continue;
    if (promised.empty() && well_formed_.count(step.state) != 0) {
      request.from.links.push_back({step.pass, step.state});
      here = step.state;
      continue;
    }
    request.passes.push_back(step.pass);
    promised.push_back(step.state);
  }
  if (promised.empty()) return true;
  const StatusOr<Applied> applied = pool_.Apply(request);
  if (!applied || applied->start != here) return true;
  for (size_t i = 0; i < promised.size(); ++i) {
    const Step& step = applied->steps[i];
    if (!step.failure.empty()) {
      Record(here, {step});
      return false;
    }
    if (step.state != promised[i]) return true;  // by a hidden order of instructions
    well_formed_.insert(step.state);
    here = step.state;
  }
  return true;
}

StatusOr<std::vector<Step>> PassOrder::Replay(const std::vector<PassId>& sequence) {
  ApplyRequest request;
  request.from.program = program_.id;
  request.passes = sequence;
  request.options = Options();
  request.options.fresh = true;
  request.options.verify = true;
  StatusOr<Applied> applied = pool_.Apply(request);
  if (!applied) return tl::unexpected(applied.error());
  return std::move(applied->steps);
}

}  // namespace hone
