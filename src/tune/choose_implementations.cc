#include "tune/choose_implementations.h"

#include <algorithm>
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

  // Whether it is the best so far: `gain` times as fast as the one before.
  bool Enter(const PassSequence& passes) { return Enter(passes, options_.least_gain); }
  bool Enter(const PassSequence& passes, double gain) {
    if (!raced_.insert(passes).second) return false;
    const StatusOr<RaceReport> report = race_(passes);
    was_late_ = !report && report.error().code == ErrorCode::kDeadline;
    if (was_late_) late_.insert(passes.back());
    if (!report || report->same_executable || report->low <= options_.least_gain) return false;
    if (report->speedup <= gain * best_.race.speedup) return false;
    best_ = {passes, *report};
    return true;
  }

  // All at once; without those that make the program larger where that takes too long, and without
  // those that may do harm where it gains nothing.
  void EnterAll(const PassSequence& passes) {
    Enter(passes);
    if (!was_late_ && best_.passes.empty()) EnterWithout(passes, options_.harmful);
    if (!was_late_ || passes.size() < 2) return;
    late_.erase(passes.back());  // it need not be the one
    EnterWithout(passes, options_.growing);
    if (!was_late_) late_.insert(options_.growing.begin(), options_.growing.end());
  }

  void AddAtOnce(const PassSequence& candidates) {
    if (best_.passes.empty()) return;
    PassSequence more = best_.passes;
    for (const std::string& candidate : candidates) {
      if (!Has(more, candidate) && !IsLate(candidate)) more.push_back(candidate);
    }
    if (more.size() > best_.passes.size() + 1) Enter(more);
  }

  void LeaveOut(const PassSequence& candidates) {
    for (const std::string& candidate : candidates) EnterWithout(best_.passes, {candidate});
  }

  // Where something is left out, and something left.
  void EnterWithout(PassSequence passes, const PassSequence& left_out) {
    const size_t all = passes.size();
    passes.erase(std::remove_if(passes.begin(), passes.end(),
                                [&](const std::string& pass) { return Has(left_out, pass); }),
                 passes.end());
    if (!passes.empty() && passes.size() < all) Enter(passes, /*gain=*/1);
  }

  void AddOthers() {
    PassSequence later;
    for (const std::string& candidate : candidates_) {
      if (Has(best_.passes, candidate) || IsLate(candidate)) continue;
      if (options_.large && options_.large(With(candidate))) {
        later.push_back(candidate);
      } else {
        Enter(With(candidate));
      }
    }
    for (const std::string& candidate : later) Enter(With(candidate));
  }

  // Whether it took too long already: it will elsewhere.
  bool IsLate(const std::string& candidate) const { return late_.count(candidate) > 0; }

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
  bool was_late_ = false;       // the last one
  std::set<std::string> late_;  // the last of passes that ran past a deadline
};

}  // namespace

ChooseResult ChooseImplementations(const PassSequence& candidates, const RaceFunction& race,
                                   const ChooseOptions& options) {
  Chooser chooser(candidates, race, options);
  const PassSequence alone{options.first};
  const bool gains = !options.first.empty() && chooser.Enter(alone);
  const auto is_clear = [&] { return chooser.best().race.speedup >= options.clear; };
  const PassSequence whole = options.together.empty() ? PassSequence() : options.together.front();
  if (!whole.empty() && !is_clear()) {
    chooser.EnterAll(whole);
    if (chooser.best().passes.empty() && !candidates.empty()) chooser.Enter({candidates.front()});
    // What gains nothing together hardly does so apart.
    const auto other = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const std::string& one) { return !Has(whole, one); });
    if (chooser.best().passes.empty() && other != candidates.end()) chooser.Enter({*other});
  }
  if (gains && !whole.empty()) {
    const PassSequence& best = chooser.best().passes;
    PassSequence both = alone;
    for (const std::string& pass : best == alone ? whole : best) {
      if (!Has(both, pass)) both.push_back(pass);
    }
    chooser.Enter(both);
  }
  chooser.AddAtOnce(options.at_once);
  // Where they gain little, some of them may be in others' way.
  for (const PassSequence& together : options.together) {
    if (!together.empty() && !is_clear()) chooser.Enter(together);
  }
  if (chooser.best().passes.empty()) chooser.EnterWithout(whole, options.doubtful);
  chooser.LeaveOut(options.doubtful);
  chooser.AddOthers();
  // What is in the others' way may be better than they are.
  const PassSequence first = chooser.best().passes;
  for (const std::string& candidate : candidates) {
    if (first.empty() || Has(first, candidate) || chooser.IsLate(candidate)) continue;
    if (chooser.Enter({candidate})) chooser.AddOthers();
  }
  return chooser.best();
}

}  // namespace hone::tune
