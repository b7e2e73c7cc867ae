// Programs with JAX's linear algebra, which is LAPACK's: they run, are tuned and verified as others
// are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "hone_process.h"

namespace hone {
namespace {

class LinearAlgebra : public HoneTest, public testing::WithParamInterface<std::string> {
 protected:
  LinearAlgebra() {
    const std::string file =
        std::string(TEST_DATA) + "/../../linear_algebra/programs/" + GetParam() + ".hlo";
    std::ifstream stream(file, std::ios::binary);
    EXPECT_TRUE(stream) << file;
    Write("program.hlo", std::string(std::istreambuf_iterator<char>(stream), {}));
  }
};

TEST_P(LinearAlgebra, IsOptimisedAndVerified) {
  const Ran ran =
      Hone({"optimize", "program.hlo", "--budget", "200steps", "-o", "out.hlo", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.Json()["verified"], true) << ran.out;
  const Ran check = Hone({"check", "program.hlo", "out.hlo", "--json"});
  EXPECT_EQ(check.Json()["verdict"], "equal") << check.out;
  EXPECT_GT(check.Json()["finite_share"], 0.9) << check.out;
}

INSTANTIATE_TEST_SUITE_P(Programs, LinearAlgebra,
                         testing::Values("solve_grad_f32", "cholesky_c64", "svd_f64", "eig_f32",
                                         "qr_complete_f64", "tridiagonal_solve_f32"),
                         [](const auto& info) { return info.param; });

class LinearAlgebraTuned : public LinearAlgebra {};

TEST_P(LinearAlgebraTuned, IsTunedAndVerified) {
  const Ran ran = Hone({"tune", "program.hlo", "--budget", "3steps", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.Json()["stop_reason"], "not_tunable") << ran.out;
  EXPECT_GT(ran.Json()["stock_ms"], 0) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(Programs, LinearAlgebraTuned, testing::Values("slogdet_grad_f64"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone
