#include "tune/choose_implementations.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace hone::tune {
namespace {

bool Has(const PassSequence& passes, const std::string& pass) {
  return std::find(passes.begin(), passes.end(), pass) != passes.end();
}

class Chooser {
 public:
  Chooser(const PassSequence& candidates, const RaceFunction& race, const ChooseOptions& options)
      : candidates_(candidates), race_(race), options_(options) {}

  // Whether it is the best so far.
  bool Enter(const PassSequence& passes) {
    if (!raced_.insert(passes).second) return false;
    const StatusOr<RaceReport> report = race_(passes);
    if (!report || report->same_executable || report->low <= options_.least_gain) return false;
    if (report->speedup <= options_.least_gain * best_.race.speedup) return false;
    best_ = {passes, *report};
    return true;
  }

  void AddOthers() {
    PassSequence later;
    for (const std::string& candidate : candidates_) {
      if (Has(best_.passes, candidate)) continue;
      if (options_.large && options_.large(With(candidate))) {
        later.push_back(candidate);
      } else {
        Enter(With(candidate));
      }
    }
    for (const std::string& candidate : later) Enter(With(candidate));
  }

  const ChooseResult& best() const { return best_; }

 private:
  PassSequence With(const std::string& candidate) const {
    PassSequence more = best_.passes;
    more.push_back(candidate);
    return more;
  }

  const PassSequence& candidates_;
  const RaceFunction& race_;
  const ChooseOptions& options_;
  ChooseResult best_;
  std::set<PassSequence> raced_;
};

}  // namespace

ChooseResult ChooseImplementations(const PassSequence& candidates, const RaceFunction& race,
                                   const ChooseOptions& options) {
  Chooser chooser(candidates, race, options);
  if (!options.first.empty()) chooser.Enter({options.first});
  const ChooseResult base = chooser.best();
  for (const PassSequence& together : options.together) {
    PassSequence passes = base.passes;
    std::copy_if(together.begin(), together.end(), std::back_inserter(passes),
                 [&](const std::string& pass) { return !Has(base.passes, pass); });
    if (passes.size() > base.passes.size()) chooser.Enter(passes);
    if (chooser.best().race.speedup >= options.clear * base.race.speedup) break;
  }
  chooser.AddOthers();
  // What is in the others' way may be better than they are.
  const PassSequence first = chooser.best().passes;
  for (const std::string& candidate : candidates) {
    if (first.empty() || Has(first, candidate)) continue;
    if (chooser.Enter({candidate})) chooser.AddOthers();
  }
  return chooser.best();
}

}  // namespace hone::tune
