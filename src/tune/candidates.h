// The named pieces of XTAT's loop (section 3 of the paper): SelectOpt, GenerateCandidates, Apply
// and SelectCandidates. Evaluate is measurer.h.
#ifndef HONE_TUNE_CANDIDATES_H_
#define HONE_TUNE_CANDIDATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/race.h"
#include "search/choices/choices.h"
#include "tune/lessons.h"
#include "tune/space.h"

namespace hone::tune {

// A candidate's own decisions: a choice for each variable, kUndecided where it has no opinion.
// Variables that the space got later are undecided too.
struct Candidate {
  static constexpr int64_t kUndecided = -1;
  std::vector<int64_t> own;
};

// A part of the search for a chooser: it decides these variables; all others stay as in `base`.
struct Round {
  std::vector<size_t> variables;
  choices::Assignment base;
  size_t known = 0;  // the first so many variables of the space have been changed alone already
  bool joint = false;
  double until = 0;                 // it ends at this second of the search,
  int64_t evaluations = INT64_MAX;  // or after this evaluation of the search
};

// The chooser's part of an assignment of the whole space; and back.
choices::Assignment PartOf(const Round& round, const choices::Assignment& whole);
Candidate Whole(const Round& round, const Candidate& part);

// SelectOpt: which stage is tuned next. The stages that have variables take turns, `turn`
// evaluations each.
class StageTurns {
 public:
  StageTurns(const Space& space, int turn);
  // A stage as Chooser::Ask takes it.
  int Next();

 private:
  std::vector<int> groups_;
  const int turn_;
  int64_t asked_ = 0;
};

// GenerateCandidates: what the chooser asks for; it decides about every variable.
std::vector<Candidate> GenerateCandidates(choices::Chooser& chooser, size_t most, int group);

// Apply: the candidate's own choice, else what was learned of such a key, else the stock
// compiler's. The compiler ignores choices that are not legal at their place.
choices::Assignment Apply(const Candidate& candidate, const Space& space, const Lessons& lessons);

// A candidate that has been measured with care.
struct Finalist {
  TunePlan plan;
  std::string executable;  // equal for equal executables
  double value = 0;        // the logarithm of its time by the stock executable's
  RaceReport race;
};

// SelectCandidates: the few best, each executable once, the best first.
class Finalists {
 public:
  explicit Finalists(size_t most) : most_(most) {}
  // True where it is the best now, by more than `margin`.
  bool Offer(Finalist finalist, double margin);
  const std::vector<Finalist>& list() const { return list_; }
  void Clear() { list_.clear(); }
  // At most 0, the stock compiler's own.
  double best_value() const;

 private:
  const size_t most_;
  std::vector<Finalist> list_;
};

// The plans of several lists that are faster than stock, each once: those of the first list, then
// those of the second, and so on.
std::vector<Finalist> InTurn(const std::vector<const Finalists*>& some);

}  // namespace hone::tune

#endif  // HONE_TUNE_CANDIDATES_H_
