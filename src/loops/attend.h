// Attention in one pass: softmax(f(q kT)) v without the matrix of scores.
//
// Queries are taken some at a time, a vector of them, their elements laid out anew so that
// neighbours in a vector are neighbouring queries. Keys pass by in blocks: a block's scores, the
// largest so far, the exponentials, their sums and what they weigh of the values; where the largest
// grows, what was summed up before shrinks (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018; Dao et al., "FlashAttention", 2022). An element of a key or a value is taken
// from where it lies, for all queries of the vector at once.
#ifndef HONE_LOOPS_ATTEND_H_
#define HONE_LOOPS_ATTEND_H_

#include <string>
#include <vector>

#include "loops/own_text.h"

namespace hone::loops {

// What a schedule says of a nest that attends; loops of the nest without a number are not tiled.
//   y parallel 1,1,64,0,0,0    leading loops and queries, which processors share
//   y tile 0,0,32,0,64,0       queries in a vector, and keys in a block
//   y unroll 8                 keys, and later elements of values, whose sums are in registers
struct AttendSizes {
  std::vector<int64_t> parallel;  // 0: not shared
  int64_t queries = 16;
  int64_t keys = 64;
  int64_t registers = 4;
};
AttendSizes AttendSizesOf(const Schedule& schedule, const Nest& nest);

std::string AttendText(const Schedule& schedule, const Nest& nest,
                       const std::vector<std::string>& buffers);

extern const OwnText kAttending;

}  // namespace hone::loops

#endif  // HONE_LOOPS_ATTEND_H_
