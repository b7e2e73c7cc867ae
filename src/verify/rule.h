// When do two programs count as equal? The one rule, for XLA:CPU, devices, the simulator and JAX.
//
// Given the reference's result y, the candidate's z, and samples y_1..y_K, further legal runs of
// the reference (other roundings of its inputs and of what happens on the way), for each element i
//   spread(i)    = max_k |y_k(i) - y(i)|
//   tolerance(i) = 4 * max(spread(i), rms of the spread over i's block of 32 neighbours,
//                          spacing(type) * |y(i)|)
// Real roundings of both programs are uniform within half a spacing, so their difference deviates
// by about 0.4 spacings an operation, and the samples' by one spacing: the largest of three is
// already some 3 standard deviations of what is legal, and 4 times that over 10. The block keeps a
// luckily small sample from failing an element; the last term is the rounding of the result itself.
//
// Where values are rounded to bf16 on the way, that is some percent: a scale that is wrong by one
// would pass. But noise has no direction, so the output as a whole is judged as well:
//   |sum y (z - y)| <= max(4 * max_k |sum y (y_k - y)|, kBias * sum |y| * tolerance / 4,
//                          kLeastBias * sum y^2, 4 * sqrt(sum (y * spacing(type) * y)^2))
// A sum over all elements knows ten to a hundred times as much as one of them. The last term is for
// few elements, or few large ones: the rounding of the results themselves, which moves each by
// itself.
//
// Programs with decisions (sign, argmax, rounding to integers) flip single elements legally and by
// more than any tolerance. They are recognised by holding out: each y_k is judged as if it were the
// candidate, against the others.
//
// Flips are rare where few decisions reach far: a relu's in the last layer of a network moves the
// gradients of one of 512 channels, in one run of ten. So where the candidate alone has elements
// beyond their tolerance, but few and by little, or all of them by very little, inputs of the same
// kind decide: what is wrong is wrong on them, too. Of hundreds of outputs in which noise flips
// elements, some leave such a doubt on any inputs; what is wrong is wrong in the same output again.
//
// XLA:CPU rounds sums of bf16 and f16 after each addition: of a thousand terms they are off by ten
// percent, always alike, which no noise tells; a kernel that adds up in f32 is not. XLA may add up
// so, too. Where nothing else explains a candidate, it is held against such a run of the reference,
// and samples of that.
//
// Integers and truth values must be equal. Where samples differ in some, a decision hangs on the
// last bit of a floating-point value (an argmax among near ties, a rounding to int8). There a
// candidate may have what any sample has, as long as half of the output's elements are the same in
// all samples. An input set on which it has something else there, or on which fewer elements are
// steady, shows nothing, and another is looked for (compare.h).
#ifndef HONE_VERIFY_RULE_H_
#define HONE_VERIFY_RULE_H_

#include <cstddef>
#include <cstdint>

namespace hone::verify {

// The 4 above.
inline constexpr double kFactor = 4;
// An output as a whole may be off in its own direction, that is, in scale, by this share of what
// its elements may be off by before that factor, ...
inline constexpr double kBias = 0.25;
// ... or by this share of its size: half a unit of bf16. A larger one is seen in single elements
// unless they are noisier than that.
inline constexpr double kLeastBias = 0.002;
// Elements whose spreads are averaged: enough for a stable mean, few enough to be of one kind.
inline constexpr int64_t kBlock = 32;
// Samples: a few to begin with, more before anything is called different, for the largest of three
// is too small one time in some thousand.
inline constexpr int kFewSamples = 3;
inline constexpr int kManySamples = 8;
// An element is resolved where its tolerance is below this share of its size, or of its output's
// root mean square: agreement beyond shows nothing. Where the candidate as a whole is no farther
// from y than a sample is, in the mean square, that is its tolerance before kFactor: the factor is
// for single elements, and the mean of many has no need of it.
inline constexpr double kResolved = 0.1;
// An input set counts where this share of each floating-point output is finite, for equal NaNs and
// infinities show nothing; or part of it, where the rest is infinite (maxima over what may be
// empty) and this share of all outputs together is finite, ...
inline constexpr double kLeastFinite = 0.5;
// ... this share of all that is finite is resolved, and this share of each integer output is the
// same in all samples.
inline constexpr double kLeastResolved = 0.5;
// As many elements beyond their tolerance as in a held-out sample, twice over for chance, are
// flips; up to five times as many are doubtful, more are a difference.
inline constexpr int64_t kFlips = 2;
inline constexpr int64_t kDoubt = 5;
// Flips of more than this share of an output are chaos, not a few decisions; of integers those to
// what no sample has.
inline constexpr double kMostFlips = 0.001;
// Few elements, and by little, that is, by this share of the output's root mean square.
inline constexpr double kFewShare = 0.01;
inline constexpr int64_t kFew = 3;  // or so many of a small output
inline constexpr double kLittle = 0.1;
// Elements that are off by no more than so many tolerances: an iteration that amplifies roundings
// (BFGS, chaos that has just begun) has runs that go farther than eight others.
inline constexpr double kSlight = 4;
// So many outputs in which noise flips elements may have one that leaves a doubt by chance.
inline constexpr size_t kFlipping = 10;
// Where samples explain so many times more differing integers than they do not, all of it is chaos
// in which some elements happened to stay: nothing is shown.
inline constexpr int64_t kChaos = 20;  // kDoubt times as many: nothing can be claimed
// Input sets beyond those asked for, for each of them, while some did not count.
inline constexpr int kMoreSets = 2;

}  // namespace hone::verify

#endif  // HONE_VERIFY_RULE_H_
