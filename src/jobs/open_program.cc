#include "jobs/open_program.h"

#include <utility>

#include "tune/device_evaluator.h"

namespace hone::jobs {

StatusOr<OpenedProgram> OpenProgram(std::string data, const OpenOptions& options, Events& events) {
  auto programs = tune::PoolEvaluator::Start(options.start_pool, std::move(data), options.seed,
                                             events.stop(), options.apart);
  if (!programs) return tl::unexpected(programs.error());
  OpenedProgram opened;
  opened.programs = programs->get();
  if (!options.device) {
    opened.evaluator = *std::move(programs);
    return opened;
  }
  const auto waiting = events.During("loading the plugin");
  auto measured =
      tune::DeviceEvaluator::Start(*std::move(programs), *options.device, events.stop());
  if (!measured) return tl::unexpected(measured.error());
  opened.device = &(*measured)->device();
  opened.evaluator = *std::move(measured);
  return opened;
}

StatusOr<Compiled> CompileUnder(tune::Evaluator& evaluator, const tune::TunePlan& plan) {
  CompileOptions compiling;
  compiling.sites = false;
  compiling.text = true;
  return evaluator.Compile(plan, compiling);
}

}  // namespace hone::jobs
