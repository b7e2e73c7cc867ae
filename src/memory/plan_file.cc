#include "memory/plan_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/file_kinds.h"
#include "memory/access.h"

namespace hone::memory {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 4> kUpdateOrders = {"at once", "freeing", "shrinking", "keeping"};
constexpr std::array<const char*, 5> kKinds = {"load", "store", "copy", "compute", "stream"};

Json ToJson(const Layout& layout) {
  if (layout.replicated) return "all";
  return Json::array({layout.begin, layout.end});
}

Json ToJson(const Box& box) { return Json::array({box.low, box.high}); }

Json ToJson(const Buffer& buffer) {
  Json json;
  json["tensor"] = buffer.tensor;
  json["layout"] = ToJson(buffer.layout);
  if (!buffer.box.low.empty()) json["box"] = ToJson(buffer.box);
  json["offset"] = buffer.offset;
  json["bytes"] = buffer.bytes;
  if (buffer.slots != 1) json["slots"] = buffer.slots;
  json["start"] = buffer.start;
  json["end"] = buffer.end;
  return json;
}

Json ToJson(const Network& network, const Step& step) {
  Json json;
  json["do"] = kKinds[static_cast<size_t>(step.kind)];
  if (step.op != kNone) {
    json["op"] = step.op;
    json["name"] = network.ops[static_cast<size_t>(step.op)].name;
  }
  if (step.tensor != kNone) {
    json["tensor"] = step.tensor;
    json["name"] = network.tensors[static_cast<size_t>(step.tensor)].name;
  }
  if (step.buffer != kNone) json["buffer"] = step.buffer;
  if (step.kind == StepKind::kCopy) json["operand"] = step.operand;
  if (!step.results.empty()) json["results"] = step.results;
  for (const Source& source : step.sources) {
    json["sources"].push_back({source.operand, source.tensor, source.buffer});
  }
  json["boxes"] = Json::array();
  for (const Box& box : step.boxes) json["boxes"].push_back(ToJson(box));
  for (const Box& sum : step.sums) json["sums"].push_back(ToJson(sum));
  return json;
}

// Throws Json::exception where the text is otherwise; ReadPlan catches.
Layout LayoutFrom(const Json& json) {
  if (json.is_string()) return {0, 0, true};
  return {json.at(0).get<int8_t>(), json.at(1).get<int8_t>(), false};
}

Box BoxFrom(const Json& json) {
  Box box{json.at(0).get<std::vector<int64_t>>(), json.at(1).get<std::vector<int64_t>>()};
  if (box.low.size() != box.high.size()) throw std::out_of_range("a box of two ranks");
  return box;
}

int32_t Index(const Json& json, const char* what, size_t size, bool may_lack) {
  const auto value = json.get<int32_t>();
  if ((value == kNone && may_lack) || (value >= 0 && static_cast<size_t>(value) < size))
    return value;
  throw std::out_of_range("there is no " + std::string(what) + " " + std::to_string(value));
}

class Checker {
 public:
  Checker(const Network& network, const Plan& plan) : network_(network), plan_(plan) {}

  DramOrders::value_type DramOrderFrom(const Json& json) const {
    const TensorId tensor = Index(json.at(0), "tensor", network_.tensors.size(), false);
    auto order = json.at(1).get<std::vector<int64_t>>();
    std::vector<int64_t> own(network_.tensors[static_cast<size_t>(tensor)].dimensions.size());
    std::iota(own.begin(), own.end(), 0);
    if (!std::is_permutation(order.begin(), order.end(), own.begin(), own.end())) {
      throw std::out_of_range("an order in DRAM of other dimensions than its tensor's");
    }
    return {tensor, std::move(order)};
  }

  Buffer BufferFrom(const Json& json) const {
    Buffer buffer;
    buffer.tensor = Index(json.at("tensor"), "tensor", network_.tensors.size(), true);
    buffer.layout = LayoutFrom(json.at("layout"));
    if (json.contains("box")) buffer.box = BoxFrom(json.at("box"));
    buffer.offset = json.at("offset").get<int64_t>();
    buffer.bytes = json.at("bytes").get<int64_t>();
    buffer.slots = json.value("slots", int64_t{1});
    buffer.start = json.at("start").get<int64_t>();
    buffer.end = json.at("end").get<int64_t>();
    if (buffer.slots < 1 || buffer.slots > 16 || buffer.bytes < 0) {
      throw std::out_of_range("a buffer of impossible size");
    }
    return buffer;
  }

  Step StepFrom(const Json& json) const {
    Step step;
    const auto kind = json.at("do").get<std::string>();
    size_t k = 0;
    while (k < kKinds.size() && kind != kKinds[k]) ++k;
    if (k == kKinds.size()) throw std::out_of_range("there is no step '" + kind + "'");
    step.kind = static_cast<StepKind>(k);
    const bool moves = step.kind == StepKind::kLoad || step.kind == StepKind::kStore;
    const size_t buffers = plan_.buffers.size();
    if (moves) {
      step.tensor = Index(json.at("tensor"), "tensor", network_.tensors.size(), false);
    } else {
      step.op = Index(json.at("op"), "operator", network_.ops.size(), false);
    }
    if (moves || step.kind == StepKind::kCopy) {
      step.buffer = Index(json.at("buffer"), "buffer", buffers, false);
    }
    const size_t operands = moves ? 0 : network_.ops[static_cast<size_t>(step.op)].inputs.size();
    if (step.kind == StepKind::kCopy) {
      step.operand = Index(json.at("operand"), "operand", operands, false);
    }
    for (const Json& result : json.value("results", Json::array())) {
      step.results.push_back(Index(result, "buffer", buffers, false));
    }
    for (const Json& source : json.value("sources", Json::array())) {
      step.sources.push_back({Index(source.at(0), "operand", operands, false),
                              Index(source.at(1), "tensor", network_.tensors.size(), true),
                              Index(source.at(2), "buffer", buffers, true)});
    }
    for (const Json& box : json.at("boxes")) {
      step.boxes.push_back(BoxFrom(box));
      Check(step);
    }
    for (const Json& sum : json.value("sums", Json::array())) {
      step.sums.push_back(BoxFrom(sum));
      CheckSum(step);
    }
    if (!step.sums.empty() && step.sums.size() != step.boxes.size()) {
      throw std::out_of_range("not one part of the sum for each tile");
    }
    return step;
  }

 private:
  // The last box of a step lies in what it is a box of.
  void Check(const Step& step) const {
    const Box& box = step.boxes.back();
    if (IsEmpty(box)) return;
    const std::vector<int64_t>* dimensions = nullptr;
    if (step.tensor != kNone) {
      dimensions = &network_.tensors[static_cast<size_t>(step.tensor)].dimensions;
    } else if (step.kind == StepKind::kCopy) {
      const Op& op = network_.ops[static_cast<size_t>(step.op)];
      const ExprId input = op.inputs[static_cast<size_t>(step.operand)];
      dimensions = &network_.exprs[static_cast<size_t>(input)].dimensions;
    } else {
      const TensorId result = network_.ops[static_cast<size_t>(step.op)].results[0];
      dimensions = &network_.tensors[static_cast<size_t>(result)].dimensions;
    }
    if (box.low.size() != dimensions->size() || !Contains(WholeBox(*dimensions), box)) {
      throw std::out_of_range("a box outside of its tensor");
    }
  }

  void CheckSum(const Step& step) const {
    std::vector<int64_t> sizes;
    if (step.kind == StepKind::kCompute) {
      const Op& op = network_.ops[static_cast<size_t>(step.op)];
      for (const SumDimension& sum : SumDimensions(network_, op)) sizes.push_back(sum.size);
    }
    const Box& sum = step.sums.back();
    if (sizes.empty() || sum.low.size() != sizes.size() || !Contains(WholeBox(sizes), sum)) {
      throw std::out_of_range("a part of a sum outside of it");
    }
  }

  const Network& network_;
  const Plan& plan_;
};

tl::unexpected<Error> BadPlan(const std::string& why) {
  return MakeError(ErrorCode::kInvalidInput, "not a plan of `hone memory`: " + why);
}

}  // namespace

std::string WritePlan(const Network& network, const PlanFile& file) {
  const Plan& plan = file.plan;
  Json header;
  BeginFile(kMemoryPlanFile, header);
  header["program"] = file.program;
  header["fingerprint"] = file.fingerprint;
  if (file.updates) header["updates"] = kUpdateOrders[static_cast<size_t>(*file.updates)];
  header["machine"] = Json::parse(hone::memory::ToJson(file.machine));
  Json figures;
  figures["loaded_bytes"] = plan.figures.loaded_bytes;
  figures["stored_bytes"] = plan.figures.stored_bytes;
  figures["copies"] = plan.figures.copies;
  figures["peak_bytes_per_partition"] = plan.figures.peak_bytes_per_partition;
  figures["groups"] = plan.figures.groups;
  figures["tiled_groups"] = plan.figures.tiled_groups;
  figures["streamed"] = plan.figures.streamed;
  figures["spilled_bytes"] = plan.figures.spilled_bytes;
  header["figures"] = figures;
  header["layouts"] = Json::array();
  for (const Layout& layout : plan.layouts) header["layouts"].push_back(ToJson(layout));
  if (!plan.dram_orders.empty()) {
    Json& orders = header["dram_orders"] = Json::array();
    for (const auto& [tensor, order] : plan.dram_orders) orders.push_back({tensor, order});
  }
  std::string text = header.dump();
  text.pop_back();  // the brace: the long lists follow, an element a line
  text += ",\n\"buffers\": [";
  const char* comma = "\n";
  for (const Buffer& buffer : plan.buffers) {
    text += comma + ToJson(buffer).dump();
    comma = ",\n";
  }
  text += "],\n\"blocks\": [";
  const char* block_comma = "\n";
  for (const Block& block : plan.blocks) {
    text +=
        std::string(block_comma) + "{\"tiles\": " + std::to_string(block.tiles) + ", \"steps\": [";
    block_comma = ",\n";
    comma = "\n ";
    for (const Step& step : block.steps) {
      text += comma + ToJson(network, step).dump();
      comma = ",\n ";
    }
    text += "]}";
  }
  text += "]}\n";
  return text;
}

StatusOr<PlanFile> ReadPlanHeader(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return BadPlan("not JSON");
  try {
    if (!IsOfKind(kMemoryPlanFile, json)) {
      return BadPlan("its 'format' is another" + OtherKind(text, kMemoryPlanFile));
    }
    if (Status reads = CheckVersionIn(kMemoryPlanFile, json); !reads) {
      return tl::unexpected(reads.error());
    }
    PlanFile file;
    file.program = json.at("program").get<std::string>();
    file.fingerprint = json.at("fingerprint").get<std::string>();
    auto machine = ParseMachine(json.at("machine").dump(), "its machine");
    if (!machine) return BadPlan(machine.error().message);
    file.machine = *std::move(machine);
    if (json.contains("updates")) {
      const auto name = json.at("updates").get<std::string>();
      const auto* place = std::find(kUpdateOrders.begin(), kUpdateOrders.end(), name);
      if (place == kUpdateOrders.end())
        return BadPlan("there is no way to order updates '" + name + "'");
      file.updates = static_cast<UpdateOrder>(place - kUpdateOrders.begin());
    }
    return file;
  } catch (const std::exception& error) {
    return BadPlan(error.what());
  }
}

StatusOr<PlanFile> ReadPlan(std::string_view text, const Network& network) {
  StatusOr<PlanFile> file = ReadPlanHeader(text);
  if (!file) return file;
  Plan& plan = file->plan;
  try {
    const Json json = Json::parse(text);
    const Json& figures = json.at("figures");
    plan.figures.loaded_bytes = figures.at("loaded_bytes").get<int64_t>();
    plan.figures.stored_bytes = figures.at("stored_bytes").get<int64_t>();
    plan.figures.copies = figures.at("copies").get<int64_t>();
    plan.figures.peak_bytes_per_partition = figures.at("peak_bytes_per_partition").get<int64_t>();
    // Not in files of before plans were kept in a store.
    plan.figures.groups = figures.value("groups", int64_t{0});
    plan.figures.tiled_groups = figures.value("tiled_groups", int64_t{0});
    plan.figures.streamed = figures.value("streamed", int64_t{0});
    plan.figures.spilled_bytes = figures.value("spilled_bytes", int64_t{0});
    for (const Json& layout : json.at("layouts")) plan.layouts.push_back(LayoutFrom(layout));
    const Checker checker(network, plan);
    for (const Json& order : json.value("dram_orders", Json::array())) {
      plan.dram_orders.insert(checker.DramOrderFrom(order));
    }
    for (const Json& buffer : json.at("buffers"))
      plan.buffers.push_back(checker.BufferFrom(buffer));
    for (const Json& block : json.at("blocks")) {
      plan.blocks.push_back({block.at("tiles").get<int64_t>(), {}});
      for (const Json& step : block.at("steps")) {
        plan.blocks.back().steps.push_back(checker.StepFrom(step));
      }
    }
  } catch (const std::exception& error) {
    return BadPlan(error.what());
  }
  return file;
}

}  // namespace hone::memory
