// A whole program as operators over tensors, with all movement of data composed away.
//
// Calls and fusions are part of it as if they had been written in place, and so are the iterations
// of loops whose number is known. Reshapes, transposes, broadcasts, slices, reversals, pads,
// concatenations, updates at known places and iotas are no operators: they are expressions, through
// which operators (and the program's results) look at tensors.
#ifndef HONE_MEMORY_NETWORK_H_
#define HONE_MEMORY_NETWORK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/program_graph.h"
#include "core/result.h"
#include "memory/values/array.h"

namespace hone::memory {

using TensorId = int32_t;
using OpId = int32_t;
using ExprId = int32_t;
inline constexpr int32_t kNone = -1;

// What lies in memory, on the chip or off it: a parameter, a large constant, or an operator's
// result.
struct Tensor {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dimensions;
  int64_t element_bytes = 4;  // also of types without arithmetic here
  OpId producer = kNone;
  int32_t parameter = kNone;  // index of the entry's flattened parameter leaf
  // Of a constant: where ProgramGraph has it.
  int32_t constant_computation = kNone;
  int32_t constant_instruction = kNone;
  // Made by ByParts: a part of what the program has as this tensor.
  TensorId part_of = kNone;

  int64_t Bytes() const { return Elements(dimensions) * element_bytes; }
};

enum class Movement : uint8_t {
  kTensor,   // leaf
  kLiteral,  // leaf: at most 16 elements, part of the instruction that uses it
  kIota,     // leaf: the index along `axis`
  kReshape,
  kTranspose,    // out[i] = in[j], j[p[d]] = i[d], p = `numbers`
  kBroadcast,    // out[i] = in[j], j[d] = i[numbers[d]]
  kSlice,        // in[numbers + strides * i]
  kReverse,      // along `numbers`
  kPad,          // inputs: operand, scalar; numbers = low edges, strides = interior + 1
  kConcatenate,  // along `axis`
  kUpdate,       // inputs: operand, what takes its place from `numbers` on
};

struct Expr {
  Movement movement = Movement::kTensor;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dimensions;
  std::vector<ExprId> inputs;
  std::vector<int64_t> numbers;
  std::vector<int64_t> strides;
  int64_t axis = 0;
  TensorId tensor = kNone;
  std::shared_ptr<const Array> literal;
};

struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t pad_low = 0;
  int64_t pad_high = 0;
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;
  bool reversal = false;
};

// dim_labels: which dimension of operand, kernel and result is what.
struct ConvolutionDimensions {
  int64_t batch = 0, feature = 0;
  int64_t kernel_input = 0, kernel_output = 0;
  int64_t output_batch = 0, output_feature = 0;
  std::vector<int64_t> spatial, kernel_spatial, output_spatial;
};

struct Network;

struct Op {
  std::string name;  // of the instruction
  std::string opcode;
  std::vector<ExprId> inputs;
  std::vector<TensorId> results;
  std::map<std::string, std::vector<int64_t>> lists;  // attributes {0,2,1} and single integers
  std::map<std::string, std::string> texts;           // the others
  std::vector<WindowDimension> window;
  ConvolutionDimensions convolution;
  std::vector<std::shared_ptr<const Network>> bodies;  // called computations
  // Why its accesses are only bounded (by whole operands and results); empty where they are exact.
  std::string conservative;
};

struct Network {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Expr> exprs;
  std::vector<Op> ops;          // producers before consumers
  std::vector<ExprId> outputs;  // leaves of the result, flattened
  // Of the entry: the tensor that has the bytes of each output; all different, all computed.
  std::vector<TensorId> output_tensors;
  std::vector<TensorId> parameters;  // leaves of the parameters, flattened
  // Of a loop's or branch's body: large constants that it has, which its operator reads for it,
  // after all arguments, body by body.
  std::vector<TensorId> captured;
  int64_t unrolled_loops = 0;
  std::map<std::string, int64_t> conservative;  // "opcode: why" -> how many
};

struct NetworkOptions {
  int64_t most_ops = 60'000;              // a loop whose unrolling exceeds it stays a loop
  int64_t most_iterations = 20'000;       // likewise: of loops that leave no operators, too
  int64_t most_instructions = 5'000'000;  // with all calls written out; refused beyond
};

// Errors: kUnsupported where a shape is dynamic or the entry is empty.
StatusOr<Network> BuildNetwork(const ProgramGraph& graph, const NetworkOptions& options = {});

// Drops operators that no output depends on; what is left keeps its order, tensors keep their ids.
void DropDeadOps(Network& network);

// The same program, in which what is cheap is computed where and as far as it is needed: an
// elementwise operator whose result is only read through slices that do not overlap is computed
// slice by slice, and a gather from an elementwise function of a parameter gathers first. Large
// sums of 16-bit numbers are made in 32 bits (wide_sums.h). Then what would not stay on the chip
// until it is read again is computed again where that moves less (recompute.h). Tensors of the
// program keep their ids. `large_bytes` is a sixteenth of the scratchpad. Linear, but for the cuts.
//
// Where more is alive at once than there is room for, which operators go first is a choice that
// only planning can tell the worth of: all of them come, those first that an estimate finds best.
// Else one network comes.
enum class UpdateOrder : uint8_t {
  kAtOnce,     // gradients of weights where the program has them, updates right after
  kFreeing,    // as soon as that frees more than it makes
  kShrinking,  // as kAtOnce, and what makes far less than it reads right after what it waits for
  // As kFreeing, but nothing is made again after sums: where tiles hold all that a sum adds up, as
  // those of a few rows of attention do, it need not be. Of small programs only: looking at one
  // more network takes time.
  kKeeping,
};
struct OrderedNetwork {
  UpdateOrder updates = UpdateOrder::kAtOnce;
  Network network;
};
std::vector<OrderedNetwork> ByParts(const Network& program, int64_t large_bytes);

// The tensors that an expression looks at, each once.
std::vector<TensorId> LeavesOf(const Network& network, ExprId expr);

bool IsElementwise(const std::string& opcode);
// Whether its results come of running its bodies, so that it has their large constants as operands.
bool RunsBodies(const std::string& opcode);
// Numbers of an attribute; empty where the operator has none of that name.
const std::vector<int64_t>& ListOf(const Op& op, const std::string& name);

}  // namespace hone::memory

#endif  // HONE_MEMORY_NETWORK_H_
