#include "kernel_cases.h"

#include <gtest/gtest.h>

#include "loops/verify.h"

namespace hone::loops {

std::unique_ptr<Generator> StartGenerator() {
  GeneratorOptions options;
  options.program_path = HONE_LOOPS_BINARY;
  auto generator = Generator::Start(options);
  EXPECT_TRUE(generator) << generator.error().message;
  return generator ? *std::move(generator) : nullptr;
}

void ExpectComputed(Generator& generator, const Task& task, const Schedule& schedule) {
  const auto kernel = MakeKernel(task, schedule);
  ASSERT_TRUE(kernel) << kernel.error().message << "\n" << ScheduleText(schedule);
  const auto compiled = generator.Compile(*kernel);
  ASSERT_TRUE(compiled) << compiled.error().message << "\n" << ScheduleText(schedule);
  const ComparisonReport report = Verify(generator, *kernel, {});
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason << "\n" << ScheduleText(schedule);
}

const std::vector<KernelCase>& KernelCases() {
  static const std::vector<KernelCase> cases = {
      {"matmul", "input a f32[16,24]\ninput b f32[24,32]\ny = matmul a b\noutput y\n",
       "y pack 8,16,0\ny parallel 1,1,0,0,0\ny tile 0,0,4,0,0\ny vectorize\ny unroll 2\n"},
      {"numbers_that_are_computed_with_and_spread",
       "input x f32[12,16]\ninput n f32[1]\ninput m f32[1]\nq := multiply x x\n"
       "s = reduce_sum q axes=0,1\nd := divide s n\nr := sqrt d\nl := less_equal r m\n"
       "b := broadcast l sizes=12,16\no := constant x value=1\nk := select b o x\n"
       "p := multiply k k\nt = reduce_sum p axes=0,1\nu := divide t n\ny = sqrt u\noutput y\n",
       ""},
      {"matmul_of_long_sums",
       "input a f32[16,512]\ninput b f32[512,16]\ny = matmul a b\noutput y\n",
       "y tile 16,8,0\ny tile 0,0,8\ny vectorize\n"},
      {"matmul_of_odd_sizes", "input a f32[7,5]\ninput b f32[5,11]\ny = matmul a b\noutput y\n",
       "y interchange 2,0,1\ny tile 5,1,11\ny vectorize\n"},
      {"matmul_f64", "input a f64[16,8]\ninput b f64[8,16]\ny = matmul a b\noutput y\n",
       "y tile 4,8,0\ny tile 0,0,2\ny vectorize\n"},
      {"matmul_s32", "input a s32[16,8]\ninput b s32[8,16]\ny = matmul a b\noutput y\n",
       "y tile 4,8,0\ny tile 0,0,2\ny vectorize\n"},
      {"batch_matmul", "input a f32[3,8,16]\ninput b f32[3,16,8]\ny = batch_matmul a b\noutput y\n",
       "y parallel 1,0,0,0\ny tile 0,4,8,0\ny tile 0,0,0,4\ny vectorize\n"},
      {"conv", "input x f32[2,4,10,10]\ninput w f32[8,4,3,3]\ny = conv2d x w\noutput y\n",
       "y parallel 1,4,0,0,0,0,0\ny tile 1,4,1,8,0,0,0\ny tile 0,0,0,0,4,1,1\ny vectorize\n"},
      {"conv_1x1", "input x f32[2,8,4,4]\ninput w f32[16,8,1,1]\ny = conv2d x w\noutput y\n",
       "y pack 0,8,0,0\ny parallel 1,0,0,0,0\ny tile 1,1,16,0,0\ny tile 0,0,0,4,0\ny vectorize\n"},
      {"conv_strided",
       "input x f32[1,2,11,11]\ninput w f32[4,2,3,3]\ny = conv2d x w strides=2,2\noutput y\n",
       "y parallel 1,0,0,0,0,0\n"},
      {"pool_max", "input x f32[2,3,9,9]\ny = pool_max x window=3,3 strides=2,2\noutput y\n",
       "y interchange 0,1,3,4,2\ny parallel 2,0,0,0,0\n"},
      {"pool_sum", "input x f32[2,3,8,8]\ny = pool_sum x window=3,3\noutput y\n",
       "y tile 1,1,6,1,1\ny vectorize\n"},
      {"pool_max_of_odd_sizes", "input x f32[2,3,9,21]\ny = pool_max x window=3,3\noutput y\n",
       "y tile 1,7,19,0,0\ny tile 0,0,0,3,1\n"},
      {"pool_max_s32", "input x s32[2,3,12,34]\ny = pool_max x window=2,2\noutput y\n",
       "y parallel 3,0,0,0,0\ny tile 1,1,11,1,1\ny vectorize\n"},
      {"pool_sum_f64", "input x f64[1,2,10,40]\ny = pool_sum x window=3,3\noutput y\n", ""},
      {"pool_max_apart", "input x f32[2,3,8,8]\ny = pool_max x window=2,2 strides=2,2\noutput y\n",
       "y interchange 0,1,3,4,2\n"},
      {"pool_of_one_column",
       "input x f32[1,1,7,4]\ny = pool_sum x window=3,3 strides=2,2\noutput y\n", "y tile 3,0,1\n"},
      // Up to what is no number any more, and down to what has fewer bits.
      {"exponentials_of_doubles",
       "input x f64[40,24]\nc := constant x value=900\nw := multiply x c\n"
       "y = exp w\nz = expm1 w\nu = expm1 x\nt = tanh x\nv = tanh w\n"
       "output y\noutput z\noutput u\noutput t\noutput v\n",
       "y tile 8\ny vectorize\nz tile 4\nt tile 8\nt vectorize\n"},
      {"logarithms_of_doubles",
       "input x f64[40,24]\ns := multiply x x\nc := constant x value=1e-160\n"
       "d := multiply s c\ne := multiply d c\nb := constant x value=1e150\nf := multiply x b\n"
       "a = log x\nk = log s\nl = log e\nm = log f\nn = log1p x\no = log1p d\np = log1p f\n"
       "output a\noutput k\noutput l\noutput m\noutput n\noutput o\noutput p\n",
       "k tile 8\nk vectorize\nn tile 16\nn vectorize\n"},
      {"sums_of_exponentials_of_doubles",
       "input x f64[48,48]\ne := exp x\ny = reduce_sum e axes=1\nz = log y\noutput z\n",
       "y tile 4,16\ny vectorize\n"},
      {"logistic_f64", "input x f64[12,5]\ny = logistic x\noutput y\n", ""},
      {"add", "input a f32[8,16]\ninput b f32[8,16]\ny = add a b\noutput y\n",
       "y parallel 32\ny tile 16\ny vectorize\n"},
      {"bias", "input a f32[8,16]\ninput b f32[16]\ny = add a b\noutput y\n",
       "y parallel 2,0\ny tile 1,16\ny vectorize\n"},
      {"chain",
       "input a f32[8,16]\nb = exp a\nc = tanh b\nd = logistic c\ne = abs d\nf = sqrt e\n"
       "g = log f\ny = negate g\noutput y\n",
       "y parallel 16\ny fuse g\ny fuse f\n"},
      {"two_outputs", "input a f32[8,16]\nb = relu a\nc = exp a\noutput b\noutput c\n",
       "b parallel 32\nc tile 16\nc vectorize\n"},
      {"reduce_rows", "input x f32[16,64]\ny = reduce_sum x axes=1\noutput y\n",
       "y parallel 4,0\ny tile 4,16\ny vectorize\n"},
      {"reduce_columns", "input x f32[16,64]\ny = reduce_max x axes=0\noutput y\n",
       "y interchange 1,0\ny tile 16,1\ny vectorize\n"},
      {"reduce_columns_in_parts", "input x f32[256,300]\ny = reduce_sum x axes=0\noutput y\n",
       "y.part parallel 4,0,0\ny.part tile 1,8,60\ny.part vectorize\ny tile 16,60\n"},
      {"reduce_between_in_parts", "input x f32[3,600,10]\ny = reduce_sum x axes=1\noutput y\n",
       "y.part parallel 1,5,0,0\ny tile 1,5,10\n"},
      {"reduce_around_what_is_kept",
       "input x f32[4,6,200,8]\ny = reduce_max x axes=0,2\noutput y\n",
       "y.part parallel 1,0,0,0\n"},
      {"reduce_in_parts_what_is_computed",
       "input x f32[24,16,20,10]\ninput m f32[24,16]\ninput w f32[10,24]\n"
       "b := broadcast m sizes=24,16,20,10 dimensions=0,1\nd := subtract x b\n"
       "t := transpose w permutation=1,0\nv := broadcast t sizes=24,16,20,10 dimensions=0,3\n"
       "p := multiply d v\ny = reduce_max p axes=0,1\nz = exp y\noutput z\n",
       "z parallel 4,0\n"},
      {"reduce_all", "input x f32[128,129]\ny = reduce_sum x axes=0,1\noutput y\n",
       "y.part parallel 4,0\ny.part tile 1,43\n"},
      {"reduce_all_of_an_odd_size",
       "input x f64[131,137]\ninput m f64[137]\nb := broadcast m sizes=131,137 dimensions=1\n"
       "p := multiply x b\ny = reduce_max p axes=0,1\nz = exp y\noutput z\n",
       "y.part parallel 1,0\n"},
      {"reduce_few", "input x s32[6,7]\ny = reduce_sum x axes=0,1\noutput y\n", "y tile 14\n"},
      {"reduce_slices",
       "input x f32[130,131]\na := slice x starts=1,1 sizes=129,130\n"
       "b := slice x starts=0,1 sizes=129,130\nc := slice x starts=1,0 sizes=129,130\n"
       "d := subtract a b\ne := subtract a c\nf := multiply d e\n"
       "y = reduce_sum f axes=0,1\noutput y\n",
       "y.part parallel 1,0\ny.part tile 0,10\n"},
      {"reduce_parts_of_slices",
       "input x f32[130,131]\na := slice x starts=1,1 sizes=128,130\n"
       "b := slice x starts=2,0 sizes=128,130\nd := subtract a b\n"
       "y = reduce_max d axes=0,1\noutput y\n",
       "y.part parallel 2,0,0\ny.part tile 1,4,26\n"},
      {"reduce_rows_of_slices",
       "input x f32[18,40]\na := slice x starts=1,3 sizes=16,32\n"
       "b := slice x starts=2,8 sizes=16,32\nd := multiply a b\n"
       "y = reduce_sum d axes=1\noutput y\n",
       "y parallel 4,0\ny tile 4,16\ny vectorize\n"},
      {"slices",
       "input x f32[40]\na := slice x starts=1 sizes=32\nb := slice x starts=5 sizes=32\n"
       "y = subtract a b\noutput y\n",
       "y tile 16\ny vectorize\n"},
      {"transpose", "input x f32[16,32]\ny = transpose x permutation=1,0\noutput y\n",
       "y parallel 8,0\ny tile 8,8\ny vectorize\n"},
      {"softmax", "input x f32[16,32]\ny = softmax x\noutput y\n",
       "y parallel 4,0\ny tile 1,0\ny fuse y.sum\ny fuse y.exp\ny fuse y.max\ny vectorize\n"
       "y.exp vectorize\ny.max vectorize\ny.sum vectorize\n"},
      {"layer_norm",
       "input x f32[16,32]\ninput g f32[32]\ninput b f32[32]\ny = layer_norm x g b\noutput y\n",
       "y parallel 2,0\ny fuse y.squares\ny fuse y.sum\n"},
      {"attention",
       "input q f32[1,2,8,16]\ninput k f32[1,2,8,16]\ninput v f32[1,2,8,16]\n"
       "y = attention q k v\noutput y\n",
       "y parallel 1,1,4,0,0,0\ny tile 0,0,4,0,4,0\ny unroll 4\n"},
      {"attention_of_odd_sizes",
       "input q f32[3,1,37,5]\ninput k f32[3,1,29,5]\ninput v f32[3,1,29,7]\n"
       "y = attention q k v\noutput y\n",
       "y parallel 2,0,10,0,0,0\ny tile 0,0,8,0,9,0\ny unroll 2\n"},
      {"attention_of_doubles",
       "input q f64[1,2,8,16]\ninput k f64[1,2,24,16]\ninput v f64[1,2,24,8]\n"
       "y = attention q k v\nz = relu y\noutput z\n",
       "y parallel 1,1,8,0,0,0\nz tile 8\nz vectorize\n"},
      {"attention_of_what_is_made",
       "input x f32[1,2,8,16]\ninput k f32[1,2,8,16]\nq = exp x\ny = attention q k x\noutput y\n",
       "q tile 16\nq vectorize\n"},
      // Dimensions in other places, a mask by key, a bias by query and key, and one by query alone.
      {"attend",
       "input q f32[2,19,3,8]\ninput k f32[2,23,3,8]\ninput v f32[2,23,3,6]\ninput m f32[2,23]\n"
       "input b f32[3,23,19]\ninput c f32[19,23]\ninput r f32[19]\ninput o f32[1]\n"
       "qt := transpose q permutation=0,2,1,3\nkt := transpose k permutation=0,2,1,3\n"
       "vt := transpose v permutation=0,2,1,3\ns := scores qt kt\n"
       "f := constant s value=0.35\nt := multiply s f\n"
       "bt := transpose b permutation=0,2,1\nbb := broadcast bt sizes=2,3,19,23 dimensions=1,2,3\n"
       "cc := broadcast c sizes=2,3,19,23 dimensions=2,3\nu := add t bb\nw := subtract u cc\n"
       "rr := broadcast r sizes=2,3,19,23 dimensions=2\nww := multiply rr w\n"
       "oo := broadcast o sizes=2,3,19,23\nwo := add ww oo\n"
       "mm := broadcast m sizes=2,3,19,23 dimensions=0,3\nz := constant s value=0\n"
       "g := maximum mm z\nn := constant s value=-1e9\nx := select g wo n\n"
       "y = attend x vt permutation=0,2,1,3\noutput y\n",
       "y parallel 1,0,16,0,0,0\ny tile 0,0,16,0,5,0\ny unroll 3\n"},
      {"attend_to_what_was",
       "input q f32[2,70,8]\ninput k f32[2,75,8]\ninput v f32[2,75,8]\ns := scores q k\n"
       "t := tanh s\ny = attend t v until=5\noutput y\n",
       "y parallel 1,33,0,0,0\ny tile 0,16,0,10,0\ny unroll 8\n"},
      {"slices_beside_scores",
       "input q f32[1,20,8]\ninput k f32[1,17,8]\ninput v f32[1,17,8]\ninput m f32[1,30,40]\n"
       "s := scores q k\nc := slice m starts=0,3,5 sizes=1,20,17\nu := add s c\ny = attend u v\n"
       "output y\n",
       ""},
      {"select",
       "input c f32[16,32]\ninput a f32[16,32]\nk := constant a value=0.5\nl := maximum c k\n"
       "d := subtract l k\ns := select d a k\ny = reduce_sum s axes=1\noutput y\n",
       "y parallel 4,0\ny tile 4,16\ny vectorize\n"},
      {"running_sum", "input x f32[5,77]\ny = running_sum x\noutput y\n",
       "y parallel 2,0\ny tile 0,16\n"},
      {"running_sum_reversed",
       "input x f64[3,29]\ny = running_sum x reverse=1\nz = abs y\noutput z\n", "y tile 0,8\n"},
      {"running_sum_of_few", "input x f32[3,5]\ny = running_sum x\noutput y\n", "y tile 0,8\n"},
      {"running_sum_of_integers", "input x s32[7,64]\ny = running_sum x reverse=1\noutput y\n",
       "y parallel 3,0\ny tile 0,4\n"},
      {"running_max_of_columns", "input x f32[3,20,37]\ny = running_max x\noutput y\n",
       "y parallel 1,0,10\ny tile 0,0,8\n"},
      {"running_max_of_columns_reversed",
       "input x s32[1,20,32]\ny = running_max x reverse=1\noutput y\n", "y tile 0,0,16\n"},
      {"running_sum_between",
       "input x f32[4,30,6]\ne = exp x\ny = running_sum e\nz = log y\noutput z\n",
       "e tile 24\ne vectorize\ny parallel 2,0,0\nz tile 24\nz vectorize\n"},
      {"running_product", "input x f32[5,77]\ny = running_product x\noutput y\n",
       "y parallel 2,0\ny tile 0,16\n"},
      {"running_product_of_columns",
       "input x f64[2,20,37]\ny = running_product x reverse=1\noutput y\n", "y tile 0,0,8\n"},
      {"sort", "input x f32[5,77]\ny = sort x\noutput y\n", "y parallel 2,0\ny tile 0,8\n"},
      {"sort_doubles", "input x f64[3,300]\ny = sort x\noutput y\n", "y tile 0,11\n"},
      {"sort_integers", "input x s32[7,64]\ny = sort x\noutput y\n", "y parallel 3,0\n"},
      {"sort_narrow", "input x bf16[4,129]\ny = sort x\nz = to_bf16 y\noutput z\n", ""},
      {"sort_short", "input x f32[37,21]\ny = sort x\noutput y\n", "y parallel 16,0\ny tile 8,1\n"},
      {"sort_short_doubles", "input x f64[9,64]\ny = sort x\noutput y\n", "y tile 4,1\n"},
      {"sort_short_integers", "input x s32[8,2]\ny = sort x\noutput y\n", "y tile 8,1\n"},
      {"sort_short_narrow", "input x bf16[70,13]\ny = sort x\nz = to_bf16 y\noutput z\n",
       "y tile 16,1\n"},
      {"argsort_short", "input x f32[37,21]\ny = argsort x\noutput y\n", ""},
      {"argsort_short_doubles", "input x f64[9,30]\ny = argsort x\noutput y\n", "y tile 2,1\n"},
      {"argsort_short_of_equals", "input x pred[40,33]\ny = argsort x\noutput y\n", "y tile 1,1\n"},
      {"argsort", "input x f32[5,77]\ny = argsort x\noutput y\n", "y tile 0,4\n"},
      {"argsort_one_row", "input x f32[1,2000]\ny = argsort x\noutput y\n", ""},
      {"argsort_doubles", "input x f64[3,50]\ny = argsort x\noutput y\n", "y tile 0,12\n"},
      {"argsort_of_equals", "input x pred[2,99]\ny = argsort x\noutput y\n", "y parallel 1,0\n"},
      {"argsort_between",
       "input x f32[4,30]\ne = exp x\ny = argsort e\nz = negate y\noutput z\noutput e\n", ""},
      {"lu", "input x f64[37,9,9]\ny = lu x\noutput y\n", "y parallel 16,0,0,0\ny tile 8,0,0,0\n"},
      {"lu_one_by_one", "input x f32[5,3,3]\ny = lu x\noutput y\n", "y parallel 2,0,0,0\n"},
      {"lu_side_by_side", "input x f32[16,17,17]\ny = lu x\noutput y\n", "y tile 16,0,0,0\n"},
      {"lu_of_few_elements", "input x f64[20,2,2]\ny = lu x\noutput y\n", "y tile 8,0,0,0\n"},
      {"lu_of_narrow", "input x bf16[9,4,4]\ny = lu x\nz = to_bf16 y\noutput z\n",
       "y tile 4,0,0,0\n"},
      // Ones below and on the diagonal: equal elements in each column.
      {"lu_of_equals",
       "input x f32[8,6,6]\ne = equal x x\ny = lu e\noutput y\n", "y tile 4,0,0,0\n"},
      {"cholesky",
       "input x f64[21,7,7]\nt = transpose x permutation=0,2,1\ns = batch_matmul x t\n"
       "y = cholesky s\noutput y\n",
       "y parallel 8,0,0,0\ny tile 8,0,0,0\n"},
      {"cholesky_of_few_elements",
       "input x f32[9,2,2]\nt = transpose x permutation=0,2,1\ns = batch_matmul x t\n"
       "y = cholesky s\noutput y\n",
       "y tile 8,0,0,0\n"},
      {"solve",
       "input a f64[21,5,5]\ninput b f64[21,5,1]\nu = exp a\ny = solve u b lower=1\noutput y\n",
       "y parallel 8,0,0,0\ny tile 8,0,0,0\n"},
      {"solve_unit",
       "input a f32[9,6,6]\ninput b f32[9,6,4]\ny = solve a b lower=1 unit=1\noutput y\n",
       "y tile 8,0,0,0\n"},
      {"solve_upper_transposed",
       "input a f32[33,5,5]\ninput b f32[33,5,7]\nu = exp a\ny = solve u b transposed=1\n"
       "output y\n",
       "y tile 16,0,0,0\n"},
      {"solve_one_by_one",
       "input a f64[3,5,5]\ninput b f64[3,5,2]\nu = exp a\n"
       "y = solve u b lower=1 transposed=1\noutput y\n",
       ""},
      {"exchanges", "input x s32[37,9,1]\ny = exchanges x\noutput y\n",
       "y parallel 16,0,0,0\ny tile 8,0,0,0\n"},
      {"exchanges_of_few", "input x s32[9,4,1]\ny = exchanges x\noutput y\n", "y tile 8,0,0,0\n"},
      {"exchanges_one_by_one", "input x s32[5,6,1]\ny = exchanges x\noutput y\n", ""},
      {"near_zero",
       "input a f32[16,32]\ne := expm1 a\nb := abs a\nl := log1p b\ns := add e l\n"
       "y = reduce_sum s axes=1\noutput y\n",
       "y parallel 4,0\n"},
      {"near_zero_in_vectors", "input a f32[256]\nb := abs a\nc = log1p b\ny = expm1 c\noutput y\n",
       "c tile 32\nc vectorize\ny tile 32\ny vectorize\n"},
      {"comparisons",
       "input a f32[16,32]\ninput b f32[16,32]\ninput c f32[32]\nl := less a b\n"
       "e := less_equal b c\nd := equal a a\nn := not_equal l d\ns := add l e\n"
       "t := select n a s\ny = reduce_sum t axes=0\noutput y\n",
       "y tile 16,4\ny vectorize\n"},
      {"comparisons_of_integers",
       "input a s32[64]\ninput b s32[64]\nl := less b a\ny = select l b a\noutput y\n",
       "y tile 16\ny vectorize\n"},
      {"select_of_integers",
       "input c s32[64]\ninput a s32[64]\ninput b s32[64]\ny = select c a b\noutput y\n",
       "y tile 16\ny vectorize\n"},
      {"linear",
       "input x f32[8,16]\ninput w f32[16,8]\ninput b f32[8]\nm = matmul x w\na = add m b\n"
       "y = relu a\noutput y\n",
       "y parallel 4,8\ny fuse a\ny fuse m\nm tile 0,0,4\nm vectorize\na vectorize\ny vectorize\n"},
      {"calls_behind_vectors",
       "input a f64[12,5]\ninput b f64[5,2]\ninput m f64[2]\nx = matmul a b\nz = add x m\n"
       "y = logistic z\noutput y\n",
       "y pack 6,0\nx pack 6,0,0\nz pack 3,0\nz vectorize\nx.pack0 parallel 0,0,2\n"},
      {"definitions",
       "input x f32[16,32]\ninput g f32[32]\ninput t f32[1]\nk := constant x value=0.25\n"
       "a := multiply x k\nb := broadcast t sizes=16,32\nc := add a b\ns = reduce_sum c axes=1\n"
       "m := broadcast s sizes=16,32 dimensions=0\nd := subtract x m\ne = exp d\n"
       "h := broadcast g sizes=16,32 dimensions=1\nf := multiply e h\nr = reduce_max f axes=1\n"
       "n := broadcast r sizes=16,32 dimensions=0\ny = divide e n\noutput y\n",
       "y parallel 4,0\ny tile 1,0\ny fuse r\ny fuse e\ny fuse s\n"},
      {"transposed_definition",
       "input x f32[16,8]\nt := transpose x permutation=1,0\ny = reduce_sum t axes=1\noutput y\n",
       "y tile 8,4\ny vectorize\n"},
      {"a_stored_broadcast", "input x f32[8]\ny = broadcast x sizes=4,8,6 dimensions=1\noutput y\n",
       "y parallel 2,0,0\n"},
      {"sum_of_a_constant",
       "input x f32[8,16]\nk := constant x value=2\ny = reduce_sum k axes=1\noutput y\n", ""},
      {"narrow",
       "input x bf16[24,50]\ninput m pred[24,50]\ninput s s8[50]\ninput h f16[24,50]\n"
       "t := broadcast s sizes=24,50 dimensions=1\na := multiply x t\nb := select m a h\n"
       "c = reduce_sum b axes=1\nd := broadcast c sizes=24,50 dimensions=0\n"
       "e = subtract b d\noutput e\noutput c\n",
       "c pack 2,10\nc parallel 4,0,0,0\ne tile 4,10\ne vectorize\n"},
      {"maxima_of_halves",
       "input a f16[13,37]\ninput b f16[13,37]\nm := maximum a b\nn := minimum m a\n"
       "c := less n b\nd := select c m a\ny = to_f16 d\nz = reduce_max m axes=1\n"
       "output y\noutput z\n",
       "z parallel 1,0\n"},
      {"softmax_of_halves", "input x f16[12,65]\ny = softmax x\nz = to_f16 y\noutput z\n",
       "z parallel 1,0\nz fuse y\nz fuse y.sum\nz fuse y.exp\nz fuse y.max\n"},
      {"narrow_matmul", "input a s8[16,24]\ninput b bf16[24,32]\ny = matmul a b\noutput y\n",
       "y pack 8,16,0\ny parallel 1,1,0,0,0\ny tile 0,0,4,0,0\ny vectorize\ny unroll 2\n"},
      {"narrow_attention",
       "input q bf16[3,30,16]\ninput k bf16[3,41,16]\ninput v f16[3,41,24]\ninput m u8[30,41]\n"
       "s := scores q k\nc := broadcast m sizes=3,30,41 dimensions=1,2\n"
       "n := constant s value=-1000\nt := select c s n\ny = attend t v\noutput y\n",
       ""},
      {"narrow_running",
       "input x bf16[13,33]\ninput z s8[5,21,18]\ny = running_max x\n"
       "u = running_sum z reverse=1\noutput y\noutput u\n",
       ""},
      {"rounded",
       "input x f32[24,50]\ninput m bf16[24,50]\na := multiply x m\ny = to_bf16 a\n"
       "h = to_f16 a\noutput y\noutput h\n",
       "y parallel 200\nh tile 40\nh vectorize\n"},
      {"rounded_rows",
       "input x bf16[24,64]\nr = reduce_sum x axes=1\n"
       "b := broadcast r sizes=24,64 dimensions=0\nd := divide x b\ny = to_bf16 d\noutput y\n",
       "y parallel 4,0\ny fuse r\n"},
      {"rounded_attention",
       "input q bf16[3,30,16]\ninput k bf16[3,41,16]\ninput v bf16[3,41,24]\n"
       "s := scores q k\na = attend s v\ny = to_bf16 a\noutput y\n",
       ""},
      {"one_element", "input x f32[1]\ny = exp x\noutput y\n", ""},
      {"one_row", "input x f32[7]\ny = softmax x\noutput y\n", ""},
  };
  return cases;
}

}  // namespace hone::loops
