#include "loops/default_schedule.h"

#include <algorithm>
#include <utility>

#include "loops/own_text.h"

namespace hone::loops {
namespace {

using Numbers = std::vector<int64_t>;

// Bytes of a row that a processor reads: what is shorter is not read ahead.
constexpr int64_t kLeastStrip = 4096;

bool Occurs(const Access& access, size_t loop) {
  return std::any_of(access.rows.begin(), access.rows.end(),
                     [&](const Row& row) { return row[loop] != 0; });
}

// A divisor that fills vectors: two, one, or a half of one; a vector of an odd size is taken to
// pieces.
int64_t BlockOfVectors(int64_t extent, int64_t lanes) {
  for (int64_t size = 2 * lanes; size >= 4; size /= 2) {
    if (extent % size == 0) return size;
  }
  return Scheduled::DivisorUpTo(extent, lanes);
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
    const auto lanes = machine_.Lanes(nest.element);
    const int64_t block_n = BlockOfVectors(nest.loops[n].extent, lanes);
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

    // n outside of m: its panel is the larger one, and stays near while m passes by.
    const size_t count = NestOf(site).loops.size();
    if (m < loops_before && m < n) {
      Numbers order;
      for (size_t i = 0; i < count; ++i) order.push_back(static_cast<int64_t>(i));
      std::rotate(order.begin() + static_cast<ptrdiff_t>(m),
                  order.begin() + static_cast<ptrdiff_t>(n),
                  order.begin() + static_cast<ptrdiff_t>(n) + 1);
      Try(site, StepKind::kInterchange, order);
    }
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

  // A reduction of which nothing runs through memory along what is reduced.
  static bool ReducesColumns(const Nest& nest) {
    return nest.reduces() && !nest.own_text() && PlainLoop(nest.write.rows.back()) >= 0 &&
           std::none_of(nest.reads.begin(), nest.reads.end(), [&](const Access& read) {
             const int loop = PlainLoop(read.rows.back());
             return loop >= 0 && nest.loops[static_cast<size_t>(loop)].reduction;
           });
  }

  // Whatever is no contraction: the loop that runs through memory innermost, reductions around it
  // unless they run through memory themselves; producers within tiles of whole rows.
  void Rows(const std::string& site) {
    const Nest nest = NestOf(site);
    const size_t count = nest.loops.size();
    const int inner = PlainLoop(nest.write.rows.back());
    const bool column_reduction = ReducesColumns(nest);
    if (column_reduction) {
      Numbers order;
      for (size_t i = 0; i < count; ++i) {
        if (!nest.loops[i].reduction && static_cast<int>(i) != inner) {
          order.push_back(static_cast<int64_t>(i));
        }
      }
      for (size_t i = 0; i < count; ++i) {
        if (nest.loops[i].reduction) order.push_back(static_cast<int64_t>(i));
      }
      order.push_back(inner);
      Try(site, StepKind::kInterchange, order);
    }
    Numbers parallel(count, 0);
    Numbers least(count, 0);
    const bool transposes = !nest.reduces() && nest.reads.size() == 1 && inner >= 0 &&
                            PlainLoop(nest.reads[0].rows.back()) >= 0 &&
                            PlainLoop(nest.reads[0].rows.back()) != inner;
    const auto lanes = machine_.Lanes(nest.element);
    if (transposes) {
      const auto other = static_cast<size_t>(PlainLoop(nest.reads[0].rows.back()));
      for (const size_t i : {static_cast<size_t>(inner), other}) {
        least[i] = Scheduled::DivisorUpTo(nest.loops[i].extent, lanes / 2);
      }
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
    const bool fuses = Fusable(site);
    if (fuses && Numbers(count, 0) == parallel && count > 1) parallel[0] = 1;
    Try(site, StepKind::kParallel, parallel);
    if (!fuses) return;
    // A few rows at a time, so that what lies between the nests stays near.
    const SiteState& state = StateOf(site);
    if (count > 1 && state.parallel) {
      Numbers rows(count, 0);
      for (size_t i = 0; i + 1 < count; ++i) rows[i] = 1;
      Try(site, StepKind::kTile, rows);
    }
    FuseProducers(site);
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

  // Whether some producer that is no contraction may be computed within this nest's tiles.
  bool Fusable(const std::string& site) const {
    for (const Access& read : NestOf(site).reads) {
      const int producer = scheduled_.program().ProducerOf(read.tensor);
      if (producer < 0) continue;
      const Nest& made = scheduled_.program().nests[static_cast<size_t>(producer)];
      if (!IsContraction(made) && !ReducesColumns(made)) {
        return true;
      }
    }
    return false;
  }

  void FuseProducers(const std::string& site) {
    for (size_t i = scheduled_.program().nests.size(); i-- > 0;) {
      const Nest& nest = scheduled_.program().nests[i];
      if (nest.site == site || IsContraction(nest) || ReducesColumns(nest)) continue;
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
