#include "compiler/server.h"

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
#include "wire/awake.h"
#include "wire/channel.h"
#include "wire/codec.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

// After an answer the worker looks so long for the next call without sleeping: an environment's
// steps follow upon each other.
constexpr auto kAwake = std::chrono::microseconds(200);

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

  // What `Do` makes of the request, or why not and which kernels that lacked.
  template <class Call>
  void Answer(const kj::Array<capnp::word>& words, capnp::MessageBuilder& answer) {
    BookRest book(states_.timing());
    capnp::FlatArrayMessageReader message(words, wire::NoLimits());
    typename Call::Request request;
    wire::FromWire(message.getRoot<typename Call::Params>(), request);
    auto results = answer.initRoot<typename Call::Results>();
    const StatusOr<typename Call::Request::Result> result = Do(request);
    if (result) return wire::ToWire(*result, results);
    wire::ToWire(result.error(), results.initFailure());
    if (lacking_.empty()) return;
    auto kernels = results.getFailure().initKernels(static_cast<unsigned>(lacking_.size()));
    for (unsigned i = 0; i < kernels.size(); ++i) kernels.set(i, lacking_[i]);
    lacking_.clear();
  }

 private:
  StatusOr<WorkerFacts> Do(const HelloRequest&) {
    if (!ready_) return tl::unexpected(ready_.error());
    WorkerFacts facts;
    facts.version = TheTarget().wheel() + " " + TF_Version();
    facts.target = TheTarget().name();
    for (const auto& row : PassTable()) facts.passes.push_back(row.info);
    facts.excluded = TheTarget().Excluded();
    for (size_t i = 0; i < xla::HloOpcodeCount(); ++i) {
      facts.opcodes.emplace_back(xla::HloOpcodeString(static_cast<xla::HloOpcode>(i)));
    }
    for (int i = 0; i < xla::PrimitiveType_ARRAYSIZE; ++i) {
      facts.types.push_back(absl::AsciiStrToLower(xla::PrimitiveType_Name(i)));
    }
    return facts;
  }

  StatusOr<ProgramInfo> Do(const LoadRequest& request) {
    return states_.Load(request.program, request.data);
  }

  StatusOr<Nothing> Do(const UnloadRequest& request) {
    if (reference_.name.program == request.program) reference_ = {};
    given_.erase(request.program);
    return Done(states_.Unload(request.program));
  }

  StatusOr<Applied> Do(const ApplyRequest& request) {
    for (const LeftState& left : request.left) states_.Leave(left.program, left.state);
    return states_.Apply(request.from, request.passes, request.avoid, request.options,
                         request.decisions);
  }

  StatusOr<Nothing> Do(const HoldRequest& request) { return Done(states_.Hold(request.state)); }

  StatusOr<Metrics> Do(const MetricsRequest& request) {
    const auto module = states_.Rebuild(request.state);
    if (!module) return tl::unexpected(module.error());
    return MeasureModule(**module);
  }

  StatusOr<ProgramGraph> Do(const DescribeRequest& request) {
    const auto module = states_.Rebuild(request.state);
    if (!module) return tl::unexpected(module.error());
    return Describe(**module);
  }

  StatusOr<Exported> Do(const ExportRequest& request) {
    const auto module = states_.Rebuild(request.state);
    if (!module) return tl::unexpected(module.error());
    if (const std::string complaint = VerifyModule(**module); !complaint.empty()) {
      return MakeError(ErrorCode::kPassFailed,
                       "the result is rejected by XLA's HLO verifier: " + complaint);
    }
    Exported exported;
    if (request.format == ExportFormat::kText) {
      // What was elided when it was read has no values to print.
      exported.bytes = (*module)->ToString(xla::HloPrintOptions().set_print_large_constants(
          !states_.HasElidedConstants(request.state.program)));
    } else {
      xla::HloProto proto;
      *proto.mutable_hlo_module() = (*module)->ToProto();
      exported.bytes = proto.SerializeAsString();
    }
    exported.state = DigestModule(**module).fingerprint;
    return exported;
  }

  StatusOr<ComparisonReport> Do(const CompareRequest& request) {
    if (states_.HasElidedConstants(request.a.program) ||
        states_.HasElidedConstants(request.b.program)) {
      return CannotTell(
          "its text has elided constants, {...}: their values are lost, so it cannot "
          "be run; dump it again with large constants, or give --stand-in-constants");
    }
    auto module_a = states_.Rebuild(request.a);
    if (!module_a) return tl::unexpected(module_a.error());
    auto module_b = states_.Rebuild(request.b);
    if (!module_b) return tl::unexpected(module_b.error());
    for (const auto* const module : {&*module_a, &*module_b}) {
      if (Status has = HasKernels(**module); !has) return tl::unexpected(has.error());
    }
    CompareOptions options = request.options;
    options.stop = &heartbeat_.stop;
    if (!options.pipeline || TheTarget().is_here()) {
      return Compare(**module_a, **module_b, options, request.plan_a, request.plan_b);
    }
    const auto plain = PlainUnderPlan(**module_b, request.plan_b);
    if (!plain) return CannotTell(plain.error().message);
    return Compare(**module_a, **plain, options, {}, {});
  }

  StatusOr<ProgramArrays> Do(const ArraysRequest& request) { return states_.Arrays(request.state); }

  StatusOr<RunTimeReport> Do(const RunTimeRequest& request) {
    if (Status here = IsHere(); !here) return tl::unexpected(here.error());
    const auto module = ToRun(request.state);
    if (!module) return tl::unexpected(module.error());
    return MeasureRunTime(**module, request.options,
                          TimedOn(request.state.program, request.options.seed));
  }

  StatusOr<Rewrites> Do(const RewritesRequest& request) {
    return states_.ListRewrites(request.state, request.pass, request.options);
  }

  StatusOr<Question> Do(const ConverseRequest& request) {
    conversation_.reset();
    if (request.pass >= PassTable().size()) {
      return MakeError(ErrorCode::kInvalidInput, "no such pass");
    }
    auto module = states_.Rebuild(request.state);
    if (!module) return tl::unexpected(module.error());
    conversation_ = std::make_unique<Conversation>(PassTable()[request.pass], *std::move(module),
                                                   request.options);
    return Next();
  }

  StatusOr<Question> Do(const AnswerRequest& request) {
    if (conversation_ == nullptr) {
      return MakeError(ErrorCode::kInvalidInput,
                       "no pass is waiting for an answer: the worker may have died");
    }
    conversation_->Answer(request.accept);
    return Next();
  }

  StatusOr<RaceReport> Do(const RaceRequest& request) {
    const RaceOptions& options = request.options;
    if (!TheTarget().is_here()) {
      if (!options.estimate) return tl::unexpected(IsHere().error());
      const auto module_a = ToRun(request.a);
      if (!module_a) return tl::unexpected(module_a.error());
      const auto module_b = ToRun(request.b);
      if (!module_b) return tl::unexpected(module_b.error());
      return estimates_.Race(**module_a, request.plan_a, **module_b, request.plan_b);
    }
    if (reference_.racer == nullptr || reference_.seed != options.seed ||
        !(reference_.plan == request.plan_a) || !(reference_.name == request.a)) {
      reference_ = {};
      const auto module_a = ToRun(request.a);
      if (!module_a) return tl::unexpected(module_a.error());
      const auto program = ToRun({request.a.program, {}});
      if (!program) return tl::unexpected(program.error());
      auto racer = Racer::Prepare(**module_a, TimedOn(request.a.program, options.seed),
                                  request.plan_a, program->get());
      if (!racer) return tl::unexpected(racer.error());
      reference_ = {request.a, request.plan_a, options.seed, *std::move(racer)};
    }
    // From here on it is the candidate that anything hangs on.
    heartbeat_.patience = options.candidate_seconds;
    const auto tick = [&] { ++heartbeat_.ticks; };
    tick();
    const auto module_b = ToRun(request.b);
    if (!module_b) return tl::unexpected(module_b.error());
    const auto racer_b = Racer::Prepare(**module_b, request.plan_b, *reference_.racer);
    if (!racer_b) return tl::unexpected(racer_b.error());
    tick();
    return Race(*reference_.racer, **racer_b, options, tick);
  }

  StatusOr<Compiled> Do(const CompileRequest& request) {
    const auto module = ToRun(request.state);
    if (!module) return tl::unexpected(module.error());
    return TheTarget().is_here() ? CompileUnderPlan(**module, request.plan, request.options)
                                 : estimates_.Compile(**module, request.plan, request.options);
  }

  StatusOr<std::vector<KernelTime>> Do(const ProfileRequest& request) {
    const auto module = ToRun(request.state);
    if (!module) return tl::unexpected(module.error());
    return TheTarget().is_here()
               ? ProfileKernels(**module, request.plan, request.seconds,
                                TimedOn(request.state.program, request.seed))
               : estimates_.Profile(**module, request.plan);
  }

  StatusOr<Evaluation> Do(const EvaluateRequest& request) {
    const auto module = ToRun(request.state);
    if (!module) return tl::unexpected(module.error());
    return Evaluate(**module, request.options);
  }

  StatusOr<Nothing> Do(const GiveInputsRequest& request) {
    const auto module = states_.Rebuild({request.program, {}});
    if (!module) return tl::unexpected(module.error());
    StatusOr<Arrays> arrays = GivenInputs(FindInputRoles(**module), request.arrays);
    if (!arrays) return tl::unexpected(arrays.error());
    if (reference_.name.program == request.program) reference_ = {};
    given_[request.program] = std::make_shared<const Arrays>(*std::move(arrays));
    return Nothing{};
  }

  StatusOr<Nothing> Do(const GiveKernelRequest& request) {
    return Done(native::AddKernel(request.name, request.object, request.bytes));
  }

  StatusOr<Extracted> Do(const ExtractRequest& request) {
    const auto module = states_.Rebuild(request.state);
    if (!module) return tl::unexpected(module.error());
    Extracted extracted;
    std::vector<std::unique_ptr<xla::HloModule>> modules;
    switch (request.what) {
      case ExtractKind::kRandom:
        modules.push_back(ExtractRandomModule(**module, request.seed, request.most));
        if (modules[0] == nullptr) {
          return MakeError(ErrorCode::kInvalidInput, "the program computes nothing");
        }
        break;
      case ExtractKind::kFusions:
        modules = ExtractFusions(**module, request.most);
        break;
      case ExtractKind::kInstructions:
        modules = ExtractInstructions(**module, request.most);
        break;
      case ExtractKind::kTasks:
        for (CutTask& task : CutTasks(**module, request.most)) {
          extracted.what.push_back(std::move(task.what));
          extracted.places.push_back(task.places);
          extracted.runs.push_back(task.runs);
          modules.push_back(std::move(task.module));
        }
        break;
    }
    for (const auto& one : modules) {
      extracted.modules.push_back(
          one->ToString(xla::HloPrintOptions().set_print_large_constants(true)));
    }
    return extracted;
  }

  StatusOr<RawLoopResult> Do(const RawLoopRequest& request) {
    const xla::HloModule* module = states_.Find(request.program);
    if (module == nullptr) return MakeError(ErrorCode::kInvalidInput, "no such program");
    return RunRawLoop(
        *module,
        {request.actions, request.seed, request.first_episode, request.length, request.seconds},
        heartbeat_);
  }

  StatusOr<std::vector<StockPass>> Do(const StockPassesRequest& request) {
    const xla::HloModule* module = states_.Find(request.program);
    if (module == nullptr) return MakeError(ErrorCode::kInvalidInput, "no such program");
    return RecordStockPasses(*module);
  }

  static StatusOr<Nothing> Done(const Status& status) {
    if (!status) return tl::unexpected(status.error());
    return Nothing();
  }

  // What is measured is run on this machine.
  static Status IsHere() {
    if (TheTarget().is_here()) return {};
    return MakeError(ErrorCode::kUnsupported,
                     "there is no " + TheTarget().name() +
                         " here to measure on: times for it are "
                         "XLA's own estimates, by hone tune --target and hone stats --target");
  }

  static ComparisonReport CannotTell(const std::string& why) {
    ComparisonReport report;
    report.method = "none";
    report.reason = why;
    return report;
  }

  StatusOr<std::unique_ptr<xla::HloModule>> ToRun(const StateName& state) {
    if (states_.HasElidedConstants(state.program)) {
      return MakeError(
          ErrorCode::kUnsupported,
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

  Question Next() {
    if (std::optional<RewriteSite> site = conversation_->Next()) return {false, *std::move(site)};
    conversation_.reset();
    return {true, {}};
  }

  wire::Heartbeat& heartbeat_;
  const Status ready_;  // before the table of passes is first looked at
  States states_;
  std::unique_ptr<Conversation> conversation_;
  std::vector<std::string> lacking_;  // tasks without kernels, in the call in hand

  TimedInputs TimedOn(ProgramId program, uint64_t seed) const {
    TimedInputs inputs(seed);
    const auto given = given_.find(program);
    if (given != given_.end()) inputs.given = given->second;
    return inputs;
  }

  std::map<ProgramId, std::shared_ptr<const Arrays>> given_;
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
  wire::Awake awake(kAwake);
  for (;;) {
    awake.Begin();
    const auto wait = [&] {
      if (!awake.Pause()) wire::Readable(socket, -1);
      return true;
    };
    if (!wire::Receive(socket, wait, received)) return;
    capnp::MallocMessageBuilder answer;
    switch (received.method) {
#define HONE_CALL(name, doing)                               \
  case wire::Method::k##name:                                \
    server.Answer<wire::name##Call>(received.words, answer); \
    break;
#include "wire/calls.def"
    }
    if (!wire::Send(socket, received.method, answer)) return;
  }
}

}  // namespace hone::compiler
