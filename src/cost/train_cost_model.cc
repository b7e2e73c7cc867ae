#include "cost/train_cost_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/fnv.h"
#include "core/rng.h"
#include "cost/cost_network.h"
#include "cost/rank_correlation.h"

namespace hone::cost {
namespace {

constexpr double kPi = 3.14159265358979323846;

double Normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.Unit())) * std::cos(2 * kPi * rng.Unit());
}

// Small embeddings, matrices that keep the size of what they take, and a last layer of zeros: the
// roofline model.
std::vector<double> InitialParameters(const NetworkShape& shape, Rng& rng) {
  std::vector<double> parameters(static_cast<size_t>(ParameterCount(shape)));
  for (const ParameterSlot& slot : SlotsOf(shape)) {
    if (slot.rows == 1) continue;  // biases, and the last layer
    const bool embedding = slot.name.rfind("embed", 0) == 0;
    const bool round = slot.name.rfind("round", 0) == 0;
    const double size = embedding ? 0.3
                        : round   ? 0.5 / std::sqrt(static_cast<double>(slot.columns))
                                  : 1 / std::sqrt(static_cast<double>(slot.columns));
    for (int64_t i = 0; i < slot.rows * slot.columns; ++i) {
      parameters[static_cast<size_t>(slot.offset + i)] = size * Normal(rng);
    }
  }
  return parameters;
}

constexpr int kValidateEvery = 25;  // steps
constexpr double kCorrections[] = {1, 0.5, 0.25};  // that are tried of what was learnt
constexpr double kMostOff = 0.2;    // beyond it an error pulls no harder (Huber's loss)
constexpr double kFloor = 0.02;     // of doubt: what races of one executable differ by

double WeightOf(const Example& example) {
  return kFloor * kFloor / (kFloor * kFloor + example.doubt * example.doubt);
}

// With the correction of each kernel's roofline by so much of itself.
std::vector<double> Scaled(const NetworkShape& shape, std::vector<double> parameters,
                           double scale) {
  for (const ParameterSlot& slot : SlotsOf(shape)) {
    if (slot.name.rfind("last", 0) != 0) continue;
    for (int64_t i = 0; i < slot.rows * slot.columns; ++i) {
      parameters[static_cast<size_t>(slot.offset + i)] *= scale;
    }
  }
  return parameters;
}

class Adam {
 public:
  explicit Adam(size_t size) : mean_(size), square_(size) {}

  // Gradients longer than 1 are shortened to it.
  void Step(double rate, double decay, std::vector<double>& gradient,
            std::vector<double>& parameters) {
    ++steps_;
    double length = 0;
    for (const double g : gradient) length += g * g;
    const double scale = 1 / std::max(1.0, std::sqrt(length));
    const double mean_bias = 1 - std::pow(kMean, steps_);
    const double square_bias = 1 - std::pow(kSquare, steps_);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const double g = scale * gradient[i];
      mean_[i] = kMean * mean_[i] + (1 - kMean) * g;
      square_[i] = kSquare * square_[i] + (1 - kSquare) * g * g;
      const double step = mean_[i] / mean_bias / (std::sqrt(square_[i] / square_bias) + 1e-8);
      parameters[i] -= rate * (step + decay * parameters[i]);
    }
  }

 private:
  static constexpr double kMean = 0.9;
  static constexpr double kSquare = 0.99;
  std::vector<double> mean_, square_;
  int steps_ = 0;
};

std::vector<std::string> NamesIn(const std::vector<Example>& examples,
                                 std::vector<std::string> CostGraph::*field) {
  std::set<std::string> names;
  for (const Example& example : examples) {
    names.insert(((*example.graph).*field).begin(), ((*example.graph).*field).end());
  }
  return {names.begin(), names.end()};
}

// Examples' indices by program, in the programs' order of names.
std::vector<std::vector<size_t>> ByProgram(const std::vector<Example>& examples) {
  std::map<std::string, std::vector<size_t>> by_program;
  for (size_t i = 0; i < examples.size(); ++i) by_program[examples[i].program].push_back(i);
  std::vector<std::vector<size_t>> programs;
  for (auto& [name, indices] : by_program) programs.push_back(std::move(indices));
  return programs;
}

// Of a batch of one program's examples: how far their estimates are off beside each other, and all
// together.
struct Errors {
  double mean = 0;
  std::vector<double> off, share;  // of each, and how much it counts; shares add up to 1
  double Loss(double absolute) const {
    double loss = absolute * mean * mean;
    for (size_t i = 0; i < off.size(); ++i) loss += share[i] * off[i] * off[i];
    return loss;
  }
};

Errors ErrorsOf(const std::vector<Example>& examples, const size_t* batch,
                const std::vector<double>& estimates) {
  Errors errors;
  double weights = 0;
  for (size_t i = 0; i < estimates.size(); ++i) {
    const Example& example = examples[batch[i]];
    errors.share.push_back(WeightOf(example));
    errors.off.push_back(estimates[i] - example.value);
    weights += errors.share[i];
    errors.mean += errors.share[i] * errors.off[i];
  }
  errors.mean /= weights;
  for (size_t i = 0; i < estimates.size(); ++i) {
    errors.share[i] /= weights;
    errors.off[i] -= errors.mean;
  }
  return errors;
}

// Brings `first` things, drawn at random from all, to the front.
template <class T>
void Shuffle(size_t first, Rng& rng, std::vector<T>& things) {
  for (size_t i = 0; i < first; ++i) std::swap(things[i], things[i + rng.Below(things.size() - i)]);
}

}  // namespace

CostModel TrainCostModel(const std::vector<Example>& examples, const Machine& machine,
                         const TrainOptions& options) {
  HONE_CHECK(!examples.empty());
  Rng rng(options.seed);
  CostModel model;
  model.machine = machine;
  model.opcodes = NamesIn(examples, &CostGraph::opcodes);
  model.types = NamesIn(examples, &CostGraph::types);
  model.shape.opcodes = static_cast<int64_t>(model.opcodes.size()) + 1;
  model.shape.types = static_cast<int64_t>(model.types.size()) + 1;
  model.parameters = InitialParameters(model.shape, rng);
  std::vector<NetworkInput> inputs;
  for (const Example& example : examples) {
    inputs.push_back(model.InputOf(*example.graph, example.choices));
  }
  std::vector<std::vector<size_t>> programs;
  std::vector<std::vector<size_t>> validation;
  for (std::vector<size_t>& program : ByProgram(examples)) {
    const bool held = program.size() > 1 &&
                      IsHeldOut(examples[program[0]].program, options.validation, options.seed + 1);
    (held ? validation : programs).push_back(std::move(program));
  }
  if (programs.empty()) std::swap(programs, validation);
  std::vector<Example> judged;
  for (const std::vector<size_t>& program : validation) {
    for (size_t i : program) judged.push_back(examples[i]);
  }
  // The share of pairs that are ordered wrongly, added up over the programs for validation.
  const auto validate = [&](const std::vector<double>& parameters) {
    std::vector<double> estimates;
    for (const std::vector<size_t>& program : validation) {
      for (size_t i : program) {
        estimates.push_back(Evaluate(model.shape, parameters, inputs[i]));
      }
    }
    double wrong = 0;
    for (const RankQuality& quality : RankQualities(judged, estimates, 1)) {
      if (quality.decided > 0) wrong += 1 - quality.right;
    }
    return wrong;
  };
  Adam adam(model.parameters.size());
  std::vector<double> gradient(model.parameters.size());
  std::vector<double> best = model.parameters;
  double fewest_wrong = validate(best);
  double loss = 0;
  for (int step = 0; step < options.steps; ++step) {
    if (options.interrupted != nullptr && *options.interrupted) break;
    const size_t turn = static_cast<size_t>(step) % programs.size();
    if (turn == 0) Shuffle(programs.size(), rng, programs);
    std::vector<size_t>& program = programs[turn];
    const size_t batch = std::min(program.size(), static_cast<size_t>(options.batch));
    Shuffle(batch, rng, program);
    std::vector<NetworkPass> passes;
    std::vector<double> estimates;
    passes.reserve(batch);
    for (size_t i = 0; i < batch; ++i) {
      passes.emplace_back(model.shape, model.parameters, inputs[program[i]]);
      estimates.push_back(passes[i].value());
    }
    const Errors errors = ErrorsOf(examples, program.data(), estimates);
    std::fill(gradient.begin(), gradient.end(), 0.0);
    for (size_t i = 0; i < batch; ++i) {
      const double off = std::clamp(errors.off[i], -kMostOff, kMostOff);
      passes[i].AddGradient(2 * errors.share[i] * (off + options.absolute * errors.mean), gradient);
    }
    const double done = static_cast<double>(step) / options.steps;
    adam.Step(options.rate * (0.05 + 0.95 * 0.5 * (1 + std::cos(kPi * done))), options.decay,
              gradient, model.parameters);
    const double of_step = errors.Loss(options.absolute);
    loss = step == 0 ? of_step : 0.98 * loss + 0.02 * of_step;
    if (options.progress) options.progress(step + 1, loss);
    const bool last = step + 1 == options.steps;
    if (validation.empty() || (!last && (step + 1) % kValidateEvery != 0)) continue;
    for (const double scale : kCorrections) {
      std::vector<double> scaled = Scaled(model.shape, model.parameters, scale);
      if (const double wrong = validate(scaled); wrong < fewest_wrong) {
        fewest_wrong = wrong;
        best = std::move(scaled);
      }
    }
  }
  if (!validation.empty()) model.parameters = best;
  return model;
}

bool IsHeldOut(const std::string& program, double share, uint64_t seed) {
  return Rng(Fnv1a(program, kFnvStart ^ seed * 0x9e3779b97f4a7c15ull)).Unit() < share;
}

std::vector<RankQuality> RankQualities(const std::vector<Example>& examples,
                                       const std::vector<double>& estimates, size_t least) {
  std::vector<RankQuality> qualities;
  std::map<std::string, std::vector<size_t>> by_program;
  std::vector<std::string> order;
  for (size_t i = 0; i < examples.size(); ++i) {
    std::vector<size_t>& of_program = by_program[examples[i].program];
    if (of_program.empty()) order.push_back(examples[i].program);
    of_program.push_back(i);
  }
  for (const std::string& program : order) {
    std::vector<size_t> indices = by_program[program];
    if (indices.size() < std::max<size_t>(least, 1)) continue;
    std::vector<double> values;
    std::vector<double> guesses;
    double sum = 0;
    double squares = 0;
    for (size_t i : indices) {
      values.push_back(examples[i].value);
      guesses.push_back(estimates[i]);
      sum += examples[i].value;
      squares += examples[i].value * examples[i].value;
    }
    const auto count = static_cast<double>(indices.size());
    RankQuality quality{program, indices.size()};
    quality.spread = std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
    quality.spearman = Spearman(values, guesses);
    quality.kendall = Kendall(values, guesses);
    for (size_t i : indices) {
      for (size_t j : indices) {
        const double apart = examples[j].value - examples[i].value;
        if (!(apart > 2 * std::hypot(examples[i].doubt, examples[j].doubt))) continue;
        ++quality.decided;
        quality.right += estimates[i] < estimates[j] ? 1 : estimates[i] == estimates[j] ? 0.5 : 0;
      }
    }
    if (quality.decided > 0) quality.right /= static_cast<double>(quality.decided);
    std::stable_sort(indices.begin(), indices.end(),
                     [&](size_t i, size_t j) { return estimates[i] < estimates[j]; });
    double best = examples[indices[0]].value;
    for (size_t i = 0; i < std::min<size_t>(5, indices.size()); ++i) {
      best = std::min(best, examples[indices[i]].value);
    }
    quality.best_of_5 = std::exp(*std::min_element(values.begin(), values.end()) - best);
    qualities.push_back(quality);
  }
  return qualities;
}

}  // namespace hone::cost
