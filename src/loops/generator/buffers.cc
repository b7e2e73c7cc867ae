#include <mlir/Analysis/SliceAnalysis.h>
#include <mlir/Dialect/Affine/IR/AffineOps.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Bufferization/IR/Bufferization.h>
#include <mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h>
#include <mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h>
#include <mlir/Dialect/Bufferization/Transforms/Passes.h>
#include <mlir/Dialect/Bufferization/Transforms/Transforms.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/Linalg/Utils/Utils.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/SCF/Transforms/Transforms.h>
#include <mlir/IR/IRMapping.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>
#include <mlir/Transforms/RegionUtils.h>

#include <string>

#include "loops/generator/lower.h"

namespace hone::loops {
namespace {

using mlir::Operation;
using mlir::Value;

// Buffers up to this size live on the stack of the thread that needs them.
constexpr unsigned kMostStackBytes = 512 << 10;

tl::unexpected<Error> Rejected(std::string what) {
  return MakeError(ErrorCode::kUnsupported, std::move(what));
}

// A buffer that a block allocates is freed at its end: bufferisation returns none from blocks.
void FreeAtBlockEnds(mlir::ModuleOp module) {
  mlir::SmallVector<mlir::memref::AllocOp> allocations;
  module.walk([&](mlir::memref::AllocOp op) { allocations.push_back(op); });
  for (mlir::memref::AllocOp op : allocations) {
    mlir::OpBuilder builder(op->getBlock()->getTerminator());
    builder.create<mlir::memref::DeallocOp>(op.getLoc(), op.getResult());
  }
}

// Constants, indices and views cost nothing to make again where they are needed.
bool IsCheap(Operation* op) {
  return mlir::isa<mlir::arith::ConstantOp, mlir::affine::AffineApplyOp, mlir::memref::SubViewOp,
                   mlir::memref::ExpandShapeOp, mlir::memref::CollapseShapeOp,
                   mlir::memref::CastOp>(op);
}

// What a region needs of its surroundings: cheap operations, in order, and all other values.
void Needs(Value value, llvm::SetVector<Operation*>& cheap, llvm::SetVector<Value>& roots) {
  Operation* const op = value.getDefiningOp();
  if (op == nullptr || !IsCheap(op)) {
    roots.insert(value);
    return;
  }
  for (const Value operand : op->getOperands()) Needs(operand, cheap, roots);
  cheap.insert(op);
}

// Whether a function can be handed it as a bare pointer or a number.
bool CanBePassed(Value value) {
  if (value.getType().isIndex()) return true;
  const auto type = mlir::dyn_cast<mlir::MemRefType>(value.getType());
  return type && type.hasStaticShape() && type.getLayout().isIdentity();
}

// Whether it is no buffer, or all of one, and so none of another.
bool IsNumberOrWholeBuffer(Value value) {
  if (!mlir::isa<mlir::MemRefType>(value.getType())) return true;
  if (const auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
    return mlir::isa<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  }
  return mlir::isa<mlir::memref::AllocOp, mlir::memref::AllocaOp>(value.getDefiningOp());
}

StatusOr<ParallelLoop> TakeOut(mlir::ModuleOp module, mlir::scf::ForallOp loop, size_t number) {
  llvm::SetVector<Value> used, roots;
  llvm::SetVector<Operation*> cheap;
  roots.insert(loop->getParentOfType<mlir::func::FuncOp>().getArgument(0));  // the runner
  mlir::getUsedValuesDefinedAbove(loop.getRegion(), used);
  for (const Value value : used) Needs(value, cheap, roots);
  mlir::SmallVector<mlir::Type> types;
  for (const Value root : roots) {
    if (!CanBePassed(root)) return Rejected("a parallel loop needs a value that cannot be passed");
    types.push_back(root.getType());
  }
  mlir::SmallVector<int64_t> extents;
  for (const auto& [lower, upper, step] :
       llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep())) {
    const auto low = mlir::getConstantIntValue(lower);
    const auto high = mlir::getConstantIntValue(upper);
    const auto by = mlir::getConstantIntValue(step);
    if (!low || !high || !by || *low != 0 || *by != 1) {
      return Rejected("a parallel loop has no plain bounds");
    }
    extents.push_back(*high);
  }
  mlir::MLIRContext* const context = module.getContext();
  const mlir::Location location = loop.getLoc();
  mlir::OpBuilder builder(context);
  const auto declared = mlir::FunctionType::get(context, types, {});
  mlir::SmallVector<mlir::Type> part_types = {builder.getIndexType()};
  part_types.append(types);
  builder.setInsertionPointToEnd(module.getBody());
  auto part = builder.create<mlir::func::FuncOp>(location, "hone_part_" + std::to_string(number),
                                                 mlir::FunctionType::get(context, part_types, {}));
  builder.create<mlir::func::FuncOp>(location, "hone_parallel_" + std::to_string(number), declared)
      .setPrivate();
  mlir::Block* const body = part.addEntryBlock();
  builder.setInsertionPointToStart(body);
  mlir::IRMapping mapping;
  // Arguments of the task and what is allocated lie apart, and LLVM need not ask whether they do,
  // which for short rows takes as long as the rows.
  const bool apart = llvm::all_of(roots, IsNumberOrWholeBuffer);
  for (size_t i = 0; i < roots.size(); ++i) {
    const auto argument = static_cast<unsigned>(i) + 1;
    mapping.map(roots[i], body->getArgument(argument));
    if (apart && mlir::isa<mlir::MemRefType>(types[i])) {
      part.setArgAttr(argument, "llvm.noalias", builder.getUnitAttr());
    }
  }
  Value rest = body->getArgument(0);
  ParallelLoop taken{1};
  for (size_t i = extents.size(); i-- > 0;) {
    const Value extent = builder.create<mlir::arith::ConstantIndexOp>(location, extents[i]);
    const Value index = builder.create<mlir::arith::RemUIOp>(location, rest, extent);
    rest = builder.create<mlir::arith::DivUIOp>(location, rest, extent);
    mapping.map(loop.getInductionVars()[i], index);
    taken.iterations *= extents[i];
  }
  for (Operation* const op : cheap) builder.clone(*op, mapping);
  for (Operation& op : loop.getBody()->without_terminator()) builder.clone(op, mapping);
  builder.create<mlir::func::ReturnOp>(location);
  builder.setInsertionPoint(loop);
  builder.create<mlir::func::CallOp>(location, "hone_parallel_" + std::to_string(number),
                                     mlir::TypeRange{}, roots.getArrayRef());
  loop.erase();
  return taken;
}

}  // namespace

Status Bufferize(mlir::ModuleOp module) {
  {
    mlir::PassManager passes(module.getContext());
    passes.addPass(mlir::bufferization::createEmptyTensorEliminationPass());
    passes.addPass(mlir::bufferization::createEmptyTensorToAllocTensorPass());
    if (failed(passes.run(module))) return Rejected("temporary tensors cannot be allocated");
  }
  mlir::bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(
      mlir::bufferization::LayoutMapOption::IdentityLayoutMap);
  if (failed(mlir::bufferization::runOneShotModuleBufferize(module, options))) {
    return Rejected("tensors cannot become buffers");
  }
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  auto& functions = passes.nest<mlir::func::FuncOp>();
  functions.addPass(mlir::bufferization::createBufferLoopHoistingPass());
  passes.addPass(mlir::createCanonicalizerPass());
  if (failed(passes.run(module))) return Rejected("cleaning up failed");
  // As a loop: MLIR's own way is a call of its run-time library.
  mlir::SmallVector<mlir::memref::CopyOp> copies;
  module.walk([&](mlir::memref::CopyOp op) { copies.push_back(op); });
  for (mlir::memref::CopyOp op : copies) {
    mlir::OpBuilder builder(op);
    mlir::linalg::makeMemRefCopyOp(builder, op.getLoc(), op.getSource(), op.getTarget());
    op.erase();
  }
  return {};
}

StatusOr<std::vector<ParallelLoop>> TakeOutParallelLoops(mlir::ModuleOp module) {
  mlir::SmallVector<mlir::scf::ForallOp> parallel, sequential;
  module.walk<mlir::WalkOrder::PostOrder>([&](mlir::scf::ForallOp loop) {
    const bool outermost = mlir::isa<mlir::func::FuncOp>(loop->getParentOp());
    (outermost && !loop->hasAttr("sequential") ? parallel : sequential).push_back(loop);
  });
  mlir::IRRewriter rewriter(module.getContext());
  for (mlir::scf::ForallOp loop : sequential) {
    rewriter.setInsertionPoint(loop);
    if (failed(mlir::scf::forallToForLoop(rewriter, loop))) {
      return Rejected("a loop over tiles cannot become a plain one");
    }
  }
  auto task = module.lookupSymbol<mlir::func::FuncOp>("task");
  HONE_CHECK(task);
  task.insertArgument(0, mlir::IndexType::get(module.getContext()), {}, task.getLoc());
  std::vector<ParallelLoop> taken;
  for (mlir::scf::ForallOp loop : parallel) {
    StatusOr<ParallelLoop> one = TakeOut(module, loop, taken.size());
    if (!one) return tl::unexpected(one.error());
    taken.push_back(*one);
  }
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  auto& functions = passes.nest<mlir::func::FuncOp>();
  functions.addPass(mlir::bufferization::createBufferLoopHoistingPass());
  functions.addPass(mlir::bufferization::createPromoteBuffersToStackPass(kMostStackBytes, 8));
  if (failed(passes.run(module))) return Rejected("cleaning up failed");
  FreeAtBlockEnds(module);
  return taken;
}

}  // namespace hone::loops
