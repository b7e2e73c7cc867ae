#include "loops/generator/server.h"

#include <capnp/message.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loops/calls.h"
#include "loops/generator/compile.h"
#include "loops/generator/load.h"
#include "loops/generator/threads.h"
#include "loops/inputs.h"
#include "wire/helper_program.h"

namespace hone::loops {
namespace {

using wire::Received;

// Larger than any cache; reading it leaves none of a kernel's buffers in one.
constexpr size_t kFlushBytes = size_t{64} << 20;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string TextOf(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

struct PlacedBuffer {
  std::unique_ptr<void, FreeMemory> memory;
  size_t element_bytes = 0;
  int64_t elements = 0;
  bool filled = false;
};

class Server {
 public:
  explicit Server(int socket) : socket_(socket) {}

  void Run() {
    Received received;
    while (wire::Receive(
        socket_, [this] { return wire::Readable(socket_, -1); }, received)) {
      const bool answered = Try<CompileCall>(received) || Try<DropCall>(received) ||
                            Try<PlaceCall>(received) || Try<RemoveCall>(received) ||
                            Try<RunCall>(received) || Try<TimeCall>(received);
      if (!answered) return;
    }
  }

 private:
  using Placed = std::vector<PlacedBuffer>;

  template <class Call>
  bool Try(const Received& received) {
    return wire::Answer<Call>(socket_, received, [this](const auto& params, auto& results) {
      return Do(params, results);
    });
  }

  Status Do(Loops::CompileParams::Reader params, Loops::CompileResults::Builder results) {
    const double start = Now();
    CompileRequest request;
    request.module = TextOf(params.getModule());
    request.script = TextOf(params.getScript());
    for (const auto site : params.getVectorized()) request.vectorized.push_back(TextOf(site));
    for (const auto one : params.getUnrolled()) {
      request.unrolled.emplace_back(TextOf(one.getSite()), one.getFactor());
    }
    request.buffers = params.getBuffers();
    request.texts = params.getTexts();
    StatusOr<CompileResult> made = Compile(request);
    if (!made) return tl::unexpected(made.error());
    auto loaded = Loaded::Load(made->object);
    if (!loaded) return tl::unexpected(loaded.error());
    kernels_[params.getKernel()] = *std::move(loaded);
    results.setSeconds(Now() - start);
    results.setObject(
        {reinterpret_cast<const unsigned char*>(made->object.data()), made->object.size()});
    results.setRestructured(made->restructured);
    results.setAssembly(made->assembly);
    results.setProcessor(Processor());
    return {};
  }

  Status Do(Loops::DropParams::Reader params, Loops::DropResults::Builder) {
    kernels_.erase(params.getKernel());
    return {};
  }

  Status Do(Loops::PlaceParams::Reader params, Loops::PlaceResults::Builder) {
    Placed placed;
    uint64_t number = 0;
    for (const auto buffer : params.getBuffers()) {
      const auto element = static_cast<Element>(buffer.getElement());
      PlacedBuffer made;
      made.element_bytes = InfoOf(element).bytes;
      made.elements = buffer.getElements();
      made.filled = buffer.getFilled();
      const size_t bytes = static_cast<size_t>(made.elements) * made.element_bytes;
      made.memory.reset(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
      if (!made.memory) return MakeError(ErrorCode::kMemory, "the task's buffers do not fit");
      if (made.filled) {
        FillInput(element, made.elements, static_cast<int>(params.getKind()),
                  params.getSeed() + number, params.getMoved(), made.memory.get());
      } else {
        std::memset(made.memory.get(), 0, bytes);
      }
      ++number;
      placed.push_back(std::move(made));
    }
    placed_[params.getInputs()] = std::move(placed);
    return {};
  }

  Status Do(Loops::RemoveParams::Reader params, Loops::RemoveResults::Builder) {
    placed_.erase(params.getInputs());
    return {};
  }

  StatusOr<Entry> EntryOf(uint32_t kernel) const {
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return MakeError(ErrorCode::kInternal, "there is no such kernel");
    return found->second->entry();
  }

  StatusOr<std::vector<void*>> BuffersOf(uint32_t inputs) const {
    const auto found = placed_.find(inputs);
    if (found == placed_.end()) return MakeError(ErrorCode::kInternal, "there are no such inputs");
    std::vector<void*> buffers;
    for (const PlacedBuffer& buffer : found->second) buffers.push_back(buffer.memory.get());
    return buffers;
  }

  Status Do(Loops::RunParams::Reader params, Loops::RunResults::Builder results) {
    const StatusOr<Entry> entry = EntryOf(params.getKernel());
    if (!entry) return tl::unexpected(entry.error());
    StatusOr<std::vector<void*>> buffers = BuffersOf(params.getInputs());
    if (!buffers) return tl::unexpected(buffers.error());
    const Placed& placed = placed_.at(params.getInputs());
    // What is not written must not look right by chance.
    for (const PlacedBuffer& buffer : placed) {
      if (!buffer.filled) {
        std::memset(buffer.memory.get(), 0xff,
                    static_cast<size_t>(buffer.elements) * buffer.element_bytes);
      }
    }
    // With threads, so that what is compared is what is timed.
    (*entry)(buffers->data(), &Lend(2));
    std::vector<const PlacedBuffer*> outputs;
    for (const PlacedBuffer& buffer : placed) {
      if (!buffer.filled) outputs.push_back(&buffer);
    }
    auto list = results.initOutputs(static_cast<uint32_t>(outputs.size()));
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const auto* const bytes = static_cast<const unsigned char*>(outputs[i]->memory.get());
      const size_t size = outputs[i]->element_bytes;
      if (params.getPoints().size() == 0) {
        list.set(i, {bytes, static_cast<size_t>(outputs[i]->elements) * size});
        continue;
      }
      auto some = list.init(i, static_cast<uint32_t>(params.getPoints().size() * size));
      size_t at = 0;
      for (const int64_t point : params.getPoints()) {
        if (point < 0 || point >= outputs[i]->elements) {
          return MakeError(ErrorCode::kInternal, "there is no such element");
        }
        std::memcpy(some.begin() + at, bytes + static_cast<size_t>(point) * size, size);
        at += size;
      }
    }
    return {};
  }

  // Seconds of a run.
  double Time(Entry entry, std::vector<void*>& buffers, const Runner* runner, uint32_t repeats,
              bool cold) {
    double seconds = 0;
    for (uint32_t i = 0; i < repeats; ++i) {
      if (cold || i == 0) {
        if (cold) Flush();
        const double start = Now();
        const uint32_t runs = cold ? 1 : repeats;
        for (uint32_t run = 0; run < runs; ++run) entry(buffers.data(), runner);
        seconds += Now() - start;
        if (!cold) break;
      }
    }
    return seconds / repeats;
  }

  void Flush() {
    if (flush_.empty()) flush_.resize(kFlushBytes, 1);
    for (size_t i = 0; i < flush_.size(); i += 64) flush_[i] = static_cast<char>(flush_[i] + 1);
  }

  Status Do(Loops::TimeParams::Reader params, Loops::TimeResults::Builder results) {
    const StatusOr<Entry> a = EntryOf(params.getA());
    if (!a) return tl::unexpected(a.error());
    const StatusOr<Entry> b = EntryOf(params.getB());
    if (!b) return tl::unexpected(b.error());
    StatusOr<std::vector<void*>> buffers = BuffersOf(params.getInputs());
    if (!buffers) return tl::unexpected(buffers.error());
    const Runner& runner = Lend(static_cast<int>(params.getThreads()));
    auto list = results.initSeconds(2 * params.getPairs());
    for (uint32_t pair = 0; pair < params.getPairs(); ++pair) {
      const bool a_first = (params.getFirstPair() + pair) % 2 == 0;
      for (const bool first : {true, false}) {
        const bool is_a = first == a_first;
        list.set(2 * pair + (is_a ? 0 : 1),
                 Time(is_a ? *a : *b, *buffers, &runner, params.getRepeats(), params.getCold()));
      }
    }
    return {};
  }

  const Runner& Lend(int threads) {
    if (!threads_ || threads != lent_) {
      threads_ = std::make_unique<Threads>(threads);
      lent_ = threads;
    }
    return *threads_;
  }

  const int socket_;
  std::map<uint32_t, std::unique_ptr<Loaded>> kernels_;
  std::map<uint32_t, Placed> placed_;
  std::unique_ptr<Threads> threads_;
  int lent_ = 0;
  std::vector<char> flush_;
};

}  // namespace

void Serve(int socket) { Server(socket).Run(); }

}  // namespace hone::loops
