#include "compiler/rules/rule_table.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/rules/parse.h"
#include "compiler/rules/pattern_rule.h"
#include "compiler/rules/rule_pass.h"
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

StatusOr<std::vector<Rule>> LoadRules(const std::vector<RuleFile>& user_files) {
  std::vector<Rule> loaded;
  std::map<std::string, std::string> seen;  // rule -> where
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
      loaded.push_back(std::move(rule));
    }
    return {};
  };
  for (const auto* files : {&ShippedRuleFiles(), &user_files}) {
    for (const RuleFile& file : *files) {
      if (Status status = read(file); !status) return tl::unexpected(status.error());
    }
  }
  return loaded;
}

StatusOr<std::vector<PassEntry>> RulePasses(const std::vector<RuleFile>& user_files) {
  StatusOr<std::vector<Rule>> loaded = LoadRules(user_files);
  if (!loaded) return tl::unexpected(loaded.error());
  auto shared = std::make_shared<Shared>();
  std::vector<const InstructionRule*> all;
  std::vector<std::pair<std::string, std::vector<const InstructionRule*>>> groups;
  std::vector<std::pair<std::string, std::string>> meanings;  // by shared->rules
  for (Rule& rule : *loaded) {
    meanings.emplace_back(rule.name, rule.meaning);
    const std::string group = rule.group;
    const bool on_demand = rule.on_demand;
    shared->rules.push_back(std::make_unique<PatternRule>(std::move(rule)));
    if (on_demand) continue;
    const InstructionRule* const pointer = shared->rules.back().get();
    all.push_back(pointer);
    auto known = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& members) { return members.first == group; });
    if (known == groups.end()) known = groups.insert(known, {group, {}});
    known->second.push_back(pointer);
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
