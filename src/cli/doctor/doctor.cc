// hone doctor: what is missing, what is slow on this machine, and what to do.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/doctor/checks.h"
#include "cli/own_commands.h"
#include "cli/progress.h"
#include "cli/python.h"
#include "cli/worker.h"

namespace hone::cli {
namespace {

struct DoctorOptions {
  bool json = false;
  bool quiet = false;
};

struct Told {
  const doctor::Check* check;
  doctor::Finding finding;
};

Json ToJson(const std::vector<Told>& all, bool fine) {
  Json json{{"version", HoneVersion()}, {"fine", fine}};
  json["checks"] = Json::array();
  for (const auto& [check, finding] : all) {
    json["checks"].push_back({{"group", check->group},
                              {"name", check->name},
                              {"state", doctor::StateName(finding.state)},
                              {"what", finding.what},
                              {"to_do", finding.to_do}});
  }
  return json;
}

std::string ToText(const std::vector<Told>& all, bool fine) {
  std::string text = fmt::format("hone {}\n", HoneVersion());
  std::string group;
  for (const auto& [check, finding] : all) {
    if (group != check->group) text += fmt::format("\n{}\n", check->group);
    group = check->group;
    text += fmt::format("  {:9} {:12} {}\n", doctor::StateName(finding.state), check->name,
                        Printable(finding.what));
    if (!finding.to_do.empty()) text += fmt::format("  {:9} {:12} -> {}\n", "", "", finding.to_do);
  }
  return text + (fine ? "\nnothing is missing\n" : "\nsomething is missing\n");
}

int RunDoctor(const DoctorOptions& options) {
  const doctor::Surroundings here{.cache = CacheFolder(), .python = PackagePython()};
  std::vector<Told> all;
  Progress progress(!options.quiet);
  for (const doctor::Check& check : doctor::Checks()) {
    progress.Show(fmt::format("looking at: {} {}", check.group, check.name));
    all.push_back({&check, check.look(here)});
  }
  progress.Clear();
  const bool fine = std::none_of(all.begin(), all.end(), [](const Told& told) {
    return told.finding.state == doctor::State::kMissing;
  });
  const int code = fine ? kFine : kSomeFailed;
  return options.json ? Finish(ToJson(all, fine), code) : Finish(ToText(all, fine), code);
}

}  // namespace

Run AddDoctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  app.add_flag("--json", options->json, "print JSON, for programs");
  app.add_flag("-q,--quiet", options->quiet, "no progress");
  return [options] { return RunDoctor(*options); };
}

}  // namespace hone::cli
