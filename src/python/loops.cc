// Schedules of loop nests as an environment.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "convert.h"
#include "loops/estimate.h"
#include "loops/loops_env.h"
#include "loops/tasks.h"

namespace hone::python {
namespace {

using loops::LoopsEnv;

nb::object Flags(const std::vector<bool>& flags) {
  return ToNumpy(std::vector<int8_t>(flags.begin(), flags.end()), {flags.size()});
}

class PyLoopsEnv : public OfThisProcess<LoopsEnv> {
 public:
  PyLoopsEnv(std::vector<std::string> tasks, int steps_a_nest, bool immediate, bool estimate,
             int threads, double failure, bool sandbox, std::string program)
      : OfThisProcess(Make(std::move(tasks), steps_a_nest, immediate, estimate, threads, failure,
                           sandbox, std::move(program))) {}

  void Reset(std::optional<uint64_t> seed, std::optional<size_t> task) {
    outcome_ = {};
    OrThrow(Unlocked([&] { return get()->Reset(seed, task); }));
  }
  void Step(int64_t action) {
    outcome_ = OrThrow(Unlocked([&] { return get()->Step(action); }));
  }
  void StepProduct(const std::vector<int64_t>& action) {
    outcome_ = OrThrow(Unlocked([&] { return get()->StepProduct(action); }));
  }

  nb::dict Outcome() const {
    const LoopsEnv& env = *get();
    nb::dict outcome;
    outcome["reward"] = outcome_.reward;
    outcome["terminated"] = outcome_.terminated;
    outcome["truncated"] = outcome_.truncated;
    outcome["changed"] = outcome_.changed;
    outcome["error"] = outcome_.error;
    outcome["task"] = env.task_index();
    outcome["speedup"] = env.speedup();
    outcome["schedule"] = loops::ScheduleText(env.schedule());
    return outcome;
  }

  nb::object Observe(const std::string& part) const {
    const LoopsEnv& env = *get();
    const size_t sites = env.sites();
    if (part == "loops") {
      return ToNumpy(env.LoopFeatures(), {sites, loops::kSeenLoops, loops::kLoopFeatures});
    }
    if (part == "accesses") {
      return ToNumpy(env.Accesses(),
                     {sites, loops::kSeenAccesses, loops::kSeenDimensions, loops::kSeenLoops});
    }
    if (part == "operations") return ToNumpy(env.Operations(), {sites, loops::kSeenScalars});
    if (part == "states") return ToNumpy(env.States(), {sites, loops::kStateFeatures});
    if (part == "graph") return ToNumpy(env.Graph(), {sites, sites});
    if (part == "history") return ToNumpy(env.History(), {env.most_steps()});
    throw nb::value_error(("there is no part '" + part + "' of an observation").c_str());
  }
  nb::object Mask(bool product) const {
    return Flags(product ? get()->ProductMask() : get()->ActionMask());
  }

 private:
  static std::shared_ptr<LoopsEnv> Make(std::vector<std::string> tasks, int steps_a_nest,
                                        bool immediate, bool estimate, int threads, double failure,
                                        bool sandbox, std::string program) {
    loops::LoopsEnvOptions options;
    options.tasks = std::move(tasks);
    options.steps_a_nest = steps_a_nest;
    options.immediate = immediate;
    options.estimate = estimate;
    options.machine = estimate ? loops::kEstimatedMachine : loops::ThisMachine();
    if (threads > 0) options.machine.threads = threads;
    options.failure = failure;
    options.sandbox = sandbox;
    options.program_path = std::move(program);
    return OrThrow(LoopsEnv::Make(options));
  }

  loops::LoopsOutcome outcome_;
};

}  // namespace

void BindLoops(nb::module_& module) {
  nb::class_<PyLoopsEnv>(module, "LoopsEnv", "Schedules of loop nests, one decision at a time.")
      .def(nb::init<std::vector<std::string>, int, bool, bool, int, double, bool, std::string>(),
           nb::arg("tasks"), nb::arg("steps_a_nest"), nb::arg("immediate"), nb::arg("estimate"),
           nb::arg("threads"), nb::arg("failure"), nb::arg("sandbox"), nb::arg("program"))
      .def("reset", &PyLoopsEnv::Reset, nb::arg("seed").none(), nb::arg("task").none())
      .def("step", &PyLoopsEnv::Step, nb::arg("action"))
      .def("step_product", &PyLoopsEnv::StepProduct, nb::arg("action"))
      .def("outcome", &PyLoopsEnv::Outcome)
      .def("observe", &PyLoopsEnv::Observe, nb::arg("part"))
      .def("mask", &PyLoopsEnv::Mask, nb::arg("product"))
      .def_prop_ro("actions", [](const PyLoopsEnv& self) { return self.get()->actions(); })
      .def_prop_ro("sites", [](const PyLoopsEnv& self) { return self.get()->sites(); })
      .def_prop_ro("most_steps", [](const PyLoopsEnv& self) { return self.get()->most_steps(); })
      .def_prop_ro("task_text",
                   [](const PyLoopsEnv& self) { return loops::TaskText(self.get()->task()); })
      .def_prop_ro("restarts", [](const PyLoopsEnv& self) { return self.get()->restarts(); });
  nb::dict tasks;
  for (const loops::KnownTask& task : loops::KnownTasks()) tasks[task.name.c_str()] = task.text;
  module.attr("LOOP_TASKS") = tasks;
  module.attr("LOOP_KINDS") = loops::kStepKinds;
  module.attr("LOOP_CHOICES") = static_cast<int>(LoopsEnv::kProductChoices);
  module.attr("SEEN_LOOPS") = static_cast<int>(loops::kSeenLoops);
}

}  // namespace hone::python
