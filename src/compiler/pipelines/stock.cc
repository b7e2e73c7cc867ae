#include "compiler/pipelines/stock.h"

#include "absl/strings/str_cat.h"
#include "compiler/target.h"

namespace hone::compiler {

StatusOr<std::vector<StockPass>> RecordStockPasses(const xla::HloModule& module) {
  const auto optimised = TheTarget().Optimise(module.Clone(""));
  if (!optimised.ok()) {
    return MakeError(ErrorCode::kUnsupported,
                     absl::StrCat("the stock compiler rejects it: ", optimised.status().message()));
  }
  return PassesThatRan(**optimised);
}

std::vector<StockPass> PassesThatRan(const xla::HloModule& optimised) {
  std::vector<StockPass> passes;
  for (const auto& pass : optimised.metadata().proto().pass_metadata()) {
    passes.push_back({pass.pass_name(), pass.pipeline_name(), pass.module_changed()});
  }
  return passes;
}

}  // namespace hone::compiler
