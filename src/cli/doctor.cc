// hone doctor: what is missing, what is slow on this machine, and what to do.
#include "jobs/doctor.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "jobs/version.h"

namespace hone::cli {
namespace {

struct DoctorOptions {
  bool json = false;
  bool quiet = false;
};

std::string Text(const jobs::Diagnosis& diagnosis) {
  std::string text = fmt::format("hone {}\n", HoneVersion());
  std::string group;
  for (const auto& [check, finding] : diagnosis.told) {
    if (group != check->group) text += fmt::format("\n{}\n", check->group);
    group = check->group;
    text += fmt::format("  {:9} {:12} {}\n", jobs::doctor::StateName(finding.state), check->name,
                        Printable(finding.what));
    if (!finding.to_do.empty()) text += fmt::format("  {:9} {:12} -> {}\n", "", "", finding.to_do);
  }
  return text + (diagnosis.fine() ? "\nnothing is missing\n" : "\nsomething is missing\n");
}

int RunDoctor(const DoctorOptions& options) {
  CommandEvents events(!options.quiet);
  const jobs::Diagnosis diagnosis = jobs::Diagnose(events);
  const int code = diagnosis.fine() ? kFine : kSomeFailed;
  return options.json ? Finish(ToJson(diagnosis), code) : Finish(Text(diagnosis), code);
}

}  // namespace

Run AddDoctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  app.add_flag("--json", options->json, "print JSON, for programs");
  app.add_flag("-q,--quiet", options->quiet, "no progress");
  return [options] { return RunDoctor(*options); };
}

}  // namespace hone::cli
