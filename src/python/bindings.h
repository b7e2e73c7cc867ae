// Shared by the parts of the module.
#ifndef HONE_PYTHON_BINDINGS_H_
#define HONE_PYTHON_BINDINGS_H_

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>

#include "env/session.h"

namespace hone::python {

namespace nb = nanobind;

// An object with threads and workers belongs to the process that made it: after a fork the child
// has neither, so there it is left alone, not destroyed.
template <class T>
class OfThisProcess {
 public:
  explicit OfThisProcess(std::shared_ptr<T> value) : value_(new std::shared_ptr<T>(value)) {}
  ~OfThisProcess() {
    if (getpid() != owner_) return;
    nb::gil_scoped_release release;  // it may wait for workers
    delete value_;
  }
  OfThisProcess(const OfThisProcess&) = delete;
  OfThisProcess& operator=(const OfThisProcess&) = delete;

  bool alive() const { return getpid() == owner_; }
  const std::shared_ptr<T>& get() const {
    if (!alive()) {
      throw std::runtime_error("made before a fork, and used in the child: make a new one there");
    }
    return *value_;
  }

 protected:
  // Also in a child: plain data may be read there, nothing else.
  const T& remains() const { return **value_; }

 private:
  std::shared_ptr<T>* value_;
  const pid_t owner_ = getpid();
};

// Calls without Python's lock, so that its other threads run meanwhile.
template <class Call>
auto Unlocked(Call call) {
  nb::gil_scoped_release release;
  return call();
}

using PySession = OfThisProcess<Session>;

// tune, optimize, compile_under, kept_plans, kernels_of, parse_duration.
void BindJobs(nb::module_& module);
// PassOrderEnvs, RewritesEnvs.
void BindEnvironments(nb::module_& module);
// LoopsEnvs.
void BindLoops(nb::module_& module);
// Decisions, Site, Rewrites.
void BindRewrites(nb::module_& module);
// load_dataset, format_index.
void BindDatasets(nb::module_& module);
// compare_runs, RaceTally, interval_of_median.
void BindVerify(nb::module_& module);
// State, Workbench.
void BindWorkbench(nb::module_& module);

}  // namespace hone::python

#endif  // HONE_PYTHON_BINDINGS_H_
