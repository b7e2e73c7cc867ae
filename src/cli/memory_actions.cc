#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/command_events.h"
#include "cli/input.h"
#include "cli/memory.h"
#include "memory/plan_file.h"

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
  if (Status taken = jobs::TakeNetworkOf(*header, *loaded); !taken) {
    return Fail(taken.error(), options.plan, json);
  }
  auto file = memory::ReadPlan(*text, loaded->network());
  if (!file) return Fail(file.error(), options.plan, json);
  CommandEvents events(options.common.ShowProgress());
  const jobs::Verification verification = jobs::VerifyPlan(
      *loaded, file->machine, file->plan, !options.no_numbers, options.seed, events);
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
  out.update(jobs::ToJson(verification));
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

StatusOr<jobs::LoadedNetwork> LoadNetwork(const CommonOptions& options, const std::string& file,
                                          const memory::Machine& machine) {
  auto data = ReadInput(file, options.MostInputBytes(), options.datasets);
  if (!data) return tl::unexpected(data.error());
  auto pool = StartPool(options);
  if (!pool) return tl::unexpected(pool.error());
  auto loaded = jobs::LoadNetwork(*std::move(pool), *std::move(data), machine);
  if (loaded) WarnOfStandIns(file, loaded->info);
  return loaded;
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
  return [options] { return RunSimulate(*options); };
}

Run AddMemoryMachines(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print JSON, for programs");
  return [json] { return RunMachines(*json); };
}

}  // namespace hone::cli
