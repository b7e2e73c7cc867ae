#include "compiler/server.h"

#include <sched.h>

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
  const Clock::time_point start_;
};

class Server {
 public:
  Server(const StatesOptions& options, wire::Heartbeat* heartbeat)
      : heartbeat_(*heartbeat), states_(options, heartbeat) {}

  void Hello(Worker::HelloParams::Reader, Worker::HelloResults::Builder results) {
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
    StatusOr<Applied> applied =
        states_.Apply(FromWire(params.getFrom()), passes, avoid, FromWire(params.getOptions()));
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
                      "be run; dump it again with large constants";
    } else {
      auto module_a = states_.Rebuild(a);
      if (!module_a) return Fail(results, module_a.error());
      auto module_b = states_.Rebuild(b);
      if (!module_b) return Fail(results, module_b.error());
      report = compiler::Compare(**module_a, **module_b, FromWire(params.getOptions()));
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
    const StateName state = FromWire(params.getState());
    if (states_.HasElidedConstants(state.program)) {
      return Fail(results,
                  Error{ErrorCode::kUnsupported,
                        "its text has elided constants, {...}, so it cannot be run"});
    }
    auto module = states_.Rebuild(state);
    if (!module) return Fail(results, module.error());
    const StatusOr<RunTimeReport> report =
        MeasureRunTime(**module, FromWire(params.getOptions()));
    if (!report) return Fail(results, report.error());
    results.setCompileSeconds(report->compile_seconds);
    results.setCompiledInstructions(report->compiled_instructions);
    auto seconds = results.initSeconds(static_cast<unsigned>(report->seconds.size()));
    for (unsigned i = 0; i < seconds.size(); ++i) seconds.set(i, report->seconds[i]);
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
  wire::Heartbeat& heartbeat_;
  States states_;
};

}  // namespace

void Serve(int socket, const StatesOptions& options, wire::Heartbeat* heartbeat) {
  Server server(options, heartbeat);
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
      (server.*method)(message.getRoot<typename Call::Params>(),
                       answer.initRoot<typename Call::Results>());
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
#undef HONE_SERVE
    }
    if (!wire::Send(socket, received.method, answer)) return;
  }
}

}  // namespace hone::compiler
