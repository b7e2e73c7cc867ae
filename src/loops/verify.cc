#include "loops/verify.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/rng.h"
#include "loops/inputs.h"
#include "loops/interpret.h"
#include "verify/compare.h"

namespace hone::loops {
namespace {

using verify::Outputs;

constexpr double kMostFlops = 1e8;
constexpr int64_t kLeastPoints = 200;

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

std::string Written(const verify::ElementType& type, const Values& values) {
  std::string bytes(values.size() * type.bytes, 0);
  verify::WriteValues(type, values.data(), values.size(), bytes.data());
  return bytes;
}

class Interpreted : public verify::Subject {
 public:
  Interpreted(Generator& generator, const Kernel& kernel, uint64_t seed)
      : generator_(generator),
        kernel_(kernel),
        task_(*kernel.task),
        points_(Points(*kernel.task, seed)) {}

  Status Choose(const verify::InputChoice& choice) override {
    choice_ = {choice.kind, choice.seed, 0};
    return {};
  }
  StatusOr<Outputs> RunReference() override { return Reference(0); }
  StatusOr<Outputs> RunCandidate() override {
    StatusOr<std::vector<std::string>> ran = generator_.Run(kernel_, choice_, points_);
    if (!ran) return tl::unexpected(ran.error());
    return OutputsOf(*std::move(ran));
  }
  StatusOr<std::optional<Outputs>> MovedSample(int k) override {
    return std::optional<Outputs>(Reference(static_cast<uint64_t>(k) + 1));
  }
  StatusOr<std::optional<Outputs>> Sample(int k) override {
    return std::optional<Outputs>(Reference(0, static_cast<uint64_t>(k) + 1));
  }

 private:
  Outputs Reference(uint64_t moved, uint64_t noise = 0) const {
    std::vector<Values> inputs;
    for (int i = 0; i < task_.inputs; ++i) {
      const Tensor& tensor = task_.tensors[static_cast<size_t>(i)];
      std::vector<char> bytes(tensor.bytes());
      FillInput(tensor.element, tensor.elements(), choice_.kind,
                choice_.seed + static_cast<uint64_t>(i), moved, bytes.data());
      inputs.push_back(verify::Values(StoredAs(tensor.element), bytes.data(), 0,
                                      static_cast<size_t>(tensor.elements())));
    }
    const std::vector<Values> values = Interpret(task_, std::move(inputs), points_, noise);
    std::vector<std::string> arrays;
    for (size_t i = 0; i < values.size(); ++i) {
      const Tensor& tensor = task_.tensors[static_cast<size_t>(task_.outputs[i])];
      arrays.push_back(Written(StoredAs(tensor.element), values[i]));
    }
    return OutputsOf(std::move(arrays));
  }

  Outputs OutputsOf(std::vector<std::string> arrays) const {
    auto owned = std::make_shared<std::vector<std::string>>(std::move(arrays));
    Outputs outputs;
    for (size_t i = 0; i < owned->size(); ++i) {
      const Tensor& tensor = task_.tensors[static_cast<size_t>(task_.outputs[i])];
      const verify::ElementType& type = StoredAs(tensor.element);
      const auto elements = static_cast<int64_t>((*owned)[i].size() / type.bytes);
      const auto shape = points_.empty() ? tensor.shape : std::vector<int64_t>{elements};
      outputs.arrays.push_back({type, shape, (*owned)[i].data(), elements});
    }
    outputs.owner = std::move(owned);
    return outputs;
  }

  Generator& generator_;
  const Kernel& kernel_;
  const Task& task_;
  const std::vector<int64_t> points_;
  InputChoice choice_;
};

}  // namespace

ComparisonReport Verify(Generator& generator, const Kernel& kernel, const CompareOptions& options) {
  Interpreted subject(generator, kernel, options.seed);
  ComparisonReport report = verify::Compare(subject, options);
  const std::string where = "run by hone-loops against the interpreter";
  report.method = report.verdict == Verdict::kEqual ? where + "; " + report.method : where;
  return report;
}

}  // namespace hone::loops
