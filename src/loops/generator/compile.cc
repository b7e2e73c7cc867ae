#include "loops/generator/compile.h"

#include <llvm/Support/raw_ostream.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/Parser/Parser.h>

#include "loops/generator/context.h"
#include "loops/generator/lower.h"
#include "loops/generator/native.h"

namespace hone::loops {

StatusOr<CompileResult> Compile(const CompileRequest& request) {
  // Types and attributes are never freed, so a context is given up now and then.
  constexpr int kKernelsAContext = 200;
  static std::unique_ptr<mlir::MLIRContext> context;
  static int made = 0;
  if (!context || ++made % kKernelsAContext == 0) context = MakeContext();

  const Complaints complaints(*context);
  const auto told = [&](const Error& error) {
    return MakeError(error.code, error.message + ": " + complaints.Text());
  };
  auto module = mlir::parseSourceString<mlir::ModuleOp>(request.module, context.get());
  if (!module) return told({ErrorCode::kInvalidInput, "the module cannot be read"});
  CompileResult result;
  if (Status done = Restructure(*module, request.script, request.vectorized, request.unrolled);
      !done) {
    return told(done.error());
  }
  if (request.texts) {
    llvm::raw_string_ostream stream(result.restructured);
    module->print(stream);
  }
  if (Status done = Bufferize(*module); !done) return told(done.error());
  const auto loops = TakeOutParallelLoops(*module);
  if (!loops) return told(loops.error());
  if (Status done = LowerToLlvm(*module); !done) return told(done.error());
  StatusOr<MachineCode> code = MakeMachineCode(*module, request.buffers, *loops, request.texts);
  if (!code) return told(code.error());
  result.object = std::move(code->object);
  result.assembly = std::move(code->assembly);
  return result;
}

}  // namespace hone::loops
