// hone dataset check: does a folder's index.tsv tell the truth?
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/common.h"
#include "cli/dataset.h"
#include "dataset/index.h"
#include "jobs/index_dataset.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct DatasetCheckOptions {
  CommonOptions common;
  std::string folder;
};

int RunCheckDataset(const DatasetCheckOptions& options) {
  const bool json = options.common.json;
  const std::string path = dataset::IndexPath(options.folder);
  const StatusOr<dataset::Index> index = dataset::ReadIndex(options.folder);
  if (!index) return Fail(index.error(), path, json);
  auto survey = SurveyOptionsFor(options.common, options.folder);
  if (!survey) return Fail(survey.error(), json);
  CommandEvents events(options.common.ShowProgress());
  const auto checked = jobs::CheckIndex(options.folder, *index, *std::move(survey), events);
  if (!checked) return Fail(checked.error(), json);
  const std::vector<jobs::IndexFinding>& findings = *checked;
  for (const jobs::IndexFinding& finding : findings) {
    (void)Fail({ErrorCode::kInvalidInput, finding.message},
               (fs::path(options.folder) / finding.file).string(), false);
  }
  const int code = findings.empty() ? kFine : kSomeFailed;
  if (!json) {
    return Finish(fmt::format("{}: {} programs, {}\n", path, index->rows.size(),
                              findings.empty() ? "all as it says"
                                               : fmt::format("findings: {}", findings.size())),
                  code);
  }
  Json result = {{"folder", options.folder}, {"programs", index->rows.size()}};
  result["findings"] = Json::array();
  for (const jobs::IndexFinding& finding : findings) {
    result["findings"].push_back({{"file", finding.file}, {"message", finding.message}});
  }
  return Finish(result, code);
}

}  // namespace

Run AddDatasetCheck(CLI::App& app) {
  auto options = std::make_shared<DatasetCheckOptions>();
  app.add_option("FOLDER", options->folder, "a folder with an index.tsv")
      ->required()
      ->type_name("");
  options->common.workers =
      static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  AddCommonOptions(app, options->common);
  return [options] { return RunCheckDataset(*options); };
}

}  // namespace hone::cli
