#include "memory/planning/order.h"

#include <set>

namespace hone::memory {

std::vector<OpId> PeakAwareOrder(const Target& target) {
  const Network& network = target.network;
  const size_t count = network.ops.size();
  const auto u = [](int32_t id) { return static_cast<size_t>(id); };
  std::vector<std::vector<TensorId>> reads(count);
  std::vector<std::vector<OpId>> readers(network.tensors.size());
  std::vector<int64_t> waiting_for(count, 0), unread(network.tensors.size(), 0);
  for (size_t o = 0; o < count; ++o) {
    std::set<TensorId> leaves;
    for (ExprId input : network.ops[o].inputs) {
      for (TensorId tensor : LeavesOf(network, input)) leaves.insert(tensor);
    }
    for (TensorId tensor : leaves) {
      if (network.tensors[u(tensor)].producer == kNone) continue;
      reads[o].push_back(tensor);
      readers[u(tensor)].push_back(static_cast<OpId>(o));
      ++unread[u(tensor)];
      ++waiting_for[o];
    }
  }
  const auto growth = [&](size_t o) {
    int64_t bytes = 0;
    for (TensorId result : network.ops[o].results) {
      if (!readers[u(result)].empty()) bytes += network.tensors[u(result)].Bytes();
    }
    for (TensorId tensor : reads[o]) {
      if (unread[u(tensor)] == 1) bytes -= network.tensors[u(tensor)].Bytes();
    }
    return bytes;
  };
  std::set<std::pair<int64_t, OpId>> ready;
  std::vector<int64_t> key(count, 0);
  const auto offer = [&](size_t o) {
    key[o] = growth(o);
    ready.insert({key[o], static_cast<OpId>(o)});
  };
  for (size_t o = 0; o < count; ++o) {
    if (waiting_for[o] == 0) offer(o);
  }
  std::vector<OpId> order;
  while (!ready.empty()) {
    const OpId op = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(op);
    key[u(op)] = 0;
    for (TensorId tensor : reads[u(op)]) {
      if (--unread[u(tensor)] != 1) continue;
      for (OpId last : readers[u(tensor)]) {  // now frees it, if it is ready
        if (ready.erase({key[u(last)], last}) > 0) offer(u(last));
      }
    }
    for (TensorId result : network.ops[u(op)].results) {
      for (OpId reader : readers[u(result)]) {
        if (--waiting_for[u(reader)] == 0) offer(u(reader));
      }
    }
  }
  return order;
}

}  // namespace hone::memory
