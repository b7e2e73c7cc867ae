// What one searcher does that others do not.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "search/searcher.h"
#include "search/state_graph.h"
#include "toy.h"

namespace hone {
namespace {

// Action 0 helps most and blocks everything else; 1 to 5 in their order lead much lower.
Toy Deceptive() {
  return MakeToy(
      8,
      [](uint64_t state, Action action) -> uint64_t {
        if (state == 0 && action == 0) return 1;
        const bool follows =
            action >= 1 && action <= 5 && state == (uint64_t{2} << (action - 1)) - 2;
        return follows ? state | uint64_t{1} << action : state;
      },
      [](uint64_t state) {
        return state == 1 ? kInitial - 3 : state == 62 ? kInitial - 10 : kInitial;
      });
}

// Three neutral actions in their order lower the value, and nothing less does.
Toy Hidden(Action order) {
  return MakeToy(
      6,
      [=](uint64_t state, Action action) {
        const bool works = action < order && state == (uint64_t{1} << action) - 1;
        return works ? state | uint64_t{1} << action : state;
      },
      [=](uint64_t state) {
        return state == (uint64_t{1} << order) - 1 ? kInitial - 5 : kInitial;
      });
}

Sequence UpTo(Action end) {
  Sequence sequence(end);
  std::iota(sequence.begin(), sequence.end(), Action{0});
  return sequence;
}

TEST(Beam, FindsWhatGreedyMisses) {
  const Toy toy = Deceptive();
  const Outcome greedy = Drive(toy, *Make("greedy", toy.problem, 1), 1000, 0);
  EXPECT_TRUE(greedy.exhausted);
  EXPECT_EQ(greedy.best, kInitial - 3);
  const Outcome beam = Drive(toy, *Make("beam", toy.problem, 1), 1000, 0);
  EXPECT_EQ(beam.best, kInitial - 10);
  EXPECT_TRUE(beam.exhausted);
}

TEST(Beam, AsksEachTransitionOnceAndIsExhaustedWhenItKnowsAll) {
  const Toy toy = Switches();
  SearchProblem problem = toy.problem;
  problem.starts.clear();
  const auto searcher = Make("beam", problem, 1);
  std::set<std::pair<uint64_t, Action>> asked;
  for (;;) {
    const std::vector<Sequence> sequences = searcher->Ask(8);
    if (sequences.empty()) break;
    for (const Sequence& sequence : sequences) {
      uint64_t state = 0;
      for (Action action : Sequence(sequence.begin(), sequence.end() - 1)) {
        state = toy.next(state, action);
      }
      EXPECT_TRUE(asked.insert({state, sequence.back()}).second);
      searcher->Tell(Evaluate(toy, sequence));
    }
  }
  // 2^7 states without switch 3, and 2^6 with it and with 7.
  EXPECT_EQ(asked.size(), (128u + 64u) * 10);
}

TEST(Beam, PriorSavesSteps) {
  Toy toy = Chain(12, 20, 30);
  const Outcome without = Drive(toy, *Make("beam", toy.problem, 1), 5000, 88);
  toy.problem.prior = std::make_shared<ToyPrior>(UpTo(12), 62, false);
  const Outcome with = Drive(toy, *Make("beam", toy.problem, 1), 5000, 88);
  EXPECT_EQ(without.best, 88);
  EXPECT_EQ(with.best, 88);
  EXPECT_LT(with.steps, without.steps);
}

TEST(Greedy, LooksThreeAhead) {
  const Toy toy = Hidden(3);
  EXPECT_EQ(Drive(toy, *Make("greedy", toy.problem, 1), 500, 0).best, kInitial - 5);
}

TEST(Greedy, LooksNoFurtherThanThreeAhead) {
  const Toy toy = Hidden(4);
  const Outcome outcome = Drive(toy, *Make("greedy", toy.problem, 1), 500, 0);
  EXPECT_EQ(outcome.best, kInitial);
  EXPECT_TRUE(outcome.exhausted);
}

// At most three actions come in at a time.
TEST(Local, GoesOnFromWhatIsNeutralByItself) {
  const Toy toy = Hidden(4);
  for (uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(Drive(toy, *Make("local", toy.problem, seed), 10000, 0).best, kInitial - 5);
  }
}

TEST(Mcts, PriorSavesTrials) {
  Toy toy = Chain(16, 20, 20);
  const Outcome without = Drive(toy, *Make("mcts", toy.problem, 1), 5000, 84);
  EXPECT_EQ(without.best, 84);
  for (bool gain : {false, true}) {
    toy.problem.prior = std::make_shared<ToyPrior>(UpTo(16), 56, gain);
    const Outcome with = Drive(toy, *Make("mcts", toy.problem, 1), 5000, 84);
    EXPECT_EQ(with.best, 84);
    EXPECT_LT(with.trials, without.trials);
    EXPECT_LT(with.steps, without.steps);
  }
}

TEST(Mcts, IsExhaustedWhenItKnowsAll) {
  const Toy toy = Deceptive();
  const Outcome outcome = Drive(toy, *Make("mcts", toy.problem, 1), 1000, 0);
  EXPECT_EQ(outcome.best, kInitial - 10);
  EXPECT_TRUE(outcome.exhausted);
}

TEST(Genetic, ChildrenAreMostlyKnown) {
  const Toy toy = Chain(20, 20, 20);
  const auto searcher = Make("genetic", toy.problem, 1);
  std::set<std::pair<uint64_t, Action>> known;
  double all = 0;
  double known_already = 0;
  for (int i = 0; i < 400; ++i) {
    for (const Sequence& sequence : searcher->Ask(4)) {
      uint64_t state = 0;
      for (Action action : sequence) {
        const bool news = known.insert({state, action}).second;
        if (i >= 50) {
          all += 1;
          known_already += !news;
        }
        state = toy.next(state, action);
      }
      searcher->Tell(Evaluate(toy, sequence));
    }
  }
  EXPECT_GT(known_already, 0.6 * all);
}

TEST(Coreset, GoesThroughItInItsOrderAndEnds) {
  Toy toy = Switches();
  toy.problem.coreset = {{1}, {7, 3}, {2, 77, 4}};
  const auto searcher = Make("coreset", toy.problem, 1);
  EXPECT_EQ(searcher->Ask(2), (std::vector<Sequence>{{1}, {7, 3}}));
  EXPECT_EQ(searcher->Ask(2), (std::vector<Sequence>{{2, 4}}));
  EXPECT_TRUE(searcher->Ask(2).empty());
}

TEST(PolicyGreedy, TakesTheLikeliestThatIsNotIdleAndEnds) {
  Toy toy = Switches();
  // It finds 9, which does nothing, likeliest.
  toy.problem.prior = std::make_shared<ToyPrior>(Sequence{9, 7, 3}, 10, false);
  const auto searcher = Make("policy_greedy", toy.problem, 1);
  std::vector<Sequence> asked;
  for (int i = 0; i < 200; ++i) {
    const std::vector<Sequence> sequences = searcher->Ask(4);
    if (sequences.empty()) break;
    ASSERT_EQ(sequences.size(), 1u);
    asked.push_back(sequences[0]);
    searcher->Tell(Evaluate(toy, sequences[0]));
  }
  EXPECT_LT(asked.size(), 100u);
  EXPECT_EQ(asked[0], (Sequence{9}));
  EXPECT_EQ(asked[1], (Sequence{0}));
  EXPECT_EQ(asked[2], (Sequence{0, 9}));
}

// The most promising of a state is asked, and what is known to be idle there never.
TEST(Policy, AsksNothingThatItKnowsToBeIdle) {
  Toy toy = Chain(10, 10, 30);
  toy.problem.prior = std::make_shared<ToyPrior>(UpTo(10), 50, false);
  const auto searcher = Make("policy_greedy", toy.problem, 1);
  std::set<std::pair<uint64_t, Action>> idle;
  for (int i = 0; i < 500; ++i) {
    for (const Sequence& sequence : searcher->Ask(4)) {
      uint64_t state = 0;
      for (Action action : sequence) {
        EXPECT_EQ(idle.count({state, action}), 0u);
        state = toy.next(state, action);
      }
      const Trial trial = Evaluate(toy, sequence);
      state = 0;
      for (Action action : sequence) {
        const uint64_t after = toy.next(state, action);
        if (after == state) idle.insert({state, action});
        state = after;
      }
      searcher->Tell(trial);
    }
  }
  EXPECT_FALSE(idle.empty());
}

TEST(Policy, GoesAloneWithTheLikeliestFirstAndEndsInLocalSearch) {
  Toy toy = Chain(10, 10, 30);
  toy.problem.prior = std::make_shared<ToyPrior>(UpTo(10), 50, false);
  const auto searcher = Make("policy", toy.problem, 1);
  for (Action i = 0; i < 10; ++i) {
    const std::vector<Sequence> asked = searcher->Ask(4);
    ASSERT_EQ(asked, (std::vector<Sequence>{UpTo(i + 1)}));
    searcher->Tell(Evaluate(toy, asked[0]));
  }
  size_t full = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<Sequence> asked = searcher->Ask(4);
    full += i >= 150 && asked.size() == 4;
    for (const Sequence& sequence : asked) searcher->Tell(Evaluate(toy, sequence));
  }
  EXPECT_EQ(full, 50u);
}

TEST(Policy, TakesTheCoresetBehindTheLikeliestWalk) {
  Toy toy = Chain(4, 4, 30);
  toy.problem.prior = std::make_shared<ToyPrior>(UpTo(4), 50, false);
  toy.problem.coreset = {{3, 1}, {2, 0, 1}};
  const auto searcher = Make("policy", toy.problem, 1);
  std::vector<Sequence> asked;
  for (int i = 0; i < 60; ++i) {
    for (const Sequence& sequence : searcher->Ask(4)) {
      asked.push_back(sequence);
      searcher->Tell(Evaluate(toy, sequence));
    }
  }
  ASSERT_GT(asked.size(), 6u);
  for (Action i = 0; i < 4; ++i) EXPECT_EQ(asked[i], UpTo(i + 1));
  const auto first = std::find(asked.begin(), asked.end(), toy.problem.coreset[0]);
  ASSERT_NE(first, asked.end());
  EXPECT_GE(first - asked.begin(), 4);
  EXPECT_EQ(*(first + 1), toy.problem.coreset[1]);
}

TEST(StateGraph, KnowsWaysAndIdleActions) {
  const Toy toy = Switches();
  StateGraph graph(toy.problem);
  const auto path = graph.Learn(Evaluate(toy, {2, 9, 1, 4}));
  EXPECT_EQ(path, (std::vector<StateGraph::Node>{1, 1, 2, 3}));
  EXPECT_EQ(graph.way(3), (Sequence{2, 1, 4}));
  EXPECT_EQ(graph.Next(1, 9), StateGraph::kIdle);
  EXPECT_EQ(graph.Next(2, 9), StateGraph::kUnknown);
  EXPECT_EQ(graph.unknown(1), 8u);
  EXPECT_EQ(graph.best(), 3u);
  // The same state by another way.
  EXPECT_EQ(graph.Learn(Evaluate(toy, {1, 2})).back(), 2u);
  EXPECT_EQ(graph.Walk({1, 2, 4, 0}), 3u);
  EXPECT_EQ(graph.Promise(1)[9], 0);
  graph.Expect(3, 5);
  EXPECT_EQ(graph.Next(3, 5), StateGraph::kPending);
  graph.Settle(3, 5);
  EXPECT_EQ(graph.Next(3, 5), StateGraph::kIdle);
}

TEST(StateGraph, WhatTurnsOutToHaveFailedIsIdle) {
  const Toy toy = Switches();
  StateGraph graph(toy.problem);
  EXPECT_EQ(graph.Learn(Evaluate(toy, {1})), (std::vector<StateGraph::Node>{1}));
  EXPECT_EQ(graph.Next(StateGraph::kRoot, 1), 1u);
  Trial trial{{1}, {{1, false, true, kInitial, Name(0), {}}}};
  EXPECT_EQ(graph.Learn(trial), (std::vector<StateGraph::Node>{StateGraph::kRoot}));
  EXPECT_EQ(graph.Next(StateGraph::kRoot, 1), StateGraph::kIdle);
}

TEST(StateGraph, KeepsTheShortestWay) {
  const Toy toy = MakeToy(
      3,
      [](uint64_t state, Action action) {
        return action == 2 ? 2 : std::min<uint64_t>(state + 1, 2);
      },
      [](uint64_t state) { return 9 - static_cast<double>(state); });
  StateGraph graph(toy.problem);
  graph.Learn(Evaluate(toy, {0, 1}));
  EXPECT_EQ(graph.way(2), (Sequence{0, 1}));
  graph.Learn(Evaluate(toy, {2}));
  EXPECT_EQ(graph.way(2), (Sequence{2}));
}

}  // namespace
}  // namespace hone
