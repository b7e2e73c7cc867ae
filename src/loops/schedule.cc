#include "loops/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/file_kinds.h"
#include "core/lines.h"
#include "loops/own_text.h"

namespace hone::loops {
namespace {

constexpr const char* kNames[kStepKinds] = {"pack", "interchange", "parallel", "tile",
                                            "fuse", "vectorize",   "unroll"};
constexpr size_t kMostSteps = 1000;

StatusOr<Step> ParseStep(const std::vector<std::string_view>& words) {
  const auto wrong = [](std::string what) {
    return MakeError(ErrorCode::kInvalidInput, std::move(what));
  };
  if (words.size() < 2) return wrong("expected `SITE DECISION …`");
  Step step;
  step.site = words[0];
  const auto kind = std::find(std::begin(kNames), std::end(kNames), words[1]);
  if (kind == std::end(kNames)) {
    return wrong(
        fmt::format("there is no decision {}; there are {}", words[1], fmt::join(kNames, ", ")));
  }
  step.kind = static_cast<StepKind>(kind - std::begin(kNames));
  const size_t wanted = step.kind == StepKind::kVectorize ? 2 : 3;
  if (words.size() != wanted) {
    return wrong(fmt::format("{} takes {} argument", words[1], wanted == 2 ? "no" : "one"));
  }
  if (step.kind == StepKind::kFuse) step.producer = words[2];
  if (step.kind == StepKind::kFuse || step.kind == StepKind::kVectorize) return step;
  const char* at = words[2].data();
  const char* const end = at + words[2].size();
  while (true) {
    int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (next != end && *next != ',')) {
      return wrong(fmt::format("`{}`: expected numbers with commas between them", words[2]));
    }
    step.numbers.push_back(number);
    if (next == end) return step;
    at = next + 1;
  }
}

// Of an access's dimension, over a tile.
int64_t SizeOf(const Row& row, const std::vector<int64_t>& extents) {
  int64_t size = 1;
  for (size_t i = 0; i < row.size(); ++i) size += row[i] * (extents[i] - 1);
  return size;
}

}  // namespace

const char* NameOf(StepKind kind) { return kNames[static_cast<size_t>(kind)]; }

StatusOr<Schedule> ParseSchedule(std::string_view text) {
  const std::string_view whole = text;
  Schedule schedule;
  size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    ++number;
    if (std::string_view version; number == 1 && IsFirstLine(kScheduleFile, line, &version)) {
      if (Status reads = CheckVersion(kScheduleFile, version); !reads) {
        return tl::unexpected(reads.error());
      }
      continue;
    }
    const auto words = WordsOf(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    StatusOr<Step> step = ParseStep(words);
    if (step && schedule.size() == kMostSteps) {
      step = MakeError(ErrorCode::kInvalidInput, "more than 1000 decisions");
    }
    if (!step) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("line {}: {}{}", number, step.error().message,
                                   OtherKind(whole, kScheduleFile)));
    }
    schedule.push_back(*std::move(step));
  }
  return schedule;
}

std::string ScheduleText(const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule) {
    text += step.site + " " + NameOf(step.kind);
    if (!step.producer.empty()) text += " " + step.producer;
    if (!step.numbers.empty()) text += fmt::format(" {}", fmt::join(step.numbers, ","));
    text += "\n";
  }
  return text;
}

std::string ScheduleFile(const Schedule& schedule) {
  return FirstLine(kScheduleFile) + ScheduleText(schedule);
}

Scheduled::Scheduled(Program program) : program_(std::move(program)) {
  for (const Nest& nest : program_.nests) {
    SiteState state;
    state.loops = nest.loops;
    for (size_t i = 0; i < nest.loops.size(); ++i) state.order.push_back(i);
    states_.push_back(std::move(state));
  }
}

std::vector<int64_t> Scheduled::Divisors(int64_t extent, bool with_extent) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d * d <= extent; ++d) {
    if (extent % d != 0) continue;
    low.push_back(d);
    if (d != extent / d) high.push_back(extent / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  if (!with_extent) low.pop_back();
  return low;
}

int64_t Scheduled::DivisorUpTo(int64_t extent, int64_t most) {
  int64_t best = 1;
  for (const int64_t divisor : Divisors(extent, true)) {
    if (divisor <= most) best = divisor;
  }
  return best;
}

std::string Scheduled::WhyNotPack(const Step& step, size_t index) const {
  const SiteState& state = states_[index];
  const Nest& nest = program_.nests[index];
  if (state.steps != 0 || state.fused_into >= 0) return "pack comes before any other decision";
  bool any = false;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    const int64_t block = step.numbers[i];
    if (block == 0) continue;
    any = true;
    const int64_t extent = nest.loops[i].extent;
    if (block < 2 || block >= extent || extent % block != 0) {
      return fmt::format("a block of {} does not divide the {} iterations of loop {} into several",
                         block, extent, i);
    }
    if (!MayPack(nest, i)) return fmt::format("loop {} is not alone in an index", i);
  }
  if (nest.loops.size() > 8) return "the nest has too many loops";
  return any ? "" : "no loop has a block";
}

std::string Scheduled::WhyNotTile(const Step& step, size_t index) const {
  const SiteState& state = states_[index];
  const bool parallel = step.kind == StepKind::kParallel;
  bool any = false;
  for (size_t i = 0; i < state.loops.size(); ++i) {
    const int64_t size = step.numbers[i];
    const int64_t extent = state.loops[i].extent;
    if (size == 0) continue;
    if (size < 0 || size > extent || extent % size != 0) {
      return fmt::format("tiles of {} do not divide the {} iterations of loop {}", size, extent, i);
    }
    if (parallel && state.loops[i].reduction) {
      return fmt::format("loop {} sums up: processors cannot share it", i);
    }
    any = any || size < extent;
  }
  return any ? "" : "no loop is tiled";
}

std::string Scheduled::WhyNotFuse(const Step& step, size_t index) const {
  const SiteState& state = states_[index];
  const int found = program_.FindSite(step.producer);
  if (found < 0) return "there is no site " + step.producer;
  const size_t producer = static_cast<size_t>(found);
  if (state.fused_into >= 0) return "it is computed within another nest's tiles";
  if (!state.shared_tiles) return "its last tiles are not of parallel loops only";
  if (states_[producer].steps != 0 || states_[producer].fused_into >= 0) {
    return step.producer + " has been decided about already";
  }
  const Nest& made = program_.nests[producer];
  if (made.own_text()) return step.producer + " is computed by itself";
  if (program_.IsOutput(made.write.tensor)) return step.producer + " is a result of the task";
  const std::vector<int> consumers = program_.ConsumersOf(made.write.tensor);
  for (const int consumer : consumers) {
    const size_t c = static_cast<size_t>(consumer);
    if (c != index && states_[c].fused_into != static_cast<int>(index)) {
      return program_.nests[c].site + " takes it too, and is not within these tiles";
    }
    for (const Access& read : program_.nests[c].reads) {
      if (read.tensor == made.write.tensor && read.view != made.write.view) {
        return program_.nests[c].site + " sees it in another shape";
      }
    }
  }
  return consumers.empty() ? "nothing takes it" : "";
}

std::string Scheduled::WhyNotVectorize(size_t index) const {
  const SiteState& state = states_[index];
  const Nest& nest = program_.nests[index];
  if (state.vectorized) return "it is vectorised already";
  int64_t points = 1;
  std::vector<int64_t> extents(nest.loops.size(), 1);
  for (size_t i = 0; i < state.loops.size(); ++i) {
    points *= state.loops[i].extent;
    extents[state.order[i]] = state.loops[i].extent;
    if (points > kMostVectorized) {
      return fmt::format("a tile has more than {} points", kMostVectorized);
    }
  }
  for (const Access& read : nest.reads) {
    for (const Row& row : read.rows) {
      int loops = 0;
      for (size_t i = 0; i < row.size(); ++i) {
        if (row[i] == 0 || extents[i] == 1) continue;
        ++loops;
        if (row[i] != 1) return "it reads with a stride";
      }
      if (loops > 1) return "it reads through a window";
    }
  }
  return "";
}

// Of a nest that has a text of its own.
std::string Scheduled::WhyNotOwn(const Step& step, size_t index) const {
  const SiteState& state = states_[index];
  const Nest& nest = program_.nests[index];
  if (step.kind == StepKind::kParallel || step.kind == StepKind::kTile) {
    const auto [least, most] = std::minmax_element(step.numbers.begin(), step.numbers.end());
    if (*least < 0) return fmt::format("tiles of {}", *least);
    if (*most == 0) return "no loop is tiled";
  }
  return OwnTextOf(nest).why_not(schedule_, nest, state, step);
}

std::string Scheduled::WhyNot(const Step& step) const {
  const int found = program_.FindSite(step.site);
  if (found < 0) return "there is no site " + step.site;
  const size_t index = static_cast<size_t>(found);
  const SiteState& state = states_[index];
  if (state.vectorized && step.kind != StepKind::kUnroll) return "it is vectorised already";
  const bool a_loop = step.kind == StepKind::kPack || step.kind == StepKind::kInterchange ||
                      step.kind == StepKind::kParallel || step.kind == StepKind::kTile;
  if (a_loop && step.numbers.size() != state.loops.size()) {
    return fmt::format("it takes {} numbers, one a loop, not {}", state.loops.size(),
                       step.numbers.size());
  }
  if (step.kind == StepKind::kUnroll &&
      (step.numbers.size() != 1 || step.numbers[0] < 2 || step.numbers[0] > 16)) {
    return "it takes one number from 2 to 16";
  }
  if (step.kind == StepKind::kParallel) {
    if (state.fused_into >= 0) return "it is computed within another nest's tiles";
    if (state.parallel || state.tiles > 0) return "processors share the outermost tiles, once";
  }
  if (step.kind == StepKind::kTile && state.tiles == 2) {
    return "there are two levels of tiles already";
  }
  if (program_.nests[index].own_text()) return WhyNotOwn(step, index);
  switch (step.kind) {
    case StepKind::kPack:
      return WhyNotPack(step, index);
    case StepKind::kInterchange: {
      std::vector<int64_t> sorted = step.numbers;
      std::sort(sorted.begin(), sorted.end());
      for (size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i] != static_cast<int64_t>(i)) return "that is no permutation of the loops";
      }
      if (std::is_sorted(step.numbers.begin(), step.numbers.end())) return "that changes nothing";
      return "";
    }
    case StepKind::kParallel:
    case StepKind::kTile:
      return WhyNotTile(step, index);
    case StepKind::kFuse:
      return WhyNotFuse(step, index);
    case StepKind::kVectorize:
      return WhyNotVectorize(index);
    case StepKind::kUnroll:
      if (state.unrolled) return "it is unrolled already";
      return state.loop_tiles ? "" : "its last tile has no loop that is run one after another";
  }
  return "there is no such decision";
}

void Scheduled::Fuse(size_t into, size_t producer) {
  SiteState& made = states_[producer];
  made.fused_into = static_cast<int>(into);
  ++made.steps;
  const Nest& nest = program_.nests[producer];
  // The largest part of it that one of its consumers takes of a tile.
  std::vector<int64_t> part(nest.write.rows.size(), 1);
  for (const int consumer : program_.ConsumersOf(nest.write.tensor)) {
    const size_t c = static_cast<size_t>(consumer);
    std::vector<int64_t> extents(program_.nests[c].loops.size(), 1);
    for (size_t i = 0; i < states_[c].loops.size(); ++i) {
      extents[states_[c].order[i]] = states_[c].loops[i].extent;
    }
    for (const Access& read : program_.nests[c].reads) {
      if (read.tensor != nest.write.tensor) continue;
      for (size_t d = 0; d < part.size(); ++d) {
        part[d] = std::min(nest.write.view[d], std::max(part[d], SizeOf(read.rows[d], extents)));
      }
    }
  }
  for (size_t d = 0; d < part.size(); ++d) {
    const int loop = PlainLoop(nest.write.rows[d]);
    if (loop >= 0) made.loops[static_cast<size_t>(loop)].extent = part[d];
  }
}

Status Scheduled::Apply(const Step& step) {
  if (std::string why = WhyNot(step); !why.empty()) {
    return MakeError(ErrorCode::kInvalidInput, step.site + " " + NameOf(step.kind) + ": " + why);
  }
  size_t index = static_cast<size_t>(program_.FindSite(step.site));
  schedule_.push_back(step);
  if (step.kind == StepKind::kPack) {
    const size_t before = program_.nests.size();
    Pack(program_, static_cast<int>(index), step.numbers);
    const size_t added = program_.nests.size() - before;
    for (SiteState& state : states_) {
      if (state.fused_into >= static_cast<int>(index)) state.fused_into += static_cast<int>(added);
    }
    states_.erase(states_.begin() + static_cast<ptrdiff_t>(index));
    for (size_t i = index; i <= index + added; ++i) {
      SiteState state;
      state.loops = program_.nests[i].loops;
      for (size_t l = 0; l < state.loops.size(); ++l) state.order.push_back(l);
      states_.insert(states_.begin() + static_cast<ptrdiff_t>(i), std::move(state));
    }
    states_[index + added].steps = 1;
    return {};
  }
  SiteState& state = states_[index];
  ++state.steps;
  switch (step.kind) {
    case StepKind::kInterchange: {
      const SiteState old = state;
      for (size_t i = 0; i < step.numbers.size(); ++i) {
        state.loops[i] = old.loops[static_cast<size_t>(step.numbers[i])];
        state.order[i] = old.order[static_cast<size_t>(step.numbers[i])];
      }
      break;
    }
    case StepKind::kParallel:
    case StepKind::kTile: {
      bool reduces = false;
      for (size_t i = 0; i < step.numbers.size(); ++i) {
        if (step.numbers[i] == 0) continue;
        reduces = reduces || state.loops[i].reduction;
        state.loops[i].extent = step.numbers[i];
      }
      state.shared_tiles = !reduces && !program_.nests[index].own_text();
      state.loop_tiles = reduces;
      if (step.kind == StepKind::kParallel) {
        state.parallel = true;
      } else {
        ++state.tiles;
      }
      break;
    }
    case StepKind::kFuse:
      Fuse(index, static_cast<size_t>(program_.FindSite(step.producer)));
      break;
    case StepKind::kVectorize:
      state.vectorized = true;
      break;
    case StepKind::kUnroll:
      state.unrolled = true;
      break;
    case StepKind::kPack:
      break;
  }
  return {};
}

StatusOr<Scheduled> Apply(const Program& program, const Schedule& schedule) {
  Scheduled scheduled(program);
  for (size_t i = 0; i < schedule.size(); ++i) {
    if (Status done = scheduled.Apply(schedule[i]); !done) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("decision {}: {}", i + 1, done.error().message));
    }
  }
  return scheduled;
}

}  // namespace hone::loops
