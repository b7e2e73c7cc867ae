#include "cost/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/fnv.h"
#include "core/lines.h"
#include "cost/cost_network.h"
#include "policy/policy_file.h"

namespace hone::cost {
namespace {

constexpr const char* kFormat = "hone-cost-model-1";
// Beyond them a file is not believed.
constexpr int64_t kMostRows = 4096;
constexpr int64_t kMostWidth = 1024;
constexpr int64_t kMostRounds = 16;

tl::unexpected<Error> Bad(const std::string& what) {
  return MakeError(ErrorCode::kInvalidInput, "it is no cost model of hone's: " + what +
                                                 "; make one with `hone costmodel train`");
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) names.emplace_back(TakePart(text, ','));
  return names;
}

std::vector<int32_t> RowsOf(const std::vector<std::string>& names,
                            const std::vector<std::string>& known) {
  std::vector<int32_t> rows;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    rows.push_back(found == known.end() ? 0 : static_cast<int32_t>(found - known.begin()) + 1);
  }
  return rows;
}

std::vector<std::pair<const char*, double Machine::*>> MachineFields() {
  return {{"flops_per_second", &Machine::flops_per_second},
          {"bytes_per_second", &Machine::bytes_per_second},
          {"cores", &Machine::cores},
          {"kernel_seconds", &Machine::kernel_seconds},
          {"partition_seconds", &Machine::partition_seconds}};
}

uint64_t Hash(std::string_view text) {
  const uint64_t hash = Fnv1a(text);
  return hash ^ hash >> 32;
}

}  // namespace

std::vector<double> PlanFeatures(const std::vector<PlanChoice>& choices) {
  std::vector<double> features(kPlanFeatures);
  for (const PlanChoice& choice : choices) {
    const bool named = choice.stage == "flags" || choice.stage == "implementation";
    const std::string what =
        choice.stage + " " + (named ? choice.name + "=" : std::string()) + choice.value;
    features[Hash(what) % kPlanFeatures] += 1;
  }
  for (double& feature : features) feature = std::log1p(feature);
  return features;
}

NetworkInput CostModel::InputOf(const CostGraph& graph,
                                const std::vector<PlanChoice>& choices) const {
  return MakeNetworkInput(graph, RowsOf(graph.opcodes, opcodes), RowsOf(graph.types, types),
                          machine, PlanFeatures(choices));
}

double CostModel::Estimate(const CostGraph& graph, const std::vector<PlanChoice>& choices) const {
  return Evaluate(shape, parameters, InputOf(graph, choices));
}

std::string WriteCostModel(const CostModel& model) {
  policy::PolicyFile file;
  file.metadata = model.card;
  file.metadata["format"] = kFormat;
  file.metadata["opcodes"] = Joined(model.opcodes);
  file.metadata["types"] = Joined(model.types);
  for (const auto& [name, field] : MachineFields()) {
    file.metadata[std::string("machine.") + name] = fmt::format("{}", model.machine.*field);
  }
  for (const ParameterSlot& slot : SlotsOf(model.shape)) {
    policy::Tensor& tensor = file.tensors[slot.name];
    tensor.shape = {slot.rows, slot.columns};
    const auto begin = model.parameters.begin() + slot.offset;
    tensor.values.assign(begin, begin + slot.rows * slot.columns);
  }
  return policy::WritePolicyFile(file);
}

StatusOr<CostModel> ReadCostModel(std::string_view bytes) {
  StatusOr<policy::PolicyFile> file = policy::ReadPolicyFile(bytes);
  if (!file) return Bad("its bytes are not those of a safetensors file");
  std::map<std::string, std::string>& metadata = file->metadata;
  if (metadata["format"] != kFormat) {
    return Bad("its format is '" + metadata["format"] + "', not '" + kFormat + "'");
  }
  CostModel model;
  model.opcodes = Split(metadata["opcodes"]);
  model.types = Split(metadata["types"]);
  for (const auto& [name, field] : MachineFields()) {
    const std::string& text = metadata[std::string("machine.") + name];
    double& value = model.machine.*field;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || !std::isfinite(value) || value <= 0) {
      return Bad(std::string("its machine.") + name + " is no positive number");
    }
  }
  model.shape.opcodes = static_cast<int64_t>(model.opcodes.size()) + 1;
  model.shape.types = static_cast<int64_t>(model.types.size()) + 1;
  model.shape.rounds = 0;
  while (file->tensors.count(fmt::format("round.{}.self", model.shape.rounds)) != 0) {
    ++model.shape.rounds;
  }
  const auto bias = file->tensors.find("numbers.bias");
  const auto head = file->tensors.find("head.bias");
  if (bias == file->tensors.end() || head == file->tensors.end()) return Bad("it lacks a network");
  model.shape.width = static_cast<int64_t>(bias->second.values.size());
  model.shape.hidden = static_cast<int64_t>(head->second.values.size());
  if (model.shape.width > kMostWidth || model.shape.hidden > kMostWidth ||
      model.shape.rounds > kMostRounds || model.shape.opcodes > kMostRows ||
      model.shape.types > kMostRows) {
    return Bad("its network is too large");
  }
  model.parameters.resize(static_cast<size_t>(ParameterCount(model.shape)));
  for (const ParameterSlot& slot : SlotsOf(model.shape)) {
    const auto tensor = file->tensors.find(slot.name);
    if (tensor == file->tensors.end() ||
        tensor->second.shape != std::vector<int64_t>{slot.rows, slot.columns}) {
      return Bad(fmt::format("its tensor '{}' is missing or not [{}, {}]", slot.name, slot.rows,
                             slot.columns));
    }
    for (const float value : tensor->second.values) {
      if (!std::isfinite(value)) return Bad("its tensor '" + slot.name + "' is not finite");
    }
    std::copy(tensor->second.values.begin(), tensor->second.values.end(),
              model.parameters.begin() + slot.offset);
  }
  model.card = std::move(metadata);
  return model;
}

}  // namespace hone::cost
