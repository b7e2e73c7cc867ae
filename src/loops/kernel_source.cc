#include "loops/kernel_source.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "wire/helper_client.h"

namespace hone::loops {

namespace {

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
    : options_(std::move(options)), machine_(machine) {
  if (folder.empty()) return;
  files_ = wire::CodeFiles::Open(folder);
  const std::string& given = options_.program_path;
  makers_ = wire::MakersOfCode({given.empty() ? wire::FindProgram("hone-loops") : given});
}

StatusOr<NativeKernel> KernelSource::Get(const std::string& task) {
  const std::lock_guard lock(mutex_);
  if (const auto found = made_.find(task); found != made_.end()) return found->second;
  return made_.emplace(task, Make(task)).first->second;
}

void KernelSource::Serve(std::map<std::string, std::string> schedules) {
  const std::lock_guard lock(mutex_);
  schedules_ = std::move(schedules);
}

StatusOr<std::string> KernelSource::CodeOf(const Kernel& kernel) {
  const bool runs = !kernel.payload.tiles || machine_.tiles;
  const Fingerprint key = KeyOf(kernel.payload, makers_);
  if (files_ != nullptr && runs) {
    if (std::optional<std::string> code = files_->Find(key)) return *std::move(code);
  }
  if (generator_ == nullptr) {
    StatusOr<std::unique_ptr<Generator>> started = Generator::Start(options_);
    if (!started) return tl::unexpected(started.error());
    generator_ = *std::move(started);
  }
  StatusOr<CompiledKernel> compiled = generator_->Compile(kernel);
  if (!compiled) return tl::unexpected(compiled.error());
  if (files_ != nullptr) files_->Add(key, compiled->object);
  return std::move(compiled->object);
}

StatusOr<std::string> KernelSource::Compile(const Task& task) {
  if (const auto found = schedules_.find(FingerprintOf(task).ToHex()); found != schedules_.end()) {
    const StatusOr<Schedule> schedule = ParseSchedule(found->second);
    if (schedule) {
      const StatusOr<Kernel> kernel = MakeKernel(task, *schedule);
      if (kernel) {
        StatusOr<std::string> code = CodeOf(*kernel);
        if (code) return code;
      }
    }
  }
  const StatusOr<Kernel> kernel = MakeKernel(task, DefaultSchedule(loops::Expand(task), machine_));
  if (!kernel) return tl::unexpected(kernel.error());
  return CodeOf(*kernel);
}

StatusOr<NativeKernel> KernelSource::Make(const std::string& task) {
  std::string text = task;
  std::replace(text.begin(), text.end(), ';', '\n');
  const StatusOr<Task> parsed = ParseTask(text);
  if (!parsed) {
    return MakeError(parsed.error().code,
                     "a custom call hone_loops has no task: " + parsed.error().message);
  }
  StatusOr<std::string> code = Compile(*parsed);
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
