// hone._core: sessions and vector environments for the Python package, which gives them Gymnasium's
// face. Nothing here starts before Python asks, and long calls let other Python threads run.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "bindings.h"
#include "convert.h"

namespace hone::python {
namespace {

std::vector<std::string> Names(Session& session) {
  std::vector<std::string> names;
  for (PassId pass : session.actions()) names.push_back(session.pool().passes()[pass].name);
  if (session.options().stop_action) names.push_back("stop");
  return names;
}

class PyVectorEnv : public OfThisProcess<VectorEnv> {
 public:
  PyVectorEnv(const PySession& session, size_t count, int autoreset)
      : PyVectorEnv(
            std::make_shared<VectorEnv>(session.get(), count, static_cast<Autoreset>(autoreset))) {}
  explicit PyVectorEnv(std::shared_ptr<VectorEnv> env) : OfThisProcess(std::move(env)) {
    get()->set_interrupted([] {
      nb::gil_scoped_acquire acquire;
      return PyErr_CheckSignals() != 0;
    });
  }

  void Reset(const std::vector<std::optional<uint64_t>>& seeds, const std::vector<bool>& which,
             std::optional<size_t> program) {
    // vector<bool> has no bytes to look at.
    const auto flat = std::make_unique<bool[]>(which.size());
    std::copy(which.begin(), which.end(), flat.get());
    Led([&](VectorEnv& env) { return env.Reset(seeds, {flat.get(), which.size()}, program); });
  }

  void Step(const nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& actions) {
    const std::span<const int64_t> taken(actions.data(), actions.size());
    Led([&](VectorEnv& env) { return env.Step(taken); });
  }

  void Send(size_t env, int64_t action) {
    CheckIndex(env);
    get()->Send(env, action);
  }
  std::vector<size_t> Receive(size_t least) {
    std::vector<size_t> done;
    Led([&](VectorEnv& env) {
      done = env.Receive(least);
      for (size_t i : done) {
        if (!env.slot(i).error) return env.slot(i).error;
      }
      return Status();
    });
    return done;
  }

  nb::object Observation(const std::string& part, bool final) const {
    return Observe(Views(final), *get()->session(), part);
  }
  nb::list Graphs(bool final) const {
    nb::list graphs;
    for (const View* view : Views(final)) graphs.append(ObserveGraph(*view));
    return graphs;
  }

  // Columns of what came of the last step of each environment.
  nb::dict Outcomes(bool final) const {
    const VectorEnv& env = *get();
    const size_t n = env.size();
    const std::vector<const View*> views = Views(final);
    std::vector<double> reward(n);
    std::vector<double> value(n);
    std::vector<int64_t> op_count(n);
    std::vector<int64_t> program(n);
    std::vector<int64_t> steps(n);
    // numpy has bool, and std::vector<bool> is none.
    const auto flags = [n] { return std::vector<uint8_t>(n); };
    std::vector<uint8_t> terminated = flags(), truncated = flags(), changed = flags(),
                         was_reset = flags(), has_final = flags();
    nb::list errors;
    for (size_t i = 0; i < n; ++i) {
      const VectorEnv::Slot& slot = env.slot(i);
      const Outcome& outcome = slot.has_final ? slot.final_outcome : slot.outcome;
      reward[i] = outcome.reward;
      terminated[i] = outcome.terminated;
      truncated[i] = outcome.truncated;
      changed[i] = outcome.changed;
      was_reset[i] = slot.was_reset;
      has_final[i] = slot.has_final;
      errors.append(outcome.error);
      value[i] = ObjectiveValue(env.session()->options().reward.objective, views[i]->metrics);
      op_count[i] = views[i]->metrics.op_count;
      program[i] = static_cast<int64_t>(views[i]->program);
      steps[i] = static_cast<int64_t>(views[i]->actions.size());
    }
    nb::dict columns;
    columns["reward"] = ToNumpy(std::move(reward), {n});
    columns["value"] = ToNumpy(std::move(value), {n});
    columns["op_count"] = ToNumpy(std::move(op_count), {n});
    columns["program"] = ToNumpy(std::move(program), {n});
    columns["steps"] = ToNumpy(std::move(steps), {n});
    columns["terminated"] = ToNumpy(std::move(terminated), {n});
    columns["truncated"] = ToNumpy(std::move(truncated), {n});
    columns["changed"] = ToNumpy(std::move(changed), {n});
    columns["was_reset"] = ToNumpy(std::move(was_reset), {n});
    columns["has_final"] = ToNumpy(std::move(has_final), {n});
    columns["errors"] = errors;
    return columns;
  }

  nb::object ActionMasks() const {
    const VectorEnv& env = *get();
    const auto actions = static_cast<size_t>(env.session()->action_count());
    std::vector<int8_t> masks;
    masks.reserve(env.size() * actions);
    for (size_t i = 0; i < env.size(); ++i) {
      const std::vector<bool> mask = env.slot(i).env.ActionMask();
      masks.insert(masks.end(), mask.begin(), mask.end());
    }
    return ToNumpy(std::move(masks), {env.size(), actions});
  }

  // The actions so far, with which an environment gets back to its state.
  std::vector<int64_t> Actions(size_t env) const {
    CheckIndex(env);
    return get()->slot(env).env.view().actions;
  }
  std::pair<uint64_t, int64_t> ScheduleState(size_t env) const {
    CheckIndex(env);
    return get()->slot(env).env.schedule_state();
  }
  void SetScheduleState(size_t env, std::pair<uint64_t, int64_t> state) {
    CheckIndex(env);
    get()->env(env).set_schedule_state(state.first, state.second);
  }
  bool Running(size_t env) const {
    CheckIndex(env);
    return get()->slot(env).env.running();
  }
  std::string Fingerprint(size_t env) const {
    CheckIndex(env);
    return get()->slot(env).env.view().fingerprint.ToHex();
  }

  nb::dict MakeRecipe(size_t env) const {
    CheckIndex(env);
    const Recipe recipe = get()->slot(env).env.MakeRecipe();
    nb::dict program;
    program["file"] = recipe.program.file;
    program["name"] = recipe.program.name;
    program["fingerprint"] = recipe.program.fingerprint;
    nb::dict out;
    out["xla_version"] = recipe.xla_version;
    out["program"] = program;
    out["passes"] = recipe.passes;
    out["result_fingerprint"] = recipe.result_fingerprint;
    out["objective"] = recipe.objective;
    out["initial_value"] = recipe.initial_value;
    out["result_value"] = recipe.result_value;
    return out;
  }

  // HLO text of the state, rebuilt from the program and verified by XLA's verifier.
  std::string Text(size_t env) {
    CheckIndex(env);
    const StateName state = get()->slot(env).env.view().state;
    return OrThrow(Unlocked(
                       [&] { return get()->session()->pool().Export(state, ExportFormat::kText); }))
        .bytes;
  }

  nb::dict Verify(size_t env, int inputs, double budget_seconds, uint64_t seed) {
    CheckIndex(env);
    const StateName state = get()->slot(env).env.view().state;
    CompareOptions options;
    options.inputs = inputs;
    options.budget_seconds = budget_seconds;
    options.seed = seed;
    return ToDict(OrThrow(Unlocked([&] {
      return get()->session()->pool().Compare({state.program, {}}, state, options);
    })));
  }

  std::unique_ptr<PyVectorEnv> Fork() {
    std::shared_ptr<VectorEnv> forked = get()->Fork();
    return std::make_unique<PyVectorEnv>(std::move(forked));
  }

 private:
  void CheckIndex(size_t env) const {
    if (env >= get()->size()) throw nb::index_error("no such environment");
  }

  std::vector<const View*> Views(bool final) const {
    std::vector<const View*> views;
    for (size_t i = 0; i < get()->size(); ++i) {
      const VectorEnv::Slot& slot = get()->slot(i);
      views.push_back(final && slot.has_final ? &slot.final_view : &slot.env.view());
    }
    return views;
  }

  // Calls without Python's lock; an interrupt becomes Python's own.
  template <class Call>
  void Led(Call call) {
    VectorEnv& env = *get();
    const Status done = Unlocked([&] { return call(env); });
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    OrThrow(done);
  }
};

std::shared_ptr<Session> OpenSession(const std::vector<std::pair<std::string, nb::bytes>>& programs,
                                     const nb::dict& options, const nb::dict& pool_options) {
  std::vector<ProgramSource> sources;
  for (const auto& [name, data] : programs) {
    sources.push_back({name, std::string(data.c_str(), data.size())});
  }
  const EnvOptions env = ToEnvOptions(options);
  const PoolOptions pool = ToPoolOptions(pool_options);
  return OrThrow(Unlocked([&] { return Session::Open(std::move(sources), env, pool); }));
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "The C++ side of hone's environments; use the classes of the package instead.";
  // Python's interpreter may end before its modules' objects do.
  nb::set_leak_warnings(false);

  nb::list objectives;
  for (const std::string_view name : kObjectiveNames) objectives.append(std::string(name));
  module.attr("OBJECTIVES") = nb::tuple(objectives);
  module.attr("COST_FEATURES") =
      nb::make_tuple("flops", "transcendentals", "bytes_accessed", "computations", "loop_depth");

  nb::class_<PySession>(module, "Session", "Workers, programs, and what is known of their states.")
      .def(
          "__init__",
          [](PySession* self, const std::vector<std::pair<std::string, nb::bytes>>& programs,
             const nb::dict& options, const nb::dict& pool_options) {
            new (self) PySession(OpenSession(programs, options, pool_options));
          },
          nb::arg("programs"), nb::arg("options"), nb::arg("pool_options"))
      .def_prop_ro("alive", &PySession::alive, "False in a child that was forked off.")
      .def_prop_ro("actions", [](const PySession& self) { return Names(*self.get()); })
      .def_prop_ro("opcodes", [](const PySession& self) { return self.get()->pool().opcodes(); })
      .def_prop_ro("types", [](const PySession& self) { return self.get()->pool().types(); })
      .def_prop_ro("xla_version",
                   [](const PySession& self) { return self.get()->pool().version(); })
      .def_prop_ro("pids", [](const PySession& self) { return self.get()->pool().pids(); })
      .def_prop_ro("transitions", [](const PySession& self) { return self.get()->transitions(); })
      .def_prop_ro("deaths",
                   [](const PySession& self) {
                     std::vector<std::pair<std::string, std::string>> deaths;
                     for (const Death& death : self.get()->pool().deaths()) {
                       deaths.emplace_back(death.doing, death.why);
                     }
                     return deaths;
                   })
      .def(
          "raw_loop",
          [](const PySession& self, size_t program, uint64_t seed, int64_t first_episode,
             double seconds) {
            Session& session = *self.get();
            const EnvProgram* loaded =
                program < session.programs() ? session.Loaded(program) : nullptr;
            if (loaded == nullptr) throw nb::value_error("the program is not loaded: reset first");
            RawLoopOptions options;
            options.actions = session.actions();
            options.seed = seed;
            options.first_episode = first_episode;
            options.length = session.options().traj_limit;
            options.seconds = seconds;
            const RawLoopResult result = OrThrow(Unlocked([&] {
              return session.pool().On(0, [&](RemoteWorker& remote) {
                return remote.RawLoop(loaded->info.id, options);
              });
            }));
            return nb::make_tuple(result.steps, result.episodes, result.seconds);
          },
          nb::arg("program"), nb::arg("seed"), nb::arg("first_episode"), nb::arg("seconds"),
          "(steps, episodes, seconds) of the passes alone: what environments are measured against.")
      .def("failures", [](const PySession& self) {
        nb::dict failures;
        for (const auto& [what, count] : self.get()->failures()) {
          const std::string& pass = self.get()->pool().passes()[what.first].name;
          failures[nb::make_tuple(pass, what.second)] = count;
        }
        return failures;
      });

  nb::class_<PyVectorEnv>(module, "VectorEnv", "Environments over the workers of one session.")
      .def(nb::init<const PySession&, size_t, int>(), nb::arg("session"), nb::arg("count"),
           nb::arg("autoreset"), "autoreset: 0 next step, 1 same step, 2 disabled.")
      .def_prop_ro("alive", &PyVectorEnv::alive)
      .def("reset", &PyVectorEnv::Reset, nb::arg("seeds"), nb::arg("which"),
           nb::arg("program").none())
      .def("step", &PyVectorEnv::Step, nb::arg("actions"))
      .def("send", &PyVectorEnv::Send, nb::arg("env"), nb::arg("action"))
      .def("receive", &PyVectorEnv::Receive, nb::arg("least"))
      .def("observe", &PyVectorEnv::Observation, nb::arg("part"), nb::arg("final") = false)
      .def("graphs", &PyVectorEnv::Graphs, nb::arg("final") = false)
      .def("outcomes", &PyVectorEnv::Outcomes, nb::arg("final") = false)
      .def("action_masks", &PyVectorEnv::ActionMasks)
      .def("actions", &PyVectorEnv::Actions, nb::arg("env"))
      .def("running", &PyVectorEnv::Running, nb::arg("env"))
      .def("schedule_state", &PyVectorEnv::ScheduleState, nb::arg("env"))
      .def("set_schedule_state", &PyVectorEnv::SetScheduleState, nb::arg("env"), nb::arg("state"))
      .def("fingerprint", &PyVectorEnv::Fingerprint, nb::arg("env"))
      .def("recipe", &PyVectorEnv::MakeRecipe, nb::arg("env"))
      .def("text", &PyVectorEnv::Text, nb::arg("env"))
      .def("verify", &PyVectorEnv::Verify, nb::arg("env"), nb::arg("inputs"),
           nb::arg("budget_seconds"), nb::arg("seed"))
      .def("fork", &PyVectorEnv::Fork);

  BindJobs(module);
  BindLoops(module);
  BindRewrites(module);
  BindDatasets(module);
  BindVerify(module);
  BindWorkbench(module);
}

}  // namespace hone::python
