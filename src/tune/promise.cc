#include "tune/promise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "core/native_kernel.h"
#include "core/pass.h"

namespace hone::tune {
namespace {

// Of what kernels with an opcode take: that their instructions are meant is not known.
constexpr double kAlikeShare = 0.1;
// Of what kernels take in loops that are no more, or that become one kernel: what they do stays.
constexpr double kLoopShare = 0.4;
// Of the time, that what is raced together with kernels replaces, or that the loops take which it
// changes; of what it replaces, the share that no other one does.
constexpr double kDearShare = 0.1;
constexpr double kMostlyAlone = 0.8;

bool IsAmong(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Has(const Alternative& one, uint32_t traits) { return (one.traits & traits) != 0; }

// What they change is all around: it may be in others' way, or they in its.
bool ChangesAll(const Alternative& one) { return one.large() || Has(one, kAllAround); }

// By which policies know it: an implementation is its pass, whatever goes before it.
std::string CommonName(const Alternative& one) {
  return one.stage == Stage::kImplementation && !one.passes.empty() ? one.passes.back().pass
                                                                    : one.name;
}

// Where nothing has an origin a name alone tells little.
bool IsNamed(const KernelShares& shares, const Replaced& one) {
  return shares.has_origins() || one.kind.empty() || shares.IsKind(one.name, one.kind);
}

// What XLA's passes may make of an opcode; null where they leave it: it sorts where XLA:CPU's
// function for the largest few does not serve, and sums windows of long rows first.
const char* MadeOf(const std::string& opcode) {
  return opcode == "topk" ? "sort" : opcode == "reduce" ? "reduce-window" : nullptr;
}

// What kernels have in them where XLA's passes have written out an opcode; null where they do not.
const char* MarkOf(const std::string& opcode) {
  return opcode == "rng-bit-generator" ? "xor" : nullptr;
}

// The share of the time that these take, up to 1. What has another name now, as behind inlining, is
// known by its origin, which others may share; where nothing has one, by its kind, once all of that
// is replaced; what has no origin either, by its opcode.
double OfAll(const KernelShares& shares, const std::vector<Replaced>& instructions) {
  double all = 0;
  std::set<std::string> origins, opcodes, kinds;
  for (const Replaced& one : instructions) {
    const double named = IsNamed(shares, one) ? shares.OfInstruction(one.name) : 0;
    all += named;
    if (named > 0) continue;
    if (!shares.has_origins() && one.all && kinds.insert(one.kind).second) {
      const double of_kind = shares.OfKind(one.kind);
      all += of_kind;
      if (of_kind > 0) continue;
    }
    if (origins.insert(one.origin).second) all += shares.OfOrigin(one.origin);
    if (opcodes.insert(one.opcode).second) all += shares.OfOpcodeMadeAnew(one.opcode);
    const char* const made = MadeOf(one.opcode);
    if (made != nullptr && opcodes.insert(made).second) all += shares.OfOpcodeMadeAnew(made);
    const char* const mark = MarkOf(one.opcode);
    if (mark != nullptr && opcodes.insert(mark).second) all += shares.OfOpcode(mark);
  }
  return std::min(1.0, all);
}

// What going round and starting kernels takes is saved, and part of what is in the loops, up to 1.
// Where nothing has an origin, one that has another name now is taken for the dearest.
double OfLoops(const KernelShares& shares, const std::vector<Replaced>& loops) {
  double all = 0;
  std::set<std::string> origins;
  const std::string dearest = shares.has_origins() ? "" : shares.DearestLoop();
  for (const Replaced& one : loops) {
    const bool named = shares.OfLoop(one.name) > 0;
    const std::string& elsewhere = shares.has_origins() ? one.origin : dearest;
    if (!named && !origins.insert(elsewhere).second) continue;
    const std::string& known = named ? one.name : elsewhere;
    const double alone = shares.OfLoopAlone(known);
    all += alone + kLoopShare * (shares.OfLoop(known) - alone);
  }
  return std::min(1.0, all);
}

// A combination, and what those that are in it replace.
class Combination {
 public:
  Combination(const KernelShares& shares, const std::vector<std::string>& names)
      : shares_(shares), names_(names) {}

  void Take(const Alternative& one) {
    if (IsAmong(names_, one.name)) {
      together_.push_back(one.name);
    }
    // Behind what comes first there is as much for others.
    if (Has(one, kPrepares | kAppliedFirst)) return;
    // Inlining takes all names of what was called away; what is replaced keeps its origin.
    const bool inlined = one.passes.size() > 1;
    bool known = !inlined;
    for (const Replaced& instruction : one.instructions) {
      if (inlined && instruction.origin.empty()) {
        kinds_.insert(instruction.kind);
        continue;
      }
      known = true;
      replaced_.insert(instruction.name);
    }
    if (!known) opcodes_.insert(one.opcodes.begin(), one.opcodes.end());
  }

  // Where much of what it replaces is left to it.
  void TakeWhereLeft(const Alternative& one) {
    const double all = OfAll(shares_, one.instructions);
    const double alone = OfAll(shares_, Without(one.instructions, [&](const Replaced& instruction) {
      return replaced_.count(instruction.name) != 0 ||
             (!instruction.kind.empty() && kinds_.count(instruction.kind) != 0);
    }));
    const bool others_too = Has(one, kBesideKernels) && all >= kDearShare;
    const bool by_instructions = !IsAlike(one) && IsMostlyAlone(alone, all);
    const bool by_loops = ChangesLoopsAlone(one);
    if (by_loops) {
      for (const Replaced& loop : one.loops) changed_loops_.insert(loop.name);
    }
    if (others_too || by_loops || by_instructions) Take(one);
  }

  const std::vector<std::string>& together() const { return together_; }

 private:
  template <class IsTaken>
  static std::vector<Replaced> Without(const std::vector<Replaced>& all, const IsTaken& is_taken) {
    std::vector<Replaced> left;
    std::copy_if(all.begin(), all.end(), std::back_inserter(left), std::not_fn(is_taken));
    return left;
  }
  static bool IsMostlyAlone(double alone, double all) {
    return alone >= kDearShare && alone >= kMostlyAlone * all;
  }

  // Of opcodes of which, behind inlining, nobody knows how many are left.
  bool IsAlike(const Alternative& one) const {
    return !one.opcodes.empty() &&
           std::all_of(one.opcodes.begin(), one.opcodes.end(),
                       [&](const std::string& opcode) { return opcodes_.count(opcode); });
  }

  // What unrolls loops leaves to kernels what it does in them; what prepares for them may not.
  bool ChangesLoopsAlone(const Alternative& one) const {
    if (Has(one, kHereAlone | kPrepares)) return false;
    const std::vector<Replaced> left = Without(one.loops, [&](const Replaced& loop) {
      return changed_loops_.count(loop.name) != 0;
    });
    return IsMostlyAlone(OfLoops(shares_, left), OfLoops(shares_, one.loops));
  }

  const KernelShares& shares_;
  const std::vector<std::string>& names_;
  std::vector<std::string> together_;
  std::set<std::string> replaced_, kinds_, opcodes_, changed_loops_;
};

// Those of a combination that are so.
std::vector<std::string> AmongWhere(const std::vector<Alternative>& alternatives,
                                    const std::vector<std::string>& together,
                                    const std::function<bool(const Alternative&)>& is_so) {
  std::vector<std::string> among;
  for (const Alternative& one : alternatives) {
    if (is_so(one) && IsAmong(together, one.name)) among.push_back(one.name);
  }
  return among;
}

}  // namespace

double Promise(const KernelShares& shares, const Alternative& alternative) {
  const double named = OfAll(shares, alternative.instructions);
  double alike = 0;
  for (const std::string& opcode : alternative.opcodes) {
    alike = std::max(alike, shares.OfOpcode(opcode));
  }
  return std::max(named, OfLoops(shares, alternative.loops)) + kAlikeShare * alike;
}

double Promise(const KernelShares& shares, const std::vector<Alternative>& alternatives,
               const std::string& name) {
  double most = 0;
  for (const Alternative& alternative : alternatives) {
    if (alternative.name == name) most = std::max(most, Promise(shares, alternative));
  }
  return most;
}

std::vector<Alternative> DearestFirst(const KernelShares& shares,
                                      std::vector<Alternative> alternatives) {
  const auto tenths = [&](const Alternative& one) {
    return std::lround(10 * Promise(shares, one));
  };
  std::stable_sort(alternatives.begin(), alternatives.end(),
                   [&](const Alternative& a, const Alternative& b) {
                     if (a.large() != b.large()) return b.large();
                     const uint32_t before_others = kAppliedFirst | kPrepares;
                     if (Has(a, before_others) != Has(b, before_others)) {
                       return Has(a, before_others);
                     }
                     if (Has(a, kDepthwise) != Has(b, kDepthwise)) return Has(a, kDepthwise);
                     if (!Has(a, kDepthwise) && tenths(a) != tenths(b))
                       return tenths(a) > tenths(b);
                     return loops::MakesKernels(a.name) && !loops::MakesKernels(b.name);
                   });
  return alternatives;
}

std::vector<AlternativeReport> RacingOrder(const KernelShares& shares, const ChangePolicy& policy,
                                           const std::vector<Alternative>& alternatives,
                                           double compiling) {
  constexpr double kInAnyCase = 50;  // instructions: what compiling takes beside the program's own
  const auto report = [&](const Alternative& one) {
    AlternativeReport of{one.name, Promise(shares, one), 1, 0};
    if (one.before > 0) {
      of.growth = std::max(1.0, (one.behind + kInAnyCase) / (one.before + kInAnyCase));
    }
    if (policy.known().empty()) {
      of.expected = of.growth > kGrows ? 0 : 1;
      return of;
    }
    const std::string name = CommonName(one);
    const bool order = one.stage == Stage::kOrder;
    // Code of twice the size takes LLVM more than twice as long, in one kernel; not in several.
    of.expected =
        policy.Gain({std::string(StageName(one.stage)), order ? kOrderName : name, name}) *
        static_cast<double>(1 + std::lround(10 * of.promise)) /
        (1 - compiling + compiling * std::pow(of.growth, 1.5));
    return of;
  };
  std::vector<AlternativeReport> ordered;
  for (const Alternative& one : alternatives) ordered.push_back(report(one));
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.expected > b.expected; });
  return ordered;
}

bool AreLarge(const std::vector<Alternative>& alternatives, const std::vector<std::string>& names) {
  double before = 0, growth = 1;
  for (const Alternative& one : alternatives) {
    if (one.before <= 0 || !IsAmong(names, one.name)) continue;
    before = one.before;
    growth *= std::max(1.0, one.behind / one.before);
  }
  return Alternative::IsLarge(before, before * growth);
}

std::vector<std::vector<std::string>> RacedTogether(const KernelShares& shares,
                                                    const std::vector<Alternative>& alternatives,
                                                    const std::vector<std::string>& names) {
  Combination combination(shares, names);
  for (const Alternative& one : alternatives) {
    if (loops::MakesKernels(one.name)) combination.Take(one);
  }
  for (const Alternative& one : alternatives) {
    // How operands lie for XLA's own library is no matter to kernels.
    const bool apart = ChangesAll(one) || Has(one, kForLibraries | kApart);
    if (!apart && !loops::MakesKernels(one.name)) combination.TakeWhereLeft(one);
  }
  const std::vector<std::string>& together = combination.together();
  std::vector<std::string> kernels, others;
  std::copy_if(together.begin(), together.end(), std::back_inserter(kernels), loops::MakesKernels);
  if (kernels == together) return {together};
  std::copy_if(together.begin(), together.end(), std::back_inserter(others),
               std::not_fn(loops::MakesKernels));
  if (kernels.empty()) return {together, kernels};
  return {together, kernels, others};
}

std::vector<std::string> RacedAtOnce(const std::vector<AlternativeReport>& ordered,
                                     const std::vector<Alternative>& alternatives,
                                     const std::vector<std::string>& names,
                                     const std::vector<std::string>& together) {
  constexpr double kGrowsLittle = 1.2, kLeastExpected = 0.1;
  std::vector<std::string> small;
  for (const AlternativeReport& one : ordered) {
    if (one.growth > kGrowsLittle || one.expected < kLeastExpected) continue;
    const bool all_around = std::any_of(
        alternatives.begin(), alternatives.end(),
        [&](const Alternative& known) { return known.name == one.name && ChangesAll(known); });
    if (!all_around && IsAmong(names, one.name) && !IsAmong(together, one.name)) {
      small.push_back(one.name);
    }
  }
  return small;
}

std::vector<std::string> DoubtfulOf(const std::vector<Alternative>& alternatives,
                                    const std::vector<std::string>& together) {
  return AmongWhere(alternatives, together, [](const Alternative& one) {
    return !loops::MakesKernels(one.name) || Has(one, kDoubtful);
  });
}

std::vector<std::string> HarmfulOf(const std::vector<Alternative>& alternatives,
                                   const std::vector<std::string>& together) {
  return AmongWhere(alternatives, together, [](const Alternative& one) {
    return loops::MakesKernels(one.name) && Has(one, kDoubtful);
  });
}

std::string RacedFirst(const std::vector<AlternativeReport>& ordered,
                       const std::vector<std::string>& names,
                       const std::vector<std::string>& together) {
  if (names.empty()) return {};
  double first = 0, of_others = 0;
  for (const AlternativeReport& one : ordered) {
    if (one.name == names.front()) {
      first = std::max(first, one.expected);
    } else if (IsAmong(together, one.name)) {
      of_others += one.expected;
    }
  }
  return first > of_others ? names.front() : std::string();
}

}  // namespace hone::tune
