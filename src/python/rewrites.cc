// Decisions, listings of rewrites, and what chooses among them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "bindings.h"
#include "convert.h"
#include "core/file_kinds.h"
#include "core/nearest.h"
#include "core/rewrite.h"
#include "env/rewrite_heuristics.h"
#include "env/rewrites_view.h"
#include "tune/plan.h"

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

  module.def(
      "plan_to_json",
      [](const std::string& pass, const Decisions& decisions) {
        return PlanToJson({pass, decisions});
      },
      nb::arg("pass_name"), nb::arg("decisions"));
  module.def(
      "plan_from_json",
      [](const std::string& text) {
        Plan plan = OrThrow(PlanFromJson(text));
        return std::pair(std::move(plan.pass), std::move(plan.decisions));
      },
      nb::arg("text"));
  nb::dict tuned_plan;
  tuned_plan["format"] = kTunedPlanFile.format;
  tuned_plan["version"] = kTunedPlanFile.version;
  module.attr("TUNED_PLAN") = tuned_plan;

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
         uint64_t seed) {
        const std::vector<bool> accept = RunHeuristic(name, rewrites, objective, seed);
        return ToNumpy(std::vector<int8_t>(accept.begin(), accept.end()), {accept.size()});
      },
      nb::arg("name"), nb::arg("rewrites"), nb::arg("objective") = "op_count", nb::arg("seed") = 0,
      "int8 [sites], 1 where the heuristic accepts.");
}

}  // namespace hone::python
