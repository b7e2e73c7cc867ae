// A generation of candidates, ranked by an estimate, of which the top is measured (XTAT,
// section 4.3: the top 10 where whole graphs are decided, the top 5 where single nodes are).
#ifndef HONE_TUNE_RANKING_H_
#define HONE_TUNE_RANKING_H_

#include <cstddef>
#include <vector>

#include "search/choices/choices.h"
#include "tune/measurer.h"

namespace hone::tune {

// How many of a generation are measured: of a stage, or choices::kEveryGroup.
size_t TopOf(int group);

// How many candidates make a generation of which `top` are measured: as many as are compiled in the
// time that measuring the top takes, at least `top`, at most four times as many. Where compiling
// takes as long as measuring, none is passed over: there would be nothing to gain. Fewer where
// `seconds_left` would soon be spent on compiling; one until it is known what compiling takes.
size_t GenerationSize(size_t top, double prepare_seconds, double race_seconds, double seconds_left);

struct Ranked {
  choices::Assignment assignment;
  Prepared prepared;
  double estimate = 0;
};

// Keeps `top` of those that were estimated: one in five as they were asked for, so that a wrong
// estimate does not hide what is good, then the best first. Unrankable ones, without a graph, are
// all kept, first. Equal ones stay in the order in which they were asked for.
// Returns how many were passed over.
size_t KeepTop(size_t top, std::vector<Ranked>& generation);

}  // namespace hone::tune

#endif  // HONE_TUNE_RANKING_H_
