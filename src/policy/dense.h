// Dense layers without torch.
#ifndef HONE_POLICY_DENSE_H_
#define HONE_POLICY_DENSE_H_

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "policy/policy_file.h"

namespace hone::policy {

// A stack of dense layers, "PREFIX.0.weight" and so on (policy_file.h).
class DenseStack {
 public:
  // None where there is no tensor PREFIX.0.weight. Errors: shapes that do not fit together.
  static StatusOr<DenseStack> Make(const std::map<std::string, Tensor>& tensors,
                                   const std::string& prefix, const std::string& activation);

  bool empty() const { return layers_.empty(); }
  int64_t inputs() const { return layers_.empty() ? 0 : layers_.front().weight.cols(); }
  int64_t outputs() const { return layers_.empty() ? 0 : layers_.back().weight.rows(); }
  Eigen::VectorXf Forward(Eigen::VectorXf x) const;

 private:
  struct Layer {
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> weight;
    Eigen::VectorXf bias;
  };
  std::vector<Layer> layers_;
  bool relu_ = false;
};

}  // namespace hone::policy

#endif  // HONE_POLICY_DENSE_H_
