// The files of machines/, put into the library when it is built.
#ifndef HONE_MEMORY_MACHINES_H_
#define HONE_MEMORY_MACHINES_H_

#include <map>
#include <string>

namespace hone::memory {

// JSON by the file's stem.
const std::map<std::string, std::string>& EmbeddedMachines();

}  // namespace hone::memory

#endif  // HONE_MEMORY_MACHINES_H_
