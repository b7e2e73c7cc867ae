#include "memory/simulator/simulate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "memory/access.h"
#include "memory/planning/work.h"
#include "memory/simulator/given.h"
#include "memory/simulator/scratchpad.h"
#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

size_t U(int32_t id) { return static_cast<size_t>(id); }

// Whether partition numbers mean something for the whole of an operand: no literals among its
// leaves.
bool OnlyTensors(const Network& network, ExprId id) {
  const Expr& expr = network.exprs[U(id)];
  if (expr.movement == Movement::kLiteral || expr.movement == Movement::kIota) return false;
  return std::all_of(expr.inputs.begin(), expr.inputs.end(),
                     [&](ExprId input) { return OnlyTensors(network, input); });
}

class Simulator {
 public:
  Simulator(const Network& network, const Machine& machine, const Plan& plan,
            const Evaluation* values)
      : network_(network),
        machine_(machine),
        plan_(plan),
        values_(values),
        scratchpad_(machine, plan, values != nullptr),
        dram_(network.tensors.size()),
        written_(network.tensors.size()),
        in_dram_(network.tensors.size(), false) {}

  StatusOr<Simulation> Run() {
    simulation_.numbers = values_ != nullptr;
    if (Status filled = FillDram(); !filled) return tl::unexpected(filled.error());
    for (size_t b = 0; b < plan_.blocks.size(); ++b) {
      const Block& block = plan_.blocks[b];
      for (int64_t tile = 0; tile < block.tiles; ++tile) {
        for (size_t s = 0; s < block.steps.size(); ++s) {
          const Step& step = block.steps[s];
          if (step.boxes.size() != static_cast<size_t>(block.tiles)) {
            return Trapped(b, s, tile, "not one box for each tile");
          }
          if (Status going = EvaluationLimit::Check(); !going) {
            return tl::unexpected(going.error());
          }
          if (Status done = RunStep(step, static_cast<size_t>(tile)); !done) {
            return tl::unexpected(done.error());
          }
          ++simulation_.steps;
          if (!scratchpad_.trap().empty()) trap_ = scratchpad_.trap();
          if (!trap_.empty()) return Trapped(b, s, tile, trap_);
          if (tile == 0 && step.kind == StepKind::kCopy) ++simulation_.copies;
        }
      }
    }
    simulation_.peak_bytes_per_partition = scratchpad_.highest();
    for (size_t k = 0; k < network_.outputs.size(); ++k) {
      const TensorId tensor = network_.output_tensors[k];
      const Box whole = WholeBox(network_.tensors[U(tensor)].dimensions);
      const bool empty = network_.tensors[U(tensor)].Bytes() == 0;  // as tokens are
      if (!empty && !InDram(tensor, whole)) {
        return MakeError(ErrorCode::kInternal, "output " + std::to_string(k) + " is never stored");
      }
      if (values_ == nullptr) continue;
      const ExprId output = network_.outputs[k];
      simulation_.outputs.push_back(
          Materialise(network_, output, WholeBox(network_.exprs[U(output)].dimensions),
                      [&](TensorId id, const Box& box) { return FromDram(id, box); }));
    }
    return std::move(simulation_);
  }

 private:
  tl::unexpected<Error> Trapped(size_t block, size_t step, int64_t tile, const std::string& what) {
    const Step& at = plan_.blocks[block].steps[step];
    const std::string name = at.op != kNone       ? network_.ops[U(at.op)].name
                             : at.tensor != kNone ? network_.tensors[U(at.tensor)].name
                                                  : "";
    return MakeError(ErrorCode::kInternal, "trap at block " + std::to_string(block) + ", step " +
                                               std::to_string(step) + " (" + name + "), tile " +
                                               std::to_string(tile) + ": " + what);
  }

  Status FillDram() {
    for (size_t t = 0; t < network_.tensors.size(); ++t) {
      const Tensor& tensor = network_.tensors[t];
      if (tensor.producer != kNone) continue;
      written_[t] = WholeBox(tensor.dimensions);
      in_dram_[t] = true;
      if (values_ == nullptr) continue;
      const bool is_given = tensor.parameter != kNone || tensor.constant_computation != kNone;
      if (!is_given) continue;  // the result of an operator that nothing depends on
      auto values = GivenValues(tensor, *values_);
      if (!values) {
        return MakeError(ErrorCode::kUnsupported, "there are no values for '" + tensor.name + "'");
      }
      dram_[t] = *std::move(values);
    }
    return {};
  }

  Scratchpad::Content ContentOf(TensorId id) const {
    const Tensor& tensor = network_.tensors[U(id)];
    return {id, kNone, tensor.type, tensor.element_bytes, tensor.dimensions};
  }

  Scratchpad::Content ContentOf(const Op& op, int32_t operand) const {
    const Expr& expr = network_.exprs[U(op.inputs[U(operand)])];
    return {kNone, operand, expr.type, std::max<int64_t>(1, BytesOf(expr.type)), expr.dimensions};
  }

  bool InDram(TensorId id, const Box& box) const {
    return in_dram_[U(id)] && Contains(written_[U(id)], box);
  }

  Array FromDram(TensorId id, const Box& box) {
    if (!InDram(id, box)) {
      if (trap_.empty()) trap_ = "a read of '" + network_.tensors[U(id)].name + "' that DRAM lacks";
      return MakeArray(values_ ? network_.tensors[U(id)].type : ElementType::kOther, box);
    }
    if (values_ == nullptr) return MakeArray(ElementType::kOther, box);
    return Cut(dram_[U(id)], box);
  }

  void ToDram(TensorId id, const Array& part) {
    const Tensor& tensor = network_.tensors[U(id)];
    Box& written = written_[U(id)];
    const bool first = !in_dram_[U(id)];
    written = first ? part.box : Hull(written, part.box);
    in_dram_[U(id)] = true;
    if (values_ == nullptr) return;
    if (first) dram_[U(id)] = MakeArray(tensor.type, WholeBox(tensor.dimensions));
    CopyBox(part, dram_[U(id)], part.box);
  }

  int64_t Bytes(TensorId id, const Box& box) const {
    return Elements(box) * network_.tensors[U(id)].element_bytes;
  }

  Status RunStep(const Step& step, size_t tile) {
    const Box& box = step.boxes[tile];
    if (IsEmpty(box) && step.kind != StepKind::kStream) return {};
    switch (step.kind) {
      case StepKind::kLoad: {
        const Array part = FromDram(step.tensor, box);
        simulation_.loaded_bytes += Bytes(step.tensor, box);
        scratchpad_.NextSlot(step.buffer);
        scratchpad_.Write(step.buffer, ContentOf(step.tensor), box, values_ ? &part : nullptr);
        return {};
      }
      case StepKind::kStore: {
        if (!Finished(step.tensor, box)) return {};
        const Array part = scratchpad_.Read(step.buffer, ContentOf(step.tensor), box);
        simulation_.stored_bytes += Bytes(step.tensor, box);
        ToDram(step.tensor, part);
        return {};
      }
      case StepKind::kCopy:
        return Copy(step, box);
      case StepKind::kCompute:
        return Compute(step, box, step.sums.empty() ? Box{} : step.sums[tile]);
      case StepKind::kStream:
        return Stream(step);
    }
    return {};
  }

  // An operand's box out of the buffers that its sources name. Without numbers, every leaf's box is
  // looked up all the same.
  Array Operand(const Step& step, const Op& op, int32_t operand, const Box& box, Array* part) {
    const auto source = [&](TensorId tensor) {
      for (const Source& at : step.sources) {
        if (at.operand == operand && at.tensor == tensor) return &at;
      }
      return static_cast<const Source*>(nullptr);
    };
    if (const Source* copy = source(kNone); copy != nullptr && step.kind != StepKind::kCopy) {
      return scratchpad_.Read(copy->buffer, ContentOf(op, operand), box, part);
    }
    bool want_part = false;
    const ReadTensor read = [&](TensorId tensor, const Box& leaf) {
      const Source* at = source(tensor);
      Finished(tensor, leaf);
      if (at == nullptr || at->buffer == kNone) {
        if (at == nullptr && trap_.empty()) trap_ = "an operand without a source";
        return FromDram(tensor, leaf);
      }
      // What lies there has been read before its partitions are asked for.
      return want_part ? scratchpad_.Partitions(at->buffer, ContentOf(tensor), leaf)
                       : scratchpad_.Read(at->buffer, ContentOf(tensor), leaf);
    };
    const ExprId expr = op.inputs[U(operand)];
    if (values_ == nullptr) {
      ForEachLeaf(network_, expr, box,
                  [&](TensorId tensor, const Box& leaf) { read(tensor, leaf); });
      return {};
    }
    Array result = Materialise(network_, expr, box, read);
    if (part != nullptr && scratchpad_.trap().empty() && OnlyTensors(network_, expr)) {
      want_part = true;
      *part = Materialise(network_, expr, box, read);
    }
    return result;
  }

  Status Copy(const Step& step, const Box& box) {
    const Op& op = network_.ops[U(step.op)];
    const Array operand = Operand(step, op, step.operand, box, nullptr);
    scratchpad_.Write(step.buffer, ContentOf(op, step.operand), box, values_ ? &operand : nullptr);
    return {};
  }

  // Sums that are made in parts: how much of the sum each box has had so far. Parts come in their
  // order, none twice; what is read or stored has had all.
  void AddPart(const Op& op, const Box& box, const Box& sum) {
    const TensorId result = op.results[0];
    auto& boxes = parts_[result];
    const auto place =
        std::find_if(boxes.begin(), boxes.end(), [&](const Part& part) { return part.box == box; });
    const bool first =
        std::all_of(sum.low.begin(), sum.low.end(), [](int64_t l) { return l == 0; });
    if (first) {
      if (place != boxes.end()) boxes.erase(place);
      boxes.push_back({box, sum.low, 0});
    } else if (place == boxes.end() || !(place->last < sum.low)) {
      trap_ = "a part of a sum that is out of order";
      return;
    }
    Part& part = first ? boxes.back() : *place;
    part.last = sum.low;
    part.summed += Elements(sum);
    int64_t whole = 1;
    for (const SumDimension& dimension : SumDimensions(network_, op)) whole *= dimension.size;
    if (part.summed == whole) boxes.erase(first ? boxes.end() - 1 : place);
  }

  bool Finished(TensorId tensor, const Box& box) {
    const auto found = parts_.find(tensor);
    if (found == parts_.end()) return true;
    for (const Part& part : found->second) {
      if (IsEmpty(Intersect(part.box, box))) continue;
      if (trap_.empty()) trap_ = "a read of a sum that is not finished";
      return false;
    }
    return true;
  }

  // What lies there already and the new part of the sum.
  StatusOr<Array> Joined(const Op& op, const Array& before, const Array& part) {
    Op join;
    join.opcode = op.opcode == "reduce" ? op.bodies[0]->ops[0].opcode : "add";
    join.name = op.name;
    return EvaluateElementwise(join, {before, part}, part.type, part.box);
  }

  Status Compute(const Step& step, const Box& box, const Box& sum) {
    const Op& op = network_.ops[U(step.op)];
    const bool check = machine_.engines_are_partitioned && values_ != nullptr &&
                       (IsElementwise(op.opcode) || op.opcode == "dot");
    std::vector<Array> operands;
    std::vector<Array> parts(op.inputs.size());
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const Box needed = OperandBox(network_, op, k, box, sum);
      const Source* dram = nullptr;
      for (const Source& source : step.sources) {
        if (source.operand == static_cast<int32_t>(k) && source.buffer == kNone) dram = &source;
      }
      if (dram != nullptr) {  // element by element, as many as the result has
        simulation_.loaded_bytes +=
            Elements(box) * network_.tensors[U(op.results[0])].element_bytes;
      }
      operands.push_back(Operand(step, op, static_cast<int32_t>(k), needed,
                                 check && dram == nullptr ? &parts[k] : nullptr));
    }
    if (!trap_.empty() || !scratchpad_.trap().empty()) return {};
    std::vector<Box> out;
    for (size_t r = 0; r < op.results.size(); ++r) {
      const auto& dimensions = network_.tensors[U(op.results[r])].dimensions;
      out.push_back(
          dimensions == network_.tensors[U(op.results[0])].dimensions ? box : WholeBox(dimensions));
    }
    std::vector<Array> results(op.results.size());
    if (values_ != nullptr) {
      auto computed = EvaluateOp(network_, op, operands, out);
      if (!computed) return tl::unexpected(computed.error());
      results = *std::move(computed);
      if (check) CheckPartitions(op, step, parts, box);
    }
    const bool more =
        std::any_of(sum.low.begin(), sum.low.end(), [](int64_t low) { return low > 0; });
    if (more && step.results.size() == 1) {
      const Array before = scratchpad_.Read(step.results[0], ContentOf(op.results[0]), box);
      if (values_ != nullptr && scratchpad_.trap().empty()) {
        auto joined = Joined(op, before, results[0]);
        if (!joined) return tl::unexpected(joined.error());
        results[0] = *std::move(joined);
      }
    }
    if (!sum.low.empty()) AddPart(op, box, sum);
    if (step.results.size() != op.results.size()) {
      trap_ = "not one buffer for each result";
      return {};
    }
    for (size_t r = 0; r < op.results.size(); ++r) {
      scratchpad_.Write(step.results[r], ContentOf(op.results[r]), out[r],
                        values_ ? &results[r] : nullptr);
    }
    return {};
  }

  // Elementwise operators: every element in the result's partition. Products: partners meet.
  void CheckPartitions(const Op& op, const Step& step, const std::vector<Array>& parts,
                       const Box& box) {
    const auto number = [](const Array& part, int64_t at) {
      return static_cast<int64_t>(AsReal(part, at));
    };
    if (IsElementwise(op.opcode)) {
      const Tensor& result = network_.tensors[U(op.results[0])];
      const Buffer& buffer = plan_.buffers[U(step.results[0])];
      const Placement placement(machine_, result.dimensions, buffer.layout, box,
                                result.element_bytes);
      for (const Array& part : parts) {
        if (KindOf(part.type) == ValueKind::kNone || !(part.box == box)) continue;
        if (part.integers.empty() && part.reals.empty() && part.complexes.empty()) continue;
        placement.ForEachRun(box, [&](const Placement::Run& run) {
          for (int64_t i = 0; i < run.count; ++i) {
            const int64_t where = number(part, run.position + i);
            if (where < 0) continue;
            if (buffer.layout.replicated || where != run.partition + i * run.partition_step) {
              trap_ = "an element lies in another partition than its result";
            }
          }
        });
      }
      return;
    }
    if (op.opcode != "dot" || parts.size() != 2 || IsEmpty(parts[0].box) || IsEmpty(parts[1].box)) {
      return;
    }
    const auto& lhs = ListOf(op, "lhs_contracting_dims");
    const auto& rhs = ListOf(op, "rhs_contracting_dims");
    if (lhs.empty() || parts[0].box.low.empty() || parts[1].box.low.empty()) return;
    Box pairs;
    for (int64_t d : lhs) {
      pairs.low.push_back(parts[0].box.low[static_cast<size_t>(d)]);
      pairs.high.push_back(parts[0].box.high[static_cast<size_t>(d)]);
    }
    std::vector<int64_t> left = parts[0].box.low, right = parts[1].box.low;
    ForEach(pairs, [&](const std::vector<int64_t>& index, int64_t) {
      for (size_t k = 0; k < lhs.size(); ++k) {
        left[static_cast<size_t>(lhs[k])] = index[k];
        right[static_cast<size_t>(rhs[k])] = index[k];
      }
      const int64_t a = number(parts[0], Position(parts[0].box, left));
      const int64_t b = number(parts[1], Position(parts[1].box, right));
      if (a >= 0 && b >= 0 && a != b) trap_ = "factors of a product lie in different partitions";
    });
  }

  Status Stream(const Step& step) {
    const Op& op = network_.ops[U(step.op)];
    std::map<TensorId, Box> read;
    std::vector<Array> operands;
    const Box& box = step.boxes[0];
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const Box needed = OperandBox(network_, op, k, box);
      const bool gathers =
          k == 0 && (op.opcode == "gather" || op.opcode == "dynamic-slice") &&
          network_.exprs[U(op.inputs[0])].movement == Movement::kTensor &&
          network_.tensors[U(network_.exprs[U(op.inputs[0])].tensor)].producer == kNone &&
          network_.tensors[U(network_.exprs[U(op.inputs[0])].tensor)].Bytes() >
              network_.tensors[U(op.results[0])].Bytes();
      if (gathers) {
        simulation_.loaded_bytes += Bytes(op.results[0], box);
      } else {
        ForEachLeaf(network_, op.inputs[k], needed, [&](TensorId tensor, const Box& leaf) {
          const auto [place, fresh] = read.try_emplace(tensor, leaf);
          if (!fresh) place->second = Hull(place->second, leaf);
          FromDram(tensor, values_ ? Box{leaf.low, leaf.low} : leaf);
        });
      }
      if (values_ == nullptr) continue;
      operands.push_back(
          Materialise(network_, op.inputs[k], needed,
                      [&](TensorId tensor, const Box& leaf) { return FromDram(tensor, leaf); }));
    }
    int64_t once = 0;
    for (const auto& [tensor, leaf] : read) once += Bytes(tensor, leaf);
    simulation_.loaded_bytes += once;
    for (TensorId result : op.results) once += network_.tensors[U(result)].Bytes();
    const MovedAgain again = MovedAgainOf(network_, machine_, op, once);
    simulation_.loaded_bytes += again.loaded;
    simulation_.stored_bytes += again.stored;
    std::vector<Box> out;
    for (TensorId result : op.results)
      out.push_back(WholeBox(network_.tensors[U(result)].dimensions));
    std::vector<Array> results;
    for (const Box& whole : out) results.push_back(MakeArray(ElementType::kOther, whole));
    if (values_ != nullptr) {
      auto computed = EvaluateOp(network_, op, operands, out);
      if (!computed) return tl::unexpected(computed.error());
      results = *std::move(computed);
    }
    for (size_t r = 0; r < op.results.size(); ++r) {
      simulation_.stored_bytes += Bytes(op.results[r], out[r]);
      ToDram(op.results[r], results[r]);
    }
    return {};
  }

  const Network& network_;
  const Machine& machine_;
  const Plan& plan_;
  const Evaluation* values_;
  Scratchpad scratchpad_;
  std::vector<Array> dram_;
  std::vector<Box> written_;   // hull of what DRAM has of each tensor
  std::vector<bool> in_dram_;  // whether DRAM has anything of it
  struct Part {
    Box box;
    std::vector<int64_t> last;  // where the last part began
    int64_t summed = 0;
  };
  std::map<TensorId, std::vector<Part>> parts_;
  Simulation simulation_;
  std::string trap_;
};

}  // namespace

StatusOr<Simulation> Simulate(const Network& network, const Machine& machine, const Plan& plan,
                              const Evaluation* values) {
  return Simulator(network, machine, plan, values).Run();
}

}  // namespace hone::memory
