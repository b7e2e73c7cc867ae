#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "memory/access.h"
#include "memory/planning/work.h"
#include "memory/recompute.h"

namespace hone::memory {
namespace {

// Bytes that are read to make a result again, over its own: what it costs to keep it in DRAM.
constexpr double kMostSources = 2;
// Of products that are made again, for each byte that need not be moved.
constexpr double kMostFlopsPerByte = 300;

size_t U(int32_t id) { return static_cast<size_t>(id); }

class AfterSums {
 public:
  AfterSums(Network network, int64_t huge_bytes)
      : again_(std::move(network)), huge_bytes_(huge_bytes) {}

  Network Run() {
    const size_t count = again_.network().ops.size();
    is_output_.assign(count, false);
    for (TensorId tensor : again_.network().output_tensors) {
      is_output_[U(again_.network().tensors[U(tensor)].producer)] = true;
    }
    for (size_t o = 0; o < count; ++o) {
      phases_.push_back(PhaseOf(o));
      made_of_.push_back(MadeOf(o));
    }
    for (size_t o = count; o-- > 0;) {
      if (!made_of_[o].again) continue;
      // Also on its own side of the sums: right before who reads it, it can share their tiles. An
      // output is made there anyway.
      std::map<int, std::vector<size_t>> readers_of;  // by phase
      for (size_t reader : again_.Readers(again_.network().ops[o].results[0])) {
        if (phases_[reader] == phases_[o] && is_output_[o]) continue;
        readers_of[phases_[reader]].push_back(reader);
      }
      for (const auto& [phase, readers] : readers_of) {
        again_.Again(o, readers);
        phases_.push_back(phase);
      }
    }
    return std::move(again_).Finish();
  }

 private:
  // What an operator's result is made of, once what can be made again is.
  struct Sources {
    bool again = false;  // huge, and made of little enough
    std::set<TensorId> tensors;
    double flops = 0;
  };

  bool IsHuge(TensorId id) const {
    const Tensor& tensor = again_.network().tensors[U(id)];
    return tensor.producer != kNone && tensor.Bytes() >= huge_bytes_;
  }

  std::set<TensorId> Reads(const Op& op) const {
    std::set<TensorId> tensors;
    for (ExprId input : op.inputs) {
      for (TensorId tensor : LeavesOf(again_.network(), input)) tensors.insert(tensor);
    }
    return tensors;
  }

  // Whether its result is there only when all of something huge has been looked at.
  bool IsSum(const Op& op) const {
    if (IsElementwise(op.opcode)) return false;
    const auto huge = [&](TensorId id) { return IsHuge(id); };
    const std::set<TensorId> reads = Reads(op);
    return std::any_of(reads.begin(), reads.end(), huge) &&
           std::none_of(op.results.begin(), op.results.end(), huge);
  }

  // How many sums over something huge come before it, one upon the other.
  int PhaseOf(size_t o) const {
    int phase = 0;
    for (TensorId tensor : Reads(again_.network().ops[o])) {
      const OpId producer = again_.network().tensors[U(tensor)].producer;
      if (producer == kNone) continue;
      phase = std::max(phase, phases_[U(producer)] + IsSum(again_.network().ops[U(producer)]));
    }
    return phase;
  }

  Sources MadeOf(size_t o) const {
    const Network& network = again_.network();
    const Op& op = network.ops[o];
    Sources sources;
    if (op.results.size() != 1 || !IsHuge(op.results[0])) return sources;
    if (!IsElementwise(op.opcode) && op.opcode != "dot" && op.opcode != "scatter") return sources;
    if (!CanTile(network, op)) return sources;
    const Tensor& result = network.tensors[U(op.results[0])];
    sources.flops = ProductFlops(network, op, WholeBox(result.dimensions));
    for (TensorId tensor : Reads(op)) {
      const OpId producer = network.tensors[U(tensor)].producer;
      if (producer == kNone || !made_of_[U(producer)].again) {
        sources.tensors.insert(tensor);
        continue;
      }
      const Sources& from = made_of_[U(producer)];
      sources.tensors.insert(from.tensors.begin(), from.tensors.end());
      sources.flops += from.flops;
    }
    double bytes = 0;
    for (TensorId tensor : sources.tensors) {
      bytes += static_cast<double>(network.tensors[U(tensor)].Bytes());
    }
    const auto own = static_cast<double>(result.Bytes());
    sources.again = bytes <= kMostSources * own && sources.flops <= kMostFlopsPerByte * 2 * own;
    return sources;
  }

  Recomputation again_;
  const int64_t huge_bytes_;
  std::vector<int> phases_;  // of each operator
  std::vector<Sources> made_of_;
  std::vector<bool> is_output_;  // its result is
};

}  // namespace

Network RecomputeAfterSums(Network network, int64_t huge_bytes) {
  return AfterSums(std::move(network), huge_bytes).Run();
}

}  // namespace hone::memory
