#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/Linalg/Transforms/Transforms.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/SCF/Utils/Utils.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/Dialect/Tensor/Transforms/Transforms.h>
#include <mlir/Dialect/Transform/IR/TransformDialect.h>
#include <mlir/Dialect/Transform/IR/TransformOps.h>
#include <mlir/Dialect/Transform/Interfaces/TransformInterfaces.h>
#include <mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/Dialect/Vector/Transforms/LoweringPatterns.h>
#include <mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h>
#include <mlir/Interfaces/LoopLikeInterface.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/CSE.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>
#include <mlir/Transforms/LoopInvariantCodeMotionUtils.h>
#include <mlir/Transforms/Passes.h>

#include <set>

#include "loops/generator/lower.h"

namespace hone::loops {
namespace {

using mlir::Operation;

tl::unexpected<Error> Rejected(std::string what) {
  return MakeError(ErrorCode::kUnsupported, std::move(what));
}

// The site that an operation came from; "" where it has none.
std::string SiteOf(mlir::Location location) {
  if (const auto name = mlir::dyn_cast<mlir::NameLoc>(location)) return name.getName().str();
  if (const auto fused = mlir::dyn_cast<mlir::FusedLoc>(location)) {
    for (const mlir::Location one : fused.getLocations()) {
      if (std::string site = SiteOf(one); !site.empty()) return site;
    }
  }
  return "";
}

mlir::LogicalResult Clean(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return passes.run(module);
}

void Rewrite(mlir::ModuleOp module, mlir::RewritePatternSet patterns) {
  // Not to have reached a fix point is no failure of what was rewritten.
  (void)mlir::applyPatternsAndFoldGreedily(module, std::move(patterns));
}

Status Vectorize(mlir::ModuleOp module, const std::set<std::string>& sites) {
  mlir::MLIRContext* const context = module.getContext();
  {
    // Loops of one iteration would make vectors of too many dimensions.
    mlir::RewritePatternSet patterns(context);
    mlir::linalg::ControlDropUnitDims options;
    options.rankReductionStrategy =
        mlir::linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
    const auto all = options.controlFn;
    options.controlFn = [&sites, all](Operation* op) {
      return sites.count(SiteOf(op->getLoc())) != 0 ? all(op) : mlir::SmallVector<unsigned>{};
    };
    mlir::linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
    mlir::tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    Rewrite(module, std::move(patterns));
  }
  if (failed(Clean(module))) return Rejected("cleaning up failed");
  mlir::SmallVector<mlir::linalg::LinalgOp> ops;
  module.walk([&](mlir::linalg::LinalgOp op) {
    if (sites.count(SiteOf(op.getLoc())) != 0) ops.push_back(op);
  });
  mlir::IRRewriter rewriter(context);
  for (mlir::linalg::LinalgOp op : ops) {
    const std::string site = SiteOf(op.getLoc());
    if (mlir::isa<mlir::linalg::FillOp>(op.getOperation())) {
      int64_t elements = 1;  // a fill that stayed outside of the tiles is a plain loop
      for (const int64_t size : op.getStaticLoopRanges()) elements *= size;
      if (elements > 4096 || elements <= 0) continue;
    }
    rewriter.setInsertionPoint(op);
    if (failed(mlir::linalg::vectorize(rewriter, op.getOperation()))) {
      return Rejected(site + ": MLIR cannot vectorise what is left of it");
    }
  }
  mlir::RewritePatternSet patterns(context);
  mlir::vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
  mlir::vector::populateVectorReductionToContractPatterns(patterns);
  mlir::vector::populateSinkVectorBroadcastPatterns(patterns);
  mlir::tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
  mlir::vector::TransferReadOp::getCanonicalizationPatterns(patterns, context);
  mlir::vector::TransferWriteOp::getCanonicalizationPatterns(patterns, context);
  Rewrite(module, std::move(patterns));
  return {};
}

// What each iteration reads where the one before has written stays in a register.
void KeepInRegisters(mlir::ModuleOp module) {
  mlir::IRRewriter rewriter(module.getContext());
  mlir::SmallVector<mlir::LoopLikeOpInterface> loops;
  module.walk<mlir::WalkOrder::PostOrder>([&](mlir::scf::ForOp loop) { loops.push_back(loop); });
  for (mlir::LoopLikeOpInterface loop : loops) {
    (void)mlir::hoistLoopInvariantSubsets(rewriter, loop);
  }
}

}  // namespace

Status Restructure(mlir::ModuleOp module, const std::string& script,
                   const std::vector<std::string>& vectorized,
                   const std::vector<std::pair<std::string, int64_t>>& unrolled) {
  const auto transform = mlir::parseSourceString<mlir::ModuleOp>(script, module.getContext());
  if (!transform) return Rejected("the transform script cannot be read");
  Operation* const entry =
      mlir::transform::detail::findTransformEntryPoint(*transform, mlir::ModuleOp());
  if (entry == nullptr) return Rejected("the transform script has no entry");
  if (failed(mlir::transform::applyTransformNamedSequence(module, entry, *transform,
                                                          mlir::transform::TransformOptions()))) {
    return Rejected("the transform dialect refuses the schedule");
  }
  if (failed(Clean(module))) return Rejected("cleaning up failed");
  const std::set<std::string> sites(vectorized.begin(), vectorized.end());
  if (!sites.empty()) {
    if (Status done = Vectorize(module, sites); !done) return done;
    if (failed(Clean(module))) return Rejected("cleaning up failed");
  }
  KeepInRegisters(module);
  for (const auto& [site, factor] : unrolled) {
    mlir::SmallVector<mlir::scf::ForOp> loops;
    module.walk([&](mlir::scf::ForOp loop) {
      bool innermost = true;
      loop.getBody()->walk([&](mlir::LoopLikeOpInterface) { innermost = false; });
      if (innermost && SiteOf(loop.getLoc()) == site) loops.push_back(loop);
    });
    for (mlir::scf::ForOp loop : loops) {
      (void)mlir::loopUnrollByFactor(loop, static_cast<uint64_t>(factor));
    }
  }
  if (failed(Clean(module))) return Rejected("cleaning up failed");
  return {};
}

}  // namespace hone::loops
