#include "blame/reduce.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace hone::blame {
namespace {

constexpr int kMostHops = 6;
constexpr size_t kMostGrown = 80;  // instructions, before it is made smaller
constexpr size_t kSmall = 30;      // instructions, at which nothing smaller is sought elsewhere
constexpr double kRaceSeconds = 1;
constexpr double kCompareSeconds = 20;

class Reducer {
 public:
  Reducer(Laboratory& laboratory, const Exhibit& exhibit, double left)
      : laboratory_(laboratory), exhibit_(exhibit), left_(left) {}

  // Instructions of the computation; the last that showed it is kept as the result.
  bool Try(size_t computation, const std::vector<size_t>& kept) {
    if (laboratory_.Over(left_)) return false;
    const StatusOr<CutProgram> part = Cut(*exhibit_.program, computation, kept);
    return part && TryText(*part);
  }

  bool TryText(const CutProgram& part) {
    Reduced one;
    one.finding = ShowsOnPart(laboratory_, exhibit_, part, &one.b);
    if (one.finding.shows != Shows::kYes) return false;
    one.text = part.text;
    one.instructions = part.instructions;
    // Of several places the one that has the smallest.
    if (!result_ || one.instructions < result_->instructions) result_ = std::move(one);
    return true;
  }

  // Grows around instructions; what showed it.
  std::vector<size_t> Grow(size_t computation, const std::vector<size_t>& around) {
    std::vector<size_t> last;
    for (int hops = 0; hops <= kMostHops; ++hops) {
      std::vector<size_t> kept =
          Neighbourhood(exhibit_.program->computations[computation], around, hops);
      if (kept == last) continue;
      if (kept.size() > kMostGrown || laboratory_.Over(left_)) break;
      if (Try(computation, kept)) return kept;
      last = std::move(kept);
    }
    return {};
  }

  // Cuts a computation from the end, then from the beginning, as if one place did it.
  std::vector<size_t> FromBothEnds(size_t computation) {
    const std::vector<size_t> all = Operations(exhibit_.program->computations[computation]);
    if (all.empty() || !Try(computation, all)) return {};
    const auto part = [&](size_t begin, size_t end) {
      return std::vector<size_t>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                 all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    size_t no = 0;
    size_t end = all.size();
    while (end - no > 1 && !laboratory_.Over(left_)) {
      const size_t middle = (no + end) / 2;
      (Try(computation, part(0, middle)) ? end : no) = middle;
    }
    size_t begin = 0;
    no = end;
    while (no - begin > 1 && !laboratory_.Over(left_)) {
      const size_t middle = (begin + no) / 2;
      (Try(computation, part(middle, end)) ? begin : no) = middle;
    }
    return part(begin, end);
  }

  // Around the instructions of these names, those of the computation that has most of them first.
  void Around(const std::vector<std::string>& names) {
    std::map<size_t, std::vector<size_t>> places;  // by computation
    for (const std::string& name : names) {
      const auto place = FindInstruction(*exhibit_.program, name);
      if (place) places[place->computation].push_back(place->instruction);
    }
    while (!places.empty() && !Small()) {
      const auto most = std::max_element(
          places.begin(), places.end(),
          [](const auto& x, const auto& y) { return x.second.size() < y.second.size(); });
      const std::vector<size_t> kept = Grow(most->first, most->second);
      if (!kept.empty()) Shrink(most->first, kept);
      places.erase(most);
    }
  }

  // From both ends of a computation, and of those that what is left of it runs.
  void Within(size_t computation) {
    const std::vector<size_t> kept = FromBothEnds(computation);
    if (kept.empty()) return;
    Shrink(computation, kept);
    if (Small()) return;
    for (size_t i : kept) {
      for (size_t called : exhibit_.program->computations[computation].instructions[i].called) {
        if (!Small() && !laboratory_.Over(left_)) Within(called);
      }
    }
  }

  // What loops and calls run, made smaller within: arrays become others of their shape, or zeros.
  void Inside() {
    for (size_t turn = 0; result_ && !Small() && !laboratory_.Over(left_); ++turn) {
      const StatusOr<ProgramText> program = ParseProgramText(result_->text);
      if (!program) return;
      // Each computation once, the largest first.
      std::vector<size_t> order(program->computations.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return program->computations[a].instructions.size() >
               program->computations[b].instructions.size();
      });
      if (turn == order.size()) return;
      const size_t computation = order[turn];
      const std::vector<size_t> all = Eliminable(program->computations[computation]);
      if (all.empty()) continue;
      const auto test = [&](const std::vector<size_t>& kept) {
        std::vector<size_t> gone;
        std::set_difference(all.begin(), all.end(), kept.begin(), kept.end(),
                            std::back_inserter(gone));
        return TryText(Print(Eliminate(*program, computation, gone))) ? Shows::kYes : Shows::kNo;
      };
      if (test({}) == Shows::kYes) continue;
      Minimise(all, test, [&] { return laboratory_.Over(left_); });
    }
  }

  bool Small() const { return result_ && result_->instructions <= kSmall; }

  void Shrink(size_t computation, const std::vector<size_t>& kept) {
    std::vector<size_t> all(kept.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const auto test = [&](const std::vector<size_t>& chosen) {
      std::vector<size_t> part;
      for (size_t i : chosen) part.push_back(kept[i]);
      return Try(computation, part) ? Shows::kYes : Shows::kNo;
    };
    const Minimised small = Minimise(all, test, [&] { return laboratory_.Over(left_); });
    if (result_ && small.minimal && !laboratory_.Over(left_)) result_->minimal = true;
  }

  std::optional<Reduced> Take() { return std::move(result_); }

 private:
  Laboratory& laboratory_;
  const Exhibit& exhibit_;
  const double left_;
  std::optional<Reduced> result_;
};

}  // namespace

Finding ShowsOnPart(Laboratory& laboratory, const Exhibit& exhibit, const CutProgram& part,
                    tune::TunePlan* b) {
  Finding finding;
  const StatusOr<ProgramInfo> program = laboratory.pool().Load(part.text);
  if (!program) {
    finding.error = program.error().message;
    return finding;
  }
  const auto plan = OnPart(laboratory, program->id, exhibit.a, exhibit.decisions);
  if (!plan) {
    finding.error = plan.error().message;
  } else {
    finding =
        exhibit.question == Question::kSlower
            ? laboratory.Slower(program->id, exhibit.a, *plan, exhibit.threshold, kRaceSeconds)
            : laboratory.Different(program->id, exhibit.a, *plan, kCompareSeconds);
    if (b != nullptr) *b = *plan;
  }
  laboratory.pool().Unload(program->id);
  return finding;
}

std::optional<Reduced> Reduce(Laboratory& laboratory, const Exhibit& exhibit,
                              const std::vector<std::vector<std::string>>& around, double left) {
  Reducer reducer(laboratory, exhibit, left);
  for (const std::vector<std::string>& names : around) {
    if (!reducer.Small()) reducer.Around(names);
  }
  if (!reducer.Small()) reducer.Within(exhibit.program->entry);
  reducer.Inside();
  return reducer.Take();
}

namespace {

// In one computation, its parameters passed; its operations up to the first that differs.
std::optional<FirstDifference> FirstIn(Laboratory& laboratory, const Exhibit& exhibit,
                                       size_t computation, double left, size_t* place) {
  const TextComputation& within = exhibit.program->computations[computation];
  const std::vector<size_t> all = Operations(within);
  if (all.empty()) return std::nullopt;
  const auto differs = [&](size_t end) {
    const auto part = Cut(*exhibit.program, computation,
                          {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(end)});
    return part && ShowsOnPart(laboratory, exhibit, *part, nullptr).shows == Shows::kYes;
  };
  size_t no = 0;
  size_t end = all.size();
  while (end - no > 1) {
    if (laboratory.Over(left)) return std::nullopt;
    const size_t middle = (no + end) / 2;
    (differs(middle) ? end : no) = middle;
  }
  *place = all[end - 1];
  const TextInstruction& instruction = within.instructions[*place];
  const auto alone = Cut(*exhibit.program, computation, Slice(within, *place), *place);
  if (!alone) return std::nullopt;
  const Finding finding = ShowsOnPart(laboratory, exhibit, *alone, nullptr);
  if (finding.shows != Shows::kYes) return std::nullopt;
  FirstDifference first{within.name,       instruction.name,     instruction.opcode,
                        instruction.shape, instruction.metadata, {}};
  if (!finding.comparison.errors.empty()) first.error = finding.comparison.errors[0];
  return first;
}

}  // namespace

std::optional<FirstDifference> FindFirstDifference(Laboratory& laboratory, const Exhibit& exhibit,
                                                   double left) {
  size_t computation = exhibit.program->entry;
  size_t place = 0;
  std::optional<FirstDifference> first = FirstIn(laboratory, exhibit, computation, left, &place);
  while (first) {
    // Within what a loop or call runs, where that shows it by itself.
    const TextInstruction& instruction =
        exhibit.program->computations[computation].instructions[place];
    std::optional<FirstDifference> deeper;
    if (instruction.opcode == "while" || instruction.opcode == "call" ||
        instruction.opcode == "conditional") {
      for (size_t called : instruction.called) {
        deeper = FirstIn(laboratory, exhibit, called, left, &place);
        if (!deeper) continue;
        computation = called;
        break;
      }
    }
    if (!deeper) break;
    first = std::move(deeper);
  }
  return first;
}

}  // namespace hone::blame
