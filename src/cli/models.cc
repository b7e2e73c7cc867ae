#include "cli/models.h"

#include <cmath>
#include <string>
#include <vector>

#include "search/searcher.h"

namespace hone::cli {

void AddModelOptions(CLI::App& app, ModelOptions& options) {
  app.add_option("--policy", options.policy,
                 "a trained policy, for searchers that use one (the one that comes with hone)")
      ->type_name("FILE");
  app.add_option("--coreset", options.coreset,
                 "a coreset, for the searcher of that name (the one that comes with hone)")
      ->type_name("FILE");
}

CLI::Option* AddSearchOption(CLI::App& app, std::string& search, const std::string& help) {
  std::vector<std::string> searchers;
  for (const SearcherInfo& searcher : Searchers()) searchers.emplace_back(searcher.name);
  return app.add_option("--search", search, help)->check(CLI::IsMember(searchers));
}

void SetBudget(const Budget& budget, OptimizeOptions& search) {
  search.budget_seconds = std::isfinite(budget.seconds) ? budget.seconds : 0;
  search.budget_steps = budget.steps == Budget{}.steps ? 0 : budget.steps;
}

}  // namespace hone::cli
