// The hone-worker that can be started here, and the XLA that it needs.
#ifndef HONE_JOBS_READY_WORKER_H_
#define HONE_JOBS_READY_WORKER_H_

#include <string>
#include <vector>

#include "core/result.h"

namespace hone::jobs {

// Its path. In a source tree it lies beside this executable and knows where its XLA is. Where hone
// was installed by pip, the worker beside XLA's libraries in the user's cache folder; what is
// missing there is fetched first (python/hone/fetch_xla.py), with progress on stderr unless
// `quiet`. Errors: it could not be fetched, or is not there.
// `target`: PoolOptions::target; those of GPUs take a build from source.
StatusOr<std::string> ReadyWorker(bool quiet, const std::string& target = "cpu");

// `python -m hone.fetch_xla ARGUMENTS…`, its progress shown, its last words as the error.
Status FetchXla(std::vector<std::string> arguments);

// The folder of XLA's libraries that this hone is for, in the cache folder, and whether they are
// there, of the right wheel and as large as they were when they were unpacked.
struct XlaLibraries {
  std::string folder;
  bool whole = false;
};
StatusOr<XlaLibraries> FindXlaLibraries();

}  // namespace hone::jobs

#endif  // HONE_JOBS_READY_WORKER_H_
