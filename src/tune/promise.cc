#include "tune/promise.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/native_kernel.h"

namespace hone::tune {
namespace {

// Of what kernels with an opcode take: that their instructions are meant is not known.
constexpr double kAlikeShare = 0.1;

}  // namespace

double Promise(const KernelShares& shares, const Alternative& alternative) {
  double named = 0, alike = 0;
  for (const std::string& name : alternative.instructions) named += shares.OfInstruction(name);
  for (const std::string& opcode : alternative.opcodes) {
    alike = std::max(alike, shares.OfOpcode(opcode));
  }
  return std::min(1.0, named) + kAlikeShare * alike;
}

double Promise(const KernelShares& shares, const std::vector<Alternative>& alternatives,
               const std::string& name) {
  double most = 0;
  for (const Alternative& alternative : alternatives) {
    if (alternative.name == name) most = std::max(most, Promise(shares, alternative));
  }
  return most;
}

std::vector<Alternative> DearestFirst(const KernelShares& shares,
                                      std::vector<Alternative> alternatives) {
  const auto tenths = [&](const Alternative& one) {
    return std::lround(10 * Promise(shares, one));
  };
  std::stable_sort(alternatives.begin(), alternatives.end(),
                   [&](const Alternative& a, const Alternative& b) {
                     if (a.large != b.large) return b.large;
                     if (tenths(a) != tenths(b)) return tenths(a) > tenths(b);
                     return loops::MakesKernels(a.name) && !loops::MakesKernels(b.name);
                   });
  return alternatives;
}

}  // namespace hone::tune
