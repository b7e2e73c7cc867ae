#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/input.h"
#include "cli/memory.h"
#include "cli/progress.h"
#include "memory/deadline.h"
#include "memory/plan_file.h"
#include "memory/planner.h"
#include "memory/simulator/simulate.h"

namespace hone::cli {
namespace {

constexpr size_t kMostMachineBytes = size_t{1} << 20;
constexpr size_t kMostPlanBytes = size_t{1} << 32;

struct SimulateOptions {
  CommonOptions common;
  std::string plan;
  std::string program;
  bool no_numbers = false;
  uint64_t seed = 0;
};

int RunSimulate(const SimulateOptions& options) {
  const bool json = options.common.json;
  auto text = ReadInput(options.plan, kMostPlanBytes);
  if (!text) return Fail(text.error(), options.plan, json);
  auto header = memory::ReadPlanHeader(*text);
  if (!header) return Fail(header.error(), options.plan, json);
  const std::string program = options.program.empty() ? header->program : options.program;
  auto loaded = LoadNetwork(options.common, program, header->machine);
  if (!loaded) return Fail(loaded.error(), program, json);
  if (loaded->fingerprint != header->fingerprint) {
    return Fail({ErrorCode::kInvalidInput,
                 "the plan is for another program: its fingerprint is " + header->fingerprint},
                program, json);
  }
  auto file = memory::ReadPlan(*text, loaded->network);
  if (!file) return Fail(file.error(), options.plan, json);
  const Verification verification = Verify(*loaded, file->machine, file->plan, !options.no_numbers,
                                           options.seed, options.common.ShowProgress());
  const int code = verification.ok ? kFine : kDifferent;
  if (!json) {
    return Finish(fmt::format("{}: {}\n  loaded  {}\n  stored  {}\n", options.plan,
                              Printable(verification.what), Grouped(verification.loaded_bytes),
                              Grouped(verification.stored_bytes)),
                  code);
  }
  Json out;
  out["plan"] = options.plan;
  out["file"] = program;
  out["machine"] = file->machine.name;
  out["verified"] =
      verification.ok ? verification.numbers ? Json(true) : Json("traffic") : Json(false);
  out["verification"] = verification.what;
  out["loaded_bytes"] = verification.loaded_bytes;
  out["stored_bytes"] = verification.stored_bytes;
  return Finish(out, code);
}

int RunMachines(bool json) {
  if (json) {
    Json out;
    out["machines"] = Json::array();
    for (const memory::Machine& machine : memory::Machines()) {
      out["machines"].push_back(Json::parse(memory::ToJson(machine)));
    }
    return Finish(out, kFine);
  }
  std::string text;
  for (const memory::Machine& machine : memory::Machines()) {
    text +=
        fmt::format("{:<14} {:>9}  {}\n", machine.name,
                    HumanBytes(static_cast<double>(machine.ScratchpadBytes())), machine.meaning);
  }
  return Finish(text, kFine);
}

}  // namespace

StatusOr<memory::Machine> ReadMachine(const std::string& name_or_file) {
  std::error_code error;
  if (!std::filesystem::exists(name_or_file, error)) return memory::FindMachine(name_or_file);
  auto text = ReadInput(name_or_file, kMostMachineBytes);
  if (!text) return tl::unexpected(text.error());
  return memory::ParseMachine(*text, name_or_file);
}

StatusOr<LoadedNetwork> LoadNetwork(const CommonOptions& options, const std::string& file,
                                    const memory::Machine& machine) {
  auto data = ReadInput(file, options.MostInputBytes(), options.datasets);
  if (!data) return tl::unexpected(data.error());
  auto pool = StartPool(options);
  if (!pool) return tl::unexpected(pool.error());
  auto info = (*pool)->Load(*std::move(data));
  if (!info) return tl::unexpected(info.error());
  WarnOfStandIns(file, *info);
  auto graph = (*pool)->Describe({info->id, {}});
  if (!graph) return tl::unexpected(graph.error());
  auto program = memory::BuildNetwork(*graph);
  if (!program) return tl::unexpected(program.error());
  LoadedNetwork loaded{*std::move(pool), *info, info->fingerprint.ToHex(), *std::move(program), {}};
  const memory::Deadline clock;
  loaded.network = memory::ByParts(loaded.program, memory::LargeBytes(machine));
  loaded.seconds = clock.Spent();
  return loaded;
}

namespace {

// Whether it ran and moved what the plan claims; says what not.
bool SameTraffic(const StatusOr<memory::Simulation>& simulation, const memory::Plan& plan,
                 Verification& verification) {
  if (!simulation) {
    verification.what = simulation.error().message;
    return false;
  }
  verification.loaded_bytes = simulation->loaded_bytes;
  verification.stored_bytes = simulation->stored_bytes;
  if (simulation->loaded_bytes == plan.figures.loaded_bytes &&
      simulation->stored_bytes == plan.figures.stored_bytes) {
    return true;
  }
  verification.what =
      fmt::format("the plan claims {} bytes loaded and {} stored, but it moves {} and {}",
                  plan.figures.loaded_bytes, plan.figures.stored_bytes, simulation->loaded_bytes,
                  simulation->stored_bytes);
  return false;
}

}  // namespace

Verification Verify(LoadedNetwork& loaded, const memory::Machine& machine, const memory::Plan& plan,
                    bool numbers, uint64_t seed, bool progress) {
  const Waiting waiting(progress, "simulating");
  Verification verification;
  std::string why_not = "too large for numbers";
  std::string unclear;
  // What hangs on the last bit of one input set may be clear on the next.
  constexpr uint64_t kMostInputs = 3;
  for (uint64_t input = 0; numbers && input < kMostInputs; ++input) {
    EvaluationOptions evaluating{static_cast<int>((seed + input) % 3), seed + input, 1, 0};
    const auto values = loaded.pool->Evaluate({loaded.info.id, {}}, evaluating);
    if (!values) {
      why_not = values.error().message;
      break;
    }
    const auto simulation = memory::Simulate(loaded.network, machine, plan, &*values);
    if (!simulation && simulation.error().code == ErrorCode::kUnsupported) {
      why_not = simulation.error().message;
      break;
    }
    if (!SameTraffic(simulation, plan, verification)) return verification;
    memory::OutputCheck check =
        memory::CompareOutputs(loaded.network, simulation->outputs, *values);
    if (!check.equal) {
      // What moved inputs alone do not explain, rounding on the way may.
      evaluating.noisy = 3;
      const auto noisy = loaded.pool->Evaluate({loaded.info.id, {}}, evaluating);
      if (noisy) check = memory::CompareOutputs(loaded.network, simulation->outputs, *noisy);
    }
    if (check.unclear) {
      unclear = check.reason;
      continue;
    }
    verification.numbers = true;
    verification.ok = check.equal;
    verification.what = check.equal ? fmt::format("simulated, outputs equal to XLA's (worst error "
                                                  "{:.2g} of the tolerance), traffic as claimed",
                                                  check.worst)
                                    : check.reason;
    return verification;
  }
  const auto simulation = memory::Simulate(loaded.network, machine, plan, nullptr);
  if (!SameTraffic(simulation, plan, verification)) return verification;
  verification.ok = true;
  verification.what =
      unclear.empty() ? "simulated without numbers, traffic as claimed (" + why_not + ")"
                      : "simulated, traffic as claimed; can't tell whether outputs equal XLA's (" +
                            unclear + ", on every input set tried)";
  return verification;
}

Run AddMemorySimulate(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  app.add_option("PLAN", options->plan, "a plan that `hone memory -o` wrote")
      ->required()
      ->type_name("");
  app.add_option("--program", options->program, "the program, where it is not where it was")
      ->type_name("FILE");
  app.add_flag("--no-numbers", options->no_numbers, "only follow what lies where");
  app.add_option("--seed", options->seed, fmt::format("of the inputs ({})", options->seed))
      ->type_name("N");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  app.footer("Examples:\n  hone memory simulate plan.json\n");
  return [options] { return RunSimulate(*options); };
}

Run AddMemoryMachines(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print JSON, for programs");
  app.footer("Examples:\n  hone memory machines\n  hone memory machines --json\n");
  return [json] { return RunMachines(*json); };
}

}  // namespace hone::cli
