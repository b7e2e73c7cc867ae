#include "loops/estimate.h"

#include <algorithm>
#include <cmath>

#include "loops/accumulate.h"
#include "loops/attend.h"
#include "loops/multiply.h"

namespace hone::loops {
namespace {

// Of a scalar operation: one element that is read in order, or with a stride; a loop's iteration;
// and beginning a loop that processors share.
constexpr double kInOrder = 0.25;
constexpr double kStrided = 2;
constexpr double kIteration = 0.5;
constexpr double kSharing = 20000;

// Scores, exponentials and what they weigh, in vectors that are full or not.
double CostOfAttending(const Scheduled& scheduled, const Nest& nest, const SiteState& state,
                       const Machine& machine) {
  const AttendSizes sizes = AttendSizesOf(scheduled, nest);
  const size_t rank = nest.loops.size() - 2;
  double points = static_cast<double>(nest.loops[rank].extent);
  for (size_t l = 0; l + 1 < rank; ++l) points *= static_cast<double>(nest.loops[l].extent);
  const double inner =
      static_cast<double>(nest.loops[rank - 1].extent + nest.loops[rank + 1].extent);
  const double lanes =
      static_cast<double>(machine.vector_bytes) / static_cast<double>(InfoOf(nest.element).bytes);
  const double vectors = std::ceil(static_cast<double>(sizes.queries) / lanes);
  const double registers = vectors * static_cast<double>(sizes.registers);
  double multiply = (vectors + static_cast<double>(sizes.registers)) / (2 * registers) + 0.5;
  if (registers + vectors + 1 > machine.vector_registers) multiply *= 2;  // it spills
  const double shrinking = inner / static_cast<double>(sizes.keys);
  const double each = (inner * multiply + shrinking + 20 + static_cast<double>(nest.body.size())) *
                      vectors / static_cast<double>(sizes.queries);
  const double cost = points * each;
  return state.parallel ? cost / machine.threads + kSharing : cost;
}

// Blocks in registers, filled or not, and what packing takes: an operand is packed again for each
// block of the other one.
double CostOfMultiplying(const Scheduled& scheduled, const Nest& nest, const SiteState& state,
                         const Machine& machine) {
  const MultiplySizes sizes = MultiplySizesOf(scheduled.schedule(), nest);
  const MultiplyLoops loops(nest);
  const auto blocks = [](int64_t of, int64_t size) {
    return static_cast<double>((of + size - 1) / size);
  };
  const auto shared = [&](size_t loop, int64_t extent) {
    return sizes.parallel[loop] == 0 ? extent : sizes.parallel[loop];
  };
  double leading = 1;
  for (size_t l = 0; l < loops.first_row; ++l) leading *= static_cast<double>(nest.loops[l].extent);
  const double lanes =
      static_cast<double>(machine.vector_bytes) / static_cast<double>(InfoOf(nest.element).bytes);
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
  const double cost = leading * (multiplying + packing);
  return state.parallel ? cost / machine.threads + kSharing : cost;
}

}  // namespace

double EstimatedCost(const Scheduled& scheduled, const Machine& machine) {
  double cost = 0;
  for (size_t i = 0; i < scheduled.program().nests.size(); ++i) {
    const Nest& nest = scheduled.program().nests[i];
    const SiteState& state = scheduled.states()[i];
    double points = 1;
    for (const Loop& loop : nest.loops) points *= static_cast<double>(loop.extent);
    if (nest.attends) {
      cost += CostOfAttending(scheduled, nest, state, machine);
      continue;
    }
    if (nest.multiplies) {
      cost += CostOfMultiplying(scheduled, nest, state, machine);
      continue;
    }
    if (nest.accumulates) {
      const AccumulateSizes sizes = AccumulateSizesOf(scheduled.schedule(), nest);
      const auto lanes = static_cast<double>(sizes.lanes);
      const double wide =  // a vector of the machine's, or part of one
          std::max(1.0, lanes * static_cast<double>(InfoOf(nest.element).bytes) /
                            static_cast<double>(machine.vector_bytes));
      const double steps = nest.loops.size() == 2 ? 2 * std::log2(lanes) + 5 : 4;
      const double all = points / lanes * wide * steps;
      cost += state.parallel ? all / machine.threads + kSharing : all;
      continue;
    }
    // The innermost loop that has something to run through.
    size_t inner = state.order.back();
    for (size_t l = state.loops.size(); l-- > 0;) {
      if (state.loops[l].extent > 1) {
        inner = state.order[l];
        break;
      }
    }
    double memory = 0;
    for (const Access& read : nest.reads) {
      const double apart = Apart(read, inner);
      const int producer = scheduled.program().ProducerOf(read.tensor);
      const bool near =
          producer >= 0 && scheduled.states()[static_cast<size_t>(producer)].fused_into >= 0;
      if (apart > 0 && !near) memory += apart == 1 ? kInOrder : kStrided;
    }
    const double apart = Apart(nest.write, inner);
    memory += state.fused_into >= 0 || apart == 0 ? 0 : apart == 1 ? kInOrder : kStrided;
    double tile = 1, reused = 0;
    for (const Loop& loop : state.loops) tile *= static_cast<double>(loop.extent);
    double work = static_cast<double>(nest.body.size());
    double iterations = kIteration;
    if (state.vectorized) {
      const double lanes = static_cast<double>(machine.vector_bytes) /
                           static_cast<double>(InfoOf(nest.element).bytes);
      work /= std::min(lanes, tile);
      iterations /= tile;
      // Of a tile in registers each operand is read once.
      double parts = 0;
      for (const Access& read : nest.reads) {
        double part = 1;
        for (size_t l = 0; l < state.loops.size(); ++l) {
          const bool occurs = std::any_of(read.rows.begin(), read.rows.end(),
                                          [&](const Row& row) { return row[state.order[l]] != 0; });
          if (occurs) part *= static_cast<double>(state.loops[l].extent);
        }
        parts += part / tile;
      }
      reused = 1 - std::min(1.0, parts / static_cast<double>(nest.reads.size()));
    }
    if (state.unrolled) iterations /= 2;
    double nest_cost = points * (work + memory * (1 - reused) + iterations);
    // A fused nest runs on the processors of its container.
    const SiteState& around =
        state.fused_into >= 0 ? scheduled.states()[static_cast<size_t>(state.fused_into)] : state;
    if (around.parallel) nest_cost = nest_cost / machine.threads;
    if (state.parallel) nest_cost += kSharing;
    cost += nest_cost;
  }
  return cost;
}

}  // namespace hone::loops
