#include "loops/kernel_source.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "wire/helper_client.h"

namespace hone::loops {

namespace {

constexpr unsigned kMostProcesses = 8;  // of hone-loops: each takes 100 MB

unsigned Processes() { return std::clamp(std::thread::hardware_concurrency(), 1u, kMostProcesses); }

Fingerprint KeyOf(const Payload& payload, uint64_t makers) {
  std::string text = payload.module + '\0' + payload.script;
  for (const std::string& site : payload.vectorized) text += '\0' + site;
  for (const auto& [site, factor] : payload.unrolled) {
    text += '\0' + site + ' ' + std::to_string(factor);
  }
  const XXH128_hash_t hash = XXH3_128bits_withSeed(text.data(), text.size(), makers);
  return {hash.high64, hash.low64};
}

}  // namespace

KernelSource::KernelSource(GeneratorOptions options, Machine machine, const std::string& folder)
    : options_(std::move(options)), machine_(machine), free_(Processes()) {
  if (folder.empty()) return;
  files_ = wire::CodeFiles::Open(folder);
  const std::string& given = options_.program_path;
  makers_ = wire::MakersOfCode({given.empty() ? wire::FindProgram("hone-loops") : given});
}

struct KernelSource::Order {
  std::string task;
  std::promise<Made> kernel;
};

StatusOr<std::vector<NativeKernel>> KernelSource::Get(const std::vector<std::string>& tasks) {
  std::vector<std::shared_future<Made>> made;
  std::vector<Order> orders;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& task : tasks) {
      const auto [found, is_new] = made_.try_emplace(task);
      if (is_new) {
        orders.push_back({task, {}});
        found->second = orders.back().kernel.get_future().share();
      }
      made.push_back(found->second);
    }
  }
  MakeAll(orders);
  std::vector<NativeKernel> kernels;
  for (const std::shared_future<Made>& kernel : made) {
    if (!kernel.get()) return tl::unexpected(kernel.get().error());
    kernels.push_back(*kernel.get());
  }
  return kernels;
}

// Who makes many begins with a process of its own, and hands it back at the end.
void KernelSource::MakeAll(std::vector<Order>& orders) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    free_.acquire();
    std::unique_ptr<Generator> generator;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        generator = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    for (size_t i = next++; i < orders.size(); i = next++) {
      orders[i].kernel.set_value(Make(orders[i].task, &generator));
    }
    if (generator != nullptr) {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(generator));
    }
    free_.release();
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < std::min<size_t>(orders.size(), Processes()); ++t) {
    others.emplace_back(work);
  }
  if (!orders.empty()) work();
  for (std::thread& other : others) other.join();
}

void KernelSource::Serve(std::map<std::string, std::string> schedules) {
  const std::lock_guard lock(mutex_);
  schedules_ = std::move(schedules);
}

StatusOr<std::string> KernelSource::CodeOf(const Kernel& kernel,
                                           std::unique_ptr<Generator>* generator) {
  const bool runs = machine_.Has(kernel.payload.unit);
  const Fingerprint key = KeyOf(kernel.payload, makers_);
  if (files_ != nullptr && runs) {
    if (std::optional<std::string> code = files_->Find(key)) return *std::move(code);
  }
  if (*generator == nullptr) {
    StatusOr<std::unique_ptr<Generator>> started = Generator::Start(options_);
    if (!started) return tl::unexpected(started.error());
    *generator = *std::move(started);
  }
  StatusOr<CompiledKernel> compiled = (*generator)->Compile(kernel);
  if (!compiled) return tl::unexpected(compiled.error());
  if (files_ != nullptr) files_->Add(key, compiled->object);
  return std::move(compiled->object);
}

// That was found for it; "" where none was.
std::string KernelSource::ScheduleOf(const Task& task) {
  const std::lock_guard lock(mutex_);
  if (schedules_.empty()) return "";
  const auto found = schedules_.find(FingerprintOf(task).ToHex());
  return found == schedules_.end() ? "" : found->second;
}

StatusOr<std::string> KernelSource::Compile(const Task& task,
                                            std::unique_ptr<Generator>* generator) {
  if (const std::string text = ScheduleOf(task); !text.empty()) {
    if (const StatusOr<Schedule> schedule = ParseSchedule(text)) {
      if (const StatusOr<Kernel> kernel = MakeKernel(task, *schedule)) {
        StatusOr<std::string> code = CodeOf(*kernel, generator);
        if (code) return code;
      }
    }
  }
  const StatusOr<Kernel> kernel = MakeKernel(task, DefaultSchedule(loops::Expand(task), machine_));
  if (!kernel) return tl::unexpected(kernel.error());
  return CodeOf(*kernel, generator);
}

KernelSource::Made KernelSource::Make(const std::string& task,
                                      std::unique_ptr<Generator>* generator) {
  std::string text = task;
  std::replace(text.begin(), text.end(), ';', '\n');
  const StatusOr<Task> parsed = ParseTask(text);
  if (!parsed) {
    return MakeError(parsed.error().code,
                     "a custom call hone_loops has no task: " + parsed.error().message);
  }
  StatusOr<std::string> code = Compile(*parsed, generator);
  if (!code) return tl::unexpected(code.error());
  NativeKernel made{KernelName(task), *std::move(code), {}};
  const auto add = [&](int tensor) {
    made.bytes.push_back(
        static_cast<int64_t>(parsed->tensors[static_cast<size_t>(tensor)].bytes()));
  };
  for (int i = 0; i < parsed->inputs; ++i) add(i);
  for (const int output : parsed->outputs) add(output);
  return made;
}

}  // namespace hone::loops
