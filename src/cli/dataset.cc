// hone dataset: folders of programs as data sets. Here are its actions `list` and `split`, which
// read and write index.tsv alone; those that ask XLA have files of their own.
#include "cli/dataset.h"

#include <fmt/format.h>

#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "core/nearest.h"
#include "dataset/index.h"
#include "dataset/load.h"
#include "dataset/split.h"
#include "dataset/uri.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct ListOptions {
  std::string what;  // a folder, or what URIs begin with
  std::string family;
  std::string phase;
  std::string split;
  std::vector<std::string> datasets;
  bool json = false;
};

// Where to look, and what the URIs must begin with.
struct Scope {
  std::vector<dataset::Dataset> datasets;
  std::string prefix;
};

// A folder with an index is a data set, known or not; other names are URIs or begin some.
StatusOr<Scope> ScopeOf(const ListOptions& options) {
  auto known = FindDatasets(options.datasets);
  if (!known) return tl::unexpected(known.error());
  if (options.what.empty()) return Scope{*std::move(known), ""};
  std::error_code error;
  const std::string name = options.what.substr(0, options.what.find('/'));
  std::vector<std::string> names;
  if (!fs::exists(dataset::IndexPath(options.what), error)) {
    for (const dataset::Dataset& one : *known) {
      if (one.name == name) return Scope{{one}, options.what};
      names.push_back(one.name);
    }
  }
  if (fs::is_directory(options.what, error)) {
    StatusOr<dataset::Dataset> given = dataset::DatasetOf(options.what);
    if (!given) return tl::unexpected(given.error());
    return Scope{{*std::move(given)}, ""};
  }
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("there is no such folder, and no data set '{}'{}; --datasets names "
                               "folders of programs",
                               name, DidYouMean(name, names)));
}

bool Fits(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

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

Json ToJson(const dataset::Program& one) {
  Json json = {{"uri", one.uri},
               {"file", one.path},
               {"family", one.row.family},
               {"phase", one.row.phase},
               {"config", one.row.config},
               {"instructions", nullptr},
               {"origin", one.row.origin},
               {"licence", one.row.licence},
               {"fingerprint", one.row.fingerprint},
               {"group", one.row.group},
               {"split", one.row.split}};
  if (one.row.instructions >= 0) json["instructions"] = one.row.instructions;
  for (const auto& [column, value] : one.row.extra) {
    if (!json.contains(column)) json[column] = value;
  }
  return json;
}

// "a/b/c" and the folders "a/b" and "a".
void AddPrefixes(const std::string& uri, std::vector<std::string>& names) {
  for (size_t end = uri.size(); end != uri.npos; end = uri.rfind('/', end - 1)) {
    names.push_back(uri.substr(0, end));
  }
}

int RunList(const ListOptions& options) {
  const StatusOr<Scope> scope = ScopeOf(options);
  if (!scope) return Fail(scope.error(), options.what, options.json);
  std::vector<dataset::Program> programs;
  std::vector<std::string> uris;
  bool any = scope->prefix.empty();
  for (const dataset::Dataset& one : scope->datasets) {
    StatusOr<std::vector<dataset::Program>> listed = dataset::IndexedPrograms(one);
    if (!listed) return Fail(listed.error(), dataset::IndexPath(one.folder), options.json);
    for (dataset::Program& program : *listed) {
      AddPrefixes(program.uri, uris);
      if (!program.uri.starts_with(scope->prefix)) continue;
      any = true;
      if (Fits(options.family, program.row.family) && Fits(options.phase, program.row.phase) &&
          Fits(options.split, program.row.split)) {
        programs.push_back(std::move(program));
      }
    }
  }
  if (!any) {
    return Fail({ErrorCode::kInvalidInput, fmt::format("no program's URI begins so{}; see `hone "
                                                       "dataset list`",
                                                       DidYouMean(scope->prefix, uris))},
                scope->prefix, options.json);
  }
  if (!options.json) return Finish(ListTable(programs), kFine);
  Json json;
  json["programs"] = Json::array();
  for (const dataset::Program& one : programs) json["programs"].push_back(ToJson(one));
  return Finish(json, kFine);
}

Run AddDatasetList(CLI::App& app) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("WHAT", options->what,
                 "a folder, or what URIs begin with; without it all data sets")
      ->type_name("");
  app.add_option("--family", options->family, "only this family")->type_name("FAMILY");
  app.add_option("--phase", options->phase, "only this phase")
      ->check(CLI::IsMember(dataset::Phases()));
  app.add_option("--split", options->split, "only this split")
      ->check(CLI::IsMember(dataset::Splits()));
  AddDatasetsOption(app, options->datasets);
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

StatusOr<std::array<double, 3>> ParseFractions(const std::string& text) {
  std::array<double, 3> fractions{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < fractions.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, fractions[i]);
    const bool last = i + 1 == fractions.size();
    if (error != std::errc() || (last ? stop != end : stop == end || *stop != ',')) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("--fractions: '{}' is not three numbers; give those of train, "
                                   "validation and test, such as 0.7,0.15,0.15",
                                   text));
    }
    at = stop + 1;
  }
  if (Status fine = dataset::CheckFractions(fractions); !fine) return tl::unexpected(fine.error());
  return fractions;
}

struct Count {
  size_t units = 0;
  size_t programs = 0;
};

int RunSplit(const SplitFlags& flags) {
  const auto fractions = ParseFractions(flags.fractions);
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

constexpr Command kActions[] = {
    {"index", "write a folder's index.tsv, or bring it up to date",
     "  hone dataset index programs/\n"
     "  hone dataset index programs/ --threshold 0.8 --workers 4\n",
     AddDatasetIndex},
    {"split", "assign programs to train, validation and test, near-duplicates together",
     "  hone dataset split programs/\n"
     "  hone dataset split programs/ --by family --fractions 0.8,0,0.2 --seed 7\n",
     AddDatasetSplit},
    {"list", "programs, by URI",
     "  hone dataset list\n"
     "  hone dataset list models/gpt2\n"
     "  hone dataset list programs/ --phase train --split test --json\n",
     AddDatasetList},
    {"check", "does index.tsv agree with the programs? 0 yes, 3 no",
     "  hone dataset check programs/\n"
     "  hone dataset check programs/ --json\n",
     AddDatasetCheck},
};

}  // namespace

Run AddDataset(CLI::App& app) {
  struct Action {
    CLI::App* app;
    Run run;
  };
  auto actions = std::make_shared<std::vector<Action>>();
  // A formatter is shared with the other commands: this one says ACTION.
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(app.get_formatter()->get_column_width());
  formatter->label("SUBCOMMAND", "ACTION");
  app.formatter(formatter);
  app.require_subcommand(0, 1);
  for (const Command& command : kActions) {
    CLI::App* action = app.add_subcommand(command.name, command.meaning);
    action->group("Actions");
    action->footer(fmt::format("Examples:\n{}", command.examples));
    actions->push_back({action, command.add(*action)});
  }
  return [actions] {
    for (const Action& action : *actions) {
      if (action.app->parsed()) return action.run();
    }
    return Fail({ErrorCode::kInvalidInput,
                 "give an action: index, split, list or check; see `hone dataset --help`"},
                false);
  };
}

}  // namespace hone::cli
