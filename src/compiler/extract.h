// Parts of a program as programs of their own.
#ifndef HONE_COMPILER_EXTRACT_H_
#define HONE_COMPILER_EXTRACT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// An instruction drawn from the entry, with what it is computed from, at most `height` operands deep;
// what lies deeper becomes parameters. Never null where the entry has more than parameters.
std::unique_ptr<xla::HloModule> ExtractRandomModule(const xla::HloModule& module, uint64_t seed,
                                                    int64_t height);

// Each fusion of the module, its operands as parameters; at most `most`.
std::vector<std::unique_ptr<xla::HloModule>> ExtractFusions(const xla::HloModule& module,
                                                            size_t most);

// Each instruction of the entry but parameters, constants and tuples, its operands as parameters;
// equal ones once; at most `most`.
std::vector<std::unique_ptr<xla::HloModule>> ExtractInstructions(const xla::HloModule& module,
                                                                 size_t most);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_EXTRACT_H_
