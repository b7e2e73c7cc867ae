// Eigenvalues and singular values of many small matrices, as of strains, of covariances and of
// structures in images, whose vectors nobody looks at: LAPACK is called for each matrix, and
// prepares for large ones.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/small_matrices.h"
#include "compiler/implementations/sort_keys.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Sweeps over all elements beside the diagonal, after which those are below what the type has.
constexpr int kSweeps = 5, kSweepsOfDoubles = 6;

Elements Root(Elements x) { return x.Unary(HloOpcode::kSqrt); }
Elements Larger(Elements x, Elements y) { return x.Binary(HloOpcode::kMaximum, y); }
Elements Smaller(Elements x, Elements y) { return x.Binary(HloOpcode::kMinimum, y); }

// The root of the sum of both squares, neither of which need be a number of the type.
Elements Length(Elements x, Elements y) {
  const Elements most = Larger(Abs(x), Abs(y));
  const Elements scale = Choose(most > 0.0, most, 1.0);
  x = x / scale, y = y / scale;
  return scale * Root(x * x + y * y);
}

// The element (i, j) of matrices [batch…, n, n], an array of the batch's shape.
Elements At(HloInstruction* matrices, int64_t i, int64_t j) {
  const auto rank = static_cast<int64_t>(matrices->shape().dimensions().size());
  HloInstruction* const one =
      emit::SliceAlong(emit::SliceAlong(matrices, rank - 2, i, i + 1), rank - 1, j, j + 1);
  const std::vector<int64_t> sizes = emit::SizesOf(*matrices);
  return Elements(emit::Reshape(one, {sizes.data(), sizes.size() - 2}));
}

// What the elements are divided by, so that no square of one is too large or too small.
Elements ScaleOf(const std::vector<Elements>& elements) {
  Elements largest = Abs(elements[0]);
  for (const Elements& element : elements) largest = Larger(largest, Abs(element));
  return Choose(largest > 0.0, largest, 1.0);
}

// A symmetric matrix, its lower part.
struct Symmetric {
  std::vector<std::vector<Elements>> rows;

  Elements& at(int i, int j) { return i < j ? rows[j][i] : rows[i][j]; }
};

// The rotation of two dimensions that makes the element between them 0 (Jacobi, 1846; Golub and Van
// Loan, Matrix Computations, 8.5).
void Rotate(Symmetric& a, int p, int q) {
  const auto size = static_cast<int>(a.rows.size());
  const Elements between = a.at(p, q);
  const Elements half = (a.at(q, q) - a.at(p, p)) * 0.5;
  const Elements root = Root(half * half + between * between);
  const Elements tangent = Choose(between == 0.0, 0.0, between / (half + WithSign(root, half)));
  a.at(p, p) = a.at(p, p) - tangent * between;
  a.at(q, q) = a.at(q, q) + tangent * between;
  if (size == 2) return;
  const Elements cosine = 1 / Root(1 + tangent * tangent);
  const Elements sine = tangent * cosine;
  for (int r = 0; r < size; ++r) {
    if (r == p || r == q) continue;
    const Elements x = a.at(r, p), y = a.at(r, q);
    a.at(r, p) = cosine * x - sine * y;
    a.at(r, q) = sine * x + cosine * y;
  }
  a.at(p, q) = between.Number(0);
}

// In ascending order.
std::vector<Elements> EigenvaluesOf(Symmetric a) {
  std::vector<Elements> all;
  for (const auto& row : a.rows) all.insert(all.end(), row.begin(), row.end());
  const Elements scale = ScaleOf(all);
  for (auto& row : a.rows) {
    for (Elements& element : row) element = element / scale;
  }
  const auto size = static_cast<int>(a.rows.size());
  const int sweeps = size == 2 ? 1 : all[0].type() == xla::F64 ? kSweepsOfDoubles : kSweeps;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int p = 0; p < size; ++p) {
      for (int q = p + 1; q < size; ++q) Rotate(a, p, q);
    }
  }
  std::vector<Elements> values;
  for (int i = 0; i < size; ++i) {
    values.push_back(a.at(i, i) * scale);
    for (int k = i; k > 0; --k) {
      const Elements low = Smaller(values[k - 1], values[k]);
      values[k] = Larger(values[k - 1], values[k]);
      values[k - 1] = low;
    }
  }
  return values;
}

// Of a symmetric or Hermitian matrix by one of its triangles.
std::vector<Elements> Eigenvalues(HloInstruction* matrices, int size, bool lower) {
  const bool complex = xla::primitive_util::IsComplexType(matrices->shape().element_type());
  Symmetric a;
  for (int i = 0; i < size; ++i) {
    a.rows.emplace_back();
    for (int j = 0; j <= i; ++j) {
      const Elements element = lower ? At(matrices, i, j) : At(matrices, j, i);
      // Of two dimensions only the magnitude counts.
      a.rows[i].push_back(!complex ? element
                          : i == j ? RealPart(element)
                                   : Length(RealPart(element), ImaginaryPart(element)));
    }
  }
  return EigenvaluesOf(std::move(a));
}

// Of 2x2 matrices, in descending order: the half of it that turns and the half that mirrors.
std::vector<Elements> SingularValues(HloInstruction* matrices) {
  std::vector<Elements> a;
  for (const auto& [i, j] : {std::pair(0, 0), {0, 1}, {1, 0}, {1, 1}})
    a.push_back(At(matrices, i, j));
  const Elements scale = ScaleOf(a);
  for (Elements& element : a) element = element / scale * 0.5;
  const Elements turning = Length(a[0] + a[3], a[2] - a[1]);
  const Elements mirroring = Length(a[0] - a[3], a[2] + a[1]);
  return {(turning + mirroring) * scale, Abs(turning - mirroring) * scale};
}

}  // namespace

// Of LAPACK's ?syevd, ?heevd and ?gesdd, where only the values are looked at.
absl::StatusOr<HloInstruction*> SmallEigenvalues(HloInstruction* root) {
  const absl::string_view function = LapackFunction(*root);
  if ((function != "syevd" && function != "heevd" && function != "gesdd") ||
      !root->shape().IsTuple() || root->operand_count() != 1 || root->HasControlDependencies() ||
      root->IsRoot()) {
    return nullptr;
  }
  const auto parts = static_cast<int64_t>(root->shape().tuple_shapes().size());
  HloInstruction* const matrices = root->mutable_operand(0);
  const std::vector<int64_t> sizes = emit::SizesOf(*matrices);
  if (parts < 3 || !IsArray(matrices->shape()) || sizes.size() < 2) return nullptr;
  const int64_t size = sizes.back();
  if (size != sizes[sizes.size() - 2] || size < 2 || size > (function == "syevd" ? 3 : 2))
    return nullptr;
  for (int64_t part = 0; part < parts; ++part) {
    if (part != 1 && part != parts - 1 && IsUsed(*root, part)) return nullptr;
  }
  std::vector<Elements> values;
  if (function == "gesdd") {
    if (xla::primitive_util::IsComplexType(matrices->shape().element_type())) return nullptr;
    values = SingularValues(matrices);
  } else {
    const std::optional<char> triangle = LetterOf(*root, "uplo");
    if (!triangle) return nullptr;
    values = Eigenvalues(matrices, static_cast<int>(size), *triangle == 'L');
  }
  std::vector<int64_t> one(sizes.begin(), sizes.end() - 2);
  one.push_back(1);
  std::vector<HloInstruction*> shaped;
  for (const Elements& value : values) shaped.push_back(emit::Reshape(value.array(), one));
  std::vector<HloInstruction*> results;
  for (int64_t part = 0; part < parts; ++part) {
    const xla::Shape& shape = root->shape().tuple_shapes(static_cast<int>(part));
    results.push_back(part == 1 ? emit::Concatenate(shaped, static_cast<int64_t>(one.size()) - 1)
                                : emit::Broadcast(emit::Zero(root->parent(), shape.element_type()),
                                                  shape.dimensions(), {}));
  }
  return root->parent()->AddInstruction(HloInstruction::CreateTuple(results));
}

}  // namespace hone::compiler
