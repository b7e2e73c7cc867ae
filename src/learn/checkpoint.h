// Checkpoints of learners: named values in torch's archive format.
#ifndef HONE_LEARN_CHECKPOINT_H_
#define HONE_LEARN_CHECKPOINT_H_

#include <torch/torch.h>

#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "core/result.h"
#include "core/rng.h"
#include "learn/task.h"

namespace hone::learn {

// Runs `work` (a Status or StatusOr) where torch may throw: a broken file, tensors of a wrong
// shape. An exception becomes an Error that begins with `doing`.
template <class Work>
std::invoke_result_t<Work> Guarded(const std::string& doing, Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    return MakeError(ErrorCode::kInvalidInput, doing + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return MakeError(ErrorCode::kInvalidInput, doing + ": " + error.what());
  }
}

// The methods throw c10::Error: for use in Guarded.
class CheckpointWriter {
 public:
  void Write(const std::string& name, const torch::Tensor& tensor);
  void WriteText(const std::string& name, const std::string& text);  // any bytes
  void WriteCount(const std::string& name, int64_t count);
  void WriteRng(const std::string& name, const Rng& rng);
  void WriteOptimizer(const std::string& name, const torch::optim::Optimizer& optimizer);
  void WriteObservation(const std::string& name, const Observation& observation);
  // Writes to another file in the same folder, which then takes the name.
  void Finish(const std::string& path);

 private:
  torch::serialize::OutputArchive archive_;
};

class CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& path);
  torch::Tensor Read(const std::string& name, at::IntArrayRef shape, torch::ScalarType type);
  torch::Tensor ReadAny(const std::string& name);
  std::string ReadText(const std::string& name);
  int64_t ReadCount(const std::string& name);
  Rng ReadRng(const std::string& name);
  void ReadOptimizer(const std::string& name, torch::optim::Optimizer& optimizer);
  Observation ReadObservation(const std::string& name, const TaskShape& shape, int64_t rows);

 private:
  torch::serialize::InputArchive archive_;
};

}  // namespace hone::learn

#endif  // HONE_LEARN_CHECKPOINT_H_
