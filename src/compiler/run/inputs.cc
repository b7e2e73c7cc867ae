#include "compiler/run/inputs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "compiler/run/draws.h"
#include "verify/compare.h"
#include "verify/find_finite.h"
#include "verify/move_values.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

static_assert(kInputKinds == verify::kUsualKinds);
static_assert(static_cast<int>(InputKind::kExact) + 1 == verify::kKinds);
static_assert(static_cast<int>(InputKind::kSearched) == verify::kSearchedKind);

// Elements that one generator makes, so that threads can share an array.
constexpr int64_t kBlock = 1 << 16;
constexpr unsigned kMostThreads = 8;
constexpr int64_t kAtOnce = 512;  // numbers that are drawn together

double Uniform(Generator& generator) { return UniformOf(generator()); }
double Bell(Generator& generator) { return BellOf(generator()); }

double Wide(Generator& generator, double scale) {
  const uint64_t choice = generator.Below(20);
  if (choice == 0) return 0.0;
  if (choice == 1) return scale;
  if (choice < 6) return static_cast<double>(static_cast<int>(generator.Below(5)) - 2) * scale;
  return Bell(generator) * scale * 1.0123;
}

// How the values of one array are of InputKind::kSearched. What is physical is often positive, or
// near a level (a density, a temperature), or of different levels (density, momentum and energy in
// one array); corners, edges and times ascend; covariances are positive definite.
struct Habit {
  // kAsOther: as `other` has it.
  enum What { kAsOther, kLevel, kLevels, kAscending, kPositiveDefinite };
  static constexpr int64_t kMostChannels = 8;

  Habit(const InputRole& role, uint64_t seed) {
    constexpr InputKind kOthers[] = {InputKind::kSigned, InputKind::kPositive, InputKind::kSmall,
                                     InputKind::kStructured};
    constexpr double kUsual[] = {0, 0.03, 0.3, 1, 1, 3};
    const xla::Shape& shape = role.shape;
    Generator generator(seed);
    other = kOthers[generator.Below(std::size(kOthers))];
    const auto rank = static_cast<int64_t>(shape.dimensions().size());
    const bool square = rank >= 2 && shape.dimensions(rank - 1) > 1 &&
                        shape.dimensions(rank - 1) == shape.dimensions(rank - 2);
    int64_t inner = 1;
    for (int64_t k = rank; k-- > 0;) {
      const int64_t size = shape.dimensions(k);
      if (size > 1 && size <= kMostChannels) {
        channels = size;
        stride = inner;
      }
      inner *= size;
    }
    row = rank > 0 ? std::max<int64_t>(1, shape.dimensions(rank - 1)) : 1;
    const uint64_t drawn = generator.Below(10);
    what = drawn < 4   ? kAsOther
           : drawn < 5 ? kLevel
           : drawn < 7 ? (channels > 1 ? kLevels : kLevel)
           : drawn < 8 ? kAscending
                       : (square ? kPositiveDefinite : kAscending);
    spread = generator.Below(2) == 0 ? 0.02 : 0.2;
    for (int64_t k = 0; k < channels; ++k) {
      levels[k] = kUsual[generator.Below(std::size(kUsual))];
      if (role.positive) levels[k] = std::max(levels[k], 0.03);
    }
    constexpr double kOfAll[] = {0.05, 0.3, 1, 1, 4, 20, 100, 300, 1000, 1e5};
    if (what == kLevel) levels[0] = kOfAll[generator.Below(std::size(kOfAll))];
  }

  // Of element `at`, where it is not as another kind has it.
  double Float(Generator& values, int64_t at) const {
    if (what == kAscending) {
      return (static_cast<double>(at % row) + 0.1 + 0.5 * Uniform(values)) /
             static_cast<double>(row);
    }
    const double level = levels[what == kLevels ? at / stride % channels : 0];
    return (level == 0 ? 0.01 : level) * (spread * (2 * Uniform(values) - 1)) + level;
  }

  What what = kAsOther;
  InputKind other = InputKind::kSigned;
  int64_t channels = 1, stride = 1, row = 1;
  double spread = 0;
  double levels[kMostChannels] = {};
};

// The seed of an array's habit: its last draw (verify/find_finite.h).
uint64_t HabitOf(uint32_t draws, size_t array) {
  uint64_t last = 0;
  for (int place = 0; place < verify::kDraws; ++place) {
    const uint64_t draw = MixBits(draws >> (8 * place) & 0xFF) ^ MixBits(array + 1);
    const bool drawn = (draws >> (8 * place) & 0xFF) != 0;
    if (place == 0 || (drawn && MixBits(draw) % 4 == 0)) last = draw;
  }
  return last;
}

// One array's values: what does not change from element to element, worked out once.
class Values {
 public:
  // `habits`: the seed of what is drawn for an array as a whole.
  Values(const InputRole& role, InputKind kind, uint64_t habits)
      : role_(role), kind_(kind), positive_definite_(role.positive_definite) {
    if (kind == InputKind::kSearched) {
      const Habit habit(role, habits);
      kind_ = habit.other;
      positive_definite_ = positive_definite_ || habit.what == Habit::kPositiveDefinite;
      if (habit.what != Habit::kAsOther && !positive_definite_) habit_ = habit;
    }
    weight_ = role.fan_in > 1;
    shrink_ = weight_ ? 1.0 / std::sqrt(static_cast<double>(role.fan_in)) : 1.0;
    power_ = weight_ ? std::exp2(std::round(std::log2(shrink_))) : 1.0;
    rank_ = static_cast<int64_t>(role.shape.dimensions().size());
    for (const int64_t size : role.shape.dimensions()) count_ *= size;
    const int64_t last = rank_ > 0 ? role.shape.dimensions(static_cast<int>(rank_) - 1) : 1;
    if (rank_ >= 2 && (last == 2 || last == 3)) {
      coordinates_ = last;
      const double points = static_cast<double>(count_) / static_cast<double>(last);
      side_ = std::max<int64_t>(
          1, std::llround(std::ceil(std::pow(points, 1.0 / static_cast<double>(last)))));
    }
    distribution_ = FindDistribution();
  }

  InputKind kind() const { return kind_; }
  const InputRole& role() const { return role_; }
  bool positive_definite() const { return positive_definite_ && rank_ >= 2; }

  // Of element `at`.
  double Float(Generator& generator, int64_t at) const {
    if (habit_) return habit_->Float(generator, at);
    if (distribution_) {
      double value;
      distribution_->Fill(generator, &value, 1);
      return value;
    }
    switch (kind_) {
      case InputKind::kWide:
        if (role_.positive) return 0.25 + std::fabs(Wide(generator, 1.0));
        // A power of two keeps small integers exact.
        return Wide(generator, power_);
      case InputKind::kSmall:
        return 0.1 * Ascending(generator, at);
      case InputKind::kStructured:
        return coordinates_ > 0 ? Lattice(generator, at) : Ascending(generator, at);
      case InputKind::kExact: {
        const double value = static_cast<double>(generator.Below(9)) / 4 - 1;
        return (role_.positive ? 0.25 + std::fabs(value) : value) * power_;
      }
      case InputKind::kSigned:
      case InputKind::kPositive:
      case InputKind::kSearched:
        break;
    }
    return 0;
  }
  // Of elements [begin, end).
  void Floats(Generator& generator, int64_t begin, int64_t end, double* values) const {
    if (distribution_) return distribution_->Fill(generator, values, end - begin);
    for (int64_t i = begin; i < end; ++i) *values++ = Float(generator, i);
  }

  int64_t Integer(Generator& generator) const {
    const auto draw = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(generator.Below(static_cast<uint64_t>(high - low + 1)));
    };
    if (role_.index_bound > 0) {
      // Programs count negative ones from the end, or XLA clamps them.
      if (kind_ == InputKind::kWide &&
          xla::primitive_util::IsSignedIntegralType(role_.shape.element_type()) &&
          generator.Below(8) == 0) {
        return -draw(1, role_.index_bound);
      }
      return draw(0, role_.index_bound - 1);
    }
    if (role_.fan_in > 0 && xla::primitive_util::IsSignedIntegralType(role_.shape.element_type())) {
      return draw(-8, 7);  // a quantised weight or activation
    }
    switch (kind_) {
      case InputKind::kSigned:
        return draw(1, 8);
      case InputKind::kPositive:
        return rank_ == 0 ? draw(1, 100) : draw(0, 1);
      case InputKind::kWide:
        return rank_ == 0 ? draw(1, 3) : draw(0, 7);
      case InputKind::kSmall:
      case InputKind::kStructured:
      case InputKind::kExact:
      case InputKind::kSearched:
        return rank_ == 0 ? draw(1, 4) : draw(0, 3);
    }
    return 0;
  }

 private:
  // Where all numbers of the array are drawn alike, each by one draw, wherever they are.
  std::optional<Distribution> FindDistribution() const {
    if (habit_) return std::nullopt;
    const double weight = std::min(0.3, shrink_);
    switch (kind_) {
      case InputKind::kSigned:
        if (role_.positive) return Distribution{Distribution::kAbsoluteBell, 0.3, 0.05};
        return Distribution{Distribution::kMagnitudes, weight_ ? weight : 0.3};
      case InputKind::kPositive: {
        Distribution uniform{Distribution::kUniform, 1, 0.1};
        // All terms have one sign here, so they add up to fan-in times their mean.
        if (weight_ && !role_.positive) {
          uniform.times = 1.7;
          uniform.over = static_cast<double>(role_.fan_in);
        }
        return uniform;
      }
      case InputKind::kSmall:
        if (weight_) return Distribution{Distribution::kBell, weight * 0.25};
        if (rank_ == 0) return Distribution{Distribution::kUniform, 0.009, 0.001};
        if (rank_ == 1) return std::nullopt;
        if (role_.positive) return Distribution{Distribution::kUniform, 0.1, 0.1};
        return Distribution{Distribution::kBell, 0.01};
      case InputKind::kStructured:
        if (coordinates_ > 0) return std::nullopt;
        if (weight_) return Distribution{Distribution::kBell, weight};
        if (rank_ == 0) return Distribution{Distribution::kUniform, 0.04, 0.01};
        if (rank_ == 1) return std::nullopt;
        if (role_.positive) return Distribution{Distribution::kUniform, 0.5, 0.5};
        return Distribution{Distribution::kBell, 0.1};
      case InputKind::kWide:
      case InputKind::kExact:
      case InputKind::kSearched:  // as another kind has it
        break;
    }
    return std::nullopt;
  }

  double Ascending(Generator& generator, int64_t at) const {
    return (static_cast<double>(at) + 0.5 * Uniform(generator)) / static_cast<double>(count_);
  }

  double Lattice(Generator& generator, int64_t at) const {
    int64_t step = at / coordinates_;
    for (int64_t k = at % coordinates_; k > 0; --k) step /= side_;
    return 1.2 * static_cast<double>(step % side_) + 0.1 * (Uniform(generator) - 0.5);
  }

  const InputRole& role_;
  InputKind kind_;
  bool positive_definite_ = false;
  std::optional<Habit> habit_;
  std::optional<Distribution> distribution_;  // or by element
  bool weight_ = false;
  double shrink_ = 1, power_ = 1;
  int64_t rank_ = 0, count_ = 1;
  int64_t coordinates_ = 0, side_ = 1;  // of points
};

// Hermitian, with a diagonal that outweighs the rest of its row.
void MakePositiveDefinite(const xla::Shape& shape, std::vector<std::complex<double>>* values) {
  const int64_t n = shape.dimensions().back();
  const auto rows = static_cast<int64_t>(values->size()) / std::max<int64_t>(n, 1);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      const int64_t within = row % n;
      std::complex<double>& value = (*values)[row * n + column];
      if (column == within) {
        value = 1.0 + std::abs(value);
      } else if (column > within && row - within + column < rows) {
        value /= static_cast<double>(n);
        (*values)[(row - within + column) * n + within] = std::conj(value);
      }
    }
  }
}

template <class T>
T FromDouble(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

// Elements [begin, end).
template <class T>
void Fill(const Values& values, Generator& generator, T* out, int64_t begin, int64_t end) {
  const InputRole& role = values.role();
  if constexpr (std::is_same_v<T, bool>) {
    const bool alone = role.shape.dimensions().empty();  // it may choose between branches: both
    const uint64_t often = values.kind() == InputKind::kPositive        ? (alone ? 10 : 9)
                           : alone && values.kind() == InputKind::kWide ? 0
                                                                        : 5;
    for (int64_t i = begin; i < end; ++i) out[i] = generator.Below(10) < often;
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    for (int64_t i = begin; i < end; ++i) {
      const double real = values.Float(generator, i);
      out[i] = T(real, values.Float(generator, i));
    }
  } else if constexpr (xla::is_intN_v<T>) {
    // Wraps around at 2 or 4 bits.
    for (int64_t i = begin; i < end; ++i) {
      out[i] = static_cast<T>(role.random_bits ? static_cast<int64_t>(generator() >> 7)
                                               : values.Integer(generator));
    }
  } else if constexpr (std::is_integral_v<T>) {
    for (int64_t i = begin; i < end; ++i) {
      // Bounds beyond a narrow type's range never come up as indices of that type.
      out[i] = role.random_bits
                   ? static_cast<T>(generator() >> 7)
                   : static_cast<T>(values.Integer(generator) &
                                    (sizeof(T) == 1 && role.index_bound > 0 ? 0x7F : -1));
    }
  } else {
    double some[kAtOnce];
    for (int64_t i = begin; i < end; i += kAtOnce) {
      const int64_t stop = std::min(end, i + kAtOnce);
      values.Floats(generator, i, stop, some);
      for (int64_t k = i; k < stop; ++k) out[k] = FromDouble<T>(some[k - i]);
    }
  }
}

// Of one generator, for their rows depend on each other.
template <class T>
void FillPositiveDefinite(const Values& made, Generator& generator, T* out, int64_t count) {
  constexpr bool kComplex =
      std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
  if constexpr (kComplex || (!std::is_integral_v<T> && std::is_convertible_v<T, float>)) {
    std::vector<std::complex<double>> values(count);
    for (int64_t i = 0; i < count; ++i) {
      const double real = made.Float(generator, i);
      values[i] = {real, kComplex ? made.Float(generator, i) : 0.0};
    }
    MakePositiveDefinite(made.role().shape, &values);
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (kComplex) {
        out[i] = T(values[i].real(), values[i].imag());
      } else {
        out[i] = FromDouble<T>(values[i].real());
      }
    }
  } else {
    Fill<T>(made, generator, out, 0, count);
  }
}

// Calls `work` for every number below `count`, in several threads where there are many.
void ForEach(int64_t count, const std::function<void(int64_t)>& work) {
  const auto threads = static_cast<unsigned>(std::clamp<int64_t>(
      count / 4, 1, std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads)));
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    for (int64_t k = next++; k < count; k = next++) work(k);
  };
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

// Elements [begin, end) of array `array`.
struct Block {
  size_t array;
  int64_t begin;
  int64_t end;
};

std::vector<Block> BlocksOf(const Arrays& arrays) {
  std::vector<Block> blocks;
  for (size_t k = 0; k < arrays.size(); ++k) {
    const int64_t count = arrays[k].element_count();
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      blocks.push_back({k, begin, std::min(count, begin + kBlock)});
    }
  }
  return blocks;
}

uint64_t SeedOf(uint64_t seed, const Block& block) {
  return MixBits(seed + kSplitMixStep * (block.array + 1)) ^
         MixBits(static_cast<uint64_t>(block.begin / kBlock) + 1);
}

}  // namespace

absl::StatusOr<Arrays> MakeInputs(const std::vector<InputRole>& roles, InputKind kind,
                                  uint64_t seed) {
  Arrays arrays;
  for (const InputRole& role : roles) {
    absl::StatusOr<xla::Literal> literal =
        xla::Literal::Make(xla::ShapeUtil::MakeShapeWithDescendingLayout(role.shape.element_type(),
                                                                         role.shape.dimensions()));
    if (!literal.ok()) return literal.status();
    arrays.push_back(*std::move(literal));
  }
  const std::vector<Block> blocks = BlocksOf(arrays);
  const uint64_t of_kind = MixBits(seed * verify::kKinds + static_cast<uint64_t>(kind));
  std::vector<Values> values;
  for (size_t k = 0; k < roles.size(); ++k) {
    values.emplace_back(roles[k], kind, HabitOf(static_cast<uint32_t>(seed), k));
  }
  ForEach(static_cast<int64_t>(blocks.size()), [&](int64_t at) {
    const Block& block = blocks[at];
    xla::Literal& literal = arrays[block.array];
    // A generator for each block, so that one array's size does not shift the others' values.
    Generator generator(SeedOf(of_kind, block));
    const bool whole = values[block.array].positive_definite();
    if (whole && block.begin > 0) return;
    xla::primitive_util::ArrayTypeSwitch(
        [&](auto constant) {
          using T = xla::primitive_util::NativeTypeOf<constant>;
          if (whole) {
            FillPositiveDefinite<T>(values[block.array], generator, literal.data<T>().data(),
                                    literal.element_count());
          } else {
            Fill<T>(values[block.array], generator, literal.data<T>().data(), block.begin,
                    block.end);
          }
        },
        roles[block.array].shape.element_type());
  });
  return arrays;
}

absl::Status Perturb(const Arrays& inputs, uint64_t seed, Arrays* moved) {
  Arrays& arrays = *moved;
  arrays.resize(inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (xla::ShapeUtil::Equal(arrays[k].shape(), inputs[k].shape())) continue;
    absl::StatusOr<xla::Literal> literal = xla::Literal::Make(inputs[k].shape());
    if (!literal.ok()) return literal.status();
    arrays[k] = *std::move(literal);
  }
  const std::vector<Block> blocks = BlocksOf(arrays);
  ForEach(static_cast<int64_t>(blocks.size()), [&](int64_t at) {
    const Block& block = blocks[at];
    xla::Literal& array = arrays[block.array];
    const verify::ElementType* const type = verify::FindElementType(
        xla::primitive_util::LowercasePrimitiveTypeName(array.shape().element_type()));
    const auto width = array.size_bytes() / array.element_count();
    char* const to = static_cast<char*>(array.untyped_data()) + block.begin * width;
    std::memcpy(to,
                static_cast<const char*>(inputs[block.array].untyped_data()) + block.begin * width,
                static_cast<size_t>((block.end - block.begin) * width));
    if (type == nullptr) return;  // floats of 8 bits are few enough to be all exact
    verify::MoveByOneUnit(*type, to, block.end - block.begin, SeedOf(seed, block));
  });
  return absl::OkStatus();
}

void MoveNearby(uint64_t seed, Arrays* arrays) {
  for (size_t k = 0; k < arrays->size(); ++k) {
    xla::Literal& array = (*arrays)[k];
    const verify::ElementType* const type = verify::FindElementType(
        xla::primitive_util::LowercasePrimitiveTypeName(array.shape().element_type()));
    if (type == nullptr) continue;
    verify::MoveNearby(*type, array.untyped_data(), array.element_count(),
                       MixBits(seed) ^ MixBits(k + 1));
  }
}

}  // namespace hone::compiler
