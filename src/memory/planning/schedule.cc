#include "memory/planning/schedule.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "memory/access.h"
#include "memory/planning/local.h"
#include "memory/planning/on_chip.h"
#include "memory/planning/pieces.h"
#include "memory/planning/plan_writer.h"
#include "memory/planning/work.h"

namespace hone::memory {
namespace {

const Box kNothing{{0}, {0}};

class Scheduler {
 public:
  Scheduler(const Target& target, const std::vector<Group>& groups, const ScheduleOptions& options)
      : target_(target),
        network_(target.network),
        groups_(groups),
        options_(options),
        pieces_(FindPieces(target, groups)),
        is_output_(network_.tensors.size(), false),
        buffer_of_(network_.tensors.size(), kNone),
        writer_(network_, plan_),
        chip_(pieces_.pieces, options.capacity, writer_) {
    for (TensorId tensor : network_.output_tensors) is_output_[U(tensor)] = true;
    plan_.layouts = target.layouts;
  }

  Plan Run() {
    for (size_t g = 0; g < groups_.size(); ++g) {
      group_ = static_cast<int32_t>(g);
      if (groups_[g].streamed || !Place(groups_[g])) Stream(groups_[g]);
      for (const Need& need : pieces_.needs[g]) {
        Piece& piece = At(need.piece);
        chip_.Use(need.piece, group_);
        if (!piece.used_later()) chip_.Drop(need.piece);
      }
      for (OpId op : groups_[g].ops) {  // results that nobody needs any more
        for (TensorId result : network_.ops[U(op)].results) {
          const PieceId piece = pieces_.of_tensor[U(result)];
          if (piece != kNone && !At(piece).used_later()) chip_.Drop(piece);
        }
      }
    }
    return std::move(plan_);
  }

 private:
  // What a group is to do about one need or result.
  struct Demand {
    Need need;
    bool stream = false;  // load it tile by tile; else it lies on the chip throughout
    bool fresh = false;   // not on the chip yet
    BufferId buffer = kNone;
    int64_t bytes = 0;
  };
  struct Sink {
    TensorId tensor = kNone;
    bool resident = false;  // as a whole, for later groups
    bool must = false;      // be so: a sum to which tiles far apart add their parts
    bool store = false;
  };
  static size_t U(int32_t id) { return static_cast<size_t>(id); }
  Piece& At(PieceId piece) { return pieces_.pieces[U(piece)]; }
  const Tensor& TensorOf(TensorId tensor) const { return network_.tensors[U(tensor)]; }

  // --- one group

  std::vector<Sink> FindSinks(const Group& group) {
    std::vector<Sink> sinks;
    for (size_t p = 0; p < group.ops.size(); ++p) {
      for (TensorId result : network_.ops[U(group.ops[p])].results) {
        const PieceId piece = pieces_.of_tensor[U(result)];
        const bool later = piece != kNone && At(piece).used_later();
        if (!later && !is_output_[U(result)]) continue;
        const bool must = group.IsSum(p) && !group.in_a_row[p];
        sinks.push_back({result, later || must, must, is_output_[U(result)]});
      }
    }
    return sinks;
  }

  int64_t WholeBytes(TensorId tensor) const {
    return target_.BufferBytes(tensor, WholeBox(TensorOf(tensor).dimensions));
  }

  bool Place(const Group& group) {
    std::vector<Demand> demands;
    for (const Need& need : pieces_.needs[U(group_)]) {
      Demand demand{need};
      const Piece& piece = At(need.piece);
      demand.fresh = piece.buffer == kNone;
      const bool again = piece.uses.back() > group_;
      demand.bytes = target_.BufferBytes(piece.tensor, again ? piece.box : need.hull);
      demand.stream =
          demand.fresh && need.varies && (!again || demand.bytes * 4 > options_.capacity);
      demands.push_back(demand);
    }
    std::vector<Sink> sinks = FindSinks(group);
    while (!Fits(group, demands, sinks)) {
      if (!Degrade(group, demands, sinks)) return false;
    }
    Run(group, demands, sinks);
    return true;
  }

  // Makes room where there can be enough.
  bool Fits(const Group& group, std::vector<Demand>& demands, const std::vector<Sink>& sinks) {
    std::unordered_set<PieceId> pinned;
    std::unordered_set<TensorId> resident;
    for (const Sink& sink : sinks) {
      if (sink.resident) resident.insert(sink.tensor);
    }
    int64_t more = LocalPeak(target_, group, resident);
    for (const Demand& demand : demands) {
      if (demand.stream) {
        more += 2 * demand.need.most_bytes;
      } else if (demand.fresh) {
        more += demand.bytes;
      } else {
        pinned.insert(demand.need.piece);
      }
    }
    for (const Sink& sink : sinks) {
      if (sink.resident) more += WholeBytes(sink.tensor);
    }
    int64_t kept = 0;
    for (PieceId id : pinned) kept += plan_.buffers[U(At(id).buffer)].bytes;
    if (kept + more > options_.capacity) return false;
    return chip_.MakeRoom(more, pinned, group_);
  }

  // One step towards less room, cheapest first. False where there is none left.
  bool Degrade(const Group& group, std::vector<Demand>& demands, std::vector<Sink>& sinks) {
    Sink* largest = nullptr;
    for (Sink& sink : sinks) {
      if (!sink.resident || sink.must || group.ops.size() == 1) continue;
      if (!largest || WholeBytes(sink.tensor) > WholeBytes(largest->tensor)) largest = &sink;
    }
    if (largest) {
      largest->resident = false;
      largest->store = true;
      return true;
    }
    for (Demand& demand : demands) {
      if (demand.stream || !demand.fresh) continue;
      const int64_t hull = target_.BufferBytes(At(demand.need.piece).tensor, demand.need.hull);
      if (demand.need.varies) {
        demand.stream = true;
        return true;
      }
      if (hull < demand.bytes) {
        demand.bytes = hull;  // only what this group needs
        return true;
      }
    }
    for (Demand& demand : demands) {
      if (demand.fresh) continue;
      chip_.Evict(demand.need.piece);
      demand.fresh = true;
      demand.stream = demand.need.varies;
      demand.bytes = target_.BufferBytes(At(demand.need.piece).tensor, demand.need.hull);
      return true;
    }
    return false;
  }

  void LoadWhole(Demand& demand) {
    Piece& piece = At(demand.need.piece);
    const bool whole = demand.bytes == target_.BufferBytes(piece.tensor, piece.box);
    const Box box = whole && piece.uses.back() > group_ ? piece.box : demand.need.hull;
    demand.buffer =
        writer_.NewBuffer(piece.tensor, target_.layouts[U(piece.tensor)], box, demand.bytes, 1);
    Step step;
    step.kind = StepKind::kLoad;
    step.tensor = piece.tensor;
    step.buffer = demand.buffer;
    step.boxes = {box};
    if (writer_.Loaded(piece.tensor) || TensorOf(piece.tensor).producer != kNone) {
      writer_.AccountSpilled(piece.tensor, box);
    }
    writer_.Emit(writer_.SingleBlock(), std::move(step));
    if (box == piece.box) {
      chip_.Put(demand.need.piece, demand.buffer);
    } else {
      passing_.push_back(demand.buffer);  // gone after this group
    }
  }

  void Run(const Group& group, std::vector<Demand>& demands, const std::vector<Sink>& sinks) {
    const size_t tiles = group.tiles();
    ++plan_.figures.groups;
    plan_.figures.tiled_groups += tiles > 1;
    for (Demand& demand : demands) {
      if (demand.stream) continue;
      if (demand.fresh) {
        LoadWhole(demand);
      } else {
        demand.buffer = At(demand.need.piece).buffer;
      }
      buffer_of_[U(At(demand.need.piece).tensor)] = demand.buffer;
    }
    if (tiles > 1) plan_.blocks.push_back({static_cast<int64_t>(tiles), {}});
    // New single blocks may move the vector: only this one is used until the group is done.
    Block& block = tiles > 1 ? plan_.blocks.back() : writer_.SingleBlock();
    const int64_t begin = writer_.now();
    std::unordered_map<TensorId, size_t> last_use;
    for (size_t p = 0; p < group.ops.size(); ++p) {
      for (ExprId input : network_.ops[U(group.ops[p])].inputs) {
        for (TensorId tensor : LeavesOf(network_, input)) last_use[tensor] = p;
      }
    }
    std::unordered_map<TensorId, Demand*> streams;
    for (Demand& demand : demands) {
      if (demand.stream) streams[At(demand.need.piece).tensor] = &demand;
    }
    std::unordered_map<TensorId, const Sink*> sink_of;
    for (const Sink& sink : sinks) {
      sink_of[sink.tensor] = &sink;
      if (!sink.resident) continue;
      const Box whole = WholeBox(TensorOf(sink.tensor).dimensions);
      if (tiles == 1) continue;  // made where it is computed, perhaps in place
      const BufferId buffer = writer_.NewBuffer(sink.tensor, target_.layouts[U(sink.tensor)], whole,
                                                WholeBytes(sink.tensor), 1);
      buffer_of_[U(sink.tensor)] = buffer;
      if (pieces_.of_tensor[U(sink.tensor)] != kNone) {
        chip_.Put(pieces_.of_tensor[U(sink.tensor)], buffer);
      } else {
        passing_.push_back(buffer);
      }
    }
    taken_.clear();
    taken_over_.clear();
    std::unordered_set<TensorId> kept;
    for (const Sink& sink : sinks) {
      if (sink.resident) kept.insert(sink.tensor);
    }
    for (const TakenOver& taken : TakenOverIn(target_, group, kept)) {
      taken_over_[taken.at] = taken.operand;
    }
    for (size_t p = 0; p < group.ops.size(); ++p) {
      const Op& op = network_.ops[U(group.ops[p])];
      LoadStreams(op, streams, block);
      Compute(group, p, op, sink_of, last_use, block);
      for (TensorId result : op.results) {
        const auto sink = sink_of.find(result);
        if (sink == sink_of.end() || !sink->second->store) continue;
        Step step;
        step.kind = StepKind::kStore;
        step.tensor = result;
        step.buffer = buffer_of_[U(result)];
        step.boxes = StoredShares(network_, group, p, result);
        if (!is_output_[U(result)]) {
          for (const Box& box : step.boxes) {
            writer_.AccountSpilled(result, box);
          }
        }
        writer_.Emit(block, std::move(step));
        if (const PieceId piece = pieces_.of_tensor[U(result)]; piece != kNone)
          chip_.SetInDram(piece);
      }
      EndLocals(group, p, sink_of, last_use);
    }
    for (Demand& demand : demands) {
      if (!demand.stream || demand.buffer == kNone) continue;
      plan_.buffers[U(demand.buffer)].start = begin;
      writer_.Close(demand.buffer);
    }
    for (BufferId buffer : passing_) writer_.Close(buffer);
    passing_.clear();
    for (BufferId buffer : lasting_) {
      plan_.buffers[U(buffer)].start = begin;
      writer_.Close(buffer);
    }
    lasting_.clear();
  }

  void LoadStreams(const Op& op, std::unordered_map<TensorId, Demand*>& streams, Block& block) {
    for (ExprId input : op.inputs) {
      for (TensorId tensor : LeavesOf(network_, input)) {
        const auto found = streams.find(tensor);
        if (found == streams.end() || found->second->buffer != kNone) continue;
        Demand& demand = *found->second;
        Step step;
        step.kind = StepKind::kLoad;
        step.tensor = tensor;
        int64_t bytes = 0;
        const Box* before = nullptr;
        for (const Box& box : demand.need.boxes) {
          const bool same = box.low.empty() || (before != nullptr && box == *before);
          if (!box.low.empty()) before = &box;
          step.boxes.push_back(same ? kNothing : box);
        }
        bytes = demand.need.most_bytes;
        demand.buffer = writer_.NewBuffer(tensor, target_.layouts[U(tensor)], {}, bytes, 2);
        buffer_of_[U(tensor)] = demand.buffer;
        step.buffer = demand.buffer;
        if (TensorOf(tensor).producer != kNone || writer_.Loaded(tensor)) {
          for (const Box& box : step.boxes) {
            writer_.AccountSpilled(tensor, box);
          }
        }
        writer_.Emit(block, std::move(step));
      }
    }
  }

  void Compute(const Group& group, size_t p, const Op& op,
               const std::unordered_map<TensorId, const Sink*>& sink_of,
               const std::unordered_map<TensorId, size_t>& last_use, Block& block) {
    Step step;
    step.kind = StepKind::kCompute;
    step.op = group.ops[p];
    step.boxes = group.boxes[p];
    if (group.IsSum(p)) step.sums = group.sums[p];
    std::vector<BufferId> temporaries;
    std::unordered_set<size_t> copied;
    for (const Mismatch& copy : CopiesOf(target_, op)) {
      Step copying;
      copying.kind = StepKind::kCopy;
      copying.op = group.ops[p];
      copying.operand = static_cast<int32_t>(copy.operand);
      int64_t bytes = 0;
      for (size_t t = 0; t < group.tiles(); ++t) {
        const Box& out = group.boxes[p][t];
        const Box sum = group.Sum(p, t);
        copying.boxes.push_back(OperandBox(network_, op, copy.operand, out, sum));
        bytes = std::max(bytes, CopyBytes(target_, op, copy, out, sum));
      }
      copying.buffer = writer_.NewBuffer(kNone, copy.wanted, {}, bytes, 1);
      for (TensorId tensor : LeavesOf(network_, op.inputs[copy.operand])) {
        if (buffer_of_[U(tensor)] == kNone) continue;  // nothing of it is looked at
        copying.sources.push_back({copying.operand, tensor, buffer_of_[U(tensor)]});
      }
      temporaries.push_back(copying.buffer);
      copied.insert(copy.operand);
      step.sources.push_back({copying.operand, kNone, copying.buffer});
      writer_.Emit(block, std::move(copying));
    }
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (copied.contains(k)) continue;
      const bool from_dram = k == 0 && ReadsFromDram(network_, op);
      for (TensorId tensor : LeavesOf(network_, op.inputs[k])) {
        if (!from_dram && buffer_of_[U(tensor)] == kNone) continue;
        step.sources.push_back(
            {static_cast<int32_t>(k), tensor, from_dram ? kNone : buffer_of_[U(tensor)]});
        if (from_dram) writer_.AccountElements(op, group.boxes[p]);
      }
    }
    for (size_t r = 0; r < op.results.size(); ++r) {
      const TensorId result = op.results[r];
      const auto sink = sink_of.find(result);
      const bool resident = sink != sink_of.end() && sink->second->resident;
      if (resident && group.tiles() > 1) {  // made before the block
        step.results.push_back(buffer_of_[U(result)]);
        continue;
      }
      BufferId buffer = r == 0 ? InPlace(group, p, op, last_use) : kNone;
      if (buffer == kNone) {
        int64_t bytes = 0;
        for (const Box& box : group.boxes[p]) {
          bytes = std::max(bytes, target_.BufferBytes(result, ResultBox(network_, op, r, box)));
        }
        buffer = writer_.NewBuffer(result, target_.layouts[U(result)], {}, bytes, 1);
        if (group.IsSum(p)) lasting_.push_back(buffer);
      }
      buffer_of_[U(result)] = buffer;
      if (resident) chip_.Put(pieces_.of_tensor[U(result)], buffer);
      step.results.push_back(buffer);
    }
    writer_.Emit(block, std::move(step));
    for (BufferId buffer : temporaries) writer_.Close(buffer);
  }

  // The buffer of an operand that dies here and lies exactly as the result will; kNone without one.
  BufferId InPlace(const Group& group, size_t p, const Op& op,
                   const std::unordered_map<TensorId, size_t>& last_use) {
    if (const auto found = taken_over_.find(p); found != taken_over_.end()) {
      taken_.insert(found->second);
      return buffer_of_[U(found->second)];
    }
    if (!IsElementwise(op.opcode) || group.tiles() > 1) return kNone;
    for (ExprId input : op.inputs) {
      const Expr& expr = network_.exprs[U(input)];
      if (expr.movement != Movement::kTensor) continue;
      const PieceId id = pieces_.of_tensor[U(expr.tensor)];
      if (id == kNone || At(id).buffer == kNone || At(id).uses.back() > group_ ||
          last_use.at(expr.tensor) != p || !CanTakeOver(target_, op, expr.tensor)) {
        continue;
      }
      return chip_.Take(id);
    }
    return kNone;
  }

  // Closes buffers of tiles whose last reader was the operator at p.
  void EndLocals(const Group& group, size_t p,
                 const std::unordered_map<TensorId, const Sink*>& sink_of,
                 const std::unordered_map<TensorId, size_t>& last_use) {
    for (size_t q = 0; q <= p; ++q) {
      if (group.IsSum(q)) continue;  // until the last tile
      for (TensorId result : network_.ops[U(group.ops[q])].results) {
        const auto sink = sink_of.find(result);
        if (sink != sink_of.end() && sink->second->resident) continue;
        if (taken_.contains(result)) continue;  // its buffer is another's now
        const auto last = last_use.find(result);
        const size_t end = last == last_use.end() ? q : std::max(q, last->second);
        if (end == p) writer_.Close(buffer_of_[U(result)]);
      }
    }
  }

  // From DRAM to DRAM, operator by operator: what lies on the chip only is stored first.
  void Stream(const Group& group) {
    for (const Need& need : pieces_.needs[U(group_)]) {
      Piece& piece = At(need.piece);
      if (piece.in_dram) continue;
      writer_.StoreWhole(piece.tensor, piece.box, piece.buffer);
      writer_.AccountSpilled(piece.tensor, piece.box);
      chip_.SetInDram(need.piece);
    }
    for (OpId id : group.ops) {
      const Op& op = network_.ops[U(id)];
      Step step;
      step.kind = StepKind::kStream;
      step.op = id;
      step.boxes = {WholeBox(TensorOf(op.results[0]).dimensions)};
      Needs reads;
      ForEachRead(network_, op, step.boxes[0], [&](TensorId tensor, const Box& box) {
        const auto [place, fresh] = reads.try_emplace(tensor, box);
        if (!fresh) place->second = Hull(place->second, box);
      });
      int64_t once = 0;
      for (const auto& [tensor, box] : reads) {
        const int64_t bytes = Elements(box) * TensorOf(tensor).element_bytes;
        plan_.figures.loaded_bytes += bytes;
        once += bytes;
        writer_.SetLoaded(tensor);
      }
      for (TensorId result : op.results) once += TensorOf(result).Bytes();
      const MovedAgain again = MovedAgainOf(network_, target_.machine, op, once);
      plan_.figures.loaded_bytes += again.loaded;
      plan_.figures.stored_bytes += again.stored;
      if (ReadsFromDram(network_, op)) writer_.AccountElements(op, step.boxes);
      for (TensorId result : op.results) {
        plan_.figures.stored_bytes += TensorOf(result).Bytes();
        if (const PieceId piece = pieces_.of_tensor[U(result)]; piece != kNone)
          chip_.SetInDram(piece);
      }
      ++plan_.figures.streamed;
      writer_.Emit(writer_.SingleBlock(), std::move(step));
    }
  }

  const Target& target_;
  const Network& network_;
  const std::vector<Group>& groups_;
  const ScheduleOptions& options_;
  Pieces pieces_;
  std::vector<bool> is_output_;
  std::vector<BufferId> buffer_of_;  // of tensors, in the group at hand
  std::vector<BufferId> passing_;
  std::unordered_map<size_t, TensorId> taken_over_;  // of the group at hand, by operator
  std::unordered_set<TensorId> taken_;               // so far
  std::vector<BufferId> lasting_;  // sums, from the first tile of a block to the last
  Plan plan_;
  PlanWriter writer_;
  OnChip chip_;
  int32_t group_ = 0;
};

}  // namespace

Plan Schedule(const Target& target, const std::vector<Group>& groups,
              const ScheduleOptions& options) {
  return Scheduler(target, groups, options).Run();
}

}  // namespace hone::memory
