// What a worker is asked about states, and has them do: each a call, and what is read of its
// answer.
#include <utility>

#include "wire/codec.h"
#include "wire/remote_worker.h"
#include "wire/remote_worker_ask.h"

namespace hone {

using wire::FromWire;
using wire::Patience;
using wire::ToWire;
using wire::Worker;

namespace {

// That an interrupted comparison has for the run in hand, before it answers with what it has.
constexpr double kAnswerSeconds = 5;

// Two states, and how each is compiled.
template <class Request>
void ToWirePair(const StateName& a, const CompilePlan& plan_a, const StateName& b,
                const CompilePlan& plan_b, Request& request) {
  ToWire(a, request.initA());
  ToWire(b, request.initB());
  ToWire(plan_a, request.initPlanA());
  ToWire(plan_b, request.initPlanB());
}

}  // namespace

StatusOr<std::vector<StockPass>> RemoteWorker::StockPasses(ProgramId program) {
  return Ask<wire::StockPassesCall>(
      {program}, Calling(), "stock pipeline",
      [&](Worker::StockPassesParams::Builder request) { request.setProgram(program); },
      [](const auto& response) {
        std::vector<StockPass> passes;
        for (auto pass : response.getPasses()) passes.push_back(FromWire(pass));
        return passes;
      });
}

StatusOr<Metrics> RemoteWorker::Measure(const StateName& state) {
  return Ask<wire::MetricsCall>(
      {state.program}, Calling(), "metrics",
      [&](Worker::MetricsParams::Builder request) { ToWire(state, request.initState()); },
      [](const auto& response) { return FromWire(response.getMetrics()); });
}

StatusOr<ProgramGraph> RemoteWorker::Describe(const StateName& state) {
  return Ask<wire::DescribeCall>(
      {state.program}, Calling(), "describe",
      [&](Worker::DescribeParams::Builder request) { ToWire(state, request.initState()); },
      [](const auto& response) { return FromWire(response.getGraph()); });
}

StatusOr<ProgramArrays> RemoteWorker::Arrays(const StateName& state) {
  return Ask<wire::ArraysCall>(
      {state.program}, Calling(), "arrays",
      [&](Worker::ArraysParams::Builder request) { ToWire(state, request.initState()); },
      [](const auto& response) { return FromWire(response.getArrays()); });
}

StatusOr<Exported> RemoteWorker::Export(const StateName& state, ExportFormat format) {
  return Ask<wire::ExportCall>(
      {state.program}, Calling(), "export",
      [&](Worker::ExportParams::Builder request) {
        ToWire(state, request.initState());
        request.setFormat(format == ExportFormat::kText ? wire::ExportFormat::TEXT
                                                        : wire::ExportFormat::PROTO);
      },
      [](const auto& response) {
        const auto data = response.getData();
        return Exported{{reinterpret_cast<const char*>(data.begin()), data.size()},
                        FromWire(response.getState())};
      });
}

StatusOr<ComparisonReport> RemoteWorker::Compare(const StateName& a, const CompilePlan& plan_a,
                                                 const StateName& b, const CompilePlan& plan_b,
                                                 const CompareOptions& options) {
  const Patience patience{options.budget_seconds * 1.5 + options.grace_seconds, false, options.stop,
                          kAnswerSeconds};
  return Ask<wire::CompareCall>(
      {a.program, b.program}, patience, "compare",
      [&](Worker::CompareParams::Builder request) {
        ToWirePair(a, plan_a, b, plan_b, request);
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getReport()); });
}

StatusOr<Evaluation> RemoteWorker::Evaluate(const StateName& state,
                                            const EvaluationOptions& options) {
  const Patience patience{options.deadline_seconds, false, nullptr};
  return Ask<wire::EvaluateCall>(
      {state.program}, patience, "evaluate",
      [&](Worker::EvaluateParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getEvaluation()); });
}

StatusOr<RunTimeReport> RemoteWorker::RunTime(const StateName& state,
                                              const RunTimeOptions& options) {
  const Patience patience{options.budget_seconds * 1.5 + 30, false, nullptr};
  return Ask<wire::RunTimeCall>(
      {state.program}, patience, "run time",
      [&](Worker::RunTimeParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) {
        RunTimeReport report;
        report.compile_seconds = response.getCompileSeconds();
        report.compiled_instructions = response.getCompiledInstructions();
        for (double seconds : response.getSeconds()) report.seconds.push_back(seconds);
        return report;
      });
}

StatusOr<Rewrites> RemoteWorker::ListRewrites(const StateName& state, PassId pass,
                                              const RewritesOptions& options) {
  const Patience patience{memory_->options.pass_deadline_seconds, true, memory_->options.stop};
  auto rewrites = Ask<wire::RewritesCall>(
      {state.program}, patience, "rewrites of pass " + memory_->facts.passes[pass].name,
      [&](Worker::RewritesParams::Builder request) {
        ToWire(state, request.initState());
        request.setPass(pass);
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getRewrites()); });
  // Some passes cannot bear to be refused.
  if (!rewrites && !options.whole &&
      (rewrites.error().code == ErrorCode::kWorkerDied ||
       rewrites.error().code == ErrorCode::kDeadline)) {
    RewritesOptions whole = options;
    whole.whole = true;
    return ListRewrites(state, pass, whole);
  }
  return rewrites;
}

namespace {

template <class Response>
Question QuestionOf(const Response& response) {
  return {response.getDone(), FromWire(response.getSite())};
}

}  // namespace

StatusOr<Question> RemoteWorker::Converse(const StateName& state, PassId pass,
                                          const RewritesOptions& options) {
  return Ask<wire::ConverseCall>(
      {state.program}, Calling(), "pass " + memory_->facts.passes[pass].name,
      [&](Worker::ConverseParams::Builder request) {
        ToWire(state, request.initState());
        request.setPass(pass);
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return QuestionOf(response); });
}

StatusOr<Question> RemoteWorker::Answer(bool accept) {
  return Ask<wire::AnswerCall>(
      {}, Calling(), "a rewrite",
      [&](Worker::AnswerParams::Builder request) { request.setAccept(accept); },
      [](const auto& response) { return QuestionOf(response); });
}

StatusOr<Compiled> RemoteWorker::Compile(const StateName& state, const CompilePlan& plan,
                                         const CompileOptions& options) {
  const Patience patience{options.deadline_seconds, false, nullptr};
  return Ask<wire::CompileCall>(
      {state.program}, patience, "compile",
      [&](Worker::CompileParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(plan, request.initPlan());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getCompiled()); });
}

StatusOr<std::vector<KernelTime>> RemoteWorker::Profile(const StateName& state,
                                                        const CompilePlan& plan, double seconds,
                                                        double most_seconds, uint64_t inputs_seed) {
  const Patience patience{most_seconds, false, nullptr};
  return Ask<wire::ProfileCall>(
      {state.program}, patience, "profile",
      [&](Worker::ProfileParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(plan, request.initPlan());
        request.setSeconds(seconds);
        request.setSeed(inputs_seed);
      },
      [](const auto& response) {
        std::vector<KernelTime> kernels;
        for (auto kernel : response.getKernels()) {
          kernels.push_back({kernel.getName().cStr(), kernel.getOpcode().cStr(),
                             kernel.getSeconds(), kernel.getCalls()});
        }
        return kernels;
      });
}

StatusOr<RaceReport> RemoteWorker::Race(const StateName& a, const CompilePlan& plan_a,
                                        const StateName& b, const CompilePlan& plan_b,
                                        const RaceOptions& options) {
  // Between two ticks: a compilation or a sample. The worker knows when b's turn has come, and says
  // so. How many samples there are is the budget's.
  const Patience patience{options.compile_seconds, true, nullptr};
  return Ask<wire::RaceCall>(
      {a.program, b.program}, patience, "race",
      [&](Worker::RaceParams::Builder request) {
        ToWirePair(a, plan_a, b, plan_b, request);
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getReport()); });
}

StatusOr<std::vector<std::string>> RemoteWorker::Extract(const StateName& state, ExtractKind what,
                                                         uint64_t seed, uint32_t most) {
  return Ask<wire::ExtractCall>(
      {state.program}, Calling(), "extract",
      [&](Worker::ExtractParams::Builder request) {
        ToWire(state, request.initState());
        request.setWhat(static_cast<uint8_t>(what));
        request.setSeed(seed);
        request.setMost(most);
      },
      [](const auto& response) {
        std::vector<std::string> modules;
        for (auto module : response.getModules()) modules.push_back(module.cStr());
        return modules;
      });
}

StatusOr<std::vector<ProgramTask>> RemoteWorker::Cut(const StateName& state, uint32_t most) {
  return Ask<wire::ExtractCall>(
      {state.program}, Calling(), "cut",
      [&](Worker::ExtractParams::Builder request) {
        ToWire(state, request.initState());
        request.setWhat(static_cast<uint8_t>(ExtractKind::kTasks));
        request.setMost(most);
      },
      [](const auto& response) { return wire::TasksFromWire(response); });
}

StatusOr<RawLoopResult> RemoteWorker::RawLoop(ProgramId program, const RawLoopOptions& options) {
  const Patience patience{memory_->options.pass_deadline_seconds, true, memory_->options.stop};
  return Ask<wire::RawLoopCall>(
      {program}, patience, "raw loop",
      [&](Worker::RawLoopParams::Builder request) {
        request.setProgram(program);
        auto actions = request.initActions(static_cast<unsigned>(options.actions.size()));
        for (unsigned i = 0; i < actions.size(); ++i) actions.set(i, options.actions[i]);
        request.setSeed(options.seed);
        request.setFirstEpisode(options.first_episode);
        request.setLength(static_cast<uint32_t>(options.length));
        request.setSeconds(options.seconds);
      },
      [](const auto& response) {
        return RawLoopResult{response.getSteps(), response.getEpisodes(), response.getFailures(),
                             response.getSeconds()};
      });
}

}  // namespace hone
