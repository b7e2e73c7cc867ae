#include "compiler/server.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "compiler/describe.h"
#include "compiler/fingerprint.h"
#include "compiler/load.h"
#include "compiler/metrics.h"
#include "compiler/passes/pass_table.h"
#include "compiler/pipelines/stock.h"
#include "compiler/raw_loop.h"
#include "compiler/run/compare.h"
#include "compiler/run/run_time.h"
#include "compiler/states.h"
#include "tensorflow/c/c_api.h"
#include "wire/codec.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using wire::FromWire;
using wire::ToWire;

template <class Results>
kj::Promise<void> Fail(Results results, const Error& error) {
  ToWire(error, results.initFailure());
  return kj::READY_NOW;
}

// Adds what a call took, less what its parts have booked themselves, to Timing::other.
class BookRest {
 public:
  explicit BookRest(Timing& timing) : timing_(timing), booked_(Booked()), start_(Clock::now()) {}
  ~BookRest() {
    const double all = std::chrono::duration<double>(Clock::now() - start_).count();
    timing_.other += all - (Booked() - booked_);
  }
  BookRest(const BookRest&) = delete;
  BookRest& operator=(const BookRest&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double Booked() const {
    return timing_.passes + timing_.clones + timing_.fingerprints + timing_.metrics +
           timing_.verifier;
  }
  Timing& timing_;
  const double booked_;
  const Clock::time_point start_;
};

class Server final : public wire::Worker::Server {
 public:
  Server(const StatesOptions& options, wire::Heartbeat* heartbeat)
      : heartbeat_(*heartbeat), states_(options, heartbeat) {}

 protected:
  kj::Promise<void> hello(HelloContext context) override {
    auto results = context.getResults();
    results.setVersion(std::string("tensorflow-cpu ") + TF_Version());
    auto passes = results.initPasses(static_cast<unsigned>(PassTable().size()));
    for (unsigned i = 0; i < passes.size(); ++i) ToWire(PassTable()[i].info, passes[i]);
    auto excluded = results.initExcluded(static_cast<unsigned>(ExcludedPasses().size()));
    for (unsigned i = 0; i < excluded.size(); ++i) {
      excluded[i].setClassName(ExcludedPasses()[i].class_name);
      excluded[i].setReason(ExcludedPasses()[i].reason);
    }
    auto opcodes = results.initOpcodes(xla::HloOpcodeCount());
    for (unsigned i = 0; i < opcodes.size(); ++i) {
      opcodes.set(i, std::string(xla::HloOpcodeString(static_cast<xla::HloOpcode>(i))));
    }
    auto types = results.initTypes(xla::PrimitiveType_ARRAYSIZE);
    for (unsigned i = 0; i < types.size(); ++i) {
      types.set(i, absl::AsciiStrToLower(xla::PrimitiveType_Name(static_cast<int>(i))));
    }
    return kj::READY_NOW;
  }

  kj::Promise<void> load(LoadContext context) override {
    BookRest book(states_.timing());
    const auto params = context.getParams();
    const auto data = params.getData();
    StatusOr<ProgramInfo> info = states_.Load(
        params.getProgram(), {reinterpret_cast<const char*>(data.begin()), data.size()});
    if (!info) return Fail(context.getResults(), info.error());
    ToWire(*info, context.getResults().initInfo());
    return kj::READY_NOW;
  }

  kj::Promise<void> unload(UnloadContext context) override {
    if (Status done = states_.Unload(context.getParams().getProgram()); !done) {
      return Fail(context.getResults(), done.error());
    }
    return kj::READY_NOW;
  }

  kj::Promise<void> apply(ApplyContext context) override {
    BookRest book(states_.timing());
    const auto params = context.getParams();
    std::vector<PassId> passes;
    for (PassId pass : params.getPasses()) passes.push_back(pass);
    std::vector<KnownFailure> avoid;
    for (auto known : params.getAvoid()) avoid.push_back(FromWire(known));
    for (auto left : params.getLeft()) {
      states_.Leave(left.getProgram(), FromWire(left.getState()));
    }
    StatusOr<Applied> applied =
        states_.Apply(FromWire(params.getFrom()), passes, avoid, FromWire(params.getOptions()));
    if (!applied) return Fail(context.getResults(), applied.error());
    ToWire(applied->start, context.getResults().initStart());
    auto steps = context.getResults().initSteps(static_cast<unsigned>(applied->steps.size()));
    for (unsigned i = 0; i < steps.size(); ++i) ToWire(applied->steps[i], steps[i]);
    return kj::READY_NOW;
  }

  kj::Promise<void> hold(HoldContext context) override {
    BookRest book(states_.timing());
    if (Status done = states_.Hold(FromWire(context.getParams().getState())); !done) {
      return Fail(context.getResults(), done.error());
    }
    return kj::READY_NOW;
  }

  kj::Promise<void> metrics(MetricsContext context) override {
    BookRest book(states_.timing());
    auto module = states_.Rebuild(FromWire(context.getParams().getState()));
    if (!module) return Fail(context.getResults(), module.error());
    ToWire(MeasureModule(**module), context.getResults().initMetrics());
    return kj::READY_NOW;
  }

  kj::Promise<void> describe(DescribeContext context) override {
    BookRest book(states_.timing());
    auto module = states_.Rebuild(FromWire(context.getParams().getState()));
    if (!module) return Fail(context.getResults(), module.error());
    ToWire(Describe(**module), context.getResults().initGraph());
    return kj::READY_NOW;
  }

  kj::Promise<void> export_(ExportContext context) override {
    BookRest book(states_.timing());
    const StateName state = FromWire(context.getParams().getState());
    auto module = states_.Rebuild(state);
    if (!module) return Fail(context.getResults(), module.error());
    if (const std::string complaint = VerifyModule(**module); !complaint.empty()) {
      return Fail(context.getResults(),
                  Error{ErrorCode::kPassFailed,
                        "the result is rejected by XLA's HLO verifier: " + complaint});
    }
    std::string bytes;
    if (context.getParams().getFormat() == wire::ExportFormat::TEXT) {
      // What was elided when it was read has no values to print.
      bytes = (*module)->ToString(xla::HloPrintOptions().set_print_large_constants(
          !states_.HasElidedConstants(state.program)));
    } else {
      xla::HloProto proto;
      *proto.mutable_hlo_module() = (*module)->ToProto();
      bytes = proto.SerializeAsString();
    }
    ToWire(DigestModule(**module).fingerprint, context.getResults().initState());
    context.getResults().setData(
        kj::arrayPtr(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()));
    return kj::READY_NOW;
  }

  kj::Promise<void> compare(CompareContext context) override {
    BookRest book(states_.timing());
    const auto params = context.getParams();
    const StateName a = FromWire(params.getA());
    const StateName b = FromWire(params.getB());
    ComparisonReport report;
    if (states_.HasElidedConstants(a.program) || states_.HasElidedConstants(b.program)) {
      report.method = "none";
      report.reason = "its text has elided constants, {...}: their values are lost, so it cannot "
                      "be run; dump it again with large constants";
    } else {
      auto module_a = states_.Rebuild(a);
      if (!module_a) return Fail(context.getResults(), module_a.error());
      auto module_b = states_.Rebuild(b);
      if (!module_b) return Fail(context.getResults(), module_b.error());
      report = Compare(**module_a, **module_b, FromWire(params.getOptions()));
    }
    ToWire(report, context.getResults().initReport());
    return kj::READY_NOW;
  }

  kj::Promise<void> arrays(ArraysContext context) override {
    BookRest book(states_.timing());
    StatusOr<ProgramArrays> arrays = states_.Arrays(FromWire(context.getParams().getState()));
    if (!arrays) return Fail(context.getResults(), arrays.error());
    ToWire(*arrays, context.getResults().initArrays());
    return kj::READY_NOW;
  }

  kj::Promise<void> runTime(RunTimeContext context) override {
    BookRest book(states_.timing());
    const StateName state = FromWire(context.getParams().getState());
    if (states_.HasElidedConstants(state.program)) {
      return Fail(context.getResults(),
                  Error{ErrorCode::kUnsupported,
                        "its text has elided constants, {...}, so it cannot be run"});
    }
    auto module = states_.Rebuild(state);
    if (!module) return Fail(context.getResults(), module.error());
    const StatusOr<RunTimeReport> report =
        MeasureRunTime(**module, FromWire(context.getParams().getOptions()));
    if (!report) return Fail(context.getResults(), report.error());
    context.getResults().setCompileSeconds(report->compile_seconds);
    auto seconds = context.getResults().initSeconds(static_cast<unsigned>(report->seconds.size()));
    for (unsigned i = 0; i < seconds.size(); ++i) seconds.set(i, report->seconds[i]);
    return kj::READY_NOW;
  }

  kj::Promise<void> rawLoop(RawLoopContext context) override {
    BookRest book(states_.timing());
    const auto params = context.getParams();
    const xla::HloModule* module = states_.Find(params.getProgram());
    if (module == nullptr) {
      return Fail(context.getResults(), Error{ErrorCode::kInvalidInput, "no such program"});
    }
    RawLoopOptions options;
    for (PassId action : params.getActions()) options.actions.push_back(action);
    options.seed = params.getSeed();
    options.first_episode = params.getFirstEpisode();
    options.length = static_cast<int>(params.getLength());
    options.seconds = params.getSeconds();
    const RawLoopResult result = RunRawLoop(*module, options, heartbeat_);
    context.getResults().setSteps(result.steps);
    context.getResults().setEpisodes(result.episodes);
    context.getResults().setFailures(result.failures);
    context.getResults().setSeconds(result.seconds);
    return kj::READY_NOW;
  }

  kj::Promise<void> stockPasses(StockPassesContext context) override {
    BookRest book(states_.timing());
    const xla::HloModule* module = states_.Find(context.getParams().getProgram());
    if (module == nullptr) {
      return Fail(context.getResults(), Error{ErrorCode::kInvalidInput, "no such program"});
    }
    StatusOr<std::vector<StockPass>> passes = RecordStockPasses(*module);
    if (!passes) return Fail(context.getResults(), passes.error());
    auto out = context.getResults().initPasses(static_cast<unsigned>(passes->size()));
    for (unsigned i = 0; i < out.size(); ++i) ToWire((*passes)[i], out[i]);
    return kj::READY_NOW;
  }

 private:
  wire::Heartbeat& heartbeat_;
  States states_;
};

}  // namespace

wire::Worker::Client MakeServer(const StatesOptions& options, wire::Heartbeat* heartbeat) {
  return kj::heap<Server>(options, heartbeat);
}

}  // namespace hone::compiler
