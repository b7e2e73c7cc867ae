// The registry: every XLA pass that hone can run, in one table.
#ifndef HONE_COMPILER_PASSES_PASS_TABLE_H_
#define HONE_COMPILER_PASSES_PASS_TABLE_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/pass.h"
#include "core/program.h"
#include "xla/hlo/pass/hlo_pass_interface.h"

namespace hone::compiler {

struct PassEntry {
  PassInfo info;
  // A fresh pass for one run: passes may keep state between runs.
  std::function<std::unique_ptr<xla::HloPassInterface>()> make;
  // It may change the module and report that it did not (tests/xla_findings): look for oneself.
  bool silent = false;
};

// In a fixed order: a PassId is an index into it.
const std::vector<PassEntry>& PassTable();
const std::vector<ExcludedPass>& ExcludedPasses();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_PASSES_PASS_TABLE_H_
