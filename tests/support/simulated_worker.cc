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
#include <type_traits>

#include "core/fnv.h"
#include "core/rng.h"
#include "wire/channel.h"
#include "wire/codec.h"
#include "wire/heartbeat.h"

namespace hone {
namespace {

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

  WorkerFacts operator()(const HelloRequest&) {
    WorkerFacts facts;
    facts.version = "simulated";
    return facts;
  }

  ProgramInfo operator()(const LoadRequest& request) {
    ProgramInfo info;
    info.id = request.program;
    info.fingerprint = {Fnv1a(request.data), Fnv1a(request.data, 1)};
    info.name = "simulated";
    info.format = "simulated";
    info.metrics.op_count = static_cast<int64_t>(kFusions + kLoops);
    return info;
  }

  Nothing operator()(const UnloadRequest&) { return {}; }

  ProgramGraph operator()(const DescribeRequest&) {
    ProgramGraph graph;
    graph.name = "simulated";
    graph.computations.resize(1);
    graph.computations[0].instructions.resize(1);
    graph.computations[0].instructions[0].opcode = "copy";
    return graph;
  }

  Compiled operator()(const CompileRequest& request) {
    Wait(seconds_ / 4);
    Compiled compiled;
    compiled.fingerprint = ExecutableOf(request.plan);
    compiled.instructions = static_cast<int64_t>(kFusions + kLoops);
    compiled.seconds = seconds_ / 4;
    if (request.options.sites) compiled.sites = Sites();
    if (request.options.text) compiled.text = compiled.fingerprint.ToHex();
    return compiled;
  }

  // Nothing is known of where the time goes.
  std::vector<KernelTime> operator()(const ProfileRequest&) { return {}; }

  RaceReport operator()(const RaceRequest& request) {
    Wait(seconds_);
    RaceReport report;
    report.executable_a = ExecutableOf(request.plan_a);
    report.executable_b = ExecutableOf(request.plan_b);
    report.same_executable = request.plan_a == request.plan_b;
    report.seconds_a = kRunSeconds * std::exp(Cost(request.plan_a));
    report.seconds_b = kRunSeconds * std::exp(Cost(request.plan_b));
    report.speedup = report.seconds_a / report.seconds_b;
    report.low = report.speedup * 0.998;
    report.high = report.speedup * 1.002;
    report.pairs = 20;
    report.compile_seconds_a = report.compile_seconds_b = seconds_ / 4;
    return report;
  }

  ComparisonReport operator()(const CompareRequest&) {
    Wait(seconds_);
    ComparisonReport report;
    report.verdict = Verdict::kEqual;
    report.method = "simulated";
    report.inputs = 1;
    return report;
  }

 private:
  static void Wait(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  const double seconds_;
};

// False where the call is none that tuning makes.
template <class Simulated>
bool Answer(Simulated& simulation, const wire::Received& received, capnp::MessageBuilder& answer) {
  capnp::FlatArrayMessageReader message(received.words, wire::NoLimits());
#define HONE_CALL(name, doing)                                                         \
  if constexpr (std::is_invocable_v<Simulated, const name##Request&>) {                \
    if (received.method == wire::Method::k##name) {                                    \
      name##Request request;                                                           \
      wire::FromWire(message.getRoot<wire::name##Call::Params>(), request);            \
      wire::ToWire(simulation(request), answer.initRoot<wire::name##Call::Results>()); \
      return true;                                                                     \
    }                                                                                  \
  }
#include "wire/calls.def"
  return false;
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
