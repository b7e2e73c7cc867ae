// The part of codec.h that is about running, racing and comparing.
#include <algorithm>
#include <string>
#include <vector>

#include "wire/codec.h"
#include "wire/codec_data.h"

namespace hone::wire {
namespace {

void Arrays(const std::vector<std::string>& arrays, capnp::List<capnp::Data>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, AsData(arrays[i]));
}

std::vector<std::string> Arrays(capnp::List<capnp::Data>::Reader in) {
  std::vector<std::string> arrays;
  for (auto array : in) arrays.push_back(AsString(array));
  return arrays;
}

void ArraysOfArrays(const std::vector<std::vector<std::string>>& lists,
                    capnp::List<capnp::List<capnp::Data>>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i) {
    Arrays(lists[i], out.init(i, static_cast<unsigned>(lists[i].size())));
  }
}

std::vector<std::vector<std::string>> ArraysOfArrays(
    capnp::List<capnp::List<capnp::Data>>::Reader in) {
  std::vector<std::vector<std::string>> lists;
  for (auto arrays : in) lists.push_back(Arrays(arrays));
  return lists;
}

}  // namespace

void ToWire(const hone::RaceOptions& options, RaceOptions::Builder out) {
  out.setBudgetSeconds(options.budget_seconds);
  out.setLeastSampleSeconds(options.least_sample_seconds);
  out.setLeastPairs(static_cast<uint32_t>(options.least_pairs));
  out.setMostPairs(static_cast<uint32_t>(options.most_pairs));
  out.setIndifferent(options.indifferent);
  out.setSeed(options.seed);
  out.setClear(options.clear);
  out.setCandidateSeconds(options.candidate_seconds);
  out.setEstimate(options.estimate);
}

hone::RaceOptions FromWire(RaceOptions::Reader in) {
  constexpr uint32_t kMost = 1'000'000;
  return {in.getBudgetSeconds(),
          in.getLeastSampleSeconds(),
          static_cast<int>(std::min(in.getLeastPairs(), kMost)),
          static_cast<int>(std::min(in.getMostPairs(), kMost)),
          in.getIndifferent(),
          in.getSeed(),
          in.getClear(),
          hone::RaceOptions().compile_seconds,  // the agent's own business
          in.getCandidateSeconds(),
          in.getEstimate()};
}

void ToWire(const hone::RaceReport& report, RaceReport::Builder out) {
  out.setSameExecutable(report.same_executable);
  out.setSecondsA(report.seconds_a);
  out.setSecondsB(report.seconds_b);
  out.setSpeedup(report.speedup);
  out.setLow(report.low);
  out.setHigh(report.high);
  out.setPairs(static_cast<uint32_t>(report.pairs));
  out.setCompileSecondsA(report.compile_seconds_a);
  out.setCompileSecondsB(report.compile_seconds_b);
  ToWire(report.executable_a, out.initExecutableA());
  ToWire(report.executable_b, out.initExecutableB());
}

hone::RaceReport FromWire(RaceReport::Reader in) {
  return {in.getSameExecutable(),
          in.getSecondsA(),
          in.getSecondsB(),
          in.getSpeedup(),
          in.getLow(),
          in.getHigh(),
          static_cast<int>(in.getPairs()),
          in.getCompileSecondsA(),
          in.getCompileSecondsB(),
          FromWire(in.getExecutableA()),
          FromWire(in.getExecutableB())};
}

void ToWire(const hone::EvaluationOptions& options, EvaluationOptions::Builder out) {
  out.setSeed(options.seed);
  out.setKind(static_cast<uint8_t>(options.kind));
  out.setMoved(static_cast<uint8_t>(options.moved));
  out.setNoisy(static_cast<uint8_t>(options.noisy));
  out.setRun(options.run);
  Arrays(options.given, out.initGiven(static_cast<unsigned>(options.given.size())));
}

hone::EvaluationOptions FromWire(EvaluationOptions::Reader in) {
  hone::EvaluationOptions options;
  options.seed = in.getSeed();
  options.kind = in.getKind();
  options.moved = in.getMoved();
  options.noisy = in.getNoisy();
  options.run = in.getRun();
  options.given = Arrays(in.getGiven());
  return options;
}

void ToWire(const hone::Evaluation& evaluation, Evaluation::Builder out) {
  const auto size = [](const auto& list) { return static_cast<unsigned>(list.size()); };
  Arrays(evaluation.parameters, out.initParameters(size(evaluation.parameters)));
  Arrays(evaluation.results, out.initResults(size(evaluation.results)));
  ArraysOfArrays(evaluation.noisy_results, out.initNoisyResults(size(evaluation.noisy_results)));
  auto constants = out.initConstants(size(evaluation.constants));
  for (unsigned i = 0; i < constants.size(); ++i) {
    const hone::LargeConstant& constant = evaluation.constants[i];
    constants[i].setComputation(constant.computation);
    constants[i].setInstruction(constant.instruction);
    constants[i].setBytes(AsData(constant.bytes));
  }
}

hone::Evaluation FromWire(Evaluation::Reader in) {
  hone::Evaluation evaluation;
  evaluation.parameters = Arrays(in.getParameters());
  evaluation.results = Arrays(in.getResults());
  evaluation.noisy_results = ArraysOfArrays(in.getNoisyResults());
  for (auto constant : in.getConstants()) {
    evaluation.constants.push_back(
        {constant.getComputation(), constant.getInstruction(), AsString(constant.getBytes())});
  }
  return evaluation;
}

void ToWire(const hone::RunTimeOptions& options, RunTimeOptions::Builder out) {
  out.setRuns(static_cast<uint32_t>(options.runs));
  out.setLeastSeconds(options.least_seconds);
  out.setBudgetSeconds(options.budget_seconds);
  out.setSeed(options.seed);
}

hone::RunTimeOptions FromWire(RunTimeOptions::Reader in) {
  return {static_cast<int>(std::min<uint32_t>(in.getRuns(), 1'000'000)), in.getLeastSeconds(),
          in.getBudgetSeconds(), in.getSeed()};
}

void ToWire(const hone::CompareOptions& options, CompareOptions::Builder out) {
  out.setInputs(static_cast<uint32_t>(options.inputs));
  out.setSeed(options.seed);
  out.setBudgetSeconds(options.budget_seconds);
  out.setPipeline(options.pipeline);
  ArraysOfArrays(options.given, out.initGiven(static_cast<unsigned>(options.given.size())));
}

hone::CompareOptions FromWire(CompareOptions::Reader in) {
  hone::CompareOptions options;
  options.inputs = static_cast<int>(std::min<uint32_t>(in.getInputs(), 1000));
  options.seed = in.getSeed();
  options.budget_seconds = in.getBudgetSeconds();
  options.given = ArraysOfArrays(in.getGiven());
  options.pipeline = in.getPipeline();
  return options;
}

void ToWire(const hone::ComparisonReport& report, ComparisonReport::Builder out) {
  out.setVerdict(static_cast<uint8_t>(report.verdict));
  out.setMethod(report.method);
  out.setReason(report.reason);
  out.setInputs(static_cast<uint32_t>(report.inputs));
  out.setWorstError(report.worst_error);
  out.setFiniteShare(report.finite_share);
  out.setSeconds(report.seconds);
  out.setCompileSeconds(report.compile_seconds);
  out.setProcessorSeconds(report.processor_seconds);
  auto errors = out.initErrors(static_cast<unsigned>(report.errors.size()));
  for (unsigned i = 0; i < errors.size(); ++i) {
    errors[i].setOutput(static_cast<uint32_t>(report.errors[i].output));
    errors[i].setShape(report.errors[i].shape);
    errors[i].setWorstError(report.errors[i].worst_error);
    errors[i].setWorstAbsolute(report.errors[i].worst_absolute);
    errors[i].setElementsOver(report.errors[i].elements_over);
  }
}

hone::ComparisonReport FromWire(ComparisonReport::Reader in) {
  hone::ComparisonReport report;
  report.verdict = static_cast<Verdict>(in.getVerdict());
  report.method = in.getMethod().cStr();
  report.reason = in.getReason().cStr();
  report.inputs = static_cast<int>(in.getInputs());
  report.worst_error = in.getWorstError();
  report.finite_share = in.getFiniteShare();
  report.seconds = in.getSeconds();
  report.compile_seconds = in.getCompileSeconds();
  report.processor_seconds = in.getProcessorSeconds();
  for (OutputError::Reader error : in.getErrors()) {
    report.errors.push_back({static_cast<int>(error.getOutput()), error.getShape().cStr(),
                             error.getWorstError(), error.getWorstAbsolute(),
                             error.getElementsOver()});
  }
  return report;
}

}  // namespace hone::wire
