#include "jobs/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/fnv.h"
#include "jobs/describe_for_plan.h"
#include "memory/deadline.h"
#include "memory/planning/work.h"
#include "memory/simulator/simulate.h"
#include "memory/values/evaluate.h"

namespace hone::jobs {
namespace {

// Elements that are computed in the time that as many products take.
constexpr double kElementsPerGflop = 2e7;
// What the simulator takes on one core of a server of today, tiles and the checks of partitions
// included.
constexpr double kSecondsPerElement = 40e-9;
constexpr double kSecondsPerFlop = 1e-10;
// An estimate may be off by this; what would take longer is not begun.
constexpr double kOff = 3;

// Of a budget for planning, few seconds as it may be: enough for XLA to compile most programs.
constexpr double kLeastVerifySeconds = 20;

// What an interrupted plan has to be followed in, which most are.
constexpr double kAfterInterruptSeconds = 5;

// Seconds, and whether a user has interrupted.
class Time {
 public:
  Time(double seconds, const Events& events) : seconds_(seconds), events_(events) {}
  double Spent() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double Left() const { return seconds_ - Spent(); }
  bool stopped() const { return events_.stopped(); }
  bool IsOver() const { return stopped() || Left() <= 0; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_;
  const Events& events_;
};

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
  const double start = memory::ProcessorSeconds();
  loaded.networks = memory::ByParts(loaded.program, memory::LargeBytes(machine));
  loaded.seconds = memory::ProcessorSeconds() - start;
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

namespace {

// What came of comparing numbers, where that came to an end; else why not.
struct Compared {
  std::optional<memory::OutputCheck> check;
  std::string why_not;
  bool unclear = false;  // on every input set tried
};

Compared CompareNumbers(LoadedNetwork& loaded, const memory::Machine& machine,
                        const memory::Plan& plan, const VerifyOptions& options, const Time& time,
                        Verification& verification) {
  const memory::Network& network = loaded.network();
  if (Status can = memory::CanEvaluate(network); !can) return {{}, can.error().message, false};
  const double seconds = kSecondsPerFlop * memory::ProductFlops(network) +
                         kSecondsPerElement * memory::ElementWork(network);
  if (seconds > kOff * options.seconds) {
    return {{},
            fmt::format("computing its numbers would take about {:.0f} s; --verify-budget "
                        "allows more than {:.0f} s",
                        seconds, options.seconds),
            false};
  }
  const auto over = [&]() -> Compared {
    if (time.stopped()) return {{}, "interrupted before its numbers were compared", false};
    return {{},
            fmt::format("its numbers were not compared within {:.0f} s; --verify-budget allows "
                        "more",
                        options.seconds),
            false};
  };
  const memory::EvaluationLimit limit([&] { return time.IsOver(); });
  Compared compared;
  // What hangs on the last bit of one input set may be clear on the next.
  constexpr uint64_t kMostInputs = 3;
  for (uint64_t input = 0; input < kMostInputs; ++input) {
    const uint64_t seed = options.seed + input;
    EvaluationOptions evaluating{static_cast<int>(seed % 3), seed, 1, 0};
    const auto evaluate = [&] {
      evaluating.deadline_seconds = std::max(0.0, time.Left());
      return loaded.pool->Evaluate({loaded.info.id, {}}, evaluating);
    };
    const auto values = evaluate();
    if (time.IsOver()) return over();
    if (!values) return {{}, values.error().message, false};
    const auto simulation = memory::Simulate(network, machine, plan, &*values);
    if (!simulation && simulation.error().code == ErrorCode::kDeadline) return over();
    if (!simulation && simulation.error().code == ErrorCode::kUnsupported) {
      return {{}, simulation.error().message, false};
    }
    if (!SameTraffic(simulation, plan, verification)) return {};
    memory::OutputCheck check = memory::CompareOutputs(network, simulation->outputs, *values);
    if (!check.equal) {
      // What moved inputs alone do not explain, rounding on the way may.
      evaluating.noisy = 3;
      const auto noisy = evaluate();
      if (noisy) check = memory::CompareOutputs(network, simulation->outputs, *noisy);
      // What there was no time to look at explains nothing.
      if (!check.equal && time.IsOver()) return over();
    }
    if (!check.unclear) return {std::move(check), "", false};
    compared = {{}, check.reason, true};
  }
  return compared;
}

}  // namespace

Verification VerifyPlan(LoadedNetwork& loaded, const memory::Machine& machine,
                        const memory::Plan& plan, const VerifyOptions& options, Events& events) {
  const std::shared_ptr<void> waiting = events.During("simulating");
  Verification verification;
  const Time time(options.seconds, events);
  {
    const memory::EvaluationLimit limit(
        [&] { return time.stopped() && time.Spent() > kAfterInterruptSeconds; });
    const auto followed = memory::Simulate(loaded.network(), machine, plan, nullptr);
    verification.interrupted = !followed && followed.error().code == ErrorCode::kDeadline;
    if (verification.interrupted) {
      verification.what =
          "interrupted before the plan was followed; `hone memory simulate` does it";
      return verification;
    }
    if (!SameTraffic(followed, plan, verification)) return verification;
  }
  verification.ok = true;
  Compared compared{{}, options.why_not, false};
  if (options.numbers) {
    verification.what.clear();
    compared = CompareNumbers(loaded, machine, plan, options, time, verification);
  }
  verification.interrupted = time.stopped();
  if (compared.check) {
    verification.numbers = true;
    verification.ok = compared.check->equal;
    verification.what = verification.ok
                            ? fmt::format(
                                  "simulated, outputs equal to XLA's (worst error {:.2g} of the "
                                  "tolerance), traffic as claimed",
                                  compared.check->worst)
                            : compared.check->reason;
  } else if (!verification.what.empty()) {
    verification.ok = false;  // it does not run with numbers
  } else if (compared.unclear) {
    verification.what = "simulated, traffic as claimed; can't tell whether outputs equal XLA's (" +
                        compared.why_not + ", on every input set tried)";
  } else {
    verification.what = "simulated without numbers, traffic as claimed (" + compared.why_not + ")";
  }
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
  events.HoldInterrupts();
  {
    const std::shared_ptr<void> waiting = events.During("planning");
    memory::PlanOptions planning;
    planning.budget_seconds = options.budget_seconds;
    planning.known = std::move(known);
    planning.stop = events.stop();
    planned = memory::MakePlan(loaded.program, loaded.networks, machine, planning);
  }
  if (!planned) return tl::unexpected(planned.error());
  planned->seconds += loaded.seconds;
  loaded.planned = planned->network;
  const memory::Network& network = loaded.network();
  const bool numbers = memory::ProductFlops(network) <= options.verify_gflops * 1e9 &&
                       memory::ElementWork(network) <= options.verify_gflops * kElementsPerGflop;
  MemoryResult result{*std::move(planned), {}};
  const double seconds = options.verify_seconds > 0
                             ? options.verify_seconds
                             : std::max(kLeastVerifySeconds, 2 * options.budget_seconds);
  const VerifyOptions verify{numbers, "too large; --verify-gflops allows more", seconds,
                             options.seed};
  result.verification = VerifyPlan(loaded, machine, result.planned.plan, verify, events);
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
  if (result && result->planned.known && !result->verification.ok &&
      !result->verification.interrupted) {
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
  const memory::Baseline* faster = memory::FasterBaseline(planned);
  json["estimated_fastest"] = faster == nullptr          ? "hone"
                              : faster == &planned.local ? "local"
                                                         : "operator";
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
