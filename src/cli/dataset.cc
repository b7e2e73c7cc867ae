// hone dataset: folders of programs as data sets.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "dataset/index.h"
#include "jobs/index_dataset.h"
#include "jobs/list_dataset.h"
#include "jobs/split_dataset.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct IndexFlags {
  CommonOptions common;
  std::string folder;
  double threshold = dataset::kNearDuplicate;
};

std::string IndexText(const std::string& path, const jobs::UpdatedIndex& outcome) {
  const auto groups = jobs::GroupMembers(outcome.index);
  size_t several = 0;
  size_t largest = 0;
  for (const auto& [group, files] : groups) {
    several += files.size() > 1;
    largest = std::max(largest, files.size());
  }
  return fmt::format(
      "{}: {} programs, {} of them new, in {} groups; {} groups hold near-duplicates, the largest "
      "{}\n",
      path, outcome.index.rows.size(), outcome.added.size(), groups.size(), several, largest);
}

int RunIndex(const IndexFlags& flags) {
  const std::string& folder = flags.folder;
  CommandEvents events(flags.common);
  const auto updated = jobs::IndexFolder(
      folder, flags.threshold, flags.common, events, [&](const FileError& failure) {
        (void)Fail({failure.error.code, "left out of the index: " + failure.error.message},
                   (fs::path(folder) / failure.file).string(), false);
      });
  if (!updated) return Fail(updated.error(), flags.common.json);
  const int code = updated->failures.empty() ? kFine : kSomeFailed;
  return flags.common.json ? Finish(ToJson(*updated, folder, flags.threshold), code)
                           : Finish(IndexText(dataset::IndexPath(folder), *updated), code);
}

Run AddIndex(CLI::App& app) {
  auto flags = std::make_shared<IndexFlags>();
  AddWord(app, "FOLDER", flags->folder, "a folder of programs");
  app.add_option("--threshold", flags->threshold,
                 fmt::format("programs at least as similar are near-duplicates, a group ({:g})",
                             flags->threshold))
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("0..1");
  flags->common.workers = ManyWorkers();
  AddCommonOptions(app, flags->common);
  return [flags] { return RunIndex(*flags); };
}

struct CheckIndexFlags {
  CommonOptions common;
  std::string folder;
};

int RunCheckIndex(const CheckIndexFlags& flags) {
  CommandEvents events(flags.common);
  const auto checked = jobs::CheckIndex(flags.folder, flags.common, events);
  if (!checked) return Fail(checked.error(), flags.common.json);
  for (const jobs::IndexFinding& finding : checked->findings) {
    (void)Fail({ErrorCode::kInvalidInput, finding.message},
               (fs::path(flags.folder) / finding.file).string(), false);
  }
  const size_t findings = checked->findings.size();
  const int code = findings == 0 ? kFine : kSomeFailed;
  if (flags.common.json) return Finish(ToJson(*checked, flags.folder), code);
  return Finish(
      fmt::format("{}: {} programs, {}\n", dataset::IndexPath(flags.folder), checked->programs,
                  findings == 0 ? "all as it says" : fmt::format("findings: {}", findings)),
      code);
}

Run AddCheckIndex(CLI::App& app) {
  auto flags = std::make_shared<CheckIndexFlags>();
  AddWord(app, "FOLDER", flags->folder, "a folder with an index.tsv");
  flags->common.workers = ManyWorkers();
  AddCommonOptions(app, flags->common);
  return [flags] { return RunCheckIndex(*flags); };
}

struct ListFlags {
  jobs::ListOptions job;
  bool json = false;
};

std::string ListTable(const std::vector<dataset::Program>& programs) {
  const size_t uri = WidthOf("URI", programs, &dataset::Program::uri);
  const size_t family =
      WidthOf("FAMILY", programs, [](const dataset::Program& one) { return one.row.family; });
  std::string text = fmt::format("{:{}}  {:{}}  {:5}  {:>12}  {}\n", "URI", uri, "FAMILY", family,
                                 "PHASE", "INSTRUCTIONS", "SPLIT");
  for (const dataset::Program& one : programs) {
    text += fmt::format("{:{}}  {:{}}  {:5}  {:>12}  {}\n", one.uri, uri, one.row.family, family,
                        one.row.phase, Grouped(one.row.instructions),
                        one.row.split.empty() ? "-" : one.row.split);
  }
  return text + fmt::format("{} programs\n", programs.size());
}

int RunList(const ListFlags& flags) {
  const auto programs = jobs::ListPrograms(flags.job);
  if (!programs) return Fail(programs.error(), flags.json);
  return flags.json ? Finish(jobs::ToJson(*programs), kFine) : Finish(ListTable(*programs), kFine);
}

Run AddList(CLI::App& app) {
  auto options = std::make_shared<ListFlags>();
  app.add_option("WHAT", options->job.what,
                 "a folder, or what URIs begin with; without it all data sets")
      ->type_name("");
  app.add_option("--family", options->job.family, "only this family")->type_name("FAMILY");
  app.add_option("--phase", options->job.phase, "only this phase")
      ->check(CLI::IsMember(dataset::Phases()));
  app.add_option("--split", options->job.split, "only this split")
      ->check(CLI::IsMember(dataset::Splits()));
  AddDatasetsOption(app, options->job.datasets);
  app.add_flag("--json", options->json, "print JSON, for programs");
  return [options] { return RunList(*options); };
}

struct SplitFlags {
  jobs::SplitOptions job;
  bool json = false;
};

int RunSplit(const SplitFlags& flags) {
  CommandEvents events(false);
  const auto split = jobs::SplitDataset(flags.job, events);
  if (!split) return Fail(split.error(), flags.json);
  if (flags.json) return Finish(ToJson(*split, flags.job), kFine);
  std::string text = fmt::format("{:10}  {:>8}  {:>6}  {:>8}  {:>5}\n", "SPLIT", "FRACTION",
                                 flags.job.by == "hash" ? "GROUPS" : "UNITS", "PROGRAMS", "SHARE");
  const auto programs = static_cast<double>(std::max<size_t>(split->programs, 1));
  for (const jobs::SplitShare& share : split->shares) {
    text +=
        fmt::format("{:10}  {:>8g}  {:>6}  {:>8}  {:>5.2f}\n", share.split, share.fraction,
                    share.units, share.programs, static_cast<double>(share.programs) / programs);
  }
  return Finish(text, kFine);
}

Run AddSplit(CLI::App& app) {
  auto flags = std::make_shared<SplitFlags>();
  AddWord(app, "FOLDER", flags->job.folder, "a folder with an index.tsv");
  app.add_option("--by", flags->job.by,
                 "what stays together: groups of near-duplicates, or whole families too")
      ->check(CLI::IsMember({"hash", "family"}))
      ->capture_default_str();
  app.add_option("--fractions", flags->job.fractions, "for train, validation and test")
      ->type_name("A,B,C")
      ->capture_default_str();
  app.add_option("--seed", flags->job.seed, "another seed is another split")->capture_default_str();
  app.add_flag("--json", flags->json, "print JSON, for programs");
  return [flags] { return RunSplit(*flags); };
}

}  // namespace

Run AddDataset(CLI::App& app) {
  Actions actions(app);
  actions.Add("index", "write a folder's index.tsv, or bring it up to date",
              "  hone dataset index programs/\n"
              "  hone dataset index programs/ --threshold 0.8 --workers 4\n",
              AddIndex);
  actions.Add("split", "assign programs to train, validation and test, near-duplicates together",
              "  hone dataset split programs/\n"
              "  hone dataset split programs/ --by family --fractions 0.8,0,0.2 --seed 7\n",
              AddSplit);
  actions.Add("list", "programs, by URI",
              "  hone dataset list\n"
              "  hone dataset list models/gpt2\n"
              "  hone dataset list programs/ --phase train --split test --json\n",
              AddList);
  actions.Add("check", "does index.tsv agree with the programs? 0 yes, 3 no",
              "  hone dataset check programs/\n"
              "  hone dataset check programs/ --json\n",
              AddCheckIndex);
  return actions.Chosen();
}

}  // namespace hone::cli
