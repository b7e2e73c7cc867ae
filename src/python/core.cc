// hone._core: sessions, and what the rest of this folder binds, for the Python package. Nothing
// here starts before Python asks, and long calls let other Python threads run.
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

  BindEnvironments(module);
  BindJobs(module);
  BindLoops(module);
  BindRewrites(module);
  BindDatasets(module);
  BindVerify(module);
  BindWorkbench(module);
}

}  // namespace hone::python
