// Does a kernel compute its task? By the one rule (src/verify), against the interpreter.
#ifndef HONE_LOOPS_VERIFY_H_
#define HONE_LOOPS_VERIFY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/comparison.h"
#include "loops/generator.h"

namespace hone::loops {

// Seconds that a comparison takes at most where nothing else is said, a run that has begun by then
// not counted. Such a run is cut off after half as long again.
inline constexpr double kVerifySeconds = 20;

// What the interpreter said of one task, for the next schedule of it; up to 256 MB.
class References {
 public:
  // Of the points that are looked at, the inputs' kind and seed, how they are moved, and the noise.
  using Key = std::tuple<uint64_t, int, uint64_t, uint64_t, uint64_t>;
  using Arrays = std::shared_ptr<std::vector<std::string>>;  // bytes of each output

  Arrays Find(const Key& key) const;  // null where it isn't there
  void Keep(const Key& key, const Arrays& arrays);
  int64_t found() const { return found_; }  // how often something was

 private:
  std::map<Key, Arrays> kept_;
  size_t bytes_ = 0;
  mutable int64_t found_ = 0;
};

// Of tasks that are large some elements are looked at: as many as the interpreter computes in about
// a tenth of a second. `references`, where given, are of this task.
ComparisonReport Verify(Generator& generator, const Kernel& kernel, const CompareOptions& options,
                        References* references = nullptr);
// With the options that a comparison has where nothing else is said.
CompareOptions UsualComparison();

}  // namespace hone::loops

#endif  // HONE_LOOPS_VERIFY_H_
