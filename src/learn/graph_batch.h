// Several programs as one graph.
#ifndef HONE_LEARN_GRAPH_BATCH_H_
#define HONE_LEARN_GRAPH_BATCH_H_

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/program_arrays.h"
#include "learn/sparse.h"
#include "policy/graph_forward.h"

namespace hone::learn {

// D distinct programs, one behind another, of N nodes in all.
struct GraphBatch {
  // Mean over the edges of a kind that enter a node: `mean` [R, N] for those R nodes that have any,
  // and `place` [N, R], which puts them back.
  struct Entering {
    SparsePointer mean, place;
  };

  torch::Tensor opcode;                               // [N] int64, rows of the embedding
  torch::Tensor type;                                 // [N] int64, likewise
  torch::Tensor numbers;                              // [N, policy::kNodeNumbers] float32
  std::array<Entering, policy::kEdgeKinds> entering;  // by EdgeKind
  SparsePointer leaving;                              // [N, N] mean over the edges that leave
  std::vector<int64_t> start;                         // [D + 1] a program's first node
  SparsePointer program_mean;                         // [D, N] mean over a program's nodes
  torch::Tensor program;                              // [B] int64: which of the D
};

// `graphs` [B], none null; one that occurs again (the same pointer) is taken once.
GraphBatch MakeGraphBatch(const std::vector<std::shared_ptr<const ProgramArrays>>& graphs);

}  // namespace hone::learn

#endif  // HONE_LEARN_GRAPH_BATCH_H_
