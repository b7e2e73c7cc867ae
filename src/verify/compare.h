// Do two programs compute the same? The order of work and the verdict, whatever runs them: XLA:CPU
// (compiler/run), a device (device/compare), JAX (python/hone/jax).
#ifndef HONE_VERIFY_COMPARE_H_
#define HONE_VERIFY_COMPARE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/result.h"
#include "verify/compare_output.h"

namespace hone::verify {

// Kinds of generated values (compiler/run/inputs.h). Each comparison takes the first three; the
// others are for programs that show nothing on them.
inline constexpr int kUsualKinds = 3;
inline constexpr int kKinds = 6;
// One more, where these show nothing (find_finite.h).
inline constexpr int kSearchedKind = kKinds;

// Which inputs: those that somebody gave, those near them, or generated ones.
struct InputChoice {
  int given = -1;     // index among the sets that were given; then `kind` means nothing
  bool near = false;  // of a given one: each floating-point value off by up to 1 %
  int kind = 0;
  uint64_t seed = 0;
};
std::string NameOf(const InputChoice& choice);

// The outputs of a run, in flattened order.
struct Outputs {
  std::vector<ArrayView> arrays;
  std::shared_ptr<const void> owner;  // of what the arrays point to
};

// Two programs that can be run. An error of any call ends the comparison without a verdict.
class Subject {
 public:
  virtual ~Subject() = default;
  // Runs are on these inputs from now on.
  virtual Status Choose(const InputChoice& choice) = 0;
  virtual StatusOr<Outputs> RunReference() = 0;
  virtual StatusOr<Outputs> RunCandidate() = 0;
  // The k-th further legal run of the reference, as it is or nearly so, on inputs that are moved by
  // one unit in their last place: costs a run and little else. What it explains needs no other
  // explanation; none where it would not be cheaper than Sample.
  virtual StatusOr<std::optional<Outputs>> MovedSample(int k) = 0;
  // Whether these runs also move what the reference stores on the way. Else what few of them do not
  // explain is left to Sample.
  virtual bool MovesWhatIsStored() { return false; }
  // The k-th with rounding errors everywhere; none where there are no more.
  virtual StatusOr<std::optional<Outputs>> Sample(int k) = 0;
  // Of the reference with its sums of narrow floats added up in f32, and long ones of f32 in f64,
  // and rounded once, as XLA may do it and XLA:CPU does not: the first run as it is, the others
  // with rounding errors everywhere; none where there are no such sums.
  virtual StatusOr<std::optional<Outputs>> WideSample(int) { return std::nullopt; }
  // Seconds that were spent on compiling what samples are runs of.
  virtual double CompileSeconds() const { return 0; }
};

// `given` is how many input sets somebody gave; they are the first ones. Fills in all of the
// report; a verdict of kEqual has the method's last part only: `same bytes`, `within …`. The budget
// and `stop` are looked at before each run; compiling for samples is not counted against it.
ComparisonReport Compare(Subject& subject, const CompareOptions& options, int given = 0);

}  // namespace hone::verify

#endif  // HONE_VERIFY_COMPARE_H_
