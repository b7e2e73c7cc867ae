// The version of hone, for everything that it writes.
#ifndef HONE_JOBS_VERSION_H_
#define HONE_JOBS_VERSION_H_

namespace hone {

const char* HoneVersion();  // "0.1.0"

}  // namespace hone

#endif  // HONE_JOBS_VERSION_H_
