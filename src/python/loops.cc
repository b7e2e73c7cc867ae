// Schedules of loop nests as environments.
#include "loops/estimate.h"
#include "loops/loops_env.h"
#include "loops/tasks.h"
#include "vector.h"

namespace hone::python {
namespace {

using loops::LoopsEnv;
using loops::LoopsView;

class PyLoopsEnvs : public VectorBase<LoopsEnv> {
 public:
  using VectorBase<LoopsEnv>::VectorBase;

  void StepProducts(
      const nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& actions) {
    std::vector<Action> rows;
    for (size_t i = 0; i < actions.shape(0); ++i) {
      const int64_t* const row = actions.data() + i * actions.shape(1);
      rows.emplace_back(std::vector<int64_t>(row, row + actions.shape(1)));
    }
    Step(rows);
  }

  nb::dict Outcomes(bool final) const {
    nb::dict columns = StepColumns();
    const std::vector<const LoopsView*> views = Views(final);
    columns["task"] = Column([&](size_t i) { return static_cast<int64_t>(views[i]->task); });
    columns["speedup"] = Column([&](size_t i) { return views[i]->speedup; });
    nb::list schedules;
    for (const LoopsView* view : views) schedules.append(view->schedule);
    columns["schedules"] = schedules;
    return columns;
  }

  nb::object ActionMasks() const {
    std::vector<int8_t> masks;
    for (const LoopsView* view : Views(false)) {
      masks.insert(masks.end(), view->mask.begin(), view->mask.end());
    }
    const size_t actions = masks.size() / get()->size();
    return ToNumpy(std::move(masks), {get()->size(), actions});
  }

  nb::object Observe(const std::string& part, bool final) const {
    const size_t sites = env(0).sites();
    using namespace loops;
    if (part == "loops") return Stack(&LoopsView::loops, {sites, kSeenLoops, kLoopFeatures}, final);
    if (part == "accesses") {
      return Stack(&LoopsView::accesses, {sites, kSeenAccesses, kSeenDimensions, kSeenLoops},
                   final);
    }
    if (part == "operations") return Stack(&LoopsView::operations, {sites, kSeenScalars}, final);
    if (part == "states") return Stack(&LoopsView::states, {sites, kStateFeatures}, final);
    if (part == "graph") return Stack(&LoopsView::graph, {sites, sites}, final);
    if (part == "history") {
      return Stack(&LoopsView::history, {env(0).session()->most_steps()}, final);
    }
    throw nb::value_error(("there is no part '" + part + "' of an observation").c_str());
  }

 private:
  std::vector<const LoopsView*> Views(bool final) const {
    std::vector<const LoopsView*> views;
    for (size_t i = 0; i < get()->size(); ++i) {
      const Slot& slot = get()->slot(i);
      views.push_back(final && slot.has_final ? &slot.final_view : &slot.env.Seen());
    }
    return views;
  }

  // [environments, …]; zeros of what has not been reset.
  template <class T>
  nb::object Stack(std::vector<T> LoopsView::*part, std::vector<size_t> shape, bool final) const {
    size_t each = 1;
    for (const size_t size : shape) each *= size;
    const std::vector<const LoopsView*> views = Views(final);
    std::vector<T> stacked(views.size() * each, 0);
    for (size_t i = 0; i < views.size(); ++i) {
      const std::vector<T>& one = views[i]->*part;
      std::copy(one.begin(), one.end(), stacked.begin() + static_cast<ptrdiff_t>(i * each));
    }
    shape.insert(shape.begin(), views.size());
    return ToNumpy(std::move(stacked), shape);
  }
};

std::shared_ptr<VectorOf<LoopsEnv>> Make(std::vector<std::string> tasks, int steps_a_nest,
                                         bool immediate, bool estimate, bool product, int threads,
                                         double failure, int workers, bool sandbox,
                                         std::string program, size_t count, int autoreset) {
  loops::LoopsEnvOptions options;
  options.tasks = std::move(tasks);
  options.steps_a_nest = steps_a_nest;
  options.immediate = immediate;
  options.estimate = estimate;
  options.product = product;
  options.machine = estimate ? loops::kEstimatedMachine : loops::ThisMachine();
  if (threads > 0) options.machine.threads = threads;
  options.failure = failure;
  options.workers = workers;
  options.sandbox = sandbox;
  options.program_path = std::move(program);
  const auto session = OrThrow(loops::LoopsSession::Open(options));
  std::vector<LoopsEnv> envs;
  for (size_t i = 0; i < count; ++i) envs.emplace_back(session, i);
  return std::make_shared<VectorOf<LoopsEnv>>(session, std::move(envs),
                                              static_cast<Autoreset>(autoreset));
}

}  // namespace

void BindLoops(nb::module_& module) {
  BindVector<PyLoopsEnvs>(module, "LoopsEnvs", "Schedules of loop nests, one decision at a time.")
      .def(
          "__init__",
          [](PyLoopsEnvs* self, std::vector<std::string> tasks, int steps_a_nest, bool immediate,
             bool estimate, bool product, int threads, double failure, int workers, bool sandbox,
             std::string program, size_t count, int autoreset) {
            new (self) PyLoopsEnvs(Make(std::move(tasks), steps_a_nest, immediate, estimate,
                                        product, threads, failure, workers, sandbox,
                                        std::move(program), count, autoreset));
          },
          nb::arg("tasks"), nb::arg("steps_a_nest"), nb::arg("immediate"), nb::arg("estimate"),
          nb::arg("product"), nb::arg("threads"), nb::arg("failure"), nb::arg("workers"),
          nb::arg("sandbox"), nb::arg("program"), nb::arg("count"), nb::arg("autoreset"),
          "autoreset: 0 next step, 1 same step, 2 disabled.")
      .def("step_products", &PyLoopsEnvs::StepProducts, nb::arg("actions"))
      .def("observe", &PyLoopsEnvs::Observe, nb::arg("part"), nb::arg("final") = false)
      .def_prop_ro("actions", [](const PyLoopsEnvs& self) { return self.env(0).actions(); })
      .def_prop_ro("sites", [](const PyLoopsEnvs& self) { return self.env(0).sites(); })
      .def_prop_ro("most_steps",
                   [](const PyLoopsEnvs& self) { return self.env(0).session()->most_steps(); })
      .def("task_text",
           [](const PyLoopsEnvs& self, size_t i) { return loops::TaskText(self.env(i).task()); })
      .def_prop_ro("restarts",
                   [](const PyLoopsEnvs& self) { return self.env(0).session()->restarts(); });
  nb::dict tasks;
  for (const loops::KnownTask& task : loops::KnownTasks()) tasks[task.name.c_str()] = task.text;
  module.attr("LOOP_TASKS") = tasks;
  module.attr("LOOP_KINDS") = loops::kStepKinds;
  module.attr("LOOP_CHOICES") = static_cast<int>(LoopsEnv::kProductChoices);
  module.attr("SEEN_LOOPS") = static_cast<int>(loops::kSeenLoops);
}

}  // namespace hone::python
