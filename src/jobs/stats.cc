#include "jobs/stats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/program_graph.h"
#include "jobs/input.h"

namespace hone::jobs {
namespace {

constexpr size_t kLargest = 10;

std::string ShapeText(const ShapeInfo& shape) {
  if (shape.type == "tuple") {
    std::string text = "(";
    for (size_t i = 0; i < shape.tuple.size(); ++i) {
      text += (i == 0 ? "" : ", ") + ShapeText(shape.tuple[i]);
    }
    return text + ")";
  }
  return fmt::format("{}[{}]", shape.type, fmt::join(shape.dimensions, ","));
}

int64_t Leaves(const ShapeInfo& shape) {
  if (shape.type != "tuple") return 1;
  int64_t leaves = 0;
  for (const ShapeInfo& element : shape.tuple) leaves += Leaves(element);
  return leaves;
}

// Tuples and what only names another's buffer hold no tensor of their own.
bool OwnsTensor(const InstructionInfo& instruction) {
  return instruction.shape.type != "tuple" && instruction.opcode != "get-tuple-element" &&
         instruction.opcode != "bitcast";
}

// One tensor for each instruction; computations that run inside a fusion hold none in memory.
std::vector<Tensor> LargestTensors(const ProgramGraph& graph) {
  std::vector<bool> inside_fusion(graph.computations.size());
  for (const ComputationInfo& computation : graph.computations) {
    for (const InstructionInfo& instruction : computation.instructions) {
      if (instruction.opcode != "fusion") continue;
      for (uint32_t called : instruction.called) inside_fusion[called] = true;
    }
  }
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < graph.computations.size(); ++i) {
    if (inside_fusion[i]) continue;
    for (const InstructionInfo& instruction : graph.computations[i].instructions) {
      if (!OwnsTensor(instruction)) continue;
      tensors.push_back({ShapeText(instruction.shape), instruction.shape.bytes, instruction.name,
                         instruction.opcode, graph.computations[i].name});
    }
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const Tensor& a, const Tensor& b) { return a.bytes > b.bytes; });
  if (tensors.size() > kLargest) tensors.resize(kLargest);
  return tensors;
}

Stats Collect(const std::string& target, const ProgramInfo& program, const Metrics& metrics,
              const ProgramGraph& graph) {
  Stats stats;
  stats.target = target;
  stats.program = program;
  stats.metrics = metrics;
  stats.computations = graph.computations.size();
  std::map<std::string, int64_t> opcodes;
  for (const ComputationInfo& computation : graph.computations) {
    for (const InstructionInfo& instruction : computation.instructions) {
      ++opcodes[instruction.opcode];
    }
  }
  stats.opcodes.assign(opcodes.begin(), opcodes.end());
  std::stable_sort(stats.opcodes.begin(), stats.opcodes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (!graph.computations.empty()) {
    const ComputationInfo& entry = graph.computations.back();
    for (const InstructionInfo& instruction : entry.instructions) {
      if (instruction.parameter < 0) continue;
      ++stats.parameters;
      stats.parameter_bytes += instruction.shape.bytes;
    }
    if (entry.root < entry.instructions.size()) {
      const ShapeInfo& result = entry.instructions[entry.root].shape;
      stats.outputs = Leaves(result);
      stats.output_bytes = result.bytes;
    }
  }
  stats.largest = LargestTensors(graph);
  return stats;
}

// The program is loaded, and forgotten by the pool afterwards.
StatusOr<Stats> StatsOf(Pool& pool, const std::string& file, const WorkerOptions& workers) {
  const StatusOr<ProgramInfo> program = LoadProgram(pool, file, workers.MostInputBytes());
  if (!program) return tl::unexpected(program.error());
  const StatusOr<Metrics> metrics = pool.Measure({program->id, {}});
  if (!metrics) return tl::unexpected(metrics.error());
  const StatusOr<ProgramGraph> graph = pool.Describe({program->id, {}});
  if (!graph) return tl::unexpected(graph.error());
  pool.Unload(program->id);
  return Collect(pool.target(), *program, *metrics, *graph);
}

Json ToJson(const FileStats& one) {
  if (!one.stats) return {{"file", one.file}, {"error", ErrorJson(one.stats.error(), "")}};
  const Stats& stats = *one.stats;
  const Metrics& metrics = stats.metrics;
  Json json;
  json["file"] = one.file;
  json["name"] = stats.program.name;
  json["format"] = stats.program.format;
  json["fingerprint"] = stats.program.fingerprint.ToHex();
  json["elided_constants"] = stats.program.elided_constants;
  AddStandIns(stats.program, json);
  json["instructions"] = metrics.op_count;
  json["computations"] = stats.computations;
  json["flops"] = metrics.flops;
  json["transcendentals"] = metrics.transcendentals;
  json["bytes"] = metrics.bytes_accessed;
  json["peak_memory"] = metrics.peak_memory;
  json["kernels"] = metrics.kernels;
  if (metrics.estimated_seconds >= 0) {
    json["target"] = stats.target;
    json["estimated_seconds"] = metrics.estimated_seconds;
  }
  json["parameters"] = stats.parameters;
  json["parameter_bytes"] = stats.parameter_bytes;
  json["outputs"] = stats.outputs;
  json["output_bytes"] = stats.output_bytes;
  json["ops"] = Json::object();
  for (const auto& [opcode, count] : stats.opcodes) json["ops"][opcode] = count;
  json["largest"] = Json::array();
  for (const Tensor& tensor : stats.largest) {
    json["largest"].push_back({{"shape", tensor.shape},
                               {"bytes", tensor.bytes},
                               {"instruction", tensor.instruction},
                               {"opcode", tensor.opcode},
                               {"computation", tensor.computation}});
  }
  return json;
}

}  // namespace

FileOr<std::vector<FileStats>> StatsOf(const std::vector<std::string>& files,
                                       const WorkerOptions& workers, Events& events,
                                       const std::function<void(const FileStats&)>& done) {
  const auto expanded = ExpandInputs(files, workers.datasets);
  if (!expanded) return tl::unexpected(expanded.error());
  const auto pool = StartPool(workers, events);
  if (!pool) return Wrong("", pool.error());
  const ClearAtEnd clear(events);
  std::vector<FileStats> all;
  for (const std::string& file : *expanded) {
    events.Show(fmt::format("{} of {}: {}", all.size() + 1, expanded->size(), file));
    all.push_back({file, StatsOf(**pool, file, workers)});
    const StatusOr<Stats>& stats = all.back().stats;
    if (!stats && expanded->size() == 1) return Wrong(file, stats.error());
    if (!stats || stats->program.elided_constants) events.Clear();
    if (stats && stats->program.elided_constants) events.Warn(file, ElidedConstants().message);
    if (stats) WarnOfStandIns(file, stats->program, events);
    done(all.back());
  }
  return all;
}

Json ToJson(const std::vector<FileStats>& all) {
  if (all.size() == 1) return ToJson(all.front());
  Json json{{"results", Json::array()}};
  for (const FileStats& one : all) json["results"].push_back(ToJson(one));
  return json;
}

}  // namespace hone::jobs
