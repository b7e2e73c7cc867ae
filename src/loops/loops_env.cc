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

float Log2(int64_t extent) { return static_cast<float>(std::log2(static_cast<double>(extent))); }

}  // namespace

StatusOr<std::unique_ptr<LoopsEnv>> LoopsEnv::Make(const LoopsEnvOptions& options) {
  if (options.tasks.empty()) return MakeError(ErrorCode::kInvalidInput, "there are no tasks");
  if (options.steps_a_nest < 1) {
    return MakeError(ErrorCode::kInvalidInput, "a nest has one step at least");
  }
  std::unique_ptr<LoopsEnv> env(new LoopsEnv(options));
  for (size_t i = 0; i < options.tasks.size(); ++i) {
    StatusOr<Task> task = ParseTask(options.tasks[i]);
    if (!task) {
      return MakeError(task.error().code,
                       "task " + std::to_string(i) + ": " + task.error().message);
    }
    env->tasks_.push_back(*std::move(task));
  }
  for (const Task& task : env->tasks_) {
    env->catalogues_.emplace_back(Expand(task), options.machine);
    env->sites_ = std::max(env->sites_, env->catalogues_.back().sites().size());
    env->most_steps_ = std::max(env->most_steps_, env->StepsOf(env->catalogues_.size() - 1));
  }
  if (!options.estimate) {
    GeneratorOptions generator;
    generator.sandbox = options.sandbox;
    generator.program_path = options.program_path;
    auto started = Generator::Start(generator);
    if (!started) return tl::unexpected(started.error());
    env->generator_ = *std::move(started);
  }
  env->scheduled_ = std::make_unique<Scheduled>(env->catalogues_[0].program());
  return env;
}

size_t LoopsEnv::StepsOf(size_t task) const {
  return Index(options_.steps_a_nest) * catalogues_[task].program().nests.size();
}

Status LoopsEnv::Reset(std::optional<uint64_t> seed, std::optional<size_t> task) {
  if (task && *task >= tasks_.size()) {
    return MakeError(ErrorCode::kInvalidInput, "there is no task " + std::to_string(*task) +
                                                   "; there are " + std::to_string(tasks_.size()));
  }
  if (seed) next_ = Index(static_cast<int64_t>(*seed % tasks_.size()));
  current_ = task ? *task : next_;
  next_ = (current_ + 1) % tasks_.size();
  scheduled_ = std::make_unique<Scheduled>(catalogue().program());
  history_.clear();
  const StatusOr<double> value = Value(*scheduled_);
  initial_ = value_ = value.value_or(kWorst);
  running_ = true;
  return {};
}

double LoopsEnv::speedup() const { return std::exp(initial_ - value_); }

StatusOr<double> LoopsEnv::Value(const Scheduled& scheduled) {
  if (options_.estimate) return std::log(EstimatedCost(scheduled, options_.machine));
  const Task& task = tasks_[current_];
  const auto reference = MakeKernel(task, catalogue().default_schedule());
  HONE_CHECK(reference);
  const Kernel kernel{TaskText(task) + ScheduleText(scheduled.schedule()), MakePayload(scheduled),
                      &task};
  if (const auto made = generator_->Compile(kernel); !made) return tl::unexpected(made.error());
  const int threads = options_.machine.threads;
  auto times = generator_->Time(*reference, kernel, {}, 0, 1, 1, false, threads);
  if (!times) return tl::unexpected(times.error());
  double ratio = times->front().b / std::max(times->front().a, 1e-9);
  if (ratio < 8) {
    const double seconds = std::max(times->front().a, 1e-7);
    const int repeats = static_cast<int>(std::clamp(kSampleSeconds / seconds, 1.0, 10000.0));
    times = generator_->Time(*reference, kernel, {}, 0, kPairs, repeats, false, threads);
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
      action[0] >= static_cast<int64_t>(sites_) || action[1] < 0 || action[1] > kStepKinds) {
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
      if (options_.immediate) outcome.reward = value_ - *value;
      value_ = *value;
      scheduled_ = std::move(next);
      outcome.changed = true;
    } else {
      outcome.error = value.error().message;
      outcome.reward -= options_.failure;
    }
  } else if (!stop) {
    outcome.error = why;
    outcome.reward -= options_.failure;
  }
  const std::vector<bool> mask = stop ? std::vector<bool>{} : ActionMask();
  outcome.terminated = stop || std::count(mask.begin(), mask.end(), true) <= 1;
  outcome.truncated = !outcome.terminated && history_.size() >= StepsOf(current_);
  if (outcome.terminated || outcome.truncated) {
    running_ = false;
    if (!options_.immediate) outcome.reward += initial_ - value_;
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
  std::vector<bool> site_mask(sites_, false), kind_mask(kStepKinds + 1, false);
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

std::vector<float> LoopsEnv::LoopFeatures() const {
  std::vector<float> features(sites_ * kSeenLoops * kLoopFeatures, 0);
  for (size_t row = 0; row < sites_; ++row) {
    const int site = SiteAt(row);
    if (site < 0) continue;
    const SiteState& state = scheduled_->states()[Index(site)];
    const Nest& nest = scheduled_->program().nests[Index(site)];
    for (size_t l = 0; l < std::min(state.loops.size(), kSeenLoops); ++l) {
      float* const at = &features[(row * kSeenLoops + l) * kLoopFeatures];
      at[0] = Log2(nest.loops[state.order[l]].extent);
      at[1] = Log2(state.loops[l].extent);
      at[2] = state.loops[l].reduction ? 1 : 0;
      at[3] = 1;
    }
  }
  return features;
}

std::vector<float> LoopsEnv::Accesses() const {
  std::vector<float> matrices(sites_ * kSeenAccesses * kSeenDimensions * kSeenLoops, 0);
  for (size_t row = 0; row < sites_; ++row) {
    const int site = SiteAt(row);
    if (site < 0) continue;
    const Nest& nest = scheduled_->program().nests[Index(site)];
    const SiteState& state = scheduled_->states()[Index(site)];
    std::vector<const Access*> accesses(kSeenAccesses, nullptr);
    for (size_t i = 0; i < std::min(nest.reads.size(), kSeenAccesses - 1); ++i) {
      accesses[i] = &nest.reads[i];
    }
    accesses.back() = &nest.write;
    for (size_t a = 0; a < kSeenAccesses; ++a) {
      if (accesses[a] == nullptr) continue;
      for (size_t d = 0; d < std::min(accesses[a]->rows.size(), kSeenDimensions); ++d) {
        for (size_t l = 0; l < std::min(state.order.size(), kSeenLoops); ++l) {
          matrices[((row * kSeenAccesses + a) * kSeenDimensions + d) * kSeenLoops + l] =
              static_cast<float>(accesses[a]->rows[d][state.order[l]]);
        }
      }
    }
  }
  return matrices;
}

std::vector<float> LoopsEnv::Operations() const {
  std::vector<float> counts(sites_ * kSeenScalars, 0);
  for (size_t row = 0; row < sites_; ++row) {
    const int site = SiteAt(row);
    if (site < 0) continue;
    for (const Scalar& node : scheduled_->program().nests[Index(site)].body) {
      if (static_cast<size_t>(node.kind) < kSeenScalars) {
        counts[row * kSeenScalars + static_cast<size_t>(node.kind)] += 1;
      }
    }
  }
  return counts;
}

std::vector<float> LoopsEnv::States() const {
  std::vector<float> states(sites_ * kStateFeatures, 0);
  for (size_t row = 0; row < sites_; ++row) {
    const int site = SiteAt(row);
    if (site < 0) continue;
    const SiteState& state = scheduled_->states()[Index(site)];
    const std::string copy = scheduled_->program().nests[Index(site)].site + ".pack";
    const bool packed = scheduled_->program().FindSite(copy + "0") >= 0 ||
                        scheduled_->program().FindSite(copy + "1") >= 0;
    const float values[kStateFeatures] = {packed ? 1.0f : 0.0f,
                                          state.parallel ? 1.0f : 0.0f,
                                          static_cast<float>(state.tiles),
                                          state.fused_into >= 0 ? 1.0f : 0.0f,
                                          state.vectorized ? 1.0f : 0.0f,
                                          state.unrolled ? 1.0f : 0.0f,
                                          static_cast<float>(state.steps),
                                          1.0f};
    std::copy(std::begin(values), std::end(values), &states[row * kStateFeatures]);
  }
  return states;
}

std::vector<float> LoopsEnv::Graph() const {
  std::vector<float> graph(sites_ * sites_, 0);
  for (size_t row = 0; row < sites_; ++row) {
    const int site = SiteAt(row);
    if (site < 0) continue;
    for (const Access& read : scheduled_->program().nests[Index(site)].reads) {
      const int producer = scheduled_->program().ProducerOf(read.tensor);
      for (size_t column = 0; column < sites_ && producer >= 0; ++column) {
        if (SiteAt(column) == producer) graph[row * sites_ + column] = 1;
      }
    }
  }
  return graph;
}

std::vector<int64_t> LoopsEnv::History() const {
  std::vector<int64_t> history(most_steps_, -1);
  std::copy_n(history_.begin(), std::min(history_.size(), most_steps_), history.begin());
  return history;
}

}  // namespace hone::loops
