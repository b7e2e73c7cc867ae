#include "loops/payload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "loops/body_text.h"
#include "loops/multiply_sizes.h"
#include "loops/own_text.h"

namespace hone::loops {
namespace {

std::string Shaped(const char* what, const std::vector<int64_t>& shape, Element element) {
  return fmt::format("{}<{}x{}>", what, fmt::join(shape, "x"), MlirType(element));
}

std::string Times(const char* what, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::string(what);
  return text;
}

// What a nest reads of an operand: where an index is a loop, MLIR takes the operand's size for the
// loop's, but a window or a slice may leave some of it out.
std::vector<int64_t> PartOf(const Nest& nest, const Access& read) {
  std::vector<int64_t> part = read.view;
  for (size_t d = 0; d < part.size(); ++d) {
    if (read.low.empty() && PlainLoop(read.rows[d]) < 0) continue;
    part[d] = 1;
    for (size_t i = 0; i < nest.loops.size(); ++i) {
      part[d] += read.rows[d][i] * (nest.loops[i].extent - 1);
    }
  }
  return part;
}

std::string MapText(const std::vector<Row>& rows, size_t loops) {
  std::string text = "affine_map<(";
  for (size_t i = 0; i < loops; ++i) text += fmt::format("{}d{}", i == 0 ? "" : ", ", i);
  text += ") -> (";
  for (size_t d = 0; d < rows.size(); ++d) {
    std::string index;
    for (size_t i = 0; i < loops; ++i) {
      if (rows[d][i] == 0) continue;
      if (!index.empty()) index += " + ";
      index += rows[d][i] == 1 ? fmt::format("d{}", i) : fmt::format("d{} * {}", i, rows[d][i]);
    }
    text += (d == 0 ? "" : ", ") + (index.empty() ? "0" : index);
  }
  return text + ")>";
}

// A function's lines; each value in it has a number for a name.
class Body {
 protected:
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += "    " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  template <class... Args>
  std::string Let(fmt::format_string<Args...> format, Args&&... args) {
    const std::string name = fmt::format("%{}", next_++);
    Line("{} = {}", name, fmt::format(format, std::forward<Args>(args)...));
    return name;
  }

  std::string text_;
  int next_ = 0;
};

class ModuleText : private Body {
 public:
  explicit ModuleText(const Scheduled& scheduled)
      : scheduled_(scheduled), program_(scheduled.program()) {}

  std::string Write() {
    values_.resize(program_.tensors.size());
    std::string arguments;
    for (int i = 0; i < program_.inputs; ++i) AddArgument(arguments, i);
    for (const int output : program_.outputs) AddArgument(arguments, output);
    for (int i = 0; i < program_.inputs; ++i) {
      const Tensor& tensor = At(i);
      values_[static_cast<size_t>(i)] = {Let("bufferization.to_tensor %arg{} restrict : {}", i,
                                             Shaped("memref", tensor.shape, tensor.element)),
                                         tensor.shape};
    }
    for (const Nest& nest : program_.nests) {
      if (nest.own_text()) {
        AddOwnText(nest);
      } else {
        AddNest(nest);
      }
    }
    for (const int output : program_.outputs) {
      if (program_.nests[static_cast<size_t>(program_.ProducerOf(output))].own_text()) continue;
      const Tensor& tensor = At(output);
      const std::string value = Seen(output, tensor.shape);
      Line(
          "bufferization.materialize_in_destination {} in restrict writable %arg{} : ({}, {}) -> "
          "()",
          value, output, Shaped("tensor", tensor.shape, tensor.element),
          Shaped("memref", tensor.shape, tensor.element));
    }
    return "module {\n  func.func @task(" + arguments + ") {\n" + text_ + "    return\n  }\n}\n";
  }

 private:
  struct Value {
    std::string name;
    std::vector<int64_t> shape;
  };

  const Tensor& At(int tensor) const { return program_.tensors[static_cast<size_t>(tensor)]; }

  void AddArgument(std::string& arguments, int tensor) {
    arguments += fmt::format("{}%arg{}: {} {{llvm.noalias}}", arguments.empty() ? "" : ", ", tensor,
                             Shaped("memref", At(tensor).shape, At(tensor).element));
  }

  // A row-major value, or buffer, in another shape, by way of one dimension.
  std::string Reshape(const std::string& value, const std::vector<int64_t>& from,
                      const std::vector<int64_t>& to, Element element,
                      const char* kind = "tensor") {
    if (from == to) return value;
    const int64_t elements =
        std::accumulate(from.begin(), from.end(), int64_t{1}, std::multiplies<>());
    const auto all = [](size_t rank) {
      std::vector<size_t> dimensions(rank);
      std::iota(dimensions.begin(), dimensions.end(), size_t{0});
      return fmt::format("[[{}]]", fmt::join(dimensions, ", "));
    };
    const std::string flat = Shaped(kind, {elements}, element);
    std::string now = value;
    if (from.size() > 1) {
      now = Let("{}.collapse_shape {} {} : {} into {}", kind, now, all(from.size()),
                Shaped(kind, from, element), flat);
    }
    if (to.size() > 1) {
      now = Let("{}.expand_shape {} {} output_shape [{}] : {} into {}", kind, now, all(to.size()),
                fmt::join(to, ", "), flat, Shaped(kind, to, element));
    }
    return now;
  }

  std::string Seen(int tensor, const std::vector<int64_t>& view) {
    const Value& value = values_[static_cast<size_t>(tensor)];
    HONE_CHECK(!value.name.empty());
    return Reshape(value.name, value.shape, view, At(tensor).element);
  }

  std::string Neutral(Combine combine, Element element) {
    if (combine == Combine::kSum) return Let("{}", ConstantText(0, element, MlirType(element)));
    const char* const least = element == Element::kF32   ? "0xFF800000"
                              : element == Element::kF64 ? "0xFFF0000000000000"
                                                         : "-2147483648";
    return Let("arith.constant {} : {}", least, MlirType(element));
  }

  // Works on buffers: a result of the task is written where it is wanted.
  void AddOwnText(const Nest& nest) {
    std::vector<std::string> buffers;
    const auto seen = [&](const std::string& buffer, const Access& access) {
      const Tensor& tensor = At(access.tensor);
      return Reshape(buffer, tensor.shape, access.view, tensor.element, "memref");
    };
    for (const Access& read : nest.reads) {
      const Tensor& tensor = At(read.tensor);
      buffers.push_back(seen(
          read.tensor < program_.inputs
              ? fmt::format("%arg{}", read.tensor)
              : Let("bufferization.to_memref {} read_only : {}", Seen(read.tensor, tensor.shape),
                    Shaped("memref", tensor.shape, tensor.element)),
          read));
    }
    const Tensor& result = At(nest.write.tensor);
    const std::string type = Shaped("memref", result.shape, result.element);
    const std::string made = program_.IsOutput(nest.write.tensor)
                                 ? fmt::format("%arg{}", nest.write.tensor)
                                 : Let("memref.alloc() : {}", type);
    buffers.push_back(seen(made, nest.write));
    text_ += OwnTextOf(nest).text(scheduled_.schedule(), nest, buffers);
    values_[static_cast<size_t>(nest.write.tensor)] = {
        Let("bufferization.to_tensor {} restrict : {}", made, type), result.shape};
  }

  void AddNest(const Nest& nest) {
    const char* const type = MlirType(nest.element);
    std::vector<std::string> values, types, maps;
    for (const Access& read : nest.reads) {
      std::string value = Seen(read.tensor, read.view);
      const std::vector<int64_t> part = PartOf(nest, read);
      if (part != read.view) {
        std::vector<int64_t> starts(part.size(), 0);
        for (size_t d = 0; d < read.low.size(); ++d) starts[d] = -read.low[d];
        value =
            Let("tensor.extract_slice {}[{}] [{}] [{}] : {} to {}", value, fmt::join(starts, ", "),
                fmt::join(part, ", "), Times("1", part.size()),
                Shaped("tensor", read.view, read.element), Shaped("tensor", part, read.element));
      }
      values.push_back(value);
      types.push_back(Shaped("tensor", part, read.element));
      maps.push_back(MapText(read.rows, nest.loops.size()));
    }
    maps.push_back(MapText(nest.write.rows, nest.loops.size()));
    const Element element = nest.write.element;
    const std::string out_type = Shaped("tensor", nest.write.view, element);
    std::string out;
    if (program_.IsOutput(nest.write.tensor)) {
      const Tensor& tensor = At(nest.write.tensor);
      out = Let("bufferization.to_tensor %arg{} restrict writable : {}", nest.write.tensor,
                Shaped("memref", tensor.shape, tensor.element));
      out = Reshape(out, tensor.shape, nest.write.view, element);
    } else {
      out = Let("tensor.empty() : {}", out_type);
    }
    if (nest.reduces()) {
      const std::string neutral = Neutral(nest.combine, nest.element);
      out =
          Let("linalg.fill {{site = \"{0}.fill\"}} ins({1} : {2}) outs({3} : {4}) -> {4} "
              "loc(\"{0}.fill\")",
              nest.site, neutral, type, out, out_type);
    }
    // Loops that no operand is as long as, a window's, get one that is only looked at for its
    // shape.
    std::vector<Row> window;
    std::vector<int64_t> extents;
    for (size_t i = 0; i < nest.loops.size(); ++i) {
      const auto tells = [&](const Access& access) {
        return std::any_of(access.rows.begin(), access.rows.end(),
                           [&](const Row& row) { return PlainLoop(row) == static_cast<int>(i); });
      };
      if (tells(nest.write) || std::any_of(nest.reads.begin(), nest.reads.end(), tells)) continue;
      window.emplace_back(nest.loops.size(), 0);
      window.back()[i] = 1;
      extents.push_back(nest.loops[i].extent);
    }
    if (!window.empty()) {
      const std::string shape = Shaped("tensor", extents, nest.element);
      values.push_back(Let("tensor.empty() : {}", shape));
      types.push_back(shape);
      maps.insert(maps.end() - 1, MapText(window, nest.loops.size()));
    }
    std::vector<std::string> iterators;
    for (const Loop& loop : nest.loops) {
      iterators.push_back(loop.reduction ? "\"reduction\"" : "\"parallel\"");
    }
    const std::string result =
        Let("linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} ins({} : {}) "
            "outs({} : {}) attrs = {{site = \"{}\"}} {{",
            fmt::join(maps, ", "), fmt::join(iterators, ", "), fmt::join(values, ", "),
            fmt::join(types, ", "), out, out_type, nest.site);
    AddBody(nest, !window.empty());
    Line("}} -> {} loc(\"{}\")", out_type, nest.site);
    values_[static_cast<size_t>(nest.write.tensor)] = {result, nest.write.view};
  }

  void AddBody(const Nest& nest, bool window) {
    const char* const type = MlirType(nest.element);
    const bool floating = InfoOf(nest.element).floating;
    std::string arguments;
    for (size_t i = 0; i < nest.reads.size(); ++i) {
      arguments += fmt::format("%r{}: {}, ", i, MlirType(nest.reads[i].element));
    }
    if (window) arguments += fmt::format("%window: {}, ", type);
    const char* const result = MlirType(nest.write.element);
    Line("^bb0({}%acc: {}):", arguments, result);
    const auto two = [&](const char* of_floats, const char* of_integers, const std::string& a,
                         const std::string& b) {
      return floating ? Let("{} {}, {} : {}", of_floats, a, b, type)
                      : Let("{} {}, {} : {}", of_integers, a, b, type);
    };
    const auto let = [&](const std::string& text) { return Let("{}", text); };
    std::string last = BodyText(nest, type, let, [&](const Scalar& node) {
      return WidenedText(fmt::format("%r{}", node.a),
                         nest.reads[static_cast<size_t>(node.a)].element,
                         /*lanes=*/0, let);
    });
    if (nest.combine == Combine::kSum) {
      // In any order: else no loop over a row could become vectors.
      last = floating ? Let("arith.addf %acc, {} fastmath<reassoc,contract> : {}", last, type)
                      : Let("arith.addi %acc, {} : {}", last, type);
    } else if (nest.combine == Combine::kMaximum) {
      last = two("arith.maximumf", "arith.maxsi", "%acc", last);
    }
    Line("linalg.yield {} : {}", NarrowedText(last, nest.write.element, /*lanes=*/0, let), result);
  }

  const Scheduled& scheduled_;
  const Program& program_;
  std::vector<Value> values_;  // of tensors, as they are now
};

// The steps of a schedule, one after another.
class ScriptText : private Body {
 public:
  explicit ScriptText(const Scheduled& scheduled) : scheduled_(scheduled) {}

  std::string Write() {
    const Program& program = scheduled_.program();
    containers_.resize(program.nests.size());
    fill_stays_.resize(program.nests.size(), false);
    for (const Nest& nest : program.nests) loops_.push_back(nest.loops);
    for (const Step& step : scheduled_.schedule()) {
      const size_t site = static_cast<size_t>(program.FindSite(step.site));
      if (program.nests[site].own_text()) continue;  // its text is made as the schedule says
      if (step.kind == StepKind::kInterchange) {
        const std::string op = Match(step.site);
        Let("transform.structured.interchange {} iterator_interchange = [{}] : ({}) -> {}", op,
            fmt::join(step.numbers, ", "), kType, kType);
        const std::vector<Loop> old = loops_[site];
        for (size_t i = 0; i < old.size(); ++i) {
          loops_[site][i] = old[static_cast<size_t>(step.numbers[i])];
        }
      } else if (step.kind == StepKind::kParallel || step.kind == StepKind::kTile) {
        Tile(step, site);
      } else if (step.kind == StepKind::kFuse) {
        FuseInto(step.producer, site);
        const int producer = program.FindSite(step.producer);
        if (program.nests[static_cast<size_t>(producer)].reduces()) {
          FuseInto(step.producer + ".fill", site);
        }
      }
    }
    return "module attributes {transform.with_named_sequence} {\n"
           "  transform.named_sequence @__transform_main(%m: !transform.any_op) {\n"
           "    %task = transform.structured.match ops{[\"func.func\"]} in %m : "
           "(!transform.any_op) -> !transform.any_op\n" +
           text_ + "    transform.yield\n  }\n}\n";
  }

 private:
  static constexpr const char* kType = "!transform.any_op";

  std::string Match(const std::string& site) {
    return Let("transform.structured.match attributes {{site = \"{0}\"}} in %m : ({1}) -> {1}",
               site, kType);
  }

  void Tile(const Step& step, size_t site) {
    const Nest& nest = scheduled_.program().nests[site];
    bool reduces = false;
    size_t tiled = 0;
    for (size_t i = 0; i < step.numbers.size(); ++i) {
      if (step.numbers[i] == 0) continue;
      ++tiled;
      reduces = reduces || loops_[site][i].reduction;
    }
    const std::string op = Match(step.site);
    const int at = next_++;
    if (reduces) {
      std::string types = kType;
      for (size_t i = 0; i < tiled; ++i) types += std::string(", ") + kType;
      Line(
          "%t{0}, %l{0}:{1} = transform.structured.tile_using_for {2} tile_sizes [{3}] : "
          "({4}) -> ({5})",
          at, tiled, op, fmt::join(step.numbers, ", "), kType, types);
      containers_[site].clear();
      fill_stays_[site] = true;
      return;
    }
    Line(
        "%t{0}, %l{0} = transform.structured.tile_using_forall {1} tile_sizes [{2}] : "
        "({3}) -> ({3}, {3})",
        at, op, fmt::join(step.numbers, ", "), kType);
    // A handle does not outlive changes around it; a name does.
    const std::string name = fmt::format("tiles{}", at);
    Line("transform.annotate %l{} \"{}\" : {}", at, name, kType);
    if (step.kind == StepKind::kTile)
      Line("transform.annotate %l{} \"sequential\" : {}", at, kType);
    containers_[site].push_back(name);
    if (nest.reduces() && !fill_stays_[site]) {
      FuseInto(nest.site + ".fill", site, containers_[site].size() - 1);
    }
  }

  // Into the site's tiles, level by level: from outside, only the outermost can be seen.
  void FuseInto(const std::string& producer, size_t site, size_t first_level = 0) {
    for (size_t level = first_level; level < containers_[site].size(); ++level) {
      const std::string op = Match(producer);
      const std::string container =
          Let("transform.structured.match attributes {{{0}}} in %m : ({1}) -> {1}",
              containers_[site][level], kType);
      const int at = next_++;
      Line(
          "%t{0}, %l{0} = transform.structured.fuse_into_containing_op {1} into {2} : "
          "({3}, {3}) -> ({3}, {3})",
          at, op, container, kType);
      // What was fused stays behind, unused; and two that take the same part of it take one.
      Line("transform.apply_dce to %task : {}", kType);
      Line("transform.apply_cse to %task : {}", kType);
    }
  }

  const Scheduled& scheduled_;
  std::vector<std::vector<std::string>>
      containers_;                        // the sites' tiles of shared loops, outer first
  std::vector<bool> fill_stays_;          // outside: a loop that reduces has been tiled
  std::vector<std::vector<Loop>> loops_;  // of the sites, in the order after the steps so far
};

}  // namespace

Payload MakePayload(const Scheduled& scheduled) {
  Payload payload;
  payload.module = ModuleText(scheduled).Write();
  payload.script = ScriptText(scheduled).Write();
  for (const Nest& nest : scheduled.program().nests) {
    if (nest.kind != NestKind::kMultiplies) continue;
    payload.unit =
        std::max(payload.unit, MultiplySizesOf(scheduled.schedule(), nest).unit());
  }
  for (const Step& step : scheduled.schedule()) {
    const int site = scheduled.program().FindSite(step.site);
    if (scheduled.program().nests[static_cast<size_t>(site)].own_text()) continue;
    if (step.kind == StepKind::kVectorize) {
      payload.vectorized.push_back(step.site);
      payload.vectorized.push_back(step.site + ".fill");
    } else if (step.kind == StepKind::kUnroll) {
      payload.unrolled.emplace_back(step.site, step.numbers[0]);
    }
  }
  return payload;
}

}  // namespace hone::loops
