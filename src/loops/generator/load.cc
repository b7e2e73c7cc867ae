#include "loops/generator/load.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "loops/generator/target.h"

namespace hone::loops {
namespace {

std::string Features() {
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  }
  std::sort(features.begin(), features.end());
  std::string text;
  for (const std::string& feature : features) text += (text.empty() ? "" : ",") + feature;
  return text;
}

tl::unexpected<Error> Failed(std::string what) {
  return MakeError(ErrorCode::kUnsupported, std::move(what));
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> MakeTarget() {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // of inline assembly
    return true;
  }();
  (void)initialized;
  const std::string triple = llvm::sys::getDefaultTargetTriple();
  std::string error;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, error);
  HONE_CHECK(target != nullptr);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), Features(), options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

std::string Processor() { return llvm::sys::getHostCPUName().str() + " " + Features(); }

struct Loaded::Linker {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Loaded::Loaded() : linker_(new Linker) {}
Loaded::~Loaded() = default;

StatusOr<std::unique_ptr<Loaded>> Loaded::Load(const std::string& object) {
  MakeTarget();  // initialises LLVM
  const auto failed = [](llvm::Error error) {
    return Failed("the object cannot be loaded: " + llvm::toString(std::move(error)));
  };
  std::unique_ptr<Loaded> loaded(new Loaded);
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return failed(jit.takeError());
  loaded->linker_->jit = std::move(*jit);
  auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      loaded->linker_->jit->getDataLayout().getGlobalPrefix());
  if (!symbols) return failed(symbols.takeError());
  loaded->linker_->jit->getMainJITDylib().addGenerator(std::move(*symbols));
  if (auto error = loaded->linker_->jit->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "kernel"))) {
    return failed(std::move(error));
  }
  auto entry = loaded->linker_->jit->lookup(kEntryName);
  if (!entry) return failed(entry.takeError());
  loaded->entry_ = entry->toPtr<Entry>();
  return loaded;
}

}  // namespace hone::loops
