#include "loops/loops_env.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/median.h"
#include "env/vector_of_definitions.h"
#include "loops/estimate.h"

namespace hone::loops {
namespace {

constexpr double kSampleSeconds = 0.001;
constexpr int kPairs = 3;
// Of plain loops that do not end in time: e^7 times the rules of thumb's.
constexpr double kWorst = 7;

size_t Index(int64_t value) { return static_cast<size_t>(value); }

}  // namespace

LoopsEnv::LoopsEnv(std::shared_ptr<LoopsSession> session, size_t index)
    : session_(std::move(session)),
      worker_(static_cast<int>(index % Index(session_->workers()))),
      next_(index % session_->tasks().size()),
      scheduled_(session_->catalogues()[0].program()) {}

Status LoopsEnv::Start(std::optional<uint64_t> seed, std::optional<size_t> task) {
  if (task && *task >= tasks()) {
    return MakeError(ErrorCode::kInvalidInput, "there is no task " + std::to_string(*task) +
                                                   "; there are " + std::to_string(tasks()));
  }
  if (seed) next_ = Index(static_cast<int64_t>(*seed % tasks()));
  current_ = task ? *task : next_;
  next_ = (current_ + 1) % tasks();
  scheduled_ = Scheduled(catalogue().program());
  history_.clear();
  chosen_ = {};
  chosen_.reset = true;
  running_ = true;
  return {};
}

Status LoopsEnv::Reset(std::optional<uint64_t> seed, std::optional<size_t> task) {
  if (Status started = Start(seed, task); !started) return started;
  session_->Here(worker_, [this](LoopsWorker& worker) { Measure(worker); });
  return {};
}

StatusOr<LoopsOutcome> LoopsEnv::Step(const LoopsAction& action) {
  if (Status chosen = Choose(action); !chosen) return tl::unexpected(chosen.error());
  session_->Here(worker_, [this](LoopsWorker& worker) { Measure(worker); });
  return outcome_;
}

StatusOr<bool> LoopsEnv::BeginReset(std::optional<uint64_t> seed, std::optional<size_t> task) {
  if (Status started = Start(seed, task); !started) return tl::unexpected(started.error());
  if (!session_->at_once()) return true;
  session_->Here(worker_, [this](LoopsWorker& worker) { Work(worker); });
  return false;
}

StatusOr<bool> LoopsEnv::BeginStep(const LoopsAction& action) {
  if (Status chosen = Choose(action); !chosen) return tl::unexpected(chosen.error());
  if (!session_->at_once()) return true;
  session_->Here(worker_, [this](LoopsWorker& worker) { Work(worker); });
  return false;
}

void LoopsEnv::Work(LoopsWorker& worker) {
  Measure(worker);
  view_ = Look();
}

LoopsEpisode LoopsEnv::episode() const {
  return {next_,    current_, running_, ScheduleText(scheduled_.schedule()),
          history_, initial_, value_};
}

Status LoopsEnv::Resume(const LoopsEpisode& episode) {
  if (episode.task >= tasks() || episode.next >= tasks()) {
    return MakeError(ErrorCode::kInvalidInput, "the episode is of a task that there is not");
  }
  const StatusOr<Schedule> schedule = ParseSchedule(episode.schedule);
  if (!schedule) return tl::unexpected(schedule.error());
  StatusOr<Scheduled> scheduled = Apply(session_->catalogues()[episode.task].program(), *schedule);
  if (!scheduled) return tl::unexpected(scheduled.error());
  next_ = episode.next;
  current_ = episode.task;
  running_ = episode.running;
  scheduled_ = *std::move(scheduled);
  history_ = episode.history;
  initial_ = episode.initial;
  value_ = episode.value;
  return {};
}

double LoopsEnv::speedup() const { return std::exp(initial_ - value_); }

StatusOr<double> LoopsEnv::Value(const Scheduled& scheduled, LoopsWorker& worker) const {
  if (options().estimate) return std::log(EstimatedCost(scheduled, options().machine));
  const auto reference = MakeKernel(task(), catalogue().default_schedule());
  HONE_CHECK(reference);
  const Kernel kernel{TaskText(task()) + ScheduleText(scheduled.schedule()), MakePayload(scheduled),
                      &task()};
  Generator& generator = *worker.generator;
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

Status LoopsEnv::Choose(const LoopsAction& action) {
  if (!running_) return MakeError(ErrorCode::kInvalidInput, "the episode is over: reset first");
  chosen_ = {};
  if (const auto* product = std::get_if<std::vector<int64_t>>(&action)) {
    return ChooseOfProduct(*product);
  }
  const int64_t number = std::get<int64_t>(action);
  if (number < 0 || number >= static_cast<int64_t>(actions())) {
    return MakeError(ErrorCode::kInvalidInput, "there is no action " + std::to_string(number));
  }
  chosen_.number = number;
  chosen_.stop = number + 1 == static_cast<int64_t>(actions());
  if (!chosen_.stop) chosen_.step = catalogue().Decide(scheduled_, Index(number));
  chosen_.why = "that action is not offered now";
  return {};
}

Status LoopsEnv::ChooseOfProduct(const std::vector<int64_t>& action) {
  if (action.size() != 2 + kSeenLoops || action[0] < 0 ||
      action[0] >= static_cast<int64_t>(sites()) || action[1] < 0 || action[1] > kStepKinds) {
    return MakeError(ErrorCode::kInvalidInput,
                     "an action is a site, a kind and a number for each of 8 loops");
  }
  if (action[1] == kStepKinds) {
    chosen_.stop = true;
    return {};
  }
  const auto none = [&](const char* why) {
    chosen_.why = why;
    return Status();
  };
  loops::Step step;
  step.kind = static_cast<StepKind>(action[1]);
  const int site = SiteAt(Index(action[0]));
  if (site < 0) return none("there is no such site");
  step.site = scheduled_.program().nests[Index(site)].site;
  const auto& loops = scheduled_.states()[Index(site)].loops;
  const auto& nests = scheduled_.program().nests;
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
        return none("there is no such producer");
      }
      step.producer = nests[Index(numbers[0])].site;
      break;
    case StepKind::kUnroll:
      step.numbers = {int64_t{2} << std::clamp<int64_t>(numbers[0], 0, 2)};
      break;
    case StepKind::kVectorize:
      break;
  }
  chosen_.why = scheduled_.WhyNot(step);
  if (chosen_.why.empty()) chosen_.step = std::move(step);
  return {};
}

// What was chosen is done: a reset's initial time, or a step.
void LoopsEnv::Measure(LoopsWorker& worker) {
  outcome_ = {};
  if (chosen_.reset) {
    initial_ = value_ = Value(scheduled_, worker).value_or(kWorst);
    return;
  }
  history_.push_back(chosen_.number);
  if (chosen_.step) {
    Scheduled next = scheduled_;
    HONE_CHECK(next.Apply(*chosen_.step));
    const StatusOr<double> value = Value(next, worker);
    if (value) {
      if (options().immediate) outcome_.reward = value_ - *value;
      value_ = *value;
      scheduled_ = std::move(next);
      outcome_.changed = true;
    } else {
      outcome_.error = value.error().message;
      outcome_.reward -= options().failure;
    }
  } else if (!chosen_.stop) {
    outcome_.error = chosen_.why;
    outcome_.reward -= options().failure;
  }
  bool any = false;
  for (size_t site = 0; site < catalogue().sites().size() && !any && !chosen_.stop; ++site) {
    any = catalogue().OffersAny(scheduled_, site);
  }
  const size_t most = Index(options().steps_a_nest) * catalogue().program().nests.size();
  outcome_.terminated = !any;
  outcome_.truncated = !outcome_.terminated && history_.size() >= most;
  if (outcome_.terminated || outcome_.truncated) {
    running_ = false;
    if (!options().immediate) outcome_.reward += initial_ - value_;
  }
}

std::vector<bool> LoopsEnv::ActionMask() const {
  std::vector<bool> mask = catalogue().Mask(scheduled_);
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
      if (catalogue().Offers(scheduled_, row, static_cast<StepKind>(kind)).empty()) continue;
      site_mask[row] = kind_mask[Index(kind)] = true;
    }
    const auto& loops = scheduled_.states()[Index(site)].loops;
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
  return scheduled_.program().FindSite(catalogue().sites()[row]);
}

LoopsView LoopsEnv::Look() const {
  LoopsView view;
  view.task = current_;
  view.speedup = speedup();
  view.schedule = ScheduleText(scheduled_.schedule());
  view.mask = options().product ? ProductMask() : ActionMask();
  std::vector<int> nests;  // of the sites
  for (size_t row = 0; row < sites(); ++row) nests.push_back(SiteAt(row));
  const auto rows = [&](size_t width, void (*observe)(const Scheduled&, size_t, float*)) {
    std::vector<float> made(sites() * width, 0);
    for (size_t row = 0; row < sites(); ++row) {
      if (nests[row] >= 0) observe(scheduled_, Index(nests[row]), &made[row * width]);
    }
    return made;
  };
  view.loops = rows(kSeenLoops * kLoopFeatures, ObserveLoops);
  view.accesses = rows(kSeenAccesses * kSeenDimensions * kSeenLoops, ObserveAccesses);
  view.operations = rows(kSeenScalars, ObserveOperations);
  view.states = rows(kStateFeatures, ObserveState);
  view.graph.assign(sites() * sites(), 0);
  for (size_t row = 0; row < sites(); ++row) {
    if (nests[row] < 0) continue;
    for (const Access& read : scheduled_.program().nests[Index(nests[row])].reads) {
      const int producer = scheduled_.program().ProducerOf(read.tensor);
      for (size_t column = 0; column < sites() && producer >= 0; ++column) {
        if (nests[column] == producer) view.graph[row * sites() + column] = 1;
      }
    }
  }
  view.history.assign(session_->most_steps(), -1);
  std::copy_n(history_.begin(), std::min(history_.size(), view.history.size()),
              view.history.begin());
  return view;
}

}  // namespace hone::loops

namespace hone {

template class VectorOf<loops::LoopsEnv>;

}  // namespace hone
