// Programs as text, for tests that look at XLA's modules.
#ifndef HONE_TESTS_SUPPORT_PARSE_H_
#define HONE_TESTS_SUPPORT_PARSE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "xla/hlo/parser/hlo_parser.h"

namespace hone::compiler {

// XLA's verifier does not look at it.
inline std::unique_ptr<xla::HloModule> Parse(const std::string& text) {
  auto module = xla::ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

}  // namespace hone::compiler

#endif  // HONE_TESTS_SUPPORT_PARSE_H_
