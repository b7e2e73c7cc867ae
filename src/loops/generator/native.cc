#include "loops/generator/native.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <mlir/Target/LLVMIR/Export.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/native_kernel.h"
#include "loops/generator/halves.h"
#include "loops/generator/target.h"

namespace hone::loops {
namespace {

tl::unexpected<Error> Failed(std::string what) {
  return MakeError(ErrorCode::kUnsupported, std::move(what));
}

// Defines hone_parallel_I: the values go into a struct on the stack, which each part takes apart
// again.
void DefineParallelLoop(llvm::Module& module, size_t number, const ParallelLoop& loop) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* const shared = module.getFunction("hone_parallel_" + std::to_string(number));
  llvm::Function* const part = module.getFunction("hone_part_" + std::to_string(number));
  HONE_CHECK(part != nullptr);
  part->setLinkage(llvm::GlobalValue::InternalLinkage);
  if (shared == nullptr) return;  // nothing calls it
  shared->setLinkage(llvm::GlobalValue::InternalLinkage);
  part->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::IRBuilder<> builder(context);
  llvm::Type* const pointer = builder.getPtrTy();
  llvm::Type* const number_type = builder.getInt64Ty();
  std::vector<llvm::Type*> types;
  for (llvm::Argument& argument : shared->args()) types.push_back(argument.getType());
  llvm::StructType* const state_type = llvm::StructType::get(context, types);
  auto* const body_type =
      llvm::FunctionType::get(builder.getVoidTy(), {pointer, number_type, number_type}, false);
  llvm::Function* const body = llvm::Function::Create(
      body_type, llvm::GlobalValue::InternalLinkage, "hone_body_" + std::to_string(number), module);
  {
    llvm::BasicBlock* const entry = llvm::BasicBlock::Create(context, "", body);
    llvm::BasicBlock* const head = llvm::BasicBlock::Create(context, "head", body);
    llvm::BasicBlock* const work = llvm::BasicBlock::Create(context, "work", body);
    llvm::BasicBlock* const end = llvm::BasicBlock::Create(context, "end", body);
    builder.SetInsertPoint(entry);
    std::vector<llvm::Value*> values = {nullptr};
    for (unsigned i = 0; i < types.size(); ++i) {
      values.push_back(
          builder.CreateLoad(types[i], builder.CreateStructGEP(state_type, body->getArg(0), i)));
    }
    builder.CreateBr(head);
    builder.SetInsertPoint(head);
    llvm::PHINode* const index = builder.CreatePHI(number_type, 2);
    index->addIncoming(body->getArg(1), entry);
    builder.CreateCondBr(builder.CreateICmpSLT(index, body->getArg(2)), work, end);
    builder.SetInsertPoint(work);
    values[0] = index;
    builder.CreateCall(part, values);
    index->addIncoming(builder.CreateAdd(index, builder.getInt64(1)), work);
    builder.CreateBr(head);
    builder.SetInsertPoint(end);
    builder.CreateRetVoid();
  }
  llvm::BasicBlock* const entry = llvm::BasicBlock::Create(context, "", shared);
  llvm::BasicBlock* const alone = llvm::BasicBlock::Create(context, "alone", shared);
  llvm::BasicBlock* const together = llvm::BasicBlock::Create(context, "together", shared);
  builder.SetInsertPoint(entry);
  llvm::Value* const state = builder.CreateAlloca(state_type);
  for (unsigned i = 0; i < types.size(); ++i) {
    builder.CreateStore(shared->getArg(i), builder.CreateStructGEP(state_type, state, i));
  }
  llvm::Value* const runner = builder.CreateIntToPtr(shared->getArg(0), pointer);
  llvm::Value* const iterations = builder.getInt64(static_cast<uint64_t>(loop.iterations));
  builder.CreateCondBr(builder.CreateIsNull(runner), alone, together);
  builder.SetInsertPoint(alone);
  builder.CreateCall(body, {state, builder.getInt64(0), iterations});
  builder.CreateRetVoid();
  builder.SetInsertPoint(together);
  auto* const run_type =
      llvm::FunctionType::get(builder.getVoidTy(), {pointer, number_type, pointer, pointer}, false);
  builder.CreateCall(run_type, builder.CreateLoad(pointer, runner),
                     {runner, iterations, body, state});
  builder.CreateRetVoid();
}

// Defines the entry, which takes the list of buffers apart.
void DefineEntry(llvm::Module& module, size_t buffers) {
  llvm::Function* const task = module.getFunction("task");
  HONE_CHECK(task != nullptr && task->arg_size() == buffers + 1);
  task->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type* const pointer = builder.getPtrTy();
  llvm::Function* const entry = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), {pointer, pointer}, false),
      llvm::GlobalValue::ExternalLinkage, kEntryName, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", entry));
  std::vector<llvm::Value*> values = {
      builder.CreatePtrToInt(entry->getArg(1), builder.getInt64Ty())};
  for (size_t i = 0; i < buffers; ++i) {
    values.push_back(
        builder.CreateLoad(pointer, builder.CreateConstGEP1_64(pointer, entry->getArg(0), i)));
  }
  builder.CreateCall(task, values);
  builder.CreateRetVoid();
}

// LLVM takes small loops apart before it looks for vectors, and finds none in what is left. Those
// that may become vectors stay loops until then, and loops of these, of which there would be a
// dozen of each.
void KeepSmallLoops(llvm::Function& function, bool masks) {
  constexpr unsigned kLeast = 8;  // iterations
  constexpr unsigned kLanes = 16, kMostMasked = 512;
  const llvm::TargetLibraryInfoImpl library(llvm::Triple(function.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo info(library);
  llvm::AssumptionCache assumptions(function);
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::ScalarEvolution evolution(function, info, assumptions, dominators, loops);
  std::set<const llvm::Loop*> around;  // one that is kept
  llvm::SmallVector<llvm::Loop*, 4> inside_out = loops.getLoopsInPreorder();
  std::reverse(inside_out.begin(), inside_out.end());
  for (llvm::Loop* const loop : inside_out) {
    const unsigned iterations = evolution.getSmallConstantTripCount(loop);
    const bool vectors = llvm::any_of(loop->blocks(), [](const llvm::BasicBlock* block) {
      return llvm::any_of(*block, [](const llvm::Instruction& instruction) {
        const auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        return instruction.getType()->isVectorTy() ||
               (store != nullptr && store->getValueOperand()->getType()->isVectorTy());
      });
    });
    const bool innermost = loop->isInnermost() && iterations >= kLeast && !vectors;
    // The rest of a short row in one masked vector, not one by one.
    if (innermost && masks && iterations % kLanes != 0 && iterations <= kMostMasked) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.predicate.enable", 1);
    }
    if (!innermost && (around.count(loop) == 0 || iterations < 2)) continue;
    loop->setLoopAlreadyUnrolled();
    around.insert(loop->getParentLoop());
  }
}

// What is left of them, once there are vectors, may be taken apart.
struct LetLoopsGo : llvm::PassInfoMixin<LetLoopsGo> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* const loop :
         analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
      if (llvm::MDNode* const id = loop->getLoopID()) {
        loop->setLoopID(llvm::makePostTransformationMetadata(function.getContext(), id,
                                                             {"llvm.loop.unroll."}, {}));
      }
    }
    return llvm::PreservedAnalyses::all();
  }
};

void Optimise(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions options;
  options.LoopInterleaving = true;
  options.LoopVectorization = true;
  // LLVM 19.1.7's makes wrong code of calls whose arguments it has gathered into vectors (the case
  // `calls_behind_vectors` of tests/loops); what is worth vectors the schedule has made such.
  options.SLPVectorization = false;
  const bool has_halves = target.getTargetFeatureString().contains("+avx512fp16");
  llvm::PassBuilder passes(&target, options);
  passes.registerVectorizerStartEPCallback(
      [&](llvm::FunctionPassManager& functions, llvm::OptimizationLevel) {
        if (!has_halves) functions.addPass(WidenHalves());
        functions.addPass(LetLoopsGo());
      });
  // What follows vectors narrows them once more.
  passes.registerOptimizerLastEPCallback(
      [&](llvm::ModulePassManager& modules, llvm::OptimizationLevel) {
        if (!has_halves) modules.addPass(llvm::createModuleToFunctionPassAdaptor(WidenHalves()));
      });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

StatusOr<std::string> Emit(llvm::Module& module, llvm::TargetMachine& target,
                           llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, type)) {
    return Failed("LLVM makes no object code for this processor");
  }
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace

StatusOr<MachineCode> MakeMachineCode(mlir::ModuleOp module, size_t buffers,
                                      const std::vector<ParallelLoop>& loops, bool assembly) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(module, context);
  if (!code) return Failed("the LLVM dialect cannot be translated");
  const std::unique_ptr<llvm::TargetMachine> target = MakeTarget();
  code->setDataLayout(target->createDataLayout());
  code->setTargetTriple(target->getTargetTriple().str());
  code->setModuleIdentifier("hone-loops");
  for (size_t i = 0; i < loops.size(); ++i) DefineParallelLoop(*code, i, loops[i]);
  DefineEntry(*code, buffers);
  for (llvm::Function& function : *code) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target->getTargetCPU());
    function.addFnAttr("target-features", target->getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    KeepSmallLoops(function, target->getTargetFeatureString().contains("+avx512f"));
  }
  Optimise(*code, *target);
  MachineCode made;
  if (assembly) {
    const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*code);
    StatusOr<std::string> text = Emit(*copy, *target, llvm::CodeGenFileType::AssemblyFile);
    if (!text) return tl::unexpected(text.error());
    made.assembly = *std::move(text);
  }
  StatusOr<std::string> object = Emit(*code, *target, llvm::CodeGenFileType::ObjectFile);
  if (!object) return tl::unexpected(object.error());
  made.object = *std::move(object);
  return made;
}

}  // namespace hone::loops
