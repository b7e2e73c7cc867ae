// Resident memory of a process.
#ifndef HONE_CORE_RESIDENT_H_
#define HONE_CORE_RESIDENT_H_

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <string>

namespace hone {

// In bytes; of this process without a number, 0 for one that is not there.
inline size_t ResidentBytes(pid_t pid = 0) {
  std::ifstream file("/proc/" + (pid == 0 ? std::string("self") : std::to_string(pid)) + "/statm");
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace hone

#endif  // HONE_CORE_RESIDENT_H_
