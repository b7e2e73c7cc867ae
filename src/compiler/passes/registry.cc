// What PassTable is made of.
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "compiler/implementations/implementations.h"
#include "compiler/passes/pass_table.h"
#include "compiler/rules/batch_lanes.h"
#include "compiler/rules/general_fusion.h"
#include "compiler/rules/rule_pass.h"
#include "compiler/rules/rule_table.h"
#include "compiler/rules/share_computations.h"
#include "compiler/target.h"

namespace hone::compiler {
namespace {

// The action set `rewrites`: a simplifier, of which some rewrites only are made. Variants of a pass
// differ in options, and are not varied again.
void AddDecided(std::vector<PassEntry>& table) {
  struct Selector {
    const char* name;
    const char* meaning;
    Decisions decisions;
    bool only_algsimp;  // drawn halves are of use where a pass has very many rewrites
  };
  const std::vector<Selector> selectors = {
      {"shrinking", "only what lowers the op count", {Otherwise::kShrinking}, false},
      {"not_growing", "only what does not raise the op count", {Otherwise::kNotGrowing}, false},
      {"less_bytes", "only what does not raise the bytes accessed", {Otherwise::kLessBytes}, true},
      {"half_1", "a half of its rewrites, by what they look like", {Otherwise::kHalf, 1}, true},
      {"half_2", "another half of its rewrites", {Otherwise::kHalf, 2}, true},
      {"half_3", "another half of its rewrites", {Otherwise::kHalf, 3}, true},
      {"half_4", "another half of its rewrites", {Otherwise::kHalf, 4}, true},
  };
  const size_t passes = table.size();
  for (size_t i = 0; i < passes; ++i) {
    const bool variant = table[i].info.name.find(':') != std::string::npos;
    if (!table[i].info.simplify || variant || table[i].grain != Grain::kRewrites) continue;
    for (const Selector& selector : selectors) {
      if (selector.only_algsimp && table[i].info.name != "algsimp") continue;
      PassEntry entry = table[i];
      entry.info.meaning = entry.info.name + ": " + selector.meaning;
      entry.info.name += std::string("?") + selector.name;
      entry.info.kind = PassKind::kRewrites;
      entry.info.simplify = false;
      entry.decisions = selector.decisions;
      table.push_back(std::move(entry));
    }
  }
}

// Each other way to compute something, made everywhere.
std::vector<PassEntry> ImplementationPasses() {
  std::vector<PassEntry> rows;
  for (const Implementation& implementation : Implementations()) {
    if ((implementation.traits & kHereAlone) != 0 && !TheTarget().is_here()) continue;
    PassEntry entry;
    entry.info.name = "implement:" + implementation.rule->name();
    entry.info.class_name = "RulePass";
    entry.info.meaning = implementation.meaning;
    entry.info.group = PassGroup::kExpand;
    entry.info.traits = implementation.traits;
    for (const xla::HloOpcode opcode : implementation.rule->root_opcodes()) {
      entry.info.roots.emplace_back(xla::HloOpcodeString(opcode));
    }
    entry.make = [name = entry.info.name, rule = implementation.rule] {
      return std::make_unique<RulePass>(name, std::vector<const InstructionRule*>{rule});
    };
    rows.push_back(std::move(entry));
  }
  return rows;
}

template <typename Pass>
PassEntry StructuralRow(std::string name, std::string class_name, std::string meaning) {
  PassEntry entry;
  entry.info.name = std::move(name);
  entry.info.class_name = std::move(class_name);
  entry.info.meaning = std::move(meaning);
  entry.make = [] { return std::make_unique<Pass>(); };
  return entry;
}

// Rewrites that no pattern says, for their size varies.
std::vector<PassEntry> StructuralPasses() {
  std::vector<PassEntry> rows;
  rows.push_back(StructuralRow<BatchLanes>(
      "batch_lanes", "BatchLanes",
      "computes independent subgraphs of one form as one, on joined tensors"));
  // All arrays of a batch are laid out anew.
  rows.back().info.traits = kAllAround;
  return rows;
}

void Add(std::vector<PassEntry> rows, PassKind kind, std::vector<PassEntry>& table) {
  for (PassEntry& row : rows) {
    row.info.kind = kind;
    row.info.simplify = false;
    table.push_back(std::move(row));
  }
}

std::vector<RuleFile>& UserRules() {
  static auto* const files = new std::vector<RuleFile>;
  return *files;
}

std::vector<PassEntry> BuildRegistry() {
  std::vector<PassEntry> table = TheTarget().Passes();
  AddDecided(table);
  // The files have been read, so nothing can be wrong with them any more.
  std::vector<PassEntry> many;
  std::vector<PassEntry> single;
  std::vector<PassEntry> rules = RulePasses(UserRules()).value();
  for (PassEntry& row : rules) {
    (row.info.name.rfind("rule:", 0) == 0 ? single : many).push_back(std::move(row));
  }
  Add(std::move(many), PassKind::kRules, table);
  Add(std::move(single), PassKind::kRule, table);
  Add(StructuralPasses(), PassKind::kRules, table);
  std::vector<PassEntry> others;
  // What it saves is calls of equal computations that were counted twice: in no set, for that is
  // no better program.
  others.push_back(StructuralRow<ShareComputations>(
      "share_computations", "ShareComputations",
      "lets reductions, sorts and scatters share equal computations"));
  // These are proposals, to be chosen from; more instructions are counted, too.
  others.push_back(StructuralRow<GeneralFusion>(
      "general_fusion", "GeneralFusion", "fuses any legal group of what loop fusions are made of"));
  others.back().info.group = PassGroup::kFuse;
  Add(std::move(others), PassKind::kRule, table);
  Add(ImplementationPasses(), PassKind::kImplementation, table);
  return table;
}

}  // namespace

Status ReadUserRules(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) return MakeError(ErrorCode::kInvalidInput, path + ": cannot be read");
    UserRules().push_back({path, text.str()});
  }
  if (auto rules = LoadRules(UserRules()); !rules) return tl::unexpected(rules.error());
  return {};
}

const std::vector<PassEntry>& PassTable() {
  static const auto* const table = new std::vector<PassEntry>(BuildRegistry());
  return *table;
}

}  // namespace hone::compiler
