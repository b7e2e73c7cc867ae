// Every pass on every program, rewrite by rewrite: what there is, whether all together are the pass
// and none are the program, whether halves compute the same, and what finding out costs.
#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>

#include "bench.h"

namespace hone::bench {
namespace {

std::atomic<bool> interrupted{false};

struct Options {
  std::string programs;
  std::string pass;
  size_t compare_every = 10;
  double compare_budget = 20;
  double deadline = 30;
  size_t most_instructions = 12'000;
  uint64_t seed = 1;
  bool json = false;
};

struct Row {
  int programs = 0;   // on which the pass was run without an error
  int failed = 0;     // on which the pass itself fails
  int with_sites = 0;
  int separable = 0;  // of those with sites
  int64_t sites = 0;
  int64_t conflicts = 0;
  int all_differs = 0;
  int none_differs = 0;
  int halves = 0;
  int halves_fail = 0;      // rejected by the verifier, or an error
  int halves_equal = 0;
  int halves_different = 0;
  int halves_unknown = 0;
  int deaths = 0;
  std::map<std::string, int> kinds;
  std::vector<double> ratios;  // dry run by pass alone
  std::vector<std::string> exceptions;
};

class Coverage {
 public:
  Coverage(Pool& pool, const Options& options) : pool_(pool), options_(options) {}

  void Run(const ProgramSource& source) {
    const StatusOr<ProgramInfo> program = pool_.Load(source.data);
    if (!program) {
      fmt::print(stderr, "{}: {}\n", source.name, program.error().message);
      return;
    }
    if (program->metrics.op_count > static_cast<int64_t>(options_.most_instructions)) {
      fmt::print(stderr, "{}: more than {} instructions\n", source.name,
                 options_.most_instructions);
    } else {
      ++programs_;
      for (PassId pass = 0; pass < pool_.passes().size() && !interrupted; ++pass) {
        const PassInfo& info = pool_.passes()[pass];
        if (options_.pass.empty() ? info.kind != PassKind::kXla : info.name != options_.pass) {
          continue;
        }
        Pair(*program, source.name, pass);
      }
    }
    pool_.Unload(program->id);
  }

  nlohmann::json Result() const {
    nlohmann::json passes = nlohmann::json::array();
    Row sum;
    int with_sites = 0;
    for (const auto& [pass, row] : rows_) {
      std::vector<double> ratios = row.ratios;
      passes.push_back({{"pass", pool_.passes()[pass].name},
                        {"programs", row.programs},
                        {"failed", row.failed},
                        {"with_sites", row.with_sites},
                        {"separable", row.separable},
                        {"sites", row.sites},
                        {"conflicts", row.conflicts},
                        {"kinds", row.kinds},
                        {"all_differs", row.all_differs},
                        {"none_differs", row.none_differs},
                        {"halves", row.halves},
                        {"halves_fail", row.halves_fail},
                        {"halves_equal", row.halves_equal},
                        {"halves_different", row.halves_different},
                        {"halves_unknown", row.halves_unknown},
                        {"deaths", row.deaths},
                        {"dry_run_by_pass", ratios.empty() ? 0 : Median(ratios)},
                        {"exceptions", row.exceptions}});
      with_sites += row.with_sites > 0;
      sum.sites += row.sites;
      sum.with_sites += row.with_sites;
      sum.all_differs += row.all_differs;
      sum.none_differs += row.none_differs;
      sum.halves += row.halves;
      sum.halves_fail += row.halves_fail;
      sum.halves_equal += row.halves_equal;
      sum.halves_different += row.halves_different;
      sum.halves_unknown += row.halves_unknown;
      sum.ratios.insert(sum.ratios.end(), ratios.begin(), ratios.end());
    }
    return {{"programs", programs_},
            {"passes", rows_.size()},
            {"passes_with_sites", with_sites},
            {"pairs_with_sites", sum.with_sites},
            {"sites", sum.sites},
            {"all_differs", sum.all_differs},
            {"none_differs", sum.none_differs},
            {"halves", sum.halves},
            {"halves_fail", sum.halves_fail},
            {"halves_equal", sum.halves_equal},
            {"halves_different", sum.halves_different},
            {"halves_unknown", sum.halves_unknown},
            {"dry_run_by_pass_median", sum.ratios.empty() ? 0 : Median(sum.ratios)},
            {"most_listed_per_second", most_per_second_},
            {"by_pass", passes}};
  }

 private:
  // The state after the pass with these decisions; nothing where that fails.
  std::optional<Step> Apply(ProgramId program, PassId pass, const DecisionsPtr& decisions,
                            std::string& failure) {
    ApplyRequest request;
    request.from.program = program;
    request.passes = {pass};
    request.decisions = {decisions};
    request.options.fresh = true;
    const StatusOr<Applied> applied = pool_.Apply(request);
    if (!applied) {
      failure = applied.error().message;
      return std::nullopt;
    }
    failure = applied->steps.at(0).failure;
    if (!failure.empty()) return std::nullopt;
    return applied->steps.at(0);
  }

  static DecisionsPtr Decided(Otherwise otherwise, uint64_t seed = 0) {
    Decisions decisions;
    decisions.otherwise = otherwise;
    decisions.seed = seed;
    // Names no site: it makes sure that the pass is observed where all is accepted.
    decisions.choices = {{1, false}};
    return std::make_shared<const Decisions>(decisions);
  }

  void Pair(const ProgramInfo& program, const std::string& name, PassId pass) {
    Row& row = rows_[pass];
    std::string failure;
    const auto plain = Apply(program.id, pass, nullptr, failure);
    if (!plain) {
      ++row.failed;
      return;
    }
    ++row.programs;
    const size_t deaths = pool_.deaths().size();
    RewritesOptions listing;
    listing.time_pass = true;
    const StatusOr<Rewrites> rewrites = pool_.ListRewrites({program.id, {}}, pass, listing);
    const std::string where = name.substr(name.rfind('/') + 1);
    if (!rewrites) {
      row.exceptions.push_back(where + ": listing: " + rewrites.error().message.substr(0, 200));
      row.deaths += static_cast<int>(pool_.deaths().size() - deaths);
      return;
    }
    if (rewrites->sites.empty()) {
      if (plain->changed) row.exceptions.push_back(where + ": changes without sites");
      return;
    }
    ++row.with_sites;
    row.separable += rewrites->separable;
    row.sites += static_cast<int64_t>(rewrites->sites.size());
    row.conflicts += static_cast<int64_t>(rewrites->conflicts.size());
    for (const RewriteSite& site : rewrites->sites) {
      ++row.kinds[std::string(RewriteKindName(site.kind))];
    }
    // Shorter than this the clock and the caches decide.
    if (rewrites->pass_seconds > 2e-5) {
      row.ratios.push_back(rewrites->dry_seconds / rewrites->pass_seconds);
    }
    if (rewrites->sites.size() > 500 && rewrites->list_seconds > 0) {
      most_per_second_ =
          std::max(most_per_second_,
                   static_cast<double>(rewrites->sites.size()) / rewrites->list_seconds);
    }
    const auto all = Apply(program.id, pass, Decided(Otherwise::kAccept), failure);
    if (!all || all->state != plain->state) {
      ++row.all_differs;
      row.exceptions.push_back(where + ": all: " + (all ? "another program" : failure));
    }
    const auto none = Apply(program.id, pass, Decided(Otherwise::kDecline), failure);
    if (!none || none->state != program.fingerprint) {
      ++row.none_differs;
      row.exceptions.push_back(where + ": none: " + (none ? "another program" : failure));
    }
    Half(program, where, pass, *rewrites, row);
    row.deaths += static_cast<int>(pool_.deaths().size() - deaths);
  }

  // A random half of the listed sites, by place.
  void Half(const ProgramInfo& program, const std::string& where, PassId pass,
            const Rewrites& rewrites, Row& row) {
    Decisions decisions;
    decisions.otherwise = Otherwise::kDecline;
    for (const RewriteSite& site : rewrites.sites) {
      if (rng_.Below(2) == 0) decisions.choices.push_back({site.place, true});
    }
    std::sort(decisions.choices.begin(), decisions.choices.end(),
              [](const SiteChoice& a, const SiteChoice& b) { return a.key < b.key; });
    const auto choice = std::make_shared<const Decisions>(decisions);
    std::string failure;
    const auto half = Apply(program.id, pass, choice, failure);
    ++row.halves;
    if (!half) {
      ++row.halves_fail;
      row.exceptions.push_back(where + ": half: " + failure.substr(0, 200));
      return;
    }
    if (!half->changed || ++changed_halves_ % options_.compare_every != 0) return;
    CompareOptions compare;
    compare.inputs = 1;
    compare.budget_seconds = options_.compare_budget;
    const auto report =
        pool_.Compare({program.id, {}}, {program.id, {{pass, half->state, choice}}}, compare);
    if (!report || report->verdict == Verdict::kCannotTell) {
      ++row.halves_unknown;
    } else if (report->verdict == Verdict::kEqual) {
      ++row.halves_equal;
    } else {
      ++row.halves_different;
      row.exceptions.push_back(where + ": half differs: " + report->reason.substr(0, 200));
    }
  }

  Pool& pool_;
  const Options& options_;
  Rng rng_{options_.seed};
  std::map<PassId, Row> rows_;
  int programs_ = 0;
  size_t changed_halves_ = 0;
  double most_per_second_ = 0;
};

int Run(const Options& options) {
  signal(SIGINT, [](int) { interrupted = true; });
  PoolOptions pool_options;
  pool_options.pass_deadline_seconds = options.deadline;
  pool_options.stop = &interrupted;
  const auto pool = Pool::Start(pool_options);
  if (!pool) {
    fmt::print(stderr, "hone-bench: {}\n", pool.error().message);
    return 2;
  }
  Coverage coverage(**pool, options);
  const Clock::time_point start = Clock::now();
  const std::vector<ProgramSource> programs = ReadPrograms(options.programs);
  for (size_t i = 0; i < programs.size() && !interrupted; ++i) {
    fmt::print(stderr, "{:.0f} s, program {} of {}: {}\n", Since(start), i + 1, programs.size(),
               programs[i].name);
    coverage.Run(programs[i]);
  }
  const nlohmann::json result = coverage.Result();
  if (options.json) {
    fmt::print("{}\n", result.dump(1));
    return interrupted ? 130 : 0;
  }
  fmt::print("{:44} {:>5} {:>7} {:>9} {:>5} {:>5} {:>5} {:>11} {:>6}\n", "PASS", "WITH", "SITES",
             "CONFLICTS", "ALL!=", "NONE!=", "FAIL", "HALVES =/!=", "DRY");
  for (const auto& row : result["by_pass"]) {
    fmt::print("{:44} {:>5} {:>7} {:>9} {:>5} {:>5} {:>5} {:>11} {:>6.2f}\n",
               row["pass"].get<std::string>(), row["with_sites"].get<int>(),
               row["sites"].get<int64_t>(), row["conflicts"].get<int64_t>(),
               row["all_differs"].get<int>(), row["none_differs"].get<int>(),
               row["halves_fail"].get<int>(),
               fmt::format("{}/{}", row["halves_equal"].get<int>(),
                           row["halves_different"].get<int>()),
               row["dry_run_by_pass"].get<double>());
  }
  nlohmann::json sums = result;
  sums.erase("by_pass");
  fmt::print("{}\n", sums.dump(1));
  return interrupted ? 130 : 0;
}

}  // namespace

void AddRewritesBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "rewrites", "every pass on every program, rewrite by rewrite: coverage, identity, cost");
  command->add_option("--programs", options->programs, "file or folder")->required();
  command->add_option("--pass", options->pass, "only this one");
  command->add_option("--compare-every", options->compare_every,
                      "of the halves that change something, one in so many is run and compared")
      ->capture_default_str();
  command->add_option("--compare-budget", options->compare_budget, "seconds")
      ->capture_default_str();
  command->add_option("--deadline", options->deadline, "of a pass, in seconds")
      ->capture_default_str();
  command->add_option("--most-instructions", options->most_instructions, "larger programs are left out")
      ->capture_default_str();
  command->add_option("--seed", options->seed)->capture_default_str();
  command->add_flag("--json", options->json);
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace hone::bench
