// A task's operations as perfect loop nests, which is what schedules are about.
//
// An operation becomes one nest or several: a softmax is four, SITE.max, SITE.exp, SITE.sum and
// SITE. Loops of a single iteration are left out, and neighbouring loops that run through memory as
// one are one loop. So the same nest comes of a 1x1 convolution and of a batched matrix product.
#ifndef HONE_LOOPS_NEST_H_
#define HONE_LOOPS_NEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "loops/task.h"

namespace hone::loops {

struct Loop {
  int64_t extent = 1;
  bool reduction = false;

  friend bool operator==(const Loop& a, const Loop& b) {
    return a.extent == b.extent && a.reduction == b.reduction;
  }
};

// An index into one dimension: the sum of coefficient times loop, over all loops of the nest.
using Row = std::vector<int64_t>;

// A tensor, seen in another row-major shape with as many elements, at the place that the rows say.
struct Access {
  int tensor = -1;
  Element element = Element::kF32;  // the tensor's
  std::vector<int64_t> view;
  std::vector<Row> rows;  // one a dimension of the view
  // Less so much, a dimension each; empty: nothing. Of what multiplies or slides, what is outside
  // then is 0; of other nests nothing is outside.
  std::vector<int64_t> low = {};
};

// A node of what is computed for each point of a nest, in this order; the last is the result.
struct Scalar {
  enum Kind : uint8_t {
    kRead,      // the a-th read
    kConstant,  // `value`
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kMaximum,
    kMinimum,
    kExp,
    kLog,
    kTanh,
    kSqrt,
    kRsqrt,
    kNegate,
    kAbs,
    kLogistic,
    kSelect,
    kWhole,  // what a nest that attends, multiplies or slides makes: a score, a sum
    kEqual,  // 1 where it is so, else 0; so the next ones
    kNotEqual,
    kLess,
    kLessEqual,
    kExpm1,
    kLog1p,
  };
  Kind kind = kRead;
  int a = -1;  // index of a node; of kRead: of a read
  int b = -1;
  double value = 0;
  int c = -1;  // of kSelect: a where c is not 0, else b
};

enum class Combine : uint8_t { kNone, kSum, kMaximum, kProduct };  // the last of what accumulates

enum class NestKind : uint8_t {
  kLoops,
  kAttends,      // loops/attend.h
  kMultiplies,   // loops/multiply.h
  kAccumulates,  // loops/accumulate.h
  kSlides,       // loops/depthwise.h
  kSorts,        // loops/sort.h
  kFactors,      // loops/factor.h
};

enum class Factors : uint8_t { kLu, kCholesky, kSolve, kExchanges };

struct Nest {
  std::string site;  // unique in the program: decisions name it
  Element element = Element::kF32;
  std::vector<Loop> loops;
  std::vector<Access> reads;
  Access write;  // each row a single loop; no reduction
  std::vector<Scalar> body;
  Combine combine = Combine::kNone;  // the result with what was there, where there are reductions

  NestKind kind = NestKind::kLoops;
  // Its text is not made of loops by the transform dialect (loops/own_text.h).
  bool own_text() const { return kind != NestKind::kLoops; }

  // Of what attends: reads 0 to 2 are queries, keys and values; the loops are leading ones,
  // queries, elements of a value, keys, elements of a key; the body makes a key's weight of its
  // score, before the softmax. Row s sees the keys up to s + `until`, all where that is -1.
  int64_t until = -1;

  // Of what multiplies: reads 0 and 1 are the operands; the loops are leading ones, so many of
  // rows, one of columns, so many of the sum. In the result the rows' are neighbours, in their
  // order, and columns come last.
  int row_loops = 1, term_loops = 1;

  // Of what accumulates: the second of its two or three loops is what is summed up along, or the
  // maximum taken, from its end on where that is reversed.
  bool reverse = false;

  // Of what slides: reads 0 and 1 are the operands; the loops are batches, positions, features and
  // taps, as many of taps as of positions. The result's dimensions are all but taps, in order.

  // Of what sorts, the second of its two loops: whether the result has positions, not numbers.
  bool positions = false;

  // Of what factors or solves: the loops are matrices, rows of the result, its columns, and rows of
  // the matrix, which read 0 is; read 1, of what solves, are the right sides.
  Factors factors = Factors::kLu;
  bool lower = false, unit = false, transposed = false;  // of what solves

  bool reduces() const { return combine != Combine::kNone; }
};

// The nests of a task, producers first, and all tensors, with what is between operations.
struct Program {
  std::string name;
  std::vector<Tensor> tensors;  // those of the task first
  int inputs = 0;
  std::vector<int> outputs;
  std::vector<Nest> nests;

  int FindSite(std::string_view site) const;  // index of a nest; -1
  int ProducerOf(int tensor) const;           // index of a nest; -1 of inputs
  std::vector<int> ConsumersOf(int tensor) const;
  bool IsOutput(int tensor) const;
};

Program Expand(const Task& task);

// The last dimension that is longer than 1, along which memory runs; the last of all where none is.
size_t LastDimension(const Access& access);

// How many elements apart two neighbours of a loop lie.
double Apart(const Access& access, size_t loop);

// Whether the row is one loop, counted from 0 in steps of 1; which one, or -1.
int PlainLoop(const Row& row);

// Each loop with a block above 0 becomes two: as many blocks, at its place, and what is within a
// block, behind all others, in order. What is read through such loops is laid out anew first, in
// the order of the new loops, by nests SITE.pack0, SITE.pack1, ... before it. The result stays
// where it was. Blocks divide their loops' extents; such loops are plain wherever they occur.
void Pack(Program& program, int nest, const std::vector<int64_t>& blocks);
// Whether a loop may be packed: it is plain wherever it occurs, and runs from end to end.
bool MayPack(const Nest& nest, size_t loop);

}  // namespace hone::loops

#endif  // HONE_LOOPS_NEST_H_
