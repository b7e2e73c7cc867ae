// Tensors and expressions as they are added to a network, and taken back.
#ifndef HONE_MEMORY_NETWORK_WRITER_H_
#define HONE_MEMORY_NETWORK_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/program_graph.h"
#include "memory/network.h"

namespace hone::memory {

// Elements of what is computed when the plan is made.
inline constexpr int64_t kMostFolded = 16;

class NetworkWriter {
 public:
  // Both must outlive it. `graph` has the large constants.
  NetworkWriter(const ProgramGraph& graph, Network& network) : graph_(graph), network_(network) {}

  TensorId NewTensor(const ShapeInfo& shape, const std::string& name);
  // The tensors that `op`, the next operator, makes as a value of this shape; and their
  // expressions.
  void Results(const ShapeInfo& shape, const std::string& name, Op& op,
               std::vector<ExprId>& leaves);
  // One tensor for each constant, however often its computation is called.
  ExprId LargeConstant(uint32_t computation, uint32_t index);

  ExprId Leaf(TensorId tensor);
  ExprId Literal(Array array);
  // A copy of it where it would look through too much.
  ExprId NewExpr(Expr expr);
  // Small integers that depend on nothing but literals become literals: they steer loops.
  ExprId Folded(ExprId id);

  const Expr& At(ExprId expr) const { return network_.exprs[static_cast<size_t>(expr)]; }
  // The value of a literal; null of what is none.
  const Array* Known(ExprId expr) const { return At(expr).literal.get(); }

  // How much there is; what was added since is taken back.
  struct Sizes {
    size_t tensors;
    size_t exprs;
    size_t ops;
    int64_t unrolled_loops;
  };
  Sizes SizesSoFar() const;
  void GoBackTo(const Sizes& sizes);

 private:
  // The same as a tensor of its own.
  ExprId Copied(ExprId id);

  const ProgramGraph& graph_;
  Network& network_;
  std::vector<int64_t> looks_;  // of each expression, as kMostLooks counts them
  std::map<std::pair<uint32_t, uint32_t>, TensorId> constants_;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_NETWORK_WRITER_H_
