#include "jobs/given_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/program_graph.h"
#include "jobs/npz.h"

namespace hone::jobs {
namespace {

constexpr int kMostSets = 1000;

std::optional<int> NumberOf(const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ptr != end || text.empty()) return std::nullopt;
  return number;
}

std::string ShapeText(const std::string& type, const std::vector<int64_t>& dimensions) {
  return fmt::format("{}[{}]", type, fmt::join(dimensions, ","));
}

// An array that the program is passed.
struct Wanted {
  std::string name;  // of the parameter
  ShapeInfo shape;
};

void Leaves(const std::string& name, const ShapeInfo& shape, std::vector<Wanted>* wanted) {
  if (shape.type != "tuple") return wanted->push_back({name, shape});
  for (size_t k = 0; k < shape.tuple.size(); ++k) {
    Leaves(fmt::format("{}.{}", name, k), shape.tuple[k], wanted);
  }
}

std::vector<Wanted> WantedBy(const ProgramGraph& program) {
  std::map<int32_t, const InstructionInfo*> parameters;
  for (const InstructionInfo& instruction : program.computations.back().instructions) {
    if (instruction.parameter >= 0) parameters[instruction.parameter] = &instruction;
  }
  std::vector<Wanted> wanted;
  for (const auto& [number, parameter] : parameters) {
    Leaves(parameter->name, parameter->shape, &wanted);
  }
  return wanted;
}

// The number at the end of arr_3, a3 or 3.
std::optional<size_t> PlaceOf(const std::string& name) {
  size_t begin = name.rfind("arr_", 0) == 0 ? 4 : name.rfind('a', 0) == 0 ? 1 : 0;
  size_t place = 0;
  const char* const end = name.data() + name.size();
  if (begin >= name.size() || std::from_chars(name.data() + begin, end, place).ptr != end) {
    return std::nullopt;
  }
  return place;
}

// An integer, of which numpy has one in the low bits of each byte.
bool IsOfLessThanAByte(const std::string& type) {
  for (const char* narrow : {"s1", "s2", "s4", "u1", "u2", "u4"}) {
    if (type == narrow) return true;
  }
  return false;
}

StatusOr<std::vector<std::string>> Match(std::vector<NamedArray> arrays,
                                         const std::vector<Wanted>& wanted) {
  std::vector<std::string> names;
  for (const Wanted& one : wanted) {
    names.push_back(
        fmt::format("{} {}", one.name, ShapeText(one.shape.type, one.shape.dimensions)));
  }
  const std::string all =
      fmt::format("the program takes {} arrays: {}", wanted.size(), fmt::join(names, ", "));
  if (arrays.size() != wanted.size()) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("it has {} arrays; {}", arrays.size(), all));
  }
  std::vector<std::string> bytes(wanted.size());
  std::vector<bool> had(wanted.size(), false);
  for (NamedArray& array : arrays) {
    std::optional<size_t> place;
    for (size_t k = 0; k < wanted.size() && !place; ++k) {
      if (wanted[k].name == array.name) place = k;
    }
    if (!place) place = PlaceOf(array.name);
    if (!place || *place >= wanted.size() || had[*place]) {
      return MakeError(
          ErrorCode::kInvalidInput,
          fmt::format("array {} is none of the parameters; name arrays as they are, or "
                      "arr_0, arr_1, … in their order; {}",
                      array.name, all));
    }
    const ShapeInfo& shape = wanted[*place].shape;
    // Types that numpy lacks come as raw bytes, or as integers of their width.
    const bool raw = (array.type == "raw16" || array.type == "u16") && shape.type == "bf16";
    const bool raw_byte = (array.type == "raw8" || array.type == "u8") &&
                          (shape.type.rfind("f8", 0) == 0 || shape.type.rfind("f4", 0) == 0);
    const bool low_bits = IsOfLessThanAByte(shape.type) &&
                          (array.type == "raw8" || array.type == "s8" || array.type == "u8");
    if ((array.type != shape.type && !raw && !raw_byte && !low_bits) ||
        array.dimensions != shape.dimensions) {
      return MakeError(
          ErrorCode::kInvalidInput,
          fmt::format("array {} is {}, parameter {} ({}) is {}; {}", array.name,
                      ShapeText(array.type, array.dimensions), *place, wanted[*place].name,
                      ShapeText(shape.type, shape.dimensions), all));
    }
    had[*place] = true;
    bytes[*place] = std::move(array.bytes);
  }
  return bytes;
}

StatusOr<std::vector<std::string>> ReadSet(const std::string& path,
                                           const std::vector<Wanted>& wanted) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorCode::kInvalidInput, "it cannot be read");
  const std::string data{std::istreambuf_iterator<char>(file), {}};
  StatusOr<std::vector<NamedArray>> arrays = ReadNpz(data);
  if (!arrays) return tl::unexpected(arrays.error());
  return Match(*std::move(arrays), wanted);
}

// What `hone record` kept beside a module; "" where there is nothing.
std::string KeptBeside(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path program(path);
  std::error_code error;
  if (program.extension() != ".pb" || !fs::exists(program.parent_path() / "index.json", error)) {
    return "";
  }
  fs::path kept = program;
  kept.replace_extension(".npz");
  return fs::exists(kept, error) ? kept.string() : "";
}

}  // namespace

Status GivenInputs::Read(Pool& pool, const ProgramInfo& program, const std::string& path,
                         CompareOptions* compare) const {
  std::vector<std::string> files;
  for (const std::string& text : texts) {
    if (const auto number = NumberOf(text)) {
      compare->inputs = *number;
    } else {
      files.push_back(text);
    }
  }
  const std::string kept = files.empty() ? KeptBeside(path) : "";
  if (!kept.empty()) files.push_back(kept);
  if (files.empty()) return {};
  const StatusOr<ProgramGraph> graph = pool.Describe({program.id, {}});
  if (!graph) return tl::unexpected(graph.error());
  const std::vector<Wanted> wanted = WantedBy(*graph);
  for (const std::string& file : files) {
    StatusOr<std::vector<std::string>> set = ReadSet(file, wanted);
    if (set) {
      compare->given.push_back(*std::move(set));
    } else if (kept.empty()) {
      return MakeError(set.error().code, "--inputs " + file + ": " + set.error().message);
    }
  }
  return {};
}

std::string WhyNoInputs(const std::string& text) {
  if (const auto number = NumberOf(text)) {
    return *number >= 1 && *number <= kMostSets
               ? ""
               : fmt::format("{} is not in 1 to {}", text, kMostSets);
  }
  std::error_code error;
  return std::filesystem::is_regular_file(text, error) ? ""
                                                       : text + " is neither a number nor a file";
}

}  // namespace hone::jobs
