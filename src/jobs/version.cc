#include "jobs/version.h"

namespace hone {

const char* HoneVersion() { return HONE_VERSION; }

}  // namespace hone
