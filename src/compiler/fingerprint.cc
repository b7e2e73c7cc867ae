#include "compiler/fingerprint.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "compiler/opcodes.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/layout.h"
#include "xla/printer.h"
#include "xla/shape.h"

namespace hone::compiler {
namespace {

// Collects what XLA would print, for hashing.
class AttributePrinter : public xla::Printer {
 public:
  AttributePrinter() : xla::Printer(/*is_hasher=*/true) {}
  void Append(const absl::AlphaNum& a) override { text.append(a.data(), a.size()); }
  std::string text;
};

const xla::HloPrintOptions& AttributeOptions() {
  static const xla::HloPrintOptions* const kOptions = new xla::HloPrintOptions(
      xla::HloPrintOptions()
          .set_print_large_constants(true)
          .set_print_metadata(false)
          .set_print_original_value(false)
          .set_print_control_dependencies(false)
          .set_print_full_replica_group_list(true)
          .set_print_subcomputation_mode(xla::HloPrintOptions::PrintSubcomputationMode::kOff));
  return *kOptions;
}

// Opcodes whose only attributes are those that Digester::Attributes writes itself.
bool HasOnlyCommonAttributes(xla::HloOpcode opcode) {
  return IsOneOf<xla::HloOpcode::kAdd, xla::HloOpcode::kSubtract, xla::HloOpcode::kMultiply,
                 xla::HloOpcode::kDivide, xla::HloOpcode::kMaximum, xla::HloOpcode::kMinimum,
                 xla::HloOpcode::kAnd, xla::HloOpcode::kOr, xla::HloOpcode::kXor,
                 xla::HloOpcode::kNot, xla::HloOpcode::kNegate, xla::HloOpcode::kSelect,
                 xla::HloOpcode::kConvert, xla::HloOpcode::kReshape, xla::HloOpcode::kBitcast,
                 xla::HloOpcode::kTuple, xla::HloOpcode::kGetTupleElement,
                 xla::HloOpcode::kParameter, xla::HloOpcode::kBroadcast, xla::HloOpcode::kTranspose,
                 xla::HloOpcode::kReduce, xla::HloOpcode::kWhile>(opcode);
}

class Digester {
 public:
  // With `all`, writes every instruction there in the order of the walk.
  explicit Digester(const xla::HloModule& module,
                    std::vector<const xla::HloInstruction*>* all = nullptr)
      : module_(module), all_(all) {
    words_.reserve(static_cast<size_t>(module.instruction_count()) * 12);
  }

  ModuleDigest Run() {
    Computation(*module_.entry_computation());
    const xla::ComputationLayout& layout = module_.entry_computation_layout();
    for (int i = 0; i < layout.parameter_count(); ++i) Shape(layout.parameter_shape(i));
    Shape(layout.result_shape());
    Text(module_.input_output_alias_config().ToString());
    Text(module_.buffer_donor_config().ToString());
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(uint64_t));
    ModuleDigest digest{{hash.high64, hash.low64}, op_count_};
    digest.computations = static_cast<int32_t>(computations_.size());
    digest.loop_depth = computations_.at(module_.entry_computation()).loop_depth;
    for (size_t opcode = 0; opcode < opcodes_.size(); ++opcode) {
      if (opcodes_[opcode] == 0) continue;
      digest.opcodes.push_back({static_cast<uint16_t>(opcode), opcodes_[opcode]});
    }
    return digest;
  }

 private:
  void Word(uint64_t word) { words_.push_back(word); }

  void Text(absl::string_view text) {
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    Word(hash.high64);
    Word(hash.low64);
  }

  void Shape(const xla::Shape& shape) {
    const xla::PrimitiveType type = shape.element_type();
    Word(static_cast<uint64_t>(type));
    if (type == xla::TUPLE) {
      Word(static_cast<uint64_t>(shape.tuple_shapes().size()));
      for (const xla::Shape& element : shape.tuple_shapes()) Shape(element);
      return;
    }
    if (!shape.IsArray()) return;
    const auto dimensions = shape.dimensions();
    Word(dimensions.size());
    for (int64_t dimension : dimensions) Word(static_cast<uint64_t>(dimension));
    if (!shape.is_static()) {
      for (bool dynamic : shape.dynamic_dimensions()) Word(dynamic);
    }
    if (!shape.has_layout()) return;
    const xla::Layout& layout = shape.layout();
    uint64_t order = 1;
    for (int64_t dimension : layout.minor_to_major()) {
      order = order * 31 + static_cast<uint64_t>(dimension);
    }
    Word(order ^ (static_cast<uint64_t>(layout.memory_space()) << 48) ^
         (static_cast<uint64_t>(layout.element_size_in_bits()) << 56));
    if (!layout.tiles().empty() || layout.has_physical_shape()) Text(layout.ToString());
  }

  void Attributes(const xla::HloInstruction& instruction) {
    const xla::HloOpcode opcode = instruction.opcode();
    if (HasOnlyCommonAttributes(opcode) && !instruction.has_sharding() &&
        !instruction.has_frontend_attributes()) {
      if (opcode == xla::HloOpcode::kParameter) {
        Word(static_cast<uint64_t>(instruction.parameter_number()));
      } else if (opcode == xla::HloOpcode::kGetTupleElement) {
        Word(static_cast<uint64_t>(instruction.tuple_index()));
      } else if (opcode == xla::HloOpcode::kBroadcast || opcode == xla::HloOpcode::kTranspose ||
                 opcode == xla::HloOpcode::kReduce) {
        for (int64_t dimension : instruction.dimensions()) Word(static_cast<uint64_t>(dimension));
      }
    } else if (opcode == xla::HloOpcode::kConstant && instruction.shape().IsArray()) {
      const xla::Literal& literal = instruction.literal();
      Text({static_cast<const char*>(literal.untyped_data()),
            static_cast<size_t>(literal.size_bytes())});
    } else {
      printer_.text.clear();
      if (opcode == xla::HloOpcode::kConstant) {
        instruction.literal().PrintWithoutShapeOneline(&printer_);
      }
      xla::HloInstruction::AttributePrinter next([this]() -> xla::Printer* {
        printer_.text.push_back('\n');
        return &printer_;
      });
      instruction.PrintExtraAttributes(next, AttributeOptions());
      Text(printer_.text);
    }
    if (instruction.has_backend_config()) Text(instruction.raw_backend_config_string());
  }

  // The number of each instruction of a computation in its canonical order, by local id.
  using Index = std::vector<uint32_t>;
  using Order = std::vector<const xla::HloInstruction*>;

  // Instructions and shapes lie all over the heap, and waiting for them is most of the work.
  static constexpr size_t kAhead = 6;
  static void Fetch(const void* object) {
    __builtin_prefetch(object);
    __builtin_prefetch(static_cast<const char*>(object) + 64);
  }

  static uint32_t& At(Index& index, const xla::HloInstruction* instruction) {
    const auto id = static_cast<size_t>(instruction->local_id());
    if (id >= index.size()) index.resize(id + 1, kNew);
    return index[id];
  }

  // Operands and control predecessors before users, from the root; then whatever else is there.
  Order CanonicalOrder(const xla::HloComputation& computation, Index& index) {
    Order order;
    order.reserve(static_cast<size_t>(computation.instruction_count()));
    Visit(computation.root_instruction(), order, index);
    if (static_cast<int64_t>(order.size()) < computation.instruction_count()) {
      for (const xla::HloInstruction* parameter : computation.parameter_instructions()) {
        Visit(parameter, order, index);
      }
      // Dead code and side effects: what has no users pulls in the rest.
      for (const xla::HloInstruction* instruction : computation.instructions()) {
        if (instruction->users().empty()) Visit(instruction, order, index);
      }
    }
    return order;
  }

  void Visit(const xla::HloInstruction* root, Order& order, Index& index) {
    if (At(index, root) != kNew) return;
    stack_.clear();
    stack_.push_back({root, 0});
    At(index, root) = kOpen;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const auto& all = frame.instruction->operands();
      const auto operands = static_cast<int64_t>(all.size());
      const auto& predecessors = frame.instruction->control_predecessors();
      if (frame.next < operands + static_cast<int64_t>(predecessors.size())) {
        const xla::HloInstruction* next =
            frame.next < operands ? all[static_cast<size_t>(frame.next)]
                                  : predecessors[static_cast<size_t>(frame.next - operands)];
        // The next one comes after all that is below this one: time enough to fetch it.
        if (++frame.next < operands) Fetch(all[static_cast<size_t>(frame.next)]);
        uint32_t& number = At(index, next);
        if (number == kNew) {
          number = kOpen;
          stack_.push_back({next, 0});
        }
      } else {
        At(index, frame.instruction) = static_cast<uint32_t>(order.size());
        order.push_back(frame.instruction);
        stack_.pop_back();
      }
    }
  }

  // Writes the callees first.
  void Computation(const xla::HloComputation& computation) {
    const auto known = computations_.find(&computation);
    if (known != computations_.end()) return;
    Index index(static_cast<size_t>(computation.instruction_count()), kNew);
    const Order order = CanonicalOrder(computation, index);
    op_count_ += static_cast<int64_t>(order.size());
    int32_t loop_depth = 0;
    for (const xla::HloInstruction* instruction : order) {
      ++opcodes_[static_cast<size_t>(instruction->opcode())];
      if (!instruction->has_called_computations()) continue;
      const bool loop = instruction->opcode() == xla::HloOpcode::kWhile;
      for (const xla::HloComputation* callee : instruction->called_computations()) {
        Computation(*callee);
        loop_depth = std::max(loop_depth, computations_.at(callee).loop_depth + (loop ? 1 : 0));
      }
    }
    if (all_ != nullptr) all_->insert(all_->end(), order.begin(), order.end());
    Word(0xc0111u);
    Word(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const xla::HloInstruction* instruction = order[i];
      if (i + kAhead < order.size()) Fetch(&order[i + kAhead]->shape());
      Word(static_cast<uint64_t>(instruction->opcode()) << 32 |
           static_cast<uint64_t>(instruction->operand_count()));
      Shape(instruction->shape());
      for (const xla::HloInstruction* operand : instruction->operands()) {
        Word(At(index, operand));
      }
      for (const xla::HloInstruction* before : instruction->control_predecessors()) {
        Word(0xc0ull << 56 | At(index, before));
      }
      if (instruction->has_called_computations()) {
        for (const xla::HloComputation* callee : instruction->called_computations()) {
          Word(0xcaull << 56 | computations_.find(callee)->second.number);
        }
      }
      Attributes(*instruction);
    }
    Word(At(index, computation.root_instruction()));
    // In a scheduled module the order of instructions is a decision.
    if (module_.has_schedule() && module_.schedule().is_computation_scheduled(&computation)) {
      for (const xla::HloInstruction* instruction :
           module_.schedule().sequence(&computation).instructions()) {
        Word(At(index, instruction));
      }
    }
    const auto number = static_cast<uint32_t>(computations_.size());
    computations_[&computation] = {number, loop_depth};
  }

  struct Frame {
    const xla::HloInstruction* instruction;
    int64_t next;
  };
  static constexpr uint32_t kNew = 0xffffffffu;   // not met yet
  static constexpr uint32_t kOpen = 0xfffffffeu;  // its operands are being numbered

  const xla::HloModule& module_;
  std::vector<const xla::HloInstruction*>* const all_;
  std::vector<uint64_t> words_;
  struct Written {
    uint32_t number;
    int32_t loop_depth;  // of the nest of loops below it
  };
  absl::flat_hash_map<const xla::HloComputation*, Written> computations_;
  std::array<uint32_t, xla::HloOpcodeCount()> opcodes_{};
  std::vector<Frame> stack_;
  AttributePrinter printer_;
  int64_t op_count_ = 0;
};

}  // namespace

std::vector<const xla::HloInstruction*> CanonicalOrder(const xla::HloModule& module) {
  std::vector<const xla::HloInstruction*> all;
  (void)Digester(module, &all).Run();
  return all;
}

ModuleDigest DigestModule(const xla::HloModule& module) { return Digester(module).Run(); }

}  // namespace hone::compiler
