// Reads a task's text form (task.h): line by line, so that what is wrong is said of its line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "core/lines.h"
#include "loops/infer.h"
#include "loops/task.h"

namespace hone::loops {
namespace {

// Indices stay far from overflow, and a slip of the keyboard does not take all memory.
constexpr int64_t kMostElements = int64_t{1} << 32;
constexpr size_t kMostLines = 1000;

bool IsName(std::string_view word) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !word.empty() && word.size() <= 64 && letter(word[0]) &&
         std::all_of(word.begin(), word.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

// "3,4" as numbers; false where it is something else.
bool Numbers(std::string_view text, std::vector<int64_t>* numbers) {
  if (text.empty()) return true;
  while (true) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    numbers->push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return true;
    if (text[0] != ',') return false;
    text.remove_prefix(1);
  }
}

struct Kind {
  size_t operands;
  std::vector<std::string> attributes;
};

const Kind* FindKind(std::string_view name) {
  static const std::map<std::string, Kind, std::less<>> kinds = {
      {"matmul", {2, {}}},
      {"batch_matmul", {2, {}}},
      {"conv2d", {2, {"dilations", "strides"}}},
      {"pool_max", {1, {"strides", "window"}}},
      {"pool_sum", {1, {"strides", "window"}}},
      {"reduce_sum", {1, {"axes"}}},
      {"reduce_max", {1, {"axes"}}},
      {"running_sum", {1, {"reverse"}}},
      {"running_max", {1, {"reverse"}}},
      {"running_product", {1, {"reverse"}}},
      {"sort", {1, {}}},
      {"argsort", {1, {}}},
      {"lu", {1, {}}},
      {"cholesky", {1, {}}},
      {"exchanges", {1, {}}},
      {"solve", {2, {"lower", "transposed", "unit"}}},
      {"transpose", {1, {"permutation"}}},
      {"slice", {1, {"sizes", "starts"}}},
      {"broadcast", {1, {"dimensions", "sizes"}}},
      {"constant", {1, {"value"}}},
      {"select", {3, {}}},
      {"softmax", {1, {}}},
      {"layer_norm", {3, {}}},
      {"attention", {3, {}}},
      {"scores", {2, {}}},
      {"product", {2, {"permutation"}}},
      {"convolve", {2, {"dilations", "pads", "permutation", "sizes", "strides"}}},
      {"depthwise", {2, {"dilations", "pads", "sizes", "strides"}}},
      {"attend", {2, {"permutation", "until"}}}};
  static const Kind unary{1, {}};
  static const Kind binary{2, {}};
  if (IsUnary(name) || RoundedTo(name)) return &unary;
  if (IsBinary(name)) return &binary;
  const auto found = kinds.find(name);
  return found == kinds.end() ? nullptr : &found->second;
}

// Whether the operand of that number may be a definition that moves what is stored.
bool TakesSpread(std::string_view kind, size_t operand) {
  return kind == "scores" || kind == "attend" || kind == "product" || kind == "convolve" ||
         (kind == "depthwise" && operand == 1);
}
// Whether such a definition may broadcast.
bool TakesBroadcast(std::string_view kind) { return kind != "convolve" && kind != "depthwise"; }

// What may be a definition that a nest with a text of its own makes as a whole.
bool MadeWhole(std::string_view kind) {
  return kind == "scores" || kind == "product" || kind == "convolve" || kind == "depthwise";
}

class Parser {
 public:
  StatusOr<Task> Parse(std::string_view text) {
    size_t number = 0;
    while (!text.empty()) {
      const std::string_view line = TakeLine(text);
      ++number;
      const auto words = WordsOf(line.substr(0, line.find('#')));
      if (words.empty()) continue;
      if (number > kMostLines) return MakeError(ErrorCode::kInvalidInput, "more than 1000 lines");
      if (Status done = Line(words); !done) {
        return MakeError(ErrorCode::kInvalidInput,
                         fmt::format("line {}: {}", number, done.error().message));
      }
    }
    if (task_.name.empty()) return Wrong("the first line must be `task NAME`");
    if (task_.operations.empty()) return Wrong("it has no operations");
    if (task_.outputs.empty()) return Wrong("it has no outputs");
    return task_;
  }

 private:
  static tl::unexpected<Error> Wrong(std::string what) {
    return MakeError(ErrorCode::kInvalidInput, std::move(what));
  }

  Status Line(const std::vector<std::string_view>& words) {
    if (words[0] == "task") {
      if (!task_.name.empty() || words.size() != 2 || !IsName(words[1])) {
        return Wrong("it must be `task NAME`, once");
      }
      task_.name = words[1];
      return {};
    }
    if (task_.name.empty()) return Wrong("the first line must be `task NAME`");
    if (words[0] == "input") return Input(words);
    if (words[0] == "output") return Output(words);
    if (words.size() >= 3 && (words[1] == "=" || words[1] == ":=")) return Operate(words);
    return Wrong("expected `input NAME TYPE[SHAPE]`, `NAME = KIND OPERANDS` or `output NAME`");
  }

  Status Define(std::string_view name) {
    if (!IsName(name)) return Wrong("`" + std::string(name) + "` is no name");
    if (names_.count(std::string(name)) != 0) return Wrong(std::string(name) + " is defined twice");
    names_[std::string(name)] = static_cast<int>(task_.tensors.size());
    return {};
  }

  Status Add(std::string_view name, Element element, Shape shape) {
    if (Status defined = Define(name); !defined) return defined;
    int64_t elements = 1;
    for (const int64_t size : shape) {
      if (size < 1) return Wrong("sizes are positive");
      if (size > kMostElements / elements) return Wrong("a tensor has at most 2^32 elements");
      elements *= size;
    }
    if (shape.empty() || shape.size() > kMostRank) return Wrong("a tensor has 1 to 6 dimensions");
    task_.tensors.push_back({std::string(name), element, std::move(shape)});
    return {};
  }

  Status Input(const std::vector<std::string_view>& words) {
    if (!task_.operations.empty()) return Wrong("inputs come before operations");
    const size_t bracket = words.size() == 3 ? words[2].find('[') : std::string_view::npos;
    if (bracket == std::string_view::npos || words[2].back() != ']') {
      return Wrong("expected `input NAME TYPE[SHAPE]`");
    }
    const std::string_view type = words[2].substr(0, bracket);
    Shape shape;
    if (!Numbers(words[2].substr(bracket + 1, words[2].size() - bracket - 2), &shape)) {
      return Wrong("`" + std::string(words[2]) + "` is no type with a shape");
    }
    const ElementInfo* const info = FindElement(type);
    if (info == nullptr) {
      std::vector<const char*> names;
      for (const ElementInfo& each : kElements) names.push_back(each.name);
      return Wrong(
          fmt::format("there is no element type {}; there are {}", type, fmt::join(names, ", ")));
    }
    Status added = Add(words[1], info->element, std::move(shape));
    if (added) ++task_.inputs;
    return added;
  }

  Status Output(const std::vector<std::string_view>& words) {
    if (words.size() != 2) return Wrong("expected `output NAME`");
    const auto found = names_.find(std::string(words[1]));
    if (found == names_.end()) return Wrong("there is no " + std::string(words[1]));
    if (found->second < task_.inputs) return Wrong("an output is an operation's result");
    if (task_.Defines(found->second)) return Wrong("an output is stored: `=`, not `:=`");
    if (std::count(task_.outputs.begin(), task_.outputs.end(), found->second) != 0) {
      return Wrong(std::string(words[1]) + " is an output already");
    }
    task_.outputs.push_back(found->second);
    return {};
  }

  // Defined by transposes, and broadcasts where they may be, of a stored tensor alone.
  bool IsSpread(int tensor, bool may_broadcast) const {
    while (task_.Defines(tensor)) {
      const Operation& op = task_.operations[static_cast<size_t>(tensor - task_.inputs)];
      if (op.kind != "transpose" && (op.kind != "broadcast" || !may_broadcast)) return false;
      tensor = op.operands[0];
    }
    return true;
  }

  // What takes scores, or a product that is not stored, keeps to what is allowed.
  Status Whole(const Operation& op) {
    const bool makes = op.definition && MadeWhole(op.kind);
    int whole = makes ? op.result : -1;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const auto found = whole_.find(op.operands[i]);
      if (found == whole_.end()) continue;
      if (op.kind == "constant") return {};  // has their shape
      const std::string& kind = KindOf(found->second);
      const bool attends = kind == "scores" && op.kind == "attend" && i == 0;
      const bool elementwise = (op.definition || kind != "scores") && IsPointwise(op.kind) &&
                               op.kind != "broadcast" && op.kind != "transpose" &&
                               task_.tensors[static_cast<size_t>(op.operands[i])].shape ==
                                   task_.tensors[static_cast<size_t>(op.result)].shape;
      if (!attends && !elementwise) {
        return Wrong(kind == "scores"
                         ? op.kind + ": scores are for elementwise definitions and `attend`"
                         : op.kind + ": a " + kind +
                               " that is not stored is for elementwise operations");
      }
      if (whole >= 0 && whole != found->second) {
        return Wrong(fmt::format("{}: of two {}", op.kind,
                                 kind == "scores" ? "scores" : "that are not stored"));
      }
      whole = found->second;
    }
    if (op.kind == "attend") {
      return whole >= 0 && KindOf(whole) == "scores" ? Status() : Wrong("attend takes no scores");
    }
    if (whole >= 0 && op.definition) whole_[op.result] = whole;
    return {};
  }
  const std::string& KindOf(int result) const {
    return task_.operations[static_cast<size_t>(result - task_.inputs)].kind;
  }

  Status Operate(const std::vector<std::string_view>& words) {
    Operation op;
    op.kind = words[2];
    op.definition = words[1] == ":=";
    const Kind* const kind = FindKind(op.kind);
    if (kind == nullptr) {
      return Wrong(fmt::format("there is no operation {}; there are {}", op.kind,
                               fmt::join(OperationKinds(), ", ")));
    }
    std::vector<Shape> shapes;
    bool has_value = false;
    for (size_t i = 3; i < words.size(); ++i) {
      const size_t equals = words[i].find('=');
      if (equals != std::string_view::npos) {
        const std::string name(words[i].substr(0, equals));
        if (std::count(kind->attributes.begin(), kind->attributes.end(), name) == 0) {
          return Wrong(op.kind + " has no attribute " + name);
        }
        if (name == "value") {
          const std::string text(words[i].substr(equals + 1));
          char* end = nullptr;
          op.value = std::strtod(text.c_str(), &end);
          if (text.empty() || *end != 0 || std::isnan(op.value)) {
            return Wrong("`" + text + "` is no number");
          }
          has_value = true;
          continue;
        }
        std::vector<int64_t> values;
        if (!Numbers(words[i].substr(equals + 1), &values) || values.empty()) {
          return Wrong("`" + std::string(words[i]) +
                       "`: expected numbers with commas between them");
        }
        op.attributes[name] = std::move(values);
        continue;
      }
      const auto found = names_.find(std::string(words[i]));
      if (found == names_.end()) return Wrong("there is no " + std::string(words[i]));
      op.operands.push_back(found->second);
      shapes.push_back(task_.tensors[static_cast<size_t>(found->second)].shape);
    }
    if (op.operands.size() != kind->operands) {
      return Wrong(fmt::format("{} takes {} operand{}", op.kind, kind->operands,
                               kind->operands == 1 ? "" : "s"));
    }
    const Element element = WideOf(task_.tensors[static_cast<size_t>(op.operands[0])].element);
    const std::optional<Element> rounded = RoundedTo(op.kind);
    if (rounded && element != Element::kF32) return Wrong(op.kind + " rounds f32");
    if (rounded && op.definition) return Wrong(op.kind + " is stored: `=`, not `:=`");
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const int operand = op.operands[i];
      if (operand >= task_.inputs &&
          InfoOf(task_.tensors[static_cast<size_t>(operand)].element).narrow()) {
        return Wrong("what is rounded is for an output alone");
      }
      if (WideOf(task_.tensors[static_cast<size_t>(operand)].element) != element) {
        return Wrong("the operands' element types differ");
      }
      const bool may = IsPointwise(op.kind) || op.kind.rfind("reduce_", 0) == 0 ||
                       (op.kind == "attend" && operand == op.operands[0]) ||
                       (TakesSpread(op.kind, i) && IsSpread(operand, TakesBroadcast(op.kind)));
      if (task_.Defines(operand) && !may) {
        return Wrong(op.kind + " takes what is stored: `=`, not `:=`");
      }
    }
    const bool scores = op.kind == "scores";
    if (scores && !op.definition) return Wrong("scores are never stored: `:=`, not `=`");
    if (op.definition && !IsPointwise(op.kind) && !MadeWhole(op.kind)) {
      return Wrong(op.kind + " is stored: `=`, not `:=`");
    }
    if (op.kind == "slice" && (!op.definition || op.operands[0] >= task_.inputs)) {
      return Wrong("a slice is of an input, and never stored: `:=`, not `=`");
    }
    if (op.kind == "constant" && !has_value) return Wrong("constant: value=V is missing");
    if (op.kind == "constant" && !op.definition) {
      return Wrong("a constant is never stored: `:=`, not `=`");
    }
    if (op.kind == "constant" && !InfoOf(element).floating &&
        (std::floor(op.value) != op.value || std::fabs(op.value) > 0x1p31)) {
      return Wrong("a constant of integers is an integer");
    }
    static const std::set<std::string, std::less<>> of_integers = {
        "matmul",          "batch_matmul", "add",        "subtract",    "multiply",
        "maximum",         "minimum",      "relu",       "reduce_sum",  "reduce_max",
        "negate",          "pool_max",     "pool_sum",   "transpose",   "conv2d",
        "constant",        "broadcast",    "select",     "slice",       "equal",
        "not_equal",       "less",         "less_equal", "running_sum", "running_max",
        "running_product", "sort",         "argsort",    "exchanges"};
    if (!InfoOf(element).floating && of_integers.count(op.kind) == 0) {
      return Wrong(op.kind + " is for floating-point numbers");
    }
    StatusOr<Shape> shape = Infer(op, shapes);
    if (!shape) return tl::unexpected(shape.error());
    const Element made = op.kind == "argsort" ? Element::kI32 : rounded.value_or(element);
    if (Status added = Add(words[0], made, *std::move(shape)); !added) return added;
    op.result = static_cast<int>(task_.tensors.size()) - 1;
    for (auto it = op.attributes.begin(); it != op.attributes.end();) {  // defaults
      const bool all_ones = (it->first == "strides" || it->first == "dilations") &&
                            it->second == std::vector<int64_t>(2, 1);
      it = all_ones ? op.attributes.erase(it) : std::next(it);
    }
    task_.operations.push_back(op);
    return Whole(op);
  }

  Task task_;
  std::map<std::string, int> names_;
  std::map<int, int> whole_;  // what is computed of scores or a product's definition, and of which
};

}  // namespace

StatusOr<Task> ParseTask(std::string_view text) { return Parser().Parse(text); }

}  // namespace hone::loops
