#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "loops/multiply.h"
#include "loops/multiply_sizes.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostColumns = 64;
constexpr int64_t kFewRows = 256;  // whose results stay in a near cache
constexpr int64_t kPage = 4096;
constexpr int64_t kTiled = MultiplySizes::kTiled;

std::string WhyNot(const Schedule& schedule, const Nest& nest, const SiteState& state,
                   const Step& step) {
  const MultiplyLoops loops(nest);
  const bool parallel = step.kind == StepKind::kParallel;
  if (!parallel && step.kind != StepKind::kTile) {
    return "of what multiplies there is parallel and tile to decide";
  }
  const bool registers = !parallel && state.tiles == 1;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const int64_t size = step.numbers[i];
    if (size == 0) continue;
    if (!loops.Counts(i)) {
      return fmt::format("loop {} counts with those that follow it, at loop {}", i,
                         i < loops.row ? loops.row : loops.term);
    }
    if (parallel && i == loops.term) {
      return fmt::format("loop {} sums up: processors cannot share it", i);
    }
    if (!parallel && i < loops.first_row) return fmt::format("loop {} goes one by one", i);
    if (registers && i == loops.term &&
        (size != MultiplySizes::kPair || step.numbers[loops.row] != kTiled)) {
      return fmt::format("terms go one by one in registers, or two by two for {} rows", kTiled);
    }
    if (registers && i == loops.row && size > MultiplySizes::kMostRows) {
      const bool pairs = step.numbers[loops.term] == MultiplySizes::kPair;
      if (size != kTiled || !MayBeBy(pairs ? Unit::kPairs : Unit::kTiles, nest)) {
        return fmt::format("there are at most {} rows in registers", MultiplySizes::kMostRows);
      }
      if (step.numbers[loops.column] != kTiled) {
        return fmt::format("of {0} rows there are {0} columns", kTiled);
      }
    }
    if (registers && i == loops.column &&
        (size < 4 || size > kMostColumns || (size & (size - 1)) != 0)) {
      return fmt::format("columns in registers are a power of two from 4 to {}", kMostColumns);
    }
    if (!registers && size > loops.Extent(nest, i)) {
      return fmt::format("loop {} has only {} iterations", i, loops.Extent(nest, i));
    }
  }
  if (parallel) return "";
  Schedule after = schedule;
  after.push_back(step);
  const MultiplySizes sizes = MultiplySizesOf(after, nest);
  if (AreFewRows(nest) && !(registers && sizes.AsTiles())) return "";
  const auto fits = [&](const MultiplySizes& of) {
    return of.PackedBytes(nest) <= of.MostPackedBytes();
  };
  if (fits(sizes)) return "";
  // What is packed as tiles may be more. It is said before they are.
  MultiplySizes as_tiles = sizes;
  as_tiles.rows = as_tiles.columns = kTiled;
  if (!registers && MayBeBy(Unit::kTiles, nest) && fits(as_tiles)) return "";
  return fmt::format("what is packed at once takes {} bytes, more than {}", sizes.PackedBytes(nest),
                     sizes.MostPackedBytes());
}

// A size up to `most` whose blocks have the least left over; the largest of these.
int64_t Filled(int64_t extent, int64_t most) {
  int64_t best = std::min(extent, most);
  double least = 2;
  for (int64_t size = best; size >= std::max<int64_t>(1, std::min(extent, most / 2)); --size) {
    const int64_t blocks = (extent + size - 1) / size;
    // A small block loads more for each multiplication, and waits for sums.
    const double cost = static_cast<double>(blocks * size) / static_cast<double>(extent) *
                        (1 + 2 / static_cast<double>(size));
    if (cost < least) {
      least = cost;
      best = size;
    }
  }
  return best;
}

// Rows of the last of several loops that run through memory are read as vectors where a block
// does not end within one.
int64_t RowsInRegisters(const Nest& nest, const MultiplyLoops& loops, int64_t rows, int64_t most) {
  const Access& first = nest.reads[0];
  const bool along =
      loops.first_row < loops.row && first.rows[LastDimension(first)][loops.row] == 1;
  const int64_t divisor = Scheduled::DivisorUpTo(nest.loops[loops.row].extent, most);
  return along && divisor >= 4 ? divisor : Filled(rows, most);
}

// How the work is shared: leading loops one by one, rows and columns in so many parts.
struct Split {
  int64_t rows = 1, columns = 1;
};
struct Shares {
  std::vector<int64_t> parallel;
  int64_t rows, columns;  // of a part
};
// `wanted`: in how many parts at least, if there are leading loops. What is left of it is for rows
// and columns.
Shares SharesOf(const Nest& nest, const MultiplyLoops& loops, int64_t& wanted) {
  Shares shares{std::vector<int64_t>(nest.loops.size(), 0), loops.rows, loops.columns};
  for (size_t i = 0; i < loops.first_row && wanted > 1; ++i) {
    const int64_t extent = nest.loops[i].extent;
    if (extent == 1) continue;
    shares.parallel[i] = 1;
    wanted = (wanted + extent - 1) / extent;
  }
  return shares;
}
Shares SharesOf(const Nest& nest, const MultiplyLoops& loops, int64_t wanted, const Split& split) {
  Shares shares = SharesOf(nest, loops, wanted);
  if (wanted > 1) {
    shares.rows = (loops.rows + split.rows - 1) / split.rows;
    shares.columns = (loops.columns + split.columns - 1) / split.columns;
  }
  return shares;
}
// No part ends within a block.
void EndWithBlocks(Shares& shares, const MultiplyLoops& loops, int64_t rows, int64_t columns) {
  shares.rows = std::min(loops.rows, RoundedUp(shares.rows, rows));
  shares.columns = std::min(loops.columns, RoundedUp(shares.columns, columns));
  if (shares.rows < loops.rows) shares.parallel[loops.row] = shares.rows;
  if (shares.columns < loops.columns) shares.parallel[loops.column] = shares.columns;
}

Schedule ScheduleOf(const Nest& nest, const Shares& shares, const std::vector<int64_t>& packed,
                    const std::vector<int64_t>& registers) {
  return {{nest.site, StepKind::kParallel, shares.parallel, ""},
          {nest.site, StepKind::kTile, packed, ""},
          {nest.site, StepKind::kTile, registers, ""}};
}

int64_t PointsOf(const Nest& nest) {
  int64_t points = 1;
  for (const Loop& loop : nest.loops) points *= loop.extent;
  return points;
}

// Threads begin late: of what is soon over, several parts for each.
int64_t MostParts(const Nest& nest, const Machine& machine) {
  constexpr int64_t kSoonOver = 1 << 28, kLeastOfPart = 1 << 17;
  const int64_t points = PointsOf(nest);
  return machine.Parts(points / kLeastOfPart, points < kSoonOver * machine.threads ? 4 : 2);
}

// All taps of as many features as make up to so many terms.
int64_t WholeTaps(const Nest& nest, const MultiplyLoops& loops, int64_t terms) {
  MultiplySizes sizes;
  sizes.packed_terms = std::min(terms, loops.terms);
  return std::min(loops.terms, sizes.AtOnce(nest).outer * sizes.AtOnce(nest).inner);
}

// Whether some columns of the second operand lie on more pages than a processor knows at a time.
bool LiesOnManyPages(const Nest& nest) {
  constexpr int64_t kKnown = 2048;
  const MultiplyLoops loops(nest);
  const Access& access = nest.reads[1];
  const auto bytes = static_cast<int64_t>(InfoOf(access.element).bytes);
  return LoopAlong(access) == static_cast<int>(loops.column) &&
         loops.terms * std::min(access.view.back() * bytes, kPage) > kKnown * kPage;
}

// Whole sums where they are not long; of pieces fewer terms, for all of a block's add up in one sum
// and are less exact the more there are. A third of what may be packed is for rows.
Schedule TilesByThumb(Unit unit, const Nest& nest, const Machine& machine, const Split& split) {
  const int64_t most_terms =
      InfoOf(nest.reads[0].element).pieces * InfoOf(nest.reads[1].element).pieces == 1 ? 1024 : 512;
  const MultiplyLoops loops(nest);
  Shares shares = SharesOf(nest, loops, MostParts(nest, machine), split);
  EndWithBlocks(shares, loops, kTiled, kTiled);
  std::vector<int64_t> packed(nest.loops.size(), 0), registers = packed;
  registers[loops.row] = registers[loops.column] = kTiled;
  if (unit == Unit::kPairs) registers[loops.term] = MultiplySizes::kPair;
  const int64_t inner = nest.loops[loops.term].extent;
  const int64_t blocks = (inner + most_terms - 1) / most_terms;
  const int64_t outer =
      std::clamp<int64_t>(most_terms / RoundedUp(inner, kTiled), 1, loops.terms / inner);
  packed[loops.term] = TapsLie(nest) ? WholeTaps(nest, loops, most_terms)
                       : blocks > 1  ? RoundedUp((inner + blocks - 1) / blocks, kTiled)
                                     : outer * inner;
  MultiplySizes sizes;
  sizes.packed_terms = packed[loops.term];
  const auto fitting = [&](size_t read, int64_t bytes, int64_t lines) {
    const int64_t blocks_of_lines = bytes / (kTiled * sizes.LineBytesAsTiles(nest, read));
    return std::min(lines, std::max<int64_t>(1, blocks_of_lines) * kTiled);
  };
  constexpr int64_t kOfColumns = MultiplySizes::kMostPackedAsTiles * 2 / 3;
  if (shares.rows <= kFewRows && loops.terms == inner && LiesOnManyPages(nest)) {
    // Whole pages, so that each is found once, and fewer terms.
    const ElementInfo& info = InfoOf(nest.reads[1].element);
    const int64_t columns = RoundedUp(
        std::min<int64_t>(shares.columns, kPage / static_cast<int64_t>(info.bytes)), kTiled);
    const int64_t tiles = kOfColumns / (columns * 2 * info.pieces * kTiled);
    packed[loops.term] = std::min(packed[loops.term], std::max<int64_t>(1, tiles) * kTiled);
    sizes.packed_terms = packed[loops.term];
  }
  packed[loops.row] = fitting(0, MultiplySizes::kMostPackedAsTiles / 3, shares.rows);
  packed[loops.column] = fitting(1, kOfColumns, shares.columns);
  return ScheduleOf(nest, shares, packed, registers);
}

// Two vectors of columns, rows as registers allow, fewer where they then fill blocks better.
Schedule VectorsByThumb(const Nest& nest, const Machine& machine, const Split& split) {
  constexpr int64_t kTerms = 256;
  const MultiplyLoops loops(nest);
  const auto bytes = static_cast<int64_t>(InfoOf(nest.element).bytes);
  const int64_t lanes = machine.Lanes(nest.element);
  const int64_t vectors = loops.columns <= lanes ? 1 : 2;
  const int64_t most = std::min<int64_t>((machine.vector_registers - 2 - vectors) / vectors, 8);
  Shares shares = SharesOf(nest, loops, MostParts(nest, machine), split);
  std::vector<int64_t> packed(nest.loops.size(), 0), registers = packed;
  // Of fewer columns than a vector has, no more than they need: what is padding is packed, and the
  // rest is cut off element by element.
  registers[loops.column] = std::max<int64_t>(4, vectors * lanes);
  while (registers[loops.column] / 2 >= std::max<int64_t>(4, loops.columns)) {
    registers[loops.column] /= 2;
  }
  registers[loops.row] = RowsInRegisters(nest, loops, shares.rows, most);
  EndWithBlocks(shares, loops, registers[loops.row], registers[loops.column]);
  // A third of what may be packed is for rows.
  const int64_t most_packed = MultiplySizes::kMostPackedBytes / bytes;
  const int64_t inner = nest.loops[loops.term].extent;
  packed[loops.term] = TapsLie(nest)     ? WholeTaps(nest, loops, kTerms)
                       : inner >= kTerms ? kTerms
                                         : std::min(loops.terms, kTerms / inner * inner);
  const int64_t terms = (packed[loops.term] + 31) / 16 * 16;
  MultiplySizes sizes;
  sizes.rows = registers[loops.row];
  const int64_t panels = most_packed / 3 / terms / sizes.RowsApart();
  packed[loops.row] = std::min(shares.rows, panels * registers[loops.row]);
  packed[loops.column] =
      std::min(shares.columns,
               most_packed * 2 / 3 / terms / registers[loops.column] * registers[loops.column]);
  return ScheduleOf(nest, shares, packed, registers);
}

// All rows in registers, and as many columns as make runs of memory; or a square of columns and
// terms. Terms lie in lines of memory, few enough to be read ahead.
Schedule InPlaceByThumb(const Nest& nest, const Machine& machine) {
  constexpr int64_t kLines = 32, kLeastRead = 1 << 17, kLeastColumns = 128;
  const MultiplyLoops loops(nest);
  const bool along_terms = LoopAlong(nest.reads[1]) == static_cast<int>(loops.term);
  const int64_t lanes = machine.Lanes(nest.element);
  int64_t wanted = machine.Parts(PointsOf(nest) / kLeastRead, /*each=*/1);
  Shares shares = SharesOf(nest, loops, wanted);
  for (; wanted > 1 && shares.columns >= 2 * kLeastColumns; wanted = (wanted + 1) / 2) {
    shares.columns = (shares.columns + 1) / 2;
  }
  std::vector<int64_t> packed(nest.loops.size(), 0), registers = packed;
  registers[loops.row] = loops.rows;
  registers[loops.column] =
      along_terms ? lanes : std::min(kMostColumns, (loops.rows <= 2 ? 4 : 2) * lanes);
  EndWithBlocks(shares, loops, registers[loops.row], registers[loops.column]);
  packed[loops.row] = loops.rows;
  packed[loops.column] = shares.columns;
  packed[loops.term] = along_terms ? loops.terms : std::min(loops.terms, kLines);
  return ScheduleOf(nest, shares, packed, registers);
}

// Rows and columns that are shared, and in parts of how many.
struct Extents {
  int64_t rows, columns, part_rows, part_columns;
};
Extents ExtentsOf(const MultiplySizes& sizes, const MultiplyLoops& loops) {
  const auto part = [&](size_t loop, int64_t extent) {
    return sizes.parallel[loop] == 0 ? extent : sizes.parallel[loop];
  };
  return {loops.rows, loops.columns, part(loops.row, loops.rows),
          part(loops.column, loops.columns)};
}

double Blocks(int64_t of, int64_t size) { return static_cast<double>((of + size - 1) / size); }

// Cycles, about: blocks in registers, filled or not, and what packing takes. An operand is packed
// again for each block of the other one.
double CyclesOf(const Extents& of, const MultiplySizes& sizes, const Nest& nest,
                const Machine& machine) {
  const MultiplyLoops loops(nest);
  const auto lanes = static_cast<double>(machine.Lanes(nest.element));
  const double vectors = std::ceil(static_cast<double>(sizes.columns) / lanes);
  const double registers = vectors * static_cast<double>(sizes.rows);
  double term = std::max(registers, vectors + static_cast<double>(sizes.rows)) / 2;
  if (registers + vectors + 1 > machine.vector_registers) term *= 2;  // it spills
  const auto pieces = [&](size_t read) { return InfoOf(nest.reads[read].element).pieces; };
  if (sizes.unit() == Unit::kTiles) {  // four products of tiles of 32 terms, 16 cycles each
    term = 2 * static_cast<double>(std::min<int64_t>(pieces(0) * pieces(1), 6));
  } else if (sizes.unit() == Unit::kPairs) {
    term = registers * machine.pair_cycles / static_cast<double>(MultiplySizes::kPair);
  }
  const int64_t inner = nest.loops[loops.term].extent;
  const auto terms = static_cast<double>(
      sizes.AsTiles() ? loops.terms / inner * RoundedUp(inner, kTiled) : loops.terms);
  const double times = Blocks(loops.terms, sizes.packed_terms);
  const double multiplying = Blocks(of.rows, sizes.rows) * Blocks(of.columns, sizes.columns) *
                             (terms * term + times * 2 * registers);
  constexpr double kPacked = 0.4;  // an element; of what is in tiles, of each piece
  constexpr double kLying = 0.3;   // one that is read where it lies, and lies in no near cache
  constexpr int64_t kNearCache = 1 << 19;
  const bool lies_near =
      of.rows * loops.terms * static_cast<int64_t>(InfoOf(nest.element).bytes) <= kNearCache;
  const auto packed = [&](size_t read) {
    if (sizes.AsTiles()) return kPacked * static_cast<double>(pieces(read));
    if (AreFewRows(nest)) return 0.0;
    if (read == 1 || !RowsLie(nest)) return kPacked;
    return lies_near ? 0 : kLying;
  };
  const double packing =
      terms * (packed(1) * static_cast<double>(of.columns) * Blocks(of.rows, of.part_rows) +
               packed(0) * static_cast<double>(of.rows) *
                   Blocks(of.columns, std::min(of.part_columns, sizes.packed_columns)));
  return multiplying + packing;
}

double Cost(const Schedule& schedule, const Nest& nest, const Machine& machine) {
  const MultiplySizes sizes = MultiplySizesOf(schedule, nest);
  const MultiplyLoops loops(nest);
  double leading = 1;
  for (size_t l = 0; l < loops.first_row; ++l) leading *= static_cast<double>(nest.loops[l].extent);
  return leading * CyclesOf(ExtentsOf(sizes, loops), sizes, nest, machine);
}

constexpr double kLate = 6000;  // cycles after which the other threads begin

// When the last of equal parts is done, where whoever is free takes the next one.
double WhenDone(int64_t parts, double each, int threads) {
  const auto by = [&](double time) {  // how many, with a little for what was rounded
    const auto one = [&](double since) { return std::floor(std::max(0.0, since) / each + 1e-9); };
    return one(time) + (threads - 1) * one(time - kLate);
  };
  double least = static_cast<double>(parts) * each;
  const double fewest = std::floor(static_cast<double>(parts / threads) - kLate / each - 1);
  for (double count = std::max(0.0, fewest); count * each < least; ++count) {
    for (const double time : {count * each, kLate + count * each}) {
      if (time < least && by(time) >= static_cast<double>(parts)) least = time;
    }
  }
  return least;
}

// The same for a schedule. No thread is as fast as another.
double CyclesShared(const Schedule& schedule, const Nest& nest, const Machine& machine) {
  constexpr double kPart = 500, kUneven = 0.1;
  const MultiplySizes sizes = MultiplySizesOf(schedule, nest);
  const MultiplyLoops loops(nest);
  Extents part = ExtentsOf(sizes, loops);
  int64_t parts = (loops.rows + part.part_rows - 1) / part.part_rows *
                  ((loops.columns + part.part_columns - 1) / part.part_columns);
  double together = 1;
  for (size_t l = 0; l < loops.first_row; ++l) {
    if (sizes.parallel[l] == 0) together *= static_cast<double>(nest.loops[l].extent);
    if (sizes.parallel[l] != 0) parts *= nest.loops[l].extent;
  }
  part.rows = part.part_rows;
  part.columns = part.part_columns;
  const double each = together * CyclesOf(part, sizes, nest, machine) + kPart;
  if (parts == 1 || machine.threads == 1) return each * static_cast<double>(parts);
  return WhenDone(parts, each, machine.threads) + kUneven * each;
}

// What is expected to be done first: by which unit, rows and columns in how many parts.
Schedule ByThumb(const Nest& nest, const Machine& machine) {
  if (AreFewRows(nest)) return InPlaceByThumb(nest, machine);
  const int64_t most = MostParts(nest, machine);
  Schedule best;
  double least = 0;
  const auto consider = [&](Schedule schedule) {
    const double cycles = CyclesShared(schedule, nest, machine);
    if (!best.empty() && cycles >= least) return;
    least = cycles;
    best = std::move(schedule);
  };
  for (int64_t rows = 1; rows <= most; ++rows) {
    for (int64_t columns = 1; rows * columns <= most; ++columns) {
      consider(VectorsByThumb(nest, machine, {rows, columns}));
      for (const Unit unit : {Unit::kPairs, Unit::kTiles}) {
        if (!machine.Has(unit) || !MayBeBy(unit, nest)) continue;
        consider(TilesByThumb(unit, nest, machine, {rows, columns}));
      }
    }
  }
  return best;
}

}  // namespace

const OwnText kMultiplying = {WhyNot, ByThumb, Cost, MultiplyText};

}  // namespace hone::loops
