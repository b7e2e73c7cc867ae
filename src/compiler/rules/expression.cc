#include "compiler/rules/expression.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/rules/functions.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using Kind = Value::Kind;
using Values = std::vector<Value>;
using Result = std::optional<Value>;
using List = std::vector<int64_t>;

Result Truth(bool truth) { return Value::Integer(truth ? 1 : 0); }

// Those whose argument is the name of a hole or a node.
constexpr std::pair<std::string_view, int> kOfNames[] = {
    {"type", 1},  {"dims", 1},    {"rank", 1},   {"elements", 1}, {"value", 1},
    {"float", 1}, {"integer", 1}, {"number", 1}, {"pred", 1},     {"constant", 1},
    {"splat", 1}, {"scalar", 1},  {"one_use", 1}};
constexpr std::pair<std::string_view, int> kRandom[] = {
    {"random_permutation", 1}, {"random_subset", 1}, {"random_integer", 2}};
constexpr std::pair<std::string_view, int> kLazy[] = {{"and", 2}, {"or", 2}, {"in", 2}};

template <size_t n>
int ArityIn(const std::pair<std::string_view, int> (&table)[n], std::string_view name) {
  for (const auto& [known, arity] : table) {
    if (known == name) return arity;
  }
  return -1;
}

Result OfName(std::string_view function, std::string_view name, const Scope& scope) {
  if (function == "value") return scope.SplatOf(name);
  if (function == "constant") return Truth(scope.IsConstant(name));
  if (function == "one_use") return Truth(scope.OneUse(name));
  if (function == "splat") return Truth(scope.SplatOf(name).has_value());
  const xla::Shape* const shape = scope.ShapeOf(name);
  if (shape == nullptr || !shape->IsArray()) return std::nullopt;
  const xla::PrimitiveType type = shape->element_type();
  if (function == "type") {
    return Value::Word(xla::primitive_util::LowercasePrimitiveTypeName(type));
  }
  if (function == "dims") {
    return Value::List(List(shape->dimensions().begin(), shape->dimensions().end()));
  }
  if (function == "rank") return Value::Integer(static_cast<int64_t>(shape->dimensions().size()));
  if (function == "scalar") return Truth(shape->dimensions().empty());
  if (function == "elements") {
    int64_t product = 1;
    for (int64_t size : shape->dimensions()) product *= size;
    return Value::Integer(product);
  }
  if (function == "float") return Truth(InClass(type, ElementClass::kFloat));
  if (function == "integer") return Truth(InClass(type, ElementClass::kInteger));
  if (function == "number") return Truth(InClass(type, ElementClass::kNumber));
  return Truth(type == xla::PRED);
}

Result RandomValue(std::string_view function, const Values& a, const Scope& scope) {
  if (a[0].kind != Kind::kInteger || a[0].integer > 64) return std::nullopt;
  if (function == "random_integer") {
    const auto drawn = scope.Random(a[0].integer, a[1].integer);
    return drawn ? Result(Value::Integer(*drawn)) : std::nullopt;
  }
  List list;
  for (int64_t i = 0; i < a[0].integer; ++i) {
    const auto drawn = scope.Random(0, function == "random_subset" ? 1 : i);
    if (!drawn) return std::nullopt;
    if (function == "random_permutation") {
      list.insert(list.begin() + *drawn, i);
    } else if (*drawn != 0) {
      list.push_back(i);
    }
  }
  return Value::List(std::move(list));
}

Result Call(const Expression& expression, const Scope& scope) {
  const std::string& name = expression.name;
  const std::vector<Expression>& arguments = expression.arguments;
  if (name == "and" || name == "or") {
    const Result first = Evaluate(arguments[0], scope);
    if (!first) return std::nullopt;
    if (first->IsTrue() == (name == "or")) return first;
    return Evaluate(arguments[1], scope);
  }
  if (name == "in") {  // in(F, {add, maximum}): words or numbers
    const Result element = Evaluate(arguments[0], scope);
    if (!element || arguments[1].kind != Expression::Kind::kList) return std::nullopt;
    for (const Expression& candidate : arguments[1].arguments) {
      const Result value = Evaluate(candidate, scope);
      if (value && Equal(*element, *value)) return Truth(true);
    }
    return Truth(false);
  }
  if (ArityIn(kOfNames, name) >= 0) {
    return arguments[0].kind == Expression::Kind::kWord ? OfName(name, arguments[0].name, scope)
                                                        : std::nullopt;
  }
  Values values;
  for (const Expression& argument : arguments) {
    const Result value = Evaluate(argument, scope);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (ArityIn(kRandom, name) >= 0) return RandomValue(name, values, scope);
  return CallValueFunction(name, values);
}

}  // namespace

Value Value::Integer(int64_t integer) {
  Value value;
  value.integer = integer;
  return value;
}

Value Value::Real(double real) {
  Value value;
  value.kind = Kind::kReal;
  value.real = real;
  return value;
}

Value Value::List(std::vector<int64_t> list) {
  Value value;
  value.kind = Kind::kList;
  value.list = std::move(list);
  return value;
}

Value Value::Word(std::string_view word) {
  Value value;
  value.kind = Kind::kWord;
  value.word = std::string(word);
  return value;
}

bool Equal(const Value& a, const Value& b) {
  if (a.IsNumber() && b.IsNumber()) {
    if (a.kind == Kind::kInteger && b.kind == Kind::kInteger) return a.integer == b.integer;
    return a.AsReal() == b.AsReal();
  }
  if (a.kind == Kind::kWord || b.kind == Kind::kWord) return a.kind == b.kind && a.word == b.word;
  if (a.kind == Kind::kList && b.kind == Kind::kList) return a.list == b.list;
  const Value& list = a.kind == Kind::kList ? a : b;
  const Value& number = a.kind == Kind::kList ? b : a;
  return number.kind == Kind::kInteger &&
         std::all_of(list.list.begin(), list.list.end(),
                     [&](int64_t element) { return element == number.integer; });
}

std::optional<Value> Evaluate(const Expression& expression, const Scope& scope) {
  switch (expression.kind) {
    case Expression::Kind::kInteger:
      return Value::Integer(expression.integer);
    case Expression::Kind::kReal:
      return Value::Real(expression.real);
    case Expression::Kind::kWord:
      return Value::Word(expression.name);
    case Expression::Kind::kVariable:
      return scope.Variable(expression.name);
    case Expression::Kind::kList: {
      List list;
      for (const Expression& element : expression.arguments) {
        const Result value = Evaluate(element, scope);
        if (!value || value->kind != Kind::kInteger) return std::nullopt;
        list.push_back(value->integer);
      }
      return Value::List(std::move(list));
    }
    case Expression::Kind::kCall:
      return Call(expression, scope);
  }
  return std::nullopt;
}

int FunctionArity(std::string_view name) {
  for (const int arity : {ArityIn(kOfNames, name), ArityIn(kRandom, name), ArityIn(kLazy, name)}) {
    if (arity >= 0) return arity;
  }
  return ValueFunctionArity(name);
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names = ValueFunctionNames();
  for (const auto& [name, arity] : kOfNames) names.emplace_back(name);
  for (const auto& [name, arity] : kRandom) names.emplace_back(name);
  for (const auto& [name, arity] : kLazy) names.emplace_back(name);
  return names;
}

std::optional<xla::PrimitiveType> ElementType(std::string_view name) {
  const auto type = xla::primitive_util::StringToPrimitiveType(name);
  if (!type.ok() || !xla::primitive_util::IsArrayType(*type)) return std::nullopt;
  return *type;
}

bool InClass(xla::PrimitiveType type, ElementClass element_class) {
  const bool is_float = xla::primitive_util::IsFloatingPointType(type);
  const bool is_integer = xla::primitive_util::IsIntegralType(type);
  switch (element_class) {
    case ElementClass::kAny:
      return xla::primitive_util::IsArrayType(type);
    case ElementClass::kFloat:
      return is_float;
    case ElementClass::kInteger:
      return is_integer;
    case ElementClass::kNumber:
      return is_float || is_integer;
    case ElementClass::kPred:
      return type == xla::PRED;
  }
  return false;
}

}  // namespace hone::compiler
