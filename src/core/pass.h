// A registered XLA pass, as the agent's side knows it.
#ifndef HONE_CORE_PASS_H_
#define HONE_CORE_PASS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

enum class PassGroup { kSimplify, kExpand, kLegalise, kLayout, kFuse, kSchedule, kCollective };

inline constexpr std::string_view PassGroupName(PassGroup group) {
  constexpr std::string_view kNames[] = {"simplify", "expand",   "legalise",  "layout",
                                         "fuse",     "schedule", "collective"};
  return kNames[static_cast<int>(group)];
}

// The kind of a row of the registry, and the action set that it is in.
enum class PassKind : uint8_t {
  kXla,             // a pass of XLA's: "all", and "simplify" if it is a simplifier
  kRewrites,        // a pass of XLA's of which some rewrites only are made: "rewrites"
  kRules,           // hone's own rules, many at a time: "rules"
  kRule,            // one rule: in no set
  kImplementation,  // another way to compute an expensive operation: "implementations"
};

// What is known of an implementation before it is tried, for tuners: bits of PassInfo::traits.
enum PassTraits : uint32_t {
  kAnywhere = 0,
  // What it makes means something to XLA:CPU, or to hone's own kernels, alone.
  kHereAlone = 1,
  // Behind others, kernels above all, what it changes is no more there for it.
  kAppliedFirst = 2,
  // Behind it others find more.
  kPrepares = 4,
  // It finds more where calls are inlined.
  kForInlined = 8,
  // What it changes is all around: it may be in others' way, or they in its.
  kAllAround = 16,
  // Kernels that replace the same leave something to it.
  kBesideKernels = 32,
  // It is about how operands lie for XLA's own libraries: no matter to kernels.
  kForLibraries = 64,
  // Of depthwise layers, which come before other convolutions, the fastest way first.
  kDepthwise = 128,
  // It is to see equal expressions as one, as XLA will: it tells values apart that are equal.
  kOfShared = 256,
  // A kernel that may do harm beside others: what it replaces XLA may have had for nothing.
  kDoubtful = 512,
  // Beside others it slows most programs down, or takes long to compile: raced by itself.
  kApart = 1024,
};

// An action: an index into the registry's table.
using PassId = uint16_t;

struct PassInfo {
  // XLA's own `pass->name()`, followed by ":variant" where options differ from the plain entry.
  std::string name;
  std::string class_name;
  std::string meaning;  // one line
  PassGroup group = PassGroup::kSimplify;
  std::string options;  // "" where the pass has none or takes XLA's defaults
  // In the action set `simplify`: keeps or lowers the op count, expands nothing to legalise it.
  bool simplify = false;
  PassKind kind = PassKind::kXla;
  // Opcodes, one of which is in every program that the pass changes. Empty: that is not known.
  std::vector<std::string> roots;
  uint32_t traits = kAnywhere;  // PassTraits
};

}  // namespace hone

#endif  // HONE_CORE_PASS_H_
