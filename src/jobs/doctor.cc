#include "jobs/doctor.h"

#include <algorithm>
#include <string>

#include "jobs/cache_folder.h"
#include "jobs/package.h"
#include "jobs/ready_worker.h"
#include "jobs/version.h"

namespace hone::jobs {

bool Diagnosis::fine() const {
  return std::none_of(told.begin(), told.end(),
                      [](const Told& one) { return one.finding.state == doctor::State::kMissing; });
}

Diagnosis Diagnose(Events& events) {
  const doctor::Surroundings here{.cache = CacheFolder(), .python = PackagePython()};
  Diagnosis diagnosis;
  for (const doctor::Check& check : doctor::Checks()) {
    events.Show(std::string("looking at: ") + check.group + " " + check.name);
    diagnosis.told.push_back({&check, check.look(here)});
  }
  events.Clear();
  return diagnosis;
}

Json ToJson(const Diagnosis& diagnosis) {
  Json json{{"version", HoneVersion()}, {"fine", diagnosis.fine()}};
  json["checks"] = Json::array();
  for (const auto& [check, finding] : diagnosis.told) {
    json["checks"].push_back({{"group", check->group},
                              {"name", check->name},
                              {"state", doctor::StateName(finding.state)},
                              {"what", finding.what},
                              {"to_do", finding.to_do}});
  }
  return json;
}

}  // namespace hone::jobs
