#include "jobs/memory_files.h"

#include <filesystem>
#include <utility>

#include "jobs/input.h"
#include "jobs/report.h"
#include "jobs/report_memory.h"
#include "jobs/store.h"
#include "jobs/write_file.h"
#include "memory/plan_file.h"

namespace hone::jobs {
namespace {

constexpr size_t kMostMachineBytes = size_t{1} << 20;
constexpr size_t kMostPlanBytes = size_t{1} << 32;

StatusOr<memory::Machine> ReadMachine(const std::string& name_or_file) {
  std::error_code error;
  if (!std::filesystem::exists(name_or_file, error)) return memory::FindMachine(name_or_file);
  const auto text = ReadInput(name_or_file, kMostMachineBytes);
  if (!text) return tl::unexpected(text.error());
  return memory::ParseMachine(*text, name_or_file);
}

FileOr<LoadedNetwork> LoadFile(const std::string& file, const memory::Machine& machine,
                               const WorkerOptions& workers, Events& events) {
  FileOr<std::string> data = ReadNamed(file, workers);
  if (!data) return tl::unexpected(data.error());
  auto pool = StartPool(workers, events, events.stop());
  if (!pool) return Wrong(file, pool.error());
  auto loaded = About(file, LoadNetwork(*std::move(pool), *std::move(data), machine));
  if (loaded) WarnOfStandIns(file, loaded->info, events);
  return loaded;
}

}  // namespace

FileOr<PlannedFile> PlanMemoryOf(const PlanFileOptions& options, const WorkerOptions& workers,
                                 Events& events) {
  auto machine = ReadMachine(options.machine);
  if (!machine) return Wrong("", machine.error());
  if (auto fine = CheckAllWritable({options.output}); !fine) return tl::unexpected(fine.error());
  if (auto fine = CheckReport(options.report); !fine) return tl::unexpected(fine.error());
  const auto store = OpenStore(options.store);
  if (!store) return tl::unexpected(store.error());
  PlanMemoryOptions job = options.job;
  job.store = store->get();
  job.file = options.file;
  auto loaded = LoadFile(options.file, *machine, workers, events);
  if (!loaded) return tl::unexpected(loaded.error());
  auto result = PlanMemory(*loaded, *machine, job, events);
  if (!result) return Wrong(options.file, result.error());
  const auto& [planned, verification] = *result;
  if (!options.output.empty() && (verification.ok || verification.interrupted)) {
    const memory::PlanFile file{options.file, loaded->fingerprint, *machine,
                                loaded->networks[loaded->planned].updates, planned.plan};
    const std::string text = memory::WritePlan(loaded->network(), file);
    if (auto wrote = WriteIfNamed(options.output, text); !wrote) {
      return tl::unexpected(wrote.error());
    }
  }
  if (!options.report.empty()) {
    const MemoryReport what{options.file, *machine, planned, verification};
    if (auto wrote = WriteReport(options.report, MakeReport(*loaded, what)); !wrote) {
      return tl::unexpected(wrote.error());
    }
  }
  return PlannedFile{*std::move(machine), *std::move(loaded), *std::move(result)};
}

Json ToJson(const PlannedFile& planned, const PlanFileOptions& options) {
  Json json{{"file", options.file}};
  json.update(ToJson(planned.loaded, planned.machine, planned.result));
  return json;
}

FileOr<SimulatedPlan> SimulatePlan(const SimulateOptions& options, const WorkerOptions& workers,
                                   Events& events) {
  const auto text = ReadInput(options.plan, kMostPlanBytes);
  if (!text) return Wrong(options.plan, text.error());
  const auto header = memory::ReadPlanHeader(*text);
  if (!header) return Wrong(options.plan, header.error());
  const std::string program = options.program.empty() ? header->program : options.program;
  auto loaded = LoadFile(program, header->machine, workers, events);
  if (!loaded) return tl::unexpected(loaded.error());
  if (loaded->fingerprint != header->fingerprint) {
    return Wrong(program,
                 {ErrorCode::kInvalidInput,
                  "the plan is for another program: its fingerprint is " + header->fingerprint});
  }
  if (Status taken = TakeNetworkOf(*header, *loaded); !taken) {
    return Wrong(options.plan, taken.error());
  }
  const auto file = memory::ReadPlan(*text, loaded->network());
  if (!file) return Wrong(options.plan, file.error());
  events.HoldInterrupts();
  return SimulatedPlan{program, file->machine.name,
                       VerifyPlan(*loaded, file->machine, file->plan, options.verify, events)};
}

Json ToJson(const SimulatedPlan& simulated, const SimulateOptions& options) {
  Json json{{"plan", options.plan}, {"file", simulated.file}, {"machine", simulated.machine}};
  json.update(ToJson(simulated.verification));
  json["loaded_bytes"] = simulated.verification.loaded_bytes;
  json["stored_bytes"] = simulated.verification.stored_bytes;
  return json;
}

Json MachinesJson() {
  Json json{{"machines", Json::array()}};
  for (const memory::Machine& machine : memory::Machines()) {
    json["machines"].push_back(Json::parse(memory::ToJson(machine)));
  }
  return json;
}

}  // namespace hone::jobs
