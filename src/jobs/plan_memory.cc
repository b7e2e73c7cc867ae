#include "jobs/plan_memory.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/fnv.h"
#include "jobs/describe_for_plan.h"
#include "memory/deadline.h"
#include "memory/planning/work.h"
#include "memory/simulator/simulate.h"

namespace hone::jobs {
namespace {

// Elements that the simulator computes in the time that it takes for as many products.
constexpr double kElementsPerGflop = 2e7;
// XLA's compilation and runs; what takes longer is simulated without numbers.
constexpr double kMostEvaluationSeconds = 60;

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

StatusOr<LoadedNetwork> LoadNetwork(std::unique_ptr<Pool> pool, std::string bytes,
                                    const memory::Machine& machine) {
  auto info = pool->Load(std::move(bytes));
  if (!info) return tl::unexpected(info.error());
  auto graph = DescribeForPlan(*pool, info->id);
  if (!graph) return tl::unexpected(graph.error());
  auto program = memory::BuildNetwork(*graph);
  if (!program) return tl::unexpected(program.error());
  LoadedNetwork loaded{std::move(pool), *info, info->fingerprint.ToHex(), *std::move(program), {}};
  const memory::Deadline clock;
  loaded.networks = memory::ByParts(loaded.program, memory::LargeBytes(machine));
  loaded.seconds = clock.Spent();
  return loaded;
}

Status TakeNetworkOf(const memory::PlanFile& header, LoadedNetwork& loaded) {
  if (!header.updates) return {};  // the first
  for (size_t n = 0; n < loaded.networks.size(); ++n) {
    if (loaded.networks[n].updates != *header.updates) continue;
    loaded.planned = n;
    return {};
  }
  return MakeError(ErrorCode::kInvalidInput,
                   "the plan orders the program's updates in a way that is none of this version's; "
                   "plan it anew");
}

Verification VerifyPlan(LoadedNetwork& loaded, const memory::Machine& machine,
                        const memory::Plan& plan, bool numbers, uint64_t seed, Events& events) {
  const std::shared_ptr<void> waiting = events.During("simulating");
  Verification verification;
  std::string why_not = "too large for numbers";
  std::string unclear;
  // What hangs on the last bit of one input set may be clear on the next.
  constexpr uint64_t kMostInputs = 3;
  for (uint64_t input = 0; numbers && input < kMostInputs; ++input) {
    EvaluationOptions evaluating{static_cast<int>((seed + input) % 3), seed + input, 1, 0};
    evaluating.deadline_seconds = kMostEvaluationSeconds;
    const auto values = loaded.pool->Evaluate({loaded.info.id, {}}, evaluating);
    if (!values) {
      why_not = values.error().message;
      break;
    }
    const auto simulation = memory::Simulate(loaded.network(), machine, plan, &*values);
    if (!simulation && simulation.error().code == ErrorCode::kUnsupported) {
      why_not = simulation.error().message;
      break;
    }
    if (!SameTraffic(simulation, plan, verification)) return verification;
    memory::OutputCheck check =
        memory::CompareOutputs(loaded.network(), simulation->outputs, *values);
    if (!check.equal) {
      // What moved inputs alone do not explain, rounding on the way may.
      evaluating.noisy = 3;
      const auto noisy = loaded.pool->Evaluate({loaded.info.id, {}}, evaluating);
      if (noisy) check = memory::CompareOutputs(loaded.network(), simulation->outputs, *noisy);
    }
    if (check.unclear) {
      unclear = check.reason;
      continue;
    }
    verification.numbers = true;
    verification.ok = check.equal;
    verification.what = check.equal ? fmt::format(
                                          "simulated, outputs equal to XLA's (worst error "
                                          "{:.2g} of the tolerance), traffic as claimed",
                                          check.worst)
                                    : check.reason;
    return verification;
  }
  const auto simulation = memory::Simulate(loaded.network(), machine, plan, nullptr);
  if (!SameTraffic(simulation, plan, verification)) return verification;
  verification.ok = true;
  verification.what =
      unclear.empty() ? "simulated without numbers, traffic as claimed (" + why_not + ")"
                      : "simulated, traffic as claimed; can't tell whether outputs equal XLA's (" +
                            unclear + ", on every input set tried)";
  return verification;
}

namespace {

// Which answer of a store is meant.
store::Answer Asked(const LoadedNetwork& loaded, const memory::Machine& machine) {
  store::Answer asked;
  asked.program = loaded.fingerprint;
  asked.kind = "memory";
  asked.machine = machine.name;
  asked.xla = loaded.pool->version();
  asked.question =
      fmt::format("{:016x}", Fnv1a(memory::ToJson(machine)));  // names may be anybody's
  return asked;
}

// The plan of a store; nullopt where it is none that this version has the network of.
std::optional<memory::KnownPlan> ReadKnown(const std::string& text, LoadedNetwork& loaded) {
  const auto header = memory::ReadPlanHeader(text);
  if (!header || !TakeNetworkOf(*header, loaded)) return std::nullopt;
  auto file = memory::ReadPlan(text, loaded.network());
  if (!file) return std::nullopt;
  return memory::KnownPlan{loaded.planned, std::move(file->plan)};
}

StatusOr<MemoryResult> PlanAndVerify(LoadedNetwork& loaded, const memory::Machine& machine,
                                     const PlanMemoryOptions& options,
                                     std::optional<memory::KnownPlan> known, Events& events) {
  StatusOr<memory::Planned> planned = MakeError(ErrorCode::kInternal, "not planned");
  {
    const std::shared_ptr<void> waiting = events.During("planning");
    memory::PlanOptions planning;
    planning.budget_seconds = options.budget_seconds;
    planning.spent_seconds = loaded.seconds;
    planning.known = std::move(known);
    planned = memory::MakePlan(loaded.program, loaded.networks, machine, planning);
  }
  if (!planned) return tl::unexpected(planned.error());
  loaded.planned = planned->network;
  const memory::Network& network = loaded.network();
  const bool numbers = memory::ProductFlops(network) <= options.verify_gflops * 1e9 &&
                       memory::ElementWork(network) <= options.verify_gflops * kElementsPerGflop;
  MemoryResult result{*std::move(planned), {}};
  result.verification =
      VerifyPlan(loaded, machine, result.planned.plan, numbers, options.seed, events);
  return result;
}

}  // namespace

StatusOr<MemoryResult> PlanMemory(LoadedNetwork& loaded, const memory::Machine& machine,
                                  const PlanMemoryOptions& options, Events& events) {
  if (options.store == nullptr) {
    return PlanAndVerify(loaded, machine, options, std::nullopt, events);
  }
  store::Answer answer = Asked(loaded, machine);
  const auto found = options.store->FindAnswer(answer);
  if (!found) return tl::unexpected(found.error());
  std::optional<memory::KnownPlan> known;
  if (*found) known = ReadKnown((*found)->text, loaded);
  bool replaces = *found && !known;  // what cannot be read any more
  auto result = PlanAndVerify(loaded, machine, options, std::move(known), events);
  if (result && result->planned.known && !result->verification.ok) {
    replaces = true;
    result = PlanAndVerify(loaded, machine, options, std::nullopt, events);
  }
  if (!result) return result;
  if (replaces) {
    if (Status gone = options.store->ForgetAnswer(**found); !gone)
      return tl::unexpected(gone.error());
  }
  if (result->planned.known || !result->verification.ok) return result;
  const memory::Plan& plan = result->planned.plan;
  answer.cost = static_cast<double>(plan.figures.dram_bytes());
  answer.verified = result->verification.numbers ? "true" : "traffic";
  answer.text = memory::WritePlan(
      loaded.network(),
      {options.file, loaded.fingerprint, machine, loaded.networks[loaded.planned].updates, plan});
  const store::ProgramRow program{loaded.fingerprint, loaded.info.name, options.file,
                                  loaded.info.metrics.op_count};
  if (Status added = options.store->AddAnswer(program, answer); !added) {
    return tl::unexpected(added.error());
  }
  return result;
}

Json ToJson(const Verification& verification) {
  const Json right = verification.numbers ? Json(true) : Json("traffic");
  return {{"verified", verification.ok ? right : Json(false)}, {"verification", verification.what}};
}

Json ToJson(const LoadedNetwork& loaded, const memory::Machine& machine,
            const MemoryResult& result) {
  const auto& [planned, verification] = result;
  const memory::Figures& figures = planned.plan.figures;
  const memory::Network& network = loaded.network();
  Json json;
  json["machine"] = machine.name;
  json["operators"] = network.ops.size();
  json["pairs"] = figures.pairs;
  json["pairs_eliminated"] = figures.pairs_eliminated;
  json["dram_bytes"] = {{"operator", planned.by_operator.dram_bytes},
                        {"local", planned.local.dram_bytes},
                        {"hone", figures.dram_bytes()},
                        {"bound", planned.bound.dram_bytes()}};
  json["spilled_bytes"] = figures.spilled_bytes;
  json["copies_on_chip"] = {{"operator", planned.by_operator.copies},
                            {"local", planned.local.copies},
                            {"hone", figures.copies}};
  json["peak_scratchpad"] = figures.peak_bytes_per_partition * machine.partitions;
  json["estimated_ms"] = {{"operator", planned.by_operator.seconds * 1e3},
                          {"local", planned.local.seconds * 1e3},
                          {"hone", figures.seconds * 1e3}};
  json["groups"] = {
      {"all", figures.groups}, {"tiled", figures.tiled_groups}, {"streamed", figures.streamed}};
  json["unrolled_loops"] = network.unrolled_loops;
  json["conservative"] = Json::object();
  for (const auto& [what, count] : network.conservative) json["conservative"][what] = count;
  json["product_gflops"] = memory::ProductFlops(network) / 1e9;
  json["planning_seconds"] = planned.seconds;
  json["from_store"] = planned.known;
  json.update(ToJson(verification));
  return json;
}

}  // namespace hone::jobs
