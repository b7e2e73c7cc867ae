// hone-simulated-worker: a hone-worker whose compiler and device are made up. It answers what
// tuning asks by formulas, equal everywhere and every time, and waits as long as it is told: with
// --seconds S a race takes S, a compilation a quarter of it. For tests and measurements of what is
// around workers, many of which fit on one machine.
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "core/fnv.h"
#include "core/rng.h"
#include "wire/channel.h"
#include "wire/codec.h"
#include "wire/heartbeat.h"

namespace hone {
namespace {

using wire::FromWire;
using wire::ToWire;
using wire::Worker;

constexpr SiteKey kFusions = 60;
constexpr SiteKey kLoops = 20;
constexpr double kRunSeconds = 0.001;

// The logarithm of the time by the stock plan's: a tenth of the choices help, the rest do harm.
double Cost(const CompilePlan& plan) {
  double cost = 0;
  for (const CompileChoice& choice : plan.choices) {
    Rng random(Fnv1a(choice.value, kFnvStart + choice.key));
    cost += random.Unit() < 0.1 ? -0.05 : 0.02 * random.Unit();
  }
  return cost;
}

// Two plans of one cost still make two executables.
Fingerprint ExecutableOf(const CompilePlan& plan) { return {plan.Hash(), 1}; }

std::vector<CompileSite> Sites() {
  std::vector<CompileSite> sites;
  for (SiteKey key = 1; key <= kFusions + kLoops; ++key) {
    CompileSite site;
    site.key = key;
    site.kind = key <= kFusions ? CompileSiteKind::kFusionEdge : CompileSiteKind::kPartitions;
    site.choices = key <= kFusions ? std::vector<std::string>{"fuse", "keep"}
                                   : std::vector<std::string>{"1", "2", "4"};
    site.opcode = "fusion";
    site.instruction = "simulated." + std::to_string(key);
    site.bytes = static_cast<int64_t>(1000 * key);
    sites.push_back(site);
  }
  return sites;
}

class Simulation {
 public:
  explicit Simulation(double seconds) : seconds_(seconds) {}

  void operator()(Worker::HelloParams::Reader, Worker::HelloResults::Builder results) {
    results.setVersion("simulated");
  }

  void operator()(Worker::LoadParams::Reader params, Worker::LoadResults::Builder results) {
    const auto data = params.getData();
    const std::string text(reinterpret_cast<const char*>(data.begin()), data.size());
    ProgramInfo info;
    info.id = params.getProgram();
    info.fingerprint = {Fnv1a(text), Fnv1a(text, 1)};
    info.name = "simulated";
    info.format = "simulated";
    info.metrics.op_count = static_cast<int64_t>(kFusions + kLoops);
    ToWire(info, results.initInfo());
  }

  void operator()(Worker::UnloadParams::Reader, Worker::UnloadResults::Builder) {}

  void operator()(Worker::DescribeParams::Reader, Worker::DescribeResults::Builder results) {
    ProgramGraph graph;
    graph.name = "simulated";
    graph.computations.resize(1);
    graph.computations[0].instructions.resize(1);
    graph.computations[0].instructions[0].opcode = "copy";
    ToWire(graph, results.initGraph());
  }

  void operator()(Worker::CompileParams::Reader params, Worker::CompileResults::Builder results) {
    Wait(seconds_ / 4);
    Compiled compiled;
    compiled.fingerprint = ExecutableOf(FromWire(params.getPlan()));
    compiled.instructions = static_cast<int64_t>(kFusions + kLoops);
    compiled.seconds = seconds_ / 4;
    const CompileOptions options = FromWire(params.getOptions());
    if (options.sites) compiled.sites = Sites();
    if (options.text) compiled.text = compiled.fingerprint.ToHex();
    ToWire(compiled, results.initCompiled());
  }

  // Nothing is known of where the time goes.
  void operator()(Worker::ProfileParams::Reader, Worker::ProfileResults::Builder) {}

  void operator()(Worker::RaceParams::Reader params, Worker::RaceResults::Builder results) {
    Wait(seconds_);
    const CompilePlan a = FromWire(params.getPlanA());
    const CompilePlan b = FromWire(params.getPlanB());
    RaceReport report;
    report.executable_a = ExecutableOf(a);
    report.executable_b = ExecutableOf(b);
    report.same_executable = a == b;
    report.seconds_a = kRunSeconds * std::exp(Cost(a));
    report.seconds_b = kRunSeconds * std::exp(Cost(b));
    report.speedup = report.seconds_a / report.seconds_b;
    report.low = report.speedup * 0.998;
    report.high = report.speedup * 1.002;
    report.pairs = 20;
    report.compile_seconds_a = report.compile_seconds_b = seconds_ / 4;
    ToWire(report, results.initReport());
  }

  void operator()(Worker::CompareParams::Reader, Worker::CompareResults::Builder results) {
    Wait(seconds_);
    ComparisonReport report;
    report.verdict = Verdict::kEqual;
    report.method = "simulated";
    report.inputs = 1;
    ToWire(report, results.initReport());
  }

 private:
  static void Wait(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  const double seconds_;
};

// False where the call is none that tuning makes.
bool Answer(Simulation& simulation, const wire::Received& received, capnp::MessageBuilder& answer) {
  const auto call = [&](auto of) {
    using Call = decltype(of);
    capnp::FlatArrayMessageReader message(received.words, wire::NoLimits());
    simulation(message.getRoot<typename Call::Params>(), answer.initRoot<typename Call::Results>());
    return true;
  };
  switch (received.method) {
    case wire::Method::kHello:
      return call(wire::HelloCall());
    case wire::Method::kLoad:
      return call(wire::LoadCall());
    case wire::Method::kUnload:
      return call(wire::UnloadCall());
    case wire::Method::kDescribe:
      return call(wire::DescribeCall());
    case wire::Method::kCompile:
      return call(wire::CompileCall());
    case wire::Method::kProfile:
      return call(wire::ProfileCall());
    case wire::Method::kRace:
      return call(wire::RaceCall());
    case wire::Method::kCompare:
      return call(wire::CompareCall());
    default:
      return false;
  }
}

void EndWithAgent(pid_t agent) {
  for (;;) {
    pollfd watched{wire::kSocketDescriptor, POLLRDHUP, 0};
    if (poll(&watched, 1, 1000) > 0 || getppid() != agent) _exit(0);
  }
}

int Serve(double seconds) {
  void* page = mmap(nullptr, sizeof(wire::Heartbeat), PROT_READ | PROT_WRITE, MAP_SHARED,
                    wire::kHeartbeatDescriptor, 0);
  if (page == MAP_FAILED) return 2;
  auto* const heartbeat = static_cast<wire::Heartbeat*>(page);
  heartbeat->bare_bytes = 1;
  std::thread(EndWithAgent, getppid()).detach();
  Simulation simulation(seconds);
  wire::Received received;
  const auto wait = [] { return wire::Readable(wire::kSocketDescriptor, -1); };
  while (wire::Receive(wire::kSocketDescriptor, wait, received)) {
    ++heartbeat->ticks;
    capnp::MallocMessageBuilder answer;
    if (!Answer(simulation, received, answer)) return 1;
    if (!wire::Send(wire::kSocketDescriptor, received.method, answer)) break;
  }
  _exit(0);
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  double seconds = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::strtod(argv[i + 1], nullptr);
  }
  return hone::Serve(seconds);
}
