#include "cost/cost_network.h"

#include <algorithm>
#include <cmath>

#include "cost/roofline.h"

namespace hone::cost {
namespace {

using Matrix = NetworkInput::Matrix;

// Places of a round's arrays among the slots.
enum RoundSlot { kSelf, kOperands, kCalled, kUsers, kBias, kRoundSlots };
constexpr int kEmbeddingSlots = 4;  // opcodes, types, numbers' weight and bias

struct Arrays {
  Arrays(const NetworkShape& shape, const std::vector<double>& values)
      : slots(SlotsOf(shape)), values(values) {}
  Eigen::Map<const Matrix> operator[](size_t slot) const {
    const ParameterSlot& where = slots[slot];
    return {values.data() + where.offset, where.rows, where.columns};
  }
  std::vector<ParameterSlot> slots;
  const std::vector<double>& values;
};

size_t SlotOf(int64_t round, RoundSlot slot) {
  return static_cast<size_t>(kEmbeddingSlots + round * kRoundSlots + slot);
}

double Log(double x) { return x > 0 ? 0.1 * std::log1p(x) : 0; }

NetworkInput::Mean MeanOf(size_t nodes, std::vector<Eigen::Triplet<double>> edges) {
  NetworkInput::Mean mean(static_cast<Eigen::Index>(nodes), static_cast<Eigen::Index>(nodes));
  mean.setFromTriplets(edges.begin(), edges.end());
  for (Eigen::Index row = 0; row < mean.outerSize(); ++row) {
    double sum = 0;
    for (NetworkInput::Mean::InnerIterator it(mean, row); it; ++it) sum += it.value();
    for (NetworkInput::Mean::InnerIterator it(mean, row); it; ++it) it.valueRef() /= sum;
  }
  return mean;
}

}  // namespace

std::vector<ParameterSlot> SlotsOf(const NetworkShape& shape) {
  std::vector<ParameterSlot> slots;
  int64_t offset = 0;
  const auto add = [&](std::string name, int64_t rows, int64_t columns) {
    slots.push_back({std::move(name), rows, columns, offset});
    offset += rows * columns;
  };
  const int64_t width = shape.width;
  add("embed_opcode", shape.opcodes, width);
  add("embed_type", shape.types, width);
  add("numbers.weight", width, kNodeNumbers);
  add("numbers.bias", 1, width);
  for (int64_t round = 0; round < shape.rounds; ++round) {
    const std::string name = "round." + std::to_string(round) + ".";
    for (const char* kind : {"self", "operands", "called", "users"}) add(name + kind, width, width);
    add(name + "bias", 1, width);
  }
  add("head.weight", shape.hidden, width);
  add("head.plan", shape.hidden, kPlanFeatures);
  add("head.bias", 1, shape.hidden);
  add("last.weight", 1, shape.hidden);
  add("last.bias", 1, 1);
  return slots;
}

int64_t ParameterCount(const NetworkShape& shape) {
  const ParameterSlot last = SlotsOf(shape).back();
  return last.offset + last.rows * last.columns;
}

NetworkInput MakeNetworkInput(const CostGraph& graph, const std::vector<int32_t>& opcode_rows,
                              const std::vector<int32_t>& type_rows, const Machine& machine,
                              const std::vector<double>& plan) {
  NetworkInput input;
  const size_t nodes = graph.nodes.size();
  input.numbers.resize(static_cast<Eigen::Index>(nodes), kNodeNumbers);
  std::vector<double> base;
  std::vector<Eigen::Triplet<double>> operands, called, users;
  for (size_t i = 0; i < nodes; ++i) {
    const CostNode& node = graph.nodes[i];
    const auto row = static_cast<int32_t>(i);
    input.opcode.push_back(opcode_rows[static_cast<size_t>(node.opcode)]);
    input.type.push_back(type_rows[static_cast<size_t>(node.type)]);
    const double seconds = KernelSeconds(graph, node, machine);
    auto numbers = input.numbers.row(row);
    for (int d = 0; d < kArrayDimensions; ++d) {
      numbers[d] = Log(static_cast<double>(node.dimensions[static_cast<size_t>(d)]));
    }
    const double others[] = {Log(node.flops),   Log(node.read),       Log(node.written),
                             Log(node.runs),    Log(node.partitions), node.kernel ? 1 : 0.0,
                             Log(1e9 * seconds)};
    std::copy(std::begin(others), std::end(others), numbers.data() + kArrayDimensions);
    if (node.kernel && node.runs > 0) {
      input.kernel.push_back(row);
      base.push_back(std::log(node.runs * seconds));
    }
    for (int32_t e = graph.edge_start[i]; e < graph.edge_start[i + 1]; ++e) {
      const int32_t source = graph.edge_source[static_cast<size_t>(e)];
      if (static_cast<EdgeKind>(graph.edge_kind[static_cast<size_t>(e)]) == EdgeKind::kCall) {
        called.emplace_back(row, source, 1);
      } else {
        operands.emplace_back(row, source, 1);
        users.emplace_back(source, row, 1);
      }
    }
  }
  input.operands = MeanOf(nodes, std::move(operands));
  input.called = MeanOf(nodes, std::move(called));
  input.users = MeanOf(nodes, std::move(users));
  input.base =
      Eigen::Map<const Eigen::VectorXd>(base.data(), static_cast<Eigen::Index>(base.size()));
  input.plan = Eigen::Map<const Eigen::VectorXd>(plan.data(), kPlanFeatures);
  return input;
}

NetworkPass::NetworkPass(const NetworkShape& shape, const std::vector<double>& parameters,
                         const NetworkInput& input)
    : shape_(shape), parameters_(parameters), input_(input) {
  if (input.kernel.empty()) return;
  const Arrays arrays(shape, parameters);
  Matrix h = input.numbers * arrays[2].transpose();
  h.rowwise() += arrays[3].row(0);
  for (Eigen::Index i = 0; i < h.rows(); ++i) {
    const auto node = static_cast<size_t>(i);
    h.row(i) += arrays[0].row(input.opcode[node]) + arrays[1].row(input.type[node]);
  }
  for (int64_t r = 0; r < shape.rounds; ++r) {
    Round round;
    round.operands = input.operands * h;
    round.called = input.called * h;
    round.users = input.users * h;
    Matrix z = h * arrays[SlotOf(r, kSelf)].transpose();
    z.noalias() += round.operands * arrays[SlotOf(r, kOperands)].transpose();
    z.noalias() += round.called * arrays[SlotOf(r, kCalled)].transpose();
    z.noalias() += round.users * arrays[SlotOf(r, kUsers)].transpose();
    z.rowwise() += arrays[SlotOf(r, kBias)].row(0);
    round.active = (z.array() > 0).cast<double>();
    round.before = h;
    h.array() += z.array().max(0.0);
    rounds_.push_back(std::move(round));
  }
  const size_t head = SlotOf(shape.rounds, kSelf);
  kernels_.resize(static_cast<Eigen::Index>(input.kernel.size()), shape.width);
  for (size_t k = 0; k < input.kernel.size(); ++k) {
    kernels_.row(static_cast<Eigen::Index>(k)) = h.row(input.kernel[k]);
  }
  const Eigen::RowVectorXd of_plan = (arrays[head + 1] * input.plan).transpose();
  hidden_ = kernels_ * arrays[head].transpose();
  hidden_.rowwise() += of_plan + arrays[head + 2].row(0);
  hidden_ = hidden_.cwiseMax(0.0);
  Eigen::VectorXd seconds = input.base + hidden_ * arrays[head + 3].transpose();
  seconds.array() += arrays[head + 4](0, 0);
  const double most = seconds.maxCoeff();
  share_ = (seconds.array() - most).exp();
  const double sum = share_.sum();
  share_ /= sum;
  value_ = most + std::log(sum);
}

void NetworkPass::AddGradient(double scale, std::vector<double>& gradient) const {
  if (input_.kernel.empty()) return;
  const Arrays arrays(shape_, parameters_);
  const auto of = [&](size_t slot) {
    const ParameterSlot& where = arrays.slots[slot];
    return Eigen::Map<Matrix>(gradient.data() + where.offset, where.rows, where.columns);
  };
  const size_t head = SlotOf(shape_.rounds, kSelf);
  const Eigen::VectorXd last = scale * share_;
  of(head + 3).noalias() += last.transpose() * hidden_;
  of(head + 4)(0, 0) += last.sum();
  Matrix hidden = last * arrays[head + 3];
  hidden.array() *= (hidden_.array() > 0).cast<double>();
  of(head).noalias() += hidden.transpose() * kernels_;
  const Eigen::RowVectorXd together = hidden.colwise().sum();
  of(head + 1).noalias() += together.transpose() * input_.plan.transpose();
  of(head + 2).row(0) += together;
  const Matrix kernels = hidden * arrays[head];
  Matrix h = Matrix::Zero(input_.numbers.rows(), shape_.width);
  for (size_t k = 0; k < input_.kernel.size(); ++k) {
    h.row(input_.kernel[k]) += kernels.row(static_cast<Eigen::Index>(k));
  }
  for (int64_t r = shape_.rounds; r-- > 0;) {
    const Round& round = rounds_[static_cast<size_t>(r)];
    const Matrix z = h.cwiseProduct(round.active);
    of(SlotOf(r, kSelf)).noalias() += z.transpose() * round.before;
    of(SlotOf(r, kOperands)).noalias() += z.transpose() * round.operands;
    of(SlotOf(r, kCalled)).noalias() += z.transpose() * round.called;
    of(SlotOf(r, kUsers)).noalias() += z.transpose() * round.users;
    of(SlotOf(r, kBias)).row(0) += z.colwise().sum();
    h.noalias() += z * arrays[SlotOf(r, kSelf)];
    const Matrix operands = z * arrays[SlotOf(r, kOperands)];
    const Matrix called = z * arrays[SlotOf(r, kCalled)];
    const Matrix users = z * arrays[SlotOf(r, kUsers)];
    h += input_.operands.transpose() * operands;
    h += input_.called.transpose() * called;
    h += input_.users.transpose() * users;
  }
  of(2).noalias() += h.transpose() * input_.numbers;
  of(3).row(0) += h.colwise().sum();
  for (Eigen::Index i = 0; i < h.rows(); ++i) {
    const auto node = static_cast<size_t>(i);
    of(0).row(input_.opcode[node]) += h.row(i);
    of(1).row(input_.type[node]) += h.row(i);
  }
}

double Evaluate(const NetworkShape& shape, const std::vector<double>& parameters,
                const NetworkInput& input) {
  return NetworkPass(shape, parameters, input).value();
}

}  // namespace hone::cost
