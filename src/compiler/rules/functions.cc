#include "compiler/rules/functions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using Values = std::vector<Value>;
using Result = std::optional<Value>;
using Kind = Value::Kind;
using List = std::vector<int64_t>;

Result Truth(bool truth) { return Value::Integer(truth ? 1 : 0); }

// A number taken for a list of one.
List AsList(const Value& value) {
  if (value.kind == Kind::kInteger) return {value.integer};
  return value.list;
}

bool Listable(const Value& value) {
  return value.kind == Kind::kList || value.kind == Kind::kInteger;
}

Result IntegerOperation(std::string_view name, int64_t a, int64_t b) {
  int64_t result = 0;
  if (name == "add" && !__builtin_add_overflow(a, b, &result)) return Value::Integer(result);
  if (name == "sub" && !__builtin_sub_overflow(a, b, &result)) return Value::Integer(result);
  if (name == "mul" && !__builtin_mul_overflow(a, b, &result)) return Value::Integer(result);
  if (name == "div" && b > 0 && a >= 0) return Value::Integer(a / b);
  if (name == "mod" && b > 0 && a >= 0) return Value::Integer(a % b);
  if (name == "min") return Value::Integer(std::min(a, b));
  if (name == "max") return Value::Integer(std::max(a, b));
  return std::nullopt;
}

// Numbers, and lists element by element (a number with a list: with each element).
Result Arithmetic(std::string_view name, const Value& a, const Value& b) {
  if (a.kind == Kind::kInteger && b.kind == Kind::kInteger) {
    return IntegerOperation(name, a.integer, b.integer);
  }
  if (a.IsNumber() && b.IsNumber()) {
    const double x = a.AsReal();
    const double y = b.AsReal();
    if (name == "add") return Value::Real(x + y);
    if (name == "sub") return Value::Real(x - y);
    if (name == "mul") return Value::Real(x * y);
    if (name == "div" && y != 0) return Value::Real(x / y);
    if (name == "min") return Value::Real(std::min(x, y));
    if (name == "max") return Value::Real(std::max(x, y));
    return std::nullopt;
  }
  if (!Listable(a) || !Listable(b)) return std::nullopt;
  const bool both = a.kind == Kind::kList && b.kind == Kind::kList;
  if (both && a.list.size() != b.list.size()) return std::nullopt;
  List result((a.kind == Kind::kList ? a : b).list.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const Result element = IntegerOperation(name, a.kind == Kind::kList ? a.list[i] : a.integer,
                                            b.kind == Kind::kList ? b.list[i] : b.integer);
    if (!element) return std::nullopt;
    result[i] = element->integer;
  }
  return Value::List(std::move(result));
}

// An order over numbers; over lists it must hold of every pair of elements.
Result Order(std::string_view name, const Value& a, const Value& b) {
  const auto holds = [&](double x, double y) {
    return name == "lt" ? x < y : name == "le" ? x <= y : name == "gt" ? x > y : x >= y;
  };
  if (a.IsNumber() && b.IsNumber()) return Truth(holds(a.AsReal(), b.AsReal()));
  if (!Listable(a) || !Listable(b)) return std::nullopt;
  const bool both = a.kind == Kind::kList && b.kind == Kind::kList;
  if (both && a.list.size() != b.list.size()) return std::nullopt;
  const size_t size = (a.kind == Kind::kList ? a : b).list.size();
  for (size_t i = 0; i < size; ++i) {
    const int64_t x = a.kind == Kind::kList ? a.list[i] : a.integer;
    const int64_t y = b.kind == Kind::kList ? b.list[i] : b.integer;
    if (!holds(static_cast<double>(x), static_cast<double>(y))) return Truth(false);
  }
  return Truth(true);
}

bool IsPermutation(const List& list) {
  std::vector<bool> seen(list.size(), false);
  for (int64_t i : list) {
    if (i < 0 || i >= static_cast<int64_t>(list.size()) || seen[i]) return false;
    seen[i] = true;
  }
  return true;
}

Result Inverse(const Values& a) {
  const List list = AsList(a[0]);
  if (!IsPermutation(list)) return std::nullopt;
  List result(list.size());
  for (size_t i = 0; i < list.size(); ++i) result[list[i]] = static_cast<int64_t>(i);
  return Value::List(std::move(result));
}

// {A[i] for i in I}; a number for a number.
Result At(const Values& a) {
  const List list = AsList(a[0]);
  List result;
  for (int64_t i : AsList(a[1])) {
    if (i < 0 || i >= static_cast<int64_t>(list.size())) return std::nullopt;
    result.push_back(list[i]);
  }
  if (a[1].kind == Kind::kInteger) return Value::Integer(result[0]);
  return Value::List(std::move(result));
}

// Where the elements of the second are in the first.
Result IndexOf(const Values& a) {
  const List list = AsList(a[0]);
  List result;
  for (int64_t element : AsList(a[1])) {
    const auto found = std::find(list.begin(), list.end(), element);
    if (found == list.end()) return std::nullopt;
    result.push_back(found - list.begin());
  }
  if (a[1].kind == Kind::kInteger) return Value::Integer(result[0]);
  return Value::List(std::move(result));
}

// 0 … n-1 without the elements of a list, ascending.
Result Complement(const Values& a) {
  if (a[0].kind != Kind::kInteger) return std::nullopt;
  const List without = AsList(a[1]);
  List result;
  for (int64_t i = 0; i < a[0].integer; ++i) {
    if (std::find(without.begin(), without.end(), i) == without.end()) result.push_back(i);
  }
  return Value::List(std::move(result));
}

Result Concat(const Values& a) {
  List result = AsList(a[0]);
  for (int64_t element : AsList(a[1])) result.push_back(element);
  return Value::List(std::move(result));
}

// The list with a place of it (or places) set to a number (or numbers).
Result Set(const Values& a) {
  List result = AsList(a[0]);
  const List where = AsList(a[1]);
  const List what = AsList(a[2]);
  if (what.size() != 1 && what.size() != where.size()) return std::nullopt;
  for (size_t i = 0; i < where.size(); ++i) {
    if (where[i] < 0 || where[i] >= static_cast<int64_t>(result.size())) return std::nullopt;
    result[where[i]] = what.size() == 1 ? what[0] : what[i];
  }
  return Value::List(std::move(result));
}

Result Contains(const Values& a) {
  const List list = AsList(a[0]);
  for (int64_t element : AsList(a[1])) {
    if (std::find(list.begin(), list.end(), element) == list.end()) return Truth(false);
  }
  return Truth(true);
}

Result Disjoint(const Values& a) {
  const List list = AsList(a[0]);
  for (int64_t element : AsList(a[1])) {
    if (std::find(list.begin(), list.end(), element) != list.end()) return Truth(false);
  }
  return Truth(true);
}

// The dimensions of the second shape, each as the place in the first where it begins, if reshaping
// one to the other only adds or removes dimensions of size 1.
Result OnlyOnes(const Values& a) {
  List x = AsList(a[0]);
  List y = AsList(a[1]);
  x.erase(std::remove(x.begin(), x.end(), 1), x.end());
  y.erase(std::remove(y.begin(), y.end(), 1), y.end());
  return Truth(x == y);
}

// In a reshape of shape X to shape Y: the dimensions of Y that make up dimensions D of X. Nullopt
// where some of D share a dimension of Y with others of X. Dimensions of size 1 of Y go to the
// group before them where there is one.
Result Unflattened(const Values& a) {
  const List x = AsList(a[0]);
  const List y = AsList(a[1]);
  const List wanted = AsList(a[2]);
  List result;
  size_t i = 0;
  size_t j = 0;
  while (i < x.size()) {
    // The smallest group of dimensions from i and from j with the same number of elements.
    const size_t i0 = i;
    const size_t j0 = j;
    if (j >= y.size()) {
      if (x[i] != 1) return std::nullopt;
      ++i;
      if (std::find(wanted.begin(), wanted.end(), static_cast<int64_t>(i0)) != wanted.end()) {
        return std::nullopt;
      }
      continue;
    }
    int64_t p = x[i++];
    int64_t q = y[j++];
    while (p != q) {
      if (p < q) {
        if (i >= x.size()) return std::nullopt;
        p *= x[i++];
      } else {
        if (j >= y.size()) return std::nullopt;
        q *= y[j++];
      }
    }
    while (j < y.size() && y[j] == 1 && (i >= x.size() || x[i] != 1)) ++j;
    int in = 0;
    for (size_t k = i0; k < i; ++k) {
      in += std::find(wanted.begin(), wanted.end(), static_cast<int64_t>(k)) != wanted.end();
    }
    if (in != 0 && in != static_cast<int>(i - i0)) return std::nullopt;
    if (in == 0) continue;
    for (size_t k = j0; k < j; ++k) result.push_back(static_cast<int64_t>(k));
  }
  return Value::List(std::move(result));
}

// The dimensions of a shape whose size is not 1.
Result Nontrivial(const Values& a) {
  const List dims = AsList(a[0]);
  List result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) result.push_back(static_cast<int64_t>(i));
  }
  return Value::List(std::move(result));
}

std::optional<xla::PrimitiveType> TypeOf(const Value& value) {
  if (value.kind != Kind::kWord) return std::nullopt;
  return ElementType(value.word);
}

// The element type holds the number without rounding it.
Result ExactNumber(const Values& a) {
  const auto type = TypeOf(a[0]);
  if (!type || !a[1].IsNumber()) return std::nullopt;
  const double value = a[1].AsReal();
  if (!InClass(*type, ElementClass::kFloat)) {
    return Truth(a[1].kind == Kind::kInteger && std::fabs(value) < 100);
  }
  if (std::isinf(value)) return Truth(xla::primitive_util::HasInfinity(*type));
  if (value == 0) return Truth(true);
  const int exponent = std::ilogb(value);
  if (exponent >= xla::primitive_util::OverflowExponent(*type) - 1 ||
      exponent < xla::primitive_util::UnderflowExponent(*type)) {
    return Truth(false);
  }
  const double scaled =
      std::ldexp(value, xla::primitive_util::SignificandWidth(*type) - 1 - exponent);
  return Truth(scaled == std::floor(scaled));
}

// The neutral element of a reduction over an element type.
Result Neutral(const Values& a) {
  const auto type = TypeOf(a[1]);
  if (!type || a[0].kind != Kind::kWord) return std::nullopt;
  const std::string& reduction = a[0].word;
  if (reduction == "add") return Value::Integer(0);
  if (reduction == "multiply") return Value::Integer(1);
  if (*type == xla::PRED) {
    if (reduction == "or" || reduction == "maximum") return Value::Integer(0);
    if (reduction == "and" || reduction == "minimum") return Value::Integer(1);
    return std::nullopt;
  }
  const bool most = reduction == "minimum";
  if (!most && reduction != "maximum") {
    if (reduction == "or") return Value::Integer(0);
    return std::nullopt;
  }
  if (xla::primitive_util::IsFloatingPointType(*type)) {
    if (!xla::primitive_util::HasInfinity(*type)) return std::nullopt;
    const double infinity = std::numeric_limits<double>::infinity();
    return Value::Real(most ? infinity : -infinity);
  }
  const int bits = xla::primitive_util::BitWidth(*type);
  if (xla::primitive_util::IsSignedIntegralType(*type)) {
    const int64_t top = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    return Value::Integer(most ? top : -top - 1);
  }
  if (!most) return Value::Integer(0);
  if (bits >= 64) return std::nullopt;
  return Value::Integer((int64_t{1} << bits) - 1);
}

// A number that the element type holds without overflow or underflow (to a subnormal, even).
Result Representable(const Values& a) {
  const auto type = TypeOf(a[0]);
  if (!type || !a[1].IsNumber()) return std::nullopt;
  const double value = a[1].AsReal();
  if (xla::primitive_util::IsFloatingPointType(*type)) {
    if (value == 0) return Truth(true);
    // 2^(OverflowExponent) is the first power of two that is too large.
    const int over = xla::primitive_util::OverflowExponent(*type);
    const int under = xla::primitive_util::UnderflowExponent(*type);
    const double magnitude = std::fabs(value);
    return Truth(magnitude < std::ldexp(0.99, over - 1) * 2 &&
                 magnitude >= std::ldexp(1.0, under - 1));
  }
  if (a[1].kind != Kind::kInteger) return Truth(false);
  if (*type == xla::PRED) return Truth(value == 0 || value == 1);
  const int bits = xla::primitive_util::BitWidth(*type);
  const bool is_signed = xla::primitive_util::IsSignedIntegralType(*type);
  if (bits >= 64) return Truth(is_signed || a[1].integer >= 0);
  const int64_t top = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return Truth(a[1].integer <= top && a[1].integer >= (is_signed ? -top - 1 : 0));
}

// Every value of the first element type is one of the second.
Result Exact(const Values& a) {
  const auto from = TypeOf(a[0]);
  const auto to = TypeOf(a[1]);
  if (!from || !to) return std::nullopt;
  return Truth(*from == *to || xla::primitive_util::CastPreservesValues(*from, *to));
}

Result Direction(std::string_view function, const Value& value) {
  static const std::map<std::string, std::pair<std::string, std::string>> table = {
      {"EQ", {"EQ", "NE"}}, {"NE", {"NE", "EQ"}}, {"LT", {"GT", "GE"}},
      {"GT", {"LT", "LE"}}, {"LE", {"GE", "GT"}}, {"GE", {"LE", "LT"}}};
  if (value.kind != Kind::kWord) return std::nullopt;
  const auto found = table.find(value.word);
  if (found == table.end()) return std::nullopt;
  return Value::Word(function == "converse" ? found->second.first : found->second.second);
}

Result RealFunction(double (*function)(double), const Value& value) {
  if (!value.IsNumber()) return std::nullopt;
  const double result = function(value.AsReal());
  if (std::isnan(result)) return std::nullopt;
  return Value::Real(result);
}

struct Function {
  int arity;
  std::function<Result(const Values&)> call;
};

const std::map<std::string, Function, std::less<>>& Functions() {
  const auto arithmetic = [](const char* name) {
    return Function{2, [name](const Values& a) { return Arithmetic(name, a[0], a[1]); }};
  };
  const auto order = [](const char* name) {
    return Function{2, [name](const Values& a) { return Order(name, a[0], a[1]); }};
  };
  const auto of_type = [](ElementClass element_class) {
    return Function{1, [element_class](const Values& a) -> Result {
                      const auto type = TypeOf(a[0]);
                      return type ? Truth(InClass(*type, element_class)) : std::nullopt;
                    }};
  };
  static const std::map<std::string, Function, std::less<>> functions = {
      {"add", arithmetic("add")},
      {"sub", arithmetic("sub")},
      {"mul", arithmetic("mul")},
      {"div", arithmetic("div")},
      {"mod", arithmetic("mod")},
      {"min", arithmetic("min")},
      {"max", arithmetic("max")},
      {"lt", order("lt")},
      {"le", order("le")},
      {"gt", order("gt")},
      {"ge", order("ge")},
      {"eq", {2, [](const Values& a) { return Truth(Equal(a[0], a[1])); }}},
      {"ne", {2, [](const Values& a) { return Truth(!Equal(a[0], a[1])); }}},
      {"not", {1, [](const Values& a) { return Truth(!a[0].IsTrue()); }}},
      {"neg",
       {1,
        [](const Values& a) {
          return a[0].kind == Kind::kReal ? Result(Value::Real(-a[0].real))
                                          : Arithmetic("sub", Value::Integer(0), a[0]);
        }}},
      {"compose", {2, At}},
      {"at", {2, At}},
      {"inverse", {1, Inverse}},
      {"index_of", {2, IndexOf}},
      {"complement", {2, Complement}},
      {"concat", {2, Concat}},
      {"set", {3, Set}},
      {"contains", {2, Contains}},
      {"disjoint", {2, Disjoint}},
      {"only_ones", {2, OnlyOnes}},
      {"unflattened", {3, Unflattened}},
      {"nontrivial", {1, Nontrivial}},
      {"exact_number", {2, ExactNumber}},
      {"is_permutation", {1, [](const Values& a) { return Truth(IsPermutation(AsList(a[0]))); }}},
      {"is_sorted",
       {1,
        [](const Values& a) {
          const List list = AsList(a[0]);
          return Truth(std::is_sorted(list.begin(), list.end()));
        }}},
      {"sorted",
       {1,
        [](const Values& a) {
          List list = AsList(a[0]);
          std::sort(list.begin(), list.end());
          return Result(Value::List(std::move(list)));
        }}},
      {"iota",
       {1,
        [](const Values& a) -> Result {
          if (a[0].kind != Kind::kInteger || a[0].integer < 0 || a[0].integer > 64) {
            return std::nullopt;
          }
          List list(a[0].integer);
          std::iota(list.begin(), list.end(), 0);
          return Value::List(std::move(list));
        }}},
      {"fill",
       {2,
        [](const Values& a) -> Result {
          if (a[0].kind != Kind::kInteger || a[0].integer < 0 || a[0].integer > 64 ||
              a[1].kind != Kind::kInteger) {
            return std::nullopt;
          }
          return Value::List(List(a[0].integer, a[1].integer));
        }}},
      {"size",
       {1,
        [](const Values& a) {
          return Result(Value::Integer(static_cast<int64_t>(AsList(a[0]).size())));
        }}},
      {"product",
       {1,
        [](const Values& a) -> Result {
          int64_t product = 1;
          for (int64_t element : AsList(a[0])) {
            if (__builtin_mul_overflow(product, element, &product)) return std::nullopt;
          }
          return Value::Integer(product);
        }}},
      {"neutral", {2, Neutral}},
      {"representable", {2, Representable}},
      {"exact", {2, Exact}},
      {"is_float", of_type(ElementClass::kFloat)},
      {"is_integer", of_type(ElementClass::kInteger)},
      {"is_number", of_type(ElementClass::kNumber)},
      {"converse", {1, [](const Values& a) { return Direction("converse", a[0]); }}},
      {"negation", {1, [](const Values& a) { return Direction("negation", a[0]); }}},
      {"sqrt", {1, [](const Values& a) { return RealFunction(std::sqrt, a[0]); }}},
      {"exp", {1, [](const Values& a) { return RealFunction(std::exp, a[0]); }}},
      {"log", {1, [](const Values& a) { return RealFunction(std::log, a[0]); }}},
      {"abs", {1, [](const Values& a) { return RealFunction(std::fabs, a[0]); }}},
      {"to_real",
       {1,
        [](const Values& a) {
          return a[0].IsNumber() ? Result(Value::Real(a[0].AsReal())) : std::nullopt;
        }}},
  };
  return functions;
}

}  // namespace

std::optional<Value> CallValueFunction(std::string_view name, const std::vector<Value>& arguments) {
  const auto found = Functions().find(name);
  return found == Functions().end() ? std::nullopt : found->second.call(arguments);
}

int ValueFunctionArity(std::string_view name) {
  const auto found = Functions().find(name);
  return found == Functions().end() ? -1 : found->second.arity;
}

std::vector<std::string> ValueFunctionNames() {
  std::vector<std::string> names;
  for (const auto& [name, function] : Functions()) names.push_back(name);
  return names;
}

}  // namespace hone::compiler
