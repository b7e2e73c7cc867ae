#include "compiler/sites/dry_run.h"

#include <algorithm>
#include <chrono>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "compiler/fingerprint.h"
#include "compiler/sites/conflicts.h"
#include "compiler/sites/decider.h"
#include "compiler/sites/intercept.h"
#include "core/fnv.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Longer subgraphs are cut: the text is for people.
constexpr size_t kMostLines = 64;

std::string Text(const std::vector<const xla::HloInstruction*>& instructions, bool backwards) {
  std::string text;
  const size_t lines = std::min(instructions.size(), kMostLines);
  for (size_t i = 0; i < lines; ++i) {
    if (!text.empty()) text += '\n';
    text += ShortText(*instructions[backwards ? lines - 1 - i : i]);
  }
  if (lines < instructions.size()) {
    absl::StrAppend(&text, "\n... ", instructions.size() - lines, " more");
  }
  return text;
}

std::string FailureOf(const absl::Status& status) {
  if (status.ok() || IsEnded(status)) return "";
  return status.message().empty() ? status.ToString() : std::string(status.message());
}

uint64_t KeyOf(std::string_view domain, const Fingerprint& fingerprint, std::string_view name) {
  const uint64_t start = fingerprint.high ^ (fingerprint.low * 0x9fb21c651e98df25ull);
  return Fnv1a(name, Fnv1a(domain, start));
}

}  // namespace

std::string RunObserved(const PassEntry& pass, xla::HloModule* module, bool places,
                        Decider::Decide decide) {
  Decider decider(*module, places, std::move(decide));
  absl::Status status;
  {
    ScopedObserver observed(&decider);
    status = pass.make()->Run(module).status();
  }
  decider.CleanUp(module);
  if (module->has_schedule() && !module->schedule().Update().ok()) module->clear_schedule();
  module->Cleanup();  // a schedule must know of removals before
  return FailureOf(status);
}

RewriteSite DescribeSite(Decider& decider, const Decider::Site& found,
                         const RewritesOptions& options, const Effect* known) {
  const Offer& offer = found.offer;
  RewriteSite site;
  site.place = found.place;
  site.content = found.content;
  site.kind = offer.kind;
  site.status = found.enabled ? SiteStatus::kEnabled : SiteStatus::kOk;
  site.computation = std::string(offer.original->parent()->name());
  site.instruction = std::string(offer.original->name());
  site.opcode = std::string(xla::HloOpcodeString(offer.original->opcode()));
  site.reason = std::string(offer.reason);
  if (offer.kind == RewriteKind::kFuse) {
    site.reason = absl::StrCat("into ", offer.replacement->name());
  } else if (offer.user != nullptr) {
    site.reason = absl::StrCat("operand ", offer.operand, " of ", offer.user->name());
  }
  if (!options.effects && !options.texts) return site;
  const Effect effect = known != nullptr ? *known : decider.EffectOf(offer);
  site.delta_op_count = effect.op_count;
  site.delta_flops = effect.flops;
  site.delta_bytes = effect.bytes;
  if (!options.texts) return site;
  site.original = effect.removed.empty() ? ShortText(*offer.original)
                                         : Text(effect.removed, /*backwards=*/true);
  if (offer.replacement != nullptr) {
    site.replacement = effect.added.empty() ? ShortText(*offer.replacement)
                                            : Text(effect.added, /*backwards=*/false);
  }
  return site;
}

DryRunResult DryRun(const PassEntry& pass, xla::HloModule* module,
                    const RewritesOptions& options) {
  DryRunResult result;
  Rewrites& rewrites = result.rewrites;
  std::vector<Touched> touched;
  double listing = 0;
  const Clock::time_point start = Clock::now();
  result.failure =
      RunObserved(pass, module, /*places=*/true, [&](Decider& self, const Decider::Site& found) {
        const Clock::time_point found_at = Clock::now();
        const Offer& offer = found.offer;
        const Effect effect = self.EffectOf(offer);
        rewrites.sites.push_back(DescribeSite(self, found, options, &effect));
        Touched touch{offer.kind, offer.original, offer.user, offer.operand, effect.removed, {}};
        for (const xla::HloInstruction* added : effect.added) {
          for (const xla::HloInstruction* operand : added->operands()) {
            if (self.IsOriginal(operand)) touch.reads.push_back(operand);
          }
        }
        if (effect.added.empty() && offer.replacement != nullptr &&
            offer.kind != RewriteKind::kFuse && self.IsOriginal(offer.replacement)) {
          touch.reads.push_back(offer.replacement);
        }
        touched.push_back(std::move(touch));
        listing += Since(found_at);
        return false;
      });
  rewrites.dry_seconds = Since(start) - listing;
  const Clock::time_point relating = Clock::now();
  // Siblings and producers may be fused into several consumers: those decisions are apart.
  const bool fusion = !rewrites.sites.empty() && rewrites.sites[0].kind == RewriteKind::kFuse;
  if (!fusion && result.failure.empty()) {
    rewrites.conflicts = FindConflicts(touched, rewrites.sites);
  }
  rewrites.list_seconds = listing + Since(relating);
  return result;
}

std::string RunDecided(const PassEntry& pass, xla::HloModule* module, const Decisions& decisions,
                       bool& made) {
  made = false;
  return RunObserved(pass, module, /*places=*/!decisions.choices.empty(),
                     [&](Decider& self, const Decider::Site& site) {
                       const bool accept = Chosen(decisions, self, site);
                       made |= accept;
                       return accept;
                     });
}

namespace {

// Calls visit(kind, before, after) for every change in place; false where there are others.
template <class Visit>
bool EachChangeInPlace(const xla::HloModule& before, const xla::HloModule& after, Visit visit) {
  const auto old_order = CanonicalOrder(before);
  absl::flat_hash_map<absl::string_view, const xla::HloInstruction*> by_name;
  for (const xla::HloComputation* computation : after.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      by_name[instruction->name()] = instruction;
    }
  }
  for (size_t number = 0; number < old_order.size(); ++number) {
    const xla::HloInstruction* old = old_order[number];
    const auto found = by_name.find(old->name());
    if (found == by_name.end() || found->second->opcode() != old->opcode() ||
        found->second->operand_count() != old->operand_count()) {
      return false;
    }
    const xla::HloInstruction* now = found->second;
    for (int64_t i = 0; i < old->operand_count(); ++i) {
      if (old->operand(i)->name() != now->operand(i)->name()) return false;
    }
    if (!xla::ShapeUtil::Compatible(old->shape(), now->shape())) return false;
    if (old->shape() != now->shape()) visit(RewriteKind::kLayout, number, *old, *now);
    const bool sharded = old->has_sharding() != now->has_sharding() ||
                         (old->has_sharding() && old->sharding() != now->sharding());
    if (sharded) visit(RewriteKind::kSharding, number, *old, *now);
    if (old->raw_backend_config_string() != now->raw_backend_config_string()) {
      visit(RewriteKind::kBackendConfig, number, *old, *now);
    }
    if (old->frontend_attributes().SerializeAsString() !=
        now->frontend_attributes().SerializeAsString()) {
      visit(RewriteKind::kAttributes, number, *old, *now);
    }
  }
  return true;
}

SiteKey PlaceInPlace(RewriteKind kind, size_t number) {
  return KeyOf(RewriteKindName(kind), {number, 0x1a}, "");
}

SiteKey ContentInPlace(RewriteKind kind, const xla::HloInstruction& now) {
  return KeyOf(RewriteKindName(kind), {}, now.ToString(xla::HloPrintOptions::Fingerprint()));
}

void Restore(RewriteKind kind, const xla::HloInstruction& before, xla::HloInstruction* after) {
  switch (kind) {
    case RewriteKind::kLayout:
      *after->mutable_shape() = before.shape();
      break;
    case RewriteKind::kSharding:
      if (before.has_sharding()) {
        after->set_sharding(before.sharding_ptr());
      } else {
        after->clear_sharding();
      }
      break;
    case RewriteKind::kBackendConfig:
      after->set_raw_backend_config_string(before.raw_backend_config_string());
      break;
    case RewriteKind::kAttributes:
      after->set_frontend_attributes(before.frontend_attributes());
      break;
    default:
      break;
  }
}

}  // namespace

bool InPlaceSites(const xla::HloModule& before, const xla::HloModule& after,
                  const RewritesOptions& options, std::vector<RewriteSite>& sites) {
  const std::unique_ptr<xla::HloModule> restored = after.Clone(/*suffix=*/"");
  const bool in_place = EachChangeInPlace(
      before, after,
      [&](RewriteKind kind, size_t number, const xla::HloInstruction& old,
          const xla::HloInstruction& now) {
        RewriteSite site;
        site.kind = kind;
        site.place = PlaceInPlace(kind, number);
        site.content = ContentInPlace(kind, now);
        site.computation = std::string(old.parent()->name());
        site.instruction = std::string(old.name());
        site.opcode = std::string(xla::HloOpcodeString(old.opcode()));
        if (options.texts) {
          site.original = old.ToString();
          site.replacement = now.ToString();
        }
        sites.push_back(std::move(site));
      });
  if (!in_place || sites.empty()) return false;
  // It was all: what is put back is what was there.
  Decisions none;
  none.otherwise = Otherwise::kDecline;
  RestoreDeclined(before, none, restored.get());
  return DigestModule(*restored).fingerprint == DigestModule(before).fingerprint;
}

void RestoreDeclined(const xla::HloModule& before, const Decisions& decisions,
                     xla::HloModule* after) {
  std::vector<std::function<void()>> undo;
  (void)EachChangeInPlace(
      before, *after,
      [&](RewriteKind kind, size_t number, const xla::HloInstruction& old,
          const xla::HloInstruction& now) {
        bool accept = decisions.otherwise != Otherwise::kDecline;
        const SiteKey place = PlaceInPlace(kind, number);
        const SiteKey content = ContentInPlace(kind, now);
        if (decisions.otherwise == Otherwise::kHalf) {
          accept = KeyOf("half", {content, decisions.seed}, "") >> 17 & 1;
        }
        for (const SiteKey key : {content, place}) {
          for (const SiteChoice& choice : decisions.choices) {
            if (choice.key == key) accept = choice.accept;
          }
        }
        if (accept) return;
        undo.push_back([kind, &old, changed = const_cast<xla::HloInstruction*>(&now)] {
          Restore(kind, old, changed);
        });
      });
  for (const auto& one : undo) one();
  bool entry_layout = false;
  for (const SiteChoice& choice : decisions.choices) entry_layout |= choice.accept;
  if (decisions.otherwise == Otherwise::kDecline && !entry_layout) {
    *after->mutable_entry_computation_layout() = before.entry_computation_layout();
  }
}

RewriteSite WholeSite(const PassEntry& pass, const Fingerprint& before, int64_t delta_op_count,
                      double delta_flops, double delta_bytes) {
  RewriteSite site;
  site.kind = RewriteKind::kWhole;
  site.place = KeyOf("whole", before, pass.info.name);
  site.content = KeyOf("whole", {}, pass.info.name);
  site.reason = "the pass changes the program in ways that cannot be had one by one";
  site.delta_op_count = delta_op_count;
  site.delta_flops = delta_flops;
  site.delta_bytes = delta_bytes;
  return site;
}

}  // namespace hone::compiler
