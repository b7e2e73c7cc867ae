#include "compiler/run/shared_inputs.h"

#include <cstring>
#include <list>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

constexpr int64_t kMostKeptBytes = int64_t{768} << 20;
constexpr size_t kMostKept = 8;

struct Made {
  std::vector<InputRole> roles;
  InputKind kind;
  uint64_t seed;
  std::shared_ptr<const Arrays> arrays;
  int64_t bytes;
};

bool Same(const InputRole& a, const InputRole& b) {
  return xla::ShapeUtil::Equal(a.shape, b.shape) && a.index_bound == b.index_bound &&
         a.random_bits == b.random_bits && a.positive == b.positive &&
         a.positive_definite == b.positive_definite && a.fan_in == b.fan_in;
}

bool Same(const std::vector<InputRole>& a, const std::vector<InputRole>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Arrays>> SharedInputs(const std::vector<InputRole>& roles,
                                                           InputKind kind, uint64_t seed) {
  static std::mutex* const mutex = new std::mutex;
  static std::list<Made>* const made = new std::list<Made>;  // the most recently used first
  const std::lock_guard<std::mutex> lock(*mutex);
  for (auto it = made->begin(); it != made->end(); ++it) {
    if (it->kind != kind || it->seed != seed || !Same(it->roles, roles)) continue;
    made->splice(made->begin(), *made, it);
    return made->front().arrays;
  }
  absl::StatusOr<Arrays> arrays = MakeInputs(roles, kind, seed);
  if (!arrays.ok()) return arrays.status();
  int64_t bytes = 0;
  for (const xla::Literal& array : *arrays) bytes += array.size_bytes();
  auto shared = std::make_shared<const Arrays>(*std::move(arrays));
  made->push_front({roles, kind, seed, shared, bytes});
  int64_t kept = 0;
  for (const Made& one : *made) kept += one.bytes;
  while (!made->empty() && (kept > kMostKeptBytes || made->size() > kMostKept)) {
    kept -= made->back().bytes;
    made->pop_back();
  }
  return shared;
}

StatusOr<Arrays> GivenInputs(const std::vector<InputRole>& roles,
                             const std::vector<std::string>& bytes) {
  if (bytes.size() != roles.size()) {
    return MakeError(ErrorCode::kInvalidInput,
                     absl::StrCat("the inputs have ", bytes.size(), " arrays, the program takes ",
                                  roles.size()));
  }
  Arrays arrays;
  for (size_t k = 0; k < roles.size(); ++k) {
    const xla::Shape& shape = roles[k].shape;
    absl::StatusOr<xla::Literal> made = xla::Literal::Make(
        xla::ShapeUtil::MakeShapeWithDescendingLayout(shape.element_type(), shape.dimensions()));
    if (!made.ok()) {
      return MakeError(ErrorCode::kUnsupported,
                       absl::StrCat("making inputs failed: ", made.status().message()));
    }
    xla::Literal& literal = *made;
    if (static_cast<size_t>(literal.size_bytes()) != bytes[k].size()) {
      return MakeError(
          ErrorCode::kInvalidInput,
          absl::StrCat("parameter ", k, " is ", xla::ShapeUtil::HumanString(shape), ", ",
                       literal.size_bytes(), " bytes; the inputs have ", bytes[k].size()));
    }
    std::memcpy(literal.untyped_data(), bytes[k].data(), bytes[k].size());
    arrays.push_back(std::move(literal));
  }
  return arrays;
}

absl::StatusOr<std::shared_ptr<const Arrays>> InputsToTime(const xla::HloModule& module,
                                                           const TimedInputs& inputs) {
  if (inputs.given != nullptr) return inputs.given;
  return SharedInputs(FindInputRoles(module), InputKind::kSigned, inputs.seed);
}

}  // namespace hone::compiler
