// CompileDecider on the kernels of an optimised module: what code is made of.
#include <utility>

#include "compiler/sites/compile_decider.h"
#include "compiler/sites/keys.h"
#include "compiler/sites/small_kernels.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

void CompileDecider::Kernels(xla::HloModule& optimised) {
  if (!options_.sites && planned_.empty()) return;
  for (xla::HloComputation* computation : optimised.MakeNonfusionComputations()) {
    for (const SmallKernels& kernels : FindSmallKernels(computation)) {
      CompileSite site;
      site.key = Mix(KindSeed(CompileSiteKind::kSmallKernels), kernels.hash);
      site.kind = CompileSiteKind::kSmallKernels;
      site.choices = {"apart", "join"};
      for (const xla::HloInstruction* member : kernels.members) site.bytes += Traffic(*member);
      if (Decide(kernels.members.front(), std::move(site)) == "join") Join(kernels).IgnoreError();
    }
  }
}

}  // namespace hone::compiler
