#include "run_call.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/run/execute.h"
#include "support/literals.h"
#include "xla/hlo/parser/hlo_parser.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

// With matrices column by column.
std::string ShapeText(xla::PrimitiveType type, const std::vector<int64_t>& dimensions,
                      bool by_columns) {
  std::vector<int64_t> order(dimensions.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (by_columns && order.size() == 3) std::swap(order[0], order[1]);
  return absl::StrCat(xla::primitive_util::LowercasePrimitiveTypeName(type), "[",
                      absl::StrJoin(dimensions, ","), "]{", absl::StrJoin(order, ","), "}");
}

xla::Literal ToLiteral(const Argument& argument) {
  xla::Literal literal = *xla::Literal::Make(
      xla::ShapeUtil::MakeShapeWithDescendingLayout(argument.type, argument.dimensions));
  int64_t next = 0;
  xla::primitive_util::ArrayTypeSwitch(
      [&](auto constant) {
        using T = xla::primitive_util::NativeTypeOf<constant>;
        for (const Matrix& matrix : argument.values) {
          for (const Number& value : matrix.values) {
            T& to = literal.data<T>()[next++];
            if constexpr (std::is_same_v<T, std::complex<float>> ||
                          std::is_same_v<T, std::complex<double>>) {
              to = T(value);
            } else if constexpr (!std::is_same_v<T, bool>) {
              to = static_cast<T>(value.real());
            }
          }
        }
      },
      argument.type);
  return literal;
}

std::vector<Matrix> FromLiteral(const xla::Literal& literal) {
  const auto dimensions = literal.shape().dimensions();
  const int64_t rows = dimensions.size() > 1 ? dimensions[1] : 1;
  const int64_t columns = dimensions.size() > 2 ? dimensions[2] : 1;
  std::vector<Matrix> matrices(dimensions[0], Matrix(rows, columns));
  int64_t next = 0;
  xla::primitive_util::ArrayTypeSwitch(
      [&](auto constant) {
        using T = xla::primitive_util::NativeTypeOf<constant>;
        for (Matrix& matrix : matrices) {
          for (Number& value : matrix.values) {
            const T from = literal.data<T>()[next++];
            if constexpr (std::is_same_v<T, std::complex<float>> ||
                          std::is_same_v<T, std::complex<double>>) {
              value = Number(from);
            } else {
              value = static_cast<double>(from);
            }
          }
        }
      },
      literal.shape().element_type());
  return matrices;
}

}  // namespace

Argument Matrices(xla::PrimitiveType type, std::vector<Matrix> values) {
  Argument argument{type, {}, std::move(values)};
  argument.dimensions = {static_cast<int64_t>(argument.values.size()), argument.values[0].rows,
                         argument.values[0].columns};
  return argument;
}

Argument Vectors(xla::PrimitiveType type, std::vector<Matrix> values) {
  Argument argument = Matrices(type, std::move(values));
  argument.dimensions.pop_back();
  return argument;
}

absl::StatusOr<CallResults> RunCall(const CallText& call, const std::vector<Argument>& arguments,
                                    const std::vector<ResultShape>& results) {
  std::string parameters;
  std::vector<std::string> names, constraints, shapes;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Argument& argument = arguments[k];
    absl::StrAppend(&parameters, "  p", k, " = ",
                    ShapeText(argument.type, argument.dimensions, false), " parameter(", k, ")\n");
    names.push_back(absl::StrCat("p", k));
    constraints.push_back(ShapeText(argument.type, argument.dimensions, true));
  }
  const int64_t batch = arguments[0].dimensions[0];
  for (const ResultShape& result : results) {
    std::vector<int64_t> dimensions = result.dimensions;
    dimensions.insert(dimensions.begin(), batch);
    shapes.push_back(ShapeText(result.type, dimensions, true));
  }
  const std::string shape =
      shapes.size() == 1 ? shapes[0] : absl::StrCat("(", absl::StrJoin(shapes, ", "), ")");
  const std::string text =
      absl::StrCat("HloModule m\nENTRY e {\n", parameters, "  ROOT c = ", shape, " custom-call(",
                   absl::StrJoin(names, ", "), "), custom_call_target=\"", call.target,
                   "\", operand_layout_constraints={", absl::StrJoin(constraints, ", "),
                   "}, api_version=API_VERSION_TYPED_FFI, backend_config={", call.config, "}\n}\n");
  auto module = xla::ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return module.status();
  auto program = Program::Compile(**module, CodeQuality::kQuickCompile);
  if (!program.ok()) return program.status();
  Arrays inputs;
  for (const Argument& argument : arguments) inputs.push_back(ToLiteral(argument));
  auto placed = program->Place(inputs);
  if (!placed.ok()) return placed.status();
  auto outputs = program->Run(*placed);
  if (!outputs.ok()) return outputs.status();
  CallResults found;
  for (const xla::Literal& output : LiteralsOf(*outputs)) found.push_back(FromLiteral(output));
  return found;
}

}  // namespace hone::compiler
