// Reading /proc and /sys, and asking other programs.
#ifndef HONE_JOBS_DOCTOR_PROBE_H_
#define HONE_JOBS_DOCTOR_PROBE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/doctor/checks.h"

namespace hone::jobs::doctor {

// The file's text without the last line's end; empty where it cannot be read. `path` is relative to
// the root.
std::string ReadSystem(const Surroundings& here, const std::string& path);

// The value of the first line "KEY: VALUE" or "KEY VALUE" with this key.
std::string ValueOf(const std::string& text, const std::string& key);

// The number that a text begins with.
std::optional<double> NumberIn(const std::string& text);

// The tightest limit of the control groups that this process is in, versions 1 and 2; none where
// there is no limit. Cores may be a fraction.
std::optional<double> GroupCores(const Surroundings& here);
std::optional<double> GroupMemoryBytes(const Surroundings& here);

// The first line that a program prints, or nothing where it cannot be run or fails.
std::optional<std::string> FirstLineOf(const std::vector<std::string>& words);

}  // namespace hone::jobs::doctor

#endif  // HONE_JOBS_DOCTOR_PROBE_H_
