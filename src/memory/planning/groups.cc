#include "memory/planning/groups.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "memory/access.h"
#include "memory/planning/local.h"
#include "memory/planning/tile.h"

namespace hone::memory {
namespace {

constexpr size_t kMostWaiting = 256;  // operators that a growing group may hold up
constexpr size_t kMostWaitingLate = 32;
constexpr size_t kMostAtOnce = 64;    // operators that join it together
constexpr int64_t kSmall = 16;        // of which the scratchpad holds so many, it may well keep
constexpr double kMostOfRoom = 0.85;  // that a group takes: addresses need some to choose from
constexpr int kMostTries = 4;         // to find tiles that fit, each with less room
constexpr double kTighter = 0.7;      // of the share of the one before

size_t U(int32_t id) { return static_cast<size_t>(id); }

// What an operator takes as a whole, copies for its engine included.
int64_t WholeFootprint(const Target& target, const Op& op) {
  int64_t bytes = 0;
  Needs needs;
  const Tensor& first = target.network.tensors[static_cast<size_t>(op.results[0])];
  for (const Mismatch& copy : CopiesOf(target, op)) {
    bytes += CopyBytes(target, op, copy, WholeBox(first.dimensions), {});
  }
  ForEachRead(target.network, op, WholeBox(first.dimensions), [&](TensorId tensor, const Box& box) {
    const auto [place, fresh] = needs.try_emplace(tensor, box);
    if (!fresh) place->second = Hull(place->second, box);
  });
  for (const auto& [tensor, box] : needs) bytes += target.BufferBytes(tensor, box);
  for (TensorId result : op.results) {
    bytes += target.BufferBytes(
        result, WholeBox(target.network.tensors[static_cast<size_t>(result)].dimensions));
  }
  return bytes;
}

class Grouping {
 public:
  Grouping(const Target& target, const GroupOptions& options)
      : target_(target), options_(options), deadline_(options.deadline) {}

  std::vector<Group> Run(const std::vector<OpId>& order) {
    waiting_.assign(order.begin(), order.end());
    place_.resize(order.size());
    reads_.resize(order.size());
    readers_.resize(target_.network.tensors.size());
    is_output_.resize(target_.network.tensors.size(), false);
    for (TensorId tensor : target_.network.output_tensors) is_output_[U(tensor)] = true;
    for (size_t k = 0; k < order.size(); ++k) {
      place_[U(order[k])] = k;
      for (ExprId input : target_.network.ops[U(order[k])].inputs) {
        for (TensorId tensor : LeavesOf(target_.network, input)) {
          if (target_.network.tensors[U(tensor)].producer == kNone) continue;
          reads_[U(order[k])].push_back(tensor);
          readers_[U(tensor)].push_back(order[k]);
        }
      }
    }
    while (!waiting_.empty()) {
      const OpId op = waiting_.front();
      waiting_.pop_front();
      const bool large = IsLarge(op);
      if (large) tighter_ = Now();
      if (!large || deadline_.Passed()) {
        Alone(op, large);
        continue;
      }
      std::optional<Growth> best;
      Group group;
      // Some of the tiles have stood for all: where others take too much, once more with less room.
      for (int tries = 0; tries < kMostTries; ++tries) {
        std::optional<Growth> growth = BestGrowth(op, tighter_);
        if (!growth) break;
        if (!growth->first.empty()) {
          best = std::move(growth);
          break;
        }
        Group grown = TiledGroup(growth->group).Finish();
        const double share = static_cast<double>(LeastRoom(target_, grown)) /
                             static_cast<double>(target_.machine.bytes_per_partition);
        if (share <= 1) {
          best = std::move(growth);
          group = std::move(grown);
        }
        if (share <= kMostOfRoom) break;
        tighter_.tile_share *= kTighter;
      }
      if (!best) {
        Alone(op, true);
        continue;
      }
      if (!best->first.empty()) {
        waited_.insert(op);
        waiting_.push_front(op);
        GoFirst(best->first, best->taken + 1);
        continue;
      }
      for (OpId before : best->before) Alone(before, false);
      groups_.push_back(std::move(group));
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(best->taken));
      waiting_.insert(waiting_.begin(), best->rest.begin(), best->rest.end());
    }
    return std::move(groups_);
  }

  bool wait_matters() const { return wait_matters_; }

 private:
  bool IsLarge(OpId op) {
    if (footprints_.empty()) footprints_.resize(place_.size(), -1);
    int64_t& bytes = footprints_[U(op)];
    if (bytes < 0) bytes = WholeFootprint(target_, target_.network.ops[U(op)]);
    return static_cast<double>(bytes) >
           options_.tile_above * static_cast<double>(target_.machine.bytes_per_partition);
  }

  void Alone(OpId id, bool streamed) {
    const Op& op = target_.network.ops[static_cast<size_t>(id)];
    Group group;
    group.ops = {id};
    group.boxes = {
        {WholeBox(target_.network.tensors[static_cast<size_t>(op.results[0])].dimensions)}};
    group.streamed = streamed;
    groups_.push_back(std::move(group));
  }

  // As asked for; once that time is over, the first way to cut, with the nearest neighbours.
  GroupOptions Now() {
    GroupOptions now = options_;
    if (!late_ && options_.deadline.Passed()) {
      late_ = true;
      deadline_ = Deadline(options_.late_seconds);
    }
    now.deadline = deadline_;
    if (late_) now.try_all = now.wait = false;
    return now;
  }

  // A group with all that joined it, of the first `taken` operators that wait: what goes before it,
  // and what goes on waiting. With `first` it is what the group would be if those had been grouped
  // before it, and `waits` says that there are such.
  struct Growth {
    TiledGroup group;
    size_t taken = 0;
    std::vector<OpId> before, rest, first;
    std::unordered_set<OpId> dear;  // make tiles load again more than they save
    bool waits = false;
  };

  // Of all ways to begin with an operator, the one whose group keeps most bytes on the chip.
  std::optional<Growth> BestGrowth(OpId op, const GroupOptions& options) {
    std::optional<Growth> best;
    double most = 0;
    for (const TiledGroup& start : TiledGroup::Starts(target_, options, op)) {
      const bool may_wait = options.wait && !waited_.contains(op);
      for (const bool wait : {false, true}) {
        Growth growth = Grow(start, {}, wait);
        if (const auto pointless = Pointless(growth.group); !pointless.empty()) {
          growth = Grow(start, pointless, wait);
        }
        wait_matters_ = wait_matters_ || growth.waits || !growth.dear.empty();
        const bool again = !wait && may_wait && growth.waits;
        double saved = Saved(growth.group);
        if (options.wait && !growth.dear.empty()) {
          std::unordered_set<OpId> apart = Pointless(growth.group);
          apart.insert(growth.dear.begin(), growth.dear.end());
          Growth without = Grow(start, apart, wait);
          if (const double more = Saved(without.group); more > saved) {
            growth = std::move(without);
            saved = more;
          }
        }
        if (!best || saved > most) {
          most = saved;
          best = std::move(growth);
        }
        if (!again) break;
      }
      if (!options.try_all || deadline_.Passed()) break;
    }
    return best;
  }

  // Takes operators that read the group from what is waiting, with the large ones that these also
  // read. Small ones that it waits for go before it, all others after it. `apart` stay out of it.
  // With `wait`, large ones that it waits for only because of small results may go before it, too.
  Growth Grow(TiledGroup start, const std::unordered_set<OpId>& apart, bool wait) {
    Growth growth{std::move(start), 0, {}, {}, {}, {}, false};
    TiledGroup& group = growth.group;
    std::vector<OpId> small, aside, after;  // do not depend on the group, the second large; do
    std::unordered_set<OpId> is_small, is_aside, is_after;
    double excess = group.Excess();
    const size_t most_waiting = late_ ? kMostWaitingLate : kMostWaiting;
    while (growth.taken < waiting_.size() && is_aside.size() + after.size() < most_waiting &&
           !deadline_.Passed()) {
      const OpId id = waiting_[growth.taken++];
      Work::Add(1);
      bool reads_group = false, reads_after = false, reads_aside = false;
      ForEachProducer(id, [&](OpId producer) {
        reads_group = reads_group || group.Contains(producer);
        reads_after = reads_after || is_after.contains(producer);
        reads_aside = reads_aside || is_aside.contains(producer);
      });
      if (!reads_group && !reads_after) {
        if (!reads_aside && !IsLarge(id)) {
          small.push_back(id);
          is_small.insert(id);
          continue;
        }
        aside.push_back(id);
        is_aside.insert(id);
        continue;
      }
      if (reads_group && !reads_after && !apart.contains(id)) {
        std::vector<OpId> with = Ancestors({id}, is_aside);
        const auto whole = [&](OpId op) {
          const std::vector<TensorId>& results = target_.network.ops[U(op)].results;
          return results.size() != 1 || is_output_[U(results[0])] ||
                 !std::all_of(readers_[U(results[0])].begin(), readers_[U(results[0])].end(),
                              [&](OpId reader) {
                                return reader == id || group.Contains(reader) ||
                                       std::find(with.begin(), with.end(), reader) != with.end();
                              });
        };
        bool joins = with.size() <= kMostAtOnce && group.Join(with, id, whole);
        if (!joins && !with.empty()) {
          // A sum over all of something else can be finished before.
          const std::vector<OpId> first = BehindSmall(with);
          growth.waits = growth.waits || !first.empty();
          if (wait && !first.empty()) {
            std::erase_if(with, [&](OpId op) {
              return std::find(first.begin(), first.end(), op) != first.end();
            });
            joins = with.size() <= kMostAtOnce && group.Join(with, id, whole);
            if (joins) {
              growth.first.insert(growth.first.end(), first.begin(), first.end());
              for (OpId op : first) is_aside.erase(op);
            }
          }
        }
        if (joins) {
          const double now = group.Excess();
          if (now - excess > 2 * static_cast<double>(TakenOver(group, id))) growth.dear.insert(id);
          excess = now;
          std::vector<OpId> joined = with;
          joined.push_back(id);
          for (OpId op : Ancestors(joined, is_small)) {
            is_small.erase(op);
            growth.before.push_back(op);
          }
          for (OpId op : with) is_aside.erase(op);
          continue;
        }
      }
      after.push_back(id);
      is_after.insert(id);
    }
    std::erase_if(small, [&](OpId op) { return !is_small.contains(op); });
    std::erase_if(aside, [&](OpId op) { return !is_aside.contains(op); });
    growth.rest = std::move(after);
    growth.rest.insert(growth.rest.end(), aside.begin(), aside.end());
    growth.rest.insert(growth.rest.end(), small.begin(), small.end());
    Sort(growth.rest);
    return growth;
  }

  // Bytes of the group that an operator reads.
  int64_t TakenOver(const TiledGroup& group, OpId op) const {
    int64_t bytes = 0;
    for (TensorId tensor : reads_[U(op)]) {
      const Tensor& read = target_.network.tensors[U(tensor)];
      if (group.Contains(read.producer)) bytes += read.Bytes();
    }
    return bytes;
  }

  // Of operators in their order, those whose results are small, and what these depend on.
  std::vector<OpId> BehindSmall(const std::vector<OpId>& ops) const {
    std::vector<OpId> behind;
    for (OpId op : ops) {
      const std::vector<TensorId>& results = target_.network.ops[U(op)].results;
      if (std::all_of(results.begin(), results.end(), [&](TensorId result) {
            return target_.network.tensors[U(result)].Bytes() * kSmall <=
                   target_.machine.ScratchpadBytes();
          })) {
        behind.push_back(op);
      }
    }
    const std::unordered_set<OpId> among(ops.begin(), ops.end());
    const std::vector<OpId> before = Ancestors(behind, among);
    behind.insert(behind.end(), before.begin(), before.end());
    Sort(behind);
    behind.erase(std::unique(behind.begin(), behind.end()), behind.end());
    return behind;
  }

  // Of the first `taken` that wait, these and what they depend on are the next; then the others in
  // their order.
  void GoFirst(const std::vector<OpId>& ops, size_t taken) {
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(taken);
    std::unordered_set<OpId> first(ops.begin(), ops.end());
    for (OpId op : Ancestors(ops, {waiting_.begin(), end})) first.insert(op);
    std::stable_partition(waiting_.begin(), end, [&](OpId op) { return first.contains(op); });
    for (size_t k = 0; k < waiting_.size(); ++k) place_[U(waiting_[k])] = k;
  }

  // Bytes that need not be stored and loaded because all readers are in the group, less what is
  // loaded more than once.
  double Saved(const TiledGroup& group) const {
    double saved = -group.Excess();
    for (OpId op : group.ops()) {
      for (TensorId result : target_.network.ops[U(op)].results) {
        const std::vector<OpId>& readers = readers_[U(result)];
        const bool inside =
            !readers.empty() && std::all_of(readers.begin(), readers.end(),
                                            [&](OpId reader) { return group.Contains(reader); });
        if (inside) saved += 2 * static_cast<double>(target_.network.tensors[U(result)].Bytes());
      }
    }
    return saved;
  }

  // Members that nobody in the group reads: no reason to make them so early where they leave more
  // than they find there. Elementwise ones that lead to nothing else in the group can be made where
  // they are read, of what is read there: they are looked at together with all that share what they
  // read, and must free more than they leave. What goes to DRAM for others anyway they do not free.
  std::unordered_set<OpId> Pointless(const TiledGroup& group) const {
    const std::vector<OpId> ops = group.ops();
    std::unordered_set<OpId> pointless;
    std::unordered_map<OpId, OpId> with;  // another of the same set; of the last, itself
    const auto find = [&](OpId op) {
      while (with.at(op) != op) op = with.at(op);
      return op;
    };
    for (size_t k = ops.size(); k-- > 1;) {
      const Op& op = target_.network.ops[U(ops[k])];
      bool inside = false, apart = true;  // read in the group; by no other than such
      for (TensorId result : op.results) {
        for (OpId reader : readers_[U(result)]) {
          inside = inside || group.Contains(reader);
          apart = apart && (!group.Contains(reader) || with.contains(reader));
        }
      }
      if (readers_[U(op.results[0])].empty()) continue;  // an output
      if (IsElementwise(op.opcode)) {
        if (apart) with[ops[k]] = ops[k];
        continue;
      }
      int64_t found = 0;
      for (TensorId tensor : reads_[U(ops[k])]) {
        const Tensor& read = target_.network.tensors[U(tensor)];
        if (group.Contains(read.producer)) found += read.Bytes();
      }
      if (!inside && target_.network.tensors[U(op.results[0])].Bytes() > found) {
        pointless.insert(ops[k]);
      }
    }
    // What they read of the group and nobody else outside of it does joins them.
    const auto frees = [&](TensorId tensor) {
      return std::all_of(readers_[U(tensor)].begin(), readers_[U(tensor)].end(),
                         [&](OpId reader) { return group.Contains(reader); });
    };
    std::unordered_map<TensorId, OpId> reads;  // what they read of other members: one that reads it
    for (OpId op : ops) {
      if (!with.contains(op)) continue;
      for (TensorId tensor : reads_[U(op)]) {
        const OpId producer = target_.network.tensors[U(tensor)].producer;
        if (!group.Contains(producer)) continue;
        if (with.contains(producer)) {
          with[find(op)] = find(producer);
          continue;
        }
        const auto [place, fresh] = reads.try_emplace(tensor, op);
        if (!fresh && frees(tensor)) with[find(op)] = find(place->second);
      }
    }
    std::unordered_map<OpId, int64_t> leaves;  // more bytes than it frees, of each set
    for (const auto& [op, other] : with) {
      for (TensorId result : target_.network.ops[U(op)].results) {
        const std::vector<OpId>& readers = readers_[U(result)];
        if (std::all_of(readers.begin(), readers.end(),
                        [&](OpId reader) { return with.contains(reader); })) {
          continue;
        }
        leaves[find(op)] += target_.network.tensors[U(result)].Bytes();
      }
    }
    for (const auto& [tensor, op] : reads) {
      if (frees(tensor)) leaves[find(op)] -= target_.network.tensors[U(tensor)].Bytes();
    }
    for (const auto& [op, other] : with) {
      if (leaves[find(op)] > 0) pointless.insert(op);
    }
    return pointless;
  }

  template <class Visit>
  void ForEachProducer(OpId id, Visit visit) const {
    for (TensorId tensor : reads_[U(id)]) {
      visit(target_.network.tensors[U(tensor)].producer);
    }
  }

  void Sort(std::vector<OpId>& ops) const {
    std::sort(ops.begin(), ops.end(), [&](OpId a, OpId b) { return place_[U(a)] < place_[U(b)]; });
  }

  // Those of `among` that `ids` depend on, in their order.
  std::vector<OpId> Ancestors(const std::vector<OpId>& ids,
                              const std::unordered_set<OpId>& among) const {
    std::unordered_set<OpId> found;
    std::vector<OpId> open = ids;
    while (!open.empty()) {
      const OpId at = open.back();
      open.pop_back();
      ForEachProducer(at, [&](OpId producer) {
        if (among.contains(producer) && found.insert(producer).second) open.push_back(producer);
      });
    }
    std::vector<OpId> ancestors(found.begin(), found.end());
    Sort(ancestors);
    return ancestors;
  }

  const Target& target_;
  const GroupOptions& options_;
  GroupOptions tighter_;  // for the operator at hand
  Deadline deadline_;
  bool late_ = false;
  std::deque<OpId> waiting_;
  std::vector<int64_t> footprints_;           // of each operator, -1 where it is not known yet
  std::vector<size_t> place_;                 // of each operator in the order
  std::vector<std::vector<TensorId>> reads_;  // of each operator, computed tensors
  std::vector<std::vector<OpId>> readers_;    // of each tensor
  std::vector<bool> is_output_;
  std::unordered_set<OpId> waited_;  // operators that have let others go first, each once
  bool wait_matters_ = false;
  std::vector<Group> groups_;
};

}  // namespace

int64_t Target::BufferBytes(TensorId id, const Box& box) const {
  const Tensor& tensor = network.tensors[static_cast<size_t>(id)];
  const int64_t bytes = Placement(machine, tensor.dimensions, layouts[static_cast<size_t>(id)], box,
                                  tensor.element_bytes)
                            .bytes_per_partition();
  return (bytes + machine.alignment - 1) / machine.alignment * machine.alignment;
}

std::vector<Group> MakeGroups(const Target& target, const std::vector<OpId>& order,
                              const GroupOptions& options, bool* wait_matters) {
  Grouping grouping(target, options);
  std::vector<Group> groups = grouping.Run(order);
  if (wait_matters != nullptr) *wait_matters = grouping.wait_matters();
  return groups;
}

Needs ExternalNeeds(const Target& target, const Group& group, size_t tile) {
  Needs needs;
  std::unordered_set<TensorId> inside;
  for (size_t p = 0; p < group.ops.size(); ++p) {
    const Op& op = target.network.ops[static_cast<size_t>(group.ops[p])];
    const auto need = [&](TensorId tensor, const Box& box) {
      if (inside.contains(tensor)) return;
      const auto [place, fresh] = needs.try_emplace(tensor, box);
      if (!fresh) place->second = Hull(place->second, box);
    };
    ForEachRead(target.network, op, group.boxes[p][tile], need, group.Sum(p, tile));
    inside.insert(op.results.begin(), op.results.end());
  }
  return needs;
}

Box ResultBox(const Network& network, const Op& op, size_t result, const Box& out) {
  const auto& dimensions = network.tensors[static_cast<size_t>(op.results[result])].dimensions;
  const auto& first = network.tensors[static_cast<size_t>(op.results[0])].dimensions;
  return dimensions == first ? out : WholeBox(dimensions);
}

}  // namespace hone::memory
