// The state of ExtractDag's search: a choice of nodes, which classes it needs, and what it costs.
#ifndef HONE_EGRAPH_LOCAL_SEARCH_H_
#define HONE_EGRAPH_LOCAL_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/extract.h"

namespace hone::egraph {

class LocalSearch {
 public:
  // `start` must be free of cycles where the roots reach it, and of finite cost.
  LocalSearch(const ExtractionProblem& problem, std::vector<NodeId> start, size_t most_steps);

  // One sweep over all needed classes. False where nothing changed or the steps are used up.
  bool Sweep();
  // Back to the incumbent's nodes wherever that costs nothing: no change without a reason.
  void RevertTo(const std::vector<NodeId>& incumbent);

  double cost() const { return cost_; }
  // The choices for needed classes, kNone for others.
  std::vector<NodeId> Choice() const;

 private:
  struct Switch {
    ClassId of;
    NodeId from;
  };
  bool Needed(ClassId id) const { return uses_[id] > 0; }
  bool Spent() const { return steps_ >= most_steps_; }
  // Cheapest nodes for classes that are not needed, were one of them wanted: needed ones are free.
  void Plan();
  // Operands before users, for needed classes.
  void Rank();
  void Acquire(ClassId id);
  void Release(ClassId id);
  // Whether choosing `node` for `id` would make a class need itself.
  bool MakesCycle(ClassId id, NodeId node);
  // Chooses; the caller has seen to cycles.
  void Choose(ClassId id, NodeId node);
  // Chooses where it makes no cycle and the cost is then at most `most`; otherwise nothing changes.
  bool TryChoose(ClassId id, NodeId node, double most);
  bool Improve(ClassId id);
  // Has all users of a class do without it, if that pays as a whole.
  bool Eliminate(ClassId id);
  // Has the users of a class that is not needed use it, if that pays as a whole.
  bool Introduce(ClassId id);
  // The cheapest node for a class, all else as it is, with or without a child; kNone where none.
  NodeId BestNode(ClassId of, ClassId child, bool with);
  void Undo(const std::vector<Switch>& done, double cost);

  const ExtractionProblem& problem_;
  const EGraph& graph_;
  const size_t most_steps_;
  size_t steps_ = 0;
  double cost_ = 0;
  double slack_ = 0;  // differences below it are rounding
  std::vector<ClassId> classes_;
  std::vector<NodeId> choice_;
  std::vector<uint32_t> uses_;  // by needed classes and roots
  std::vector<uint32_t> rank_;
  std::vector<std::vector<ClassId>> users_;  // classes that could use one
  std::vector<bool> tried_sideways_;         // by NodeId
  std::vector<ClassId> stack_;
  std::vector<uint32_t>
      seen_;  // by class: the number of the walk that saw it, twice; +1: on its path
  uint32_t walk_ = 0;
};

}  // namespace hone::egraph

#endif  // HONE_EGRAPH_LOCAL_SEARCH_H_
