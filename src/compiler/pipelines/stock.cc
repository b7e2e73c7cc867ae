#include "compiler/pipelines/stock.h"

#include "absl/strings/str_cat.h"
#include "xla/service/compiler.h"
#include "xla/service/platform_util.h"
#include "xla/stream_executor/platform.h"
#include "xla/stream_executor/stream_executor.h"

namespace hone::compiler {
namespace {

tl::unexpected<Error> Rejected(const absl::Status& status) {
  return MakeError(ErrorCode::kUnsupported,
                   absl::StrCat("the stock compiler rejects it: ", status.message()));
}

}  // namespace

StatusOr<std::vector<StockPass>> RecordStockPasses(const xla::HloModule& module) {
  auto platform = xla::PlatformUtil::GetPlatform("cpu");
  if (!platform.ok()) return Rejected(platform.status());
  auto compiler = xla::Compiler::GetForPlatform((*platform)->id());
  if (!compiler.ok()) return Rejected(compiler.status());
  auto executor = (*platform)->ExecutorForDevice(0);
  if (!executor.ok()) return Rejected(executor.status());
  auto compiled = (*compiler)->RunHloPasses(module.Clone(""), *executor,
                                            xla::Compiler::CompileOptions{});
  if (!compiled.ok()) return Rejected(compiled.status());
  std::vector<StockPass> passes;
  for (const auto& pass : (*compiled)->metadata()->proto().pass_metadata()) {
    passes.push_back({pass.pass_name(), pass.pipeline_name(), pass.module_changed()});
  }
  return passes;
}

}  // namespace hone::compiler
