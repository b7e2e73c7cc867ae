// hone dataset: folders of programs as data sets. Here are its actions `list` and `split`, which
// read and write index.tsv alone; those that ask XLA have files of their own.
#include "cli/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/actions.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "dataset/index.h"
#include "dataset/split.h"
#include "jobs/list_dataset.h"

namespace hone::cli {
namespace {

struct ListFlags {
  jobs::ListOptions job;
  bool json = false;
};

std::string ListTable(const std::vector<dataset::Program>& programs) {
  size_t uri = 3;
  size_t family = 6;
  for (const dataset::Program& one : programs) {
    uri = std::max(uri, one.uri.size());
    family = std::max(family, one.row.family.size());
  }
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
  if (!flags.json) return Finish(ListTable(*programs), kFine);
  Json json{{"programs", Json::array()}};
  for (const dataset::Program& one : *programs) json["programs"].push_back(jobs::ToJson(one));
  return Finish(json, kFine);
}

Run AddDatasetList(CLI::App& app) {
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
  std::string folder;
  std::string by = "hash";
  std::string fractions = "0.7,0.15,0.15";
  uint64_t seed = 0;
  bool json = false;
};

struct Count {
  size_t units = 0;
  size_t programs = 0;
};

int RunSplit(const SplitFlags& flags) {
  const auto fractions = jobs::ParseFractions(flags.fractions);
  if (!fractions) return Fail(fractions.error(), flags.json);
  const std::string path = dataset::IndexPath(flags.folder);
  StatusOr<dataset::Index> index = dataset::ReadIndex(flags.folder);
  if (!index) return Fail(index.error(), path, flags.json);
  const auto by = flags.by == "hash" ? dataset::SplitBy::kHash : dataset::SplitBy::kFamily;
  const auto units = dataset::AssignSplits(*index, {by, *fractions, flags.seed});
  if (!units) return Fail(units.error(), path, flags.json);
  if (Status wrote = WriteFile(path, dataset::FormatIndex(*index)); !wrote) {
    return Fail(wrote.error(), path, flags.json);
  }
  std::map<std::string, Count> counts;
  for (const dataset::Unit& unit : *units) {
    ++counts[unit.split].units;
    counts[unit.split].programs += unit.programs;
  }
  Json json = {{"folder", flags.folder}, {"by", flags.by}, {"seed", flags.seed}};
  json["splits"] = Json::object();
  std::string text =
      fmt::format("{:10}  {:>8}  {:>6}  {:>8}  {:>5}\n", "SPLIT", "FRACTION",
                  by == dataset::SplitBy::kHash ? "GROUPS" : "UNITS", "PROGRAMS", "SHARE");
  for (size_t i = 0; i < dataset::Splits().size(); ++i) {
    const std::string& split = dataset::Splits()[i];
    const Count& count = counts[split];
    json["splits"][split] = {
        {"fraction", (*fractions)[i]}, {"units", count.units}, {"programs", count.programs}};
    text += fmt::format("{:10}  {:>8g}  {:>6}  {:>8}  {:>5.2f}\n", split, (*fractions)[i],
                        count.units, count.programs,
                        static_cast<double>(count.programs) /
                            static_cast<double>(std::max<size_t>(index->rows.size(), 1)));
    if (count.programs == 0 && (*fractions)[i] > 0) {
      Warn(path, fmt::format("no program is for {}: there are only {} units; another --seed may "
                             "give it some",
                             split, units->size()));
    }
  }
  return flags.json ? Finish(json, kFine) : Finish(text, kFine);
}

Run AddDatasetSplit(CLI::App& app) {
  auto flags = std::make_shared<SplitFlags>();
  app.add_option("FOLDER", flags->folder, "a folder with an index.tsv")->required()->type_name("");
  app.add_option("--by", flags->by,
                 "what stays together: groups of near-duplicates, or whole families too")
      ->check(CLI::IsMember({"hash", "family"}))
      ->capture_default_str();
  app.add_option("--fractions", flags->fractions, "for train, validation and test")
      ->type_name("A,B,C")
      ->capture_default_str();
  app.add_option("--seed", flags->seed, "another seed is another split")->capture_default_str();
  app.add_flag("--json", flags->json, "print JSON, for programs");
  return [flags] { return RunSplit(*flags); };
}

}  // namespace

Run AddDataset(CLI::App& app) {
  Actions actions(app);
  actions.Add("index", "write a folder's index.tsv, or bring it up to date",
              "  hone dataset index programs/\n"
              "  hone dataset index programs/ --threshold 0.8 --workers 4\n",
              AddDatasetIndex);
  actions.Add("split", "assign programs to train, validation and test, near-duplicates together",
              "  hone dataset split programs/\n"
              "  hone dataset split programs/ --by family --fractions 0.8,0,0.2 --seed 7\n",
              AddDatasetSplit);
  actions.Add("list", "programs, by URI",
              "  hone dataset list\n"
              "  hone dataset list models/gpt2\n"
              "  hone dataset list programs/ --phase train --split test --json\n",
              AddDatasetList);
  actions.Add("check", "does index.tsv agree with the programs? 0 yes, 3 no",
              "  hone dataset check programs/\n"
              "  hone dataset check programs/ --json\n",
              AddDatasetCheck);
  return actions.Chosen();
}

}  // namespace hone::cli
