#include "compiler/rules/rule_table.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/rules/parse.h"
#include "compiler/rules/pattern_rule.h"
#include "compiler/rules/written_rules.h"
#include "core/nearest.h"

namespace hone::compiler {
namespace {

std::string Stem(std::string_view name) {
  name = name.substr(name.find_last_of('/') + 1);
  return std::string(name.substr(0, name.find('.')));
}

// What rows share: the rules live as long as any of their passes can be made.
struct Shared {
  std::vector<std::unique_ptr<InstructionRule>> rules;
};

PassEntry Row(std::string name, std::string meaning, std::shared_ptr<const Shared> shared,
              std::vector<const InstructionRule*> rules) {
  PassEntry entry;
  entry.info.name = name;
  entry.info.class_name = "RulePass";
  entry.info.meaning = std::move(meaning);
  entry.info.group = PassGroup::kSimplify;
  entry.make = [name = std::move(name), shared = std::move(shared),
                rules = std::move(rules)]() -> std::unique_ptr<xla::HloPassInterface> {
    // The pass holds what it applies.
    struct Owning : RulePass {
      Owning(std::string name, const std::vector<const InstructionRule*>& rules,
             std::shared_ptr<const Shared> shared)
          : RulePass(std::move(name), rules), shared_(std::move(shared)) {}
      const std::shared_ptr<const Shared> shared_;
    };
    return std::make_unique<Owning>(name, rules, shared);
  };
  return entry;
}

}  // namespace

StatusOr<RuleTable> LoadRules(const std::vector<RuleFile>& user_files) {
  RuleTable table;
  table.written = WrittenRules();
  std::map<std::string, std::string> seen;  // rule -> where
  for (const auto& rule : table.written) seen[rule->name()] = "a rule of hone's";
  const auto read = [&](const RuleFile& file) -> Status {
    StatusOr<std::vector<Rule>> rules = ParseRules(file.text, Stem(file.name), file.name);
    if (!rules) return tl::unexpected(rules.error());
    for (Rule& rule : *rules) {
      const auto [known, inserted] = seen.emplace(rule.name, file.name);
      if (!inserted) {
        return MakeError(ErrorCode::kInvalidInput,
                         absl::StrCat(file.name, ":", rule.place.line, ":", rule.place.column,
                                      ": there is a rule '", rule.name, "' already (",
                                      known->second, "): give this one another name"));
      }
      table.rules.push_back(std::move(rule));
    }
    return {};
  };
  for (const auto* files : {&ShippedRuleFiles(), &user_files}) {
    for (const RuleFile& file : *files) {
      if (Status status = read(file); !status) return tl::unexpected(status.error());
    }
  }
  return table;
}

StatusOr<std::vector<PassEntry>> RulePasses(const std::vector<RuleFile>& user_files) {
  StatusOr<RuleTable> table = LoadRules(user_files);
  if (!table) return tl::unexpected(table.error());
  auto shared = std::make_shared<Shared>();
  std::vector<const InstructionRule*> all;
  std::vector<std::pair<std::string, std::vector<const InstructionRule*>>> groups;
  std::vector<std::pair<std::string, std::string>> meanings;  // by shared->rules
  const auto add = [&](std::unique_ptr<InstructionRule> rule, const std::string& group,
                       const std::string& meaning, bool on_demand) {
    const InstructionRule* const pointer = rule.get();
    meanings.emplace_back(rule->name(), meaning);
    shared->rules.push_back(std::move(rule));
    if (on_demand) return;
    all.push_back(pointer);
    for (auto& [name, members] : groups) {
      if (name != group) continue;
      members.push_back(pointer);
      return;
    }
    groups.push_back({group, {pointer}});
  };
  for (Rule& rule : table->rules) {
    const std::string group = rule.group;
    const std::string meaning = rule.meaning;
    const bool on_demand = rule.on_demand;
    add(std::make_unique<PatternRule>(std::move(rule)), group, meaning, on_demand);
  }
  for (auto& rule : table->written) {
    const std::string name = rule->name();
    add(std::move(rule), "written", absl::StrCat("hone's rule ", name), false);
  }
  std::vector<PassEntry> rows;
  rows.push_back(
      Row("rules", "every rule of hone's (and of yours) that saves instructions", shared, all));
  rows.back().info.simplify = true;
  for (const auto& [group, members] : groups) {
    rows.push_back(Row(absl::StrCat("rules:", group),
                       absl::StrCat("the ", members.size(), " rules of the group ", group), shared,
                       members));
  }
  for (size_t i = 0; i < meanings.size(); ++i) {
    rows.push_back(Row(absl::StrCat("rule:", meanings[i].first), meanings[i].second, shared,
                       {shared->rules[i].get()}));
  }
  return rows;
}

}  // namespace hone::compiler
