#include "report/paired.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/rng.h"
#include "report/quantile.h"

namespace hone::report {
namespace {

using Logs = std::map<std::string, std::vector<double>>;  // of samples, by program

// [method][program], of the programs that all have.
std::vector<std::vector<std::vector<double>>> CommonLogs(
    const std::vector<std::vector<Sample>>& methods) {
  std::vector<Logs> logs(methods.size());
  for (size_t i = 0; i < methods.size(); ++i) {
    for (const Sample& sample : methods[i]) {
      logs[i][sample.program].push_back(std::log(sample.value));
    }
  }
  std::vector<std::vector<std::vector<double>>> common(methods.size());
  if (logs.empty()) return common;
  for (const auto& [program, samples] : logs.front()) {
    const bool everywhere = std::all_of(logs.begin(), logs.end(), [&](const Logs& of_method) {
      return of_method.count(program) > 0;
    });
    if (!everywhere) continue;
    for (size_t i = 0; i < methods.size(); ++i) common[i].push_back(logs[i].at(program));
  }
  return common;
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double DrawnMean(const std::vector<double>& values, Rng& rng) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += rng.Pick(values);
  return sum / static_cast<double>(values.size());
}

}  // namespace

const char* StandingName(Standing standing) {
  switch (standing) {
    case Standing::kBetter:
      return "better";
    case Standing::kWorse:
      return "worse";
    case Standing::kUnclear:
      break;
  }
  return "unclear";
}

std::vector<Pair> ComparePairs(const std::vector<std::vector<Sample>>& methods, uint64_t seed,
                               int resamples) {
  const auto logs = CommonLogs(methods);
  const size_t programs = logs.empty() ? 0 : logs.front().size();
  std::vector<double> means(methods.size());
  // [method][resample]: the mean logarithm.
  std::vector<std::vector<double>> drawn(methods.size());
  if (programs > 0) {
    for (size_t i = 0; i < methods.size(); ++i) {
      for (const std::vector<double>& samples : logs[i]) {
        means[i] += MeanOf(samples) / static_cast<double>(programs);
      }
    }
    Rng rng(seed);
    for (int r = 0; r < resamples; ++r) {
      std::vector<double> sums(methods.size());
      for (size_t j = 0; j < programs; ++j) {
        const size_t program = rng.Below(programs);
        for (size_t i = 0; i < methods.size(); ++i) sums[i] += DrawnMean(logs[i][program], rng);
      }
      for (size_t i = 0; i < methods.size(); ++i) {
        drawn[i].push_back(sums[i] / static_cast<double>(programs));
      }
    }
  }
  std::vector<Pair> pairs;
  for (size_t a = 0; a < methods.size(); ++a) {
    for (size_t b = a + 1; b < methods.size(); ++b) {
      Pair pair;
      pair.a = a;
      pair.b = b;
      pair.quotient.programs = programs;
      if (programs > 0) {
        pair.quotient.mean = std::exp(means[a] - means[b]);
        std::vector<double> differences;
        for (size_t r = 0; r < drawn[a].size(); ++r) {
          differences.push_back(std::exp(drawn[a][r] - drawn[b][r]));
        }
        std::sort(differences.begin(), differences.end());
        pair.quotient.low = differences.empty() ? pair.quotient.mean : Quantile(differences, 0.025);
        pair.quotient.high =
            differences.empty() ? pair.quotient.mean : Quantile(differences, 0.975);
      }
      if (programs >= kLeastPrograms && resamples > 0) {
        pair.standing = pair.quotient.low > 1    ? Standing::kBetter
                        : pair.quotient.high < 1 ? Standing::kWorse
                                                 : Standing::kUnclear;
      }
      pairs.push_back(pair);
    }
  }
  return pairs;
}

std::vector<Sample> Ratios(const std::vector<Evaluation>& rows, const Moment& moment) {
  std::vector<Sample> samples;
  for (const Evaluation& row : rows) {
    const double value = moment.steps > 0     ? row.ValueAt(moment.steps)
                         : moment.seconds > 0 ? row.ValueAfter(moment.seconds)
                                              : row.value;
    if (const auto ratio = row.RatioOf(value)) {
      samples.push_back({row.program, std::max(kLeastRatio, *ratio)});
    }
  }
  return samples;
}

}  // namespace hone::report
