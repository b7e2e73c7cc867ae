// Where hone keeps what it can fetch or make again.
#ifndef HONE_JOBS_CACHE_FOLDER_H_
#define HONE_JOBS_CACHE_FOLDER_H_

#include <string>

namespace hone::jobs {

// $HONE_CACHE, or hone/ in $XDG_CACHE_HOME or ~/.cache.
std::string CacheFolder();
// In it: PoolOptions::kernel_folder of commands and of Python.
std::string KernelFolder();

}  // namespace hone::jobs

#endif  // HONE_JOBS_CACHE_FOLDER_H_
