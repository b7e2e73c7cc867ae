// Triangular solves of many right sides, and products with what they give.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// l: p0 with 4 on its diagonal, which a solve takes well.
std::string Matrix(const std::string& shape, const std::string& size) {
  const std::string sizes = "[" + size + "," + size + "]", type = shape.substr(0, 3);
  const std::string batched = shape.substr(3);
  const std::string spread = batched == sizes ? ""
                                              : "eb = pred" + batched +
                                                    " broadcast(e), "
                                                    "dimensions={1,2}\n  ";
  return "i = s32" + sizes + " iota(), iota_dimension=0\n  j = s32" + sizes +
         " iota(), iota_dimension=1\n  e = pred" + sizes + " compare(i, j), direction=EQ\n  " +
         spread + "c = " + type + "[] constant(4)\n  cb = " + shape +
         " broadcast(c), dimensions={}\n  l = " + shape + " select(" +
         (spread.empty() ? "e" : "eb") + ", cb, p0)\n  ";
}

// name: the solve.
std::string Solve(const std::string& name, const std::string& shape, const std::string& right,
                  const std::string& options) {
  return name + " = " + shape + " triangular-solve(l, " + right + "), " + options + "\n  ";
}

const char kLower[] = "left_side=true, lower=true, transpose_a=NO_TRANSPOSE";
const char kTurned[] = "left_side=true, lower=true, transpose_a=TRANSPOSE";
const char kRightTurned[] = "left_side=false, lower=false, transpose_a=TRANSPOSE";
const char kRight[] = "left_side=false, lower=false, transpose_a=NO_TRANSPOSE";

}  // namespace

std::vector<Case> SolveCases() {
  const auto solve = [](const std::string& label, const std::string& parameters,
                        const std::string& text, bool applies = true) {
    return Case{"dot_before_solve", label,
                Entry(parameters, Matrix(parameters.substr(0, parameters.find(';')), "8") + text),
                applies};
  };
  const auto inverse = [](const std::string& label, const std::string& parameters,
                          const std::string& size, const std::string& text, bool applies = true) {
    return Case{"triangular_inverses", label,
                Entry(parameters, Matrix(parameters.substr(0, parameters.find(';')), size) + text),
                applies};
  };
  const std::string over = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  return {
      inverse("of many right sides", "f64[6,6];f64[6,40]", "6",
              "ROOT " + Solve("x", "f64[6,40]", "p1", kLower)),
      inverse("of a large matrix, by blocks", "f64[70,70];f64[70,100]", "70",
              "ROOT " + Solve("x", "f64[70,100]", "p1", kLower)),
      inverse("of a large matrix, turned", "f64[70,70];f64[70,100]", "70",
              "ROOT " + Solve("x", "f64[70,100]", "p1", kTurned)),
      inverse("of large matrices, from the right", "f64[2,70,70];f64[2,100,70]", "70",
              "ROOT " + Solve("x", "f64[2,100,70]", "p1", kRight)),
      inverse("of a large matrix, from the right, turned", "f64[130,130];f64[100,130]", "130",
              "ROOT " + Solve("x", "f64[100,130]", "p1", kRightTurned)),
      inverse("of few right sides", "f32[70,70];f32[70,20]", "70",
              "ROOT " + Solve("x", "f32[70,20]", "p1", kLower), false),
      solve("over right sides", "f32[8,8];f32[8,40];f32[40,3]",
            Solve("x", "f32[8,40]", "p1", kTurned) + "ROOT r = f32[8,3] dot(x, p2), " + over),
      solve("over right sides, from the right, as the second operand",
            "f64[2,8,8];f64[2,40,8];f64[2,3,40]",
            Solve("x", "f64[2,40,8]", "p1", kRight) +
                "ROOT r = f64[2,3,8] dot(p2, x), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                "lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
      solve("over what is solved", "f32[8,8];f32[8,40];f32[8,5,2]",
            Solve("x", "f32[8,40]", "p1", kLower) +
                "t = f32[40,8] transpose(x), dimensions={1,0}\n"
                "  ROOT r = f32[40,5,2] dot(t, p2), " +
                over),
      solve("over what is solved, turned", "f64[8,8];f64[8,40];f64[2,8]",
            Solve("x", "f64[8,40]", "p1", kTurned) + "ROOT r = f64[2,40] dot(p2, x), " + over),
      solve("over what is solved, from the right", "f32[8,8];f32[40,8];f32[3,8]",
            Solve("x", "f32[40,8]", "p1", kRight) +
                "ROOT r = f32[3,40] dot(p2, x), lhs_contracting_dims={1}, "
                "rhs_contracting_dims={1}"),
      solve("of the solve before it", "f64[8,8];f64[8,40];f64[40]",
            Solve("x", "f64[8,40]", "p1", kLower) + Solve("y", "f64[8,40]", "x", kTurned) +
                "z = f64[8,1,40] reshape(y)\n"
                "  ROOT r = f64[8,1] dot(z, p2), lhs_contracting_dims={2}, "
                "rhs_contracting_dims={0}"),
      solve("of as many right sides", "f32[8,8];f32[8,40];f32[40,40]",
            Solve("x", "f32[8,40]", "p1", kLower) + "ROOT r = f32[8,40] dot(x, p2), " + over,
            false),
      solve("of what others take", "f32[8,8];f32[8,40];f32[40,3]",
            Solve("x", "f32[8,40]", "p1", kLower) + "d = f32[8,3] dot(x, p2), " + over +
                "\n  ROOT r = (f32[8,3], f32[8,40]) tuple(d, x)",
            false),
  };
}

}  // namespace hone::compiler
