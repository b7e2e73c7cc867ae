#include "loops/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "core/rng.h"
#include "loops/inputs.h"
#include "loops/interpret.h"
#include "verify/compare.h"
#include "wire/helper_client.h"

namespace hone::loops {
namespace {

using verify::Outputs;

constexpr double kMostFlops = 1e8;
constexpr int64_t kLeastPoints = 200;
constexpr size_t kMostKeptBytes = size_t{1} << 28;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Which elements of the output are looked at; none: all.
std::vector<int64_t> Points(const Task& task, uint64_t seed) {
  if (task.outputs.size() != 1 || Flops(task) <= kMostFlops) return {};
  const int64_t elements = task.tensors[static_cast<size_t>(task.outputs[0])].elements();
  const double share = kMostFlops / Flops(task);
  const auto count = std::max(kLeastPoints, static_cast<int64_t>(share * elements));
  if (count >= elements) return {};
  Rng rng(seed);
  std::vector<int64_t> points = {0, elements - 1};
  for (int64_t i = 2; i < count; ++i) {
    points.push_back(static_cast<int64_t>(rng.Below(static_cast<size_t>(elements))));
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

// Whether there is room for the interpreter's numbers of double precision beside what hone-loops
// holds.
Status InterpreterFits(const Task& task, uint64_t seed) {
  double numbers = 0;
  for (const Tensor& tensor : task.tensors) numbers += static_cast<double>(tensor.elements());
  if (Points(task, seed).empty()) {
    for (const int output : task.outputs) {
      numbers += static_cast<double>(task.tensors[static_cast<size_t>(output)].elements());
    }
  }
  const double bytes = numbers * sizeof(double);
  const double room = static_cast<double>(wire::MemoryLimit()) - StoredBytes(task);
  if (bytes <= room) return {};
  return MakeError(ErrorCode::kMemory,
                   fmt::format("the interpreter would take {:.1f} GB, and {:.1f} GB are left",
                               bytes / 1e9, room / 1e9));
}

std::string Written(const verify::ElementType& type, const Values& values) {
  std::string bytes(values.size() * type.bytes, 0);
  verify::WriteValues(type, values.data(), values.size(), bytes.data());
  return bytes;
}

class Interpreted : public verify::Subject {
 public:
  Interpreted(Generator& generator, const Kernel& kernel, const CompareOptions& options,
              References* references)
      : generator_(generator),
        kernel_(kernel),
        task_(*kernel.task),
        points_seed_(options.seed),
        points_(Points(*kernel.task, options.seed)),
        most_seconds_(1.5 * options.budget_seconds),
        end_(Now() + most_seconds_),
        stop_(options.stop != nullptr && *options.stop ? nullptr : options.stop),
        references_(references) {}

  Status Choose(const verify::InputChoice& choice) override {
    choice_ = {choice.kind, choice.seed, 0};
    return {};
  }
  StatusOr<Outputs> RunReference() override { return Reference(0, 0); }
  StatusOr<Outputs> RunCandidate() override {
    StatusOr<std::vector<std::string>> ran = generator_.Run(kernel_, choice_, points_);
    if (!ran) return tl::unexpected(ran.error());
    return OutputsOf(std::make_shared<std::vector<std::string>>(*std::move(ran)));
  }
  StatusOr<std::optional<Outputs>> MovedSample(int k) override {
    return Reference(static_cast<uint64_t>(k) + 1, 0);
  }
  StatusOr<std::optional<Outputs>> Sample(int k) override {
    return Reference(0, static_cast<uint64_t>(k) + 1);
  }

 private:
  StatusOr<Outputs> Reference(uint64_t moved, uint64_t noise) const {
    const References::Key key{points_seed_, choice_.kind, choice_.seed, moved, noise};
    if (references_ != nullptr) {
      if (const References::Arrays found = references_->Find(key)) return OutputsOf(found);
    }
    std::vector<Values> inputs;
    for (int i = 0; i < task_.inputs; ++i) {
      const Tensor& tensor = task_.tensors[static_cast<size_t>(i)];
      std::vector<char> bytes(tensor.bytes());
      FillInput(tensor.element, tensor.elements(), choice_.kind,
                choice_.seed + static_cast<uint64_t>(i), moved, bytes.data());
      inputs.push_back(verify::Values(StoredAs(tensor.element), bytes.data(), 0,
                                      static_cast<size_t>(tensor.elements())));
    }
    const auto stopped = [&] { return stop_ != nullptr && *stop_; };
    const auto over = [&] { return stopped() || Now() > end_; };
    const std::vector<Values> values = Interpret(task_, std::move(inputs), points_, noise, over);
    if (values.empty()) {
      return MakeError(
          ErrorCode::kDeadline,
          stopped() ? std::string("the interpreter was interrupted")
                    : fmt::format("the interpreter was cut off after {:.3g} s", most_seconds_));
    }
    const auto arrays = std::make_shared<std::vector<std::string>>();
    for (size_t i = 0; i < values.size(); ++i) {
      const Tensor& tensor = task_.tensors[static_cast<size_t>(task_.outputs[i])];
      arrays->push_back(Written(StoredAs(tensor.element), values[i]));
    }
    if (references_ != nullptr) references_->Keep(key, arrays);
    return OutputsOf(arrays);
  }

  Outputs OutputsOf(const References::Arrays& owned) const {
    Outputs outputs;
    for (size_t i = 0; i < owned->size(); ++i) {
      const Tensor& tensor = task_.tensors[static_cast<size_t>(task_.outputs[i])];
      const verify::ElementType& type = StoredAs(tensor.element);
      const auto elements = static_cast<int64_t>((*owned)[i].size() / type.bytes);
      const auto shape = points_.empty() ? tensor.shape : std::vector<int64_t>{elements};
      outputs.arrays.push_back({type, shape, (*owned)[i].data(), elements});
    }
    outputs.owner = owned;
    return outputs;
  }

  Generator& generator_;
  const Kernel& kernel_;
  const Task& task_;
  const uint64_t points_seed_;
  const std::vector<int64_t> points_;
  const double most_seconds_, end_;
  const std::atomic<bool>* const stop_;  // null where it was true already
  References* const references_;
  InputChoice choice_;
};

}  // namespace

References::Arrays References::Find(const Key& key) const {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  ++found_;
  return found->second;
}

void References::Keep(const Key& key, const Arrays& arrays) {
  size_t bytes = 0;
  for (const std::string& array : *arrays) bytes += array.size();
  if (bytes_ + bytes > kMostKeptBytes || !kept_.emplace(key, arrays).second) return;
  bytes_ += bytes;
}

CompareOptions UsualComparison() {
  CompareOptions options;
  options.budget_seconds = kVerifySeconds;
  return options;
}

ComparisonReport Verify(Generator& generator, const Kernel& kernel, const CompareOptions& options,
                        References* references) {
  if (auto fits = InterpreterFits(*kernel.task, options.seed); !fits) {
    ComparisonReport report;
    report.reason = fits.error().message;
    return report;
  }
  Interpreted subject(generator, kernel, options, references);
  ComparisonReport report = verify::Compare(subject, options);
  const std::string where = "run by hone-loops against the interpreter";
  report.method = report.verdict == Verdict::kEqual ? where + "; " + report.method : where;
  return report;
}

}  // namespace hone::loops
