#include "compiler/kernels/kernels.h"

#define XXH_INLINE_ALL
#include <dlfcn.h>
#include <xxhash.h>

#include <atomic>
#include <condition_variable>
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
#include "wire/code_files.h"

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
  Object object;    // what it comes to, where that is known
  Object expected;  // where it is compiled to be compared
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

  void Share(const std::string& folder) {
    files_ = wire::CodeFiles::Open(folder);
    makers_ = MakersOfKernels();
  }

  void Begin(uint64_t configuration) {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_.wait(lock, [&] { return compiling_ == 0 || configuration_ == configuration; });
    ++compiling_;
    configuration_ = configuration;
  }
  void End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--compiling_ > 0) return;
    configuration_ = 0;
    jobs_.clear();
    ended_.notify_all();
  }
  bool active() const { return configuration_ != 0 && cache_ != nullptr; }

  KernelCounts counts() const { return {compiled_, reused_, from_files_, checked_, differed_}; }

  // What is known of a fusion's kernel; nothing where this is none.
  std::optional<Job> OfFusion(std::string_view mlir) {
    const std::optional<KernelText> kernel = ReadMlirKernel(mlir);
    if (!kernel) return std::nullopt;
    return JobFor(*kernel, configuration_);
  }

  // The identifier under which the LLVM module of this job is found again: one of its own, for two
  // compilations at a time may call their kernels the same.
  std::string Note(const Job& job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string identifier = absl::StrCat("hone.", ++modules_);
    jobs_[identifier] = job;
    return identifier;
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
    // Else it is no fusion and has come straight from an emitter.
    if (job->function.empty()) *job = JobFor(*kernel, ~configuration_);
    if (job->object == nullptr) return {};
    ++reused_;
    return *RenameFunction(*job->object, job->function);  // as it was kept, it can be
  }

  void Compiled(const Job& job, std::string_view object) {
    ++compiled_;
    if (job.function.empty()) return;
    if (job.expected != nullptr) {
      ++checked_;
      if (SameCode(*job.expected, object)) return;
      ++differed_;
      cache_->Forbid(job.key);
      if (files_ != nullptr) files_->Forbid(InFiles(job.key));
      std::fprintf(stderr, "hone-worker: %s came out in other code than was kept; it is not kept\n",
                   job.function.c_str());
    } else if (DefinedFunction(object) == job.function) {
      cache_->Insert(job.key, std::string(object));
      if (files_ != nullptr) files_->Add(InFiles(job.key), object);
    }
  }

 private:
  Job JobFor(const KernelText& kernel, uint64_t configuration) {
    Job job;
    job.key = KeyOf(kernel, configuration);
    job.function = kernel.function;
    Object known = cache_->Find(job.key);
    if (known == nullptr) known = Read(job.key);
    if (known == nullptr) return job;
    (++known_ % kCheckOneIn == 0 ? job.expected : job.object) = known;
    return job;
  }

  Fingerprint InFiles(const Fingerprint& key) const {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(&key, sizeof(key), makers_);
    return {hash.high64, hash.low64};
  }

  // What another process made; null where there is none, or where the key is forbidden here.
  Object Read(const Fingerprint& key) {
    if (files_ == nullptr) return nullptr;
    std::optional<std::string> object = files_->Find(InFiles(key));
    if (!object || !DefinedFunction(*object)) return nullptr;
    cache_->Insert(key, *std::move(object));
    ++from_files_;
    return cache_->Find(key);
  }

  std::atomic<uint64_t> configuration_{0};  // 0 where nothing is to be remembered
  std::unique_ptr<KernelCache> cache_ = std::make_unique<KernelCache>(size_t{1} << 28);  // or none
  std::mutex mutex_;  // of what follows, and of changes of the configuration
  std::condition_variable ended_;
  int compiling_ = 0;
  int64_t modules_ = 0;
  std::unordered_map<std::string, Job> jobs_;  // by the identifier of the LLVM module
  std::unique_ptr<wire::CodeFiles> files_;  // or none
  uint64_t makers_ = 0;
  std::atomic<int64_t> compiled_{0}, reused_{0}, from_files_{0}, checked_{0}, differed_{0},
      known_{0};
};

}  // namespace

KernelCounts CountsOfKernels() { return Kernels::Get().counts(); }
void SetKernelMemory(size_t bytes) { Kernels::Get().SetMemory(bytes); }
void ShareKernels(const std::string& folder) { Kernels::Get().Share(folder); }

uint64_t MakersOfKernels() {
  Dl_info xla = {};
  dladdr(dlsym(RTLD_DEFAULT, "TF_Version"), &xla);
  return wire::MakersOfCode({"/proc/self/exe", xla.dli_fname == nullptr ? "" : xla.dli_fname});
}

RememberKernels::RememberKernels(uint64_t configuration) {
  Kernels::Get().Begin(configuration == 0 ? 1 : configuration);
}
RememberKernels::~RememberKernels() { Kernels::Get().End(); }

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
  if (!kernels.active()) return real(result, compiler, context, module);
  const std::optional<Job> job = kernels.OfFusion(llvm_module::PrintMlir(module));
  if (!job) return real(result, compiler, context, module);
  if (job->object != nullptr) {
    llvm_module::Owned made = llvm_module::WithoutContent(context, job->function);
    if (!made.empty()) {
      llvm_module::SetIdentifier(made.get(), kernels.Note(*job));
      *result = {llvm_module::kOk, made.Release()};
      return result;
    }
  }
  void* const returned = real(result, compiler, context, module);
  if (result->status == llvm_module::kOk) {
    llvm_module::SetIdentifier(result->module, kernels.Note(*job));
  }
  return returned;
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
