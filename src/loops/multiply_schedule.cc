#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loops/multiply.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostColumns = 64;

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
    if (registers && i == loops.term) return "terms go one by one in registers";
    if (registers && i == loops.row && size > MultiplySizes::kMostRows) {
      return fmt::format("there are at most {} rows in registers", MultiplySizes::kMostRows);
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
  const int64_t bytes =
      MultiplySizesOf(after, nest).Packed() * static_cast<int64_t>(InfoOf(nest.element).bytes);
  return bytes > MultiplySizes::kMostPackedBytes
             ? fmt::format("what is packed at once takes {} bytes, more than {}", bytes,
                           MultiplySizes::kMostPackedBytes)
             : "";
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

// Two vectors of columns, rows as registers allow, fewer where they then fill blocks better;
// parts that processors share are large, for what is packed is packed in each.
Schedule ByThumb(const Nest& nest, const Machine& machine) {
  constexpr int64_t kTerms = 256, kLeastRows = 64, kLeastColumns = 128, kSoonOver = 1 << 28;
  const MultiplyLoops loops(nest);
  const auto bytes = static_cast<int64_t>(InfoOf(nest.element).bytes);
  const int64_t lanes = machine.Lanes(nest.element);
  const int64_t vectors = loops.columns <= lanes ? 1 : 2;
  const int64_t most = std::min<int64_t>((machine.vector_registers - 2 - vectors) / vectors, 8);
  std::vector<int64_t> parallel(nest.loops.size(), 0), packed(nest.loops.size(), 0),
      registers = packed;
  int64_t points = loops.rows * loops.columns * loops.terms;
  for (size_t i = 0; i < loops.first_row; ++i) points *= nest.loops[i].extent;
  // Threads begin late: of what is soon over, several parts for each.
  const int64_t each = points < kSoonOver * machine.threads ? 4 : 2;
  int64_t wanted = machine.Parts(points / kLeastSharedOfContractions, each);
  for (size_t i = 0; i < loops.first_row && wanted > 1; ++i) {
    const int64_t extent = nest.loops[i].extent;
    if (extent == 1) continue;
    parallel[i] = 1;
    wanted = (wanted + extent - 1) / extent;
  }
  int64_t rows = loops.rows, columns = loops.columns;
  while (wanted > 1) {  // the longer one is halved
    wanted = (wanted + 1) / 2;
    const bool of_rows = rows * kLeastColumns >= columns * kLeastRows;
    if (of_rows ? rows < 2 * kLeastRows : columns < 2 * kLeastColumns) break;
    (of_rows ? rows : columns) = ((of_rows ? rows : columns) + 1) / 2;
  }
  registers[loops.column] = std::max<int64_t>(4, vectors * lanes);
  registers[loops.row] = RowsInRegisters(nest, loops, rows, most);
  // No part ends within a block.
  const auto rounded = [](int64_t size, int64_t block, int64_t extent) {
    return std::min(extent, (size + block - 1) / block * block);
  };
  rows = rounded(rows, registers[loops.row], loops.rows);
  columns = rounded(columns, registers[loops.column], loops.columns);
  if (rows < loops.rows) parallel[loops.row] = rows;
  if (columns < loops.columns) parallel[loops.column] = columns;
  // A third of what may be packed is for rows.
  const int64_t most_packed = MultiplySizes::kMostPackedBytes / bytes;
  const int64_t inner = nest.loops[loops.term].extent;
  packed[loops.term] = inner >= kTerms ? kTerms : std::min(loops.terms, kTerms / inner * inner);
  const int64_t terms = (packed[loops.term] + 31) / 16 * 16;
  MultiplySizes sizes;
  sizes.rows = registers[loops.row];
  const int64_t panels = most_packed / 3 / terms / sizes.RowsApart();
  packed[loops.row] = std::min(rows, panels * registers[loops.row]);
  packed[loops.column] = std::min(
      columns, most_packed * 2 / 3 / terms / registers[loops.column] * registers[loops.column]);
  return {{nest.site, StepKind::kParallel, parallel, ""},
          {nest.site, StepKind::kTile, packed, ""},
          {nest.site, StepKind::kTile, registers, ""}};
}

// Blocks in registers, filled or not, and what packing takes: an operand is packed again for each
// block of the other one.
double Cost(const Schedule& schedule, const Nest& nest, const Machine& machine) {
  const MultiplySizes sizes = MultiplySizesOf(schedule, nest);
  const MultiplyLoops loops(nest);
  const auto blocks = [](int64_t of, int64_t size) {
    return static_cast<double>((of + size - 1) / size);
  };
  const auto shared = [&](size_t loop, int64_t extent) {
    return sizes.parallel[loop] == 0 ? extent : sizes.parallel[loop];
  };
  double leading = 1;
  for (size_t l = 0; l < loops.first_row; ++l) leading *= static_cast<double>(nest.loops[l].extent);
  const auto lanes = static_cast<double>(machine.Lanes(nest.element));
  const double vectors = std::ceil(static_cast<double>(sizes.columns) / lanes);
  const double registers = vectors * static_cast<double>(sizes.rows);
  double term = std::max(registers, vectors + static_cast<double>(sizes.rows)) / 2;
  if (registers + vectors + 1 > machine.vector_registers) term *= 2;  // it spills
  const auto terms = static_cast<double>(loops.terms);
  const double times = blocks(loops.terms, sizes.packed_terms);
  const double multiplying = blocks(loops.rows, sizes.rows) * blocks(loops.columns, sizes.columns) *
                             (terms * term + times * 2 * registers);
  constexpr double kPacked = 0.3;
  const int64_t columns = shared(loops.column, loops.columns);
  const double packing =
      kPacked * terms *
      (static_cast<double>(loops.columns) * blocks(loops.rows, shared(loops.row, loops.rows)) +
       static_cast<double>(loops.rows) *
           blocks(loops.columns, std::min(columns, sizes.packed_columns)));
  return leading * (multiplying + packing);
}

}  // namespace

MultiplyLoops::MultiplyLoops(const Nest& nest) {
  term = nest.loops.size() - 1;
  first_term = nest.loops.size() - static_cast<size_t>(nest.term_loops);
  column = first_term - 1;
  row = column - 1;
  first_row = column - static_cast<size_t>(nest.row_loops);
  rows = terms = 1;
  columns = nest.loops[column].extent;
  for (size_t l = first_row; l <= row; ++l) rows *= nest.loops[l].extent;
  for (size_t l = first_term; l <= term; ++l) terms *= nest.loops[l].extent;
}

int64_t MultiplySizes::RowsApart() const {
  int64_t apart = 1;
  while (apart < rows) apart *= 2;
  return apart;
}

int64_t MultiplySizes::Packed() const {
  const int64_t terms = RoundedUp(packed_terms, kMostTransposed) + kMostTransposed;
  return (RoundedUp(packed_rows, rows) / rows * RowsApart() + RoundedUp(packed_columns, columns)) *
         terms;
}

MultiplySizes MultiplySizesOf(const Schedule& schedule, const Nest& nest) {
  MultiplySizes sizes;
  const MultiplyLoops loops(nest);
  sizes.parallel.assign(nest.loops.size(), 0);
  bool packed = false;
  for (const Step& step : schedule) {
    if (step.site != nest.site) continue;
    if (step.kind == StepKind::kParallel) sizes.parallel = step.numbers;
    if (step.kind != StepKind::kTile) continue;
    const auto set = [&](size_t loop, int64_t& size) {
      if (step.numbers[loop] != 0) size = step.numbers[loop];
    };
    set(loops.row, packed ? sizes.rows : sizes.packed_rows);
    set(loops.column, packed ? sizes.columns : sizes.packed_columns);
    if (!packed) set(loops.term, sizes.packed_terms);
    packed = true;
  }
  return sizes;
}

const OwnText kMultiplying = {WhyNot, ByThumb, Cost, MultiplyText};

}  // namespace hone::loops
