// The one meaning of equal, and races, for what Python runs itself.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "convert.h"
#include "core/median.h"
#include "core/race_tally.h"
#include "verify/compare.h"
#include "verify/move_values.h"
#include "verify/rule.h"

namespace hone::python {
namespace {

using verify::Outputs;

// [(element type by XLA's name, dimensions, bytes)]
struct HeldArrays {
  std::vector<nb::bytes> bytes;
};

Outputs OutputsOf(const nb::object& object) {
  auto held = std::make_shared<HeldArrays>();
  Outputs outputs;
  for (const nb::handle item : nb::cast<nb::sequence>(object)) {
    const auto type = nb::cast<std::string>(item[0]);
    const verify::ElementType* const known = verify::FindElementType(type);
    if (known == nullptr) throw nb::value_error(("arrays of " + type).c_str());
    const auto dimensions = nb::cast<std::vector<int64_t>>(item[1]);
    held->bytes.push_back(nb::cast<nb::bytes>(item[2]));
    const nb::bytes& bytes = held->bytes.back();
    outputs.arrays.push_back(
        {*known, dimensions, bytes.c_str(), static_cast<int64_t>(bytes.size() / known->bytes)});
  }
  outputs.owner = std::move(held);
  return outputs;
}

// Its exceptions go through the comparison to whoever called it.
class InPython : public verify::Subject {
 public:
  explicit InPython(nb::object subject) : subject_(std::move(subject)) {}

  Status Choose(const verify::InputChoice& choice) override {
    subject_.attr("choose")(choice.given, choice.near, choice.kind, choice.seed);
    return {};
  }
  StatusOr<Outputs> RunReference() override { return OutputsOf(subject_.attr("reference")()); }
  StatusOr<Outputs> RunCandidate() override { return OutputsOf(subject_.attr("candidate")()); }
  StatusOr<std::optional<Outputs>> MovedSample(int k) override {
    return Optional(subject_.attr("moved_sample")(k));
  }
  StatusOr<std::optional<Outputs>> Sample(int k) override {
    return Optional(subject_.attr("sample")(k));
  }
  StatusOr<std::optional<Outputs>> WideSample(int k) override {
    return Optional(subject_.attr("wide_sample")(k));
  }

 private:
  static std::optional<Outputs> Optional(const nb::object& object) {
    if (object.is_none()) return std::nullopt;
    return OutputsOf(object);
  }

  nb::object subject_;
};

nb::dict CompareRuns(const nb::object& subject, int given, int inputs, double budget_seconds,
                     uint64_t seed) {
  CompareOptions options;
  options.inputs = inputs;
  options.budget_seconds = budget_seconds;
  options.seed = seed;
  InPython runs(subject);
  return ToDict(verify::Compare(runs, options, given));
}

nb::bytes Moved(const std::string& type, const nb::bytes& bytes, uint64_t seed, bool nearby) {
  const verify::ElementType* const known = verify::FindElementType(type);
  std::string moved(bytes.c_str(), bytes.size());
  if (known != nullptr) {
    const auto count = static_cast<int64_t>(moved.size() / known->bytes);
    (nearby ? verify::MoveNearby : verify::MoveByOneUnit)(*known, moved.data(), count, seed);
  }
  return nb::bytes(moved.data(), moved.size());
}

nb::dict Tell(const RaceTally& tally) {
  RaceReport report;
  tally.Tell(&report);
  return ToDict(report);
}

}  // namespace

void BindVerify(nb::module_& module) {
  module.def(
      "compare_runs", &CompareRuns, nb::arg("subject"), nb::arg("given") = 0,
      nb::arg("inputs") = CompareOptions().inputs,
      nb::arg("budget_seconds") = CompareOptions().budget_seconds, nb::arg("seed") = 1,
      "Judges two programs that `subject` runs: choose(given, near, kind, seed), reference(), "
      "candidate(), moved_sample(k), sample(k), wide_sample(k). Runs return [(type, dimensions, bytes)].");
  module.def("moved", &Moved, nb::arg("type"), nb::arg("bytes"), nb::arg("seed"),
             nb::arg("nearby") = false,
             "An array's bytes, each value off by one unit in its last place, or by 1 % at most.");
  module.attr("FEW_SAMPLES") = verify::kFewSamples;
  module.attr("MANY_SAMPLES") = verify::kManySamples;
  module.def(
      "interval_of_median",
      [](const std::vector<double>& ratios) {
        const MedianInterval interval = IntervalOfMedian(ratios);
        return nb::make_tuple(interval.median, interval.low, interval.high);
      },
      nb::arg("ratios"), "(median, low, high), at 95 %.");
  nb::class_<RaceTally>(module, "RaceTally", "The pairs of a race, and when there are enough.")
      .def(
          "__init__",
          [](RaceTally* self, double budget_seconds, int least_pairs, int most_pairs,
             double indifferent) {
            RaceOptions options;
            options.budget_seconds = budget_seconds;
            options.least_pairs = least_pairs;
            options.most_pairs = most_pairs;
            options.indifferent = indifferent;
            new (self) RaceTally(options);
          },
          nb::arg("budget_seconds"), nb::arg("least_pairs"), nb::arg("most_pairs"),
          nb::arg("indifferent") = 0.0)
      .def("add", &RaceTally::Add, nb::arg("a"), nb::arg("b"))
      .def("is_over", &RaceTally::IsOver, nb::arg("seconds"))
      .def_prop_ro("pairs", &RaceTally::pairs)
      .def("tell", &Tell);
}

}  // namespace hone::python
