// hone stats: what is in a program.
#include "jobs/stats.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/progress.h"

namespace hone::cli {
namespace {

struct StatsOptions {
  CommonOptions common;
  std::vector<std::string> files;
};

std::string Text(const std::string& file, const jobs::Stats& stats) {
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
    row("estimated time", fmt::format("{} on {}, by XLA's own model",
                                      HumanSeconds(metrics.estimated_seconds), stats.target));
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
  for (const jobs::Tensor& tensor : stats.largest) {
    text +=
        fmt::format("    {:>9}  {}  {} ({}) in {}\n", HumanBytes(static_cast<double>(tensor.bytes)),
                    tensor.shape, tensor.instruction, tensor.opcode, tensor.computation);
  }
  return text;
}

int RunStats(const StatsOptions& options) {
  const bool json = options.common.json;
  const auto files = ExpandInputs(options.files, options.common.datasets);
  if (!files) return Fail(files.error(), json);
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
    StatusOr<std::string> bytes = ReadInput(file, options.common.MostInputBytes());
    const StatusOr<jobs::Stats> stats =
        bytes ? jobs::StatsOf(**pool, *std::move(bytes)) : tl::unexpected(bytes.error());
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
  auto options = std::make_shared<StatsOptions>();
  app.add_option("FILE", options->files, "programs, or folders of them; paths or URIs")
      ->required()
      ->type_name("");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunStats(*options); };
}

}  // namespace hone::cli
