// Sums of arrays that were padded with zeros to one size, as gradients of slices are, and what
// interleaves arrays.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/concatenations.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/padded.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kFewInAll = 256;
constexpr int64_t kLeastPads = 2;
constexpr size_t kMostPads = 16;
constexpr int64_t kMostApart = 8;

bool AddsAlike(const HloInstruction& value, HloOpcode adds) {
  return value.opcode() == adds && emit::Free(value);
}

// What a tree of additions adds up, in order.
void FindTerms(HloInstruction* value, HloOpcode adds, std::vector<HloInstruction*>& terms) {
  for (HloInstruction* operand : value->operands()) {
    if (AddsAlike(*operand, adds) && operand->user_count() == 1) {
      FindTerms(operand, adds, terms);
    } else {
      terms.push_back(operand);
    }
  }
}

HloInstruction* SumOf(const std::vector<HloInstruction*>& terms, HloOpcode adds) {
  HloInstruction* sum = nullptr;
  for (HloInstruction* term : terms) sum = emit::AddTo(sum, term, adds);
  return sum;
}

// Makes a sum of padded arrays of parts of them.
class Joiner {
 public:
  Joiner(HloInstruction* root, bool kernels)
      : root_(root), adds_(root->opcode()), kernels_(kernels) {}

  // Of those along one dimension, elements of which are so far apart: each remainder of their
  // places by itself, and these interleaved.
  HloInstruction* Sum(const std::vector<Padded>& parts, int64_t apart) const {
    const int64_t dimension = parts[0].dimension, size = root_->shape().dimensions(dimension);
    if (apart == 1) return OnItsOwn(Dense(parts, size));
    const int64_t each = (size + apart - 1) / apart;
    std::vector<HloInstruction*> remainders;
    for (int64_t remainder = 0; remainder < apart; ++remainder) {
      std::vector<Padded> here;
      for (Padded part : parts) {
        if (part.first % apart != remainder) continue;
        part.first /= apart;
        here.push_back(part);
      }
      remainders.push_back(here.empty() ? Zeros(dimension, each) : Dense(here, each));
    }
    std::vector<int64_t> factors(static_cast<size_t>(RankOf(*root_)), 1);
    factors[dimension] = apart;
    HloInstruction* const whole = emit::Interleave(remainders, factors);  // reshaped at the end
    return emit::SliceAlong(
        emit::Reshape(OnItsOwn(whole->mutable_operand(0)), emit::SizesOf(*whole)), dimension, 0,
        size);
  }

 private:
  HloInstruction* OnItsOwn(HloInstruction* whole) const {
    return kernels_ && whole->opcode() == HloOpcode::kConcatenate ? ConcatenationKernel(whole)
                                                                  : whole;
  }

  HloInstruction* Zeros(int64_t dimension, int64_t size) const {
    std::vector<int64_t> sizes = emit::SizesOf(*root_);
    sizes[dimension] = size;
    HloInstruction* const zero = emit::Zero(root_->parent(), root_->shape().element_type());
    return emit::Broadcast(zero, sizes, {});
  }

  // Of those whose elements are one behind the other: piece by piece, between the places where one
  // of them begins or ends.
  HloInstruction* Dense(const std::vector<Padded>& parts, int64_t size) const {
    const int64_t dimension = parts[0].dimension;
    std::vector<int64_t> cuts = {0, size};
    for (const Padded& part : parts) {
      cuts.push_back(part.first);
      cuts.push_back(part.first + part.size());
    }
    absl::c_sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<HloInstruction*> pieces;
    for (size_t c = 0; c + 1 < cuts.size(); ++c) {
      std::vector<HloInstruction*> terms;
      for (const Padded& part : parts) {
        const int64_t from = cuts[c] - part.first, to = cuts[c + 1] - part.first;
        if (from < 0 || to > part.size()) continue;
        terms.push_back(emit::SliceAlong(part.array, dimension, from, to));
      }
      pieces.push_back(terms.empty() ? Zeros(dimension, cuts[c + 1] - cuts[c])
                                     : SumOf(terms, adds_));
    }
    return pieces.size() == 1 ? pieces[0] : emit::Concatenate(pieces, dimension);
  }

  HloInstruction* const root_;
  const HloOpcode adds_;
  const bool kernels_;
};

// A term of a sum, and what it is padded from, if it is.
struct Term {
  HloInstruction* whole = nullptr;
  std::optional<Padded> padded;
};

// Whether it can be put together with others along the dimension, so far apart.
bool Fits(const Term& term, int64_t dimension, int64_t apart) {
  return term.padded && term.padded->dimension == dimension && term.padded->IsApart(apart);
}

// Takes what is padded along one dimension, with as many places between elements, out of the terms:
// the most that there are.
std::vector<Padded> TakeAlike(std::vector<Term>& terms, int64_t& apart) {
  int64_t most = 0, dimension = 0;
  for (const auto& [whole, padded] : terms) {
    if (!padded || padded->apart > kMostApart) continue;
    const int64_t count = absl::c_count_if(terms, [&padded = *padded](const Term& one) {
      return Fits(one, padded.dimension, padded.apart);
    });
    if (count <= most) continue;
    most = count;
    dimension = padded->dimension;
    apart = padded->apart;
  }
  std::vector<Padded> taken;
  if (most < kLeastPads) return taken;
  std::vector<Term> others;
  for (const Term& term : terms) {
    if (taken.size() < kMostPads && Fits(term, dimension, apart)) {
      taken.push_back(*term.padded);
    } else {
      others.push_back(term);
    }
  }
  terms = std::move(others);
  return taken;
}

}  // namespace

// A sum of arrays that are padded with zeros, put together from parts of them. XLA:CPU asks of each
// element of the sum, for each array, whether it is in the padding.
absl::StatusOr<HloInstruction*> PaddedSums(HloInstruction* root) {
  const HloOpcode adds = root->opcode();
  if (!emit::Free(*root) || IsInOneKernel(*root->parent()) ||
      xla::ShapeUtil::ElementsIn(root->shape()) < kFewInAll) {
    return nullptr;
  }
  const std::vector<HloInstruction*> users = root->users();
  if (users.size() == 1 && AddsAlike(*users[0], adds)) return nullptr;  // there, with more
  std::vector<HloInstruction*> all, wholes;
  FindTerms(root, adds, all);
  std::vector<Term> terms;
  for (HloInstruction* term : all) terms.push_back({term, PaddedOf(term, adds)});
  const Joiner joiner(root, OthersMayTakeItIn(*root));
  int64_t apart = 1;
  while (true) {
    const std::vector<Padded> parts = TakeAlike(terms, apart);
    if (parts.empty()) break;
    wholes.push_back(joiner.Sum(parts, apart));
  }
  if (wholes.empty()) return nullptr;
  for (const Term& term : terms) wholes.push_back(term.whole);
  return SumOf(wholes, adds);
}

}  // namespace hone::compiler
