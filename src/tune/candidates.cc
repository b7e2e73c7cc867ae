#include "tune/candidates.h"

#include <algorithm>
#include <utility>

namespace hone::tune {

choices::Assignment PartOf(const Round& round, const choices::Assignment& whole) {
  choices::Assignment part;
  for (size_t i : round.variables) part.push_back(whole[i]);
  return part;
}

Candidate Whole(const Round& round, const Candidate& part) {
  Candidate whole{{round.base.begin(), round.base.end()}};
  for (size_t i = 0; i < round.variables.size(); ++i) {
    whole.own[round.variables[i]] = part.own[i];
  }
  return whole;
}

StageTurns::StageTurns(const Space& space, int turn) : turn_(turn) {
  for (const choices::Variable& variable : space.variables) groups_.push_back(variable.group);
  std::sort(groups_.begin(), groups_.end());
  groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
}

int StageTurns::Next() {
  if (groups_.empty()) return choices::kEveryGroup;
  const int64_t turn = asked_++ / turn_;
  return groups_[static_cast<size_t>(turn) % groups_.size()];
}

std::vector<Candidate> GenerateCandidates(choices::Chooser& chooser, size_t most, int group) {
  std::vector<Candidate> candidates;
  for (const choices::Assignment& assignment : chooser.Ask(most, group)) {
    candidates.push_back({{assignment.begin(), assignment.end()}});
  }
  return candidates;
}

choices::Assignment Apply(const Candidate& candidate, const Space& space, const Lessons& lessons) {
  choices::Assignment assignment = choices::StockAssignment(space.variables);
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (i < candidate.own.size() && candidate.own[i] != Candidate::kUndecided) {
      assignment[i] = static_cast<uint32_t>(candidate.own[i]);
      continue;
    }
    const Decision& decision = space.decisions[i];
    const store::Lesson* const lesson = lessons.Find(decision.stage, decision.name);
    if (lesson == nullptr) continue;
    const auto known = std::find(decision.values.begin(), decision.values.end(), lesson->value);
    if (known != decision.values.end()) {
      assignment[i] = static_cast<uint32_t>(known - decision.values.begin());
    }
  }
  return assignment;
}

bool Finalists::Offer(Finalist finalist, double margin) {
  const double before = best_value();
  const bool best = finalist.value < before - margin;
  list_.erase(std::remove_if(
                  list_.begin(), list_.end(),
                  [&](const Finalist& known) { return known.executable == finalist.executable; }),
              list_.end());
  const auto at = std::find_if(list_.begin(), list_.end(),
                               [&](const Finalist& known) { return known.value > finalist.value; });
  list_.insert(at, std::move(finalist));
  if (list_.size() > most_) list_.pop_back();
  return best;
}

double Finalists::best_value() const {
  return list_.empty() ? 0 : std::min(0.0, list_.front().value);
}

std::vector<Finalist> InTurn(const std::vector<const Finalists*>& some) {
  std::vector<Finalist> all;
  for (const Finalists* finalists : some) {
    for (const Finalist& finalist : finalists->list()) {
      const bool there = std::any_of(all.begin(), all.end(), [&](const Finalist& known) {
        return known.executable == finalist.executable;
      });
      if (finalist.value < 0 && !there) all.push_back(finalist);
    }
  }
  return all;
}

}  // namespace hone::tune
