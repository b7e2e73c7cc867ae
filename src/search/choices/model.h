// Models of what an assignment is worth, and the loop that asks by them.
#ifndef HONE_SEARCH_CHOICES_MODEL_H_
#define HONE_SEARCH_CHOICES_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/rng.h"
#include "search/choices/choices.h"
#include "search/choices/strategy.h"

namespace hone::choices {

// An assignment as a model sees it: a column for each choice off stock, ascending; all others 0.
using Features = std::vector<uint32_t>;

struct Examples {
  size_t columns = 0;
  std::vector<Features> rows;
  std::vector<double> values;  // as many; lower is better
};

class Model {
 public:
  virtual ~Model() = default;
  // Forgets what it learned before. There is at least one example.
  virtual void Fit(const Examples& examples, Rng& rng) = 0;
  // How low the value may be: the mean, less some of the doubt where the model knows its doubt.
  virtual double Promise(const Features& features) const = 0;
};

// Fits on all that was measured, mutates the best known assignments, and asks for the most
// promising few of the mutants.
std::unique_ptr<Strategy> MakeModelStrategy(const Problem& problem, std::unique_ptr<Model> model);

}  // namespace hone::choices

#endif  // HONE_SEARCH_CHOICES_MODEL_H_
