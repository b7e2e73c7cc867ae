#include "cli/tuned_program.h"

#include <utility>

#include "cli/input.h"

namespace hone::cli {
namespace {

constexpr size_t kMostPlanBytes = size_t{64} << 20;

}  // namespace

OpenedProgram OpenProgram(const CommonOptions& options, const std::string& file, uint64_t seed) {
  OpenedProgram opened;
  StatusOr<std::string> data = ReadInput(file, options.MostInputBytes(), options.datasets);
  if (!data) {
    opened.exit_code = Fail(data.error(), file, options.json);
    return opened;
  }
  auto evaluator =
      tune::PoolEvaluator::Start([&options] { return StartPool(options); }, *std::move(data), seed);
  if (!evaluator) {
    opened.exit_code = Fail(evaluator.error(), file, options.json);
    return opened;
  }
  opened.evaluator = *std::move(evaluator);
  return opened;
}

StatusOr<tune::TunePlan> ReadPlan(const std::string& file) {
  if (file.empty()) return tune::TunePlan();
  const StatusOr<std::string> text = ReadInput(file, kMostPlanBytes);
  if (!text) return tl::unexpected(text.error());
  return tune::TunePlanFromJson(*text);
}

StatusOr<std::string> OptimisedText(tune::PoolEvaluator& evaluator, const tune::TunePlan& plan) {
  CompileOptions compiling;
  compiling.sites = false;
  compiling.text = true;
  StatusOr<Compiled> compiled = evaluator.Compile(plan, compiling);
  if (!compiled) return tl::unexpected(compiled.error());
  return std::move(compiled->text);
}

}  // namespace hone::cli
