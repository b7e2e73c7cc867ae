// Shared by the workers of one pool: the options, the programs' bytes, and what has gone wrong.
#ifndef HONE_WIRE_POOL_MEMORY_H_
#define HONE_WIRE_POOL_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/native_kernel.h"
#include "core/program.h"
#include "core/result.h"
#include "core/state.h"
#include "wire/requests.h"

namespace hone {

struct PoolOptions {
  int workers = 1;
  std::string worker_path;  // "" is the hone-worker beside this executable, or -gpu
  // The target that the workers compile for: "cpu"; or, for hone-worker-gpu, the name of a GPU or a
  // file that describes one.
  std::string target = "cpu";
  double pass_deadline_seconds = 60;   // one pass, or the copying of one module
  double call_deadline_seconds = 300;  // every other call but compare, which has its own budget
  size_t memory_limit_bytes = 0;       // resident, a worker; 0 is three quarters of the machine's
  // Resident memory that a worker may take beside the bare library. It lets go of what it holds as
  // it comes near, is replaced between two calls where that does not help, and is killed where it
  // takes more. 0 is no limit but the one above.
  size_t headroom_bytes = 0;
  size_t cache_bytes = size_t{1} << 30;   // modules that a worker keeps beside the loaded programs
  size_t kernel_bytes = size_t{1} << 28;  // machine code of kernels that a worker keeps; 0 is none
  std::string kernel_folder;  // where workers of many runs share it, CPU's alone; "" is nowhere
  std::vector<std::string> rule_files;  // paths: rules beside hone's own
  bool sandbox = true;                  // workers lock themselves up (wire/sandbox.h)
  // Elided constants, {...}, get made-up values and do not keep a program from being run.
  bool stand_in_constants = false;
  // Makes machine code for custom calls `hone_loops`. Without it programs that have them cannot be
  // run.
  loops::MakeKernels kernels;
  // When it becomes true, passes and evaluations of more than two seconds are given up.
  const std::atomic<bool>* stop = nullptr;

  bool SharesKernels() const {
    return !kernel_folder.empty() && kernel_bytes != 0 && target == "cpu";
  }
};

// A worker that was lost, and to what.
struct Death {
  ErrorCode code = ErrorCode::kWorkerDied;
  std::string doing;  // "pass algsimp", "compare", …
  std::string why;
};

struct PoolMemory {
  PoolOptions options;
  WorkerFacts facts;

  mutable std::mutex mutex;  // of what follows
  std::map<ProgramId, std::shared_ptr<const std::string>> programs;
  std::map<ProgramId, std::shared_ptr<const std::vector<std::string>>> inputs;
  std::map<ProgramId, std::vector<KnownFailure>> failures;
  std::vector<Death> deaths;
  ProgramId next_program = 0;

  // Null where there is none of that number.
  std::shared_ptr<const std::string> Data(ProgramId program) const {
    std::lock_guard lock(mutex);
    const auto found = programs.find(program);
    return found == programs.end() ? nullptr : found->second;
  }

  // What its runs are timed on; null where nobody gave any.
  std::shared_ptr<const std::vector<std::string>> InputsOf(ProgramId program) const {
    std::lock_guard lock(mutex);
    const auto found = inputs.find(program);
    return found == inputs.end() ? nullptr : found->second;
  }

  // All but the first `known`.
  std::vector<KnownFailure> FailuresOf(ProgramId program, size_t known) const {
    std::lock_guard lock(mutex);
    const auto found = failures.find(program);
    if (found == failures.end() || found->second.size() <= known) return {};
    return {found->second.begin() + static_cast<std::ptrdiff_t>(known), found->second.end()};
  }

  void Blame(ProgramId program, KnownFailure failure) {
    std::lock_guard lock(mutex);
    failures[program].push_back(std::move(failure));
  }

  void Bury(const Error& error, std::string doing) {
    std::lock_guard lock(mutex);
    deaths.push_back({error.code, std::move(doing), error.message});
  }
};

}  // namespace hone

#endif  // HONE_WIRE_POOL_MEMORY_H_
