// A graph network that corrects the roofline, kernel by kernel.
//
// Nodes start as h = opcode's embedding + type's embedding + numbers Wn^T + bn. Each round is
//   h = h + relu(h Ws^T + A h Wa^T + C h Wc^T + U h Wu^T + b)
// where A h is the mean over a node's operands, C h over the instructions that it calls and U h
// over its users, 0 where there are none (as policy/graph_forward.h, without its normalisation,
// which would discard magnitudes). A kernel k's correction is
//   r_k = relu(h_k Wh^T + Wf f + bh) w + b0
// with f what is told of the plan, and the logarithm of the program's seconds is
//   log sum_k runs_k * roofline_k * exp(r_k).
// So a network whose w and b0 are 0 is the roofline model, and a change to one kernel counts for as
// much as the kernel takes. (The sum over kernels: Kaufman et al., "A Learned Performance Model for
// Tensor Processing Units", MLSys 2021, section 3.)
#ifndef HONE_COST_COST_NETWORK_H_
#define HONE_COST_COST_NETWORK_H_

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstdint>
#include <vector>

#include "cost/cost_graph.h"
#include "cost/machine.h"
#include "cost/network_shape.h"

namespace hone::cost {

// A program as the network sees it.
struct NetworkInput {
  using Mean = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<int32_t> opcode, type;  // [N] rows of the embeddings
  Matrix numbers;                     // [N, kNodeNumbers]
  Mean operands, called, users;       // [N, N]
  std::vector<int32_t> kernel;        // [K] nodes
  Eigen::VectorXd base;               // [K] log(runs * roofline)
  Eigen::VectorXd plan;               // [kPlanFeatures]
};

// Rows of the embeddings are given by name, `plan` has kPlanFeatures places.
NetworkInput MakeNetworkInput(const CostGraph& graph, const std::vector<int32_t>& opcode_rows,
                              const std::vector<int32_t>& type_rows, const Machine& machine,
                              const std::vector<double>& plan);

// The logarithm of the program's seconds; 0 where it has no kernel.
double Evaluate(const NetworkShape& shape, const std::vector<double>& parameters,
                const NetworkInput& input);

// A forward pass, kept to go back on.
class NetworkPass {
 public:
  NetworkPass(const NetworkShape& shape, const std::vector<double>& parameters,
              const NetworkInput& input);
  double value() const { return value_; }
  // Adds `scale` times the value's gradient to `gradient`, as long as the parameters.
  void AddGradient(double scale, std::vector<double>& gradient) const;

 private:
  using Matrix = NetworkInput::Matrix;
  struct Round {
    Matrix before, operands, called, users;  // h, A h, C h, U h
    Matrix active;                           // 1 where relu passes, else 0
  };

  const NetworkShape& shape_;
  const std::vector<double>& parameters_;
  const NetworkInput& input_;
  std::vector<Round> rounds_;
  Matrix kernels_;         // [K, width] h of the kernels
  Matrix hidden_;          // [K, hidden] behind its relu
  Eigen::VectorXd share_;  // [K] of the time
  double value_ = 0;
};

}  // namespace hone::cost

#endif  // HONE_COST_COST_NETWORK_H_
