// The stock compiler's own pipeline, read from the compiler itself.
#ifndef HONE_COMPILER_PIPELINES_STOCK_H_
#define HONE_COMPILER_PIPELINES_STOCK_H_

#include <vector>

#include "core/program.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Runs the target's whole pipeline on a copy of `module` and returns what it recorded of
// itself: every pass in the order it ran, each round of a fix point on its own.
StatusOr<std::vector<StockPass>> RecordStockPasses(const xla::HloModule& module);
// The records of a module that went through the pipeline.
std::vector<StockPass> PassesThatRan(const xla::HloModule& optimised);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_PIPELINES_STOCK_H_
