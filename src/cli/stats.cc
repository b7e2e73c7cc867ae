// hone stats: what is in a program.
#include "jobs/stats.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"

namespace hone::cli {
namespace {

struct StatsFlags {
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

int RunStats(const StatsFlags& flags) {
  const bool json = flags.common.json;
  int code = kFine;
  size_t failed = 0;
  CommandEvents events(flags.common);
  const auto all =
      jobs::StatsOf(flags.files, flags.common, events, [&](const jobs::FileStats& one) {
        if (one.stats) return;
        code = Fail(one.stats.error(), one.file, false);
        ++failed;
      });
  if (!all) return Fail(all.error(), json);
  if (failed > 0 && failed < all->size()) code = kSomeFailed;
  if (json) return Finish(ToJson(*all), code);
  std::string text;
  for (const auto& [file, stats] : *all) {
    if (stats) text += (text.empty() ? "" : "\n") + Text(file, *stats);
  }
  return Finish(text, code);
}

}  // namespace

Run AddStats(CLI::App& app) {
  auto flags = std::make_shared<StatsFlags>();
  AddFiles(app, flags->files);
  AddProgramOptions(app, flags->common);
  return [flags] { return RunStats(*flags); };
}

}  // namespace hone::cli
