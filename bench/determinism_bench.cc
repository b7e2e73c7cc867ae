// The same passes on the same programs in many fresh processes with randomised addresses: one text
// each, or not.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench.h"
#include "core/fnv.h"
#include "wire/worker_process.h"

namespace hone::bench {
namespace {

struct Options {
  std::string programs;
  std::string passes = "own";
  int processes = 20;
  size_t most_programs = 20;
  int64_t most_instructions = 4000;
  bool fixed_addresses = false;
  bool json = false;
};

// What leads up to the pass: nothing, or what makes a program look otherwise.
const std::vector<std::vector<std::string>> kBefore = {
    {}, {"call-inliner:every_call_site", "algsimp", "cse", "batch_lanes", "cse", "dce"}};

struct Case {
  std::string program;
  std::string passes;
  auto operator<=>(const Case&) const = default;
};

class Runs {
 public:
  explicit Runs(const Options& options) : options_(options) {}

  // One process more. The passes begin elsewhere each time, so that the heap looks otherwise too.
  Status Run(int process, const std::vector<ProgramSource>& sources) {
    PoolOptions pool_options;
    if (!options_.fixed_addresses) pool_options.worker_path = wire::FindProgram("hone-random-worker");
    auto started = Pool::Start(pool_options);
    if (!started) return tl::unexpected(started.error());
    Pool& pool = **started;
    for (const ProgramSource& source : sources) {
      const StatusOr<ProgramInfo> program = pool.Load(source.data);
      if (!program) return tl::unexpected(program.error());
      if (program->metrics.op_count <= options_.most_instructions) {
        programs_.insert(source.name);
        RunProgram(pool, *program, source.name, process);
      }
      pool.Unload(program->id);
      if (programs_.size() == options_.most_programs) break;
    }
    return {};
  }

  nlohmann::json Result() const {
    nlohmann::json differ = nlohmann::json::array();
    for (const auto& [made, texts] : texts_) {
      if (texts.size() < 2) continue;
      differ.push_back({{"program", made.program}, {"passes", made.passes}, {"texts", texts.size()}});
    }
    return {{"programs", programs_.size()},
            {"processes", options_.processes},
            {"passes", passes_.size()},
            {"cases", texts_.size()},
            {"changing", changing_.size()},
            {"differ", differ}};
  }

 private:
  bool Wanted(const PassInfo& pass) const {
    const bool xla = pass.kind == PassKind::kXla;
    if (options_.passes == "xla") return xla;
    return options_.passes == "all" || (!xla && pass.kind != PassKind::kRewrites);
  }

  void RunProgram(Pool& pool, const ProgramInfo& program, const std::string& name, int process) {
    const size_t count = pool.passes().size();
    for (const std::vector<std::string>& before : kBefore) {
      StateName from{program.id, {}};
      std::string list;
      for (const std::string& earlier : before) {
        for (PassId id = 0; id < count; ++id) {
          if (pool.passes()[id].name == earlier) from.links.push_back({id, {}});
        }
        list += earlier + ",";
      }
      Note({name, list}, pool.Export(from, ExportFormat::kText));
      (void)pool.Hold(from);
      for (size_t i = 0; i < count; ++i) {
        const auto pass = static_cast<PassId>((i + 97 * static_cast<size_t>(process)) % count);
        if (!Wanted(pool.passes()[pass])) continue;
        passes_.insert(pass);
        Try(pool, from, pass, {name, list + pool.passes()[pass].name});
      }
    }
  }

  // Its text where it changes something: else that was noted before.
  void Try(Pool& pool, StateName from, PassId pass, const Case& made) {
    const StatusOr<Applied> applied = pool.Apply(ApplyRequest{from, {pass}, {}, {}, {}});
    if (!applied || !applied->steps.at(0).failure.empty()) {
      const std::string why = applied ? applied->steps[0].failure : applied.error().message;
      texts_[made].insert(Fnv1a("failed: " + why));
    } else if (!applied->steps[0].changed) {
      texts_[made].insert(Fnv1a("unchanged"));
    } else {
      changing_.insert(made);
      from.links.push_back({pass, {}});
      Note(made, pool.Export(from, ExportFormat::kText));
    }
  }

  void Note(const Case& made, const StatusOr<Exported>& exported) {
    texts_[made].insert(Fnv1a(exported ? exported->bytes : exported.error().message));
  }

  const Options& options_;
  std::set<std::string> programs_;
  std::set<PassId> passes_;
  std::set<Case> changing_;
  std::map<Case, std::set<uint64_t>> texts_;
};

int RunDeterminism(const Options& options) {
  const std::vector<ProgramSource> sources = ReadPrograms(options.programs);
  Runs runs(options);
  const Clock::time_point start = Clock::now();
  for (int process = 0; process < options.processes; ++process) {
    if (Status ran = runs.Run(process, sources); !ran) {
      fmt::print(stderr, "hone-bench: {}\n", ran.error().message);
      return 2;
    }
    fmt::print(stderr, "{:.0f} s, process {} of {}\n", Since(start), process + 1,
               options.processes);
  }
  const nlohmann::json result = runs.Result();
  if (options.json) {
    fmt::print("{}\n", result.dump(1));
  } else {
    for (const auto& row : result["differ"]) {
      fmt::print("{} texts: {} of {}\n", row["texts"].get<size_t>(),
                 row["passes"].get<std::string>(), row["program"].get<std::string>());
    }
    fmt::print("{} processes, {} programs, {} passes: {} cases, {} of which change the program; {} "
               "came out in more than one text\n",
               options.processes, result["programs"].get<size_t>(),
               result["passes"].get<size_t>(), result["cases"].get<size_t>(),
               result["changing"].get<size_t>(), result["differ"].size());
  }
  return result["differ"].empty() ? 0 : 1;
}

}  // namespace

void AddDeterminismBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "determinism", "passes in fresh processes with randomised addresses: one text each?");
  command->add_option("--programs", options->programs, "file or folder")->required();
  command->add_option("--passes", options->passes, "hone's own, XLA's, or both with some rewrites")
      ->check(CLI::IsMember({"own", "xla", "all"}))
      ->capture_default_str();
  command->add_option("--processes", options->processes)->capture_default_str();
  command->add_option("--most-programs", options->most_programs)->capture_default_str();
  command->add_option("--most-instructions", options->most_instructions, "larger programs are left out")
      ->capture_default_str();
  command->add_flag("--fixed-addresses", options->fixed_addresses, "as workers run otherwise");
  command->add_flag("--json", options->json);
  command->callback([options, &exit_code] { exit_code = RunDeterminism(*options); });
}

}  // namespace hone::bench
