#include "device/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "verify/element_types.h"
#include "verify/move_values.h"

namespace hone::device {
namespace {

using verify::Outputs;

StatusOr<Outputs> OutputsOf(std::vector<DeviceArray> arrays) {
  auto owned = std::make_shared<std::vector<DeviceArray>>(std::move(arrays));
  Outputs outputs;
  for (const DeviceArray& array : *owned) {
    const verify::ElementType* const type = verify::FindElementType(array.type);
    if (type == nullptr) {
      return MakeError(ErrorCode::kUnsupported,
                       "an output is an array of " + array.type + ", which hone does not compare");
    }
    outputs.arrays.push_back({*type, array.dimensions, array.bytes.data(),
                              static_cast<int64_t>(array.bytes.size() / type->bytes)});
  }
  outputs.owner = std::move(owned);
  return outputs;
}

class OnDevice : public verify::Subject {
 public:
  OnDevice(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
           const MakeInputSet& make_inputs, uint64_t seed)
      : device_(device), a_(a), b_(b), make_inputs_(make_inputs), seed_(seed) {}

  Status Choose(const verify::InputChoice& choice) override {
    StatusOr<InputSet> made = make_inputs_(choice);
    if (!made) return tl::unexpected(made.error());
    inputs_ = *std::move(made);
    ++set_;
    return {};
  }

  StatusOr<Outputs> RunReference() override {
    auto ran = Run(a_, inputs_.inputs, "the reference: ");
    if (ran) shapes_ = ran->arrays;
    return ran;
  }
  StatusOr<Outputs> RunCandidate() override { return Run(b_, inputs_.inputs, "the candidate: "); }

  StatusOr<std::optional<Outputs>> MovedSample(int k) override {
    auto ran = Run(a_, Perturbed(inputs_.inputs, seed_ * 64 + set_ * 16 + static_cast<uint64_t>(k)),
                   "the reference, on moved inputs: ");
    if (!ran) return tl::unexpected(ran.error());
    return *std::move(ran);
  }

  // Another device's roundings first, then further moved inputs.
  StatusOr<std::optional<Outputs>> Sample(int k) override {
    constexpr int kMoved = 8;  // beyond those that MovedSample takes
    if (k > 0 || inputs_.cpu_results.size() != shapes_.size()) return MovedSample(kMoved + k);
    std::vector<DeviceArray> arrays;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      if (inputs_.cpu_results[i].size() != shapes_[i].bytes()) return MovedSample(kMoved + k);
      arrays.push_back({std::string(shapes_[i].type.name), shapes_[i].dimensions,
                        inputs_.cpu_results[i]});
    }
    auto outputs = OutputsOf(std::move(arrays));
    if (!outputs) return tl::unexpected(outputs.error());
    return *std::move(outputs);
  }

 private:
  StatusOr<Outputs> Run(const DeviceProgram& program, const DeviceInputs& inputs,
                        const char* what) {
    auto results = device_.Run(program, inputs);
    if (!results) return MakeError(results.error().code, what + results.error().message);
    return OutputsOf(*std::move(results));
  }

  RemoteDevice& device_;
  const DeviceProgram& a_;
  const DeviceProgram& b_;
  const MakeInputSet& make_inputs_;
  const uint64_t seed_;
  uint64_t set_ = 0;
  InputSet inputs_;
  std::vector<verify::ArrayView> shapes_;  // of the reference's outputs; what they point to is gone
};

}  // namespace

DeviceInputs Perturbed(const DeviceInputs& inputs, uint64_t seed) {
  DeviceInputs moved = inputs;
  moved.name += fmt::format(", moved by {}", seed);
  for (size_t k = 0; k < moved.arrays.size(); ++k) {
    DeviceArray& array = moved.arrays[k];
    const verify::ElementType* const type = verify::FindElementType(array.type);
    if (type == nullptr) continue;
    verify::MoveByOneUnit(*type, array.bytes.data(),
                          static_cast<int64_t>(array.bytes.size() / type->bytes),
                          seed * 1000003 + k);
  }
  return moved;
}

ComparisonReport Compare(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                         const MakeInputSet& make_inputs, const CompareOptions& options) {
  OnDevice subject(device, a, b, make_inputs, options.seed);
  ComparisonReport report =
      verify::Compare(subject, options, static_cast<int>(options.given.size()));
  const std::string where = "run on " + device.device().kind + " by its plugin";
  report.method = report.verdict == Verdict::kEqual ? where + "; " + report.method : where;
  return report;
}

}  // namespace hone::device
