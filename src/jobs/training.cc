#include "jobs/training.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "jobs/version.h"
#include "jobs/write_file.h"
#include "learn/metrics_log.h"
#include "report/curve_svg.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double SecondsSinceEpoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

class Training {
 public:
  Training(const TrainingOptions& options, const learn::Config& config, const TrainingHooks& hooks,
           Events& events, learn::Learner& learner, Clock::time_point start)
      : options_(options),
        config_(config),
        hooks_(hooks),
        events_(events),
        learner_(learner),
        start_(start) {}

  FileOr<Trained> Run() {
    if (!options_.resume.empty()) {
      if (Status loaded = learner_.Load(options_.resume); !loaded) {
        return Wrong(options_.resume, loaded.error());
      }
    } else if (hooks_.begin) {
      if (Status begun = hooks_.begin(learner_); !begun) return Wrong("", begun.error());
    }
    if (Status opened = OpenLog(); !opened) return Wrong(options_.log, opened.error());
    const ClearAtEnd clear(events_);
    const int64_t first = learner_.steps();
    Clock::time_point saved = Clock::now();
    while (!events_.stopped() && learner_.steps() < config_.total_steps &&
           Since(start_) < options_.seconds) {
      const StatusOr<learn::Report> report = learner_.Update();
      if (events_.stopped()) break;
      if (!report) return Wrong("", report.error());
      const double rate = static_cast<double>(learner_.steps() - first) / Since(start_);
      Note(*report, rate);
      if (log_) {
        learn::Report all = *report;
        all["steps_per_second"] = rate;
        if (hooks_.add_metrics) hooks_.add_metrics(all);
        if (Status wrote = log_->Write(learner_.steps(), all, SecondsSinceEpoch()); !wrote) {
          return Wrong(options_.log, wrote.error());
        }
      }
      if (events_.Due()) {
        events_.Show(fmt::format("{}: {} of {} steps, {:.0f} a second; mean return {:.4f}",
                                 options_.algorithm, report::Grouped(learner_.steps()),
                                 report::Grouped(config_.total_steps), rate, LastReturn()));
      }
      if (Since(saved) > options_.checkpoint_seconds) {
        if (Status kept = Keep(); !kept) return Wrong("", kept.error());
        saved = Clock::now();
      }
    }
    events_.Clear();
    if (Status kept = Keep(); !kept) return Wrong("", kept.error());
    Trained trained;
    trained.steps = learner_.steps();
    trained.taken = learner_.steps() - first;
    trained.seconds = Since(start_);
    trained.steps_per_second = rate_;
    trained.episode_return = LastReturn();
    trained.config = config_;
    return trained;
  }

 private:
  Status OpenLog() {
    if (options_.log.empty()) return {};
    std::error_code error;
    fs::create_directories(options_.log, error);
    auto log = learn::MetricsLog::Open(options_.log, learner_.steps(), SecondsSinceEpoch());
    if (!log) return tl::unexpected(log.error());
    log_.emplace(*std::move(log));
    return {};
  }

  void Note(const learn::Report& report, double rate) {
    const auto found = report.find("episode_return");
    rate_ = rate;
    if (found == report.end()) return;
    curve_.x.push_back(static_cast<double>(learner_.steps()));
    curve_.y.push_back(found->second);
  }

  // Of the last tenth of the updates: one update's episodes are few.
  double LastReturn() const {
    if (curve_.y.empty()) return std::nan("");
    const size_t count = std::max<size_t>(1, curve_.y.size() / 10);
    double sum = 0;
    for (size_t i = curve_.y.size() - count; i < curve_.y.size(); ++i) sum += curve_.y[i];
    return sum / static_cast<double>(count);
  }

  // Writes the policy, the checkpoint and the curve, as of now.
  Status Keep() {
    if (!options_.output.empty()) {
      if (Status wrote = WriteFile(options_.output, policy::WritePolicyFile(File())); !wrote) {
        return wrote;
      }
    }
    if (options_.log.empty()) return {};
    const fs::path folder(options_.log);
    if (Status saved = learner_.Save((folder / "checkpoint.pt").string()); !saved) return saved;
    report::CurvePlot plot;
    plot.title =
        fmt::format("{} ({}), seed {}", options_.algorithm, options_.preset, options_.seed);
    plot.x_label = "steps";
    plot.y_label = "episode return";
    plot.series.push_back(curve_);
    plot.series.back().name = options_.algorithm;
    return WriteFile((folder / "curve.svg").string(), report::CurveSvg(plot));
  }

  // The policy with its card in the metadata.
  policy::PolicyFile File() const {
    policy::PolicyFile file = learner_.Export();
    // A value network tells of rewards; what a searcher wants of it is another scale.
    std::erase_if(file.tensors,
                  [](const auto& tensor) { return tensor.first.starts_with("value."); });
    auto& metadata = file.metadata;
    metadata["hone"] = HoneVersion();
    metadata["algorithm"] = options_.algorithm;
    metadata["settings"] = learn::ToJson(config_);
    metadata["steps"] = std::to_string(learner_.steps());
    metadata["seed"] = std::to_string(options_.seed);
    hooks_.write_card(file);
    return file;
  }

  const TrainingOptions& options_;
  const learn::Config& config_;
  const TrainingHooks& hooks_;
  Events& events_;
  learn::Learner& learner_;
  std::optional<learn::MetricsLog> log_;
  const Clock::time_point start_;
  report::CurveSeries curve_;
  double rate_ = 0;
};

}  // namespace

StatusOr<learn::Config> MakeConfig(const TrainingOptions& options,
                                   const std::vector<std::string>& presumed) {
  StatusOr<learn::Config> config = learn::Preset(options.algorithm, options.preset);
  if (!config) return config;
  config->seed = options.seed;
  config->total_steps = options.steps;
  for (const std::vector<std::string>* settings : {&presumed, &options.settings}) {
    for (const std::string& assignment : *settings) {
      if (Status set = learn::SetField(*config, assignment); !set) {
        return tl::unexpected(set.error());
      }
    }
  }
  if (Status valid = learn::Validate(*config); !valid) return tl::unexpected(valid.error());
  if (options.output.empty()) return config;
  if (Status fine = CheckWritable(options.output); !fine) return tl::unexpected(fine.error());
  return config;
}

void SetThreads(int threads) {
  at::set_num_threads(threads);
  using SetBlasThreads = void (*)(int);
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<SetBlasThreads>(set)(threads);
  }
}

FileOr<Trained> RunTraining(const TrainingOptions& options, const learn::Config& config,
                            const TrainingHooks& hooks, Events& events, learn::Learner& learner,
                            Clock::time_point start) {
  return Training(options, config, hooks, events, learner, start).Run();
}

Json ToJson(const Trained& trained, const TrainingOptions& options) {
  Json json;
  json["algorithm"] = options.algorithm;
  json["steps"] = trained.steps;
  json["seconds"] = trained.seconds;
  json["steps_per_second"] = trained.steps_per_second;
  json["episode_return"] =
      std::isnan(trained.episode_return) ? Json(nullptr) : Json(trained.episode_return);
  json["settings"] = Json::parse(learn::ToJson(trained.config));
  AddTexts({{"output", options.output}, {"log", options.log}}, json);
  return json;
}

}  // namespace hone::jobs
