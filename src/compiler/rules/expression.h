// Values of attributes, and the functions that rule files may use on them (docs/rules.md).
#ifndef HONE_COMPILER_RULES_EXPRESSION_H_
#define HONE_COMPILER_RULES_EXPRESSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/rules/pattern.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

struct Value {
  enum class Kind { kInteger, kReal, kList, kWord };
  Kind kind = Kind::kInteger;
  int64_t integer = 0;  // a truth too: 0 or 1
  double real = 0;
  std::vector<int64_t> list;
  std::string word;  // an element type ("f32"), a direction ("LT"), a reduction ("add")

  static Value Integer(int64_t integer);
  static Value Real(double real);
  static Value List(std::vector<int64_t> list);
  static Value Word(std::string_view word);
  bool IsTrue() const { return kind == Kind::kInteger && integer != 0; }
  bool IsNumber() const { return kind == Kind::kInteger || kind == Kind::kReal; }
  double AsReal() const { return kind == Kind::kReal ? real : static_cast<double>(integer); }
};

// Numbers by value, whatever their kind (a NaN equals nothing); a list equals a number that all its
// elements equal.
bool Equal(const Value& a, const Value& b);

// What names mean where an expression is evaluated. All may answer "unknown": nullopt, null.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual std::optional<Value> Variable(std::string_view name) const = 0;
  // Of a hole or a node.
  virtual const xla::Shape* ShapeOf(std::string_view name) const = 0;
  // The number that every element of a hole or a node is known to be.
  virtual std::optional<Value> SplatOf(std::string_view name) const = 0;
  virtual bool IsConstant(std::string_view) const { return false; }
  // Nothing outside the match uses the node.
  virtual bool OneUse(std::string_view) const { return false; }
  // In laws: a number in [low, high]; elsewhere random_… are unknown.
  virtual std::optional<int64_t> Random(int64_t /*low*/, int64_t /*high*/) const {
    return std::nullopt;
  }
};

// Nullopt where something is unknown or does not fit (an index out of range, a list where a number
// is due, a division by zero): then the rule does not apply.
std::optional<Value> Evaluate(const Expression& expression, const Scope& scope);

// Whether a function of this name takes this many arguments. -1 where there is none of the name,
// otherwise the number of arguments that it takes.
int FunctionArity(std::string_view name);
std::vector<std::string> FunctionNames();

// An element type by its name in HLO text. Nullopt where there is none.
std::optional<xla::PrimitiveType> ElementType(std::string_view name);
bool InClass(xla::PrimitiveType type, ElementClass element_class);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_EXPRESSION_H_
