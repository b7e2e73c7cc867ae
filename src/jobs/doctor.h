// What is missing, what is slow on this machine, and what to do about it.
#ifndef HONE_JOBS_DOCTOR_H_
#define HONE_JOBS_DOCTOR_H_

#include <vector>

#include "jobs/doctor/checks.h"
#include "jobs/events.h"
#include "jobs/json.h"

namespace hone::jobs {

struct Diagnosis {
  struct Told {
    const doctor::Check* check;
    doctor::Finding finding;
  };
  std::vector<Told> told;  // every check, in the order of doctor::Checks()

  bool fine() const;  // nothing is missing
};

Diagnosis Diagnose(Events& events);

Json ToJson(const Diagnosis& diagnosis);

}  // namespace hone::jobs

#endif  // HONE_JOBS_DOCTOR_H_
