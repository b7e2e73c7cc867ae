// The registry: every XLA pass that hone can run, in one table.
#ifndef HONE_COMPILER_PASSES_PASS_TABLE_H_
#define HONE_COMPILER_PASSES_PASS_TABLE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/pass.h"
#include "core/program.h"
#include "core/result.h"
#include "core/rewrite.h"
#include "xla/hlo/pass/hlo_pass_interface.h"

namespace hone::compiler {

// How finely the changes of a pass can be decided.
enum class Grain {
  kRewrites,  // rewrite by rewrite
  kInPlace,   // it changes instructions in place: instruction by instruction
  kWhole,     // it cannot be taken apart
};

struct PassEntry {
  PassInfo info;
  // A fresh pass for one run: passes may keep state between runs.
  std::function<std::unique_ptr<xla::HloPassInterface>()> make;
  // It may change the module and report that it did not (tests/xla_findings): look for oneself.
  bool silent = false;
  Grain grain = Grain::kRewrites;
  // Rows of the action set `rewrites`: which of the pass's rewrites are made.
  std::optional<Decisions> decisions = std::nullopt;
};

// Those of XLA:CPU and of XLA in general, in a fixed order (pass_table.cc).
std::vector<PassEntry> CpuPasses();
std::vector<ExcludedPass> ExcludedFromCpuPasses();

// Before the first call of PassTable: further rules, from the user's files. An error says which file,
// where and why.
Status ReadUserRules(const std::vector<std::string>& paths);

// The target's passes, the action set `rewrites`, and hone's own rules, in a fixed order: a PassId is an
// index into it (registry.cc).
const std::vector<PassEntry>& PassTable();

}  // namespace hone::compiler

#endif  // HONE_COMPILER_PASSES_PASS_TABLE_H_
