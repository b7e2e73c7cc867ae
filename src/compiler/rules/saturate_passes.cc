#include "compiler/rules/saturate_passes.h"

#include <memory>
#include <string>
#include <utility>

#include "compiler/rules/saturate.h"

namespace hone::compiler {
namespace {

constexpr char kGroup[] = "saturation";

// Holds what it applies.
class OwningSaturatePass : public SaturatePass {
 public:
  OwningSaturatePass(std::string name, const std::vector<const Rule*>& rules,
                     SaturateOptions options, std::shared_ptr<const std::vector<Rule>> table)
      : SaturatePass(std::move(name), rules, options), table_(std::move(table)) {}

 private:
  const std::shared_ptr<const std::vector<Rule>> table_;
};

}  // namespace

StatusOr<std::vector<PassEntry>> SaturatePasses(const std::vector<RuleFile>& user_files) {
  StatusOr<std::vector<Rule>> loaded = LoadRules(user_files);
  if (!loaded) return tl::unexpected(loaded.error());
  const auto table = std::make_shared<const std::vector<Rule>>(*std::move(loaded));
  std::vector<const Rule*> rules;
  for (const Rule& rule : *table) {
    if (!rule.on_demand || rule.group == kGroup) rules.push_back(&rule);
  }
  struct Kind {
    const char* name;
    const char* options;
    const char* meaning;
    SaturationGoal goal;
  };
  constexpr Kind kKinds[] = {
      {"saturate", "goal=op_count", "all rules at once in an e-graph, for the fewest instructions",
       SaturationGoal::kOpCount},
      {"saturate:flops", "goal=flops", "all rules at once in an e-graph, for the fewest flops",
       SaturationGoal::kFlops},
      {"saturate:bytes", "goal=bytes",
       "all rules at once in an e-graph, for the fewest bytes read "
       "and written",
       SaturationGoal::kBytes},
  };
  std::vector<PassEntry> rows;
  for (const Kind& kind : kKinds) {
    PassEntry entry;
    entry.info.name = kind.name;
    entry.info.class_name = "SaturatePass";
    entry.info.meaning = kind.meaning;
    entry.info.options = kind.options;
    entry.info.group = PassGroup::kSimplify;
    SaturateOptions options;
    options.goal = kind.goal;
    entry.make = [name = std::string(kind.name), rules, options,
                  table]() -> std::unique_ptr<xla::HloPassInterface> {
      return std::make_unique<OwningSaturatePass>(name, rules, options, table);
    };
    rows.push_back(std::move(entry));
  }
  return rows;
}

}  // namespace hone::compiler
