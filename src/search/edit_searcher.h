// What searchers by edits share: the starts come first, then proposals are planned one at a time,
// and every trial teaches which edits do well.
#ifndef HONE_SEARCH_EDIT_SEARCHER_H_
#define HONE_SEARCH_EDIT_SEARCHER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "search/ask_tell.h"
#include "search/edits.h"
#include "search/searcher.h"
#include "search/state_graph.h"

namespace hone {

class EditSearcher : public Searcher {
 public:
  std::vector<Sequence> Ask(size_t most) final {
    std::vector<Sequence> sequences;
    while (sequences.size() < most) {
      if (queue_.planned() == 0) queue_.Plan(Plan());
      sequences.push_back(queue_.Ask().sequence);
    }
    return sequences;
  }

  void Tell(const Trial& trial) final {
    const Proposal proposal = queue_.Told();
    edits_.Learn(trial);
    if (teaches_graph_ || problem_.prior != nullptr) graph_.Learn(trial);
    Learn(trial, proposal.tried);
  }

 protected:
  struct Proposal {
    Sequence sequence;
    Sequence tried;  // the actions that make it other than what it came from
  };

  // `late` as in Edits. Without `teaches_graph` only searches with a prior pay for the graph.
  EditSearcher(const SearchProblem& problem, double late, uint64_t seed, bool teaches_graph)
      : problem_(problem),
        graph_(problem_),
        edits_(problem_, graph_, late, seed),
        teaches_graph_(teaches_graph) {
    for (const Sequence& start : problem.starts) queue_.Plan({Usable(problem, start), {}});
  }

  virtual Proposal Plan() = 0;
  virtual void Learn(const Trial& trial, const Sequence& tried) = 0;
  // Proposals that are asked for and not told yet.
  size_t open() const { return queue_.asked(); }

  // One to three edits, and the cleaners behind them.
  Proposal Edited(Sequence sequence) {
    Proposal proposal{std::move(sequence), {}};
    const size_t edits = 1 + (edits_.rng().Unit() < 0.3) + (edits_.rng().Unit() < 0.1);
    for (size_t i = 0; i < edits; ++i) edits_.Edit(proposal.sequence, proposal.tried);
    proposal.sequence = edits_.Cleaned(std::move(proposal.sequence));
    return proposal;
  }

  const SearchProblem problem_;
  StateGraph graph_;
  Edits edits_;

 private:
  const bool teaches_graph_;
  ProposalQueue<Proposal> queue_;
};

}  // namespace hone

#endif  // HONE_SEARCH_EDIT_SEARCHER_H_
