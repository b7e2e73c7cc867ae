#include "cost/work.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace hone::cost {
namespace {

bool IsOneOf(std::string_view opcode, const std::set<std::string_view>& names) {
  return names.count(opcode) != 0;
}

// The numbers of a text, whatever lies between them.
std::vector<int64_t> NumbersIn(std::string_view text) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < text.size();) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (error != std::errc()) {
      ++i;
      continue;
    }
    numbers.push_back(number);
    i = static_cast<size_t>(end - text.data());
  }
  return numbers;
}

double DotFlops(const InstructionInfo& dot, const ComputationInfo& computation) {
  double depth = 1;
  if (!dot.operands.empty()) {
    const ShapeInfo& lhs = computation.instructions[dot.operands[0]].shape;
    for (int64_t dimension : NumbersIn(AttributeOf(dot, "lhs_contracting_dims"))) {
      if (dimension < 0 || dimension >= static_cast<int64_t>(lhs.dimensions.size())) continue;
      depth *= static_cast<double>(lhs.dimensions[static_cast<size_t>(dimension)]);
    }
  }
  return 2 * ElementsOf(dot.shape) * depth;
}

// Each element of the result is a sum over the kernel, but for its dimension of output features.
double ConvolutionFlops(const InstructionInfo& convolution, const ComputationInfo& computation) {
  const double results = ElementsOf(convolution.shape);
  const std::string_view labels = AttributeOf(convolution, "dim_labels");
  const size_t begin = labels.find('_');
  const size_t end = labels.find("->");
  if (convolution.operands.size() < 2 || begin == labels.npos || end == labels.npos) return results;
  const ShapeInfo& kernel = computation.instructions[convolution.operands[1]].shape;
  const size_t output = labels.substr(begin + 1, end - begin - 1).find('o');
  if (output >= kernel.dimensions.size()) return results;
  const double features = std::max<double>(1, static_cast<double>(kernel.dimensions[output]));
  return 2 * results * ElementsOf(kernel) / features;
}

double WindowElements(const InstructionInfo& instruction) {
  const std::string_view window = AttributeOf(instruction, "window");
  const size_t size = window.find("size=");
  if (size == window.npos) return 1;
  double elements = 1;
  const std::string_view rest = window.substr(size + 5);
  for (int64_t extent : NumbersIn(rest.substr(0, rest.find(' ')))) {
    elements *= static_cast<double>(std::max<int64_t>(extent, 1));
  }
  return elements;
}

double FirstOperandElements(const InstructionInfo& instruction,
                            const ComputationInfo& computation) {
  if (instruction.operands.empty()) return ElementsOf(instruction.shape);
  return ElementsOf(computation.instructions[instruction.operands[0]].shape);
}

}  // namespace

double ElementsOf(const ShapeInfo& shape) {
  double elements = 1;
  if (!shape.tuple.empty()) {
    elements = 0;
    for (const ShapeInfo& element : shape.tuple) elements += ElementsOf(element);
    return elements;
  }
  for (int64_t extent : shape.dimensions) elements *= static_cast<double>(extent);
  return elements;
}

std::string_view AttributeOf(const InstructionInfo& instruction, std::string_view name) {
  for (const auto& [known, text] : instruction.attributes) {
    if (known == name) return text;
  }
  return {};
}

double FlopsOf(const InstructionInfo& instruction, const ComputationInfo& computation) {
  static const std::set<std::string_view> kMoves = {"parameter",
                                                    "constant",
                                                    "tuple",
                                                    "get-tuple-element",
                                                    "bitcast",
                                                    "bitcast-convert",
                                                    "copy",
                                                    "reshape",
                                                    "transpose",
                                                    "broadcast",
                                                    "slice",
                                                    "dynamic-slice",
                                                    "dynamic-update-slice",
                                                    "pad",
                                                    "concatenate",
                                                    "reverse",
                                                    "gather",
                                                    "iota",
                                                    "while",
                                                    "call",
                                                    "conditional",
                                                    "fusion",
                                                    "after-all",
                                                    "custom-call",
                                                    "copy-start",
                                                    "copy-done",
                                                    "opt-barrier",
                                                    "domain",
                                                    "add-dependency",
                                                    "partition-id",
                                                    "replica-id",
                                                    "async-start",
                                                    "async-done",
                                                    "async-update",
                                                    "get-dimension-size",
                                                    "rng-get-and-update-state",
                                                    "dynamic-reshape"};
  static const std::set<std::string_view> kTranscendental = {"exponential", "exponential-minus-one",
                                                             "log",         "log-plus-one",
                                                             "tanh",        "sine",
                                                             "cosine",      "tan",
                                                             "power",       "atan2",
                                                             "logistic",    "erf",
                                                             "cbrt"};
  static const std::set<std::string_view> kSlow = {"divide", "sqrt", "rsqrt", "remainder"};
  const std::string_view opcode = instruction.opcode;
  const double results = ElementsOf(instruction.shape);
  if (IsOneOf(opcode, kMoves)) return 0;
  if (opcode == "dot") return DotFlops(instruction, computation);
  if (opcode == "convolution") return ConvolutionFlops(instruction, computation);
  if (opcode == "reduce" || opcode == "map") return FirstOperandElements(instruction, computation);
  if (opcode == "reduce-window" || opcode == "select-and-scatter") {
    return results * WindowElements(instruction);
  }
  if (opcode == "sort") {
    const double elements = FirstOperandElements(instruction, computation);
    return 4 * elements * std::log2(std::max(elements, 2.0));
  }
  if (IsOneOf(opcode, kTranscendental)) return 12 * results;
  if (IsOneOf(opcode, kSlow)) return 4 * results;
  return results;
}

}  // namespace hone::cost
