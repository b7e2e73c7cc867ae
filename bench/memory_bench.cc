// hone-memory-bench: how planning grows with programs, random graphs against XLA, hard instances of
// allocation, products.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "jobs/describe_for_plan.h"
#include "memory/allocation/allocation.h"
#include "memory/layout/assign_layouts.h"
#include "memory/plan_file.h"
#include "memory/planner.h"
#include "memory/simulator/simulate.h"
#include "memory_plot.h"
#include "memory_products.h"
#include "minimalloc.h"
#include "random_program.h"
#include "wire/pool.h"

namespace hone::memory {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  stream << file.rdbuf();
  return stream.str();
}

// The same program several times, one after the other, each with parameters and outputs of its own.
Network Repeat(const Network& once, int times) {
  Network network = once;
  for (int k = 1; k < times; ++k) {
    const auto tensors = static_cast<int32_t>(network.tensors.size());
    const auto exprs = static_cast<int32_t>(network.exprs.size());
    const auto ops = static_cast<int32_t>(network.ops.size());
    for (Tensor tensor : once.tensors) {
      if (tensor.producer != kNone) tensor.producer += ops;
      if (tensor.part_of != kNone) tensor.part_of += tensors;
      network.tensors.push_back(std::move(tensor));
    }
    for (Expr expr : once.exprs) {
      for (ExprId& input : expr.inputs) input += exprs;
      if (expr.tensor != kNone) expr.tensor += tensors;
      network.exprs.push_back(std::move(expr));
    }
    for (Op op : once.ops) {
      for (ExprId& input : op.inputs) input += exprs;
      for (TensorId& result : op.results) result += tensors;
      network.ops.push_back(std::move(op));
    }
    for (ExprId output : once.outputs) network.outputs.push_back(output + exprs);
    for (TensorId output : once.output_tensors) network.output_tensors.push_back(output + tensors);
  }
  return network;
}

// Which tensors a plan moves most of: bytes loaded and stored, over the tensor's own.
void PrintTraffic(const Network& network, const Plan& plan, int count) {
  std::vector<std::pair<int64_t, int64_t>> moved(network.tensors.size());
  std::vector<int64_t> streams(network.tensors.size());
  const auto at = [](int32_t id) { return static_cast<size_t>(id); };
  for (const Block& block : plan.blocks) {
    for (const Step& step : block.steps) {
      if (step.kind == StepKind::kStream) {
        const Op& op = network.ops[at(step.op)];
        for (TensorId result : op.results) {
          moved[at(result)].second += network.tensors[at(result)].Bytes();
          ++streams[at(result)];
        }
        for (ExprId input : op.inputs) {
          for (TensorId tensor : LeavesOf(network, input)) {
            moved[at(tensor)].first += network.tensors[at(tensor)].Bytes();
          }
        }
      }
      if (step.kind != StepKind::kLoad && step.kind != StepKind::kStore) continue;
      int64_t bytes = 0;
      for (const Box& box : step.boxes) {
        bytes += Elements(box) * network.tensors[at(step.tensor)].element_bytes;
      }
      auto& [loaded, stored] = moved[at(step.tensor)];
      (step.kind == StepKind::kLoad ? loaded : stored) += bytes;
    }
  }
  std::vector<size_t> order(moved.size());
  for (size_t t = 0; t < order.size(); ++t) order[t] = t;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return moved[a].first + moved[a].second > moved[b].first + moved[b].second;
  });
  for (size_t k = 0; k < order.size() && k < static_cast<size_t>(count); ++k) {
    const Tensor& tensor = network.tensors[order[k]];
    const auto own = static_cast<double>(std::max<int64_t>(1, tensor.Bytes()));
    std::string shape;
    for (int64_t d : tensor.dimensions) shape += fmt::format("{}{}", shape.empty() ? "" : ",", d);
    fmt::print("  {:>12} bytes loaded {:.1f} and stored {:.1f} times{}: {} {}[{}] by {}\n",
               tensor.Bytes(), static_cast<double>(moved[order[k]].first) / own,
               static_cast<double>(moved[order[k]].second) / own,
               streams[order[k]] > 0 ? ", from DRAM to DRAM" : "", tensor.name, NameOf(tensor.type),
               shape,
               tensor.producer == kNone ? "nobody" : network.ops[at(tensor.producer)].opcode);
  }
}

struct ScaleOptions {
  std::vector<std::string> files;
  std::string machine = "neuroncore_v2";
  double budget_seconds = 60;
  int64_t operators = 0;
  std::string plan;
  std::string plot;
  bool trace = false;
  bool layouts = false;
  int traffic = 0;
  int network = -1;
};

int RunScale(const ScaleOptions& options) {
  const auto machine = FindMachine(options.machine);
  auto pool = Pool::Start({});
  if (!machine || !pool) {
    fmt::print(stderr, "{}\n", machine ? pool.error().message : machine.error().message);
    return 2;
  }
  fmt::print("{:<52} {:>9} {:>9} {:>12} {:>8} {:>11} {:>8} {:>8}  {}\n", "program", "operators",
             "by bound", "pairs", "local", "copies", "seconds", "peak MB", "simulated");
  std::vector<Growth> programs;
  for (const std::string& file : options.files) {
    const std::filesystem::path path(file);
    const std::string name = (path.parent_path().filename() / path.stem()).string();
    const auto info = (*pool)->Load(ReadFile(file));
    const auto graph = info ? (*pool)->Describe({info->id, {}}) : tl::unexpected(info.error());
    auto program = graph ? BuildNetwork(*graph) : tl::unexpected(graph.error());
    if (!program) {
      fmt::print("{:<52} {}\n", name, program.error().message);
      continue;
    }
    programs.push_back({name, {}});
    const auto once = static_cast<int64_t>(program->ops.size());
    for (int times = 1; times == 1 || times * once <= options.operators; times *= 2) {
      const Network written = Repeat(*program, times);
      const std::clock_t start = std::clock();
      std::vector<OrderedNetwork> networks = ByParts(written, LargeBytes(*machine));
      if (options.network >= 0 && options.network < static_cast<int>(networks.size())) {
        networks = {networks[static_cast<size_t>(options.network)]};
      }
      PlanOptions plan_options{options.budget_seconds, nullptr};
      if (options.trace) {
        plan_options.trace = [](const Figures& figures) {
          fmt::print("  {:>14} bytes, {} spilled, {} groups, {} tiled, {} streamed\n",
                     figures.dram_bytes(), figures.spilled_bytes, figures.groups,
                     figures.tiled_groups, figures.streamed);
        };
      }
      const auto planned = MakePlan(written, networks, *machine, plan_options);
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      if (!planned) {
        fmt::print("{:<52} {:>9} {} ({:.1f} s)\n", name, written.ops.size(),
                   planned.error().message, seconds);
        continue;
      }
      const auto& [updates, network] = networks[planned->network];
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      const Figures& figures = planned->plan.figures;
      if (!options.plan.empty()) {
        std::ofstream(options.plan)
            << WritePlan(network, {file, "", *machine, updates, planned->plan});
      }
      const auto simulation = Simulate(network, *machine, planned->plan, nullptr);
      std::string verdict = "traffic as claimed";
      if (!simulation) {
        verdict = simulation.error().message;
      } else if (simulation->loaded_bytes != figures.loaded_bytes ||
                 simulation->stored_bytes != figures.stored_bytes) {
        verdict = "other traffic than claimed";
      }
      const auto bound = static_cast<double>(planned->bound.dram_bytes());
      fmt::print("{:<52} {:>9} {:>9.3f} {:>12} {:>8.2f} {:>11} {:>8.2f} {:>8.0f}  {}\n", name,
                 written.ops.size(), static_cast<double>(figures.dram_bytes()) / bound,
                 fmt::format("{}/{}", figures.pairs_eliminated, figures.pairs),
                 static_cast<double>(planned->local.dram_bytes) / bound,
                 fmt::format("{} {}", planned->local.copies, figures.copies), seconds,
                 static_cast<double>(usage.ru_maxrss) / 1024, verdict);
      PrintTraffic(network, planned->plan, options.traffic);
      if (options.layouts) {
        fmt::print("  layouts that cost {:.2f} copies, and none cost less than {:.2f}\n",
                   AssignLayouts(network, *machine).cost, LeastLayoutCost(network, *machine));
      }
      std::fflush(stdout);
      programs.back().points.emplace_back(static_cast<double>(written.ops.size()), seconds);
    }
    const auto& points = programs.back().points;
    if (points.size() > 2) fmt::print("seconds grow with operators ^ {:.2f}\n", Exponent(points));
  }
  if (!options.plot.empty()) std::ofstream(options.plot) << PlotGrowth(programs);
  return 0;
}

struct RandomOptions {
  int64_t count = 10'000;
  uint64_t seed = 0;
  bool plain = false;
  bool print = false;
};

// A core of so few bytes that most of a random program's arrays must be cut or go to DRAM and back.
Machine SmallMachine(int64_t partitions, int64_t bytes_per_partition) {
  Machine machine = *FindMachine("generic");
  machine.name = std::to_string(partitions) + " x " + std::to_string(bytes_per_partition);
  machine.partitions = partitions;
  machine.bytes_per_partition = bytes_per_partition;
  machine.engines_are_partitioned = partitions > 1;
  return machine;
}

// Of what happened to random programs on one core.
struct RandomTally {
  int64_t equal = 0, unclear = 0, followed = 0, wrong = 0, none = 0;
  int64_t tiled = 0, sums = 0, streamed = 0;
};

// What is wrong about a program's plan, or nothing. `evaluate` runs XLA's, with so many noisy runs.
std::string TryRandom(const Network& program, const Machine& machine, const Evaluation& values,
                      const std::function<StatusOr<Evaluation>(int)>& evaluate,
                      RandomTally& tally) {
  const std::vector<OrderedNetwork> networks = ByParts(program, 256);
  const auto planned = MakePlan(program, networks, machine, {1, nullptr});
  if (!planned) {
    ++tally.none;
    return planned.error().message;
  }
  const Network& network = networks[planned->network].network;
  const Figures& figures = planned->plan.figures;
  tally.tiled += figures.tiled_groups > 0;
  tally.streamed += figures.streamed > 0;
  for (const Block& block : planned->plan.blocks) {
    tally.sums += std::any_of(block.steps.begin(), block.steps.end(),
                              [](const Step& step) { return !step.sums.empty(); });
  }
  for (const Evaluation* with : {static_cast<const Evaluation*>(nullptr), &values}) {
    const auto run = Simulate(network, machine, planned->plan, with);
    if (!run && with != nullptr && run.error().code == ErrorCode::kUnsupported) {
      ++tally.followed;  // an operator that is not computed here
      return "";
    }
    ++tally.wrong;
    if (!run) return run.error().message;
    if (run->loaded_bytes != figures.loaded_bytes || run->stored_bytes != figures.stored_bytes) {
      return "other traffic than claimed";
    }
    if (with != nullptr) {
      OutputCheck check = CompareOutputs(network, run->outputs, *with);
      if (!check.equal) {
        const auto noisy = evaluate(3);
        if (!noisy) return noisy.error().message;
        check = CompareOutputs(network, run->outputs, *noisy);
      }
      if (!check.equal && !check.unclear) return check.reason;
      ++(check.equal ? tally.equal : tally.unclear);
    }
    --tally.wrong;
  }
  return "";
}

// Random programs, each planned for one of four small cores, simulated without and with numbers,
// outputs compared with XLA's. 1 where one fails.
int RunRandom(const RandomOptions& options) {
  auto pool = Pool::Start({});
  if (!pool) {
    fmt::print(stderr, "{}\n", pool.error().message);
    return 2;
  }
  const std::vector<Machine> machines = {SmallMachine(1, 1 << 20), SmallMachine(1, 1024),
                                         SmallMachine(1, 512), SmallMachine(8, 256)};
  std::vector<RandomTally> tallies(machines.size());
  std::map<std::string, int64_t> with;  // programs that have an opcode or a type
  int64_t refused = 0;
  const Clock::time_point start = Clock::now();
  for (int64_t k = 0; k < options.count; ++k) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(k);
    const std::string text = MakeRandomProgram(seed, !options.plain).text;
    if (options.print) fmt::print("{}\n", text);
    const auto info = (*pool)->Load(text);
    const auto graph =
        info ? jobs::DescribeForPlan(**pool, info->id) : tl::unexpected(info.error());
    const auto program = graph ? BuildNetwork(*graph) : tl::unexpected(graph.error());
    const auto evaluate = [&](int noisy) {
      return (*pool)->Evaluate({info->id, {}}, {static_cast<int>(seed % 3), seed, 1, noisy});
    };
    const auto values = program ? evaluate(0) : tl::unexpected(program.error());
    if (!values) {
      fmt::print("seed {}: {}\n", seed, values.error().message);
      ++refused;
      continue;
    }
    std::set<std::string> has;
    for (const ComputationInfo& computation : graph->computations) {
      for (const InstructionInfo& instruction : computation.instructions) {
        has.insert(instruction.opcode);
        has.insert(instruction.shape.type);
      }
    }
    for (const std::string& what : has) ++with[what];
    const size_t m = seed % machines.size();
    const std::string wrong = TryRandom(*program, machines[m], *values, evaluate, tallies[m]);
    (*pool)->Unload(info->id);
    if (!wrong.empty()) fmt::print("seed {}, {}: {}\n", seed, machines[m].name, wrong);
    std::fflush(stdout);
    if ((k + 1) % 500 == 0) {
      fmt::print(stderr, "{} programs, {:.0f} s\n", k + 1, Since(start));
    }
  }
  int64_t failed = refused;
  fmt::print("{} random programs from seed {}, {} refused, {:.0f} s\n", options.count, options.seed,
             refused, Since(start));
  for (size_t m = 0; m < machines.size(); ++m) {
    const RandomTally& tally = tallies[m];
    fmt::print(
        "{:>12}: {} equal to XLA, {} that hang on the last bit, {} only followed, {} wrong, {} "
        "without a plan; {} with tiles, {} sums in parts, {} from DRAM to DRAM\n",
        machines[m].name, tally.equal, tally.unclear, tally.followed, tally.wrong, tally.none,
        tally.tiled, tally.sums, tally.streamed);
    failed += tally.wrong + tally.none;
  }
  fmt::print("programs with");
  for (const char* what : {"bf16", "while", "conditional", "rng-bit-generator", "gather", "scatter",
                           "sort", "reduce-window", "opt-barrier", "dot", "convolution"}) {
    fmt::print(" {}: {}{}", what, with[what], std::string_view(what) == "convolution" ? "\n" : ",");
  }
  return failed == 0 ? 0 : 1;
}

struct AllocateOptions {
  std::string folder = "tests/memory/minimalloc";
  double budget_seconds = 300;
};

// The hard instances of google/minimalloc: time of this process, and whether the result is valid.
int RunAllocate(const AllocateOptions& options) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  int unsolved = 0;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const AllocationProblem problem = ReadMinimalloc(stream);
    SearchOptions search;
    search.budget_seconds = options.budget_seconds;
    const std::clock_t start = std::clock();
    const auto allocation = Search(problem, search);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const bool valid = allocation && Validate(problem, *allocation);
    unsolved += !valid;
    fmt::print(
        "{} {:>6} buffers {:>9.0f} ms of processor time  {}\n", file.stem().string(),
        problem.buffers.size(), seconds * 1e3,
        valid ? "solved and valid" : (allocation ? "not valid" : allocation.error().message));
    std::fflush(stdout);
  }
  return files.empty() ? 2 : unsolved > 0;
}

}  // namespace
}  // namespace hone::memory

int main(int argc, char** argv) {
  CLI::App app("Measures the planner for scratchpads.");
  app.require_subcommand(1);
  hone::memory::ScaleOptions scale;
  CLI::App* scales = app.add_subcommand("scale", "plans programs, each 1, 2, 4, … times over");
  scales->add_option("FILE", scale.files)->required();
  scales->add_option("--machine", scale.machine);
  scales->add_option("--budget", scale.budget_seconds, "seconds of planning, a program");
  scales->add_option("--operators", scale.operators, "repeated up to this many operators");
  scales->add_option("--plot", scale.plot, "an SVG of seconds over operators");
  scales->add_option("--plan", scale.plan, "where the last program's plan goes");
  scales->add_option("--network", scale.network, "only this one of ByParts' networks, from 0 on");
  scales->add_flag("--trace", scale.trace, "say what came of every schedule");
  scales->add_option("--traffic", scale.traffic, "so many tensors that move most");
  scales->add_flag("--layouts", scale.layouts, "how far the choice of layouts is from the best");
  hone::memory::RandomOptions random;
  CLI::App* randoms = app.add_subcommand("random", "random programs against XLA");
  randoms->add_option("--count", random.count);
  randoms->add_option("--seed", random.seed, "of the first");
  randoms->add_flag("--plain", random.plain, "arrays of f32 alone, as earlier seeds were");
  randoms->add_flag("--print", random.print, "write the programs, too");
  hone::memory::AllocateOptions allocate;
  CLI::App* allocates = app.add_subcommand("allocate", "hard instances of allocation");
  allocates->add_option("FOLDER", allocate.folder);
  allocates->add_option("--budget", allocate.budget_seconds, "seconds, an instance");
  CLI::App* products = app.add_subcommand("products", "the simulator's beside Eigen's");
  CLI11_PARSE(app, argc, argv);
  if (products->parsed()) {
    hone::memory::CompareProducts();
    return 0;
  }
  if (scales->parsed()) return hone::memory::RunScale(scale);
  if (randoms->parsed()) return hone::memory::RunRandom(random);
  return hone::memory::RunAllocate(allocate);
}
