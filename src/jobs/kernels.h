// Kernels of hone-loops for the programs that jobs run and give out.
#ifndef HONE_JOBS_KERNELS_H_
#define HONE_JOBS_KERNELS_H_

#include <string>
#include <string_view>

#include "core/native_kernel.h"
#include "core/result.h"
#include "loops/schedule.h"
#include "store/store.h"

namespace hone::jobs {

// Makes kernels for a pool's workers (PoolOptions::kernels), each once in this process; null where
// hone was built without hone-loops. `sandbox`: hone-loops locks itself up. `program`: the path of
// hone-loops, "" for the one beside this executable. `folder`: PoolOptions::kernel_folder. All
// count at the first call.
loops::MakeKernels KernelMaker(bool sandbox, const std::string& folder,
                               const std::string& program = "");

// Kernels that are first asked for from now on are made under the schedules that `hone loops tune`
// has put into the store, where they were faster than rules of thumb on this machine. Before
// KernelMaker.
Status ServeSchedules(const store::Store& store);
// Puts one there: a task's, verified, so much faster (the lower end of the interval).
Status KeepSchedule(store::Store& store, const loops::Task& task, const loops::Schedule& schedule,
                    double speedup);

// The file of the kernels that a program calls (loops/kernel_file.h), which lies beside it; ""
// where it calls none. `make` is KernelMaker's.
StatusOr<std::string> KernelsOf(std::string_view program, const loops::MakeKernels& make);

}  // namespace hone::jobs

#endif  // HONE_JOBS_KERNELS_H_
