#include "tune/choose_order.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/objective.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Candidates of which it may not be known what they compute before XLA's own order has its turn.
constexpr size_t kMostUntold = 2;
// Candidates that cannot be compiled and are looked at for what is wrong, and passes that are left
// out of each.
constexpr int kMostMended = 2, kMostCulprits = 4;

class Chooser {
 public:
  Chooser(Pool& pool, PassOrder& order, const OptimizeOptions& options,
          const std::function<void(std::string_view)>& report, OptimizeResult& result)
      : pool_(pool), order_(order), options_(options), report_(report), result_(result) {}

  // Makes the finalists, best first, and takes the first that keeps its promise and computes the
  // same. Whatever goes wrong with one, the next has its turn. Where of none it can be told, the
  // best is taken all the same, when nothing speaks against it.
  void Choose(std::vector<FoundOrder> all, const std::optional<FoundOrder>& by_default) {
    const Clock::time_point start = Clock::now();
    size_t different = 0;  // candidates that computed something else
    size_t untold = 0;     // of which it cannot be told
    bool taken = false;
    for (size_t i = 0; i < all.size() && !taken; ++i) {
      const FoundOrder candidate = all[i];
      const bool last = candidate.passes.empty();
      if (given_up_ && (unverified_ || !last)) continue;
      const bool own_order = by_default && candidate.state == by_default->state;
      const bool has_patterns = Uses(candidate, pool_.passes(), IsPatterns);
      if (has_patterns && different >= kFallbacks) continue;
      if (untold >= kMostUntold && !own_order) continue;
      StatusOr<Made> made = Make(candidate);
      if (!made) {
        Reject(candidate, made.error().message);
        continue;
      }
      // It came out worse than promised: then it stands back behind those that are now better.
      const auto better = [&](const FoundOrder& other) {
        return other.value < made->candidate.value;
      };
      const auto next = all.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (made->candidate.value > candidate.value && !candidate.stood_back && next != all.end() &&
          better(*next)) {
        made->candidate.stood_back = true;
        all.insert(std::find_if_not(next, all.end(), better), made->candidate);
        Discard(*made);
        continue;
      }
      const ProgramId id = made->id;
      const size_t untold_before = untold;
      taken = !options_.verify || Stands(candidate, *made, last, different, untold);
      if (taken) Take(*std::move(made));
      if (untold > untold_before && mended_ < kMostMended && !Compiles({id, {}})) {
        ++mended_;
        if (std::optional<FoundOrder> mended = Mended(candidate)) {
          const auto after = all.begin() + static_cast<std::ptrdiff_t>(i) + 1;
          all.insert(std::find_if_not(
                         after, all.end(),
                         [&](const FoundOrder& other) { return other.value < mended->value; }),
                     *std::move(mended));
          --untold;  // what was wrong with it is known
        }
      }
      pool_.Unload(id);
    }
    if (taken) {
      for (const Untold& untold : untold_) Reject(untold.candidate, untold.report.reason);
    } else if (unverified_ && (given_up_ || !TakeProgramItself())) {
      // Of none it can be told: the best, and what spoke against comparing it.
      Take(*std::move(unverified_));
      result_.verification_ran = true;
      result_.verification = untold_.front().report;
    }
    result_.verify_seconds = Since(start);
  }

 private:
  // A finalist as it would be written: its bytes, read again as a program of their own. What is
  // compared and measured is what these bytes say, so that nothing has to be made a second time.
  struct Made {
    FoundOrder candidate;
    Metrics metrics;
    std::string bytes;
    ProgramId id = 0;  // of the bytes; Discard lets go of it
  };

  StatusOr<Made> Make(const FoundOrder& finalist) {
    report_("replay");
    StatusOr<FoundOrder> replayed = Replay(finalist);
    if (!replayed) return tl::unexpected(replayed.error());
    if (options_.same_bytes) pool_.EndProcesses();
    StatusOr<Exported> exported = pool_.Export(Name(*replayed), options_.format);
    if (!exported) return tl::unexpected(exported.error());
    Made made{*std::move(replayed), metrics_, std::move(exported->bytes)};
    const StatusOr<ProgramInfo> read = pool_.Load(made.bytes);
    if (!read) {
      return MakeError(ErrorCode::kInternal,
                       "XLA does not read again what it writes: " + read.error().message);
    }
    made.id = read->id;
    if (exported->state == made.candidate.state) return made;
    // Not every pass of XLA's makes the same each time. This one has been made, so this one counts.
    made.candidate.state = exported->state;
    made.metrics = read->metrics;
    if (IsMeasuredApart(options_.objective)) {
      if (const auto measured = pool_.Measure({made.id, {}})) made.metrics = *measured;
    }
    made.candidate.value = order_.Value(made.metrics);
    return made;
  }

  void Discard(const Made& made) { pool_.Unload(made.id); }

  bool Compiles(const StateName& state) {
    CompileOptions quickly;
    quickly.sites = false;
    return pool_.Compile(state, {}, quickly).has_value();
  }

  // What is left of an order whose result cannot be compiled without the passes after which it
  // cannot; nothing where that is not found.
  std::optional<FoundOrder> Mended(FoundOrder order) {
    const auto compiles = [&](size_t passes) {
      FoundOrder prefix = order;
      prefix.passes.resize(passes);
      return Compiles(Name(prefix));
    };
    for (int times = 0; times < kMostCulprits && !Interrupted(); ++times) {
      if (compiles(order.passes.size())) {
        StatusOr<FoundOrder> replayed = Replay(order);
        return replayed ? std::make_optional(*std::move(replayed)) : std::nullopt;
      }
      size_t good = 0, bad = order.passes.size();
      while (bad - good > 1) {
        const size_t middle = good + (bad - good) / 2;
        (compiles(middle) ? good : bad) = middle;
      }
      if (bad == 0) return std::nullopt;
      const PassId culprit = order.passes[bad - 1];
      order.passes.erase(std::remove(order.passes.begin(), order.passes.end(), culprit),
                         order.passes.end());
    }
    return std::nullopt;
  }

  // Where the program can be compiled and what was made of it cannot.
  bool TakeProgramItself() {
    if (Compiles(Name(unverified_->candidate)) || !Compiles({order_.program().id, {}}))
      return false;
    StatusOr<Made> made = Make({order_.initial_value(), {}, order_.program().fingerprint});
    if (!made) return false;
    for (const Untold& untold : untold_) Reject(untold.candidate, untold.report.reason);
    result_.verification_ran = true;
    result_.verification.verdict = Verdict::kEqual;
    result_.verification.method = "the program itself";
    Discard(*made);
    Take(*std::move(made));
    return true;
  }

  // Whether it is the result, compared as far as may be.
  bool Stands(const FoundOrder& candidate, Made& made, bool last, size_t& different,
              size_t& untold) {
    report_("verify");
    CompareOptions comparing = options_.compare;
    comparing.stop = options_.interrupted;
    const bool hurried_before = Interrupted();
    const Clock::time_point start = Clock::now();
    StatusOr<ComparisonReport> report =
        pool_.Compare({order_.program().id, {}}, {made.id, {}}, comparing);
    given_up_ = !hurried_before && Interrupted();
    if (!report) {
      ComparisonReport broken;
      broken.method = "none";
      broken.reason = "the comparison broke down: " + report.error().message;
      broken.seconds = Since(start);
      report = broken;
    }
    if (report->verdict == Verdict::kDifferent && !last) {
      Reject(candidate, "it computes something else: " + report->reason);
      ++different;
      return false;
    }
    // It may be this one that cannot be compiled or run, or any: another will tell. But for what
    // takes its time.
    if (report->verdict == Verdict::kCannotTell && !last) {
      const bool slow = report->seconds > options_.compare.budget_seconds / 4;
      untold += slow ? kMostUntold : 1;
      untold_.push_back({candidate, *report});
      if (!unverified_) unverified_ = std::move(made);
      return false;
    }
    result_.verification_ran = true;
    result_.verification = *report;
    return true;
  }

  StateName Name(const FoundOrder& candidate) const {
    StateName name{order_.program().id, {}};
    for (PassId pass : candidate.passes) name.links.push_back({pass, {}});
    return name;
  }

  // From the program, step by step. Passes that turn out to change nothing are left out.
  StatusOr<FoundOrder> Replay(const FoundOrder& candidate) {
    StatusOr<std::vector<Step>> steps = order_.Replay(candidate.passes);
    if (!steps) return tl::unexpected(steps.error());
    FoundOrder replayed;
    replayed.value = order_.initial_value();
    replayed.state = order_.program().fingerprint;
    metrics_ = order_.initial_metrics();
    for (const Step& step : *steps) {
      if (!step.failure.empty()) {
        return MakeError(ErrorCode::kPassFailed,
                         pool_.passes()[step.pass].name + " failed: " + step.failure);
      }
      if (!step.changed) continue;
      replayed.passes.push_back(step.pass);
      replayed.state = step.state;
      replayed.value = order_.Value(step.metrics);
      metrics_ = step.metrics;
    }
    return replayed;
  }

  void Take(Made&& made) {
    result_.value = made.candidate.value;
    result_.passes = made.candidate.passes;
    result_.state = made.candidate.state;
    result_.metrics = made.metrics;
    result_.bytes = std::move(made.bytes);
  }

  void Reject(const FoundOrder& candidate, const std::string& why) {
    std::string text =
        std::to_string(static_cast<int64_t>(candidate.value)) + ": " + why + "; passes:";
    for (PassId pass : candidate.passes) text += " " + pool_.passes()[pass].name;
    result_.rejected.push_back(std::move(text));
  }

  bool Interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }

  Pool& pool_;
  PassOrder& order_;
  const OptimizeOptions& options_;
  const std::function<void(std::string_view)>& report_;
  OptimizeResult& result_;
  struct Untold {
    FoundOrder candidate;
    ComparisonReport report;
  };
  std::vector<Untold> untold_;      // of which it cannot be told what they compute
  std::optional<Made> unverified_;  // the first of them
  int mended_ = 0;                  // that were looked at for what is wrong with them
  bool given_up_ = false;           // a comparison was interrupted: there is to be no other
  Metrics metrics_;                 // of the last replay
};

}  // namespace

void ChooseOrder(Pool& pool, PassOrder& order, const OptimizeOptions& options,
                 std::vector<FoundOrder> candidates, const std::optional<FoundOrder>& by_default,
                 const std::function<void(std::string_view)>& report, OptimizeResult& result) {
  Chooser(pool, order, options, report, result).Choose(std::move(candidates), by_default);
}

}  // namespace hone
