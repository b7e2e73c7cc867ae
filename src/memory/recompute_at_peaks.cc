#include <algorithm>
#include <iterator>
#include <limits>
#include <queue>
#include <utility>

#include "memory/planning/work.h"
#include "memory/recompute.h"

namespace hone::memory {
namespace {

constexpr int kMostRounds = 32;
constexpr double kLeastGain = 0.01;  // of what is alive
// Of a product that is made again, for each byte that need not be moved.
constexpr double kMostFlopsPerByte = 64;
constexpr int64_t kLeastGrowth = 2;  // times the bytes of its computed factors
// Operators after the highest point at which it is cut, one after the other while none lowers it.
constexpr OpId kAfter[] = {0, 4, 16, 64, 256};
constexpr size_t kMostGrowth = 2;  // times the operators there were
// Edges of flows that are looked at in all, and as how many to look at an operator counts.
constexpr size_t kMostWork = 100'000'000;
constexpr size_t kWorkOfOperator = 800;
constexpr int64_t kEndless = std::numeric_limits<int64_t>::max() / 4;

size_t U(int32_t id) { return static_cast<size_t>(id); }

// The most that flows from node 0 to node 1, by Dinic (1970).
class Flow {
 public:
  int32_t AddNode() {
    edges_of_.emplace_back();
    return static_cast<int32_t>(edges_of_.size() - 1);
  }

  void AddEdge(int32_t from, int32_t to, int64_t capacity) {
    edges_of_[U(from)].push_back(static_cast<int32_t>(edges_.size()));
    edges_.push_back({to, capacity});
    edges_of_[U(to)].push_back(static_cast<int32_t>(edges_.size()));
    edges_.push_back({from, 0});
  }

  size_t work() const { return work_; }

  // Nodes on the side of node 0 of a minimum cut; none where that would be too much work.
  std::vector<bool> Cut(size_t most_work) {
    while (work_ < most_work && Levels()) {
      next_.assign(edges_of_.size(), 0);
      while (work_ < most_work && Push()) {
      }
    }
    if (work_ >= most_work) return {};
    std::vector<bool> reached(level_.size());
    for (size_t n = 0; n < level_.size(); ++n) reached[n] = level_[n] >= 0;
    return reached;
  }

 private:
  struct Edge {
    int32_t to;
    int64_t left;
  };

  bool Levels() {
    level_.assign(edges_of_.size(), -1);
    level_[0] = 0;
    std::queue<int32_t> open;
    open.push(0);
    while (!open.empty()) {
      const int32_t at = open.front();
      open.pop();
      work_ += edges_of_[U(at)].size();
      for (int32_t e : edges_of_[U(at)]) {
        const Edge& edge = edges_[U(e)];
        if (edge.left == 0 || level_[U(edge.to)] >= 0) continue;
        level_[U(edge.to)] = level_[U(at)] + 1;
        open.push(edge.to);
      }
    }
    return level_[1] >= 0;
  }

  // Along one more way; false where there is none. Ways are as long as programs are deep: no
  // recursion.
  bool Push() {
    path_.clear();
    for (int32_t at = 0; at != 1;) {
      size_t& k = next_[U(at)];
      for (; k < edges_of_[U(at)].size() && !LeadsOn(edges_of_[U(at)][k], at); ++k) ++work_;
      if (k < edges_of_[U(at)].size()) {
        path_.push_back(edges_of_[U(at)][k]);
        at = edges_[U(path_.back())].to;
        continue;
      }
      if (path_.empty()) return false;
      at = edges_[U(path_.back() ^ 1)].to;
      ++next_[U(at)];
      path_.pop_back();
    }
    work_ += path_.size();
    int64_t pushed = kEndless;
    for (int32_t e : path_) pushed = std::min(pushed, edges_[U(e)].left);
    for (int32_t e : path_) {
      edges_[U(e)].left -= pushed;
      edges_[U(e ^ 1)].left += pushed;
    }
    return true;
  }

  bool LeadsOn(int32_t e, int32_t from) const {
    const Edge& edge = edges_[U(e)];
    return edge.left > 0 && level_[U(edge.to)] == level_[U(from)] + 1;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<int32_t>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
  std::vector<int32_t> path_;
  size_t work_ = 0;  // edges looked at
};

class AtPeak {
 public:
  AtPeak(Network network, int64_t room_bytes)
      : again_(std::move(network)), room_bytes_(room_bytes) {
    const Network& all = again_.network();
    reads_.resize(all.ops.size());
    last_.assign(all.tensors.size(), -1);
    for (size_t o = 0; o < all.ops.size(); ++o) {
      for (ExprId input : all.ops[o].inputs) {
        for (TensorId tensor : LeavesOf(all, input)) {
          if (std::find(reads_[o].begin(), reads_[o].end(), tensor) != reads_[o].end()) continue;
          reads_[o].push_back(tensor);
          last_[U(tensor)] = static_cast<int64_t>(o);
        }
      }
    }
    is_output_.assign(all.tensors.size(), false);
    for (TensorId tensor : all.output_tensors) is_output_[U(tensor)] = true;
  }

  // Bytes alive at the highest point, where `peak_` is then; what is too large to stay anyway does
  // not count.
  int64_t FindPeak() {
    const Network& all = again_.network();
    std::vector<int64_t> change(all.ops.size() + 1, 0);
    for (size_t t = 0; t < all.tensors.size(); ++t) {
      const Tensor& tensor = all.tensors[t];
      if (tensor.producer == kNone || last_[t] <= tensor.producer) continue;
      if (tensor.Bytes() * 2 > room_bytes_) continue;
      change[U(tensor.producer)] += tensor.Bytes();
      change[static_cast<size_t>(last_[t])] -= tensor.Bytes();
    }
    int64_t alive = 0, most = 0;
    for (size_t o = 0; o < all.ops.size(); ++o) {
      alive += change[o];
      if (alive <= most) continue;
      most = alive;
      peak_ = static_cast<OpId>(o);
    }
    return most;
  }

  // As far as there are operators.
  void MoveBy(OpId after) {
    peak_ = std::min(peak_ + after, static_cast<OpId>(again_.network().ops.size()) - 1);
  }

  // Makes again, after the peak, what need not be kept over it.
  void Recompute(size_t most_work) {
    const Network& all = again_.network();
    node_.assign(all.tensors.size(), kNone);
    flow_.AddNode();
    flow_.AddNode();
    std::vector<TensorId> crossing;
    for (size_t t = 0; t < all.tensors.size(); ++t) {
      const Tensor& tensor = all.tensors[t];
      if (tensor.producer == kNone || tensor.producer > peak_ || last_[t] <= peak_) continue;
      const auto id = static_cast<TensorId>(t);
      crossing.push_back(id);
      flow_.AddEdge(NodeOf(id) + 1, 1, kEndless);
    }
    const std::vector<bool> kept_side = flow_.Cut(most_work);
    if (kept_side.empty()) return;
    // From what must be there after the peak back to what is kept.
    std::vector<bool> made(all.ops.size(), false);
    std::vector<TensorId> open = crossing;
    std::vector<bool> seen(all.tensors.size(), false);
    while (!open.empty()) {
      const TensorId id = open.back();
      open.pop_back();
      if (seen[U(id)]) continue;
      seen[U(id)] = true;
      const Tensor& tensor = all.tensors[U(id)];
      if (kept_side[U(node_[U(id)])]) continue;
      made[U(tensor.producer)] = true;
      for (TensorId from : reads_[U(tensor.producer)]) open.push_back(from);
    }
    for (size_t o = made.size(); o-- > 0;) {
      if (!made[o]) continue;
      std::vector<size_t> late;
      for (size_t reader : again_.Readers(again_.network().ops[o].results[0])) {
        if (reader > static_cast<size_t>(peak_)) late.push_back(reader);
      }
      if (!late.empty()) again_.Again(o, late);
    }
  }

  size_t work() const { return flow_.work(); }

  Network Finish() && { return std::move(again_).Finish(); }

 private:
  bool CanBeMadeAgain(const Op& op) const {
    if (op.results.size() != 1) return false;
    if (IsElementwise(op.opcode)) return true;
    const Tensor& result = again_.network().tensors[U(op.results[0])];
    // A product only where that trades much for little, which never goes on from layer to layer.
    int64_t computed = 0;
    for (ExprId input : op.inputs) {
      for (TensorId tensor : LeavesOf(again_.network(), input)) {
        if (again_.network().tensors[U(tensor)].producer == kNone) continue;
        computed += again_.network().tensors[U(tensor)].Bytes();
      }
    }
    return op.opcode == "dot" && computed * kLeastGrowth <= result.Bytes() &&
           ProductFlops(again_.network(), op, WholeBox(result.dimensions)) <=
               kMostFlopsPerByte * 2 * static_cast<double>(result.Bytes());
  }

  // A tensor is two nodes with an edge between them: cut where it is kept.
  int32_t NodeOf(TensorId id) {
    if (node_[U(id)] != kNone) return node_[U(id)];
    const int32_t node = node_[U(id)] = flow_.AddNode();
    flow_.AddNode();
    const Network& all = again_.network();
    const Tensor& tensor = all.tensors[U(id)];
    // To keep it in DRAM costs a store and a load; a parameter only the load, and nothing where it
    // is needed later anyway.
    int64_t weight = is_output_[U(id)] || tensor.producer == kNone ? 1 : 2;
    if (tensor.producer == kNone && last_[U(id)] > peak_) weight = 0;
    flow_.AddEdge(node, node + 1, weight * tensor.Bytes() + 1);
    if (tensor.producer == kNone || !CanBeMadeAgain(all.ops[U(tensor.producer)])) {
      flow_.AddEdge(0, node, kEndless);
      return node;
    }
    for (TensorId from : reads_[U(tensor.producer)]) {
      flow_.AddEdge(NodeOf(from) + 1, node, kEndless);
    }
    if (reads_[U(tensor.producer)].empty()) flow_.AddEdge(0, node, 1);
    return node;
  }

  Recomputation again_;
  const int64_t room_bytes_;
  std::vector<std::vector<TensorId>> reads_;  // of each operator
  std::vector<int64_t> last_;                 // reader of each tensor
  std::vector<bool> is_output_;
  std::vector<int32_t> node_;  // of each tensor
  Flow flow_;
  OpId peak_ = 0;
};

}  // namespace

Network RecomputeAtPeaks(Network network, int64_t room_bytes) {
  const size_t most = kMostGrowth * network.ops.size();
  size_t after = 0, work = 0;
  for (int round = 0; round < kMostRounds && after < std::size(kAfter); ++round) {
    if (work > kMostWork) break;
    work += kWorkOfOperator * network.ops.size();
    AtPeak at(network, room_bytes);
    const int64_t alive = at.FindPeak();
    if (alive <= room_bytes) break;
    at.MoveBy(kAfter[after]);
    at.Recompute(kMostWork - std::min(work, kMostWork));
    work += at.work();
    Network next = std::move(at).Finish();
    const int64_t lowered = alive - AtPeak(next, room_bytes).FindPeak();
    const bool gains = static_cast<double>(lowered) >= kLeastGain * static_cast<double>(alive);
    after = gains ? 0 : after + 1;
    if (gains && next.ops.size() > most) break;
    if (lowered > 0) network = std::move(next);
  }
  return network;
}

}  // namespace hone::memory
