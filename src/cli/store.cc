// hone store: what tuning, searches for orders of passes and memory planning have found out.
#include "store/store.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>

#include "cli/actions.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "tune/change_policy.h"

namespace hone::cli {
namespace {

constexpr size_t kMostImportBytes = size_t{4} << 30;

struct StoreOptions {
  std::string store;
  std::string other;    // the file to export to or to import
  std::string program;  // how its fingerprint begins
  double older_than = 0;
  bool json = false;
};

Json ToJson(const store::ListedOutcome& listed) {
  const store::Outcome& outcome = listed.outcome;
  return {{"kind", "tuning"},
          {"program", listed.program.program},
          {"name", listed.program.name},
          {"file", listed.program.file},
          {"instructions", listed.program.instructions},
          {"machine", listed.machine},
          {"xla", listed.xla},
          {"kept", outcome.kept ? "tuned" : "stock"},
          {"stock_ms", 1000 * outcome.stock_seconds},
          {"tuned_ms", 1000 * outcome.tuned_seconds},
          {"speedup", outcome.speedup},
          {"speedup_ci", {outcome.low, outcome.high}},
          {"verified", outcome.verified},
          {"reason", outcome.reason},
          {"measurements", listed.measurements}};
}

Json ToJson(const store::ListedAnswer& listed) {
  const store::Answer& answer = listed.answer;
  return {{"kind", answer.kind},
          {"program", listed.program.program},
          {"name", listed.program.name},
          {"file", listed.program.file},
          {"instructions", listed.program.instructions},
          {"machine", answer.machine},
          {"xla", answer.xla},
          {"question", answer.question},
          {"cost", answer.cost},
          {"verified", answer.verified}};
}

std::string CostText(double cost) {
  return cost < 1 ? fmt::format("{:.4g}", cost) : Grouped(static_cast<int64_t>(cost));
}

// An order's objective and passes, which nothing else says; of a memory plan its machine does.
std::string What(const store::Answer& answer) {
  return answer.kind == "memory" ? "bytes on " + answer.machine : answer.question;
}

int List(const StoreOptions& options, const store::Store& store) {
  const auto rows = store.List();
  if (!rows) return Fail(rows.error(), options.store, options.json);
  const auto answers = store.ListAnswers();
  if (!answers) return Fail(answers.error(), options.store, options.json);
  if (options.json) {
    Json json = Json::array();
    for (const store::ListedOutcome& row : *rows) json.push_back(ToJson(row));
    for (const store::ListedAnswer& row : *answers) json.push_back(ToJson(row));
    return Finish(json, kFine);
  }
  std::string text = fmt::format("{:10} {:>8} {:>16} {:>6} {:>8}  {}\n", "PROGRAM", "SPEEDUP",
                                 "95 %", "KEPT", "MEASURED", "FILE");
  for (const store::ListedOutcome& row : *rows) {
    text += fmt::format("{:10} {:>8.3f} {:>16} {:>6} {:>8}  {}\n",
                        row.program.program.substr(0, 10), row.outcome.speedup,
                        fmt::format("[{:.3f}, {:.3f}]", row.outcome.low, row.outcome.high),
                        row.outcome.kept ? "tuned" : "stock", row.measurements, row.program.file);
  }
  if (answers->empty()) return Finish(text, kFine);
  if (rows->empty()) text.clear();
  text += fmt::format("{:10} {:>6} {:>14} {:>8}  {:24}  {}\n", "PROGRAM", "KIND", "COST",
                      "VERIFIED", "OF", "FILE");
  for (const store::ListedAnswer& row : *answers) {
    text += fmt::format("{:10} {:>6} {:>14} {:>8}  {:24}  {}\n", row.program.program.substr(0, 10),
                        row.answer.kind, CostText(row.answer.cost), row.answer.verified,
                        Printable(What(row.answer)), row.program.file);
  }
  return Finish(text, kFine);
}

int Show(const StoreOptions& options, const store::Store& store) {
  const auto rows = store.List(options.program);
  if (!rows) return Fail(rows.error(), options.store, options.json);
  const auto answers = store.ListAnswers(options.program);
  if (!answers) return Fail(answers.error(), options.store, options.json);
  if (rows->empty() && answers->empty()) {
    return Fail(
        {ErrorCode::kInvalidInput, "the store has no program whose fingerprint begins with '" +
                                       options.program + "'; `hone store ls` lists them"},
        options.store, options.json);
  }
  Json json = Json::array();
  std::string text;
  for (const store::ListedOutcome& row : *rows) {
    Json one = ToJson(row);
    std::string plan;
    if (!row.outcome.plan.empty()) {
      const StatusOr<std::string> found = store.PlanText(row.outcome.plan);
      if (!found) return Fail(found.error(), options.store, options.json);
      plan = *found;
      one["plan"] = Json::parse(plan, nullptr, false);
    }
    text +=
        fmt::format("{}  {}\non {} with {}\n{}: {:.3f} times as fast [{:.3f}, {:.3f}]{}\n{}",
                    row.program.program, row.program.file, row.machine, row.xla,
                    row.outcome.kept ? "tuned" : "stock", row.outcome.speedup, row.outcome.low,
                    row.outcome.high,
                    row.outcome.reason.empty() ? "" : ", " + Printable(row.outcome.reason), plan);
    json.push_back(one);
  }
  for (const store::ListedAnswer& row : *answers) {
    Json one = ToJson(row);
    const bool order = row.answer.kind == "order";
    const Json found = Json::parse(row.answer.text, nullptr, false);
    one[order ? "recipe" : "plan"] = found;
    text +=
        fmt::format("{}  {}\non {} with {}\n{}: {} {}, verified: {}\n", row.program.program,
                    row.program.file, row.answer.machine, row.answer.xla, row.answer.kind,
                    CostText(row.answer.cost), Printable(What(row.answer)), row.answer.verified);
    // A plan is had by `hone memory --store`: it has thousands of lines.
    if (order) text += row.answer.text;
    json.push_back(one);
  }
  return options.json ? Finish(json, kFine) : Finish(text, kFine);
}

int Export(const StoreOptions& options, const store::Store& store) {
  const StatusOr<std::string> lines = store.Export();
  if (!lines) return Fail(lines.error(), options.store, options.json);
  if (options.other.empty()) return Finish(*lines, kFine);
  if (Status wrote = WriteFile(options.other, *lines); !wrote) {
    return Fail(wrote.error(), options.other, options.json);
  }
  return kFine;
}

int Import(const StoreOptions& options, store::Store& store) {
  const StatusOr<std::string> lines = ReadInput(options.other, kMostImportBytes);
  if (!lines) return Fail(lines.error(), options.other, options.json);
  const StatusOr<int64_t> rows = store.Import(*lines);
  if (!rows) return Fail(rows.error(), options.other, options.json);
  if (options.json) return Finish(Json{{"rows", *rows}}, kFine);
  return Finish(fmt::format("{} rows read\n", Grouped(*rows)), kFine);
}

int Prune(const StoreOptions& options, store::Store& store) {
  const StatusOr<int64_t> gone = store.Prune(options.older_than);
  if (!gone) return Fail(gone.error(), options.store, options.json);
  if (options.json) return Finish(Json{{"measurements", *gone}}, kFine);
  return Finish(fmt::format("{} measurements forgotten\n", Grouped(*gone)), kFine);
}

// What tuning has learnt from the programs in the store, for those that are not.
int Learn(const StoreOptions& options, const store::Store& store) {
  if (Status fine = CheckWritable(options.other); !fine) {
    return Fail(fine.error(), options.other, options.json);
  }
  const auto plans = store.MeasuredPlans();
  if (!plans) return Fail(plans.error(), options.store, options.json);
  const auto examples = tune::ChangeExamples(*plans);
  if (examples.empty()) {
    return Fail(
        {ErrorCode::kInvalidInput,
         "no two of its plans differ in one change; tune programs with `hone tune --store`"},
        options.store, options.json);
  }
  const tune::ChangePolicy policy(examples);
  if (Status wrote = WriteFile(options.other, policy.ToJson()); !wrote) {
    return Fail(wrote.error(), options.other, options.json);
  }
  std::set<std::string> programs;
  for (const tune::ChangeExample& one : examples) programs.insert(one.program);
  const tune::ChangePolicyQuality quality = tune::CrossValidate(examples);
  if (options.json) {
    return Finish(Json{{"policy", options.other},
                       {"programs", programs.size()},
                       {"examples", examples.size()},
                       {"changes", policy.known().size()},
                       {"judged", quality.programs},
                       {"first", quality.kFirst},
                       {"within_5_percent", quality.within},
                       {"by_chance", quality.by_chance}},
                  kFine);
  }
  std::string text =
      fmt::format("learnt from {} changes in {} programs, {} of them different; written to {}\n",
                  Grouped(static_cast<int64_t>(examples.size())), programs.size(),
                  policy.known().size(), options.other);
  if (quality.programs > 0) {
    text += fmt::format(
        "on {} programs, each by a policy of others, the best change that is known, within 5 %, "
        "is:\n",
        quality.programs);
    for (size_t k = 0; k < std::size(quality.kFirst); ++k) {
      text += fmt::format("among the first {}: {} (drawn at random: {})\n", quality.kFirst[k],
                          Percent(quality.within[k]), Percent(quality.by_chance[k]));
    }
  }
  return Finish(text, kFine);
}

// The store that must be there, but for an import.
template <class Do>
int With(const StoreOptions& options, bool make, Do job) {
  auto store = make ? store::Store::Open(options.store) : store::Store::OpenExisting(options.store);
  if (!store) return Fail(store.error(), options.store, options.json);
  return job(options, **store);
}

}  // namespace

Run AddStore(CLI::App& app) {
  Actions actions(app);
  const auto add = [&](const char* name, const char* meaning, const char* examples, bool make,
                       auto job, void (*add_more)(CLI::App&, StoreOptions&)) {
    actions.Add(name, meaning, examples, [=](CLI::App& action) -> Run {
      const auto options = std::make_shared<StoreOptions>();
      action.add_option("STORE", options->store, "what --store of tune, optimize or memory wrote")
          ->required()
          ->type_name("");
      add_more(action, *options);
      action.add_flag("--json", options->json, "print JSON");
      return [=] { return With(*options, make, job); };
    });
  };
  add("ls", "the programs, and what came of tuning, optimising or planning them",
      "  hone store ls tuned.db\n", false, List, [](CLI::App&, StoreOptions&) {});
  add("show", "a program's outcomes, with plan or recipe", "  hone store show tuned.db 3fa9\n",
      false, Show, [](CLI::App& show, StoreOptions& options) {
        show.add_option("PROGRAM", options.program, "how its fingerprint begins")
            ->required()
            ->type_name("");
      });
  add("export", "all rows as lines of JSON", "  hone store export tuned.db -o rows.jsonl\n", false,
      Export, [](CLI::App& action, StoreOptions& options) {
        action.add_option("-o,--output", options.other, "write them here, not to stdout")
            ->type_name("OUT");
      });
  add("import", "add rows that were exported; better ones replace worse",
      "  hone store import tuned.db rows.jsonl\n", true, Import,
      [](CLI::App& action, StoreOptions& options) {
        action.add_option("LINES", options.other, "what `hone store export` wrote")
            ->required()
            ->type_name("");
      });
  add("prune", "forget old measurements; what came of them stays",
      "  hone store prune tuned.db --older-than 720h\n", false, Prune,
      [](CLI::App& action, StoreOptions& options) {
        AddDuration(action, "--older-than", options.older_than, "how old (all of them)");
      });
  add("learn", "a policy for `hone tune`: what to try first, by what gained in these programs",
      "  hone store learn tuned.db -o changes.json\n", false, Learn,
      [](CLI::App& action, StoreOptions& options) {
        action.add_option("-o,--output", options.other, "write the policy here")
            ->required()
            ->type_name("FILE");
      });
  return actions.Chosen();
}

}  // namespace hone::cli
