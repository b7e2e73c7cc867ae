// Instances of a rule's laws: programs made at random in which the rule's pattern stands.
#ifndef HONE_TESTS_COMPILER_RULES_LAW_H_
#define HONE_TESTS_COMPILER_RULES_LAW_H_

#include <memory>
#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/rules/pattern.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// The rule's laws; where it has none, one in which every hole has two dimensions.
std::vector<Law> LawsOf(const Rule& rule);

// Element types that T of the rule's laws can be: of f32, bf16, s32 and pred, those that all holes
// allow.
std::vector<xla::PrimitiveType> LawTypes(const Rule& rule);

// The pattern as a program: holes are its parameters (numbers where they must be), attributes that
// the law leaves open are drawn at random. Fails where the draw makes no sense: draw again. Whether
// the rule's conditions hold is left to the rule.
absl::StatusOr<std::unique_ptr<xla::HloModule>> DrawLaw(const Rule& rule, const Law& law,
                                                        xla::PrimitiveType type,
                                                        std::mt19937_64& random);

// Replaces one place of the entry computation, whatever it saves. False where the rule does not
// apply.
absl::StatusOr<bool> ApplyOnce(const Rule& rule, xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_TESTS_COMPILER_RULES_LAW_H_
