// The processor that this process runs on, for machine code that is good for it alone.
#ifndef HONE_CORE_PROCESSOR_H_
#define HONE_CORE_PROCESSOR_H_

#include <cstdio>
#include <fstream>
#include <string>

#include "core/fnv.h"

namespace hone {

// Its model, and a hash of what it can do, in one line; "unknown" where Linux does not say.
inline std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string model = "unknown", flags;
  for (std::string line; std::getline(file, line) && flags.empty();) {
    const size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    if (line.rfind("model name", 0) == 0) model = line.substr(colon + 2);
    if (line.rfind("flags", 0) == 0) flags = line.substr(colon + 2);
  }
  char hash[20];
  std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(Fnv1a(flags)));
  return model + " " + hash;
}

}  // namespace hone

#endif  // HONE_CORE_PROCESSOR_H_
