// hone kernels: what XLA:GPU's back end makes of a program, without a GPU.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/child.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tuned_program.h"
#include "jobs/kernel_code.h"

namespace hone::cli {
namespace {

using jobs::KernelCode;

constexpr double kMostAssemblySeconds = 300;

struct KernelsOptions {
  CommonOptions common;
  std::string file;
  std::string plan;
  std::string ptx;
  std::string ptxas;
};

// What the assembler says; "" where there is none, for `why`.
StatusOr<std::string> Assemble(const std::string& ptxas, const std::string& ptx, std::string& why) {
  const std::vector<std::string> words = {ptxas, "-v", "-arch=" + jobs::ArchitectureOf(ptx),
                                          "-",   "-o", "/dev/null"};
  ChildOptions running;
  running.input = ptx;
  running.seconds = kMostAssemblySeconds;
  const auto ran = RunProgram(words, running);
  if (!ran) {
    why = ran.error().message + ": fetch it by `setup/install --ptxas`, or name one by --ptxas";
    return std::string();
  }
  std::string said = ran->out + ran->err;
  if (ran->exit_code != 0) {
    return MakeError(ErrorCode::kUnsupported, "the assembler refuses what XLA generates: " +
                                                  said.substr(0, said.find('\n')));
  }
  return said;
}

std::string DefaultAssembler() {
  const std::string fetched = HONE_PTXAS;
  return access(fetched.c_str(), X_OK) == 0 ? fetched : "ptxas";
}

Json ToJson(const KernelCode& kernel) {
  Json json{{"name", kernel.name}, {"threads", kernel.threads}};
  if (kernel.estimate) {
    json["opcode"] = kernel.estimate->opcode;
    json["estimated_ms"] = 1000 * kernel.estimate->seconds;
    json["calls"] = kernel.estimate->calls;
  }
  if (kernel.resources) {
    json["registers"] = kernel.resources->registers;
    json["stack_bytes"] = kernel.resources->stack_bytes;
    json["spill_stores"] = kernel.resources->spill_stores;
    json["spill_loads"] = kernel.resources->spill_loads;
    json["shared_bytes"] = kernel.resources->shared_bytes;
  }
  return json;
}

std::string Table(const std::vector<KernelCode>& kernels) {
  std::string table =
      fmt::format("{:<48} {:>12} {:>7} {:>8} {:>9} {:>13} {:>8}\n", "KERNEL", "ESTIMATED ms",
                  "CALLS", "THREADS", "REGISTERS", "SPILLED BYTES", "SHARED");
  for (const KernelCode& kernel : kernels) {
    const auto& of = kernel.resources;
    table +=
        fmt::format("{:<48} {:>12} {:>7} {:>8} {:>9} {:>13} {:>8}\n", kernel.name,
                    kernel.estimate ? fmt::format("{:.4g}", 1000 * kernel.estimate->seconds) : "",
                    kernel.estimate ? fmt::to_string(kernel.estimate->calls) : "",
                    kernel.threads > 0 ? fmt::to_string(kernel.threads) : "",
                    of ? fmt::to_string(of->registers) : "",
                    of ? fmt::to_string(of->spill_stores + of->spill_loads) : "",
                    of ? fmt::to_string(of->shared_bytes) : "");
  }
  return table;
}

int RunKernels(const KernelsOptions& options) {
  const bool json = options.common.json;
  if (options.common.target == "cpu") {
    return Fail({ErrorCode::kInvalidInput,
                 "which GPU? --target h100, say; for this processor, `hone bench FILE "
                 "--kernels N` measures kernels"},
                json);
  }
  if (!options.ptx.empty()) {
    if (Status writable = CheckWritable(options.ptx); !writable)
      return Fail(writable.error(), options.ptx, json);
  }
  const StatusOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return Fail(plan.error(), options.plan, json);
  const auto program = OpenProgram(options.common, options.file, "", 1);
  if (!program) return Fail(program.error(), json);
  Progress progress(options.common.ShowProgress());
  progress.Show("compiling " + options.file);
  CompileOptions compiling;
  compiling.sites = false;
  compiling.assembly = true;
  const StatusOr<Compiled> compiled = program->evaluator->Compile(*plan, compiling);
  if (!compiled) return Fail(compiled.error(), options.file, json);
  const auto times = program->evaluator->Profile(*plan, 0, compiling.deadline_seconds);
  if (!times) return Fail(times.error(), options.file, json);
  progress.Show("assembling " + options.file);
  std::string without;
  std::string said;
  if (!compiled->assembly.empty()) {
    const std::string ptxas = options.ptxas.empty() ? DefaultAssembler() : options.ptxas;
    auto assembled = Assemble(ptxas, compiled->assembly, without);
    if (!assembled) return Fail(assembled.error(), options.file, json);
    said = *std::move(assembled);
  }
  progress.Clear();
  if (!options.ptx.empty()) {
    if (Status wrote = WriteFile(options.ptx, compiled->assembly); !wrote) {
      return Fail(wrote.error(), options.ptx, json);
    }
  }
  std::vector<KernelCode> kernels = jobs::KernelsOf(compiled->assembly, said, *times);
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelCode& a, const KernelCode& b) {
    return (a.estimate ? a.estimate->seconds : 0) > (b.estimate ? b.estimate->seconds : 0);
  });
  const auto spill = std::count_if(kernels.begin(), kernels.end(), [](const KernelCode& kernel) {
    return kernel.resources && kernel.resources->spill_stores > 0;
  });
  const std::string target = program->programs->pool().target();
  if (json) {
    Json out{{"file", options.file},
             {"target", target},
             {"architecture", jobs::ArchitectureOf(compiled->assembly)},
             {"seconds", compiled->seconds},
             {"assembled", without.empty()},
             {"spilling", spill},
             {"kernels", Json::array()}};
    for (const KernelCode& kernel : kernels) out["kernels"].push_back(ToJson(kernel));
    return Finish(out, kFine);
  }
  std::string text = Table(kernels);
  text += fmt::format(
      "{} kernels for {}; times are estimated by XLA's own model, calls of libraries are left "
      "out\n",
      kernels.size(), target);
  text += without.empty() ? fmt::format("{} spill registers\n", spill)
                          : "registers and spills are not known: " + without + "\n";
  return Finish(text, kFine);
}

}  // namespace

Run AddKernels(CLI::App& app) {
  auto options = std::make_shared<KernelsOptions>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  app.add_option("--plan", options->plan, "what `hone tune --plan` wrote")->type_name("PLAN");
  app.add_option("--ptx", options->ptx, "write the kernels' PTX here")->type_name("OUT");
  app.add_option("--ptxas", options->ptxas,
                 "NVIDIA's assembler (what `setup/install --ptxas` fetched, or PATH's)")
      ->type_name("PATH");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunKernels(*options); };
}

}  // namespace hone::cli
