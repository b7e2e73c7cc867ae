// Vectors of environments; one alone is a vector of one. The package gives them Gymnasium's face.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <tuple>

#include "jobs/version.h"
#include "tune/recipe.h"
#include "vector.h"

namespace hone::python {
namespace {

template <class Env>
class PyVector : public VectorBase<Env> {
 public:
  using typename VectorBase<Env>::Vector;
  using typename VectorBase<Env>::Action;
  using typename VectorBase<Env>::Slot;
  // SavedEpisode, its parts in order.
  using Saved = std::tuple<uint64_t, int64_t, std::optional<size_t>, std::vector<Action>>;

  using VectorBase<Env>::VectorBase;
  using VectorBase<Env>::env;
  using VectorBase<Env>::get;

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
    const std::vector<const View*> views = Views(final);
    const auto of_view = [&](auto of) {
      return this->Column([&](size_t i) { return of(*views[i]); });
    };
    const Objective objective = get()->session()->options().reward.objective;
    nb::dict columns = this->StepColumns();
    columns["value"] =
        of_view([&](const View& view) { return ObjectiveValue(objective, view.metrics); });
    columns["op_count"] = of_view([](const View& view) { return view.metrics.op_count; });
    columns["flops"] = of_view([](const View& view) { return view.metrics.flops; });
    columns["bytes_accessed"] =
        of_view([](const View& view) { return view.metrics.bytes_accessed; });
    columns["program"] =
        of_view([](const View& view) { return static_cast<int64_t>(view.program); });
    columns["steps"] =
        of_view([](const View& view) { return static_cast<int64_t>(view.actions.size()); });
    return columns;
  }

  nb::object ActionMasks() const {
    const size_t n = get()->size();
    std::vector<int8_t> masks;
    for (size_t i = 0; i < n; ++i) {
      const std::vector<bool> mask = env(i).ActionMask();
      masks.insert(masks.end(), mask.begin(), mask.end());
    }
    const size_t actions = masks.size() / n;
    return ToNumpy(std::move(masks), {n, actions});
  }

  // What restore makes the episode of again. Also in a child that was forked off.
  Saved Save(size_t i) const {
    this->CheckIndex(i);
    const SavedEpisode<Action> saved = this->remains().slot(i).env.Save();
    return {saved.rng_state, saved.episodes, saved.program, saved.actions};
  }
  void Restore(size_t i, const Saved& saved) {
    this->CheckIndex(i);
    const auto& [rng_state, episodes, program, actions] = saved;
    this->Led([&](Vector& envs) {
      return envs.env(i).Restore({rng_state, episodes, program, actions});
    });
  }

  std::string Fingerprint(size_t i) const { return env(i).view().fingerprint.ToHex(); }

  // The text of a recipe's file.
  std::string MakeRecipe(size_t i) const {
    Recipe recipe = env(i).MakeRecipe();
    recipe.hone_version = HoneVersion();
    return RecipeToJson(recipe);
  }

  // HLO text of the state, rebuilt from the program and verified by XLA's verifier.
  std::string Text(size_t i) {
    const StateName state = env(i).view().state;
    return OrThrow(Unlocked(
                       [&] { return get()->session()->pool().Export(state, ExportFormat::kText); }))
        .bytes;
  }

  nb::dict Verify(size_t i, int inputs, double budget_seconds, uint64_t seed) {
    const StateName state = env(i).view().state;
    CompareOptions options;
    options.inputs = inputs;
    options.budget_seconds = budget_seconds;
    options.seed = seed;
    return ToDict(OrThrow(Unlocked([&] {
      return get()->session()->pool().Compare({state.program, {}}, state, options);
    })));
  }

  std::unique_ptr<PyVector> Fork() {
    std::shared_ptr<Vector> forked = get()->Fork();
    return std::make_unique<PyVector>(std::move(forked));
  }

  // What each shows that is not in its view: now, or where its last episode ended.
  std::vector<typename Vector::Seen> Seen(bool final) const {
    std::vector<typename Vector::Seen> seen;
    for (size_t i = 0; i < get()->size(); ++i) {
      const Slot& slot = get()->slot(i);
      seen.push_back(final && slot.has_final ? slot.final_view : slot.env.Seen());
    }
    return seen;
  }

 private:
  std::vector<const View*> Views(bool final) const {
    std::vector<const View*> views;
    for (size_t i = 0; i < get()->size(); ++i) {
      const Slot& slot = get()->slot(i);
      views.push_back(final && slot.has_final ? &slot.final_view : &slot.env.view());
    }
    return views;
  }
};

using PyPassOrderEnvs = PyVector<PassOrderEnv>;
using PyRewritesEnvs = PyVector<RewritesEnv>;

template <class Env>
auto Bind(nb::module_& module, const char* name, const char* doc) {
  using Self = PyVector<Env>;
  nb::class_<Self> bound = BindVector<Self>(module, name, doc);
  bound.def("observe", &Self::Observation, nb::arg("part"), nb::arg("final") = false)
      .def("graphs", &Self::Graphs, nb::arg("final") = false)
      .def("save", &Self::Save, nb::arg("env"),
           "The state of its random numbers, its episodes, program and actions so far.")
      .def("restore", &Self::Restore, nb::arg("env"), nb::arg("saved"),
           "Goes through what save gave, in any session of the same programs and options.")
      .def("fingerprint", &Self::Fingerprint, nb::arg("env"))
      .def("recipe", &Self::MakeRecipe, nb::arg("env"), "The text of a recipe's file.")
      .def("text", &Self::Text, nb::arg("env"))
      .def("verify", &Self::Verify, nb::arg("env"), nb::arg("inputs"), nb::arg("budget_seconds"),
           nb::arg("seed"))
      .def("fork", &Self::Fork);
  return bound;
}

// What an environment over rewrites has beside that.

// An answer for each site of each environment.
void StepBatch(
    PyRewritesEnvs& self,
    const nb::ndarray<const int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& accept) {
  std::vector<RewriteAction> actions;
  for (size_t i = 0; i < accept.shape(0); ++i) {
    const int8_t* row = accept.data() + i * accept.shape(1);
    actions.emplace_back(std::vector<bool>(row, row + accept.shape(1)));
  }
  self.Step(actions);
}

nb::object SiteFeatures(const PyRewritesEnvs& self, bool final) {
  const std::vector<RewritesView> seen = self.Seen(final);
  const auto sites = static_cast<size_t>(self.env(0).options().max_sites);
  std::vector<float> features(seen.size() * sites * kSiteFeatureCount);
  for (size_t i = 0; i < seen.size(); ++i) {
    WriteSites(
        *self.get()->session(), seen[i],
        std::span(features).subspan(i * sites * kSiteFeatureCount, sites * kSiteFeatureCount));
  }
  return ToNumpy(std::move(features), {seen.size(), sites, kSiteFeatureCount});
}

// Columns: turn [n, 2], sites, sites_truncated, and the names of the passes whose turn it is, empty
// where the episode is over.
nb::dict Turns(const PyRewritesEnvs& self, bool final) {
  const std::vector<RewritesView> seen = self.Seen(final);
  const size_t n = seen.size();
  const RewritesEnv& first = self.env(0);
  const std::vector<PassInfo>& passes = self.get()->session()->pool().passes();
  std::vector<int64_t> turn;
  std::vector<int64_t> sites;
  std::vector<uint8_t> truncated;
  nb::list names;
  for (size_t i = 0; i < n; ++i) {
    const RewritesView& view = seen[i];
    turn.push_back(static_cast<int64_t>(view.position));
    turn.push_back(view.loop);
    sites.push_back(static_cast<int64_t>(view.listing->sites.size()));
    truncated.push_back(sites.back() > first.options().max_sites);
    const bool over = !self.env(i).running() || (final && self.get()->slot(i).has_final);
    names.append(over ? std::string() : passes[first.pipeline()[view.position]].name);
  }
  nb::dict columns;
  columns["turn"] = ToNumpy(std::move(turn), {n, size_t{2}});
  columns["sites"] = ToNumpy(std::move(sites), {n});
  columns["sites_truncated"] = ToNumpy(std::move(truncated), {n});
  columns["pass"] = names;
  return columns;
}

// (pass, decisions) of what changed something.
nb::list Made(const PyRewritesEnvs& self, size_t i) {
  return ToList(self.env(i).view().state.links, self.get()->session()->pool());
}

std::vector<std::string> Pipeline(const PyRewritesEnvs& self) {
  std::vector<std::string> names;
  for (PassId pass : self.env(0).pipeline()) {
    names.push_back(self.get()->session()->pool().passes()[pass].name);
  }
  return names;
}

}  // namespace

void BindEnvironments(nb::module_& module) {
  Bind<PassOrderEnv>(module, "PassOrderEnvs", "Environments over the workers of one session.")
      .def(
          "__init__",
          [](PyPassOrderEnvs* self, const PySession& session, size_t count, int autoreset) {
            new (self) PyPassOrderEnvs(std::make_shared<VectorEnv>(
                session.get(), count, static_cast<Autoreset>(autoreset)));
          },
          nb::arg("session"), nb::arg("count"), nb::arg("autoreset"),
          "autoreset: 0 next step, 1 same step, 2 disabled.");

  Bind<RewritesEnv>(module, "RewritesEnvs", "The same, over the rewrites of a pipeline.")
      .def(
          "__init__",
          [](PyRewritesEnvs* self, const PySession& session, const std::string& pipeline, int loops,
             bool batch, int max_sites, bool enabled, size_t count, int autoreset) {
            const RewritesEnvOptions options{
                pipeline,  loops,          batch ? RewriteMode::kBatch : RewriteMode::kSites,
                max_sites, /*texts=*/true, enabled};
            new (self) PyRewritesEnvs(std::make_shared<RewritesVectorEnv>(
                session.get(), OrThrow(RewritesEnv::MakeMany(session.get(), options, count)),
                static_cast<Autoreset>(autoreset)));
          },
          nb::arg("session"), nb::arg("pipeline"), nb::arg("loops"), nb::arg("batch"),
          nb::arg("max_sites"), nb::arg("enabled"), nb::arg("count"), nb::arg("autoreset"))
      .def("step_batch", &StepBatch, nb::arg("accept"))
      .def("site_features", &SiteFeatures, nb::arg("final") = false)
      .def("turns", &Turns, nb::arg("final") = false)
      .def(
          "listing",
          [](const PyRewritesEnvs& self, size_t env) { return *self.env(env).listing(); },
          nb::arg("env"))
      .def("made", &Made, nb::arg("env"))
      .def_prop_ro("pipeline", &Pipeline);
}

}  // namespace hone::python
