#include "compiler/run/draws.h"

#include <algorithm>
#include <cmath>

#include "core/each_processor.h"

namespace hone::compiler {
namespace {

constexpr int64_t kAtOnce = 512;

// Compiled without contraction to fused multiplications and additions, which round otherwise.

HONE_FOR_EACH_PROCESSOR void DrawAll(uint64_t state, uint64_t* draws, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    draws[i] = MixBits(state + static_cast<uint64_t>(i + 1) * kSplitMixStep);
  }
}

HONE_FOR_EACH_PROCESSOR void Bells(const uint64_t* draws, double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = BellOf(draws[i]);
}

HONE_FOR_EACH_PROCESSOR void Uniforms(const uint64_t* draws, double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = UniformOf(draws[i]);
}

// The last digits of a value itself decide its magnitude, to save a draw.
HONE_FOR_EACH_PROCESSOR void OtherMagnitudes(double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t digits = static_cast<int64_t>(std::fabs(values[i]) * 0x1.0p40) & 15;
    const double quarter = (digits & 1) != 0 ? 0.25 : 1.0;
    const double sixteenth = (digits & 2) != 0 ? 0.0625 : 1.0;
    values[i] *= digits < 4 ? quarter * sixteenth : 1.0;
  }
}

HONE_FOR_EACH_PROCESSOR void Place(const Distribution& of, double* values, int64_t count) {
  const double factor = of.factor, least = of.least, times = of.times, over = of.over;
  for (int64_t i = 0; i < count; ++i) values[i] = (least + factor * values[i]) * times / over;
}

HONE_FOR_EACH_PROCESSOR void Absolute(double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = std::fabs(values[i]);
}

}  // namespace

void Generator::Fill(uint64_t* draws, int64_t count) {
  DrawAll(state_, draws, count);
  state_ += static_cast<uint64_t>(count) * kSplitMixStep;
}

void Distribution::Fill(Generator& generator, double* values, int64_t count) const {
  uint64_t draws[kAtOnce];
  for (int64_t done = 0; done < count; done += kAtOnce) {
    const int64_t some = std::min(kAtOnce, count - done);
    double* const out = values + done;
    generator.Fill(draws, some);
    what == kUniform ? Uniforms(draws, out, some) : Bells(draws, out, some);
    if (what == kAbsoluteBell) Absolute(out, some);
    Place(*this, out, some);
    if (what == kMagnitudes) OtherMagnitudes(out, some);
  }
}

}  // namespace hone::compiler
