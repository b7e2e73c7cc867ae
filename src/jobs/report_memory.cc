#include "jobs/report_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "jobs/report.h"
#include "report/sections/graphs.h"
#include "report/sections/scratchpad.h"
#include "report/sections/traffic.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

using report::Grouped;
using report::HumanBytes;
using report::HumanSeconds;
using report::Printable;

using memory::Network;
using memory::Plan;
using memory::Tensor;
using memory::TensorId;

size_t U(int32_t id) { return static_cast<size_t>(id); }

// The tensor that the program has; ByParts splits some.
TensorId Whole(const Network& network, TensorId tensor) {
  while (network.tensors[U(tensor)].part_of != memory::kNone) {
    tensor = network.tensors[U(tensor)].part_of;
  }
  return tensor;
}

report::Json ScratchpadSection(const Network& network, const memory::Machine& machine,
                               const Plan& plan) {
  std::vector<const char*> use(plan.buffers.size(), "computed");
  for (const memory::Block& block : plan.blocks) {
    for (const memory::Step& step : block.steps) {
      if (step.buffer == memory::kNone) continue;
      if (step.kind == memory::StepKind::kLoad) use[U(step.buffer)] = "loaded";
      if (step.kind == memory::StepKind::kCopy) use[U(step.buffer)] = "copy";
    }
  }
  report::Scratchpad scratchpad;
  scratchpad.note = fmt::format(
      "{} partitions of {}; a buffer lies at the same offset in all of them. Above, how much is in "
      "use; below, each buffer where and while it lies.",
      machine.partitions, HumanBytes(static_cast<double>(machine.bytes_per_partition)));
  if (machine.partitions == 1) {
    scratchpad.note = "Above, how much is in use; below, each buffer where and while it lies.";
  }
  scratchpad.bytes_per_partition = machine.bytes_per_partition;
  scratchpad.partitions = machine.partitions;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const memory::Buffer& buffer = plan.buffers[i];
    const std::string name =
        buffer.tensor == memory::kNone ? "an operand" : network.tensors[U(buffer.tensor)].name;
    scratchpad.rooms.push_back(
        {name, use[i], buffer.offset, buffer.bytes * buffer.slots, buffer.start, buffer.end});
    scratchpad.steps = std::max(scratchpad.steps, buffer.end);
  }
  return report::ToSection(scratchpad);
}

struct Moved {
  int64_t loaded = 0;
  int64_t stored = 0;
};

// By tensor of the program, of loads and stores; streams and gathers are no such steps.
std::vector<Moved> MovedBytes(const Network& network, const Plan& plan) {
  std::vector<Moved> moved(network.tensors.size());
  for (const memory::Block& block : plan.blocks) {
    for (const memory::Step& step : block.steps) {
      const bool load = step.kind == memory::StepKind::kLoad;
      if ((!load && step.kind != memory::StepKind::kStore) || step.tensor == memory::kNone) {
        continue;
      }
      int64_t bytes = 0;
      for (const memory::Box& box : step.boxes) bytes += memory::Elements(box);
      bytes *= network.tensors[U(step.tensor)].element_bytes;
      Moved& sum = moved[U(Whole(network, step.tensor))];
      (load ? sum.loaded : sum.stored) += bytes;
    }
  }
  return moved;
}

report::Json TrafficSection(const Network& network, const memory::Planned& planned,
                            const std::vector<Moved>& moved) {
  const memory::Figures& figures = planned.plan.figures;
  report::Traffic traffic;
  traffic.note =
      "Bytes between the scratchpad and DRAM in one run; times are estimates for the modelled "
      "machine. No plan can move less than the bound.";
  if (memory::FasterBaseline(planned) != nullptr) {
    traffic.note +=
        " The plan is made to move least; here a way that moves more is estimated to be faster.";
  }
  traffic.ways = {
      {"one by one", planned.by_operator.dram_bytes, planned.by_operator.seconds, false},
      {"local groups", planned.local.dram_bytes, planned.local.seconds, false},
      {"hone", figures.dram_bytes(), figures.seconds, true},
      {"bound", planned.bound.dram_bytes(), -1, false}};
  const std::set<TensorId> outputs(network.output_tensors.begin(), network.output_tensors.end());
  report::TensorTraffic rest{"streamed or gathered", "element by element", 0, figures.loaded_bytes,
                             figures.stored_bytes};
  for (size_t i = 0; i < moved.size(); ++i) {
    if (moved[i].loaded + moved[i].stored == 0) continue;
    const Tensor& tensor = network.tensors[i];
    const char* role = tensor.parameter != memory::kNone              ? "parameter"
                       : tensor.constant_instruction != memory::kNone ? "constant"
                       : outputs.count(static_cast<TensorId>(i)) > 0  ? "output"
                                                                      : "intermediate";
    traffic.tensors.push_back(
        {tensor.name, role, tensor.Bytes(), moved[i].loaded, moved[i].stored});
    rest.loaded -= moved[i].loaded;
    rest.stored -= moved[i].stored;
  }
  rest.loaded = std::max<int64_t>(rest.loaded, 0);
  rest.stored = std::max<int64_t>(rest.stored, 0);
  if (rest.loaded + rest.stored > 0) traffic.tensors.push_back(rest);
  return report::ToSection(traffic);
}

std::string Times(int64_t a, int64_t b) {
  return fmt::format("{:.2f}",
                     static_cast<double>(a) / static_cast<double>(std::max<int64_t>(b, 1)));
}

}  // namespace

report::Document MakeReport(LoadedNetwork& loaded, const MemoryReport& what) {
  const Network& network = loaded.network();
  const memory::Planned& planned = what.planned;
  const memory::Figures& figures = planned.plan.figures;
  const int64_t bound = planned.bound.dram_bytes();
  report::Document document =
      BeginReport("memory", what.file, network.name, loaded.pool->version());
  report::Headline& headline = document.headline;
  headline.better = figures.dram_bytes() < planned.local.dram_bytes;
  headline.verdict = fmt::format(
      "{} moved to and from DRAM: {} times what no plan can do without, where XLA-style groups "
      "move "
      "{} times.",
      HumanBytes(static_cast<double>(figures.dram_bytes())), Times(figures.dram_bytes(), bound),
      Times(planned.local.dram_bytes, bound));
  headline.verified = !what.verification.ok       ? report::Verified::kNo
                      : what.verification.numbers ? report::Verified::kYes
                                                  : report::Verified::kUnknown;
  headline.verification = what.verification.what;
  headline.figures = {
      {"DRAM traffic", HumanBytes(static_cast<double>(figures.dram_bytes())),
       Times(figures.dram_bytes(), bound) + " times the bound"},
      {"store/load pairs", Grouped(figures.pairs_eliminated),
       fmt::format("eliminated, of {}", Grouped(figures.pairs))},
      {"peak", HumanBytes(static_cast<double>(figures.peak_bytes_per_partition)),
       fmt::format("of {} per partition",
                   HumanBytes(static_cast<double>(what.machine.bytes_per_partition)))},
      {"copies on the chip", Grouped(figures.copies),
       fmt::format("local groups: {}", Grouped(planned.local.copies))}};
  document.sections.push_back(ScratchpadSection(network, what.machine, planned.plan));
  const std::vector<Moved> moved = MovedBytes(network, planned.plan);
  document.sections.push_back(TrafficSection(network, planned, moved));

  const StatusOr<ProgramGraph> graph = loaded.pool->Describe({loaded.info.id, {}});
  if (graph) {
    report::GraphView view{"program", &*graph, {}};
    const std::set<TensorId> outputs(network.output_tensors.begin(), network.output_tensors.end());
    for (size_t i = 0; i < moved.size(); ++i) {
      const Tensor& tensor = network.tensors[i];
      if (tensor.producer == memory::kNone || outputs.count(static_cast<TensorId>(i)) > 0) continue;
      if (moved[i].loaded + moved[i].stored == 0) continue;
      view.marks.emplace_back(tensor.name,
                              fmt::format("goes through DRAM: {} stored, {} loaded",
                                          HumanBytes(static_cast<double>(moved[i].stored)),
                                          HumanBytes(static_cast<double>(moved[i].loaded))));
    }
    report::Graphs graphs;
    graphs.note = view.marks.empty()
                      ? "No result goes through DRAM on its way to where it is used."
                      : "Marked: results that go through DRAM on their way to where they are used.";
    graphs.views.push_back(std::move(view));
    document.sections.push_back(report::ToSection(graphs));
  } else {
    document.remarks.push_back("the graph left out: " + Printable(graph.error().message));
  }
  document.facts.push_back({"machine", what.machine.name, ""});
  document.facts.push_back({"operators", Grouped(static_cast<int64_t>(network.ops.size())), ""});
  document.facts.push_back({"groups", Grouped(figures.groups), ""});
  document.facts.push_back({"in tiles", Grouped(figures.tiled_groups), ""});
  document.facts.push_back({"from DRAM to DRAM", Grouped(figures.streamed), ""});
  document.facts.push_back({"planned in", HumanSeconds(planned.seconds), ""});
  document.facts.push_back({"program", loaded.fingerprint, ""});
  for (const std::string& assumption : what.machine.assumptions) {
    document.remarks.push_back("assumed of the machine: " + assumption);
  }
  for (const auto& [kind, count] : network.conservative) {
    document.remarks.push_back(fmt::format("bounded by whole operands: {} × {}", count, kind));
  }
  return document;
}

}  // namespace hone::jobs
