#include <mlir/Conversion/AffineToStandard/AffineToStandard.h>
#include <mlir/Conversion/ArithToLLVM/ArithToLLVM.h>
#include <mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h>
#include <mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h>
#include <mlir/Conversion/MathToLLVM/MathToLLVM.h>
#include <mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h>
#include <mlir/Conversion/Passes.h>
#include <mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h>
#include <mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h>
#include <mlir/Conversion/VectorToSCF/VectorToSCF.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/Linalg/Passes.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/Math/Transforms/Passes.h>
#include <mlir/Dialect/MemRef/Transforms/Passes.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/Dialect/Vector/Transforms/LoweringPatterns.h>
#include <mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h>
#include <mlir/Dialect/Vector/Transforms/VectorTransforms.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>
#include <mlir/Transforms/Passes.h>

#include "loops/generator/lower.h"

namespace hone::loops {
namespace {

template <class Fill>
void Rewrite(mlir::ModuleOp module, Fill fill) {
  mlir::RewritePatternSet patterns(module.getContext());
  fill(patterns);
  (void)mlir::applyPatternsAndFoldGreedily(module, std::move(patterns));
}

// Vectors of several dimensions that a loop carries become as many of one dimension: LLVM would
// keep an array of vectors in memory.
void SplitCarriedVectors(mlir::ModuleOp module) {
  mlir::SmallVector<mlir::scf::ForOp> loops;
  module.walk<mlir::WalkOrder::PreOrder>([&](mlir::scf::ForOp loop) { loops.push_back(loop); });
  mlir::IRRewriter rewriter(module.getContext());
  for (mlir::scf::ForOp loop : loops) {
    const auto parts = [](mlir::Type type) {
      mlir::SmallVector<mlir::SmallVector<int64_t>> positions;
      const auto vector = mlir::dyn_cast<mlir::VectorType>(type);
      if (!vector || vector.getRank() < 2) return positions;
      const auto outer = vector.getShape().drop_back();
      mlir::SmallVector<int64_t> position(outer.size(), 0);
      while (true) {
        positions.push_back(position);
        size_t d = outer.size();
        while (d-- > 0) {
          if (++position[d] < outer[d]) break;
          position[d] = 0;
          if (d == 0) return positions;
        }
      }
    };
    const auto split = [&](mlir::OpBuilder& builder, mlir::Value value,
                           mlir::SmallVectorImpl<mlir::Value>& into) {
      const auto positions = parts(value.getType());
      if (positions.empty()) into.push_back(value);
      for (const auto& position : positions) {
        into.push_back(
            builder.create<mlir::vector::ExtractOp>(value.getLoc(), value, position).getResult());
      }
    };
    // Takes as many of `values` as the type has parts.
    const auto join = [&](mlir::OpBuilder& builder, mlir::Type type, mlir::Location location,
                          mlir::ValueRange values, size_t& next) -> mlir::Value {
      const auto positions = parts(type);
      if (positions.empty()) return values[next++];
      mlir::Value whole =
          builder.create<mlir::arith::ConstantOp>(location, type, builder.getZeroAttr(type));
      for (const auto& position : positions) {
        whole = builder.create<mlir::vector::InsertOp>(location, values[next++], whole, position);
      }
      return whole;
    };
    const bool any = llvm::any_of(
        loop.getInitArgs(), [&](mlir::Value value) { return !parts(value.getType()).empty(); });
    if (!any) continue;
    rewriter.setInsertionPoint(loop);
    mlir::SmallVector<mlir::Value> init;
    for (const mlir::Value value : loop.getInitArgs()) split(rewriter, value, init);
    auto made = rewriter.create<mlir::scf::ForOp>(loop.getLoc(), loop.getLowerBound(),
                                                  loop.getUpperBound(), loop.getStep(), init);
    rewriter.setInsertionPointToStart(made.getBody());
    mlir::SmallVector<mlir::Value> arguments = {made.getInductionVar()};
    size_t next = 0;
    for (const mlir::Value argument : loop.getRegionIterArgs()) {
      arguments.push_back(
          join(rewriter, argument.getType(), loop.getLoc(), made.getRegionIterArgs(), next));
    }
    mlir::Operation* const yield = loop.getBody()->getTerminator();
    if (made.getBody()->mightHaveTerminator()) {
      rewriter.eraseOp(made.getBody()->getTerminator());
    }
    rewriter.mergeBlocks(loop.getBody(), made.getBody(), arguments);
    rewriter.setInsertionPoint(yield);
    mlir::SmallVector<mlir::Value> yielded;
    for (const mlir::Value value : yield->getOperands()) split(rewriter, value, yielded);
    rewriter.replaceOpWithNewOp<mlir::scf::YieldOp>(yield, yielded);
    rewriter.setInsertionPointAfter(made);
    mlir::SmallVector<mlir::Value> results;
    next = 0;
    for (const mlir::Value result : loop.getResults()) {
      results.push_back(join(rewriter, result.getType(), loop.getLoc(), made.getResults(), next));
    }
    rewriter.replaceOp(loop, results);
  }
}

// Vectors of several dimensions to such of one: products become multiply-adds of broadcast
// elements.
void LowerVectors(mlir::ModuleOp module) {
  mlir::vector::VectorTransformsOptions options;
  options.setVectorTransformsOptions(mlir::vector::VectorContractLowering::OuterProduct);
  options.setVectorMultiReductionLowering(
      mlir::vector::VectorMultiReductionLowering::InnerParallel);
  options.setVectorTransposeLowering(mlir::vector::VectorTransposeLowering::EltWise);
  Rewrite(module, [&](mlir::RewritePatternSet& patterns) {
    mlir::vector::populateVectorContractLoweringPatterns(patterns, options);
    mlir::vector::populateVectorOuterProductLoweringPatterns(patterns);
    mlir::vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    mlir::vector::populateVectorMultiReductionLoweringPatterns(
        patterns, options.vectorMultiReductionLowering);
  });
  SplitCarriedVectors(module);
  Rewrite(module, [&](mlir::RewritePatternSet& patterns) {
    mlir::VectorTransferToSCFOptions to_loops;
    to_loops.enableFullUnroll(true);
    mlir::populateVectorToSCFConversionPatterns(patterns, to_loops);
    mlir::vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
    mlir::vector::populateVectorBroadcastLoweringPatterns(patterns);
    mlir::vector::populateVectorShapeCastLoweringPatterns(patterns);
    mlir::vector::populateVectorTransposeLoweringPatterns(patterns, options);
  });
}

// A whole buffer in another shape is the same memory from the same address on. As a reshape it
// would be folded into what it is read by, which takes an index apart by divisions and remainders:
// of such loops LLVM makes no vectors.
void CastReshapes(mlir::ModuleOp module) {
  mlir::SmallVector<mlir::Operation*> reshapes;
  module.walk([&](mlir::Operation* op) {
    if (mlir::isa<mlir::memref::CollapseShapeOp, mlir::memref::ExpandShapeOp>(op)) {
      reshapes.push_back(op);
    }
  });
  mlir::IRRewriter rewriter(module.getContext());
  for (mlir::Operation* const op : reshapes) {
    const mlir::Value source = op->getOperand(0);
    const auto from = mlir::cast<mlir::MemRefType>(source.getType());
    const auto to = mlir::cast<mlir::MemRefType>(op->getResult(0).getType());
    if (!from.getLayout().isIdentity() || !to.getLayout().isIdentity() || !to.hasStaticShape()) {
      continue;
    }
    mlir::SmallVector<int64_t> strides(to.getShape().size(), 1);
    for (size_t d = strides.size(); d-- > 1;) {
      strides[d - 1] = strides[d] * to.getShape()[d];
    }
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<mlir::memref::ReinterpretCastOp>(op, to, source, /*offset=*/0,
                                                                 to.getShape(), strides);
  }
}

}  // namespace

Status LowerToLlvm(mlir::ModuleOp module) {
  CastReshapes(module);
  {
    mlir::PassManager passes(module.getContext());
    passes.addNestedPass<mlir::func::FuncOp>(mlir::createConvertLinalgToLoopsPass());
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createLoopInvariantCodeMotionPass());
    if (failed(passes.run(module))) {
      return MakeError(ErrorCode::kUnsupported, "nests cannot become loops");
    }
  }
  LowerVectors(module);
  Rewrite(module, [](mlir::RewritePatternSet& patterns) {
    mlir::populateMathPolynomialApproximationPatterns(patterns);
    AddFormulasOfDoubles(patterns);
  });
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::memref::createFoldMemRefAliasOpsPass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  passes.addPass(mlir::createLoopInvariantCodeMotionPass());
  passes.addPass(mlir::createConvertSCFToCFPass());
  passes.addPass(mlir::memref::createExpandStridedMetadataPass());
  passes.addPass(mlir::createLowerAffinePass());
  passes.addPass(mlir::createConvertVectorToLLVMPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createConvertMathToLibmPass());
  passes.addPass(mlir::createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  mlir::ConvertFuncToLLVMPassOptions bare;
  bare.useBarePtrCallConv = true;
  passes.addPass(mlir::createConvertFuncToLLVMPass(bare));
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  passes.addPass(mlir::createCanonicalizerPass());
  if (failed(passes.run(module))) {
    return MakeError(ErrorCode::kUnsupported, "what was made cannot be lowered to LLVM");
  }
  return {};
}

}  // namespace hone::loops
