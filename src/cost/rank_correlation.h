// How alike do two lists of figures order the same things?
#ifndef HONE_COST_RANK_CORRELATION_H_
#define HONE_COST_RANK_CORRELATION_H_

#include <vector>

namespace hone::cost {

// Lists of one length. From -1 to 1; 0 where there are fewer than two things or one list has all
// equal. Spearman's: Pearson's of the ranks, equal figures sharing their mean rank. Kendall's:
// tau-b, which corrects for equal figures. (Kendall: "Rank Correlation Methods", 1948, chapters 1
// and 3.)
double Spearman(const std::vector<double>& a, const std::vector<double>& b);
double Kendall(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace hone::cost

#endif  // HONE_COST_RANK_CORRELATION_H_
