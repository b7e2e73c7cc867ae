// Makes a CompilePlan's decisions within the stock pipeline, and notes down what there was to
// decide.
#ifndef HONE_COMPILER_SITES_COMPILE_DECIDER_H_
#define HONE_COMPILER_SITES_COMPILE_DECIDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/sites/pipeline_intercept.h"
#include "core/compile_plan.h"
#include "xla/shape.h"

namespace hone::compiler {

class CompileDecider : public PipelineObserver {
 public:
  // `plan` must outlive it. What is met is kept where `options.sites`.
  explicit CompileDecider(const CompilePlan& plan, const CompileOptions& options = NoSites());

  bool lists_sites() const { return options_.sites; }
  std::vector<CompileSite> TakeSites() { return std::move(sites_); }
  // Places at which the plan decided otherwise than the stock compiler.
  uint64_t applied() const { return applied_; }
  // Of those that may not show in the optimised module: how dots are emitted.
  uint64_t hidden() const { return hidden_; }
  // Takes over the counts of a compilation that is not repeated, or that goes on from there.
  void Recall(uint64_t applied, uint64_t hidden) {
    applied_ = applied;
    hidden_ = hidden;
  }

  // Layouts of the arrays that a program is passed, or returns: the plan's, else row-major.
  std::vector<xla::Shape> EntryLayouts(const std::vector<xla::Shape>& arrays, bool results);

  void FusionBegins(const xla::HloModule& module) override;
  bool Fuse(const xla::HloInstruction& producer, const xla::HloInstruction& consumer, bool stock,
            bool legal) override;
  FusionWish FuseIntoUsers(const xla::HloInstruction& producer, FusionSeconds seconds) override;
  bool FuseTogether(const xla::HloInstruction& a, const xla::HloInstruction& b, bool stock,
                    const FusionSeconds* seconds) override;
  void FusesInto(const xla::HloInstruction& consumer) override;
  void Fused(const xla::HloInstruction& fusion) override;
  void Kernels(xla::HloModule& optimised) override;
  void Layouts(xla::LayoutAssignment& assignment, const xla::HloComputation& computation) override;
  int64_t Partitions(const xla::HloInstruction& instruction, int64_t stock) override;
  DotStrategy Strategy(const xla::HloInstruction& dot, DotStrategy stock) override;
  bool DotByLibrary(const xla::DotDimensionNumbers& numbers, const xla::Shape& left,
                    const xla::Shape& right, const xla::Shape& result) override;
  bool ByLibrary(const xla::HloInstruction& instruction, bool decides) override;
  CompileSite SiteOf(CompileSiteKind kind, const xla::HloInstruction& instruction,
                     std::vector<std::string> choices, uint32_t stock) override;
  std::string Choose(const CompileSite& site) override;
  void NameAll(const xla::HloModule& module, xla::HloOpcode opcode) override;
  bool Plans(const CompileSite& site, const std::string& value) const override;
  bool Plans(const std::string& value) const override;

 private:
  static CompileOptions NoSites();
  // The plan's choice; null where it has none.
  const std::string* Planned(SiteKey key) const;
  // The value that is taken: the plan's where it is among the choices, else the stock compiler's.
  const std::string& Decide(const xla::HloInstruction* instruction, CompileSite site);
  uint64_t RoleOf(const xla::HloInstruction& instruction) const;

  absl::flat_hash_map<SiteKey, const std::string*> planned_;
  const CompileOptions options_;
  std::vector<CompileSite> sites_;
  absl::flat_hash_map<SiteKey, size_t> index_;  // into sites_
  uint64_t applied_ = 0;
  uint64_t hidden_ = 0;
  std::string chosen_;

  // What an instruction was when fusion began, with its neighbours. A fusion is what its root was.
  absl::flat_hash_map<const xla::HloInstruction*, uint64_t> roles_;
  uint64_t last_consumer_ = 0;  // its role
  // The answers given in this fusion pass, by instructions' unique ids.
  absl::flat_hash_map<int64_t, FusionWish> answered_;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, FusionWish> answered_together_;

  // By NameAll, by instructions' names: passes give ids anew.
  absl::flat_hash_map<std::string, uint64_t> named_;
  // The choices made, by site and instruction.
  absl::flat_hash_map<std::pair<SiteKey, std::string>, std::string> chosen_once_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_COMPILE_DECIDER_H_
