#include "jobs/inspect_kernels.h"

#include <unistd.h>

#include <algorithm>

#include "jobs/child.h"
#include "jobs/write_file.h"

namespace hone::jobs {
namespace {

constexpr double kMostAssemblySeconds = 300;

// What the assembler says; "" where there is none, for `why`.
StatusOr<std::string> Assemble(const std::string& ptxas, const std::string& ptx, std::string& why) {
  const std::vector<std::string> words = {ptxas, "-v", "-arch=" + ArchitectureOf(ptx),
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

StatusOr<InspectedKernels> Inspect(const OpenedProgram& program, const tune::TunePlan& plan,
                                   const InspectOptions& options, Events& events) {
  const ClearAtEnd clear(events);
  events.Show("compiling " + options.file);
  CompileOptions compiling;
  compiling.sites = false;
  compiling.assembly = true;
  StatusOr<Compiled> compiled = program.evaluator->Compile(plan, compiling);
  if (!compiled) return tl::unexpected(compiled.error());
  const auto times = program.evaluator->Profile(plan, 0, compiling.deadline_seconds);
  if (!times) return tl::unexpected(times.error());
  events.Show("assembling " + options.file);
  InspectedKernels inspected;
  std::string said;
  if (!compiled->assembly.empty()) {
    auto assembled = Assemble(options.ptxas.empty() ? DefaultAssembler() : options.ptxas,
                              compiled->assembly, inspected.not_assembled);
    if (!assembled) return tl::unexpected(assembled.error());
    said = *std::move(assembled);
  }
  inspected.target = program.programs->pool().target();
  inspected.seconds = compiled->seconds;
  inspected.kernels = KernelsOf(compiled->assembly, said, *times);
  inspected.ptx = std::move(compiled->assembly);
  std::stable_sort(inspected.kernels.begin(), inspected.kernels.end(),
                   [](const KernelCode& a, const KernelCode& b) {
                     return (a.estimate ? a.estimate->seconds : 0) >
                            (b.estimate ? b.estimate->seconds : 0);
                   });
  inspected.spilling = std::count_if(
      inspected.kernels.begin(), inspected.kernels.end(), [](const KernelCode& kernel) {
        return kernel.resources && kernel.resources->spill_stores > 0;
      });
  return inspected;
}

}  // namespace

FileOr<InspectedKernels> InspectKernels(const InspectOptions& options, const WorkerOptions& workers,
                                        Events& events) {
  if (workers.target == "cpu") {
    return Wrong("", {ErrorCode::kInvalidInput,
                      "which GPU? --target h100, say; for this processor, `hone bench FILE "
                      "--kernels N` measures kernels"});
  }
  if (auto fine = CheckAllWritable({options.ptx}); !fine) return tl::unexpected(fine.error());
  const FileOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return tl::unexpected(plan.error());
  const auto program = OpenNamed(options.file, workers, "", 1, events);
  if (!program) return tl::unexpected(program.error());
  auto inspected = About(options.file, Inspect(*program, *plan, options, events));
  if (!inspected) return inspected;
  if (auto wrote = WriteIfNamed(options.ptx, inspected->ptx); !wrote) {
    return tl::unexpected(wrote.error());
  }
  return inspected;
}

Json ToJson(const InspectedKernels& inspected, const std::string& file) {
  Json out{{"file", file},
           {"target", inspected.target},
           {"architecture", ArchitectureOf(inspected.ptx)},
           {"seconds", inspected.seconds},
           {"assembled", inspected.not_assembled.empty()},
           {"spilling", inspected.spilling},
           {"kernels", Json::array()}};
  for (const KernelCode& kernel : inspected.kernels) out["kernels"].push_back(ToJson(kernel));
  return out;
}

}  // namespace hone::jobs
