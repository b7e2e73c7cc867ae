// One worker, call by call.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <set>
#include <utility>

#include "bindings.h"
#include "convert.h"
#include "core/native_kernel.h"
#include "dataset/similarity.h"
#include "env/alternatives.h"
#include "jobs/run_passes.h"
#include "tune/find_implementations.h"
#include "tune/recipe.h"
#include "wire/pool.h"

namespace hone::python {
namespace {

// A program in a pool, which lets go of it when nobody needs it any more.
struct LoadedProgram {
  LoadedProgram(std::shared_ptr<Pool> of, ProgramInfo what)
      : pool(std::move(of)), info(std::move(what)) {}
  ~LoadedProgram() { pool->Unload(info.id); }
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const std::shared_ptr<Pool> pool;
  const ProgramInfo info;
};

// A value: what is made of it is another one.
class PyState : public OfThisProcess<LoadedProgram> {
 public:
  PyState(std::shared_ptr<LoadedProgram> program, std::vector<Link> links, Metrics of)
      : OfThisProcess(std::move(program)), metrics(of) {
    name_.program = get()->info.id;
    name_.links = std::move(links);
  }

  const StateName& name() const {
    (void)get();  // of this process?
    return name_;
  }
  Fingerprint fingerprint() const {
    return name_.links.empty() ? get()->info.fingerprint : name_.links.back().state;
  }
  nb::list Links() const { return ToList(name_.links, *get()->pool); }

  const Metrics metrics;

 private:
  StateName name_;
};

nb::dict ToDict(const Metrics& metrics) {
  nb::dict dict;
  dict["op_count"] = metrics.op_count;
  dict["flops"] = metrics.flops;
  dict["transcendentals"] = metrics.transcendentals;
  dict["bytes_accessed"] = metrics.bytes_accessed;
  dict["peak_memory"] = metrics.peak_memory;
  dict["computations"] = metrics.computations;
  dict["loop_depth"] = metrics.loop_depth;
  return dict;
}

class PyWorkbench : public OfThisProcess<Pool> {
  // Calls without Python's lock.
  template <class Call>
  auto Led(Call call) const {
    Pool& pool = *get();
    return OrThrow(Unlocked([&] { return call(pool); }));
  }

  ProgramArrays ArraysOf(const PyState& state) const {
    return Led([&](Pool& pool) {
      return pool.On(0, [&](RemoteWorker& remote) { return remote.Arrays(state.name()); });
    });
  }

 public:
  explicit PyWorkbench(const nb::dict& options) : OfThisProcess(Start(ToPoolOptions(options))) {}

  Pool& pool() const { return *get(); }

  std::unique_ptr<PyState> Load(const nb::bytes& data) const {
    std::string bytes(data.c_str(), data.size());
    ProgramInfo info = Led([&](Pool& pool) { return pool.Load(std::move(bytes)); });
    const Metrics metrics = info.metrics;
    return std::make_unique<PyState>(std::make_shared<LoadedProgram>(get(), std::move(info)),
                                     std::vector<Link>(), metrics);
  }

  PassId Pass(const std::string& name) const { return OrThrow(FindPass(pool().passes(), name)); }

  // (state, changed, failure). A pass that fails leaves the state as it was.
  nb::tuple Apply(const PyState& state, const std::string& pass,
                  const std::optional<Decisions>& decisions, bool verify) const {
    ApplyRequest request;
    request.from = state.name();
    request.passes = {Pass(pass)};
    DecisionsPtr decided;
    if (decisions && !decisions->AcceptAll()) {
      decided = std::make_shared<const Decisions>(*decisions);
    }
    request.decisions = {decided};
    request.options.verify = verify;
    request.options.cost = true;
    const Applied applied = Led([&](Pool& pool) { return pool.Apply(request); });
    const Step& step = applied.steps.front();
    std::vector<Link> links = state.name().links;
    if (step.changed) links.push_back({step.pass, step.state, decided});
    return nb::make_tuple(nb::cast(new PyState(state.get(), std::move(links),
                                               step.changed ? step.metrics : state.metrics),
                                   nb::rv_policy::take_ownership),
                          step.changed, step.failure);
  }

  // The program after passes, one after another, as HLO text. One that fails is an error.
  std::string Run(const PyState& state, const std::vector<std::string>& passes) const {
    jobs::RunPassesOptions options;
    for (const std::string& name : passes) options.passes.push_back(Pass(name));
    jobs::RanPasses ran = Led([&](Pool& pool) {
      jobs::Events events;
      return RunPasses(pool, state.get()->info, options, events);
    });
    if (ran.bytes) return *std::move(ran.bytes);
    const jobs::RanPass& last = ran.rows.back();
    throw std::runtime_error("pass '" + last.pass + "' fails: " + last.step.failure);
  }

  // [[pass]]: those that change the program as it was loaded, each with what leads to it; as far as
  // one comes in so many seconds.
  std::vector<std::vector<std::string>> Implementations(
      const PyState& state, const std::optional<std::vector<std::string>>& among,
      double seconds) const {
    std::optional<std::set<std::string>> names;
    if (among) names.emplace(among->begin(), among->end());
    std::vector<tune::Alternative> all;
    {
      nb::gil_scoped_release release;
      all = tune::FindImplementations(pool(), state.get()->info, seconds, nullptr,
                                      names ? &*names : nullptr);
    }
    std::vector<std::vector<std::string>> found;
    for (const tune::Alternative& one : all) {
      found.emplace_back();
      for (const tune::PlannedPass& pass : one.passes) found.back().push_back(pass.pass);
    }
    return found;
  }

  Rewrites List(const PyState& state, const std::string& pass, bool texts, bool effects,
                bool time_pass) const {
    const PassId id = Pass(pass);
    return Led([&](Pool& pool) {
      return pool.ListRewrites(state.name(), id, {texts, effects, time_pass});
    });
  }

  // The first site that the pass asks about; None where it asks about none.
  std::optional<RewriteSite> Converse(const PyState& state, const std::string& pass,
                                      bool texts) const {
    const PassId id = Pass(pass);
    const Question question = Led([&](Pool& pool) {
      return pool.On(0, [&](RemoteWorker& remote) {
        return remote.Converse(state.name(), id, {texts, true, false});
      });
    });
    return SiteOf(question);
  }
  std::optional<RewriteSite> Answer(bool accept) const {
    const Question question = Led([&](Pool& pool) {
      return pool.On(0, [&](RemoteWorker& remote) { return remote.Answer(accept); });
    });
    return SiteOf(question);
  }

  nb::dict Measure(const PyState& state) const {
    return ToDict(Led([&](Pool& pool) { return pool.Measure(state.name()); }));
  }

  // As the environments' "graph", with the names and opcodes of the nodes.
  nb::dict Arrays(const PyState& state) const {
    ProgramArrays arrays = ArraysOf(state);
    View view;
    view.arrays = std::make_shared<const ProgramArrays>(std::move(arrays));
    nb::dict graph = ObserveGraph(view);
    const ProgramGraph described = Led([&](Pool& pool) { return pool.Describe(state.name()); });
    nb::list names;
    for (const auto& [computation, instruction] : NodesOf(described)) {
      names.append(described.computations[computation].instructions[instruction].name);
    }
    graph["name"] = names;
    return graph;
  }

  // The sites of a listing of this very state, in its graph: see env/alternatives.h.
  nb::dict AlternativesOf(const PyState& state, const Rewrites& rewrites) const {
    const ProgramArrays arrays = ArraysOf(state);
    const ProgramGraph described = Led([&](Pool& pool) { return pool.Describe(state.name()); });
    std::vector<int32_t> nodes = NodesOfSites(described, rewrites);
    Alternatives found = FindAlternatives(arrays, nodes);
    nb::dict out;
    const auto put = [&](const char* name, std::vector<int32_t>& values) {
      const size_t size = values.size();
      out[name] = ToNumpy(std::move(values), {size});
    };
    put("original", found.original);
    put("site_start", found.site_start);
    put("site", found.site);
    put("user_start", found.user_start);
    put("user", found.user);
    put("node", nodes);
    return out;
  }

  std::string Text(const PyState& state) const {
    return Led([&](Pool& pool) { return pool.Export(state.name(), ExportFormat::kText); }).bytes;
  }
  nb::bytes Proto(const PyState& state) const {
    const Exported exported =
        Led([&](Pool& pool) { return pool.Export(state.name(), ExportFormat::kProto); });
    return nb::bytes(exported.bytes.data(), exported.bytes.size());
  }

  nb::dict Compare(const PyState& a, const PyState& b, int inputs, double budget_seconds,
                   uint64_t seed) const {
    CompareOptions options;
    options.inputs = inputs;
    options.budget_seconds = budget_seconds;
    options.seed = seed;
    return python::ToDict(
        Led([&](Pool& pool) { return pool.Compare(a.name(), b.name(), options); }));
  }

  // (parameters, results, [results of further runs]): bytes of arrays.
  nb::tuple Evaluate(const PyState& state, int kind, uint64_t seed, int moved, int noisy, int wide,
                     bool run, const std::vector<nb::bytes>& given) const {
    EvaluationOptions options{kind, seed, moved, noisy, wide, run};
    for (const nb::bytes& array : given) options.given.emplace_back(array.c_str(), array.size());
    const Evaluation found = Led([&](Pool& pool) { return pool.Evaluate(state.name(), options); });
    const auto bytes = [](const std::vector<std::string>& arrays) {
      nb::list list;
      for (const std::string& array : arrays) list.append(nb::bytes(array.data(), array.size()));
      return list;
    };
    nb::list samples;
    for (const auto& sample : found.noisy_results) samples.append(bytes(sample));
    return nb::make_tuple(bytes(found.parameters), bytes(found.results), samples);
  }

  std::vector<double> RunTime(const PyState& state, int runs, double budget_seconds,
                              uint64_t seed) const {
    RunTimeOptions options;
    options.runs = runs;
    options.least_seconds = 0;
    options.budget_seconds = budget_seconds;
    options.seed = seed;
    return Led([&](Pool& pool) {
             return pool.On(
                 0, [&](RemoteWorker& remote) { return remote.RunTime(state.name(), options); });
           })
        .seconds;
  }

  nb::dict Race(const PyState& a, const PyState& b, double budget_seconds, uint64_t seed) const {
    RaceOptions options;
    options.budget_seconds = budget_seconds;
    options.seed = seed;
    return python::ToDict(Led([&](Pool& pool) { return pool.Race(a.name(), b.name(), options); }));
  }

  std::vector<std::string> Extract(const PyState& state, const std::string& what, uint64_t seed,
                                   uint32_t most) const {
    ExtractKind kind = ExtractKind::kRandom;
    if (what == "fusions") {
      kind = ExtractKind::kFusions;
    } else if (what == "instructions") {
      kind = ExtractKind::kInstructions;
    } else if (what != "random") {
      throw nb::value_error("what is extracted is random, fusions or instructions");
    }
    return Led([&](Pool& pool) {
      return pool.On(
          0, [&](RemoteWorker& remote) { return remote.Extract(state.name(), kind, seed, most); });
    });
  }

  // The bytes of dataset/similarity.h's sketch: kSketchSize numbers of 64 bits.
  nb::bytes Sketch(const PyState& state) const {
    const ProgramGraph graph = Led([&](Pool& pool) { return pool.Describe(state.name()); });
    const dataset::Sketch sketch = dataset::SketchOf(graph);
    return nb::bytes(reinterpret_cast<const char*>(sketch.data()), sizeof(sketch));
  }

  // (pass, pipeline) of the stock compiler's own order on the program as loaded.
  std::vector<std::pair<std::string, std::string>> StockPasses(const PyState& state) const {
    std::vector<std::pair<std::string, std::string>> passes;
    for (const StockPass& pass :
         Led([&](Pool& pool) { return pool.StockPasses(state.name().program); })) {
      passes.emplace_back(pass.name, pass.pipeline);
    }
    return passes;
  }

 private:
  static std::shared_ptr<Pool> Start(const PoolOptions& options) {
    return OrThrow(Unlocked([&] { return Pool::Start(options); }));
  }

  static std::optional<RewriteSite> SiteOf(const Question& question) {
    if (question.done) return std::nullopt;
    return question.site;
  }
};

}  // namespace

void BindWorkbench(nb::module_& module) {
  nb::class_<PyState>(module, "State", "A program after some passes: a value.")
      .def_prop_ro("fingerprint", [](const PyState& self) { return self.fingerprint().ToHex(); })
      .def_prop_ro("name", [](const PyState& self) { return self.get()->info.name; })
      .def_prop_ro("format", [](const PyState& self) { return self.get()->info.format; })
      .def_prop_ro("links", &PyState::Links, "[(pass, Decisions)] that changed something.")
      .def_prop_ro("op_count", [](const PyState& self) { return self.metrics.op_count; })
      .def_prop_ro("computations", [](const PyState& self) { return self.metrics.computations; });

  nb::class_<PyWorkbench>(module, "Workbench", "One worker of the compiler, call by call.")
      .def(nb::init<const nb::dict&>(), nb::arg("options"))
      .def_prop_ro("alive", &PyWorkbench::alive)
      .def_prop_ro("passes",
                   [](const PyWorkbench& self) {
                     std::vector<std::string> names;
                     for (const PassInfo& pass : self.pool().passes()) names.push_back(pass.name);
                     return names;
                   })
      .def_prop_ro(
          "pass_classes",
          [](const PyWorkbench& self) {
            std::vector<std::pair<std::string, std::string>> classes;
            for (const PassInfo& pass : self.pool().passes()) {
              classes.emplace_back(pass.name, pass.class_name);
            }
            return classes;
          },
          "[(name, XLA's class)]")
      .def_prop_ro(
          "simplifiers",
          [](const PyWorkbench& self) {
            std::vector<std::string> names;
            for (const PassInfo& pass : self.pool().passes()) {
              if (pass.simplify) names.push_back(pass.name);
            }
            return names;
          },
          "The passes of the action set simplify.")
      .def_prop_ro("opcodes", [](const PyWorkbench& self) { return self.pool().opcodes(); })
      .def_prop_ro("types", [](const PyWorkbench& self) { return self.pool().types(); })
      .def_prop_ro("xla_version", [](const PyWorkbench& self) { return self.pool().version(); })
      .def_prop_ro("pids", [](const PyWorkbench& self) { return self.pool().pids(); })
      .def_prop_ro("deaths",
                   [](const PyWorkbench& self) {
                     std::vector<std::pair<std::string, std::string>> deaths;
                     for (const Death& death : self.pool().deaths()) {
                       deaths.emplace_back(death.doing, death.why);
                     }
                     return deaths;
                   })
      .def("load", &PyWorkbench::Load, nb::arg("data"))
      .def("apply", &PyWorkbench::Apply, nb::arg("state"), nb::arg("pass_name"),
           nb::arg("decisions").none() = nb::none(), nb::arg("verify") = false,
           "(state, changed, failure)")
      .def("run", &PyWorkbench::Run, nb::arg("state"), nb::arg("passes"),
           "The program after these passes, as HLO text.")
      .def("implementations", &PyWorkbench::Implementations, nb::arg("state"),
           nb::arg("among").none() = nb::none(), nb::arg("seconds") = 60,
           "[[pass]]: alternative implementations that the program as loaded has a place for, each "
           "with the passes that lead to it.")
      .def("rewrites", &PyWorkbench::List, nb::arg("state"), nb::arg("pass_name"),
           nb::arg("texts") = true, nb::arg("effects") = true, nb::arg("time_pass") = false)
      .def("converse", &PyWorkbench::Converse, nb::arg("state"), nb::arg("pass_name"),
           nb::arg("texts") = true, "The first site that the pass asks about, or None.")
      .def("answer", &PyWorkbench::Answer, nb::arg("accept"), "The next one, or None.")
      .def("metrics", &PyWorkbench::Measure, nb::arg("state"))
      .def("arrays", &PyWorkbench::Arrays, nb::arg("state"))
      .def("alternatives", &PyWorkbench::AlternativesOf, nb::arg("state"), nb::arg("rewrites"))
      .def("text", &PyWorkbench::Text, nb::arg("state"))
      .def("proto", &PyWorkbench::Proto, nb::arg("state"))
      .def("compare", &PyWorkbench::Compare, nb::arg("a"), nb::arg("b"), nb::arg("inputs") = 3,
           nb::arg("budget_seconds") = 120, nb::arg("seed") = 1)
      .def(
          "evaluate", &PyWorkbench::Evaluate, nb::arg("state"), nb::arg("kind") = 0,
          nb::arg("seed") = 1, nb::arg("moved") = 0, nb::arg("noisy") = 0, nb::arg("wide") = 0,
          nb::arg("run") = true,
          nb::arg("given") = std::vector<nb::bytes>(),
          "(parameters, results, further legal runs' results) on the given inputs, or on generated "
          "ones, as bytes.")
      .def("run_time", &PyWorkbench::RunTime, nb::arg("state"), nb::arg("runs") = 5,
           nb::arg("budget_seconds") = 60, nb::arg("seed") = 0, "Seconds of each run.")
      .def("race", &PyWorkbench::Race, nb::arg("a"), nb::arg("b"), nb::arg("budget_seconds") = 20,
           nb::arg("seed") = 0)
      .def("extract", &PyWorkbench::Extract, nb::arg("state"), nb::arg("what"), nb::arg("seed") = 0,
           nb::arg("most") = 1000)
      .def("sketch", &PyWorkbench::Sketch, nb::arg("state"),
           "128 numbers of 64 bits, as bytes: the share of equal ones estimates how alike two "
           "programs are, whatever their sizes.")
      .def("stock_passes", &PyWorkbench::StockPasses, nb::arg("state"));
  nb::list kernel_passes;
  for (const std::string_view pass : loops::kKernelPasses) {
    kernel_passes.append(nb::str(pass.data(), pass.size()));
  }
  module.attr("KERNEL_PASSES") = nb::tuple(kernel_passes);
  module.attr("KERNEL_CALL") = loops::kKernelCall;
}

}  // namespace hone::python
