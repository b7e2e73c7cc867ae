#include "loops/loops_env.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/median.h"
#include "loops/estimate.h"

namespace hone::loops {
namespace {

constexpr double kSampleSeconds = 0.001;
constexpr int kPairs = 3;
// Of plain loops that do not end in time: e^7 times the rules of thumb's.
constexpr double kWorst = 7;

size_t Index(int64_t value) { return static_cast<size_t>(value); }

}  // namespace

StatusOr<std::unique_ptr<LoopsEnv>> LoopsEnv::Make(const LoopsEnvOptions& options) {
  if (options.tasks.empty()) return MakeError(ErrorCode::kInvalidInput, "there are no tasks");
  if (options.steps_a_nest < 1) {
    return MakeError(ErrorCode::kInvalidInput, "a nest has one step at least");
  }
  const auto shared = std::make_shared<Shared>();
  shared->options = options;
  for (size_t i = 0; i < options.tasks.size(); ++i) {
    StatusOr<Task> task = ParseTask(options.tasks[i]);
    if (!task) {
      return MakeError(task.error().code,
                       "task " + std::to_string(i) + ": " + task.error().message);
    }
    shared->tasks.push_back(*std::move(task));
    const Catalogue& catalogue =
        shared->catalogues.emplace_back(Expand(shared->tasks.back()), options.machine);
    shared->sites = std::max(shared->sites, catalogue.sites().size());
    shared->most_steps = std::max(shared->most_steps,
                                  Index(options.steps_a_nest) * catalogue.program().nests.size());
  }
  if (!options.estimate) {
    GeneratorOptions generator;
    generator.sandbox = options.sandbox;
    generator.program_path = options.program_path;
    auto started = Generator::Start(generator);
    if (!started) return tl::unexpected(started.error());
    shared->generator = *std::move(started);
  }
  return std::unique_ptr<LoopsEnv>(new LoopsEnv(shared));
}

LoopsEnv::LoopsEnv(std::shared_ptr<const Shared> shared)
    : shared_(std::move(shared)),
      scheduled_(std::make_unique<Scheduled>(shared_->catalogues[0].program())) {}

std::unique_ptr<LoopsEnv> LoopsEnv::Another() const {
  return std::unique_ptr<LoopsEnv>(new LoopsEnv(shared_));
}

size_t LoopsEnv::StepLimit() const {
  return Index(options().steps_a_nest) * catalogue().program().nests.size();
}

Status LoopsEnv::Reset(std::optional<uint64_t> seed, std::optional<size_t> task) {
  if (task && *task >= tasks()) {
    return MakeError(ErrorCode::kInvalidInput, "there is no task " + std::to_string(*task) +
                                                   "; there are " + std::to_string(tasks()));
  }
  if (seed) next_ = Index(static_cast<int64_t>(*seed % tasks()));
  current_ = task ? *task : next_;
  next_ = (current_ + 1) % tasks();
  scheduled_ = std::make_unique<Scheduled>(catalogue().program());
  history_.clear();
  const StatusOr<double> value = Value(*scheduled_);
  initial_ = value_ = value.value_or(kWorst);
  running_ = true;
  return {};
}

LoopsEpisode LoopsEnv::episode() const {
  return {next_, current_, running_, ScheduleText(schedule()), history_, initial_, value_};
}

Status LoopsEnv::Resume(const LoopsEpisode& episode) {
  if (episode.task >= tasks() || episode.next >= tasks()) {
    return MakeError(ErrorCode::kInvalidInput, "the episode is of a task that there is not");
  }
  const StatusOr<Schedule> schedule = ParseSchedule(episode.schedule);
  if (!schedule) return tl::unexpected(schedule.error());
  StatusOr<Scheduled> scheduled = Apply(shared_->catalogues[episode.task].program(), *schedule);
  if (!scheduled) return tl::unexpected(scheduled.error());
  next_ = episode.next;
  current_ = episode.task;
  running_ = episode.running;
  scheduled_ = std::make_unique<Scheduled>(*std::move(scheduled));
  history_ = episode.history;
  initial_ = episode.initial;
  value_ = episode.value;
  return {};
}

double LoopsEnv::speedup() const { return std::exp(initial_ - value_); }

StatusOr<double> LoopsEnv::Value(const Scheduled& scheduled) {
  if (options().estimate) return std::log(EstimatedCost(scheduled, options().machine));
  const auto reference = MakeKernel(task(), catalogue().default_schedule());
  HONE_CHECK(reference);
  const Kernel kernel{TaskText(task()) + ScheduleText(scheduled.schedule()), MakePayload(scheduled),
                      &task()};
  Generator& generator = *shared_->generator;
  if (const auto made = generator.Compile(kernel); !made) return tl::unexpected(made.error());
  const int threads = options().machine.threads;
  auto times = generator.Time(*reference, kernel, {}, 0, 1, 1, false, threads);
  if (!times) return tl::unexpected(times.error());
  double ratio = times->front().b / std::max(times->front().a, 1e-9);
  if (ratio < 8) {
    const double seconds = std::max(times->front().a, 1e-7);
    const int repeats = static_cast<int>(std::clamp(kSampleSeconds / seconds, 1.0, 10000.0));
    times = generator.Time(*reference, kernel, {}, 0, kPairs, repeats, false, threads);
    if (!times) return tl::unexpected(times.error());
    std::vector<double> ratios;
    for (const PairTimes& pair : *times) ratios.push_back(pair.b / std::max(pair.a, 1e-9));
    ratio = Median(ratios);
  }
  return std::log(ratio);
}

StatusOr<LoopsOutcome> LoopsEnv::Step(int64_t action) {
  if (!running_) return MakeError(ErrorCode::kInvalidInput, "the episode is over: reset first");
  if (action < 0 || action >= static_cast<int64_t>(actions())) {
    return MakeError(ErrorCode::kInvalidInput, "there is no action " + std::to_string(action));
  }
  const bool stop = action + 1 == static_cast<int64_t>(actions());
  std::optional<loops::Step> step;
  if (!stop) step = catalogue().Decide(*scheduled_, Index(action));
  return Take(step, action, stop, "that action is not offered now");
}

StatusOr<LoopsOutcome> LoopsEnv::StepProduct(const std::vector<int64_t>& action) {
  if (!running_) return MakeError(ErrorCode::kInvalidInput, "the episode is over: reset first");
  if (action.size() != 2 + kSeenLoops || action[0] < 0 ||
      action[0] >= static_cast<int64_t>(sites()) || action[1] < 0 || action[1] > kStepKinds) {
    return MakeError(ErrorCode::kInvalidInput,
                     "an action is a site, a kind and a number for each of 8 loops");
  }
  if (action[1] == kStepKinds) return Take({}, -1, true, "");
  loops::Step step;
  step.kind = static_cast<StepKind>(action[1]);
  const int site = SiteAt(Index(action[0]));
  if (site < 0) return Take({}, -1, false, "there is no such site");
  step.site = scheduled_->program().nests[Index(site)].site;
  const auto& loops = scheduled_->states()[Index(site)].loops;
  const auto& nests = scheduled_->program().nests;
  const std::vector<int64_t> numbers(action.begin() + 2, action.end());
  switch (step.kind) {
    case StepKind::kPack:
    case StepKind::kParallel:
    case StepKind::kTile:
      for (size_t i = 0; i < loops.size(); ++i) {
        const auto divisors = Scheduled::Divisors(loops[i].extent, true);
        const int64_t choice = i < numbers.size() ? numbers[i] : 0;
        step.numbers.push_back(
            choice <= 0 || Index(choice) > divisors.size() ? 0 : divisors[Index(choice) - 1]);
      }
      break;
    case StepKind::kInterchange:
      step.numbers.resize(loops.size());
      std::iota(step.numbers.begin(), step.numbers.end(), int64_t{0});
      std::stable_sort(step.numbers.begin(), step.numbers.end(), [&](int64_t a, int64_t b) {
        const auto key = [&](int64_t l) {
          return Index(l) < numbers.size() ? numbers[Index(l)] : 0;
        };
        return key(a) < key(b);
      });
      break;
    case StepKind::kFuse:
      if (numbers[0] < 0 || Index(numbers[0]) >= nests.size()) {
        return Take({}, -1, false, "there is no such producer");
      }
      step.producer = nests[Index(numbers[0])].site;
      break;
    case StepKind::kUnroll:
      step.numbers = {int64_t{2} << std::clamp<int64_t>(numbers[0], 0, 2)};
      break;
    case StepKind::kVectorize:
      break;
  }
  const std::string why = scheduled_->WhyNot(step);
  if (!why.empty()) return Take({}, -1, false, why);
  return Take(step, -1, false, "");
}

StatusOr<LoopsOutcome> LoopsEnv::Take(const std::optional<loops::Step>& step, int64_t number,
                                      bool stop, const std::string& why) {
  LoopsOutcome outcome;
  history_.push_back(number);
  if (step) {
    auto next = std::make_unique<Scheduled>(*scheduled_);
    HONE_CHECK(next->Apply(*step));
    const StatusOr<double> value = Value(*next);
    if (value) {
      if (options().immediate) outcome.reward = value_ - *value;
      value_ = *value;
      scheduled_ = std::move(next);
      outcome.changed = true;
    } else {
      outcome.error = value.error().message;
      outcome.reward -= options().failure;
    }
  } else if (!stop) {
    outcome.error = why;
    outcome.reward -= options().failure;
  }
  bool any = false;
  for (size_t site = 0; site < catalogue().sites().size() && !any && !stop; ++site) {
    any = catalogue().OffersAny(*scheduled_, site);
  }
  outcome.terminated = !any;
  outcome.truncated = !outcome.terminated && history_.size() >= StepLimit();
  if (outcome.terminated || outcome.truncated) {
    running_ = false;
    if (!options().immediate) outcome.reward += initial_ - value_;
  }
  return outcome;
}

std::vector<bool> LoopsEnv::ActionMask() const {
  std::vector<bool> mask = catalogue().Mask(*scheduled_);
  mask.resize(actions(), false);
  mask.back() = true;
  return mask;
}

std::vector<bool> LoopsEnv::ProductMask() const {
  std::vector<bool> site_mask(sites(), false), kind_mask(kStepKinds + 1, false);
  std::vector<bool> loop_mask(kSeenLoops * kProductChoices, false);
  kind_mask.back() = true;
  for (size_t loop = 0; loop < kSeenLoops; ++loop) loop_mask[loop * kProductChoices] = true;
  for (size_t row = 0; row < catalogue().sites().size(); ++row) {
    const int site = SiteAt(row);
    if (site < 0) continue;
    for (int kind = 0; kind < kStepKinds; ++kind) {
      if (catalogue().Offers(*scheduled_, row, static_cast<StepKind>(kind)).empty()) continue;
      site_mask[row] = kind_mask[Index(kind)] = true;
    }
    const auto& loops = scheduled_->states()[Index(site)].loops;
    for (size_t loop = 0; loop < std::min(loops.size(), kSeenLoops); ++loop) {
      const size_t divisors = Scheduled::Divisors(loops[loop].extent, true).size();
      for (size_t i = 0; i < std::min(divisors + 1, kProductChoices); ++i) {
        loop_mask[loop * kProductChoices + i] = true;
      }
    }
  }
  std::vector<bool> mask = site_mask;
  mask.insert(mask.end(), kind_mask.begin(), kind_mask.end());
  mask.insert(mask.end(), loop_mask.begin(), loop_mask.end());
  return mask;
}

int LoopsEnv::SiteAt(size_t row) const {
  if (row >= catalogue().sites().size()) return -1;
  return scheduled_->program().FindSite(catalogue().sites()[row]);
}

std::vector<float> LoopsEnv::Rows(size_t width,
                                  void (*observe)(const Scheduled&, size_t, float*)) const {
  std::vector<float> rows(sites() * width, 0);
  for (size_t row = 0; row < sites(); ++row) {
    const int site = SiteAt(row);
    if (site >= 0) observe(*scheduled_, Index(site), &rows[row * width]);
  }
  return rows;
}

std::vector<float> LoopsEnv::LoopFeatures() const {
  return Rows(kSeenLoops * kLoopFeatures, ObserveLoops);
}

std::vector<float> LoopsEnv::Accesses() const {
  return Rows(kSeenAccesses * kSeenDimensions * kSeenLoops, ObserveAccesses);
}

std::vector<float> LoopsEnv::Operations() const { return Rows(kSeenScalars, ObserveOperations); }

std::vector<float> LoopsEnv::States() const { return Rows(kStateFeatures, ObserveState); }

std::vector<float> LoopsEnv::Graph() const {
  std::vector<float> graph(sites() * sites(), 0);
  for (size_t row = 0; row < sites(); ++row) {
    const int site = SiteAt(row);
    if (site < 0) continue;
    for (const Access& read : scheduled_->program().nests[Index(site)].reads) {
      const int producer = scheduled_->program().ProducerOf(read.tensor);
      for (size_t column = 0; column < sites() && producer >= 0; ++column) {
        if (SiteAt(column) == producer) graph[row * sites() + column] = 1;
      }
    }
  }
  return graph;
}

std::vector<int64_t> LoopsEnv::History() const {
  std::vector<int64_t> history(most_steps(), -1);
  std::copy_n(history_.begin(), std::min(history_.size(), most_steps()), history.begin());
  return history;
}

}  // namespace hone::loops
