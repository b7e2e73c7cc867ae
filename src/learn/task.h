// A learner's task: many environments, stepped together, seen as tensors.
#ifndef HONE_LEARN_TASK_H_
#define HONE_LEARN_TASK_H_

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/program_arrays.h"
#include "core/result.h"

namespace hone::learn {

// A batch of B states.
struct Observation {
  torch::Tensor features;        // [B, F] float32
  torch::Tensor value_features;  // [B, G] float32: what only value networks may see; G may be 0
  torch::Tensor mask;            // [B, A] bool: the actions allowed, at least one a row
  std::vector<std::shared_ptr<const ProgramArrays>> graphs;  // [B]; empty where there are none

  int64_t size() const { return features.size(0); }
};

// What came of an action in each of B environments. An environment whose episode ended has been
// reset.
struct Transition {
  torch::Tensor reward;      // [B] float32
  torch::Tensor terminated;  // [B] bool: no future
  torch::Tensor truncated;   // [B] bool: cut short; there would have been a future
  Observation next;          // after the step; after the reset where the episode ended
  Observation last;          // after the step, before any reset: what bootstraps a truncated one
};

struct TaskShape {
  int64_t environments = 0;    // B
  int64_t features = 0;        // F
  int64_t value_features = 0;  // G
  int64_t actions = 0;         // A
  bool graphs = false;
  // O: where actions mean another thing in each state, the last A * O of the features tell of them,
  // one after the other.
  int64_t offer_features = 0;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual TaskShape shape() const = 0;
  // Errors: no environment can begin.
  virtual StatusOr<Observation> Reset(uint64_t seed) = 0;
  // `actions`: [B] int64.
  virtual StatusOr<Transition> Step(const torch::Tensor& actions) = 0;
  // All that the further steps depend on, beside the actions; Restore gives the observation that
  // Save was called in. Restore works on a new task of the same making.
  virtual std::string Save() const = 0;
  virtual StatusOr<Observation> Restore(const std::string& saved) = 0;
};

}  // namespace hone::learn

#endif  // HONE_LEARN_TASK_H_
