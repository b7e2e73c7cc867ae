// Extraction: one node for each class that is needed, so that the whole costs little.
//
// A node that many use is paid for once (DAG cost). The best choice is NP-hard; see the "faster
// greedy DAG" and ILP extractors of egraphs-good/extraction-gym. Here a local search goes on from
// the best of three starts: the incumbent (the program as it was), the cheapest trees, and trees in
// which what the incumbent uses is free. So the result is never worse than the incumbent.
#ifndef HONE_EGRAPH_EXTRACT_H_
#define HONE_EGRAPH_EXTRACT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "egraph/egraph.h"

namespace hone::egraph {

struct ExtractionProblem {
  const EGraph* graph = nullptr;  // clean
  std::vector<ClassId> roots;     // must all be there
  // By NodeId; not negative. Infinite: never choose it.
  std::vector<double> cost;
  // By ClassId: what the program has now; kNone where it has nothing. Without cycles. May be empty.
  std::vector<NodeId> incumbent;
};

struct Extraction {
  // By canonical ClassId; kNone for classes that no root needs.
  std::vector<NodeId> choice;
  double cost = 0;  // infinite where a root cannot be had
};

// The sum over all needed classes of the cost of their choice, each once; infinite where a needed
// class has no choice or needs itself.
double DagCost(const ExtractionProblem& problem, const std::vector<NodeId>& choice);

// The cheapest tree for every class: sharing is not seen, and `cost` is the DAG cost of what comes
// out. Bottom up to a fixed point, as egg's Extractor.
Extraction ExtractTrees(const ExtractionProblem& problem);

struct LocalSearchOptions {
  int sweeps = 12;               // over all classes, at most
  size_t most_steps = 20000000;  // classes taken in or let go while trying: bounds the time
};

// Seeks a low DAG cost. Deterministic.
Extraction ExtractDag(const ExtractionProblem& problem, const LocalSearchOptions& options = {});

}  // namespace hone::egraph

#endif  // HONE_EGRAPH_EXTRACT_H_
