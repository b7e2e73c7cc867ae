#include "dataset/similarity.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/result.h"
#include "dataset/union_find.h"

namespace hone::dataset {
namespace {

using Hashes = std::vector<uint64_t>;

uint64_t HashOf(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

uint64_t HashOf(const Hashes& words) {
  return XXH3_64bits(words.data(), words.size() * sizeof(uint64_t));
}

// The instruction alone. A called computation counts with its root, which tells a sum from a
// maximum; its other instructions have neighbourhoods of their own. Callees come before callers.
uint64_t Label(const InstructionInfo& instruction, const Hashes& roots) {
  Hashes words = {HashOf(instruction.opcode), HashOf(instruction.shape.type)};
  for (const uint32_t called : instruction.called) {
    HONE_CHECK(called < roots.size());
    words.push_back(roots[called]);
  }
  return HashOf(words);
}

// A neighbourhood for each instruction: the labels of an instruction and its operands, hashed; then
// again with the operands' hashes in place of their labels, once for each further hop.
Hashes Neighbourhoods(const ComputationInfo& computation, const Hashes& labels) {
  Hashes hashes = labels;
  for (int hop = 0; hop < kHops; ++hop) {
    Hashes wider(hashes.size());
    for (size_t i = 0; i < hashes.size(); ++i) {
      Hashes words = {labels[i]};
      for (const uint32_t operand : computation.instructions[i].operands) {
        HONE_CHECK(operand < hashes.size());
        words.push_back(hashes[operand]);
      }
      wider[i] = HashOf(words);
    }
    hashes = std::move(wider);
  }
  return hashes;
}

}  // namespace

Sketch SketchOf(const ProgramGraph& graph) {
  Sketch sketch;
  sketch.fill(std::numeric_limits<uint64_t>::max());
  std::unordered_map<uint64_t, uint64_t> repeats;
  Hashes roots;
  for (const ComputationInfo& computation : graph.computations) {
    Hashes labels;
    for (const InstructionInfo& instruction : computation.instructions) {
      labels.push_back(Label(instruction, roots));
    }
    roots.push_back(computation.root < labels.size() ? labels[computation.root] : 0);
    for (const uint64_t hash : Neighbourhoods(computation, labels)) {
      const uint64_t element[] = {hash, repeats[hash]++};
      for (size_t i = 0; i < kSketchSize; ++i) {
        sketch[i] =
            std::min<uint64_t>(sketch[i], XXH3_64bits_withSeed(element, sizeof(element), i));
      }
    }
  }
  return sketch;
}

double Similarity(const Sketch& a, const Sketch& b) {
  size_t equal = 0;
  for (size_t i = 0; i < kSketchSize; ++i) equal += a[i] == b[i];
  return static_cast<double>(equal) / kSketchSize;
}

std::vector<std::string> NearDuplicateGroups(const std::vector<Sketched>& programs,
                                             double threshold) {
  UnionFind groups(programs.size());
  for (size_t i = 0; i < programs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (Similarity(programs[i].sketch, programs[j].sketch) >= threshold) groups.Join(i, j);
    }
  }
  std::vector<std::string> smallest(programs.size());
  for (size_t i = 0; i < programs.size(); ++i) {
    std::string& name = smallest[groups.Find(i)];
    if (name.empty() || programs[i].fingerprint < name) name = programs[i].fingerprint;
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < programs.size(); ++i) names.push_back(smallest[groups.Find(i)]);
  return names;
}

}  // namespace hone::dataset
