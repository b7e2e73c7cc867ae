#include "jobs/list_dataset.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/nearest.h"
#include "dataset/index.h"
#include "dataset/uri.h"
#include "jobs/input.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

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

// "a/b/c" and the folders "a/b" and "a".
void AddPrefixes(const std::string& uri, std::vector<std::string>& names) {
  for (size_t end = uri.size(); end != uri.npos; end = uri.rfind('/', end - 1)) {
    names.push_back(uri.substr(0, end));
  }
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

}  // namespace

FileOr<std::vector<dataset::Program>> ListPrograms(const ListOptions& options) {
  const StatusOr<Scope> scope = ScopeOf(options);
  if (!scope) return Wrong(options.what, scope.error());
  std::vector<dataset::Program> programs;
  std::vector<std::string> uris;
  bool any = scope->prefix.empty();
  for (const dataset::Dataset& one : scope->datasets) {
    StatusOr<std::vector<dataset::Program>> listed = dataset::IndexedPrograms(one);
    if (!listed) {
      return tl::unexpected(FileError{dataset::IndexPath(one.folder), listed.error()});
    }
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
  if (any) return programs;
  return tl::unexpected(
      FileError{scope->prefix,
                {ErrorCode::kInvalidInput,
                 fmt::format("no program's URI begins so{}; see `hone dataset list`",
                             DidYouMean(scope->prefix, uris))}});
}

Json ToJson(const std::vector<dataset::Program>& programs) {
  Json json{{"programs", Json::array()}};
  for (const dataset::Program& one : programs) json["programs"].push_back(ToJson(one));
  return json;
}

}  // namespace hone::jobs
