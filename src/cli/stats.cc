// hone stats: what is in a program.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "core/program_graph.h"

namespace hone::cli {
namespace {

constexpr size_t kLargest = 10;

struct Options {
  CommonOptions common;
  std::vector<std::string> files;
};

struct Tensor {
  std::string shape;
  int64_t bytes = 0;
  std::string instruction;
  std::string opcode;
  std::string computation;
};

struct Stats {
  std::string target;
  ProgramInfo program;
  Metrics metrics;
  size_t computations = 0;
  std::vector<std::pair<std::string, int64_t>> opcodes;  // most frequent first
  int64_t parameters = 0;
  int64_t parameter_bytes = 0;
  int64_t outputs = 0;
  int64_t output_bytes = 0;
  std::vector<Tensor> largest;
};

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

Stats StatsOf(const std::string& target, const ProgramInfo& program, const Metrics& metrics,
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

std::string Text(const std::string& file, const Stats& stats) {
  const Metrics& metrics = stats.metrics;
  std::string text = fmt::format("{}: {} ({})\n", file, stats.program.name, stats.program.format);
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:16} {}\n", name, value);
  };
  row("fingerprint", stats.program.fingerprint.ToHex());
  row("instructions", fmt::format("{} in {} computations", Grouped(metrics.op_count),
                                  Grouped(static_cast<int64_t>(stats.computations))));
  row("flops", HumanCount(metrics.flops));
  row("transcendentals", HumanCount(metrics.transcendentals));
  row("bytes accessed", HumanBytes(metrics.bytes_accessed));
  row("peak memory", HumanBytes(static_cast<double>(metrics.peak_memory)));
  row("kernels", fmt::format("{}, each instruction one", Grouped(metrics.kernels)));
  if (metrics.estimated_seconds >= 0) {
    row("estimated time", fmt::format("{} on {}, by XLA's own model", HumanSeconds(metrics.estimated_seconds),
                                      stats.target));
  }
  row("parameters", fmt::format("{}, {}", Grouped(stats.parameters),
                                HumanBytes(static_cast<double>(stats.parameter_bytes))));
  row("outputs", fmt::format("{}, {}", Grouped(stats.outputs),
                             HumanBytes(static_cast<double>(stats.output_bytes))));
  text += "  ops\n";
  for (const auto& [opcode, count] : stats.opcodes) {
    text += fmt::format("    {:>8}  {}\n", Grouped(count), opcode);
  }
  text += "  largest tensors\n";
  for (const Tensor& tensor : stats.largest) {
    text +=
        fmt::format("    {:>9}  {}  {} ({}) in {}\n", HumanBytes(static_cast<double>(tensor.bytes)),
                    tensor.shape, tensor.instruction, tensor.opcode, tensor.computation);
  }
  return text;
}

Json ToJson(const std::string& file, const Stats& stats) {
  const Metrics& metrics = stats.metrics;
  Json json;
  json["file"] = file;
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

StatusOr<Stats> StatsOfFile(Pool& pool, const std::string& file, size_t most_bytes) {
  const StatusOr<ProgramInfo> program = LoadProgram(pool, file, most_bytes);
  if (!program) return tl::unexpected(program.error());
  const StatusOr<Metrics> metrics = pool.Measure({program->id, {}});
  if (!metrics) return tl::unexpected(metrics.error());
  const StatusOr<ProgramGraph> graph = pool.Describe({program->id, {}});
  if (!graph) return tl::unexpected(graph.error());
  pool.Unload(program->id);
  return StatsOf(pool.target(), *program, *metrics, *graph);
}

int RunStats(const Options& options) {
  const bool json = options.common.json;
  const auto files = ExpandInputs(options.files, options.common.datasets);
  if (!files) return Fail(files.error().error, files.error().file, json);
  auto pool = StartPool(options.common);
  if (!pool) return Fail(pool.error(), json);
  Progress progress(options.common.ShowProgress());
  std::string text;
  Json results = Json::array();
  size_t failed = 0;
  int code = kFine;
  for (size_t i = 0; i < files->size(); ++i) {
    const std::string& file = (*files)[i];
    progress.Show(fmt::format("{} of {}: {}", i + 1, files->size(), file));
    const StatusOr<Stats> stats = StatsOfFile(**pool, file, options.common.MostInputBytes());
    if (!stats) {
      progress.Clear();
      // A single file's error is the whole answer; among several it is one of the results.
      code = Fail(stats.error(), file, json && files->size() == 1);
      results.push_back({{"file", file}, {"error", ErrorJson(stats.error(), "")}});
      ++failed;
      continue;
    }
    if (stats->program.elided_constants) {
      progress.Clear();
      Warn(file, ElidedConstants().message);
    }
    WarnOfStandIns(file, stats->program);
    results.push_back(ToJson(file, *stats));
    text += (text.empty() ? "" : "\n") + Text(file, *stats);
  }
  progress.Clear();
  if (failed > 0 && failed < files->size()) code = kSomeFailed;
  if (files->size() == 1 && failed == 1) return code;
  if (!json) return Finish(text, code);
  return files->size() == 1 ? Finish(results[0], code) : Finish(Json{{"results", results}}, code);
}

}  // namespace

Run AddStats(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "programs, or folders of them; paths or URIs")
      ->required()
      ->type_name("");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunStats(*options); };
}

}  // namespace hone::cli
