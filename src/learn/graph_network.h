// The network over programs as graphs; policy/graph_forward.h says what it computes.
#ifndef HONE_LEARN_GRAPH_NETWORK_H_
#define HONE_LEARN_GRAPH_NETWORK_H_

#include <cstdint>
#include <memory>

#include "learn/network.h"
#include "learn/task.h"

namespace hone::learn {

struct GraphSize {
  int64_t width = 48;
  int64_t rounds = 3;
};

// `options.hidden` are the head's layers, `options.activation` is that of rounds and head. Where
// `options.value_features` says so, they follow the features. Gains in the head are MakeNetwork's;
// embeddings are normal, and matrices of rounds orthogonal, as many as add up to a gain of sqrt(2).
// Forward needs Observation::graphs; a program that occurs more than once in it is computed once.
std::shared_ptr<Network> MakeGraphNetwork(const NetworkOptions& options, const TaskShape& shape,
                                          int64_t outputs, double last_gain,
                                          const GraphSize& size = {});

}  // namespace hone::learn

#endif  // HONE_LEARN_GRAPH_NETWORK_H_
