// Formulas for functions, compiled and run, against the C++ library in more bits.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/implementations/implementations.h"
#include "program_text.h"
#include "same_value.h"

namespace hone::compiler {
namespace {

using Exact = std::function<long double(long double, long double)>;

struct Function {
  std::string implementation;
  std::string opcode;
  Exact exact;
  int operands = 1;
  double units = 2;         // of the last place, that a result may be off by
  double most = DBL_MAX;    // of an argument's absolute value
  std::string second = "";  // the second operand, a constant
};

void PrintTo(const Function& function, std::ostream* out) { *out << function.opcode; }

std::vector<Function> Functions() {
  using L = long double;
  const auto one = [](L (*f)(L)) { return [f](L x, L) { return f(x); }; };
  const auto two = [](L (*f)(L, L)) { return [f](L x, L y) { return f(x, y); }; };
  std::vector<Function> functions = {
      {"function_formulas", "log", one(std::log)},
      {"function_formulas", "log-plus-one", one(std::log1p)},
      {"function_formulas", "erf", one(std::erf), 1, 3},
      {"function_formulas", "cbrt", one(std::cbrt)},
      {"function_formulas", "atan2", two(std::atan2), 2, 3},
      {"function_formulas", "power", two(std::pow), 2},
      {"remainder_formulas", "remainder", two(std::fmod), 2, 0},
  };
  for (const double most : {1e5, DBL_MAX}) {  // where the formula holds, and where it does not
    functions.push_back({"periodic_formulas", "sine", one(std::sin), 1, 2, most});
    functions.push_back({"periodic_formulas", "cosine", one(std::cos), 1, 2, most});
    functions.push_back({"periodic_formulas", "tan", one(std::tan), 1, 3, most});
  }
  for (const char* exponent : {"0.5", "-0.5", "1.5", "-2.5", "3", "-1", "-4", "8"}) {
    functions.push_back({"power_products", "power", two(std::pow), 1, 8, DBL_MAX, exponent});
  }
  return functions;
}

// Of all sizes, but subnormal ones; and all that is special.
template <class Float>
std::vector<Float> Arguments(double most, uint64_t seed) {
  constexpr Float kInfinity = std::numeric_limits<Float>::infinity();
  std::vector<Float> values = {0, 1, 2, Float(0.5), 3, 8, std::numeric_limits<Float>::min()};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  while (values.size() < 1500) values.push_back(static_cast<Float>(10 * uniform(random)));
  while (values.size() < 2000)
    values.push_back(std::nearbyint(static_cast<Float>(20 * uniform(random))));
  while (values.size() < 4000) {
    const double exponent = 250 * uniform(random) - 125;
    const auto value = static_cast<Float>(std::exp2(exponent));
    if (value <= most) values.push_back(value);
  }
  if (most == DBL_MAX) {
    values.push_back(std::numeric_limits<Float>::max());
    values.push_back(kInfinity);
  }
  const size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  values.push_back(std::numeric_limits<Float>::quiet_NaN());
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

template <class Float>
void ExpectExact(const Function& function, const std::string& type) {
  const std::vector<Float> x = Arguments<Float>(function.most, 1);
  std::vector<Float> y = Arguments<Float>(function.most, 2);
  const std::string shape = type + "[" + std::to_string(x.size()) + "]";
  std::string root = function.opcode + "(p0)";
  std::string before;
  if (!function.second.empty()) {
    before = "c = " + type + "[] constant(" + function.second + ")\n  b = " + shape +
             " broadcast(c), dimensions={}\n  ";
    root = function.opcode + "(p0, b)";
    y.assign(x.size(), static_cast<Float>(std::stod(function.second)));
  } else if (function.operands == 2) {
    root = function.opcode + "(p0, p1)";
  }
  const auto module = Parsed(Entry(shape + ";" + shape, before + "ROOT r = " + shape + " " + root));
  ASSERT_NE(module, nullptr);
  const InstructionRule* const rule = FindImplementation(function.implementation);
  ASSERT_NE(rule, nullptr);
  const auto changed = RulePass("implement:" + rule->name(), {rule}).Run(module.get());
  ASSERT_TRUE(changed.ok()) << changed.status();
  if (!*changed) return;  // XLA has vectors of it itself
  const auto again = RulePass("implement:" + rule->name(), {rule}).Run(module.get());
  ASSERT_TRUE(again.ok() && !*again) << "it is made again of what it has made";
  const auto program = Program::Compile(*module, CodeQuality::kStock);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<xla::Literal> inputs;
  for (const std::vector<Float>& values : {x, y}) {
    inputs.push_back(
        xla::Literal::Make(module->entry_computation()->parameter_instruction(0)->shape()).value());
    std::memcpy(inputs.back().untyped_data(), values.data(), values.size() * sizeof(Float));
  }
  const auto arguments = program->Place(inputs);
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  const auto outputs = program->Run(*arguments);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const std::vector<xla::Literal> results = LiteralsOf(*outputs);
  int wrong = 0;
  for (size_t i = 0; i < x.size() && wrong < 5; ++i) {
    const Float got = results[0].data<Float>()[i];
    const long double exact = function.exact(x[i], y[i]);
    const auto want = static_cast<Float>(exact);
    if (std::isnan(want) && std::isnan(got)) continue;
    if (std::fpclassify(want) == FP_SUBNORMAL || std::fpclassify(got) == FP_SUBNORMAL) continue;
    const bool same_sign = std::signbit(want) == std::signbit(got);
    const Float unit =
        std::nextafter(std::abs(want), std::numeric_limits<Float>::infinity()) - std::abs(want);
    const bool near = std::isinf(want) || want == 0 || !std::isfinite(got)
                          ? want == got
                          : std::abs(static_cast<long double>(got) - exact) <=
                                function.units * static_cast<long double>(unit);
    if (same_sign && near) continue;
    ++wrong;
    ADD_FAILURE() << function.opcode << "(" << x[i] << ", " << y[i] << ") is " << got << ", not "
                  << want << " in " << type;
  }
}

class FunctionTest : public testing::TestWithParam<Function> {};

TEST_P(FunctionTest, IsExactButForTheLastBits) {
  ExpectExact<double>(GetParam(), "f64");
  ExpectExact<float>(GetParam(), "f32");
}

INSTANTIATE_TEST_SUITE_P(All, FunctionTest, testing::ValuesIn(Functions()), [](const auto& info) {
  std::string name = info.param.opcode + "_" + std::to_string(info.index);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace hone::compiler
