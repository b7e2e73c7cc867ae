#include "compiler/server.h"

#include <sched.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "compiler/cut_tasks.h"
#include "compiler/describe.h"
#include "compiler/extract.h"
#include "compiler/fingerprint.h"
#include "compiler/implementations/loop_kernels.h"
#include "compiler/kernels/kernels.h"
#include "compiler/load.h"
#include "compiler/metrics.h"
#include "compiler/native/kernels.h"
#include "compiler/passes/pass_table.h"
#include "compiler/pipelines/stock.h"
#include "compiler/raw_loop.h"
#include "compiler/run/compare.h"
#include "compiler/run/compile.h"
#include "compiler/run/estimates.h"
#include "compiler/run/evaluate.h"
#include "compiler/run/profile.h"
#include "compiler/run/race.h"
#include "compiler/run/run_time.h"
#include "compiler/sites/conversation.h"
#include "compiler/states.h"
#include "compiler/target.h"
#include "tensorflow/c/c_api.h"
#include "wire/channel.h"
#include "wire/codec.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using wire::FromWire;
using wire::ToWire;
using wire::Worker;
using Clock = std::chrono::steady_clock;

// After an answer the worker looks for the next call without sleeping: an environment's steps follow
// upon each other, and waking up costs more than a quick pass does.
constexpr auto kAwake = std::chrono::microseconds(200);

template <class Results>
void Fail(Results results, const Error& error) {
  ToWire(error, results.initFailure());
}

// Adds what a call took, less what its parts have booked themselves, to Timing::other.
class BookRest {
 public:
  explicit BookRest(Timing& timing) : timing_(timing), booked_(Booked()), start_(Clock::now()) {}
  ~BookRest() {
    const double all = std::chrono::duration<double>(Clock::now() - start_).count();
    timing_.other += all - (Booked() - booked_);
    const KernelCounts kernels = CountsOfKernels();
    timing_.kernels_compiled += kernels.compiled - kernels_.compiled;
    timing_.kernels_reused += kernels.reused - kernels_.reused;
    timing_.kernels_checked += kernels.checked - kernels_.checked;
    timing_.kernels_differed += kernels.differed - kernels_.differed;
  }
  BookRest(const BookRest&) = delete;
  BookRest& operator=(const BookRest&) = delete;

 private:
  double Booked() const {
    return timing_.passes + timing_.clones + timing_.fingerprints + timing_.metrics +
           timing_.verifier;
  }
  Timing& timing_;
  const double booked_;
  const KernelCounts kernels_ = CountsOfKernels();
  const Clock::time_point start_;
};

class Server {
 public:
  Server(const StatesOptions& options, wire::Heartbeat* heartbeat, const Status& ready)
      : heartbeat_(*heartbeat),
        ready_(ready ? ReadUserRules(options.rule_files) : ready),
        states_(options, heartbeat) {}

  void Hello(Worker::HelloParams::Reader, Worker::HelloResults::Builder results) {
    if (!ready_) return Fail(results, ready_.error());
    results.setVersion(TheTarget().wheel() + " " + TF_Version());
    results.setTarget(TheTarget().name());
    auto passes = results.initPasses(static_cast<unsigned>(PassTable().size()));
    for (unsigned i = 0; i < passes.size(); ++i) ToWire(PassTable()[i].info, passes[i]);
    const std::vector<ExcludedPass> left_out = TheTarget().Excluded();
    auto excluded = results.initExcluded(static_cast<unsigned>(left_out.size()));
    for (unsigned i = 0; i < excluded.size(); ++i) {
      excluded[i].setClassName(left_out[i].class_name);
      excluded[i].setReason(left_out[i].reason);
    }
    auto opcodes = results.initOpcodes(xla::HloOpcodeCount());
    for (unsigned i = 0; i < opcodes.size(); ++i) {
      opcodes.set(i, std::string(xla::HloOpcodeString(static_cast<xla::HloOpcode>(i))));
    }
    auto types = results.initTypes(xla::PrimitiveType_ARRAYSIZE);
    for (unsigned i = 0; i < types.size(); ++i) {
      types.set(i, absl::AsciiStrToLower(xla::PrimitiveType_Name(static_cast<int>(i))));
    }
  }

  void Load(Worker::LoadParams::Reader params, Worker::LoadResults::Builder results) {
    BookRest book(states_.timing());
    const auto data = params.getData();
    StatusOr<ProgramInfo> info = states_.Load(
        params.getProgram(), {reinterpret_cast<const char*>(data.begin()), data.size()});
    if (!info) return Fail(results, info.error());
    ToWire(*info, results.initInfo());
  }

  void Unload(Worker::UnloadParams::Reader params, Worker::UnloadResults::Builder results) {
    if (reference_.name.program == params.getProgram()) reference_ = {};
    if (Status done = states_.Unload(params.getProgram()); !done) {
      return Fail(results, done.error());
    }
  }

  void Apply(Worker::ApplyParams::Reader params, Worker::ApplyResults::Builder results) {
    BookRest book(states_.timing());
    std::vector<PassId> passes;
    for (PassId pass : params.getPasses()) passes.push_back(pass);
    std::vector<KnownFailure> avoid;
    for (auto known : params.getAvoid()) avoid.push_back(FromWire(known));
    for (auto left : params.getLeft()) {
      states_.Leave(left.getProgram(), FromWire(left.getState()));
    }
    std::vector<DecisionsPtr> decisions;
    for (auto one : params.getDecisions()) {
      auto read = std::make_shared<const Decisions>(FromWire(one));
      decisions.push_back(read->AcceptAll() ? nullptr : std::move(read));
    }
    StatusOr<Applied> applied =
        states_.Apply(FromWire(params.getFrom()), passes, avoid, FromWire(params.getOptions()),
                      decisions);
    if (!applied) return Fail(results, applied.error());
    ToWire(applied->start, results.initStart());
    auto steps = results.initSteps(static_cast<unsigned>(applied->steps.size()));
    for (unsigned i = 0; i < steps.size(); ++i) ToWire(applied->steps[i], steps[i]);
  }

  void Hold(Worker::HoldParams::Reader params, Worker::HoldResults::Builder results) {
    BookRest book(states_.timing());
    if (Status done = states_.Hold(FromWire(params.getState())); !done) {
      return Fail(results, done.error());
    }
  }

  void Metrics(Worker::MetricsParams::Reader params, Worker::MetricsResults::Builder results) {
    BookRest book(states_.timing());
    auto module = states_.Rebuild(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    ToWire(MeasureModule(**module), results.initMetrics());
  }

  void Describe(Worker::DescribeParams::Reader params, Worker::DescribeResults::Builder results) {
    BookRest book(states_.timing());
    auto module = states_.Rebuild(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    ToWire(compiler::Describe(**module), results.initGraph());
  }

  void Export(Worker::ExportParams::Reader params, Worker::ExportResults::Builder results) {
    BookRest book(states_.timing());
    const StateName state = FromWire(params.getState());
    auto module = states_.Rebuild(state);
    if (!module) return Fail(results, module.error());
    if (const std::string complaint = VerifyModule(**module); !complaint.empty()) {
      return Fail(results,
                  Error{ErrorCode::kPassFailed,
                        "the result is rejected by XLA's HLO verifier: " + complaint});
    }
    std::string bytes;
    if (params.getFormat() == wire::ExportFormat::TEXT) {
      // What was elided when it was read has no values to print.
      bytes = (*module)->ToString(xla::HloPrintOptions().set_print_large_constants(
          !states_.HasElidedConstants(state.program)));
    } else {
      xla::HloProto proto;
      *proto.mutable_hlo_module() = (*module)->ToProto();
      bytes = proto.SerializeAsString();
    }
    ToWire(DigestModule(**module).fingerprint, results.initState());
    results.setData(
        kj::arrayPtr(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()));
  }

  void Compare(Worker::CompareParams::Reader params, Worker::CompareResults::Builder results) {
    BookRest book(states_.timing());
    const StateName a = FromWire(params.getA());
    const StateName b = FromWire(params.getB());
    ComparisonReport report;
    if (states_.HasElidedConstants(a.program) || states_.HasElidedConstants(b.program)) {
      report.method = "none";
      report.reason = "its text has elided constants, {...}: their values are lost, so it cannot "
                      "be run; dump it again with large constants, or give --stand-in-constants";
    } else {
      auto module_a = states_.Rebuild(a);
      if (!module_a) return Fail(results, module_a.error());
      auto module_b = states_.Rebuild(b);
      if (!module_b) return Fail(results, module_b.error());
      for (const auto* const module : {&*module_a, &*module_b}) {
        if (Status has = HasKernels(**module); !has) return Fail(results, has.error());
      }
      CompareOptions options = FromWire(params.getOptions());
      options.stop = &heartbeat_.stop;
      CompilePlan plan_a = FromWire(params.getPlanA());
      CompilePlan plan_b = FromWire(params.getPlanB());
      if (options.pipeline && !TheTarget().is_here()) {
        auto plain = PlainUnderPlan(**module_b, plan_b);
        if (!plain) return ToWire(CannotTell(plain.error()), results.initReport());
        module_b = std::move(plain);
        plan_a = plan_b = {};
      }
      report = compiler::Compare(**module_a, **module_b, options, plan_a, plan_b);
    }
    ToWire(report, results.initReport());
  }

  void Arrays(Worker::ArraysParams::Reader params, Worker::ArraysResults::Builder results) {
    BookRest book(states_.timing());
    StatusOr<ProgramArrays> arrays = states_.Arrays(FromWire(params.getState()));
    if (!arrays) return Fail(results, arrays.error());
    ToWire(*arrays, results.initArrays());
  }

  void RunTime(Worker::RunTimeParams::Reader params, Worker::RunTimeResults::Builder results) {
    BookRest book(states_.timing());
    if (Status here = IsHere(); !here) return Fail(results, here.error());
    auto module = ToRun(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    const StatusOr<RunTimeReport> report =
        MeasureRunTime(**module, FromWire(params.getOptions()));
    if (!report) return Fail(results, report.error());
    results.setCompileSeconds(report->compile_seconds);
    results.setCompiledInstructions(report->compiled_instructions);
    auto seconds = results.initSeconds(static_cast<unsigned>(report->seconds.size()));
    for (unsigned i = 0; i < seconds.size(); ++i) seconds.set(i, report->seconds[i]);
  }

  void Rewrites(Worker::RewritesParams::Reader params, Worker::RewritesResults::Builder results) {
    BookRest book(states_.timing());
    const auto rewrites = states_.ListRewrites(FromWire(params.getState()), params.getPass(),
                                               FromWire(params.getOptions()));
    if (!rewrites) return Fail(results, rewrites.error());
    ToWire(*rewrites, results.initRewrites());
  }

  void Converse(Worker::ConverseParams::Reader params, Worker::ConverseResults::Builder results) {
    BookRest book(states_.timing());
    conversation_.reset();
    if (params.getPass() >= PassTable().size()) {
      return Fail(results, Error{ErrorCode::kInvalidInput, "no such pass"});
    }
    auto module = states_.Rebuild(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    conversation_ = std::make_unique<Conversation>(PassTable()[params.getPass()],
                                                   *std::move(module),
                                                   FromWire(params.getOptions()));
    Next(results);
  }

  void Answer(Worker::AnswerParams::Reader params, Worker::AnswerResults::Builder results) {
    BookRest book(states_.timing());
    if (conversation_ == nullptr) {
      return Fail(results, Error{ErrorCode::kInvalidInput,
                                 "no pass is waiting for an answer: the worker may have died"});
    }
    conversation_->Answer(params.getAccept());
    Next(results);
  }

  void Race(Worker::RaceParams::Reader params, Worker::RaceResults::Builder results) {
    BookRest book(states_.timing());
    const StateName a = FromWire(params.getA());
    const RaceOptions options = FromWire(params.getOptions());
    const CompilePlan plan_a = FromWire(params.getPlanA());
    if (!TheTarget().is_here()) {
      if (!options.estimate) return Fail(results, IsHere().error());
      auto module_a = ToRun(a);
      if (!module_a) return Fail(results, module_a.error());
      auto module_b = ToRun(FromWire(params.getB()));
      if (!module_b) return Fail(results, module_b.error());
      const auto report =
          estimates_.Race(**module_a, plan_a, **module_b, FromWire(params.getPlanB()));
      if (!report) return Fail(results, report.error());
      return ToWire(*report, results.initReport());
    }
    if (reference_.racer == nullptr || reference_.seed != options.seed ||
        !(reference_.plan == plan_a) || !(reference_.name == a)) {
      reference_ = {};
      auto module_a = ToRun(a);
      if (!module_a) return Fail(results, module_a.error());
      auto racer = Racer::Prepare(**module_a, options.seed, plan_a);
      if (!racer) return Fail(results, racer.error());
      reference_ = {a, plan_a, options.seed, *std::move(racer)};
    }
    // From here on it is the candidate that anything hangs on.
    heartbeat_.patience = options.candidate_seconds;
    const auto tick = [&] { ++heartbeat_.ticks; };
    tick();
    auto module_b = ToRun(FromWire(params.getB()));
    if (!module_b) return Fail(results, module_b.error());
    const auto racer_b = Racer::Prepare(**module_b, options.seed, FromWire(params.getPlanB()),
                                        reference_.racer.get());
    if (!racer_b) return Fail(results, racer_b.error());
    tick();
    const StatusOr<RaceReport> report = compiler::Race(*reference_.racer, **racer_b, options, tick);
    if (!report) return Fail(results, report.error());
    ToWire(*report, results.initReport());
  }

  void Compile(Worker::CompileParams::Reader params, Worker::CompileResults::Builder results) {
    BookRest book(states_.timing());
    auto module = ToRun(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    const CompilePlan plan = FromWire(params.getPlan());
    const CompileOptions options = FromWire(params.getOptions());
    const auto compiled = TheTarget().is_here() ? CompileUnderPlan(**module, plan, options)
                                                : estimates_.Compile(**module, plan, options);
    if (!compiled) return Fail(results, compiled.error());
    ToWire(*compiled, results.initCompiled());
  }

  void Profile(Worker::ProfileParams::Reader params, Worker::ProfileResults::Builder results) {
    BookRest book(states_.timing());
    auto module = ToRun(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    const CompilePlan plan = FromWire(params.getPlan());
    const auto kernels =
        TheTarget().is_here()
            ? ProfileKernels(**module, plan, params.getSeconds(), params.getSeed())
            : estimates_.Profile(**module, plan);
    if (!kernels) return Fail(results, kernels.error());
    auto out = results.initKernels(static_cast<unsigned>(kernels->size()));
    for (unsigned i = 0; i < out.size(); ++i) {
      out[i].setName((*kernels)[i].name);
      out[i].setOpcode((*kernels)[i].opcode);
      out[i].setSeconds((*kernels)[i].seconds);
      out[i].setCalls((*kernels)[i].calls);
    }
  }

  void Evaluate(Worker::EvaluateParams::Reader params, Worker::EvaluateResults::Builder results) {
    BookRest book(states_.timing());
    auto module = ToRun(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    const StatusOr<Evaluation> evaluation =
        compiler::Evaluate(**module, FromWire(params.getOptions()));
    if (!evaluation) return Fail(results, evaluation.error());
    ToWire(*evaluation, results.initEvaluation());
  }

  void GiveKernel(Worker::GiveKernelParams::Reader params,
                  Worker::GiveKernelResults::Builder results) {
    const auto object = params.getObject();
    std::vector<int64_t> bytes;
    for (const int64_t size : params.getBytes()) bytes.push_back(size);
    const Status added = native::AddKernel(
        params.getName().cStr(), {reinterpret_cast<const char*>(object.begin()), object.size()},
        std::move(bytes));
    if (!added) Fail(results, added.error());
  }

  // Says of a failed call which kernels it lacked.
  template <class Results>
  void TellLacking(Results results) {
    if (lacking_.empty()) return;
    auto kernels = results.getFailure().initKernels(static_cast<unsigned>(lacking_.size()));
    for (unsigned i = 0; i < kernels.size(); ++i) kernels.set(i, lacking_[i]);
    lacking_.clear();
  }

  void Extract(Worker::ExtractParams::Reader params, Worker::ExtractResults::Builder results) {
    BookRest book(states_.timing());
    auto module = states_.Rebuild(FromWire(params.getState()));
    if (!module) return Fail(results, module.error());
    std::vector<std::unique_ptr<xla::HloModule>> modules;
    if (params.getWhat() == 0) {
      auto one = ExtractRandomModule(**module, params.getSeed(), params.getMost());
      if (one == nullptr) {
        return Fail(results, Error{ErrorCode::kInvalidInput, "the program computes nothing"});
      }
      modules.push_back(std::move(one));
    } else if (params.getWhat() == 1) {
      modules = ExtractFusions(**module, params.getMost());
    } else if (params.getWhat() == 2) {
      modules = ExtractInstructions(**module, params.getMost());
    } else {
      std::vector<CutTask> tasks = CutTasks(**module, params.getMost());
      const auto size = static_cast<unsigned>(tasks.size());
      auto what = results.initWhat(size);
      auto places = results.initPlaces(size);
      auto runs = results.initRuns(size);
      for (unsigned i = 0; i < size; ++i) {
        what.set(i, tasks[i].what);
        places.set(i, tasks[i].places);
        runs.set(i, tasks[i].runs);
        modules.push_back(std::move(tasks[i].module));
      }
    }
    auto texts = results.initModules(static_cast<unsigned>(modules.size()));
    for (unsigned i = 0; i < texts.size(); ++i) {
      texts.set(i, modules[i]->ToString(
                       xla::HloPrintOptions().set_print_large_constants(true)));
    }
  }

  void RawLoop(Worker::RawLoopParams::Reader params, Worker::RawLoopResults::Builder results) {
    BookRest book(states_.timing());
    const xla::HloModule* module = states_.Find(params.getProgram());
    if (module == nullptr) {
      return Fail(results, Error{ErrorCode::kInvalidInput, "no such program"});
    }
    RawLoopOptions options;
    for (PassId action : params.getActions()) options.actions.push_back(action);
    options.seed = params.getSeed();
    options.first_episode = params.getFirstEpisode();
    options.length = static_cast<int>(params.getLength());
    options.seconds = params.getSeconds();
    const RawLoopResult result = RunRawLoop(*module, options, heartbeat_);
    results.setSteps(result.steps);
    results.setEpisodes(result.episodes);
    results.setFailures(result.failures);
    results.setSeconds(result.seconds);
  }

  void StockPasses(Worker::StockPassesParams::Reader params,
                   Worker::StockPassesResults::Builder results) {
    BookRest book(states_.timing());
    const xla::HloModule* module = states_.Find(params.getProgram());
    if (module == nullptr) {
      return Fail(results, Error{ErrorCode::kInvalidInput, "no such program"});
    }
    StatusOr<std::vector<StockPass>> passes = RecordStockPasses(*module);
    if (!passes) return Fail(results, passes.error());
    auto out = results.initPasses(static_cast<unsigned>(passes->size()));
    for (unsigned i = 0; i < out.size(); ++i) ToWire((*passes)[i], out[i]);
  }

 private:
  // What is measured is run on this machine.
  static Status IsHere() {
    if (TheTarget().is_here()) return {};
    return MakeError(ErrorCode::kUnsupported,
                     "there is no " + TheTarget().name() + " here to measure on: times for it are "
                     "XLA's own estimates, by hone tune --target and hone stats --target");
  }

  static ComparisonReport CannotTell(const Error& why) {
    ComparisonReport report;
    report.method = "none";
    report.reason = why.message;
    return report;
  }

  StatusOr<std::unique_ptr<xla::HloModule>> ToRun(const StateName& state) {
    if (states_.HasElidedConstants(state.program)) {
      return MakeError(ErrorCode::kUnsupported,
                       "its text has elided constants, {...}, so it cannot be run; dump it again with "
                       "large constants, or give --stand-in-constants");
    }
    auto module = states_.Rebuild(state);
    if (!module) return module;
    if (Status has = HasKernels(**module); !has) return tl::unexpected(has.error());
    return module;
  }

  Status HasKernels(const xla::HloModule& module) {
    const auto missing = MissingKernels(module);
    if (!missing.ok()) {
      return MakeError(ErrorCode::kInvalidInput, std::string(missing.status().message()));
    }
    if (missing->empty()) return {};
    lacking_ = *missing;
    return MakeError(ErrorCode::kUnsupported,
                     "it calls kernels of hone-loops, which are not to be had here");
  }

  template <class Results>
  void Next(Results results) {
    if (std::optional<RewriteSite> site = conversation_->Next()) {
      ToWire(*site, results.initSite());
      return;
    }
    results.setDone(true);
    conversation_.reset();
  }

  wire::Heartbeat& heartbeat_;
  const Status ready_;  // before the table of passes is first looked at
  States states_;
  std::unique_ptr<Conversation> conversation_;
  std::vector<std::string> lacking_;  // tasks without kernels, in the call in hand

  // What was raced against last.
  struct Reference {
    StateName name;
    CompilePlan plan;
    uint64_t seed = 0;
    std::unique_ptr<Racer> racer;
  };
  Reference reference_;
  Estimates estimates_;  // of a machine that is not here
};

}  // namespace

void Serve(int socket, const StatesOptions& options, wire::Heartbeat* heartbeat,
           const Status& ready) {
  Server server(options, heartbeat, ready);
  wire::Received received;
  for (;;) {
    auto awake_until = Clock::now() + kAwake;
    const auto wait = [&] {
      if (Clock::now() > awake_until) {
        wire::Readable(socket, -1);
      } else {
        sched_yield();  // whoever is to call may share the processor
      }
      return true;
    };
    if (!wire::Receive(socket, wait, received)) return;
    capnp::MallocMessageBuilder answer;
    const auto call = [&](auto of, auto method) {
      using Call = decltype(of);
      capnp::FlatArrayMessageReader message(received.words, wire::NoLimits());
      const auto results = answer.initRoot<typename Call::Results>();
      (server.*method)(message.getRoot<typename Call::Params>(), results);
      server.TellLacking(results);
    };
    switch (received.method) {
#define HONE_SERVE(name)                       \
  case wire::Method::k##name:                  \
    call(wire::name##Call(), &Server::name);   \
    break;
      HONE_SERVE(Hello)
      HONE_SERVE(Load)
      HONE_SERVE(Unload)
      HONE_SERVE(Apply)
      HONE_SERVE(Hold)
      HONE_SERVE(Metrics)
      HONE_SERVE(Describe)
      HONE_SERVE(Export)
      HONE_SERVE(Compare)
      HONE_SERVE(StockPasses)
      HONE_SERVE(Arrays)
      HONE_SERVE(RunTime)
      HONE_SERVE(RawLoop)
      HONE_SERVE(Rewrites)
      HONE_SERVE(Converse)
      HONE_SERVE(Answer)
      HONE_SERVE(Race)
      HONE_SERVE(Extract)
      HONE_SERVE(Compile)
      HONE_SERVE(Profile)
      HONE_SERVE(Evaluate)
      HONE_SERVE(GiveKernel)
#undef HONE_SERVE
    }
    if (!wire::Send(socket, received.method, answer)) return;
  }
}

}  // namespace hone::compiler
