// Decisions, listings of rewrites, and the environment over them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>

#include "bindings.h"
#include "convert.h"
#include "core/nearest.h"
#include "core/rewrite.h"
#include "env/rewrite_heuristics.h"
#include "env/rewrites_env.h"

namespace hone::python {
namespace {

template <class Names>
[[noreturn]] void NoSuch(const char* what, const std::string& name, const Names& known) {
  throw nb::value_error((std::string("there is no ") + what + " '" + name + "'" +
                         DidYouMean(name, {std::begin(known), std::end(known)}))
                            .c_str());
}

Decisions MakeDecisions(const std::string& otherwise, uint64_t seed,
                        const std::map<SiteKey, bool>& choices) {
  const auto known = OtherwiseFromName(otherwise);
  if (!known) NoSuch("default decision", otherwise, kOtherwiseNames);
  Decisions decisions;
  decisions.otherwise = *known;
  decisions.seed = seed;
  for (const auto& [key, accept] : choices) decisions.choices.push_back({key, accept});
  return decisions;
}

std::map<SiteKey, bool> Choices(const Decisions& decisions) {
  std::map<SiteKey, bool> choices;
  for (const SiteChoice& choice : decisions.choices) choices[choice.key] = choice.accept;
  return choices;
}

nb::object Flags(const std::vector<bool>& flags) {
  return ToNumpy(std::vector<int8_t>(flags.begin(), flags.end()), {flags.size()});
}

std::vector<bool> RunHeuristic(const std::string& name, const Rewrites& rewrites,
                               const std::string& objective, uint64_t seed) {
  const auto of = ObjectiveFromName(objective);
  if (!of) NoSuch("objective", objective, kObjectiveNames);
  std::vector<std::string_view> names;
  for (const NamedRewriteHeuristic& heuristic : kRewriteHeuristics) {
    Rng rng(seed);
    if (heuristic.name == name) return heuristic.accept(rewrites, *of, rng);
    names.push_back(heuristic.name);
  }
  NoSuch("heuristic", name, names);
}

class PyRewritesEnv : public OfThisProcess<RewritesEnv> {
 public:
  PyRewritesEnv(const PySession& session, const std::string& pipeline, int loops, bool batch,
                int max_sites, bool texts, bool enabled)
      : OfThisProcess(
            Make(session, {pipeline, loops, batch ? RewriteMode::kBatch : RewriteMode::kSites,
                           max_sites, texts, enabled})) {}

  void Reset(std::optional<uint64_t> seed, std::optional<size_t> program) {
    outcome_ = {};
    Led([&](RewritesEnv& env) { return env.Reset(seed, program); });
  }
  void Step(int64_t action) {
    Led([&](RewritesEnv& env) -> Status { return Keep(env.Step(action)); });
  }
  void StepBatch(
      const nb::ndarray<const int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& accept) {
    std::vector<bool> answers(accept.data(), accept.data() + accept.size());
    Led([&](RewritesEnv& env) -> Status { return Keep(env.Step(answers)); });
  }

  nb::dict State() const {
    const RewritesEnv& env = *get();
    const bool known = env.session()->Loaded(env.view().program) != nullptr;
    const Metrics& metrics = env.view().metrics;
    nb::dict state;
    state["reward"] = outcome_.reward;
    state["terminated"] = outcome_.terminated;
    state["truncated"] = outcome_.truncated;
    state["changed"] = outcome_.changed;
    state["error"] = outcome_.error;
    state["program"] = env.view().program;
    state["value"] = known ? env.value() : 0;
    state["op_count"] = metrics.op_count;
    state["flops"] = metrics.flops;
    state["bytes_accessed"] = metrics.bytes_accessed;
    state["steps"] = env.steps();
    state["position"] = env.position();
    state["loop"] = env.loop();
    state["pass"] = env.running()
                        ? env.session()->pool().passes()[env.pipeline()[env.position()]].name
                        : std::string();
    state["sites"] = env.listing()->sites.size();
    state["sites_truncated"] = env.listing_truncated();
    return state;
  }

  std::string Text() const {
    return OrThrow(Unlocked([&] {
             return get()->session()->pool().Export(get()->view().state, ExportFormat::kText);
           }))
        .bytes;
  }

  nb::dict Verify(int inputs, double budget_seconds, uint64_t seed) const {
    CompareOptions options;
    options.inputs = inputs;
    options.budget_seconds = budget_seconds;
    options.seed = seed;
    return ToDict(OrThrow(Unlocked([&] {
      const StateName& state = get()->view().state;
      return get()->session()->pool().Compare({state.program, {}}, state, options);
    })));
  }

  // (pass, decisions) of what changed something.
  nb::list Made() const {
    nb::list made;
    for (const Link& link : get()->view().state.links) {
      const std::string& pass = get()->session()->pool().passes()[link.pass].name;
      made.append(nb::make_tuple(pass, link.decisions == nullptr ? Decisions() : *link.decisions));
    }
    return made;
  }

 private:
  static std::shared_ptr<RewritesEnv> Make(const PySession& session,
                                           const RewritesEnvOptions& options) {
    return OrThrow(RewritesEnv::Make(session.get(), options));
  }

  Status Keep(StatusOr<Outcome> outcome) {
    if (!outcome) return tl::unexpected(outcome.error());
    outcome_ = *std::move(outcome);
    return {};
  }

  template <class Call>
  void Led(Call call) {
    RewritesEnv& env = *get();
    OrThrow(Unlocked([&] { return call(env); }));
  }

  Outcome outcome_;
};

}  // namespace

void BindRewrites(nb::module_& module) {
  module.attr("SITE_FEATURES") = nb::tuple(
      nb::cast(std::vector<std::string>(std::begin(kSiteFeatures), std::end(kSiteFeatures))));
  module.attr("REWRITE_KINDS") = nb::tuple(nb::cast(
      std::vector<std::string>(std::begin(kRewriteKindNames), std::end(kRewriteKindNames))));
  module.attr("SITE_STATUSES") = nb::tuple(
      nb::cast(std::vector<std::string>(std::begin(kSiteStatusNames), std::end(kSiteStatusNames))));
  std::vector<std::string> heuristics;
  for (const NamedRewriteHeuristic& heuristic : kRewriteHeuristics) {
    heuristics.emplace_back(heuristic.name);
  }
  module.attr("REWRITE_HEURISTICS") = nb::tuple(nb::cast(heuristics));

  nb::class_<Decisions>(module, "Decisions", "What is decided about the rewrites of one pass run.")
      .def(
          "__init__",
          [](Decisions* self, const std::string& otherwise, uint64_t seed,
             const std::map<SiteKey, bool>& choices) {
            new (self) Decisions(MakeDecisions(otherwise, seed, choices));
          },
          nb::arg("otherwise") = "accept", nb::arg("seed") = 0,
          nb::arg("choices") = std::map<SiteKey, bool>())
      .def_prop_ro(
          "otherwise",
          [](const Decisions& self) { return std::string(OtherwiseName(self.otherwise)); },
          "Of sites that no choice names.")
      .def_ro("seed", &Decisions::seed)
      .def_prop_ro("choices", &Choices, "{place or content: whether it is accepted}")
      .def("__eq__", [](const Decisions& a, const Decisions& b) { return a == b; })
      .def("__hash__", &Decisions::Hash)
      .def("__repr__", [](const Decisions& self) {
        return "Decisions('" + std::string(OtherwiseName(self.otherwise)) + "', " +
               std::to_string(self.choices.size()) + " choices)";
      });

  nb::class_<RewriteSite>(module, "Site", "A rewrite that a pass would make.")
      .def_ro("place", &RewriteSite::place, "Names this site, in this state.")
      .def_ro("content", &RewriteSite::content, "Names all that look like it, in any program.")
      .def_prop_ro("kind",
                   [](const RewriteSite& self) { return std::string(RewriteKindName(self.kind)); })
      .def_prop_ro("status",
                   [](const RewriteSite& self) { return std::string(SiteStatusName(self.status)); })
      .def_ro("computation", &RewriteSite::computation)
      .def_ro("instruction", &RewriteSite::instruction)
      .def_ro("opcode", &RewriteSite::opcode)
      .def_ro("original", &RewriteSite::original)
      .def_ro("replacement", &RewriteSite::replacement)
      .def_ro("reason", &RewriteSite::reason)
      .def_ro("delta_op_count", &RewriteSite::delta_op_count)
      .def_ro("delta_flops", &RewriteSite::delta_flops)
      .def_ro("delta_bytes", &RewriteSite::delta_bytes)
      .def("__repr__", [](const RewriteSite& self) {
        return "Site(" + std::string(RewriteKindName(self.kind)) + " " + self.instruction + ", " +
               std::to_string(self.delta_op_count) + " ops)";
      });

  nb::class_<Rewrites>(module, "Rewrites", "What a pass would do to a state.")
      .def_prop_ro("state", [](const Rewrites& self) { return self.state.ToHex(); })
      .def_ro("separable", &Rewrites::separable)
      .def_ro("sites", &Rewrites::sites)
      .def_ro("conflicts", &Rewrites::conflicts)
      .def_ro("pass_seconds", &Rewrites::pass_seconds)
      .def_ro("dry_seconds", &Rewrites::dry_seconds)
      .def_ro("list_seconds", &Rewrites::list_seconds)
      .def("__len__", [](const Rewrites& self) { return self.sites.size(); });

  module.def(
      "rewrite_heuristic",
      [](const std::string& name, const Rewrites& rewrites, const std::string& objective,
         uint64_t seed) { return Flags(RunHeuristic(name, rewrites, objective, seed)); },
      nb::arg("name"), nb::arg("rewrites"), nb::arg("objective") = "op_count", nb::arg("seed") = 0,
      "int8 [sites], 1 where the heuristic accepts.");

  nb::class_<PyRewritesEnv>(module, "RewritesEnv", "Rewrites of a pipeline, one environment.")
      .def(nb::init<const PySession&, const std::string&, int, bool, int, bool, bool>(),
           nb::arg("session"), nb::arg("pipeline"), nb::arg("loops"), nb::arg("batch"),
           nb::arg("max_sites"), nb::arg("texts"), nb::arg("enabled"))
      .def("reset", &PyRewritesEnv::Reset, nb::arg("seed").none(), nb::arg("program").none())
      .def("step", &PyRewritesEnv::Step, nb::arg("action"))
      .def("step_batch", &PyRewritesEnv::StepBatch, nb::arg("accept"))
      .def("outcome", &PyRewritesEnv::State)
      .def_prop_ro("running", [](const PyRewritesEnv& self) { return self.get()->running(); })
      .def_prop_ro("pipeline",
                   [](const PyRewritesEnv& self) {
                     std::vector<std::string> names;
                     for (PassId pass : self.get()->pipeline()) {
                       names.push_back(self.get()->session()->pool().passes()[pass].name);
                     }
                     return names;
                   })
      .def_prop_ro("fingerprint",
                   [](const PyRewritesEnv& self) { return self.get()->view().fingerprint.ToHex(); })
      .def_prop_ro("listing", [](const PyRewritesEnv& self) { return *self.get()->listing(); })
      .def("action_mask", [](const PyRewritesEnv& self) { return Flags(self.get()->ActionMask()); })
      .def("site_features",
           [](const PyRewritesEnv& self) {
             return ToNumpy(
                 self.get()->SiteFeatures(),
                 {static_cast<size_t>(self.get()->options().max_sites), kSiteFeatureCount});
           })
      .def(
          "observe",
          [](const PyRewritesEnv& self, const std::string& part) {
            return Observe({&self.get()->view()}, *self.get()->session(), part);
          },
          nb::arg("part"))
      .def("graph", [](const PyRewritesEnv& self) { return ObserveGraph(self.get()->view()); })
      .def("made", &PyRewritesEnv::Made)
      .def("text", &PyRewritesEnv::Text)
      .def("verify", &PyRewritesEnv::Verify, nb::arg("inputs"), nb::arg("budget_seconds"),
           nb::arg("seed"));
}

}  // namespace hone::python
