// Decisions as numbers, for searchers and learners: what may be decided next, a bounded list.
//
// A number stands for a site, a kind of decision and a place in the list of that kind, which
// depends on what has been decided so far: as a listing of rewrites does. So a sequence of numbers
// always means the same, and a number may be illegal in one state and mean something in the next.
#ifndef HONE_LOOPS_CATALOGUE_H_
#define HONE_LOOPS_CATALOGUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loops/default_schedule.h"
#include "loops/schedule.h"

namespace hone::loops {

class Catalogue {
 public:
  static constexpr size_t kEach = 16;  // decisions of a kind that are offered at a site

  Catalogue(const Program& program, const Machine& machine);

  // Numbers are below this.
  size_t size() const { return sites_.size() * kStepKinds * kEach; }
  // Those of the program, and of the copies that packing them makes.
  const std::vector<std::string>& sites() const { return sites_; }
  const Program& program() const { return program_; }
  const Schedule& default_schedule() const { return default_; }

  // What the rules of thumb would decide next at a site, where all decisions there so far are
  // theirs. It may not be legal.
  std::optional<Step> RuleOfThumb(const Scheduled& scheduled, size_t site) const;
  // All legal, without duplicates; first, where it is of that kind, the rules of thumb's next
  // decision. Tiles are drawn from those that divide, the same ones for the same state.
  std::vector<Step> Offers(const Scheduled& scheduled, size_t site, StepKind kind) const;
  std::optional<Step> Decide(const Scheduled& scheduled, size_t number) const;
  std::vector<bool> Mask(const Scheduled& scheduled) const;
  bool OffersAny(const Scheduled& scheduled, size_t site) const;

  // The numbers of a schedule's decisions, as far as they are offered.
  std::vector<size_t> NumbersOf(const Schedule& schedule) const;

 private:
  Program program_;
  Schedule default_;
  std::vector<std::string> sites_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_CATALOGUE_H_
