#include "loops/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "loops/calls.h"
#include "loops/machine.h"
#include "wire/helper_client.h"

namespace hone::loops {
namespace {

constexpr size_t kMostKernels = 8;
constexpr size_t kMostInputs = 3;
constexpr size_t kMostRejected = 10000;

// Inputs, then outputs: as a kernel takes them.
std::vector<int> BuffersOf(const Task& task) {
  std::vector<int> buffers;
  for (int i = 0; i < task.inputs; ++i) buffers.push_back(i);
  buffers.insert(buffers.end(), task.outputs.begin(), task.outputs.end());
  return buffers;
}

}  // namespace

Status FindGenerator() {
  std::error_code error;
  if (std::filesystem::exists(wire::FindProgram("hone-loops"), error)) return {};
  return MakeError(ErrorCode::kUnsupported,
                   "hone was built without hone-loops, for MLIR 19 was not there; run "
                   "setup/install --loops and build again");
}

Status FitsMemory(const Task& task, size_t memory_limit_bytes) {
  const auto limit = static_cast<double>(wire::MemoryLimit(memory_limit_bytes));
  const double bytes = StoredBytes(task);
  if (bytes <= limit) return {};
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("its tensors take {:.1f} GB, and hone-loops may take {:.1f} GB on "
                               "this machine; make it smaller",
                               bytes / 1e9, limit / 1e9));
}

StatusOr<Kernel> MakeKernel(const Task& task, const Schedule& schedule) {
  const StatusOr<Scheduled> scheduled = Apply(Expand(task), schedule);
  if (!scheduled) return tl::unexpected(scheduled.error());
  return Kernel{TaskText(task) + ScheduleText(schedule), MakePayload(*scheduled), &task};
}

Generator::Generator(GeneratorOptions options) : options_(std::move(options)) {
  wire::LinkOptions link = wire::HelperLink(options_.program_path, "hone-loops", options_.sandbox,
                                            options_.memory_limit_bytes);
  link.name = "hone-loops";
  link_ = std::make_unique<wire::WorkerLink>(std::move(link));
}

Generator::~Generator() = default;

StatusOr<std::unique_ptr<Generator>> Generator::Start(const GeneratorOptions& options) {
  if (options.program_path.empty()) {
    if (Status found = FindGenerator(); !found) return tl::unexpected(found.error());
  }
  std::unique_ptr<Generator> generator(new Generator(options));
  if (Status connected = generator->Connect(); !connected) {
    return tl::unexpected(connected.error());
  }
  return generator;
}

int Generator::pid() const { return link_->pid(); }

Status Generator::Connect() {
  const StatusOr<bool> started = link_->Connect();
  if (!started) return tl::unexpected(started.error());
  if (!*started) return {};
  ++restarts_;
  kernels_.clear();
  inputs_.clear();
  return {};
}

// The answer, or the error in it. Where the process is lost, all that it held is.
template <class C, class Make>
StatusOr<wire::Reply<C>> Generator::Ask(double seconds, Make make) {
  StatusOr<wire::Reply<C>> reply = link_->Call<C>({seconds, false, nullptr}, make);
  if (!reply) {
    kernels_.clear();
    inputs_.clear();
  }
  return wire::OrFailure(std::move(reply));
}

template <class C, class Fill>
Status Generator::KeepFew(std::map<std::string, Held>& held, size_t most, Fill fill) {
  while (held.size() >= most) {
    const auto oldest = wire::LeastRecent(held);
    const uint32_t id = oldest->second.id;
    held.erase(oldest);
    const auto asked =
        Ask<C>(options_.call_deadline_seconds, [&](auto params) { fill(params, id); });
    if (!asked) return tl::unexpected(asked.error());
  }
  return {};
}

StatusOr<CompiledKernel> Generator::Compile(const Kernel& kernel, bool texts) {
  if (const auto found = rejected_.find(kernel.name); found != rejected_.end()) {
    return tl::unexpected(found->second);
  }
  if (const Unit unit = kernel.payload.unit; !ThisMachine().Has(unit)) {
    return MakeError(
        ErrorCode::kUnsupported,
        unit == Unit::kTiles
            ? "the schedule has blocks of 32 rows, which are for processors with a "
              "matrix unit for bf16 (AMX); this one has none, or Linux does not lend it"
            : "the schedule takes two terms at once, which is for processors that "
              "multiply pairs of bf16 (AVX512_BF16); this one does not");
  }
  if (Status ready = Connect(); !ready) return tl::unexpected(ready.error());
  if (Status done = KeepFew<DropCall>(kernels_, kMostKernels,
                                      [](auto& params, uint32_t id) { params.setKernel(id); });
      !done) {
    return tl::unexpected(done.error());
  }
  const uint32_t id = next_id_++;
  const auto compiled = Ask<CompileCall>(
      options_.compile_deadline_seconds, [&](Loops::CompileParams::Builder params) {
        const Payload& payload = kernel.payload;
        params.setKernel(id);
        params.setModule(payload.module);
        params.setScript(payload.script);
        auto vectorized = params.initVectorized(static_cast<uint32_t>(payload.vectorized.size()));
        for (uint32_t i = 0; i < payload.vectorized.size(); ++i) {
          vectorized.set(i, payload.vectorized[i]);
        }
        auto unrolled = params.initUnrolled(static_cast<uint32_t>(payload.unrolled.size()));
        for (uint32_t i = 0; i < payload.unrolled.size(); ++i) {
          unrolled[i].setSite(payload.unrolled[i].first);
          unrolled[i].setFactor(payload.unrolled[i].second);
        }
        params.setBuffers(static_cast<uint32_t>(BuffersOf(*kernel.task).size()));
        params.setTexts(texts);
      });
  if (!compiled) {
    if (rejected_.size() < kMostRejected) rejected_[kernel.name] = compiled.error();
    return tl::unexpected(compiled.error());
  }
  kernels_[kernel.name] = {id, ++calls_};
  const auto object = compiled->getObject();
  return CompiledKernel{compiled->getSeconds(),
                        {reinterpret_cast<const char*>(object.begin()), object.size()},
                        compiled->getRestructured(),
                        compiled->getAssembly(),
                        compiled->getProcessor()};
}

StatusOr<uint32_t> Generator::Compiled(const Kernel& kernel) {
  if (Status ready = Connect(); !ready) return tl::unexpected(ready.error());
  if (kernels_.count(kernel.name) == 0) {
    const auto compiled = Compile(kernel);
    if (!compiled) return tl::unexpected(compiled.error());
  }
  Held& held = kernels_.at(kernel.name);
  held.used = ++calls_;
  return held.id;
}

StatusOr<uint32_t> Generator::Placed(const Task& task, const InputChoice& inputs) {
  const std::string name =
      fmt::format("{} {} {} {}", TaskText(task), inputs.kind, inputs.seed, inputs.moved);
  if (const auto found = inputs_.find(name); found != inputs_.end()) {
    found->second.used = ++calls_;
    return found->second.id;
  }
  if (Status fits = FitsMemory(task, options_.memory_limit_bytes); !fits) {
    return tl::unexpected(fits.error());
  }
  // Large ones would not fit side by side.
  const size_t most = Bytes(task) > 2e8 ? 1 : kMostInputs;
  if (Status done = KeepFew<RemoveCall>(inputs_, most,
                                        [](auto& params, uint32_t id) { params.setInputs(id); });
      !done) {
    return tl::unexpected(done.error());
  }
  const uint32_t id = next_id_++;
  const auto placed =
      Ask<PlaceCall>(options_.call_deadline_seconds, [&](Loops::PlaceParams::Builder params) {
        const std::vector<int> ids = BuffersOf(task);
        params.setInputs(id);
        params.setKind(static_cast<uint32_t>(inputs.kind));
        params.setSeed(inputs.seed);
        params.setMoved(inputs.moved);
        auto buffers = params.initBuffers(static_cast<uint32_t>(ids.size()));
        for (uint32_t i = 0; i < ids.size(); ++i) {
          const Tensor& tensor = task.tensors[static_cast<size_t>(ids[i])];
          buffers[i].setElement(static_cast<uint8_t>(tensor.element));
          buffers[i].setElements(tensor.elements());
          buffers[i].setFilled(ids[i] < task.inputs);
        }
      });
  if (!placed) return tl::unexpected(placed.error());
  inputs_[name] = {id, ++calls_};
  return id;
}

StatusOr<std::vector<std::string>> Generator::Run(const Kernel& kernel, const InputChoice& inputs,
                                                  const std::vector<int64_t>& points) {
  const StatusOr<uint32_t> compiled = Compiled(kernel);
  if (!compiled) return tl::unexpected(compiled.error());
  const StatusOr<uint32_t> placed = Placed(*kernel.task, inputs);
  if (!placed) return tl::unexpected(placed.error());
  const auto ran =
      Ask<RunCall>(options_.call_deadline_seconds, [&](Loops::RunParams::Builder params) {
        params.setKernel(*compiled);
        params.setInputs(*placed);
        auto list = params.initPoints(static_cast<uint32_t>(points.size()));
        for (uint32_t i = 0; i < points.size(); ++i) list.set(i, points[i]);
      });
  if (!ran) return tl::unexpected(ran.error());
  std::vector<std::string> outputs;
  for (const auto bytes : ran->getOutputs()) {
    outputs.emplace_back(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  }
  return outputs;
}

StatusOr<std::vector<PairTimes>> Generator::Time(const Kernel& a, const Kernel& b,
                                                 const InputChoice& inputs, int first, int pairs,
                                                 int repeats, bool cold, int threads) {
  StatusOr<uint32_t> compiled_a = Compiled(a);
  if (!compiled_a) return tl::unexpected(compiled_a.error());
  const StatusOr<uint32_t> compiled_b = Compiled(b);
  if (!compiled_b) return tl::unexpected(compiled_b.error());
  if (compiled_a = Compiled(a); !compiled_a) return tl::unexpected(compiled_a.error());
  const StatusOr<uint32_t> placed = Placed(*a.task, inputs);
  if (!placed) return tl::unexpected(placed.error());
  const auto timed =
      Ask<TimeCall>(options_.call_deadline_seconds, [&](Loops::TimeParams::Builder params) {
        params.setA(*compiled_a);
        params.setB(*compiled_b);
        params.setInputs(*placed);
        params.setFirstPair(static_cast<uint32_t>(first));
        params.setPairs(static_cast<uint32_t>(pairs));
        params.setRepeats(static_cast<uint32_t>(repeats));
        params.setCold(cold);
        params.setThreads(static_cast<uint32_t>(threads));
      });
  if (!timed) return tl::unexpected(timed.error());
  return wire::PairsOf(timed->getSeconds());
}

}  // namespace hone::loops
