#include "loops/body_text.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace hone::loops {

const char* MlirType(Element element) { return InfoOf(element).memory; }

std::string WidenedText(const std::string& value, Element element, int64_t lanes,
                        const LetFunction& let) {
  const auto type = [&](const char* name) {
    return lanes == 0 ? std::string(name) : fmt::format("vector<{}x{}>", lanes, name);
  };
  const ElementInfo& info = InfoOf(element);
  const auto cast = [&](const char* how, const std::string& from, const char* a, const char* b) {
    return let(fmt::format("arith.{} {} : {} to {}", how, from, type(a), type(b)));
  };
  switch (info.widening) {
    case Widening::kNone:
      break;
    case Widening::kUpperHalf: {
      const std::string bits = cast("extui", value, info.memory, "i32");
      const std::string half = let(ConstantText(16, Element::kI32, type("i32")));
      return cast("bitcast", let(fmt::format("arith.shli {}, {} : {}", bits, half, type("i32"))),
                  "i32", "f32");
    }
    case Widening::kFloat:
      return cast("extf", value, info.memory, "f32");
    case Widening::kSigned:
      return cast("sitofp", value, info.memory, "f32");
    case Widening::kUnsigned:
      return cast("uitofp", value, info.memory, "f32");
    case Widening::kRounds:
      return WidenedText(NarrowedText(value, Element::kBF16, lanes, let), Element::kBF16, lanes,
                         let);
  }
  return value;
}

std::string NarrowedText(const std::string& value, Element element, int64_t lanes,
                         const LetFunction& let) {
  const auto type = [&](const char* name) {
    return lanes == 0 ? std::string(name) : fmt::format("vector<{}x{}>", lanes, name);
  };
  const ElementInfo& info = InfoOf(element);
  if (info.widening == Widening::kFloat) {
    return let(fmt::format("arith.truncf {} : {} to {}", value, type("f32"), type(info.memory)));
  }
  if (info.widening != Widening::kUpperHalf) return value;
  const std::string word = type("i32");
  const auto constant = [&](int64_t number) {
    return let(ConstantText(static_cast<double>(number), Element::kI32, word));
  };
  const auto two = [&](const char* what, const std::string& a, const std::string& b) {
    return let(fmt::format("arith.{} {}, {} : {}", what, a, b, word));
  };
  const std::string bits =
      let(fmt::format("arith.bitcast {} : {} to {}", value, type("f32"), word));
  const std::string half = constant(16);
  const std::string odd = two("andi", two("shrui", bits, half), constant(1));
  const std::string up = two("addi", two("addi", bits, odd), constant(0x7FFF));
  // What is no number stays none.
  const std::string none = let(fmt::format("arith.cmpf uno, {0}, {0} : {1}", value, type("f32")));
  const std::string quiet = two("ori", bits, constant(0x400000));
  const std::string chosen =
      let(fmt::format("arith.select {}, {}, {} : {}{}", none, quiet, up,
                      lanes == 0 ? "" : fmt::format("vector<{}xi1>, ", lanes), word));
  return let(fmt::format("arith.trunci {} : {} to {}", two("shrui", chosen, half), word,
                         type(info.memory)));
}

std::string ConstantText(double value, Element element, const std::string& type) {
  const bool wide = element == Element::kF64;
  std::string number = fmt::format("{:.17e}", value);
  if (!InfoOf(element).floating) number = fmt::format("{}", static_cast<int64_t>(value));
  if (std::isinf(value)) {
    number = value < 0 ? (wide ? "0xFFF0000000000000" : "0xFF800000")
                       : (wide ? "0x7FF0000000000000" : "0x7F800000");
  }
  const bool vector = type.rfind("vector", 0) == 0;
  return fmt::format("arith.constant {} : {}", vector ? "dense<" + number + ">" : number, type);
}

std::string BodyText(const Nest& nest, const std::string& type, const LetFunction& let,
                     const std::function<std::string(const Scalar&)>& leaf) {
  const bool floating = InfoOf(nest.element).floating;
  const auto two = [&](const char* of_floats, const char* of_integers, const std::string& a,
                       const std::string& b) {
    // Products may be fused into sums, which rounds once less.
    return let(floating ? fmt::format("{} {}, {} fastmath<contract> : {}", of_floats, a, b, type)
                        : fmt::format("{} {}, {} : {}", of_integers, a, b, type));
  };
  const auto one = [&](const char* name, const std::string& a) {
    return let(fmt::format("{} {} : {}", name, a, type));
  };
  const auto constant = [&](double value) { return let(ConstantText(value, nest.element, type)); };
  // `yes` where x and y compare so, else `no`.
  const auto choose = [&](const char* of_floats, const char* of_integers, const std::string& x,
                          const std::string& y, const std::string& yes, const std::string& no) {
    const std::string holds =
        let(fmt::format("arith.{} {}, {}, {} : {}", floating ? "cmpf" : "cmpi",
                        floating ? of_floats : of_integers, x, y, type));
    std::string condition;  // of vectors: a vector of as many
    if (type.rfind("vector", 0) == 0) condition = type.substr(0, type.rfind('x')) + "xi1>, ";
    return let(fmt::format("arith.select {}, {}, {} : {}{}", holds, yes, no, condition, type));
  };
  std::vector<std::string> nodes;
  for (const Scalar& node : nest.body) {
    const auto of = [&](int i) { return nodes[static_cast<size_t>(i)]; };
    std::string value;
    switch (node.kind) {
      case Scalar::kRead:
      case Scalar::kWhole:
        value = leaf(node);
        break;
      case Scalar::kConstant:
        value = constant(node.value);
        break;
      case Scalar::kAdd:
        value = two("arith.addf", "arith.addi", of(node.a), of(node.b));
        break;
      case Scalar::kSubtract:
        value = two("arith.subf", "arith.subi", of(node.a), of(node.b));
        break;
      case Scalar::kMultiply:
        value = two("arith.mulf", "arith.muli", of(node.a), of(node.b));
        break;
      case Scalar::kDivide:
        value = two("arith.divf", "arith.divsi", of(node.a), of(node.b));
        break;
      case Scalar::kMaximum:
        value = two("arith.maximumf", "arith.maxsi", of(node.a), of(node.b));
        break;
      case Scalar::kMinimum:
        value = two("arith.minimumf", "arith.minsi", of(node.a), of(node.b));
        break;
      case Scalar::kExp:
        value = one("math.exp", of(node.a));
        break;
      case Scalar::kLog:
        value = one("math.log", of(node.a));
        break;
      case Scalar::kExpm1:
        value = one("math.expm1", of(node.a));
        break;
      case Scalar::kLog1p:
        value = one("math.log1p", of(node.a));
        break;
      case Scalar::kTanh:
        value = one("math.tanh", of(node.a));
        break;
      case Scalar::kSqrt:
        value = one("math.sqrt", of(node.a));
        break;
      case Scalar::kRsqrt:
        value = two("arith.divf", "", constant(1), one("math.sqrt", of(node.a)));
        break;
      case Scalar::kNegate:
        value = floating ? one("arith.negf", of(node.a))
                         : two("", "arith.subi", constant(0), of(node.a));
        break;
      case Scalar::kAbs:
        value = one(floating ? "math.absf" : "math.absi", of(node.a));
        break;
      case Scalar::kLogistic: {
        const std::string grown = one("math.exp", one("arith.negf", of(node.a)));
        value = two("arith.divf", "", constant(1), two("arith.addf", "", constant(1), grown));
        break;
      }
      case Scalar::kSelect:
        value = choose("une", "ne", of(node.c), constant(0), of(node.a), of(node.b));
        break;
      case Scalar::kEqual:
        value = choose("oeq", "eq", of(node.a), of(node.b), constant(1), constant(0));
        break;
      case Scalar::kNotEqual:
        value = choose("une", "ne", of(node.a), of(node.b), constant(1), constant(0));
        break;
      case Scalar::kLess:
        value = choose("olt", "slt", of(node.a), of(node.b), constant(1), constant(0));
        break;
      case Scalar::kLessEqual:
        value = choose("ole", "sle", of(node.a), of(node.b), constant(1), constant(0));
        break;
    }
    nodes.push_back(value);
  }
  return nodes.back();
}

}  // namespace hone::loops
