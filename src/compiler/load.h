// Reading programs: HLO text, HloModuleProto, HloProto or HloSnapshot, each also gzipped.
#ifndef HONE_COMPILER_LOAD_H_
#define HONE_COMPILER_LOAD_H_

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

struct LoadedModule {
  std::unique_ptr<xla::HloModule> module;
  std::string format;             // "HLO text", "HloProto", …, with ", gzip" behind it
  int elided_constants = 0;  // of the text, written as {...}: they have made-up values (elided.h)
};

// Parses and verifies. Errors are kInvalidInput, with XLA's own message and line where it has one.
// XLA may still abort on a malicious binary: that is why this runs in a worker.
StatusOr<LoadedModule> LoadModule(std::string_view data);

// XLA's HLO verifier, layouts and mixed precision left free. An empty string where it is content.
std::string VerifyModule(xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_LOAD_H_
