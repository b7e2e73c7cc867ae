// hone apply: the optimised program that the compiler makes under a plan.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tuned_program.h"

namespace hone::cli {
namespace {

struct ApplyOptions {
  CommonOptions common;
  std::string plan;
  std::string file;
  std::string output;
};

int RunApply(const ApplyOptions& options) {
  const bool json = options.common.json;
  if (Status writable = CheckWritable(options.output); !writable) {
    return Fail(writable.error(), options.output, json);
  }
  const StatusOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return Fail(plan.error(), options.plan, json);
  const auto program = OpenProgram(options.common, options.file, "", 1);
  if (!program) return Fail(program.error(), json);
  Progress progress(options.common.ShowProgress());
  progress.Show("compiling " + options.file);
  const StatusOr<Compiled> compiled = jobs::CompileUnder(*program->evaluator, *plan);
  if (!compiled) return Fail(compiled.error(), options.file, json);
  progress.Clear();
  if (Status wrote = WriteProgram(options.output, compiled->text, options.common); !wrote) {
    return Fail(wrote.error(), options.output, json);
  }
  if (json) {
    return Finish(Json{{"file", options.file},
                       {"plan", options.plan},
                       {"fingerprint", compiled->fingerprint.ToHex()},
                       {"instructions", compiled->instructions},
                       {"applied", compiled->applied},
                       {"seconds", compiled->seconds},
                       {"output", options.output}},
                  kFine);
  }
  return Finish(fmt::format("{} instructions; decided otherwise in {} place{}; written to {}\n",
                            Grouped(compiled->instructions), compiled->applied,
                            compiled->applied == 1 ? "" : "s", options.output),
                kFine);
}

}  // namespace

Run AddApply(CLI::App& app) {
  auto options = std::make_shared<ApplyOptions>();
  app.add_option("PLAN", options->plan, "what `hone tune --plan` wrote")->required()->type_name("");
  app.add_option("FILE", options->file, "the program, or one like it")->required()->type_name("");
  app.add_option("-o,--output", options->output, "the optimised program, as text")
      ->required()
      ->type_name("OUT");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunApply(*options); };
}

}  // namespace hone::cli
