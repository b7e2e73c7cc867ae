#include "search/choices/tree.h"

#include <algorithm>

namespace hone::choices {
namespace {

bool Has(const Features& features, int64_t column) {
  return std::binary_search(features.begin(), features.end(), static_cast<uint32_t>(column));
}

// The column whose split takes most off the squared error; -1 where none takes any. Costs what is
// set, and the highest column, not rows times columns.
int64_t BestSplit(const std::vector<Features>& features, const std::vector<double>& values,
                  const std::vector<size_t>& rows, const TreeOptions& options, Rng& rng) {
  struct Sum {
    double value = 0;
    size_t count = 0;
  };
  std::vector<Sum> columns;
  Sum all;
  for (size_t row : rows) {
    all.value += values[row];
    ++all.count;
    if (!features[row].empty() && features[row].back() >= columns.size()) {
      columns.resize(size_t{features[row].back()} + 1);
    }
    for (uint32_t column : features[row]) {
      Sum& sum = columns[column];
      sum.value += values[row];
      ++sum.count;
    }
  }
  int64_t best = -1;
  double best_gain = 1e-12;
  for (size_t column = 0; column < columns.size(); ++column) {
    const Sum& set = columns[column];
    if (set.count == 0) continue;
    if (options.columns_share < 1 && rng.Unit() > options.columns_share) continue;
    const size_t unset = all.count - set.count;
    if (set.count < options.least || unset < options.least || unset == 0) continue;
    const double rest = all.value - set.value;
    const double gain = set.value * set.value / static_cast<double>(set.count) +
                        rest * rest / static_cast<double>(unset) -
                        all.value * all.value / static_cast<double>(all.count);
    if (gain > best_gain) {
      best_gain = gain;
      best = static_cast<int64_t>(column);
    }
  }
  return best;
}

}  // namespace

void Tree::Fit(const std::vector<Features>& features, const std::vector<double>& values,
               const std::vector<size_t>& rows, const TreeOptions& options, Rng& rng) {
  struct Open {
    size_t node;
    std::vector<size_t> rows;
    int depth;
  };
  nodes_.assign(1, Node());
  std::vector<Open> open;
  open.push_back({0, rows, options.depth});
  while (!open.empty()) {
    const Open now = std::move(open.back());
    open.pop_back();
    double sum = 0;
    for (size_t row : now.rows) sum += values[row];
    nodes_[now.node].value = now.rows.empty() ? 0 : sum / static_cast<double>(now.rows.size());
    if (now.depth == 0) continue;
    const int64_t column = BestSplit(features, values, now.rows, options, rng);
    if (column < 0) continue;
    Open set{nodes_.size(), {}, now.depth - 1};
    Open unset{nodes_.size() + 1, {}, now.depth - 1};
    for (size_t row : now.rows) (Has(features[row], column) ? set : unset).rows.push_back(row);
    nodes_[now.node].column = column;
    nodes_[now.node].set = set.node;
    nodes_[now.node].unset = unset.node;
    nodes_.resize(nodes_.size() + 2);
    open.push_back(std::move(set));
    open.push_back(std::move(unset));
  }
}

double Tree::Predict(const Features& features) const {
  size_t at = 0;
  while (nodes_[at].column >= 0) {
    at = Has(features, nodes_[at].column) ? nodes_[at].set : nodes_[at].unset;
  }
  return nodes_[at].value;
}

}  // namespace hone::choices
