// A trained graph network, evaluated without torch.
//
// Nodes start as h = norm(opcode's embedding + type's embedding + numbers W^T + b). Each round is
//   h = norm(h + activation(S h + sum over edge kinds k of I_k in_k(h) + O out(h) + b))
// where in_k(h) is the mean over the edges of kind k that enter a node, out(h) the mean over all
// edges that leave it, and 0 where there are none: a GraphSAGE of mean aggregators (Hamilton, Ying,
// Leskovec: "Inductive Representation Learning on Large Graphs", NeurIPS 2017, section 3) with a
// matrix per relation (Schlichtkrull et al.: "Modeling Relational Data with Graph Convolutional
// Networks", ESWC 2018, section 2.1). `norm` is a layer normalisation of epsilon kNormEpsilon. A
// stack of dense layers, the head, takes [mean of h over nodes, maximum of h over nodes, features].
#ifndef HONE_POLICY_GRAPH_FORWARD_H_
#define HONE_POLICY_GRAPH_FORWARD_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/program_arrays.h"
#include "core/result.h"
#include "policy/policy_file.h"

namespace hone::policy {

inline constexpr int64_t kOpcodeRows = 192;  // an opcode or type beyond its table is its last row
inline constexpr int64_t kTypeRows = 64;
inline constexpr int64_t kEdgeKinds = 3;
inline constexpr int64_t kNodeNumbers = kArrayDimensions + 3;
inline constexpr float kNormEpsilon = 1e-5f;

// The row of an embedding table of `rows`.
inline int64_t EmbeddingRow(int32_t number, int64_t rows) {
  return number < 0 || number >= rows ? rows - 1 : number;
}

// Numeric features of the nodes: [N, kNodeNumbers] row-major, log1p of the dimensions, rank,
// log1p of flops, log1p of bytes; all of it over 10, for these reach 30.
std::vector<float> NodeNumbers(const ProgramArrays& arrays);

// Tensors, all below `prefix` ("policy" or "value") and a dot; W is the width, F the features:
//   graph.embed_opcode [kOpcodeRows, W], graph.embed_type [kTypeRows, W]
//   graph.numbers.weight [W, kNodeNumbers], graph.numbers.bias [W]
//   graph.norm.weight [W], graph.norm.bias [W]
//   graph.0.self.weight [W, W], graph.0.bias [W]; also graph.1.…, as many as there are rounds
//   graph.0.in.weight [kEdgeKinds, W, W] by EdgeKind, graph.0.out.weight [W, W]
//   graph.0.norm.weight [W], graph.0.norm.bias [W]
//   head.0.weight [H, 2 W + F], head.0.bias [H]; also head.1.…
// As PolicyFile's dense layers: y = x W^T + b, the activation between layers, not behind the last.
struct GraphNetwork {
  struct Norm {
    std::vector<float> weight, bias;  // [W]
  };
  struct Layer {
    int64_t in = 0, out = 0;
    std::vector<float> weight;  // [out, in]
    std::vector<float> bias;    // [out]
  };
  struct Round {
    // The common edges' matrices side by side, [W, 3 W]: self, operands, out.
    Layer common;
    std::vector<float> call, control;  // [W, W]
    Norm norm;
  };

  int64_t width = 0;     // W
  int64_t features = 0;  // F
  bool tanh = true;      // else relu
  std::vector<float> embed_opcode, embed_type;
  Layer numbers;
  Norm norm;
  std::vector<Round> rounds;
  std::vector<Layer> head;

  int64_t outputs() const { return head.back().out; }
};

// Whether `prefix` names a graph network, rather than a stack of dense layers.
bool HasGraphNetwork(const std::map<std::string, Tensor>& tensors, const std::string& prefix);

// `activation`: "tanh" or "relu". The error names the tensor that lacks or is of another shape.
StatusOr<GraphNetwork> ReadGraphNetwork(const std::map<std::string, Tensor>& tensors,
                                        const std::string& prefix, std::string_view activation);

// [outputs]; `features` has network.features places. Deterministic; uses the calling thread alone.
std::vector<float> GraphForward(const GraphNetwork& network, const ProgramArrays& arrays,
                                std::span<const float> features);

}  // namespace hone::policy

#endif  // HONE_POLICY_GRAPH_FORWARD_H_
