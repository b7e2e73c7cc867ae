// The rewrites of a pass, one by one, and decisions about them (HloEnv's idea, on unmodified XLA).
#ifndef HONE_CORE_REWRITE_H_
#define HONE_CORE_REWRITE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fingerprint.h"

namespace hone {

enum class RewriteKind : uint8_t {
  kReplaceInstruction,  // an instruction by another, everywhere, and it goes
  kReplaceUses,         // an instruction by another in some or all of its users
  kReplaceOperand,      // one operand of one instruction
  kFuse,                // a producer into a consumer, or two siblings into one loop
  kRemove,              // an instruction that nobody needs
  kLayout,              // in place: the layout of a result
  kSharding,            // in place
  kBackendConfig,       // in place
  kAttributes,          // in place: frontend attributes
  kWhole,               // all that the pass does: it cannot be taken apart
};

inline constexpr std::string_view kRewriteKindNames[] = {
    "replace_instruction", "replace_uses", "replace_operand", "fuse",       "remove",
    "layout",              "sharding",     "backend_config",  "attributes", "whole"};

inline constexpr std::string_view RewriteKindName(RewriteKind kind) {
  return kRewriteKindNames[static_cast<int>(kind)];
}

enum class SiteStatus : uint8_t {
  kOk,         // can be applied as the program stands
  kConflicts,  // touches what an earlier site touches: at most one of them will be applied
  kCycle,      // together with an earlier site it would make a cycle: XLA will not offer both
  kGone,       // its original is no more
  kApplied,    // has been applied
  kEnabled,    // there only because another one was applied
};

inline constexpr std::string_view kSiteStatusNames[] = {"ok",   "conflict", "cycle",
                                                        "gone", "applied",  "enabled"};

inline constexpr std::string_view SiteStatusName(SiteStatus status) {
  return kSiteStatusNames[static_cast<int>(status)];
}

// How a site is named. A place is one instruction of one state, by its number in the order that the
// fingerprint walks, so that equal states have equal places. A content is what the rewrite looks
// like (opcodes, shapes, attributes of the original, its operands and the root of the replacement):
// many places of a program may share it, and other programs have it too.
using SiteKey = uint64_t;

struct RewriteSite {
  SiteKey place = 0;
  SiteKey content = 0;
  RewriteKind kind = RewriteKind::kReplaceInstruction;
  SiteStatus status = SiteStatus::kOk;
  std::string computation;
  std::string instruction;  // the original's name
  std::string opcode;       // the original's
  std::string original;     // HLO text, a line an instruction, the original last
  std::string replacement;  // the same; empty where nothing takes its place
  std::string reason;       // XLA's own, where it gives one
  // Of this rewrite alone. flops and bytes by XLA's HloCostAnalysis.
  int64_t delta_op_count = 0;
  double delta_flops = 0;
  double delta_bytes = 0;
};

// The rewrites that a pass would make in a state.
struct Rewrites {
  Fingerprint state;
  // False where the pass changes the program in ways that cannot be had one by one: then there is
  // one site, of kind kWhole.
  bool separable = true;
  std::vector<RewriteSite> sites;                       // in the order in which the pass asks
  std::vector<std::pair<uint32_t, uint32_t>> conflicts;  // indices of sites, i < j, ascending
  double pass_seconds = 0;  // of the pass alone, nothing decided; 0 where not asked for
  double dry_seconds = 0;   // of finding out
  double list_seconds = 0;  // of writing it down
};

struct RewritesOptions {
  bool texts = true;    // fill RewriteSite::original and replacement
  bool effects = true;  // fill the deltas
  bool time_pass = false;
  bool whole = false;  // do not try to take the pass apart
};

// The decision about a site that no choice names.
enum class Otherwise : uint8_t {
  kAccept,
  kDecline,
  kShrinking,    // accepts what lowers the op count
  kNotGrowing,   // accepts what does not raise the op count
  kLessBytes,    // accepts what does not raise the bytes accessed
  kLessFlops,    // accepts what does not raise the flops
  kHalf,         // accepts a half of the contents, drawn by Decisions::seed
};

inline constexpr std::string_view kOtherwiseNames[] = {
    "accept", "decline", "shrinking", "not_growing", "less_bytes", "less_flops", "half"};

inline constexpr std::string_view OtherwiseName(Otherwise otherwise) {
  return kOtherwiseNames[static_cast<int>(otherwise)];
}

inline std::optional<Otherwise> OtherwiseFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kOtherwiseNames); ++i) {
    if (kOtherwiseNames[i] == name) return static_cast<Otherwise>(i);
  }
  return std::nullopt;
}

struct SiteChoice {
  SiteKey key = 0;  // of a place or of a content; a place goes first
  bool accept = false;
  friend bool operator==(const SiteChoice& a, const SiteChoice& b) {
    return a.key == b.key && a.accept == b.accept;
  }
};

// A plan for one run of one pass. The default is the pass as it is.
struct Decisions {
  Otherwise otherwise = Otherwise::kAccept;
  uint64_t seed = 0;
  std::vector<SiteChoice> choices;  // ascending keys

  bool AcceptNone() const {
    if (otherwise != Otherwise::kDecline) return false;
    for (const SiteChoice& choice : choices) {
      if (choice.accept) return false;
    }
    return true;
  }
  bool AcceptAll() const { return otherwise == Otherwise::kAccept && choices.empty(); }
  // 0 for the pass as it is.
  uint64_t Hash() const {
    if (AcceptAll()) return 0;
    uint64_t hash = 0x9e3779b97f4a7c15ull * (static_cast<uint64_t>(otherwise) + 1) ^ seed;
    for (const SiteChoice& choice : choices) {
      hash = (hash ^ choice.key ^ (choice.accept ? 0x5bd1e995ull : 0)) * 0x9fb21c651e98df25ull;
      hash ^= hash >> 29;
    }
    return hash | 1;
  }
  friend bool operator==(const Decisions& a, const Decisions& b) {
    return a.otherwise == b.otherwise && a.seed == b.seed && a.choices == b.choices;
  }
};

// Null is the pass as it is.
using DecisionsPtr = std::shared_ptr<const Decisions>;

inline uint64_t HashOf(const DecisionsPtr& decisions) {
  return decisions == nullptr ? 0 : decisions->Hash();
}

}  // namespace hone

#endif  // HONE_CORE_REWRITE_H_
