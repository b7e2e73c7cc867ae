// Does a locked-up process hold? It tries what it must not be able to do.
#ifndef HONE_WIRE_SANDBOX_PROBE_H_
#define HONE_WIRE_SANDBOX_PROBE_H_

#include <string>
#include <vector>

namespace hone::wire {

struct Attempt {
  std::string what;  // "connect", "read /etc/passwd"
  bool refused = false;
  std::string answer;  // of the kernel: "Operation not permitted"
};

// Nothing is left behind where an attempt succeeds.
std::vector<Attempt> TryToGetOut();

}  // namespace hone::wire

#endif  // HONE_WIRE_SANDBOX_PROBE_H_
