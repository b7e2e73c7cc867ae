#include "loops/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/fnv.h"
#include "loops/infer.h"

namespace hone::loops {
namespace {

const std::set<std::string, std::less<>>& Unary() {
  static const std::set<std::string, std::less<>> kinds = {
      "abs", "exp", "expm1", "log", "log1p", "logistic", "negate", "relu", "rsqrt", "sqrt", "tanh"};
  return kinds;
}
const std::set<std::string, std::less<>>& Binary() {
  static const std::set<std::string, std::less<>> kinds = {
      "add",     "divide",  "equal",    "less",      "less_equal",
      "maximum", "minimum", "multiply", "not_equal", "subtract"};
  return kinds;
}

// With `names`, else tensors are numbered.
std::string Text(const Task& task, bool names) {
  std::string text = names ? "task " + task.name + "\n" : "task t\n";
  const auto name = [&](int tensor) {
    return names ? task.tensors[static_cast<size_t>(tensor)].name : fmt::format("t{}", tensor);
  };
  for (int i = 0; i < task.inputs; ++i) {
    const Tensor& tensor = task.tensors[static_cast<size_t>(i)];
    text += fmt::format("input {} {}[{}]\n", name(i), InfoOf(tensor.element).name,
                        fmt::join(tensor.shape, ","));
  }
  for (const Operation& op : task.operations) {
    text += fmt::format("{} {} {}", name(op.result), op.definition ? ":=" : "=", op.kind);
    for (const int operand : op.operands) text += " " + name(operand);
    if (op.kind == "constant") text += fmt::format(" value={}", op.value);
    for (const auto& [key, values] : op.attributes) {
      text += fmt::format(" {}={}", key, fmt::join(values, ","));
    }
    text += "\n";
  }
  for (const int output : task.outputs) text += "output " + name(output) + "\n";
  return text;
}

double Product(const Shape& shape) {
  double product = 1;
  for (const int64_t size : shape) product *= static_cast<double>(size);
  return product;
}

}  // namespace

int64_t Tensor::elements() const {
  int64_t elements = 1;
  for (const int64_t size : shape) elements *= size;
  return elements;
}

std::vector<int64_t> Operation::Get(const std::string& name, size_t count, int64_t other) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::vector<int64_t>(count, other) : found->second;
}

bool IsUnary(std::string_view kind) { return Unary().count(kind) != 0; }
bool IsBinary(std::string_view kind) { return Binary().count(kind) != 0; }
bool IsRunning(std::string_view kind) { return kind.rfind("running_", 0) == 0; }
bool Sorts(std::string_view kind) { return kind == "sort" || kind == "argsort"; }
bool IsFactor(std::string_view kind) {
  return kind == "lu" || kind == "cholesky" || kind == "solve" || kind == "exchanges";
}
bool IsPointwise(std::string_view kind) {
  return IsUnary(kind) || IsBinary(kind) || kind == "broadcast" || kind == "constant" ||
         kind == "transpose" || kind == "select" || kind == "slice" || RoundedTo(kind);
}
std::optional<Element> RoundedTo(std::string_view kind) {
  constexpr std::string_view kTo = "to_";
  if (kind.substr(0, kTo.size()) != kTo) return std::nullopt;
  const ElementInfo* const info = FindElement(kind.substr(kTo.size()));
  if (info == nullptr || !info->narrow() || !info->floating) return std::nullopt;
  if (info->widening == Widening::kRounds) return std::nullopt;
  return info->element;
}

const std::vector<std::string>& OperationKinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> all = {
        "matmul",      "batch_matmul",    "conv2d",    "pool_max", "pool_sum",
        "reduce_sum",  "reduce_max",      "transpose", "softmax",  "layer_norm",
        "attention",   "constant",        "broadcast", "select",   "scores",
        "attend",      "product",         "convolve",  "slice",    "running_sum",
        "running_max", "running_product", "depthwise", "sort",     "argsort",
        "lu",          "cholesky",        "solve",     "exchanges"};
    for (const ElementInfo& info : kElements) {
      const std::string kind = std::string("to_") + info.name;
      if (RoundedTo(kind)) all.push_back(kind);
    }
    all.insert(all.end(), Unary().begin(), Unary().end());
    all.insert(all.end(), Binary().begin(), Binary().end());
    return all;
  }();
  return kinds;
}

std::string TaskText(const Task& task) { return Text(task, /*names=*/true); }

Fingerprint FingerprintOf(const Task& task) {
  const std::string text = Text(task, /*names=*/false);
  return {Fnv1a(text), Fnv1a(text + "2")};
}

double Flops(const Task& task) {
  double flops = 0;
  for (const Operation& op : task.operations) {
    const auto shape = [&](size_t operand) -> const Shape& {
      return task.tensors[static_cast<size_t>(op.operands[operand])].shape;
    };
    const double out = Product(task.tensors[static_cast<size_t>(op.result)].shape);
    if (op.kind == "matmul" || op.kind == "batch_matmul") {
      flops += 2 * out * static_cast<double>(shape(0).back());
    } else if (op.kind == "conv2d") {
      flops += 2 * out * Product(shape(1)) / static_cast<double>(shape(1)[0]);
    } else if (op.kind == "pool_max" || op.kind == "pool_sum") {
      flops += out * Product(op.Get("window", 2, 1));
    } else if (op.kind == "attention") {
      const double scores = Product({shape(0)[0], shape(0)[1], shape(0)[2], shape(1)[2]});
      flops += 2 * scores * static_cast<double>(shape(0)[3] + shape(2)[3]) + 4 * scores;
    } else if (op.kind == "scores") {
      flops += 2 * out * static_cast<double>(shape(0).back());
    } else if (op.kind == "convolve") {
      flops += 2 * out * Product(shape(1)) / static_cast<double>(shape(1).back());
    } else if (op.kind == "depthwise") {
      flops += 2 * out * Product(shape(1)) / static_cast<double>(shape(1).back());
    } else if (op.kind == "product") {
      flops += 2 * out * static_cast<double>(shape(0).back());
    } else if (op.kind == "attend") {
      flops += Product(shape(0)) * (4 + 2 * static_cast<double>(shape(1).back()));
    } else if (Sorts(op.kind)) {
      flops += out * std::ceil(std::log2(1 + shape(0).back()));
    } else if (IsFactor(op.kind)) {
      flops += Product(shape(0)) * static_cast<double>(op.kind == "solve" ? shape(1)[2] : shape(0)[1]);
    } else if (op.kind == "softmax") {
      flops += 4 * out;
    } else if (op.kind == "layer_norm") {
      flops += 7 * out;
    } else if (op.kind != "transpose" && op.kind != "broadcast" && op.kind != "constant" &&
               op.kind != "slice") {
      flops += std::max(out, Product(shape(0)));
    }
  }
  return flops;
}

double Bytes(const Task& task) {
  double bytes = 0;
  for (size_t i = 0; i < task.tensors.size(); ++i) {
    const bool input = static_cast<int>(i) < task.inputs;
    if (input || std::count(task.outputs.begin(), task.outputs.end(), static_cast<int>(i)) != 0) {
      bytes += static_cast<double>(task.tensors[i].bytes());
    }
  }
  return bytes;
}

double StoredBytes(const Task& task) {
  double bytes = 0;
  for (size_t i = 0; i < task.tensors.size(); ++i) {
    if (!task.Defines(static_cast<int>(i))) bytes += static_cast<double>(task.tensors[i].bytes());
  }
  return bytes;
}

}  // namespace hone::loops
