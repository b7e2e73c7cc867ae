// hone-memory-bench: how planning grows with programs, random graphs against XLA, hard instances of
// allocation. Needs no more of hone than the planner and the pool.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "memory/plan_file.h"
#include "memory/planner.h"
#include "memory/simulator/simulate.h"
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

struct ScaleOptions {
  std::vector<std::string> files;
  std::string machine = "neuroncore_v2";
  double budget_seconds = 60;
  int repeat = 1;
  std::string plan;
  bool trace = false;
};

// seconds = a * operators ^ exponent, by least squares of logarithms.
double Exponent(const std::vector<std::pair<double, double>>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(points.size());
  for (const auto& [operators, seconds] : points) {
    const double a = std::log(operators), b = std::log(seconds);
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

int RunScale(const ScaleOptions& options) {
  const auto machine = FindMachine(options.machine);
  auto pool = Pool::Start({});
  if (!machine || !pool) {
    fmt::print(stderr, "{}\n", machine ? pool.error().message : machine.error().message);
    return 2;
  }
  fmt::print("{:<52} {:>9} {:>9} {:>12} {:>8} {:>11} {:>8} {:>8}  {}\n", "program", "operators",
             "by bound", "pairs", "local", "copies", "seconds", "peak MB", "simulated");
  std::vector<std::pair<double, double>> points;
  for (const std::string& file : options.files) {
    const std::string name = std::filesystem::path(file).stem().string();
    const auto info = (*pool)->Load(ReadFile(file));
    const auto graph = info ? (*pool)->Describe({info->id, {}}) : tl::unexpected(info.error());
    auto program = graph ? BuildNetwork(*graph) : tl::unexpected(graph.error());
    if (!program) {
      fmt::print("{:<52} {}\n", name, program.error().message);
      continue;
    }
    for (int times = 1; times <= options.repeat; times *= 2) {
      const Network written = Repeat(*program, times);
      const Network network = ByParts(written, LargeBytes(*machine));
      const Clock::time_point start = Clock::now();
      PlanOptions plan_options{options.budget_seconds, nullptr};
      if (options.trace) {
        plan_options.trace = [](const Figures& figures) {
          fmt::print("  {:>14} bytes, {} spilled, {} groups, {} tiled, {} streamed\n",
                     figures.dram_bytes(), figures.spilled_bytes, figures.groups,
                     figures.tiled_groups, figures.streamed);
        };
      }
      const auto planned = MakePlan(written, network, *machine, plan_options);
      const double seconds = Since(start);
      if (!planned) {
        fmt::print("{:<52} {:>9} {} ({:.1f} s)\n", name, network.ops.size(),
                   planned.error().message, seconds);
        continue;
      }
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      const Figures& figures = planned->plan.figures;
      if (!options.plan.empty()) {
        std::ofstream(options.plan) << WritePlan(network, {file, "", *machine, planned->plan});
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
                 network.ops.size(), static_cast<double>(figures.dram_bytes()) / bound,
                 fmt::format("{}/{}", figures.pairs_eliminated, figures.pairs),
                 static_cast<double>(planned->local.dram_bytes) / bound,
                 fmt::format("{} {}", planned->local.copies, figures.copies), seconds,
                 static_cast<double>(usage.ru_maxrss) / 1024, verdict);
      std::fflush(stdout);
      points.emplace_back(static_cast<double>(network.ops.size()), seconds);
    }
  }
  if (points.size() > 2) fmt::print("seconds grow with operators ^ {:.2f}\n", Exponent(points));
  return 0;
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
  scales->add_option("--repeat", scale.repeat, "up to this many times");
  scales->add_option("--plan", scale.plan, "where the last program's plan goes");
  scales->add_flag("--trace", scale.trace, "say what came of every schedule");
  CLI11_PARSE(app, argc, argv);
  return hone::memory::RunScale(scale);
}
