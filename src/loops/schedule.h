// A schedule: decisions about a program's nests, in the order in which they are made.
//
// Text form, a line each, the site first; a file begins with the line `hone schedule 1`. Numbers
// are one a loop of the nest as it stands then.
//
//   y pack 8,32,0          blocks of loops, laid out anew: nest.h; once, before anything else
//   y interchange 0,2,1    loop i of the new order is loop p[i] of the old
//   y parallel 4,1,0       tiles of parallel loops that processors share; 0: the loop is not tiled
//   y tile 0,0,4           tiles, one after another; twice at most
//   y fuse x               x is computed a tile at a time, within y's last tiles of parallel loops
//   y vectorize            what is left of the loops becomes vectors
//   y unroll 2             the innermost loop of the last tile
//
// Sites that nothing is said of stay plain loops, which LLVM may still vectorise.
#ifndef HONE_LOOPS_SCHEDULE_H_
#define HONE_LOOPS_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "loops/nest.h"

namespace hone::loops {

enum class StepKind : uint8_t { kPack, kInterchange, kParallel, kTile, kFuse, kVectorize, kUnroll };
inline constexpr int kStepKinds = 7;
const char* NameOf(StepKind kind);

struct Step {
  std::string site;
  StepKind kind = StepKind::kVectorize;
  std::vector<int64_t> numbers;  // but of kFuse and kVectorize
  std::string producer;          // of kFuse

  friend bool operator==(const Step& a, const Step& b) {
    return a.site == b.site && a.kind == b.kind && a.numbers == b.numbers &&
           a.producer == b.producer;
  }
};

using Schedule = std::vector<Step>;

// Errors: what is no decision, with the line.
StatusOr<Schedule> ParseSchedule(std::string_view text);
std::string ScheduleText(const Schedule& schedule);
// The same as a file, with its first line.
std::string ScheduleFile(const Schedule& schedule);

// What is decided of a nest so far.
struct SiteState {
  std::vector<Loop> loops;    // of a tile of the last level, in the order of now
  std::vector<size_t> order;  // loops[i] is loop order[i] of the nest
  int tiles = 0;              // kTile steps
  bool parallel = false;
  bool shared_tiles = false;  // its last tiles are of parallel loops only: something can be fused
  bool loop_tiles = false;    // its last tiles have a loop that can be unrolled
  bool vectorized = false;
  bool unrolled = false;
  int fused_into = -1;  // index of a nest
  int steps = 0;
};

// A program under decisions. Each is checked before it is made.
class Scheduled {
 public:
  explicit Scheduled(Program program);

  // Why the step may not be made now; nothing where it may.
  std::string WhyNot(const Step& step) const;
  bool May(const Step& step) const { return WhyNot(step).empty(); }
  // Errors: WhyNot.
  Status Apply(const Step& step);

  const Program& program() const { return program_; }               // packed where that was decided
  const std::vector<SiteState>& states() const { return states_; }  // of its nests
  const Schedule& schedule() const { return schedule_; }

  // Sizes that may tile or block a loop: divisors of its extent, the extent left out for blocks.
  static std::vector<int64_t> Divisors(int64_t extent, bool with_extent);
  // The largest divisor up to a size.
  static int64_t DivisorUpTo(int64_t extent, int64_t most);
  // The most that one vectorised tile computes; beyond, registers spill and compiling takes for
  // ever.
  static constexpr int64_t kMostVectorized = 4096;

 private:
  std::string WhyNotPack(const Step& step, size_t nest) const;
  std::string WhyNotTile(const Step& step, size_t nest) const;
  std::string WhyNotFuse(const Step& step, size_t nest) const;
  std::string WhyNotOwn(const Step& step, size_t nest) const;
  std::string WhyNotVectorize(size_t nest) const;
  void Fuse(size_t into, size_t producer);

  Program program_;
  std::vector<SiteState> states_;
  Schedule schedule_;
};

// All of a schedule's steps. Errors: the first that may not be made, with its number.
StatusOr<Scheduled> Apply(const Program& program, const Schedule& schedule);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULE_H_
