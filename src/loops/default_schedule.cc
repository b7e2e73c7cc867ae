#include "loops/default_schedule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "loops/default_rows.h"
#include "loops/own_text.h"

namespace hone::loops {
namespace {

using Numbers = std::vector<int64_t>;

// Bytes of a row that a processor reads: what is shorter is not read ahead.
constexpr int64_t kLeastStrip = 4096;
// Points of a processor's part of rows: fewer take less time than getting them, or as much.
constexpr int64_t kLeastPart = 512, kGoodPart = 2048;

bool Occurs(const Access& access, size_t loop) {
  return std::any_of(access.rows.begin(), access.rows.end(),
                     [&](const Row& row) { return row[loop] != 0; });
}

// A divisor that fills vectors: two or one, or half of one; or all, where that nearly fills two.
// Small where there is none.
int64_t BlockOfVectors(int64_t extent, int64_t lanes) {
  for (const int64_t size : {2 * lanes, lanes}) {
    if (extent % size == 0) return size;
  }
  const int64_t divisor = Scheduled::DivisorUpTo(extent, lanes);
  const bool all = extent <= 2 * lanes && 2 * extent >= 3 * lanes;
  return divisor < lanes / 2 && all ? extent : divisor;
}

class Writer {
 public:
  Writer(const Program& program, const Machine& machine) : scheduled_(program), machine_(machine) {}

  Schedule Write() {
    // Consumers first: what they take in is then no longer theirs to decide.
    std::vector<std::string> sites;
    for (const Nest& nest : scheduled_.program().nests) sites.push_back(nest.site);
    for (size_t i = sites.size(); i-- > 0;) {
      if (StateOf(sites[i]).fused_into >= 0) continue;
      const Nest& nest = NestOf(sites[i]);
      if (nest.own_text()) {
        for (const Step& step : OwnTextOf(nest).by_thumb(nest, machine_)) Try(step);
        continue;
      }
      if (IsContraction(nest) && Contraction(sites[i])) continue;
      Rows(sites[i]);
    }
    return scheduled_.schedule();
  }

 private:
  size_t IndexOf(const std::string& site) const {
    return static_cast<size_t>(scheduled_.program().FindSite(site));
  }
  const Nest& NestOf(const std::string& site) const {
    return scheduled_.program().nests[IndexOf(site)];
  }
  const SiteState& StateOf(const std::string& site) const {
    return scheduled_.states()[IndexOf(site)];
  }
  bool Try(const std::string& site, StepKind kind, Numbers numbers = {},
           const std::string& producer = "") {
    return Try({site, kind, std::move(numbers), producer});
  }
  bool Try(const Step& step) { return scheduled_.May(step) && scheduled_.Apply(step).has_value(); }

  static bool IsContraction(const Nest& nest) {
    return !nest.own_text() && nest.combine == Combine::kSum && nest.reads.size() == 2 &&
           nest.body.size() == 3 && nest.body.back().kind == Scalar::kMultiply;
  }

  // A register block of m times n, where n runs through memory in the result and in one operand,
  // and m occurs in the other. False where there is no such pair.
  bool Contraction(const std::string& site) {
    const Nest& nest = NestOf(site);
    const int last = PlainLoop(nest.write.rows.back());
    if (last < 0) return false;
    const auto n = static_cast<size_t>(last);
    const bool in_first = Occurs(nest.reads[0], n);
    if (in_first == Occurs(nest.reads[1], n)) return false;
    const Access& with_n = nest.reads[in_first ? 0 : 1];
    const Access& with_m = nest.reads[in_first ? 1 : 0];
    size_t m = nest.loops.size();
    for (size_t i = 0; i < nest.loops.size(); ++i) {
      const bool candidate =
          !nest.loops[i].reduction && i != n && Occurs(with_m, i) && !Occurs(with_n, i);
      if (candidate && (m == nest.loops.size() || nest.loops[i].extent > nest.loops[m].extent)) {
        m = i;
      }
    }
    for (const Row& row : with_n.rows) {  // with a stride there is nothing to load at once
      if (row[n] > 1) return false;
    }
    // Sums along memory for one column only: its rows are as good as any order.
    if (m == nest.loops.size() && with_n.rows.back()[n] == 0) return false;
    const auto lanes = machine_.Lanes(nest.element);
    const int64_t block_n = BlockOfVectors(nest.loops[n].extent, lanes);
    if (block_n < std::min(nest.loops[n].extent, lanes / 2)) {
      WithoutBlocks(site, n, with_n.rows.back()[n] == 1);
      return true;
    }
    const int64_t vectors = (block_n + lanes - 1) / lanes;
    const int64_t most_m = std::max<int64_t>(1, (machine_.vector_registers - 8) / vectors);
    const int64_t block_m =
        m < nest.loops.size() ? Scheduled::DivisorUpTo(nest.loops[m].extent, most_m) : 1;

    // Packing pays where an element is taken often, and where rows do not run through memory
    // already.
    Numbers pack(nest.loops.size(), 0);
    const bool runs = PlainLoop(with_n.rows.back()) == last && nest.loops[n].extent <= 1024;
    if (!runs && MayPack(nest, n)) pack[n] = block_n;
    if (m < nest.loops.size() && block_m > 1) pack[m] = block_m;
    for (int64_t& block : pack) {
      const size_t i = static_cast<size_t>(&block - pack.data());
      if (block == nest.loops[i].extent || block < 2) block = 0;
    }
    const bool packed_m = m < nest.loops.size() && pack[m] != 0;
    const bool packed_n = pack[n] != 0;
    const size_t loops_before = nest.loops.size();
    const bool packed = Try(site, StepKind::kPack, pack);

    // n outside of m: its panel is the larger one, and stays near while m passes by. What reduces
    // behind blocks: else MLIR makes no outer products of them.
    const std::vector<Loop> loops = NestOf(site).loops;
    const size_t count = loops.size();
    Numbers order;
    for (const bool reduction : {false, true}) {
      for (size_t i = 0; i < count; ++i) {
        if (loops[i].reduction == reduction) order.push_back(static_cast<int64_t>(i));
      }
    }
    if (m < loops_before && m < n) {
      const auto at = [&](size_t loop) {
        return std::find(order.begin(), order.end(), static_cast<int64_t>(loop));
      };
      std::rotate(at(m), at(n), at(n) + 1);
    }
    Try(site, StepKind::kInterchange, order);
    const SiteState& state = StateOf(site);
    Numbers parallel(count, 0), tile(count, 0), reduce(count, 0);
    bool last_reduction = true;
    for (size_t i = count; i-- > 0;) {
      const size_t loop = state.order[i];
      const int64_t extent = state.loops[i].extent;
      if (state.loops[i].reduction) {
        reduce[i] = last_reduction || extent == 1 ? Scheduled::DivisorUpTo(extent, 8) : 1;
        if (InWindow(NestOf(site), loop))
          reduce[i] = 1;
        else
          last_reduction = false;
        continue;
      }
      if (loop >= loops_before) continue;  // the inside of a block
      tile[i] = loop == n && !packed_n ? block_n : loop == m && !packed_m ? block_m : 1;
    }
    Share(site, tile, &parallel);
    Try(site, StepKind::kParallel, parallel);
    Try(site, StepKind::kTile, tile);
    Try(site, StepKind::kTile, reduce);
    Try(site, StepKind::kVectorize);
    if (packed) {
      for (size_t i = 0; i < 2; ++i) {
        const std::string copy = site + ".pack" + std::to_string(i);
        if (scheduled_.program().FindSite(copy) >= 0) Rows(copy);
      }
    }
    return true;
  }

  // An order of loops: what reduces around the inner one, all others around these.
  static Numbers ReductionsAround(const std::vector<Loop>& loops, size_t inner) {
    Numbers order;
    for (const bool reduction : {false, true}) {
      for (size_t i = 0; i < loops.size(); ++i) {
        if (loops[i].reduction == reduction && i != inner) {
          order.push_back(static_cast<int64_t>(i));
        }
      }
    }
    order.push_back(static_cast<int64_t>(inner));
    return order;
  }

  // A contraction of which no block fills vectors: plain loops, of which LLVM makes vectors with a
  // rest; the loop that runs through memory innermost, where it does in the operand, too.
  void WithoutBlocks(const std::string& site, size_t n, bool runs) {
    const std::vector<Loop> loops = NestOf(site).loops;
    Numbers parallel(loops.size(), 0);
    if (runs) Try(site, StepKind::kInterchange, ReductionsAround(loops, n));
    Numbers least(loops.size(), 0);
    if (runs) least.back() = loops[n].extent;
    Share(site, least, &parallel);
    Try(site, StepKind::kParallel, parallel);
  }

  static bool InWindow(const Nest& nest, size_t loop) { return !MayPack(nest, loop); }

  // Tiles of the outermost loops for the processors, several for each, none smaller than `least`.
  void Share(const std::string& site, const Numbers& least, Numbers* parallel) const {
    const SiteState& state = StateOf(site);
    int64_t points = 1;
    for (const Loop& loop : state.loops) points *= loop.extent;
    const int64_t worth = IsContraction(NestOf(site)) ? kLeastSharedOfContractions : kLeastShared;
    int64_t wanted = machine_.Parts(points / worth, 8);
    for (size_t i = 0; i < state.loops.size() && wanted > 1; ++i) {
      if (state.loops[i].reduction) continue;
      const int64_t extent = state.loops[i].extent;
      const int64_t smallest = i < least.size() && least[i] > 0 ? least[i] : 1;
      // The largest tile that makes as many parts as are wanted.
      int64_t best = extent;
      for (const int64_t size : Scheduled::Divisors(extent, true)) {
        if (size % smallest != 0) continue;
        best = size;
        if (extent / size <= wanted) break;
      }
      if (best == extent) continue;
      (*parallel)[i] = best;
      wanted /= extent / best;
    }
  }

  bool WorthSharing(const Nest& nest) const {
    int64_t points = 1;
    for (const Loop& loop : nest.loops) points *= loop.extent;
    return machine_.Parts(points / kLeastShared, 1) > 1;
  }

  // A reduction of which nothing runs through memory along what is reduced.
  static bool ReducesColumns(const Nest& nest) {
    return nest.reduces() && !nest.own_text() && PlainLoop(nest.write.rows.back()) >= 0 &&
           std::none_of(nest.reads.begin(), nest.reads.end(), [&](const Access& read) {
             const int loop = PlainLoop(read.rows.back());
             return loop >= 0 && nest.loops[static_cast<size_t>(loop)].reduction;
           });
  }

  // A window that moves by one. False where there are no good sizes.
  bool VectorsOfWindows(const std::string& site, size_t inner) {
    const std::optional<WindowTiles> tiles = TilesOfWindows(NestOf(site), inner, machine_);
    if (!tiles) return false;
    Numbers parallel(tiles->results.size(), 0);
    Share(site, tiles->results, &parallel);
    Try(site, StepKind::kParallel, parallel);
    Try(site, StepKind::kTile, tiles->results);
    Try(site, StepKind::kTile, tiles->window);
    Try(site, StepKind::kVectorize);
    return true;
  }

  // Whether a producer that is fused sums up, or one of its own producers does.
  bool TakesReductions(const std::string& site) const {
    const Program& program = scheduled_.program();
    std::vector<size_t> left = {IndexOf(site)};
    std::set<size_t> seen;
    while (!left.empty()) {
      const Nest& nest = program.nests[left.back()];
      left.pop_back();
      for (const Access& read : nest.reads) {
        const int producer = program.ProducerOf(read.tensor);
        if (producer < 0 || !seen.insert(static_cast<size_t>(producer)).second) continue;
        const Nest& made = program.nests[static_cast<size_t>(producer)];
        if (!MayFuse(made) || made.own_text()) continue;
        if (made.reduces()) return true;
        left.push_back(static_cast<size_t>(producer));
      }
    }
    return false;
  }

  // A transposition: memory is read along another loop than it is written along.
  static bool Moves(const Nest& nest) {
    const int inner = PlainLoop(nest.write.rows.back());
    if (nest.own_text() || nest.reduces() || nest.reads.size() != 1 || inner < 0) return false;
    const int read = PlainLoop(nest.reads[0].rows.back());
    return read >= 0 && read != inner;
  }
  bool TakesMoved(const std::string& site) const {
    const Program& program = scheduled_.program();
    const std::vector<Access>& reads = NestOf(site).reads;
    return std::any_of(reads.begin(), reads.end(), [&](const Access& read) {
      const int producer = program.ProducerOf(read.tensor);
      return producer >= 0 && Moves(program.nests[static_cast<size_t>(producer)]);
    });
  }

  // Whatever is no contraction: the loop that runs through memory innermost, reductions around it
  // unless they run through memory themselves; producers within tiles of whole rows.
  void Rows(const std::string& site) {
    const Nest nest = NestOf(site);
    const size_t count = nest.loops.size();
    const int inner = PlainLoop(nest.write.rows.back());
    bool column_reduction = ReducesColumns(nest);
    if (column_reduction) {
      const auto along = static_cast<size_t>(inner);
      if (VectorsOfWindows(site, along)) return;
      // Of what is shared LLVM sees no loops around.
      column_reduction = WorthSharing(nest) || !WindowByWindow(nest, along, machine_);
    }
    if (column_reduction) {
      Try(site, StepKind::kInterchange, ReductionsAround(nest.loops, static_cast<size_t>(inner)));
    }
    Numbers parallel(count, 0);
    Numbers least(count, 0);
    const bool moves = Moves(nest);
    bool transposes = false;
    if (moves) {
      const auto other = static_cast<size_t>(PlainLoop(nest.reads[0].rows.back()));
      const auto square = SquareOf(nest, static_cast<size_t>(inner), other, machine_);
      if (square) {
        transposes = true;
        least[static_cast<size_t>(inner)] = square->first;
        least[other] = square->second;
      }
    }
    const auto lanes = machine_.Lanes(nest.element);
    const bool fuses = !moves && Fusable(site);
    Numbers rows(count, 0);
    bool all_at_once = false;
    if (fuses) {
      const bool sums = TakesReductions(site);
      rows = RowsAtATime(StateOf(site).loops, nest.element, sums);
      all_at_once = AllAtOnce(nest, rows, sums);
      // A row at a time it is never written in another order. It is whole vectors, or unrolled.
      const int64_t row = nest.loops.back().extent;
      if (!sums && TakesMoved(site) && (row >= lanes || row <= lanes / 4)) {
        rows.assign(count, 1);
        rows.back() = 0;
        all_at_once = false;
      }
      if (!column_reduction) least = rows;
      // Parts of a row would each take the sums of all of it.
      if (!column_reduction && sums) least.back() = nest.loops.back().extent;
    }
    if (column_reduction) {
      least.back() = nest.loops[static_cast<size_t>(inner)].extent;
      Share(site, least, &parallel);
      if (parallel == Numbers(count, 0)) parallel.back() = Strip(nest, least.back());
    } else {
      Share(site, least, &parallel);
    }
    if (transposes) {
      // Squares that are read and written a vector at a time.
      Numbers tile = least;
      for (int64_t& size : tile) size = std::max<int64_t>(size, 1);
      Try(site, StepKind::kParallel, parallel);
      Try(site, StepKind::kTile, tile);
      Try(site, StepKind::kVectorize);
      return;
    }
    if (fuses && parallel == Numbers(count, 0)) {
      if (all_at_once && (machine_.threads == 1 || !WorthSharing(nest))) return;
      parallel = PartsOfRows(StateOf(site).loops, rows, machine_.threads == 1 ? 1 : kGoodPart);
      int64_t points = nest.loops.back().extent;
      for (const int64_t size : parallel) points *= std::max<int64_t>(size, 1);
      if (all_at_once && points < kLeastPart) return;
      all_at_once = false;
    }
    Try(site, StepKind::kParallel, parallel);
    if (!fuses) return;
    if (!all_at_once) Try(site, StepKind::kTile, rows);
    FuseProducers(site);
  }

  // Tiles for the processors where no number of rows at a time divides what each would get: more
  // and smaller ones, of whole rows.
  static Numbers PartsOfRows(const std::vector<Loop>& loops, const Numbers& rows, int64_t good) {
    Numbers parallel(loops.size(), 0);
    int64_t points = loops.back().extent;
    for (size_t i = loops.size() - 1; i-- > 0;) {
      if (loops[i].reduction) continue;
      const int64_t each = std::max<int64_t>(rows[i], 1);
      int64_t best = each;
      for (const int64_t size : Scheduled::Divisors(loops[i].extent, true)) {
        if (size % each != 0 || size == loops[i].extent) continue;
        best = size;
        if (size * points >= good) break;
      }
      parallel[i] = best;
      points *= best;
    }
    return parallel;
  }

  // How many columns of a reduction over rows a processor takes: parts of a row that are long
  // enough to be read ahead, as many for each processor. 0: it is not worth sharing.
  int64_t Strip(const Nest& nest, int64_t columns) const {
    double points = 1;
    for (const Loop& loop : nest.loops) points *= static_cast<double>(loop.extent);
    if (machine_.threads == 1 || points < 2 * kLeastShared) return 0;
    const auto least = kLeastStrip / static_cast<int64_t>(InfoOf(nest.element).bytes);
    int64_t best = 0;
    for (int64_t parts = 2 * machine_.threads; parts > 1; --parts) {
      if (columns % parts != 0 || columns / parts < least) continue;
      if (parts % machine_.threads == 0) return columns / parts;
      if (best == 0) best = columns / parts;
    }
    return best;
  }

  static bool MayFuse(const Nest& nest) { return !IsContraction(nest) && !ReducesColumns(nest); }

  // Whether some producer that is no contraction may be computed within this nest's tiles: nothing
  // else takes it.
  bool Fusable(const std::string& site) const {
    const Program& program = scheduled_.program();
    return std::any_of(NestOf(site).reads.begin(), NestOf(site).reads.end(),
                       [&](const Access& read) {
                         const int producer = program.ProducerOf(read.tensor);
                         if (producer < 0 || program.IsOutput(read.tensor)) return false;
                         const Nest& made = program.nests[static_cast<size_t>(producer)];
                         const std::vector<int> consumers = program.ConsumersOf(read.tensor);
                         return MayFuse(made) && !made.own_text() &&
                                std::all_of(consumers.begin(), consumers.end(), [&](int consumer) {
                                  return static_cast<size_t>(consumer) == IndexOf(site);
                                });
                       });
  }

  void FuseProducers(const std::string& site) {
    for (size_t i = scheduled_.program().nests.size(); i-- > 0;) {
      const Nest& nest = scheduled_.program().nests[i];
      if (nest.site == site || !MayFuse(nest)) continue;
      Try(site, StepKind::kFuse, {}, nest.site);
    }
  }

  Scheduled scheduled_;
  const Machine machine_;
};

}  // namespace

Schedule DefaultSchedule(const Program& program, const Machine& machine) {
  return Writer(program, machine).Write();
}

}  // namespace hone::loops
