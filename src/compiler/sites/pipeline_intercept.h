// Where the stock pipeline decides between ways to compile: the functions in which it does, taken
// over as in intercept.h. XLA:CPU's are in pipeline_intercept.cc, XLA:GPU's in
// gpu/pipeline_intercept.cc.
#ifndef HONE_COMPILER_SITES_PIPELINE_INTERCEPT_H_
#define HONE_COMPILER_SITES_PIPELINE_INTERCEPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/compile_plan.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/service/layout_assignment.h"

namespace hone::compiler {

// xla::cpu::DotImplementationStrategy, whose header needs LLVM's.
enum class DotStrategy : int { kNaive, kGemv, kGemm, kEigen };

// Of a producer and its users.
enum class FusionWish { kStock, kFuse, kKeep };

// Of what takes part in a fusion, by XLA's own model.
struct FusionSeconds {
  double fuse = 0;
  double keep = 0;
};

// Told what the compiler is about to decide, with what it would decide by itself; answers with what
// is to be done.
class PipelineObserver {
 public:
  virtual ~PipelineObserver() = default;

  // Before each fusion pass.
  virtual void FusionBegins(const xla::HloModule& module) = 0;
  // XLA:CPU, edge by edge.
  // `legal`: whether the code generator could take the fusion that XLA has decided against.
  virtual bool Fuse(const xla::HloInstruction& producer, const xla::HloInstruction& consumer,
                    bool stock, bool legal) = 0;
  // XLA:GPU: a producer goes into all of its users, or none. Asked again when they have changed.
  virtual FusionWish FuseIntoUsers(const xla::HloInstruction& producer, FusionSeconds seconds) = 0;
  // XLA:GPU: whether two that may become one kernel with several results do. Asked more than once.
  // `seconds` may be null.
  virtual bool FuseTogether(const xla::HloInstruction& a, const xla::HloInstruction& b, bool stock,
                            const FusionSeconds* seconds) = 0;
  // XLA:GPU, where a producer is about to go into a consumer.
  virtual void FusesInto(const xla::HloInstruction& consumer) = 0;
  // What follows an answer of true, and FusesInto.
  virtual void Fused(const xla::HloInstruction& fusion) = 0;

  // XLA:CPU, before code is made of the module that its passes have come to.
  virtual void Kernels(xla::HloModule& optimised) = 0;

  // Before XLA's own constraints, which come after and have the last word.
  virtual void Layouts(xla::LayoutAssignment& assignment,
                       const xla::HloComputation& computation) = 0;

  virtual int64_t Partitions(const xla::HloInstruction& instruction, int64_t stock) = 0;
  virtual DotStrategy Strategy(const xla::HloInstruction& dot, DotStrategy stock) = 0;

  // Whether the library takes what it could take. XLA asks about one thing in several places, also
  // where it has not been transposed to its final form. `decides`: not only whether it could.
  virtual bool DotByLibrary(const xla::DotDimensionNumbers& numbers, const xla::Shape& left,
                            const xla::Shape& right, const xla::Shape& result) = 0;
  virtual bool ByLibrary(const xla::HloInstruction& instruction, bool decides) = 0;

  // XLA:GPU's decisions about one instruction each, which have their kind, choices and stock from
  // whoever takes the function over.
  // The site that an instruction is, as it is now or as it was when NameAll was told of it.
  virtual CompileSite SiteOf(CompileSiteKind kind, const xla::HloInstruction& instruction,
                             std::vector<std::string> choices, uint32_t stock) = 0;
  // What is to be done there. Of one instruction it may be asked more than once.
  virtual std::string Choose(const CompileSite& site) = 0;
  // Before a pass that changes some of them, and so the operands of others.
  virtual void NameAll(const xla::HloModule& module, xla::HloOpcode opcode) = 0;
  // Whether the plan says so of the site; of any site at all.
  virtual bool Plans(const CompileSite& site, const std::string& value) const = 0;
  virtual bool Plans(const std::string& value) const = 0;
};

// While it lives, the compilations of this thread are asked about.
class ScopedPipelineObserver {
 public:
  explicit ScopedPipelineObserver(PipelineObserver* observer);
  ~ScopedPipelineObserver();
  ScopedPipelineObserver(const ScopedPipelineObserver&) = delete;
  ScopedPipelineObserver& operator=(const ScopedPipelineObserver&) = delete;
};

// Null where none is.
PipelineObserver* CurrentPipelineObserver();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_PIPELINE_INTERCEPT_H_
