// Jobs in this process: what hone's commands do, without the command.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "convert.h"
#include "jobs/blame.h"
#include "jobs/kernels.h"
#include "jobs/open_program.h"
#include "jobs/optimize.h"
#include "jobs/quantities.h"
#include "jobs/store.h"
#include "jobs/tune.h"
#include "store/store.h"

namespace hone::python {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(50);  // between looks at signals
constexpr auto kBetweenLines = std::chrono::milliseconds(100);

// The job's thread leaves lines here, the caller's takes them.
class Lines : public jobs::Events {
 public:
  Lines(const std::atomic<bool>* stop, bool wanted) : Events(stop), wanted_(wanted) {}

  bool Due() const override { return wanted_ && Clock::now() >= next_; }
  void Show(const std::string& line) override {
    if (!Due()) return;
    next_ = Clock::now() + kBetweenLines;
    Put(line);
  }
  std::shared_ptr<void> During(const std::string& what) override {
    Put(what + " …");
    return nullptr;
  }
  void Warn(const std::string& about, const std::string& message) override {
    Put((about.empty() ? "" : about + ": ") + "warning: " + message);
  }

  std::vector<std::string> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  void Put(const std::string& line) {
    if (!wanted_) return;
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }

  const bool wanted_;
  Clock::time_point next_ = Clock::now();
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Runs a job on a thread of its own. This one calls `tell`, unless it is None, with the job's
// lines, and looks for signals: the first Ctrl-C has the job end with what it has found, a second
// is raised when it has ended, and so is what `tell` raises.
template <class Job>
auto Run(const nb::object& tell, Job job) {
  std::atomic<bool> stop = false;
  Lines lines(&stop, !tell.is_none());
  auto result = std::async(std::launch::async, [&] { return job(lines); });
  std::optional<nb::python_error> raised;
  const auto attend = [&] {
    nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) {
        if (stop || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw nb::python_error();
        PyErr_Clear();
        stop = true;
      }
      for (const std::string& line : lines.Take()) tell(line);
    } catch (nb::python_error& error) {
      raised.emplace(error);
      stop = true;
    }
  };
  {
    nb::gil_scoped_release release;
    while (result.wait_for(kLook) != std::future_status::ready) attend();
    attend();
  }
  if (raised) throw nb::python_error(*raised);
  return OrThrow(result.get());
}

// As the commands have it: a worker may take what it needs.
PoolOptions JobPool(const nb::dict& options) {
  PoolOptions pool = ToPoolOptions(options);
  pool.headroom_bytes = 0;
  pool.cache_bytes = PoolOptions().cache_bytes;
  return pool;
}

// A pool that is started while other things are done.
class Starting {
 public:
  explicit Starting(const PoolOptions& options)
      : options_(options),
        pool_(std::async(std::launch::async, [this] { return Pool::Start(options_); })) {}

  // The first time that one; then others.
  StatusOr<std::unique_ptr<Pool>> Take() {
    return pool_.valid() ? pool_.get() : Pool::Start(options_);
  }

 private:
  const PoolOptions options_;
  std::future<StatusOr<std::unique_ptr<Pool>>> pool_;
};

class PyStarting : public OfThisProcess<Starting> {
 public:
  explicit PyStarting(const nb::dict& options)
      : OfThisProcess(std::make_shared<Starting>(JobPool(options))) {}
};

jobs::OpenOptions Opening(const PyStarting& pool, uint64_t seed) {
  jobs::OpenOptions open;
  open.start_pool = [pool = pool.get()] { return pool->Take(); };
  open.seed = seed;
  return open;
}

std::string BytesOf(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

nb::object Parsed(const std::string& json) {
  return nb::module_::import_("json").attr("loads")(json);
}

std::string Text(const jobs::Json& json) {
  return json.dump(-1, ' ', false, jobs::Json::error_handler_t::replace);
}

// (the answer of `hone tune --json`, the plan)
nb::tuple Tune(const nb::bytes& program, const PyStarting& pool, const std::string& file,
               double budget_seconds, uint64_t seed, const std::string& store_file,
               const std::vector<nb::bytes>& inputs, const nb::object& tell) {
  jobs::TuneProgramOptions options;
  if (!inputs.empty()) {
    std::vector<std::string>& given = options.tuning.compare.given.emplace_back();
    for (const nb::bytes& array : inputs) given.push_back(BytesOf(array));
  }
  options.file = file;
  options.tuning.stages = OrThrow(jobs::StagesFor(std::string(jobs::kDefaultStages), false));
  options.tuning.budget_seconds = budget_seconds;
  options.tuning.seed = seed;
  const auto [answer, plan] =
      Run(tell,
          [&, data = BytesOf(program), opening = Opening(pool, seed)](
              jobs::Events& events) mutable -> StatusOr<std::pair<std::string, std::string>> {
            const auto store = jobs::OpenStore(store_file);
            if (!store) return tl::unexpected(jobs::InOne(store.error()));
            options.store = store->get();
            const auto opened = OpenProgram(std::move(data), opening, events);
            if (!opened) return tl::unexpected(opened.error());
            const auto tuned = TuneProgram(*opened, options, events);
            if (!tuned) return tl::unexpected(tuned.error());
            return std::pair(Text(ToJson(file, *tuned)),
                             tune::TunePlanToJson(tuned->result.plan, tuned->stand_ins));
          });
  return nb::make_tuple(Parsed(answer), Parsed(plan));
}

// (the answer of `hone optimize --json`, the result as HLO text, why it must not be used or "")
nb::tuple OptimizeFor(const nb::bytes& program, const nb::dict& pool_options,
                      const std::string& file, const std::string& objective, double budget_seconds,
                      uint64_t seed, const nb::object& tell) {
  jobs::OptimizeProgramOptions options;
  options.file = file;
  const auto known = ObjectiveFromName(objective);
  if (!known) throw nb::value_error(("there is no objective '" + objective + "'").c_str());
  options.search.objective = *known;
  options.search.budget_seconds = budget_seconds;
  options.search.seed = seed;
  options.search.format = ExportFormat::kText;
  const auto [answer, text, withheld] = Run(
      tell,
      [&, data = BytesOf(program), starting = JobPool(pool_options)](jobs::Events& events) mutable
          -> StatusOr<std::tuple<std::string, std::string, std::string>> {
        const Clock::time_point start = Clock::now();
        starting.stop = events.stop();
        const auto pool = Pool::Start(starting);
        if (!pool) return tl::unexpected(pool.error());
        const auto info = (*pool)->Load(std::move(data));
        if (!info) return tl::unexpected(info.error());
        auto optimized = OptimizeProgram(**pool, *info, options, events);
        if (!optimized) return tl::unexpected(optimized.error());
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        return std::tuple(
            Text(ToJson(**pool, *info, options, *optimized, seconds, /*timing=*/false)),
            optimized->result.bytes, optimized->withheld);
      });
  return nb::make_tuple(Parsed(answer), text, withheld);
}

// What compiling under a plan comes to, as HLO text.
std::string CompileUnder(const nb::bytes& program, const PyStarting& pool,
                         const std::string& plan_text) {
  const tune::TunePlan plan = OrThrow(tune::TunePlanFromJson(plan_text));
  return Run(nb::none(),
             [&, data = BytesOf(program),
              opening = Opening(pool, 1)](jobs::Events& events) mutable -> StatusOr<std::string> {
               const auto opened = OpenProgram(std::move(data), opening, events);
               if (!opened) return tl::unexpected(opened.error());
               auto compiled = jobs::CompileUnder(*opened->evaluator, plan);
               if (!compiled) return tl::unexpected(compiled.error());
               return std::move(compiled->text);
             });
}

// The answer of `hone blame A B --json`.
nb::object BlamePrograms(const nb::bytes& a, const nb::bytes& b, const nb::dict& pool_options,
                         const std::string& file, const std::string& other, double budget_seconds,
                         uint64_t seed, const nb::object& tell) {
  blame::BlameOptions options;
  options.budget_seconds = budget_seconds;
  options.seed = seed;
  return Parsed(Run(
      tell,
      [&, program = BytesOf(a), against = BytesOf(b),
       starting = JobPool(pool_options)](jobs::Events& events) mutable -> StatusOr<std::string> {
        starting.stop = events.stop();
        const auto pool = Pool::Start(starting);
        if (!pool) return tl::unexpected(pool.error());
        const auto of_a = (*pool)->Load(std::move(program));
        if (!of_a) return tl::unexpected(of_a.error());
        const auto of_b = (*pool)->Load(std::move(against));
        if (!of_b) return tl::unexpected(of_b.error());
        const auto result = jobs::BlamePrograms(**pool, *of_a, *of_b, options, events);
        if (!result) return tl::unexpected(result.error());
        return Text(jobs::ToJson(file, other, *result));
      }));
}

// {file: plan} of the programs that are kept tuned.
nb::dict KeptPlans(const std::string& file) {
  const auto store = OrThrow(store::Store::OpenExisting(file));
  nb::dict plans;
  for (const store::ListedOutcome& row : OrThrow(store->List())) {
    if (!row.outcome.kept || row.outcome.plan.empty()) continue;
    plans[row.program.file.c_str()] = Parsed(OrThrow(store->PlanText(row.outcome.plan)));
  }
  return plans;
}

nb::bytes KernelsOf(const std::string& program, const nb::dict& pool_options) {
  const PoolOptions pool = ToPoolOptions(pool_options);
  const std::string kernels =
      OrThrow(Unlocked([&] { return jobs::KernelsOf(program, pool.kernels); }));
  return nb::bytes(kernels.data(), kernels.size());
}

}  // namespace

void BindJobs(nb::module_& module) {
  nb::class_<PyStarting>(module, "Starting",
                         "A worker for a job, started while other things are done.")
      .def(nb::init<const nb::dict&>(), nb::arg("options"));
  module.def(
      "parse_duration", [](const std::string& text) { return OrThrow(jobs::ParseDuration(text)); },
      nb::arg("text"), "Seconds of \"30s\", \"2m\", \"1.5h\".");
  module.def("tune", &Tune, nb::arg("program"), nb::arg("pool"), nb::kw_only(), nb::arg("file"),
             nb::arg("budget_seconds"), nb::arg("seed") = 1, nb::arg("store") = "",
             nb::arg("inputs") = std::vector<nb::bytes>(), nb::arg("tell").none() = nb::none(),
             "(the answer of `hone tune --json`, the plan) as dictionaries. `inputs`: of each "
             "parameter its elements, row-major, to compare results on before made-up ones. The "
             "first Ctrl-C ends the search, and the answer is the best so far.");
  module.def("optimize", &OptimizeFor, nb::arg("program"), nb::arg("pool"), nb::kw_only(),
             nb::arg("file"), nb::arg("objective"), nb::arg("budget_seconds"), nb::arg("seed") = 1,
             nb::arg("tell").none() = nb::none(),
             "(the answer of `hone optimize --json`, the result as HLO text, why that must not be "
             "used or \"\"). Ctrl-C as in tune.");
  module.def("blame_programs", &BlamePrograms, nb::arg("a"), nb::arg("b"), nb::arg("pool"),
             nb::kw_only(), nb::arg("file"), nb::arg("other"), nb::arg("budget_seconds"),
             nb::arg("seed") = 1, nb::arg("tell").none() = nb::none(),
             "The answer of `hone blame A B --json`. Ctrl-C as in tune.");
  module.def("compile_under", &CompileUnder, nb::arg("program"), nb::arg("pool"), nb::arg("plan"),
             "The optimised module under a plan, as HLO text.");
  module.def("kept_plans", &KeptPlans, nb::arg("store"),
             "{file: plan} of a store's programs that are kept tuned.");
  module.def("kernels_of", &KernelsOf, nb::arg("program"), nb::arg("pool"),
             "The file of the kernels that an HLO text calls; b\"\" where it calls none.");
}

}  // namespace hone::python
