#include "compiler/kernels/kernels.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/kernel_cache.h"
#include "compiler/kernels/kernel_text.h"
#include "compiler/kernels/llvm.h"
#include "compiler/kernels/object_file.h"
#include "compiler/sites/real.h"

namespace hone::compiler {
namespace {

using Object = std::shared_ptr<const std::string>;

constexpr int64_t kCheckOneIn = 100;

Fingerprint KeyOf(const KernelText& kernel, uint64_t configuration) {
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(kernel.text.data(), kernel.text.size(), configuration);
  return {hash.high64, hash.low64};
}

// What is known of an LLVM module that is on its way to IrCompiler.
struct Job {
  Fingerprint key;
  std::string function;
  Object object;       // where the module is without content: what it stands for
  Object expected;     // where it is compiled to be compared
  bool twice = false;  // two modules of this name: nothing is known of either
};

class Kernels {
 public:
  // Of the process; never destroyed, for XLA's threads outlive everything.
  static Kernels& Get() {
    static Kernels* const kernels = new Kernels;
    return *kernels;
  }

  void SetMemory(size_t bytes) {
    cache_ = bytes == 0 ? nullptr : std::make_unique<KernelCache>(bytes);
  }

  uint64_t Begin(uint64_t configuration) {
    compiling_.lock();
    return configuration_.exchange(configuration);
  }
  void End(uint64_t before) {
    configuration_ = before;
    if (before == 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      jobs_.clear();
    }
    compiling_.unlock();
  }
  bool active() const { return configuration_ != 0 && cache_ != nullptr; }

  KernelCounts counts() const { return {compiled_, reused_, checked_, differed_}; }

  // What FusionCompiler makes of this: a module without content for a kernel that is known, nothing
  // for one that XLA has to make.
  llvm_module::Owned Lower(std::string_view mlir, void* llvm_context) {
    std::optional<KernelText> kernel = ReadMlirKernel(mlir);
    if (!kernel) return {};
    Job job;
    job.key = KeyOf(*kernel, configuration_);
    job.function = std::move(kernel->function);
    const Object known = cache_->Find(job.key);
    if (known != nullptr && !IsToBeChecked()) {
      const std::string module = absl::StrCat("hone.", ++stand_ins_);
      llvm_module::Owned made = llvm_module::WithoutContent(llvm_context, module, job.function);
      if (!made.empty()) {
        job.object = known;
        Note(module, std::move(job));
        return made;
      }
    }
    job.expected = known;
    Note(llvm_module::IdentifierOf(kernel->module), std::move(job));
    return {};
  }

  // The object file for what IrCompiler was given; empty where XLA has to make it: Compiled() is
  // told then what came of it. Writes what is known of the kernel.
  std::string Find(std::string_view llvm, Job* job) {
    std::optional<KernelText> kernel = ReadLlvmKernel(llvm);
    if (!kernel) return {};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = jobs_.find(kernel->module);
      if (found != jobs_.end()) *job = found->second;
    }
    if (job->twice) return {};
    if (job->function.empty()) {  // no fusion: it has come straight from an emitter
      job->key = KeyOf(*kernel, ~configuration_);
      job->function = std::move(kernel->function);
      const Object known = cache_->Find(job->key);
      (known == nullptr || IsToBeChecked() ? job->expected : job->object) = known;
    }
    if (job->object == nullptr) return {};
    ++reused_;
    return *RenameFunction(*job->object, job->function);  // as it was kept, it can be
  }

  void Compiled(const Job& job, std::string_view object) {
    ++compiled_;
    if (job.twice || job.function.empty()) return;
    if (job.expected != nullptr) {
      ++checked_;
      if (SameCode(*job.expected, object)) return;
      ++differed_;
      cache_->Forbid(job.key);
      std::fprintf(stderr, "hone-worker: %s came out in other code than was kept; it is not kept\n",
                   job.function.c_str());
    } else if (DefinedFunction(object) == job.function) {
      cache_->Insert(job.key, std::string(object));
    }
  }

 private:
  bool IsToBeChecked() { return ++known_ % kCheckOneIn == 0; }

  void Note(const std::string& module, Job job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [found, inserted] = jobs_.try_emplace(module, std::move(job));
    if (!inserted) found->second.twice = true;
  }

  std::recursive_mutex compiling_;
  std::atomic<uint64_t> configuration_{0};  // 0 where nothing is to be remembered
  std::unique_ptr<KernelCache> cache_ = std::make_unique<KernelCache>(size_t{1} << 28);  // or none
  std::mutex mutex_;
  std::unordered_map<std::string, Job> jobs_;  // by the identifier of the LLVM module
  std::atomic<int64_t> compiled_{0}, reused_{0}, checked_{0}, differed_{0}, known_{0},
      stand_ins_{0};
};

}  // namespace

KernelCounts CountsOfKernels() { return Kernels::Get().counts(); }
void SetKernelMemory(size_t bytes) { Kernels::Get().SetMemory(bytes); }

RememberKernels::RememberKernels(uint64_t configuration)
    : before_(Kernels::Get().Begin(configuration == 0 ? 1 : configuration)) {}
RememberKernels::~RememberKernels() { Kernels::Get().End(before_); }

}  // namespace hone::compiler

using hone::compiler::Job;
using hone::compiler::Kernels;
using hone::compiler::Real;
namespace llvm_module = hone::compiler::llvm_module;

// absl::StatusOr<std::unique_ptr<llvm::Module>>
// xla::cpu::FusionCompiler::Compile(llvm::LLVMContext&, mlir::ModuleOp)
extern "C" void* _ZN3xla3cpu14FusionCompiler7CompileERN4llvm11LLVMContextEN4mlir8ModuleOpE(
    llvm_module::StatusOrModule* result, void* compiler, void* context, void* module) {
  static const auto real =
      Real<void* (*)(llvm_module::StatusOrModule*, void*, void*, void*)>(__func__);
  Kernels& kernels = Kernels::Get();
  if (kernels.active()) {
    llvm_module::Owned made = kernels.Lower(llvm_module::PrintMlir(module), context);
    if (!made.empty()) {
      *result = {llvm_module::kOk, made.Release()};
      return result;
    }
  }
  return real(result, compiler, context, module);
}

// llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
// xla::cpu::IrCompiler::operator()(llvm::Module&)
extern "C" void* _ZN3xla3cpu10IrCompilerclERN4llvm6ModuleE(llvm_module::ExpectedBuffer* result,
                                                           void* compiler, void* module) {
  static const auto real = Real<void* (*)(llvm_module::ExpectedBuffer*, void*, void*)>(__func__);
  Kernels& kernels = Kernels::Get();
  if (!kernels.active()) return real(result, compiler, module);
  Job job;
  const std::string known = kernels.Find(llvm_module::PrintLlvm(module), &job);
  if (!known.empty()) {
    *result = {llvm_module::CopyToBuffer(known), 0};
    return result;
  }
  void* const returned = real(result, compiler, module);
  if (!result->failed()) kernels.Compiled(job, llvm_module::ContentOf(*result));
  return returned;
}
