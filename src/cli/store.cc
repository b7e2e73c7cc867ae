// hone store: what tuning, searches for orders of passes and memory planning have found out.
#include "jobs/store.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>

#include "cli/actions.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/write_file.h"

namespace hone::cli {
namespace {

struct StoreFlags {
  std::string store;
  std::string other;    // the file to export to or to import
  std::string program;  // how its fingerprint begins
  std::string with;     // the policy of before
  double older_than = 0;
  bool json = false;
};

std::string CostText(double cost) {
  return cost < 1 ? fmt::format("{:.4g}", cost) : Grouped(static_cast<int64_t>(cost));
}

// An order's objective and passes, which nothing else says; of a memory plan its machine does.
std::string What(const store::Answer& answer) {
  return answer.kind == "memory" ? "bytes on " + answer.machine : answer.question;
}

std::string Table(const jobs::StoreList& list) {
  std::string text = fmt::format("{:10} {:>8} {:>16} {:>6} {:>8}  {}\n", "PROGRAM", "SPEEDUP",
                                 "95 %", "KEPT", "MEASURED", "FILE");
  for (const store::ListedOutcome& row : list.outcomes) {
    text += fmt::format("{:10} {:>8.3f} {:>16} {:>6} {:>8}  {}\n",
                        row.program.program.substr(0, 10), row.outcome.speedup,
                        fmt::format("[{:.3f}, {:.3f}]", row.outcome.low, row.outcome.high),
                        row.outcome.kept ? "tuned" : "stock", row.measurements, row.program.file);
  }
  if (list.answers.empty()) return text;
  if (list.outcomes.empty()) text.clear();
  text += fmt::format("{:10} {:>6} {:>14} {:>8}  {:24}  {}\n", "PROGRAM", "KIND", "COST",
                      "VERIFIED", "OF", "FILE");
  for (const store::ListedAnswer& row : list.answers) {
    text += fmt::format("{:10} {:>6} {:>14} {:>8}  {:24}  {}\n", row.program.program.substr(0, 10),
                        row.answer.kind, CostText(row.answer.cost), row.answer.verified,
                        Printable(What(row.answer)), row.program.file);
  }
  return text;
}

std::string Details(const jobs::StoreList& list) {
  std::string text;
  for (size_t i = 0; i < list.outcomes.size(); ++i) {
    const store::ListedOutcome& row = list.outcomes[i];
    text += fmt::format("{}  {}\non {} with {}\n{}: {:.3f} times as fast [{:.3f}, {:.3f}]{}\n{}",
                        row.program.program, row.program.file, row.machine, row.xla,
                        row.outcome.kept ? "tuned" : "stock", row.outcome.speedup, row.outcome.low,
                        row.outcome.high,
                        row.outcome.reason.empty() ? "" : ", " + Printable(row.outcome.reason),
                        list.plans[i]);
  }
  for (const store::ListedAnswer& row : list.answers) {
    text +=
        fmt::format("{}  {}\non {} with {}\n{}: {} {}, verified: {}\n", row.program.program,
                    row.program.file, row.answer.machine, row.answer.xla, row.answer.kind,
                    CostText(row.answer.cost), Printable(What(row.answer)), row.answer.verified);
    // A plan is had by `hone memory --store`: it has thousands of lines.
    if (row.answer.kind == "order") text += row.answer.text;
  }
  return text;
}

int List(const StoreFlags& flags) {
  const auto list = jobs::ListStore(flags.store);
  if (!list) return Fail(list.error(), flags.json);
  return flags.json ? Finish(ToJson(*list, /*texts=*/false), kFine) : Finish(Table(*list), kFine);
}

int Show(const StoreFlags& flags) {
  const auto list = jobs::ShowStore(flags.store, flags.program);
  if (!list) return Fail(list.error(), flags.json);
  return flags.json ? Finish(ToJson(*list, /*texts=*/true), kFine) : Finish(Details(*list), kFine);
}

int Export(const StoreFlags& flags) {
  const auto lines = jobs::ExportStore(flags.store);
  if (!lines) return Fail(lines.error(), flags.json);
  if (flags.other.empty()) return Finish(*lines, kFine);
  const auto wrote = jobs::WriteIfNamed(flags.other, *lines);
  return wrote ? int{kFine} : Fail(wrote.error(), flags.json);
}

int Import(const StoreFlags& flags) {
  const auto rows = jobs::ImportIntoStore(flags.store, flags.other);
  if (!rows) return Fail(rows.error(), flags.json);
  if (flags.json) return Finish(Json{{"rows", *rows}}, kFine);
  return Finish(fmt::format("{} rows read\n", Grouped(*rows)), kFine);
}

int Prune(const StoreFlags& flags) {
  const auto gone = jobs::PruneStore(flags.store, flags.older_than);
  if (!gone) return Fail(gone.error(), flags.json);
  if (flags.json) return Finish(Json{{"measurements", *gone}}, kFine);
  return Finish(fmt::format("{} measurements forgotten\n", Grouped(*gone)), kFine);
}

int Learn(const StoreFlags& flags) {
  const auto learnt = jobs::LearnFromStore(flags.store, flags.other, flags.with);
  if (!learnt) return Fail(learnt.error(), flags.json);
  if (flags.json) return Finish(ToJson(*learnt, flags.other), kFine);
  const tune::ChangePolicyQuality& quality = learnt->quality;
  std::string text =
      fmt::format("learnt from {} changes in {} programs, {} of them different; written to {}\n",
                  Grouped(static_cast<int64_t>(learnt->examples)), learnt->programs,
                  learnt->changes, flags.other);
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

}  // namespace

Run AddStore(CLI::App& app) {
  Actions actions(app);
  const auto add = [&](const char* name, const char* meaning, const char* examples,
                       int (*run)(const StoreFlags&), void (*add_more)(CLI::App&, StoreFlags&)) {
    actions.Add(name, meaning, examples, [=](CLI::App& action) -> Run {
      const auto flags = std::make_shared<StoreFlags>();
      AddWord(action, "STORE", flags->store, "what --store of tune, optimize or memory wrote");
      add_more(action, *flags);
      action.add_flag("--json", flags->json, "print JSON");
      return [=] { return run(*flags); };
    });
  };
  add("ls", "the programs, and what came of tuning, optimising or planning them",
      "  hone store ls tuned.db\n", List, [](CLI::App&, StoreFlags&) {});
  add("show", "a program's outcomes, with plan or recipe", "  hone store show tuned.db 3fa9\n",
      Show, [](CLI::App& show, StoreFlags& flags) {
        AddWord(show, "PROGRAM", flags.program, "how its fingerprint begins");
      });
  add("export", "all rows as lines of JSON", "  hone store export tuned.db -o rows.jsonl\n", Export,
      [](CLI::App& action, StoreFlags& flags) {
        action.add_option("-o,--output", flags.other, "write them here, not to stdout")
            ->type_name("OUT");
      });
  add("import", "add rows that were exported; better ones replace worse",
      "  hone store import tuned.db rows.jsonl\n", Import, [](CLI::App& action, StoreFlags& flags) {
        AddWord(action, "LINES", flags.other, "what `hone store export` wrote");
      });
  add("prune", "forget old measurements; what came of them stays",
      "  hone store prune tuned.db --older-than 720h\n", Prune,
      [](CLI::App& action, StoreFlags& flags) {
        AddDuration(action, "--older-than", flags.older_than, "how old (all of them)");
      });
  add("learn", "a policy for `hone tune`: what to try first, by what gained in these programs",
      "  hone store learn tuned.db -o changes.json\n"
      "  hone store learn tuned.db --with changes.json -o more.json\n",
      Learn, [](CLI::App& action, StoreFlags& flags) {
        action.add_option("--with", flags.with, "what this policy knows counts as well")
            ->type_name("FILE");
        action.add_option("-o,--output", flags.other, "write the policy here")
            ->required()
            ->type_name("FILE");
      });
  return actions.Chosen();
}

}  // namespace hone::cli
