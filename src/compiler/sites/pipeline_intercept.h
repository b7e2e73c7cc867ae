// Where the stock pipeline decides between ways to compile: the functions in which it does, taken over as
// in intercept.h. XLA:CPU's are in pipeline_intercept.cc, XLA:GPU's in gpu/pipeline_intercept.cc.
#ifndef HONE_COMPILER_SITES_PIPELINE_INTERCEPT_H_
#define HONE_COMPILER_SITES_PIPELINE_INTERCEPT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/layout_assignment.h"

namespace hone::compiler {

// xla::cpu::DotImplementationStrategy, whose header needs LLVM's.
enum class DotStrategy : int { kNaive, kGemv, kGemm, kEigen };

// Of a producer and its users.
enum class FusionWish { kStock, kFuse, kKeep };

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
  virtual FusionWish FuseIntoUsers(const xla::HloInstruction& producer) = 0;
  // XLA:GPU: whether two that may become one kernel with several results do. Asked more than once.
  virtual bool FuseTogether(const xla::HloInstruction& a, const xla::HloInstruction& b,
                            bool stock) = 0;
  // XLA:GPU, where a producer is about to go into a consumer.
  virtual void FusesInto(const xla::HloInstruction& consumer) = 0;
  // What follows an answer of true, and FusesInto.
  virtual void Fused(const xla::HloInstruction& fusion) = 0;

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
