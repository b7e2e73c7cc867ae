#include "tune/space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "core/lines.h"
#include "tune/plan.h"

namespace hone::tune {
namespace {

// A flag is about the whole program, so it goes before all but the heaviest sites.
constexpr double kFlagWeight = 0.7;
constexpr double kLeastWeight = 1e-4;
constexpr double kBytesShare = 0.1;  // of a weight, where times are known

int FamilyOf(const std::string& like) {
  return static_cast<int>(std::hash<std::string>()(like) & 0x7fffffff);
}

void Add(Decision decision, uint32_t stock, int family, double weight, Space& space) {
  choices::Variable variable;
  variable.name = decision.name;
  variable.group = static_cast<int>(decision.stage);
  variable.family = family;
  variable.choices = static_cast<uint32_t>(decision.values.size());
  variable.stock = stock;
  variable.weight = std::max(weight, kLeastWeight);
  space.decisions.push_back(std::move(decision));
  space.variables.push_back(std::move(variable));
}

// The most is 1. Bytes tell between sites whose kernels take the same time, or none that is known
// of.
std::vector<double> Weights(const std::vector<CompileSite>& sites, const KernelShares& shares) {
  double most_bytes = 1, most_time = 0;
  std::vector<double> times;
  for (const CompileSite& site : sites) {
    most_bytes = std::max(most_bytes, static_cast<double>(site.bytes));
    times.push_back(site.places * shares.OfInstruction(site.instruction));
    most_time = std::max(most_time, times.back());
  }
  const double bytes_share = most_time > 0 ? kBytesShare : 1;
  std::vector<double> weights;
  for (size_t i = 0; i < sites.size(); ++i) {
    const double bytes = static_cast<double>(sites[i].bytes) / most_bytes;
    const double time = most_time > 0 ? times[i] / most_time : 0;
    weights.push_back(bytes_share * bytes + (1 - bytes_share) * time);
  }
  return weights;
}

const Alternative* AlternativeNamed(const Space& space, Stage stage, const std::string& name) {
  for (const Alternative& alternative : space.alternatives) {
    if (alternative.stage == stage && alternative.name == name) return &alternative;
  }
  return nullptr;
}

// Whether the list goes on with these, at least one, from `begin` on.
bool GoesOnWith(const std::vector<PlannedPass>& list, size_t begin,
                const std::vector<PlannedPass>& these) {
  return !these.empty() && these.size() <= list.size() - begin &&
         std::equal(these.begin(), these.end(), list.begin() + static_cast<std::ptrdiff_t>(begin));
}

// Which alternatives the passes are made of: as many passes as possible are of one, for one order
// may begin as another does.
void ChooseAlternatives(const Space& space, const std::vector<PlannedPass>& passes,
                        choices::Assignment& assignment) {
  std::vector<size_t> deciding;  // as PlanOf puts their passes
  for (const auto kind : {Decision::Kind::kOrder, Decision::Kind::kPass}) {
    for (size_t i = 0; i < space.decisions.size(); ++i) {
      if (space.decisions[i].kind == kind) deciding.push_back(i);
    }
  }
  struct Choice {
    size_t covered = 0;  // passes from here on
    uint32_t value = 0;
    size_t length = 0;  // of the value's passes; 0: this one decides nothing here
    bool skip = false;  // the pass is of no alternative
  };
  const size_t end = passes.size();
  std::vector<std::vector<Choice>> best(deciding.size() + 1, std::vector<Choice>(end + 1));
  for (size_t k = deciding.size(); k-- > 0;) {
    const Decision& decision = space.decisions[deciding[k]];
    std::vector<const Alternative*> known;  // by value
    for (const std::string& value : decision.values) {
      known.push_back(AlternativeNamed(space, decision.stage, value));
    }
    for (size_t at = end + 1; at-- > 0;) {
      Choice& choice = best[k][at];
      choice = {best[k + 1][at].covered, 0, 0, false};
      for (uint32_t value = 0; value < known.size(); ++value) {
        if (known[value] == nullptr || !GoesOnWith(passes, at, known[value]->passes)) continue;
        const size_t length = known[value]->passes.size();
        const size_t covered = length + best[k + 1][at + length].covered;
        if (covered > choice.covered) choice = {covered, value, length, false};
      }
      if (at < end && best[k][at + 1].covered > choice.covered) {
        choice = {best[k][at + 1].covered, 0, 0, true};
      }
    }
  }
  for (size_t k = 0, at = 0; k < deciding.size();) {
    const Choice& choice = best[k][at];
    if (choice.skip) {
      ++at;
      continue;
    }
    if (choice.length > 0) assignment[deciding[k]] = choice.value;
    at += choice.length;
    ++k;
  }
}

}  // namespace

bool Stages::Has(Stage stage) const {
  return std::find(list.begin(), list.end(), stage) != list.end();
}

Stages AllStages() {
  Stages stages;
  for (size_t i = 0; i < std::size(kStageNames); ++i) stages.list.push_back(static_cast<Stage>(i));
  return stages;
}

StatusOr<Stages> StagesFromText(std::string_view text) {
  Stages stages;
  while (!text.empty()) {
    const std::string_view name = TakePart(text, ',');
    const std::optional<Stage> stage = StageFromName(name);
    if (!stage) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("there is no stage '{}': give some of {}, commas between them",
                                   name, fmt::join(kStageNames, ", ")));
    }
    if (!stages.Has(*stage)) stages.list.push_back(*stage);
  }
  if (stages.list.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("no stage is given: give some of {}, commas between them",
                                 fmt::join(kStageNames, ", ")));
  }
  std::sort(stages.list.begin(), stages.list.end());
  return stages;
}

void AddAlternatives(const std::vector<Alternative>& alternatives, const Stages& stages,
                     Space& space) {
  Decision order{Decision::Kind::kOrder, Stage::kOrder, kOrderName, kOrderName, 0, {""}};
  for (const Alternative& alternative : alternatives) {
    if (!stages.Has(alternative.stage)) continue;
    space.alternatives.push_back(alternative);
    if (alternative.stage == Stage::kOrder) {
      order.values.push_back(alternative.name);
    } else {
      Add({Decision::Kind::kPass,
           alternative.stage,
           alternative.name,
           alternative.name,
           0,
           {"", alternative.name}},
          0, static_cast<int>(space.variables.size()), 1, space);
    }
  }
  if (order.values.size() > 1) Add(std::move(order), 0, -1, 1, space);
}

bool AddListing(const Compiled& listing, const Stages& stages, const KernelShares& shares,
                Space& space) {
  const size_t before = space.decisions.size();
  std::set<SiteKey> keys;
  std::set<std::string> flags;
  for (const Decision& decision : space.decisions) {
    if (decision.kind == Decision::Kind::kSite) keys.insert(decision.key);
    if (decision.kind == Decision::Kind::kFlag) flags.insert(decision.name);
  }
  const std::vector<double> weights = Weights(listing.sites, shares);
  for (size_t i = 0; i < listing.sites.size(); ++i) {
    const CompileSite& site = listing.sites[i];
    if (site.kind == CompileSiteKind::kDotStrategy || site.kind == CompileSiteKind::kLibrary) {
      space.behind_the_module.insert(site.key);
    }
    const Stage stage = StageOf(site.kind);
    if (!stages.Has(stage) || site.choices.size() < 2 || site.stock >= site.choices.size()) {
      continue;
    }
    if (!keys.insert(site.key).second) continue;
    const std::string like = AlikeText(CompileSiteKindName(site.kind), site.opcode, site.user);
    Add({Decision::Kind::kSite, stage, KeyText(site.key), like, site.key, site.choices}, site.stock,
        FamilyOf(like), weights[i], space);
  }
  if (stages.Has(Stage::kFlags)) {
    for (const FlagChoices& flag : listing.flag_choices) {
      if (flag.values.size() < 2 || !flags.insert(flag.name).second) continue;
      Add({Decision::Kind::kFlag, Stage::kFlags, flag.name, flag.name, 0, flag.values}, 0,
          -2 - static_cast<int>(space.variables.size()), kFlagWeight, space);
      space.variables.back().first = flag.first;
    }
  }
  return space.decisions.size() > before;
}

std::vector<choices::Assignment> FirstFlags(const Space& space, const KernelShares& shares) {
  // A loop's arrays are copied whole in each round where XLA does not see that they need not be.
  constexpr char kAboutCopies[] = "xla_cpu_copy_insertion_use_region_analysis";
  constexpr double kMuch = 0.1;
  const bool copies = shares.OfOpcodeMadeAnew("copy") >= kMuch;
  std::vector<choices::Assignment> flags;
  for (size_t i = 0; i < space.variables.size(); ++i) {
    const choices::Variable& variable = space.variables[i];
    const std::string& name = space.decisions[i].name;
    if (!(variable.first || (copies && name == kAboutCopies)) || IsWithoutPass(name)) continue;
    for (uint32_t choice = 0; choice < variable.choices; ++choice) {
      if (choice == variable.stock) continue;
      flags.push_back(choices::StockAssignment(space.variables));
      flags.back()[i] = choice;
    }
  }
  return flags;
}

TunePlan PlanOf(const Space& space, const choices::Assignment& assignment) {
  TunePlan plan;
  std::vector<PlannedPass> implementations;
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] == space.variables[i].stock) continue;
    const Decision& decision = space.decisions[i];
    const std::string& value = decision.values[assignment[i]];
    switch (decision.kind) {
      case Decision::Kind::kSite:
        plan.compile.choices.push_back({decision.key, value});
        break;
      case Decision::Kind::kFlag:
        plan.compile.flags.push_back({decision.name, value});
        break;
      default:
        if (const Alternative* const taken = AlternativeNamed(space, decision.stage, value)) {
          // An order comes first: it is found on the program as it is.
          std::vector<PlannedPass>& passes =
              decision.kind == Decision::Kind::kOrder ? plan.passes : implementations;
          passes.insert(passes.end(), taken->passes.begin(), taken->passes.end());
        }
    }
  }
  plan.passes.insert(plan.passes.end(), implementations.begin(), implementations.end());
  Sort(plan.compile);
  return plan;
}

choices::Assignment AssignmentOf(const Space& space, const TunePlan& plan) {
  choices::Assignment assignment = choices::StockAssignment(space.variables);
  ChooseAlternatives(space, plan.passes, assignment);
  const auto choose = [&](size_t variable, const std::string& value) {
    const std::vector<std::string>& values = space.decisions[variable].values;
    const auto found = std::find(values.begin(), values.end(), value);
    if (found != values.end()) {
      assignment[variable] = static_cast<uint32_t>(found - values.begin());
    }
  };
  for (size_t i = 0; i < space.decisions.size(); ++i) {
    const Decision& decision = space.decisions[i];
    if (decision.kind == Decision::Kind::kSite) {
      for (const CompileChoice& choice : plan.compile.choices) {
        if (choice.key == decision.key) choose(i, choice.value);
      }
    } else if (decision.kind == Decision::Kind::kFlag) {
      for (const auto& [name, value] : plan.compile.flags) {
        if (name == decision.name) choose(i, value);
      }
    }
  }
  return assignment;
}

std::vector<NamedChoice> ChoicesOf(const Space& space, const choices::Assignment& assignment) {
  std::vector<NamedChoice> named;
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] == space.variables[i].stock) continue;
    const Decision& decision = space.decisions[i];
    named.push_back({decision.stage, decision.name, decision.values[assignment[i]]});
  }
  return named;
}

choices::Assignment WithAlternatives(const Space& space, const std::vector<std::string>& names) {
  choices::Assignment assignment = choices::StockAssignment(space.variables);
  for (size_t i = 0; i < space.decisions.size(); ++i) {
    const Decision& decision = space.decisions[i];
    if (!IsAlternative(decision)) continue;
    for (const std::string& name : names) {
      const auto found = std::find(decision.values.begin(), decision.values.end(), name);
      if (found != decision.values.end()) {
        assignment[i] = static_cast<uint32_t>(found - decision.values.begin());
      }
    }
  }
  return assignment;
}

Stage FirstChanged(const Space& space, const choices::Assignment& a, const choices::Assignment& b) {
  const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first;
  return at == a.end() ? Stage::kFlags : space.decisions[static_cast<size_t>(at - a.begin())].stage;
}

}  // namespace hone::tune
