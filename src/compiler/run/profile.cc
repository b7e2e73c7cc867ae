#include "compiler/run/profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "compiler/run/execute.h"
#include "compiler/run/flags.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/shared_inputs.h"
#include "compiler/run/stand_in.h"
#include "tsl/profiler/lib/profiler_session.h"
#include "tsl/profiler/protobuf/xplane.pb.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

tl::unexpected<Error> Cannot(const std::string& why) {
  return MakeError(ErrorCode::kUnsupported, "it cannot be profiled: " + why);
}

struct Sum {
  double seconds = 0;
  int64_t calls = 0;
};

}  // namespace

StatusOr<std::vector<KernelTime>> ProfileKernels(const xla::HloModule& module,
                                                 const CompilePlan& plan, double seconds,
                                                 uint64_t seed) {
  if (auto why = WhyNotRunnableAsIs(module)) return Cannot(*why);
  CompilePlan traced = plan;
  traced.flags.emplace_back(kTraceFlag, "true");
  auto program = Program::Compile(module, CodeQuality::kStock, nullptr, traced);
  if (!program.ok()) return Cannot(std::string(program.status().message()));
  const auto optimised = program->Optimised();
  if (!optimised.ok()) return Cannot(std::string(optimised.status().message()));
  auto inputs = SharedInputs(FindInputRoles(module), InputKind::kSigned, seed);
  if (!inputs.ok()) return Cannot(std::string(inputs.status().message()));
  auto arguments = program->Place(**inputs);
  if (!arguments.ok()) return Cannot(std::string(arguments.status().message()));
  if (auto status = program->RunAndDrop(*arguments); !status.ok()) {
    return Cannot(std::string(status.message()));
  }

  tensorflow::ProfileOptions options = tsl::ProfilerSession::DefaultOptions();
  options.set_host_tracer_level(3);
  const auto session = tsl::ProfilerSession::Create(options);
  const Clock::time_point start = Clock::now();
  int64_t runs = 0;
  do {
    if (auto status = program->RunAndDrop(*arguments); !status.ok()) {
      return Cannot(std::string(status.message()));
    }
    ++runs;
  } while (runs < 2 || std::chrono::duration<double>(Clock::now() - start).count() < seconds);
  tensorflow::profiler::XSpace space;
  if (auto status = session->CollectData(&space); !status.ok()) {
    return Cannot(std::string(status.message()));
  }

  std::map<std::string, const xla::HloInstruction*> instructions;
  for (const xla::HloComputation* computation : (*optimised)->computations()) {
    if (computation->IsFusionComputation()) continue;
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      instructions[std::string(instruction->name())] = instruction;
    }
  }
  std::map<std::string, Sum> sums;
  for (const auto& plane : space.planes()) {
    for (const auto& line : plane.lines()) {
      for (const auto& event : line.events()) {
        const auto metadata = plane.event_metadata().find(event.metadata_id());
        if (metadata == plane.event_metadata().end()) continue;
        const std::string& name = metadata->second.name();
        if (!instructions.count(name)) continue;
        sums[name].seconds += static_cast<double>(event.duration_ps()) * 1e-12;
        ++sums[name].calls;
      }
    }
  }
  if (sums.empty()) return Cannot("XLA's trace is empty");
  std::vector<KernelTime> kernels;
  for (const auto& [name, sum] : sums) {
    kernels.push_back({name, std::string(xla::HloOpcodeString(instructions.at(name)->opcode())),
                       sum.seconds / static_cast<double>(runs), sum.calls / runs});
  }
  std::sort(kernels.begin(), kernels.end(), [](const KernelTime& a, const KernelTime& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
  return kernels;
}

}  // namespace hone::compiler
