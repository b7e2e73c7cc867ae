#include "blame/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "blame/narrow.h"

namespace hone::blame {
namespace {

// Shares of the budget that are left for what comes later.
constexpr double kLeftAfterSearch = 0.35;
constexpr double kLeftAfterReducing = 0.08;
constexpr int kProcesses = 2;     // fresh ones, in which a slowdown must show
constexpr int kMostCauses = 4;    // of one question
constexpr double kFirstRace = 4;  // seconds
constexpr double kCompare = 60;   // seconds of a comparison

std::vector<size_t> Without(const std::vector<size_t>& all, const std::vector<size_t>& part) {
  std::vector<size_t> rest;
  std::set_difference(all.begin(), all.end(), part.begin(), part.end(), std::back_inserter(rest));
  return rest;
}

std::string Figures(const Finding& finding) {
  return fmt::format("{:.3f} times the time, 95 % interval [{:.3f}, {:.3f}] of {} pairs",
                     finding.ratio, finding.low, finding.high, finding.pairs);
}

std::string NotShown(Question question, const Finding& finding) {
  if (question == Question::kDifferent) return "they compute the same";
  if (finding.same_executable) return "the compiler makes the same of both";
  return "it is not slower: " + Figures(finding);
}

class Blaming {
 public:
  Blaming(Laboratory& laboratory, const ProgramInfo& program, const BlameOptions& options)
      : laboratory_(laboratory),
        program_(program),
        options_(options),
        differences_(options.a, options.b) {}

  StatusOr<BlameResult> Run() {
    BlameResult result;
    result.differences = differences_.list();
    const auto compiled = laboratory_.Compile(program_.id, options_.a, false, false);
    if (!compiled) return tl::unexpected(compiled.error());
    const auto other = laboratory_.Compile(program_.id, options_.b, false, false);
    if (!other) return tl::unexpected(other.error());
    const int questions = int{options_.slower} + int{options_.different};
    // Values first: they take no measuring, and what computes something else is no slowdown.
    if (options_.different) {
      left_ = questions == 2 ? options_.budget_seconds / 2 : 0;
      result.answers.push_back(Ask(Question::kDifferent));
    }
    left_ = 0;
    if (options_.slower) result.answers.push_back(Ask(Question::kSlower));
    result.seconds = laboratory_.Spent();
    result.interrupted = laboratory_.interrupted();
    return result;
  }

 private:
  void Report(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  // Seconds that may still be spent on the question, but for a share of it.
  double Keep(double share) const { return left_ + share * (options_.budget_seconds - left_); }

  Finding Test(Question question, const tune::TunePlan& a, const tune::TunePlan& b,
               double threshold) {
    ++tests_;
    return question == Question::kSlower
               ? laboratory_.Slower(program_.id, a, b, threshold, race_seconds_)
               : laboratory_.Different(program_.id, a, b, kCompare);
  }

  // In fresh processes where it is a matter of time.
  Finding Confirm(Question question, const tune::TunePlan& a, const tune::TunePlan& b) {
    if (question == Question::kDifferent) return Test(question, a, b, 0);
    std::vector<Finding> findings;
    for (int i = 0; i < kProcesses; ++i) {
      laboratory_.Restart();
      findings.push_back(laboratory_.Slower(program_.id, a, b, options_.least,
                                            std::max(kFirstRace, race_seconds_)));
      if (findings.back().shows != Shows::kYes || findings.back().same_executable) break;
    }
    return OfAll(std::move(findings));
  }

  Answer Ask(Question question) {
    Answer answer;
    answer.question = question;
    Report(question == Question::kSlower ? "racing one against the other"
                                         : "comparing what they compute");
    answer.whole = Confirm(question, options_.a, options_.b);
    if (answer.whole.shows == Shows::kNo) {
      answer.settled = true;
      answer.reason = NotShown(question, answer.whole);
      return answer;
    }
    if (answer.whole.shows == Shows::kUnsure) {
      answer.reason = !answer.whole.error.empty() ? answer.whole.error
                                                  : "too close to tell: " + Figures(answer.whole);
      return answer;
    }
    if (question == Question::kSlower) {
      // A race that is not clear takes as long as a score of runs.
      race_seconds_ = std::clamp(20 * (answer.whole.seconds_a + answer.whole.seconds_b), 0.3, 6.0);
    }
    std::vector<size_t> rest(differences_.list().size());
    std::iota(rest.begin(), rest.end(), size_t{0});
    Finding shown = answer.whole;
    while (static_cast<int>(answer.causes.size()) < kMostCauses) {
      std::vector<size_t> guilty;
      std::optional<Cause> cause = FindCause(question, rest, shown, &guilty, &answer.reason);
      if (!cause) return answer;
      rest = Without(rest, guilty);
      answer.causes.push_back(*std::move(cause));
      if (rest.empty()) {
        answer.settled = true;
        break;
      }
      Report("whether that is all");
      shown = Confirm(question, options_.a, differences_.With(rest));
      if (shown.shows != Shows::kYes) {
        answer.settled = shown.shows == Shows::kNo;
        if (!answer.settled) answer.reason = "whether that is all is too close to tell";
        break;
      }
    }
    return answer;
  }

  // What a part of the slowdown must be to be seen: of several causes each shows, and of none the
  // noise stays below.
  double Threshold(Question question, const Finding& shown) const {
    if (question == Question::kDifferent) return 0;
    return std::max(options_.least, std::pow(std::max(1.0, shown.ratio), 0.4));
  }

  struct Guilty {
    std::vector<size_t> part;
    double threshold = 0;
  };

  // The smallest part of `rest` that shows it when it is added to a, or else the smallest without
  // which b, of which `rest` is left, is mended.
  std::optional<Guilty> Search(Question question, const std::vector<size_t>& rest,
                               const Finding& shown, bool added, std::string* reason) {
    double threshold = Threshold(question, shown);
    const double keep = Keep(kLeftAfterSearch);
    const auto stop = [&] { return laboratory_.Over(keep); };
    size_t unsure = 0;
    const auto test = [&](const std::vector<size_t>& chosen) {
      Report(fmt::format("{}: {} {} of {} decisions, test {}", QuestionName(question),
                         added ? "with" : "without", chosen.size(), rest.size(), tests_ + 1));
      const Finding finding = added
                                  ? Test(question, options_.a, differences_.With(chosen), threshold)
                                  : Test(question, differences_.With(Without(rest, chosen)),
                                         differences_.With(rest), threshold);
      unsure += finding.shows == Shows::kUnsure;
      return finding.shows;
    };
    Minimised found = Minimise(rest, test, stop);
    while (found.minimal && found.part.size() > 1 && threshold > options_.least) {
      // Each may do a part of it.
      threshold = std::max(options_.least, std::sqrt(threshold));
      unsure = 0;
      found = Minimise(found.part, test, stop);
    }
    if (!found.minimal) {
      *reason =
          fmt::format("{}: among {} decisions it was not found out which",
                      laboratory_.interrupted() ? "interrupted" : "out of time", found.part.size());
      return std::nullopt;
    }
    if (found.part.size() > 1 && unsure > 0) {
      *reason = fmt::format("not sure which of {} decisions: the measurements are too close",
                            found.part.size());
      return std::nullopt;
    }
    return Guilty{found.part, threshold};
  }

  // Both ways round, in fresh processes: which of them does not hold is told.
  bool Convict(Question question, const std::vector<size_t>& rest, const Guilty& guilty,
               Cause* cause, std::string* reason) {
    Report("confirming in fresh processes");
    const std::string suspect = fmt::format("suspected, not proved: {}", NameAll(guilty.part));
    const auto doubt = [&](const char* why) {
      *reason = suspect + "; " + (laboratory_.interrupted() ? "interrupted" : why);
      return false;
    };
    cause->with = Confirm(question, options_.a, differences_.With(guilty.part));
    if (cause->with.shows != Shows::kYes) {
      return doubt("added by itself it does not do it in fresh processes");
    }
    cause->without =
        Confirm(question, differences_.With(Without(rest, guilty.part)), differences_.With(rest));
    return cause->without.shows == Shows::kYes || doubt("leaving it out alone does not mend it");
  }

  std::optional<Cause> FindCause(Question question, const std::vector<size_t>& rest,
                                 const Finding& shown, std::vector<size_t>* part,
                                 std::string* reason) {
    // What does it alone may be undone by others, and what mends it may do nothing alone: what is
    // found one way and does not stand is sought the other way.
    for (const bool added : {true, false}) {
      const auto guilty = Search(question, rest, shown, added, reason);
      if (!guilty) return std::nullopt;
      Cause cause;
      if (!Convict(question, rest, *guilty, &cause, reason)) {
        if (laboratory_.interrupted()) return std::nullopt;
        continue;
      }
      reason->clear();
      *part = guilty->part;
      for (size_t i : guilty->part) {
        cause.decisions.push_back(
            Narrowed(question, i, guilty->part, guilty->threshold, Keep(kLeftAfterSearch)));
      }
      Illustrate(question, cause);
      return cause;
    }
    return std::nullopt;
  }

  std::string NameAll(const std::vector<size_t>& chosen) const {
    std::string names;
    for (size_t i : chosen) {
      const Difference& difference = differences_.list()[i];
      names += fmt::format("{}{} {}", names.empty() ? "" : ", ",
                           DifferenceKindName(difference.kind), difference.name);
    }
    return names;
  }

  // As far down as decisions go.
  Decision Narrowed(Question question, size_t index, const std::vector<size_t>& guilty,
                    double threshold, double keep) {
    Narrowing narrowing{laboratory_, program_.id, options_.a};
    narrowing.test = [&](const tune::TunePlan& a, const tune::TunePlan& b) {
      return Test(question, a, b, threshold);
    };
    narrowing.confirm = [&](const tune::TunePlan& a, const tune::TunePlan& b) {
      return Confirm(question, a, b);
    };
    narrowing.stop = [this, keep] { return laboratory_.Over(keep); };
    Report("narrowing it down");
    return Narrow(narrowing, differences_, index, guilty);
  }

  // What people want to see of it.
  void Illustrate(Question question, Cause& cause) {
    Report("looking at what it changed");
    auto text = laboratory_.TextAfterPasses(program_.id, {});
    if (!text) return;
    const StatusOr<ProgramText> program = ParseProgramText(*text);
    std::vector<std::string> around;
    for (const Decision& decision : cause.decisions) {
      for (const RewriteSite& site : decision.rewrites) around.push_back(site.instruction);
      for (const DecidedSite& site : decision.sites) around.push_back(site.site.instruction);
    }
    if (program) {
      for (const std::string& name : around) {
        const auto place = FindInstruction(*program, name);
        if (!place || !cause.source.empty()) continue;
        cause.source =
            program->computations[place->computation].instructions[place->instruction].metadata;
      }
    }
    if (question == Question::kSlower && !laboratory_.Over(left_)) CompareKernels(cause);
    if (!program) return;
    Exhibit exhibit{&*program, options_.a, cause.decisions, question,
                    std::max(options_.least, std::sqrt(std::max(1.0, cause.with.ratio)))};
    const double keep = Keep(kLeftAfterReducing);
    if (question == Question::kDifferent) {
      Report("looking for the first value that differs");
      cause.first = FindFirstDifference(laboratory_, exhibit, keep);
    }
    if (!options_.reduce) return;
    Report("making a small program of it");
    std::vector<std::vector<std::string>> groups = {around};
    if (cause.first) groups.push_back({cause.first->instruction});
    for (const KernelChange& change : cause.kernels) {
      if (change.seconds_b > change.seconds_a) groups.push_back(change.parts);
    }
    cause.reduced = Reduce(laboratory_, exhibit, groups, keep);
  }

  void CompareKernels(Cause& cause) {
    const auto b = OnPart(laboratory_, program_.id, options_.a, cause.decisions);
    if (b) cause.kernels = laboratory_.Kernels({program_.id, &options_.a}, {program_.id, &*b});
  }

  Laboratory& laboratory_;
  const ProgramInfo& program_;
  const BlameOptions& options_;
  const Differences differences_;
  double left_ = 0;  // seconds that the next question has
  double race_seconds_ = 1;
  int tests_ = 0;
};

// One program against another, asked one question.
Answer AskOf(Laboratory& laboratory, const ProgramInfo& a, const ProgramInfo& b, Question question,
             double least) {
  const tune::TunePlan stock;
  const Laboratory::Way way_a{a.id, &stock};
  const Laboratory::Way way_b{b.id, &stock};
  Answer answer;
  answer.question = question;
  if (question == Question::kDifferent) {
    answer.whole = laboratory.Different(way_a, way_b, kCompare);
  } else {
    std::vector<Finding> findings;
    for (int i = 0; i < kProcesses; ++i) {
      laboratory.Restart();
      findings.push_back(laboratory.Slower(way_a, way_b, least, kFirstRace));
      if (findings.back().shows != Shows::kYes) break;
    }
    answer.whole = OfAll(std::move(findings));
  }
  answer.settled = answer.whole.shows == Shows::kNo;
  if (answer.settled) {
    answer.reason = NotShown(question, answer.whole);
  } else if (answer.whole.shows == Shows::kUnsure) {
    answer.reason = answer.whole.error.empty() ? "too close to tell" : answer.whole.error;
  } else {
    answer.reason = "two programs have no list of decisions between them";
    if (question == Question::kSlower) {
      answer.kernels = laboratory.Kernels(way_a, way_b);
      answer.reason += ": the kernels tell where";
    }
  }
  return answer;
}

}  // namespace

StatusOr<BlameResult> BlamePrograms(Pool& pool, const ProgramInfo& a, const ProgramInfo& b,
                                    const BlameOptions& options) {
  LaboratoryOptions asked;
  asked.seed = options.seed;
  asked.budget_seconds = options.budget_seconds;
  asked.interrupted = options.interrupted;
  Laboratory laboratory(pool, asked);
  BlameResult result;
  for (const Question question : {Question::kDifferent, Question::kSlower}) {
    if (!(question == Question::kSlower ? options.slower : options.different)) continue;
    if (laboratory.interrupted()) break;
    if (options.progress) {
      options.progress(fmt::format("are the two {}?", QuestionName(question)));
    }
    result.answers.push_back(AskOf(laboratory, a, b, question, options.least));
  }
  result.seconds = laboratory.Spent();
  result.interrupted = laboratory.interrupted();
  return result;
}

StatusOr<BlameResult> Blame(Pool& pool, const ProgramInfo& program, const BlameOptions& options) {
  LaboratoryOptions asked;
  asked.seed = options.seed;
  asked.budget_seconds = options.budget_seconds;
  asked.interrupted = options.interrupted;
  Laboratory laboratory(pool, asked);
  return Blaming(laboratory, program, options).Run();
}

}  // namespace hone::blame
