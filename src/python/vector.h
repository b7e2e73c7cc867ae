// A vector of environments as Python has it: what is the same whatever they are over.
#ifndef HONE_PYTHON_VECTOR_H_
#define HONE_PYTHON_VECTOR_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings.h"
#include "convert.h"
#include "env/vector_of.h"

namespace hone::python {

template <class T>
using Numbers = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Env>
class VectorBase : public OfThisProcess<VectorOf<Env>> {
 public:
  using Vector = VectorOf<Env>;
  using Action = typename Env::Action;
  using Slot = typename Vector::Slot;
  using Outcome = typename Vector::Outcome;

  explicit VectorBase(std::shared_ptr<Vector> envs) : OfThisProcess<Vector>(std::move(envs)) {
    get()->set_interrupted([] {
      nb::gil_scoped_acquire acquire;
      return PyErr_CheckSignals() != 0;
    });
  }
  using OfThisProcess<Vector>::get;

  void Reset(const std::vector<std::optional<uint64_t>>& seeds, const std::vector<bool>& which,
             std::optional<size_t> program) {
    // vector<bool> has no bytes to look at.
    const auto flat = std::make_unique<bool[]>(which.size());
    std::copy(which.begin(), which.end(), flat.get());
    Led([&](Vector& envs) { return envs.Reset(seeds, {flat.get(), which.size()}, program); });
  }

  void Step(const std::vector<Action>& actions) {
    Led([&](Vector& envs) { return envs.Step(actions); });
  }
  void StepNumbers(const Numbers<int64_t>& numbers) {
    Step(std::vector<Action>(numbers.data(), numbers.data() + numbers.size()));
  }

  void Send(size_t env, const Action& action) {
    CheckIndex(env);
    get()->Send(env, action);
  }
  std::vector<size_t> Receive(size_t least) {
    std::vector<size_t> done;
    Led([&](Vector& envs) {
      done = envs.Receive(least);
      for (size_t i : done) {
        if (!envs.slot(i).error) return envs.slot(i).error;
      }
      return Status();
    });
    return done;
  }

  bool Running(size_t i) const { return env(i).running(); }

  const Env& env(size_t i) const {
    CheckIndex(i);
    return get()->slot(i).env;
  }

 protected:
  void CheckIndex(size_t i) const {
    if (i >= this->remains().size()) throw nb::index_error("no such environment");
  }

  // The outcome of an environment's last step; where it reset within the step, before that.
  const Outcome& OutcomeOf(size_t i) const {
    const Slot& slot = get()->slot(i);
    return slot.has_final ? slot.final_outcome : slot.outcome;
  }

  // A column of `of(i)`, an environment each.
  template <class Of>
  nb::object Column(Of of) const {
    std::vector<decltype(of(size_t{0}))> values(get()->size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = of(i);
    return ToNumpy(std::move(values), {get()->size()});
  }

  // Columns of what came of the last step, whatever it was about.
  nb::dict StepColumns() const {
    // numpy has bool, and std::vector<bool> is none.
    const auto flag = [](bool value) { return static_cast<uint8_t>(value); };
    nb::dict columns;
    columns["reward"] = Column([&](size_t i) { return OutcomeOf(i).reward; });
    columns["terminated"] = Column([&](size_t i) { return flag(OutcomeOf(i).terminated); });
    columns["truncated"] = Column([&](size_t i) { return flag(OutcomeOf(i).truncated); });
    columns["changed"] = Column([&](size_t i) { return flag(OutcomeOf(i).changed); });
    columns["was_reset"] = Column([&](size_t i) { return flag(get()->slot(i).was_reset); });
    columns["has_final"] = Column([&](size_t i) { return flag(get()->slot(i).has_final); });
    nb::list errors;
    for (size_t i = 0; i < get()->size(); ++i) errors.append(OutcomeOf(i).error);
    columns["errors"] = errors;
    return columns;
  }

  // Calls without Python's lock; an interrupt becomes Python's own.
  template <class Call>
  void Led(Call call) {
    Vector& envs = *get();
    const Status done = Unlocked([&] { return call(envs); });
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    OrThrow(done);
  }
};

template <class Self>
nb::class_<Self> BindVector(nb::module_& module, const char* name, const char* doc) {
  nb::class_<Self> bound(module, name, doc);
  bound.def_prop_ro("alive", &Self::alive, "False in a child that was forked off.")
      .def("reset", &Self::Reset, nb::arg("seeds"), nb::arg("which"), nb::arg("program").none())
      .def("step", &Self::StepNumbers, nb::arg("actions"))
      .def("send", &Self::Send, nb::arg("env"), nb::arg("action"))
      .def("receive", &Self::Receive, nb::arg("least"))
      .def("outcomes", &Self::Outcomes, nb::arg("final") = false)
      .def("action_masks", &Self::ActionMasks)
      .def("running", &Self::Running, nb::arg("env"));
  return bound;
}

}  // namespace hone::python

#endif  // HONE_PYTHON_VECTOR_H_
