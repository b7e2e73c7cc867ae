#include "loops/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "policy/policy_file.h"

namespace hone::loops {
namespace {

using choices::Features;
using choices::Tree;

constexpr const char* kFormat = "hone-loops-cost-1";
constexpr size_t kNumbers = 2 * kScheduleFeatures;  // the schedule's, then less the default's
// Beyond a schedule that is so many times slower or faster than its task's mean it is all one.
constexpr double kMostApart = 3;

Error Bad(const std::string& what) {
  return {ErrorCode::kInvalidInput,
          "it is no cost model of loops: " + what + "; make one with `hone-loops-bench costmodel`"};
}

std::vector<float> NumbersOf(const std::vector<float>& schedule,
                             const std::vector<float>& by_default) {
  std::vector<float> numbers = schedule;
  for (size_t i = 0; i < schedule.size(); ++i) numbers.push_back(schedule[i] - by_default[i]);
  return numbers;
}

Features ColumnsOf(const std::vector<LoopsCostModel::Above>& columns,
                   const std::vector<float>& numbers) {
  Features set;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (numbers[columns[i].number] > columns[i].threshold) set.push_back(static_cast<uint32_t>(i));
  }
  return set;
}

// Between neighbouring values, as many examples between one and the next.
std::vector<LoopsCostModel::Above> ChooseColumns(const std::vector<std::vector<float>>& numbers,
                                                 size_t thresholds) {
  std::vector<LoopsCostModel::Above> columns;
  for (uint32_t k = 0; k < kNumbers; ++k) {
    std::vector<float> values;
    for (const auto& row : numbers) values.push_back(row[k]);
    std::sort(values.begin(), values.end());
    float last = values.back();  // nothing is above it
    for (size_t t = thresholds; t-- > 0;) {
      const float value = values[values.size() * t / thresholds];
      if (value < last) columns.push_back({k, last = value});
    }
  }
  std::sort(columns.begin(), columns.end(), [](const auto& a, const auto& b) {
    return std::pair(a.number, a.threshold) < std::pair(b.number, b.threshold);
  });
  return columns;
}

}  // namespace

double LoopsCostModel::Predict(const std::vector<float>& schedule,
                               const std::vector<float>& by_default) const {
  return trees.Predict(ColumnsOf(columns, NumbersOf(schedule, by_default)));
}

LoopsCostModel TrainLoopsCostModel(const std::vector<TimedSchedule>& timed,
                                   const LoopsCostOptions& options) {
  LoopsCostModel model;
  std::vector<std::vector<float>> numbers;
  std::map<size_t, std::pair<double, size_t>> means;
  for (const TimedSchedule& one : timed) {
    numbers.push_back(NumbersOf(one.features, one.by_default));
    auto& [sum, count] = means[one.task];
    sum += one.value;
    ++count;
  }
  model.columns = ChooseColumns(numbers, options.thresholds);
  std::vector<Features> rows;
  std::vector<double> values;
  for (size_t i = 0; i < timed.size(); ++i) {
    rows.push_back(ColumnsOf(model.columns, numbers[i]));
    const auto& [sum, count] = means[timed[i].task];
    values.push_back(
        std::clamp(timed[i].value - sum / static_cast<double>(count), -kMostApart, kMostApart));
  }
  Rng rng(options.seed);
  model.trees = choices::Boost(rows, values, options.boosting, rng);
  return model;
}

std::string WriteLoopsCostModel(const LoopsCostModel& model) {
  policy::PolicyFile file;
  file.metadata = model.card;
  file.metadata[policy::kMetadataFormat] = kFormat;
  policy::Tensor columns{{static_cast<int64_t>(model.columns.size()), 2}, {}};
  for (const auto& above : model.columns) {
    columns.values.insert(columns.values.end(),
                          {static_cast<float>(above.number), above.threshold});
  }
  policy::Tensor sizes{{static_cast<int64_t>(model.trees.trees.size())}, {}};
  policy::Tensor nodes{{0, 4}, {}};
  for (const Tree& tree : model.trees.trees) {
    sizes.values.push_back(static_cast<float>(tree.nodes().size()));
    for (const Tree::Node& node : tree.nodes()) {
      nodes.values.insert(nodes.values.end(),
                          {static_cast<float>(node.column), static_cast<float>(node.value),
                           static_cast<float>(node.set), static_cast<float>(node.unset)});
      ++nodes.shape[0];
    }
  }
  file.tensors = {{"columns", std::move(columns)},
                  {"sizes", std::move(sizes)},
                  {"nodes", std::move(nodes)},
                  {"rate", {{1}, {static_cast<float>(model.trees.rate)}}},
                  {"mean", {{1}, {static_cast<float>(model.trees.mean)}}}};
  return policy::WritePolicyFile(file);
}

StatusOr<std::shared_ptr<const LoopsCostModel>> ReadLoopsCostModel(std::string_view bytes) {
  auto file = policy::ReadPolicyFile(bytes);
  if (!file) return tl::unexpected(Bad(file.error().message));
  if (file->metadata[policy::kMetadataFormat] != kFormat) {
    return tl::unexpected(
        Bad("its format is '" + file->metadata[policy::kMetadataFormat] + "', not " + kFormat));
  }
  for (const char* name : {"columns", "sizes", "nodes", "rate", "mean"}) {
    const auto found = file->tensors.find(name);
    if (found == file->tensors.end()) {
      return tl::unexpected(Bad("it has no tensor '" + std::string(name) + "'"));
    }
    for (const float value : found->second.values) {
      if (!std::isfinite(value)) {
        return tl::unexpected(Bad("'" + std::string(name) + "' holds values that are no numbers"));
      }
    }
  }
  const auto values = [&](const char* name) -> const std::vector<float>& {
    return file->tensors[name].values;
  };
  if (values("columns").size() % 2 != 0 || values("nodes").size() % 4 != 0 ||
      values("rate").size() != 1 || values("mean").size() != 1) {
    return tl::unexpected(Bad("a tensor has another shape"));
  }
  auto model = std::make_shared<LoopsCostModel>();
  for (size_t i = 0; i < values("columns").size(); i += 2) {
    const float number = values("columns")[i];
    if (number < 0 || number >= static_cast<float>(kNumbers)) {
      return tl::unexpected(Bad("a column is of a number that this hone does not show"));
    }
    model->columns.push_back({static_cast<uint32_t>(number), values("columns")[i + 1]});
  }
  size_t at = 0;
  for (const float size : values("sizes")) {
    if (size < 1 || size > static_cast<float>(values("nodes").size() / 4 - at)) {
      return tl::unexpected(Bad("a tree has no such size"));
    }
    std::vector<Tree::Node> nodes;
    const auto count = static_cast<size_t>(size);
    for (size_t i = 0; i < count; ++i, ++at) {
      const float* const row = &values("nodes")[4 * at];
      // On to a later node only: so there is an end.
      const auto later = [&](float to) {
        return to > static_cast<float>(i) && to < static_cast<float>(count);
      };
      if (row[0] >= static_cast<float>(model->columns.size()) ||
          (row[0] >= 0 && !(later(row[2]) && later(row[3])))) {
        return tl::unexpected(Bad("a tree is none"));
      }
      nodes.push_back({-1, row[1], 0, 0});
      if (row[0] < 0) continue;
      nodes.back() = {static_cast<int64_t>(row[0]), row[1], static_cast<size_t>(row[2]),
                      static_cast<size_t>(row[3])};
    }
    model->trees.trees.emplace_back(std::move(nodes));
  }
  model->trees.rate = values("rate")[0];
  model->trees.mean = values("mean")[0];
  model->card = std::move(file->metadata);
  return std::shared_ptr<const LoopsCostModel>(std::move(model));
}

}  // namespace hone::loops
