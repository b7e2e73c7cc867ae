// hone-bench blame: decisions that are known to do harm are put among others that do none, and
// `hone blame` is to name them, and nobody else.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench.h"
#include "blame/blame.h"
#include "core/rng.h"
#include "tune/plan.h"

namespace hone::bench {
namespace {

using blame::DifferenceKind;
using blame::Shows;
using tune::TunePlan;
using Json = nlohmann::ordered_json;

constexpr double kHarm = 1.2;       // times the time that a planted decision takes at least
constexpr double kHarmless = 1.03;  // that the others together take at most
constexpr size_t kMostDraws = 30;   // of a program, to find a harmful decision
constexpr double kDrawSeconds = 0.3;
constexpr size_t kOthers = 12;  // decisions around a planted one, at most
constexpr const char* kRightPasses[] = {"algsimp", "cse", "dce", "reshape-mover",
                                        "zero_sized_hlo_elimination"};

struct Options {
  std::string programs = HONE_DATA;
  std::string rules = HONE_BENCH "/blame/wrong.rules";
  std::string out;
  int slow = 15;
  int wrong = 15;
  int none = 6;
  int64_t most_instructions = 1500;
  double budget = 300;
  uint64_t seed = 1;
};

// A decision of a plan, of whichever kind.
struct Decided {
  DifferenceKind kind = DifferenceKind::kChoice;
  std::string what;  // for people
  std::string name, value;
  SiteKey key = 0;
};

void Add(const Decided& decided, TunePlan& plan) {
  if (decided.kind == DifferenceKind::kPass) {
    plan.passes.push_back({decided.name, {}});
  } else if (decided.kind == DifferenceKind::kChoice) {
    plan.compile.choices.push_back({decided.key, decided.value});
  } else {
    plan.compile.flags.emplace_back(decided.name, decided.value);
  }
  Sort(plan.compile);
}

TunePlan PlanOf(const std::vector<Decided>& all) {
  TunePlan plan;
  for (const Decided& one : all) Add(one, plan);
  return plan;
}

// A case, and what came of it.
struct Row {
  std::string program, question, planted, kind;
  size_t others = 0;
  bool named = false;
  int accused_wrongly = 0;
  std::string reason;
  Json causes = Json::array();
  double harm = 0;     // times the time, of a slow one
  size_t reduced = 0;  // instructions; 0 where there is no small program
  double seconds = 0;
};

class Bench {
 public:
  Bench(const Options& options, Pool& pool) : options_(options), pool_(pool), rng_(options.seed) {}

  int Run() {
    for (const ProgramSource& source : ReadPrograms(options_.programs)) {
      const StatusOr<ProgramInfo> program = pool_.Load(source.data);
      if (!program || program->elided_constants ||
          program->metrics.op_count > options_.most_instructions) {
        continue;
      }
      programs_.push_back({source.name, *program});
    }
    if (programs_.empty()) return Stop("no program to plant anything in");
    Plant("slower", options_.slow, [this](size_t i) { return Slow(i); });
    Plant("different", options_.wrong, [this](size_t i) { return Wrong(i); });
    Plant("none", options_.none, [this](size_t i) { return None(i); });
    return Summary();
  }

 private:
  struct Program {
    std::string name;
    ProgramInfo info;
  };

  static int Stop(const std::string& why) {
    fmt::print(stderr, "hone-bench: {}\n", why);
    return 2;
  }

  // Programs in turn, until there are so many cases; two rounds without one are the end.
  template <class Make>
  void Plant(const char* what, int count, Make make) {
    size_t without = 0;
    for (size_t turn = 0; count > 0 && without < 2 * programs_.size(); ++turn) {
      std::optional<Row> row = make(turn % programs_.size());
      if (!row) {
        ++without;
        continue;
      }
      without = 0;
      --count;
      row->program = programs_[turn % programs_.size()].name;
      Tell(*row, what);
      rows_.push_back(*std::move(row));
    }
  }

  blame::Laboratory MakeLaboratory() const {
    blame::LaboratoryOptions options;
    options.seed = options_.seed;
    return {pool_, options};
  }

  // Everything that can be decided at one place of the pipeline, or by one flag, in random order,
  // the kinds in turn.
  std::vector<Decided> Candidates(const ProgramInfo& program) {
    CompileOptions compiling;
    const auto compiled = pool_.Compile({program.id, {}}, {}, compiling);
    if (!compiled) return {};
    std::map<std::string, std::vector<Decided>> kinds;
    for (const CompileSite& site : compiled->sites) {
      const std::string kind(CompileSiteKindName(site.kind));
      for (size_t i = 0; i < site.choices.size(); ++i) {
        if (i == site.stock) continue;
        const std::string what =
            fmt::format("{} of {}: {}", kind, site.instruction, site.choices[i]);
        kinds[kind].push_back(
            {DifferenceKind::kChoice, what, KeyText(site.key), site.choices[i], site.key});
      }
    }
    for (const FlagChoices& flag : compiled->flag_choices) {
      const std::string kind = IsWithoutPass(flag.name) ? "without" : "flag";
      for (size_t i = 1; i < flag.values.size(); ++i) {
        const std::string what = fmt::format("{}={}", flag.name, flag.values[i]);
        kinds[kind].push_back({DifferenceKind::kFlag, what, flag.name, flag.values[i], 0});
      }
    }
    for (const PassInfo& pass : pool_.passes()) {
      if (pass.name.rfind("implement:", 0) != 0) continue;
      kinds["pass"].push_back({DifferenceKind::kPass, pass.name, pass.name, "run", 0});
    }
    for (auto& [kind, list] : kinds) Shuffle(list);
    std::vector<Decided> all;
    for (size_t i = 0, added = 1; added > 0; ++i) {
      added = 0;
      for (const auto& [kind, list] : kinds) {
        if (i >= list.size()) continue;
        all.push_back(list[i]);
        ++added;
      }
    }
    return all;
  }

  template <class T>
  void Shuffle(std::vector<T>& list) {
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[rng_.Below(i)]);
  }

  // One decision for a name: a site or flag takes one value.
  static bool Has(const std::vector<Decided>& list, const Decided& one) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Decided& other) { return other.name == one.name; });
  }

  // Of the candidates those that together do no harm, by a race.
  std::vector<Decided> Harmless(const ProgramInfo& program, std::vector<Decided> candidates,
                                const Decided* planted) {
    Shuffle(candidates);
    std::vector<Decided> others;
    for (const Decided& one : candidates) {
      if (others.size() < kOthers && !Has(others, one) &&
          (planted == nullptr || one.name != planted->name)) {
        others.push_back(one);
      }
    }
    blame::Laboratory laboratory = MakeLaboratory();
    while (!others.empty()) {
      const auto slower = laboratory.Slower(program.id, {}, PlanOf(others), kHarmless, 2);
      const auto different = laboratory.Different(program.id, {}, PlanOf(others), 20);
      if (slower.shows == Shows::kNo && different.shows == Shows::kNo) break;
      others.resize(others.size() / 2);
    }
    return others;
  }

  std::optional<Row> Slow(size_t index) {
    const ProgramInfo& program = programs_[index].info;
    const std::vector<Decided> candidates = Candidates(program);
    // What has been planted least goes first.
    std::vector<Decided> drawn = candidates;
    std::stable_sort(drawn.begin(), drawn.end(), [this](const Decided& a, const Decided& b) {
      return planted_[KindOf(a)] < planted_[KindOf(b)];
    });
    // And half of them as they come, for what is left may be harmless everywhere.
    if (drawn.size() > kMostDraws / 2) drawn.resize(kMostDraws / 2);
    drawn.insert(drawn.end(), candidates.begin(),
                 candidates.begin() +
                     static_cast<std::ptrdiff_t>(std::min(kMostDraws / 2, candidates.size())));
    blame::Laboratory laboratory = MakeLaboratory();
    for (const Decided& one : drawn) {
      if (used_.count({index, one.name}) > 0) continue;
      const auto alone = laboratory.Slower(program.id, {}, PlanOf({one}), kHarm, kDrawSeconds);
      if (alone.shows != Shows::kYes) continue;
      std::vector<Decided> all = Harmless(program, candidates, &one);
      const TunePlan without = PlanOf(all);
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(rng_.Below(all.size() + 1)), one);
      // The others must not hide it.
      laboratory.Restart();
      const auto among = laboratory.Slower(program.id, without, PlanOf(all), kHarm, 2);
      const auto whole = laboratory.Slower(program.id, {}, PlanOf(all), kHarm, 2);
      if (among.shows != Shows::kYes || whole.shows != Shows::kYes) continue;
      ++planted_[KindOf(one)];
      used_.insert({index, one.name});
      Row row = Blame(program, "slower", PlanOf(all), &one);
      row.harm = alone.ratio;
      row.others = all.size() - 1;
      return row;
    }
    return std::nullopt;
  }

  static std::string KindOf(const Decided& one) {
    if (one.kind == DifferenceKind::kChoice) return one.what.substr(0, one.what.find(' '));
    return IsWithoutPass(one.name)             ? "without"
           : one.kind == DifferenceKind::kFlag ? "flag"
                                               : "pass";
  }
  std::optional<Row> Wrong(size_t index) {
    const ProgramInfo& program = programs_[index].info;
    std::vector<std::string> rules;
    for (const PassInfo& pass : pool_.passes()) {
      if (pass.name.rfind("rule:wrong_", 0) == 0) rules.push_back(pass.name);
    }
    Shuffle(rules);
    blame::Laboratory laboratory = MakeLaboratory();
    for (const std::string& rule : rules) {
      if (!used_.insert({index, rule}).second) continue;
      const Decided one{DifferenceKind::kPass, rule, rule, "run", 0};
      if (laboratory.Different(program.id, {}, PlanOf({one}), 30).shows != Shows::kYes) continue;
      std::vector<Decided> all;
      for (const char* pass : kRightPasses)
        all.push_back({DifferenceKind::kPass, pass, pass, "run", 0});
      for (const Decided& other : Harmless(program, Candidates(program), &one)) {
        if (other.kind != DifferenceKind::kPass) all.push_back(other);
      }
      const TunePlan without = PlanOf(all);
      if (laboratory.Different(program.id, {}, without, 30).shows != Shows::kNo) continue;
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(rng_.Below(6)), one);
      if (laboratory.Different(program.id, without, PlanOf(all), 30).shows != Shows::kYes) continue;
      Row row = Blame(program, "different", PlanOf(all), &one);
      row.others = all.size() - 1;
      return row;
    }
    return std::nullopt;
  }

  std::optional<Row> None(size_t index) {
    const ProgramInfo& program = programs_[index].info;
    const std::vector<Decided> all = Harmless(program, Candidates(program), nullptr);
    if (all.empty()) return std::nullopt;
    Row row = Blame(program, "both", PlanOf(all), nullptr);
    row.others = all.size();
    return row;
  }

  Row Blame(const ProgramInfo& program, const std::string& question, const TunePlan& plan,
            const Decided* planted) {
    Row row;
    row.question = question;
    if (planted != nullptr) {
      row.planted = planted->what;
      row.kind = KindOf(*planted);
    }
    blame::BlameOptions asking;
    asking.b = plan;
    asking.slower = question != "different";
    asking.different = question != "slower";
    asking.budget_seconds = options_.budget;
    asking.seed = options_.seed;
    const auto started = Clock::now();
    const auto result = blame::Blame(pool_, program, asking);
    row.seconds = Since(started);
    if (!result) {
      row.reason = result.error().message;
      return row;
    }
    for (const blame::Answer& answer : result->answers) {
      if (!answer.reason.empty()) row.reason = answer.reason;
      for (const blame::Cause& cause : answer.causes) {
        Json names = Json::array();
        bool only = true;
        for (const blame::Decision& decision : cause.decisions) {
          names.push_back(blame::Describe(decision));
          only = only && planted != nullptr && decision.difference.kind == planted->kind &&
                 decision.difference.name == planted->name;
        }
        row.causes.push_back(std::move(names));
        if (!only) {
          ++row.accused_wrongly;
          continue;
        }
        row.named = true;
        if (cause.reduced) row.reduced = cause.reduced->instructions;
      }
    }
    return row;
  }

  void Tell(const Row& row, const char* what) {
    const Json json{{"case", rows_.size()},   {"set", what},
                    {"program", row.program}, {"question", row.question},
                    {"planted", row.planted}, {"kind", row.kind},
                    {"others", row.others},   {"harm", row.harm},
                    {"named", row.named},     {"accused_wrongly", row.accused_wrongly},
                    {"causes", row.causes},   {"reduced_instructions", row.reduced},
                    {"reason", row.reason},   {"seconds", row.seconds}};
    const std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    fmt::print("{}", line);
    std::fflush(stdout);
    if (!options_.out.empty()) std::ofstream(options_.out, std::ios::app) << line;
  }

  int Summary() const {
    int planted = 0, named = 0, wrongly = 0, small = 0, none = 0;
    double longest = 0;
    for (const Row& row : rows_) {
      wrongly += row.accused_wrongly;
      longest = std::max(longest, row.seconds);
      if (row.planted.empty()) {
        ++none;
        continue;
      }
      ++planted;
      named += row.named;
      small += row.reduced > 0 && row.reduced <= 30;
    }
    fmt::print("{}\n", Json{{"planted", planted},
                            {"named", named},
                            {"accused_wrongly", wrongly},
                            {"small_programs", small},
                            {"nothing_planted", none},
                            {"longest_seconds", longest}}
                           .dump());
    return wrongly == 0 ? 0 : 1;
  }

  const Options& options_;
  Pool& pool_;
  Rng rng_;
  std::vector<Program> programs_;
  std::map<std::string, int> planted_;             // by kind
  std::set<std::pair<size_t, std::string>> used_;  // planted, by program
  std::vector<Row> rows_;
};

}  // namespace

void AddBlameBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("blame", "planted slowdowns and wrong values, for hone blame to name");
  command->add_option("--programs", options->programs, "a file or folder")->capture_default_str();
  command->add_option("--rules", options->rules, "rules that are wrong on purpose")
      ->capture_default_str();
  command->add_option("--out", options->out, "also append the rows to this file");
  command->add_option("--slow", options->slow, "slowdowns to plant")->capture_default_str();
  command->add_option("--wrong", options->wrong, "wrong values to plant")->capture_default_str();
  command->add_option("--none", options->none, "cases in which nothing is planted")
      ->capture_default_str();
  command->add_option("--most-instructions", options->most_instructions, "of a program")
      ->capture_default_str();
  command->add_option("--budget", options->budget, "seconds a case")->capture_default_str();
  command->add_option("--seed", options->seed, "of what is drawn")->capture_default_str();
  command->callback([options, &exit_code] {
    PoolOptions starting;
    starting.rule_files = {options->rules};
    const auto pool = Pool::Start(starting);
    if (!pool) {
      fmt::print(stderr, "hone-bench: {}\n", pool.error().message);
      exit_code = 2;
      return;
    }
    exit_code = Bench(*options, **pool).Run();
  });
}

}  // namespace hone::bench
