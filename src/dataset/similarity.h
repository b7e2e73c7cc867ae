// Near-duplicates among programs.
//
// Data sets hold the same network many times: at another width, another batch size, traced twice.
// A learner that was trained on one of them and is tested on the other is not tested. So programs
// are compared without their dimension sizes, and those nearly alike form a group that a split
// keeps together (dataset/split.h).
//
// A program is taken as the set of its instructions' neighbourhoods: opcode and element type of the
// instruction, of its operands, and of theirs (kHops); a neighbourhood that occurs n times is there
// n times, numbered. The likeness of two programs is the Jaccard index of their sets, |A∩B| /
// |A∪B|, estimated from minima of hash functions: A. Broder, On the resemblance and containment of
// documents, 1997. With kSketchSize functions its standard error is √(J(1-J)/128): 0.027 at 0.9.
#ifndef HONE_DATASET_SIMILARITY_H_
#define HONE_DATASET_SIMILARITY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/program_graph.h"

namespace hone::dataset {

inline constexpr size_t kSketchSize = 128;
inline constexpr int kHops = 2;
inline constexpr double kNearDuplicate = 0.9;

// For each hash function the smallest value over the program's set.
using Sketch = std::array<uint64_t, kSketchSize>;

// Depends on the operands' graph, not on names, sizes or the order of instructions.
Sketch SketchOf(const ProgramGraph& graph);

// The estimated Jaccard index: the share of the hash functions with equal minima.
double Similarity(const Sketch& a, const Sketch& b);

struct Sketched {
  std::string fingerprint;
  Sketch sketch;
};

// The name of each program's group: the smallest fingerprint among those that it is joined to by a
// chain of pairs at least as similar as the threshold. Compares all pairs: a second for five
// thousand programs or so.
std::vector<std::string> NearDuplicateGroups(const std::vector<Sketched>& programs,
                                             double threshold = kNearDuplicate);

}  // namespace hone::dataset

#endif  // HONE_DATASET_SIMILARITY_H_
