#include "loops/generator/halves.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <vector>

namespace hone::loops {
namespace {

bool IsMadeWider(const llvm::Instruction& instruction) {
  if (const auto* const compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) {
    return compare->getOperand(0)->getType()->getScalarType()->isHalfTy();
  }
  const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr || !call->getType()->getScalarType()->isHalfTy()) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::maximum:
    case llvm::Intrinsic::minimum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::vector_reduce_fmax:
    case llvm::Intrinsic::vector_reduce_fmin:
    case llvm::Intrinsic::vector_reduce_fmaximum:
    case llvm::Intrinsic::vector_reduce_fminimum:
      return true;
    default:
      return false;
  }
}

llvm::Type* WideOf(llvm::Type* type) {
  return type->getWithNewType(llvm::Type::getFloatTy(type->getContext()));
}

// As f32. What was narrowed only to be used here is taken as it was.
llvm::Value* Wide(llvm::IRBuilder<>& builder, llvm::Value* value) {
  const auto* const narrowed = llvm::dyn_cast<llvm::FPTruncInst>(value);
  if (narrowed != nullptr && narrowed->hasMetadata("hone.exact")) return narrowed->getOperand(0);
  return builder.CreateFPExt(value, WideOf(value->getType()));
}

void Widen(llvm::Instruction& instruction) {
  llvm::IRBuilder<> builder(&instruction);
  builder.setFastMathFlags(instruction.getFastMathFlags());
  if (auto* const compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) {
    llvm::Value* const a = Wide(builder, compare->getOperand(0));
    llvm::Value* const b = Wide(builder, compare->getOperand(1));
    compare->replaceAllUsesWith(builder.CreateFCmp(compare->getPredicate(), a, b));
    compare->eraseFromParent();
    return;
  }
  auto& call = llvm::cast<llvm::IntrinsicInst>(instruction);
  std::vector<llvm::Value*> operands;
  for (llvm::Value* const operand : call.args()) operands.push_back(Wide(builder, operand));
  llvm::Value* const made =
      builder.CreateIntrinsic(WideOf(call.getType()), call.getIntrinsicID(), operands);
  // It is one of the operands: nothing is lost.
  llvm::Value* const narrow = builder.CreateFPTrunc(made, call.getType());
  if (auto* const truncation = llvm::dyn_cast<llvm::FPTruncInst>(narrow)) {
    truncation->setMetadata("hone.exact", llvm::MDNode::get(call.getContext(), {}));
  }
  const std::vector<llvm::User*> users(call.user_begin(), call.user_end());
  for (llvm::User* const user : users) {
    auto* const widened = llvm::dyn_cast<llvm::FPExtInst>(user);
    if (widened == nullptr || widened->getType() != made->getType()) continue;
    widened->replaceAllUsesWith(made);
    widened->eraseFromParent();
  }
  call.replaceAllUsesWith(narrow);
  call.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses WidenHalves::run(llvm::Function& function,
                                         llvm::FunctionAnalysisManager& /*analyses*/) {
  std::vector<llvm::Instruction*> found;  // what is made before what takes it
  const llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&function);
  for (llvm::BasicBlock* const block : blocks) {
    for (llvm::Instruction& instruction : *block) {
      if (IsMadeWider(instruction)) found.push_back(&instruction);
    }
  }
  for (llvm::Instruction* const instruction : found) Widen(*instruction);
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (instruction.hasMetadata("hone.exact") && instruction.use_empty()) {
        instruction.eraseFromParent();
      }
    }
  }
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace hone::loops
