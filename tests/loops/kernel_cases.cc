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
      {"product", "input a f32[16,32]\ninput b f32[32,64]\ny = product a b\noutput y\n",
       "y tile 8,32,16\ny tile 4,16,0\n"},
      // Sums in parts, rows and columns left over, and parts of rows that processors share.
      {"product_of_odd_sizes",
       "input a f32[61,77]\ninput b f32[77,83]\ny = product a b\noutput y\n",
       "y parallel 20,50,0\ny tile 17,40,30\ny tile 7,16,0\n"},
      {"product_of_transposes",
       "input a f32[37,29]\ninput b f32[45,37]\nl := transpose a permutation=1,0\n"
       "r := transpose b permutation=1,0\ny = product l r\nz = relu y\noutput z\n",
       "y parallel 16,0,0\ny tile 13,0,20\ny tile 3,8,0\nz tile 9\nz vectorize\n"},
      {"product_of_doubles_in_batches",
       "input a f64[3,33,2,40]\ninput b f64[2,40,21]\nl := transpose a permutation=0,2,1,3\n"
       "r := broadcast b sizes=3,2,40,21 dimensions=1,2,3\n"
       "y = product l r permutation=0,2,1,3\noutput y\n",
       "y parallel 2,1,16,0,0\ny tile 0,0,10,20,16\ny tile 0,0,5,4,0\n"},
      {"product_whose_batches_lie_last",
       "input a f32[19,23,3]\ninput b f32[23,18,3]\nl := transpose a permutation=2,0,1\n"
       "r := transpose b permutation=2,0,1\ny = product l r\noutput y\n",
       "y parallel 1,0,0,0\ny tile 0,19,18,9\ny tile 0,16,4,0\n"},
      {"product_of_itself",
       "input a f32[1,5]\nr := transpose a permutation=1,0\ny = product a r\noutput y\n", ""},
      {"product_with_a_bias_and_an_activation",
       "input a f32[16,32]\ninput b f32[32,64]\ninput c f32[64]\np := product a b\n"
       "z := add p c\ny = relu z\noutput y\n",
       "y tile 8,32,32\ny tile 4,16,0\n"},
      // Sums in parts, of which only the last is ended; rows, columns and terms left over; a read
      // of rows alone, one whose columns lie apart, and a number.
      {"product_whose_sums_are_ended",
       "input a f32[61,77]\ninput b f32[77,83]\ninput c f32[61]\ninput d f32[83,61]\n"
       "input e f32[1]\np := product a b\nr := broadcast c sizes=61,83 dimensions=0\n"
       "t := transpose d permutation=1,0\nn := broadcast e sizes=61,83\nq := add p r\n"
       "l := less t q\ns := select l q t\ny = multiply s n\noutput y\n",
       "y parallel 20,50,0\ny tile 17,40,30\ny tile 7,16,0\n"},
      {"product_in_batches_whose_sums_are_ended",
       "input a f64[3,33,40]\ninput b f64[3,40,21]\ninput c f64[33,3,21]\n"
       "p := product a b permutation=1,0,2\nu := tanh p\ny = multiply u c\nz = abs y\noutput z\n",
       "y parallel 1,16,0,0\ny tile 0,10,20,16\ny tile 0,5,4,0\nz tile 21\nz vectorize\n"},
      {"convolve_whose_sums_are_ended",
       "input x f32[2,9,10,16]\ninput w f32[3,3,16,24]\ninput b f32[24]\ninput s f32[2,9,10,24]\n"
       "input h f32[9]\np := convolve x w sizes=9,10 pads=1,1\nq := add p b\n"
       "r := broadcast h sizes=2,9,10,24 dimensions=1\nt := multiply q r\nu := add t s\ny = relu "
       "u\n"
       "output y\n",
       "y parallel 0,0,45,16,0,0,0\ny tile 0,0,40,24,0,0,48\ny tile 0,0,7,16,0,0,0\n"},
      {"slices_beside_scores",
       "input q f32[1,20,8]\ninput k f32[1,17,8]\ninput v f32[1,17,8]\ninput m f32[1,30,40]\n"
       "s := scores q k\nc := slice m starts=0,3,5 sizes=1,20,17\nu := add s c\ny = attend u v\n"
       "output y\n",
       ""},
      {"convolve",
       "input x f32[2,9,10,16]\ninput w f32[3,3,16,24]\n"
       "y = convolve x w sizes=9,10 pads=1,1\noutput y\n",
       "y parallel 0,0,45,16,0,0,0\ny tile 0,0,40,24,0,0,48\ny tile 0,0,5,8,0,0,0\n"},
      // The sum's blocks end within a tap; positions are left out at one end, and beyond the other.
      {"convolve_strided_and_dilated",
       "input x f32[2,11,12,20]\ninput w f32[3,2,20,40]\n"
       "y = convolve x w sizes=5,7 pads=2,-1 strides=2,2 dilations=1,3\nz = relu y\noutput z\n",
       "y tile 0,0,13,16,0,0,9\ny tile 0,0,4,16,0,0,0\nz tile 40\nz vectorize\n"},
      {"convolve_of_one_dimension",
       "input x f64[2,16,20]\ninput w f64[5,16,12]\nt := transpose x permutation=0,2,1\n"
       "y = convolve t w sizes=20 pads=2\noutput y\n",
       "y parallel 0,8,0,0,0\ny tile 0,8,12,0,32\ny tile 0,4,4,0,0\n"},
      {"convolve_of_three_dimensions",
       "input x f32[1,4,5,6,8]\ninput w f32[2,2,3,8,16]\n"
       "y = convolve x w sizes=4,4,6 pads=0,0,1\noutput y\n",
       ""},
      // The gradient of a kernel: its rows run through the images' memory, its sum over positions.
      {"convolve_for_a_kernels_gradient",
       "input x f32[3,8,9,16]\ninput d f32[3,4,5,24]\nt := transpose x permutation=3,1,2,0\n"
       "u := transpose d permutation=1,2,0,3\n"
       "y = convolve t u sizes=3,3 pads=1,1 dilations=2,2 permutation=1,2,0,3\noutput y\n",
       "y parallel 0,0,48,0,0,0,0\ny tile 0,0,32,24,0,0,20\ny tile 0,0,8,16,0,0,0\n"},
      // Rows that end within a block, so that nothing of it is a vector in memory.
      {"convolve_for_a_kernels_gradient_of_odd_features",
       "input x f32[3,8,9,7]\ninput d f32[3,8,9,5]\nt := transpose x permutation=3,1,2,0\n"
       "u := transpose d permutation=1,2,0,3\n"
       "y = convolve t u sizes=3,3 pads=1,1 permutation=1,2,0,3\noutput y\n",
       "y tile 0,0,30,5,0,0,100\ny tile 0,0,6,4,0,0,0\n"},
      {"convolve_for_an_inputs_gradient",
       "input d f32[2,6,7,24]\ninput w f32[3,3,16,24]\nt := transpose w permutation=0,1,3,2\n"
       "y = convolve d t sizes=6,7 pads=1,1\noutput y\n",
       "y tile 0,0,30,16,0,0,72\ny tile 0,0,7,32,0,0,0\n"},
      {"convolve_the_other_way_round",
       "input x f32[2,9,10,16]\ninput w f32[3,2,16,24]\n"
       "y = convolve x w sizes=9,8 pads=-1,-2 dilations=-1,-2\noutput y\n",
       "y tile 0,0,40,24,0,0,48\ny tile 0,0,5,8,0,0,0\n"},
      {"convolve_along_rows_of_windows",
       "input x f32[2,9,36,1]\ninput w f32[2,9,1,24]\n"
       "y = convolve x w sizes=9,5 pads=1,0 strides=1,6\noutput y\n",
       "y tile 0,0,30,24,0,0,9\ny tile 0,0,5,8,0,0,0\n"},
      {"convolve_at_a_point",
       "input x f32[2,5,6,16]\ninput w f32[1,1,16,24]\ny = convolve x w sizes=5,6\noutput y\n",
       "y tile 60,24,16\ny tile 5,16,0\n"},
      // The first operand is read where it lies: rows that fill no block, terms in several, and
      // what is made of the sums.
      {"convolve_at_a_point_with_what_follows",
       "input x f32[1,7,7,40]\ninput w f32[70,40,1,1]\ninput b f32[70]\ninput r f32[1,7,7,70]\n"
       "t := transpose w permutation=2,3,1,0\np := convolve x t sizes=7,7\n"
       "c := broadcast b sizes=1,7,7,70 dimensions=3\nq := add p c\ny = add q r\noutput y\n",
       "y parallel 20,40,0\ny tile 16,40,16\ny tile 6,32,0\n"},
      {"convolve_at_a_point_of_halves",
       "input x f16[1,4,5,19]\ninput w f32[1,1,19,24]\ny = convolve x w sizes=4,5\noutput y\n",
       "y tile 20,24,19\ny tile 8,16,0\n"},
      // Padded, or at every second place, it is no product.
      {"convolve_at_a_point_padded",
       "input x f32[2,5,6,16]\ninput w f32[1,1,16,24]\ny = convolve x w sizes=7,8 pads=1,1\n"
       "output y\n",
       "y tile 0,0,112,24,0,0,16\ny tile 0,0,8,16,0,0,0\n"},
      {"convolve_at_every_second_point",
       "input x f32[2,5,6,16]\ninput w f32[1,1,16,24]\ny = convolve x w sizes=3,3 strides=2,2\n"
       "output y\n",
       "y tile 0,0,18,24,0,0,16\ny tile 0,0,6,16,0,0,0\n"},
      // Nor is it with a window; where nothing is outside, rows are read where they lie all the
      // same.
      {"convolve_of_what_lies",
       "input x f32[2,9,10,21]\ninput w f32[3,2,21,24]\ny = convolve x w sizes=4,5 strides=2,2\n"
       "output y\n",
       "y parallel 0,0,25,0,0,0,0\ny tile 0,0,18,24,0,0,9\ny tile 0,0,7,16,0,0,0\n"},
      {"convolve_of_what_lies_dilated",
       "input x f32[1,11,30,1]\ninput w f32[3,9,1,40]\ninput b f32[40]\n"
       "p := convolve x w sizes=7,8 strides=1,3 dilations=2,1\n"
       "c := broadcast b sizes=1,7,8,40 dimensions=3\ny = add p c\noutput y\n",
       "y tile 0,0,30,40,0,0,0\ny tile 0,0,8,32,0,0,0\n"},
      // Few rows: nothing is packed.
      {"product_of_what_is_rounded",
       "input a f32_as_bf16[61,83]\ninput b f32_as_bf16[37,83]\n"
       "r := transpose b permutation=1,0\ny = product a r\noutput y\n",
       "y tile 24,16,40\ny tile 6,16,0\n"},
      {"product_of_one_row_by_what_is_rounded",
       "input a f32[1,83]\ninput b f32_as_bf16[83,97]\ny = product a b\noutput y\n", ""},
      {"product_of_one_row", "input a f32[1,83]\ninput b f32[83,97]\ny = product a b\noutput y\n",
       "y parallel 0,50,0\ny tile 1,50,7\ny tile 1,16,0\n"},
      {"product_of_one_row_by_lines_along_the_sum",
       "input a f32[1,83]\ninput b f32[97,83]\nt := transpose b permutation=1,0\n"
       "y = product a t\noutput y\n",
       "y parallel 0,50,0\ny tile 1,50,40\ny tile 1,16,0\n"},
      {"product_of_few_rows_that_lie_as_columns",
       "input a f64[40,3]\ninput b f64[40,64]\nl := transpose a permutation=1,0\n"
       "y = product l b\noutput y\n",
       "y tile 2,64,16\ny tile 2,8,0\n"},
      {"product_of_few_rows_whose_lines_both_are_columns",
       "input a f32[40,3]\ninput b f32[50,40]\nl := transpose a permutation=1,0\n"
       "r := transpose b permutation=1,0\ny = product l r\noutput y\n",
       ""},
      {"products_of_few_rows_with_what_follows",
       "input a bf16[3,5,64]\ninput b s8[3,64,70]\ninput c f32[70]\np := product a b\n"
       "t := broadcast c sizes=3,5,70 dimensions=2\ns := multiply p t\nr := relu s\n"
       "y = to_bf16 r\noutput y\n",
       "y parallel 1,0,40,0\ny tile 0,5,40,16\ny tile 0,3,32,0\n"},
      {"products_of_few_rows_along_the_sum_permuted",
       "input a f32[4,3,64]\ninput b f16[4,37,64]\nt := transpose b permutation=0,2,1\n"
       "y = product a t permutation=1,0,2\noutput y\n",
       ""},
      // Taps behind features: what lies so is read in runs of both, all taps of 32 features at
      // once.
      {"convolve_with_taps_last",
       "input x f32[2,9,10,96]\ninput w f32[40,96,3,3]\nt := transpose w permutation=2,3,1,0\n"
       "y = convolve x t sizes=9,10 pads=1,1\noutput y\n",
       "y parallel 0,0,45,0,0,0,0\ny tile 0,0,40,32,0,0,300\ny tile 0,0,5,16,0,0,0\n"},
      {"convolve_of_doubles_with_taps_last",
       "input x f64[1,1,20,64]\ninput w f64[24,64,1,5]\nt := transpose w permutation=2,3,1,0\n"
       "y = convolve x t sizes=1,18 pads=0,1\noutput y\n",
       "y tile 0,0,18,24,0,0,320\ny tile 0,0,6,16,0,0,0\n"},
      {"convolve_of_halves_with_taps_last",
       "input x f32[1,8,7,32]\ninput w f16[37,32,2,3]\nt := transpose w permutation=2,3,1,0\n"
       "y = convolve x t sizes=7,5\noutput y\n",
       "y parallel 0,0,0,20,0,0,0\ny tile 0,0,35,20,0,0,192\ny tile 0,0,7,32,0,0,0\n"},
      // Columns for which no whole squares are read, and features that are no multiple of 32.
      {"convolve_with_taps_last_in_narrow_panels",
       "input x f32[1,5,6,32]\ninput w f32[24,32,3,3]\nt := transpose w permutation=2,3,1,0\n"
       "y = convolve x t sizes=5,6 pads=1,1\noutput y\n",
       "y tile 0,0,30,24,0,0,288\ny tile 0,0,5,8,0,0,0\n"},
      {"convolve_with_taps_last_of_odd_features",
       "input x f32[1,5,6,20]\ninput w f32[24,20,3,3]\nt := transpose w permutation=2,3,1,0\n"
       "y = convolve x t sizes=5,6 pads=1,1\noutput y\n",
       "y tile 0,0,30,24,0,0,60\ny tile 0,0,5,16,0,0,0\n"},
      {"depthwise",
       "input x f32[2,9,30,32]\ninput w f32[3,3,32]\n"
       "y = depthwise x w sizes=9,30 pads=1,1\noutput y\n",
       "y parallel 1,4,0,0,0,0\ny tile 0,0,7,16,0,0\n"},
      // Features that fill no vector, and positions that fill no block.
      {"depthwise_strided",
       "input x f32[2,12,31,21]\ninput w f32[3,3,21]\n"
       "y = depthwise x w sizes=6,16 strides=2,2 pads=0,1\nz = relu y\noutput z\n",
       "y parallel 0,0,0,5,0,0\ny tile 0,0,5,8,0,0\nz tile 21\nz vectorize\n"},
      {"depthwise_dilated",
       "input x f32[1,11,40,18]\ninput w f32[3,2,18]\n"
       "y = depthwise x w sizes=7,45 pads=2,3 dilations=3,4\noutput y\n",
       "y parallel 0,2,13,0,0,0\ny tile 0,0,4,16,0,0\n"},
      {"depthwise_the_other_way_round",
       "input x f32[2,9,10,16]\ninput w f32[3,2,16]\n"
       "y = depthwise x w sizes=9,8 pads=-3,-2 dilations=-1,-2\noutput y\n",
       "y tile 0,0,4,8,0,0\n"},
      {"depthwise_the_other_way_round_in_steps",
       "input x f32[1,9,10,16]\ninput w f32[3,2,16]\n"
       "y = depthwise x w sizes=5,6 strides=2,2 pads=-1,1 dilations=-2,-1\noutput y\n",
       "y parallel 0,0,3,0,0,0\ny tile 0,0,2,8,0,0\n"},
      {"depthwise_beyond_the_edges",  // some of its windows are outside altogether
       "input x f32[1,4,3,16]\ninput w f32[3,2,16]\n"
       "y = depthwise x w sizes=12,14 pads=4,5\noutput y\n",
       "y tile 0,0,4,16,0,0\n"},
      {"depthwise_that_leaves_out_an_edge",
       "input x f64[1,9,20,24]\ninput w f64[2,3,24]\n"
       "y = depthwise x w sizes=6,15 pads=-1,-2\noutput y\n",
       "y parallel 0,0,8,0,0,0\ny tile 0,0,3,8,0,0\n"},
      {"depthwise_of_one_dimension",  // causal
       "input x f32[2,50,40]\ninput w f32[4,40]\n"
       "y = depthwise x w sizes=50 pads=3\noutput y\n",
       "y parallel 1,20,0,0\ny tile 0,8,16,0\n"},
      {"depthwise_of_many_taps",
       "input x f32[1,90,16]\ninput w f32[70,16]\n"
       "y = depthwise x w sizes=90 pads=69\noutput y\n",
       "y tile 0,8,16,0\n"},
      {"depthwise_of_many_taps_and_few_positions",
       "input x f32[1,9,16]\ninput w f32[70,16]\n"
       "y = depthwise x w sizes=5 pads=40\noutput y\n",
       "y tile 0,5,16,0\n"},
      {"depthwise_of_three_dimensions",
       "input x f32[2,4,5,6,20]\ninput w f32[2,3,3,20]\n"
       "y = depthwise x w sizes=4,3,6 strides=1,2,1 pads=1,1,1\noutput y\n",
       "y parallel 1,2,0,0,0,0,0,0\ny tile 0,0,0,3,8,0,0,0\n"},
      {"depthwise_by_rules_of_thumb",
       "input x f32[1,56,56,72]\ninput w f32[3,3,72]\n"
       "y = depthwise x w sizes=28,28 strides=2,2 pads=1,1\noutput y\n",
       ""},
      {"depthwise_of_few_features",
       "input x f32[1,20,30,3]\ninput w f32[5,5,3]\n"
       "y = depthwise x w sizes=20,30 pads=2,2\noutput y\n",
       "y tile 0,0,8,4,0,0\n"},
      {"depthwise_of_a_kernel_that_lies_otherwise",
       "input x f32[1,9,10,37]\ninput w f32[37,3,3]\nt := transpose w permutation=1,2,0\n"
       "y = depthwise x t sizes=9,10 pads=1,1\noutput y\n",
       "y tile 0,0,5,16,0,0\n"},
      {"depthwise_whose_sums_are_ended",
       "input x f32[2,9,10,40]\ninput w f32[3,3,40]\ninput a f32[40]\ninput b f32[40]\n"
       "input s f32[2,9,10,40]\ninput h f32[10]\np := depthwise x w sizes=9,10 pads=1,1\n"
       "m := multiply p a\nq := add m b\nr := broadcast h sizes=2,9,10,40 dimensions=2\n"
       "t := multiply q r\nu := add t s\nk := constant u value=6\nv := minimum u k\n"
       "y = relu v\noutput y\n",
       "y parallel 0,4,4,16,0,0\ny tile 0,0,3,16,0,0\n"},
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
      {"argsort", "input x f32[5,77]\ny = argsort x\noutput y\n", "y tile 0,4\n"},
      {"argsort_one_row", "input x f32[1,2000]\ny = argsort x\noutput y\n", ""},
      {"argsort_doubles", "input x f64[3,50]\ny = argsort x\noutput y\n", "y tile 0,12\n"},
      {"argsort_of_equals", "input x pred[2,99]\ny = argsort x\noutput y\n", "y parallel 1,0\n"},
      {"argsort_between",
       "input x f32[4,30]\ne = exp x\ny = argsort e\nz = negate y\noutput z\noutput e\n", ""},
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
      {"narrow_product",
       "input x bf16[61,80]\ninput w f16[80,37]\ninput b s8[37]\ninput r bf16[61,37]\n"
       "p := product x w\nt := broadcast b sizes=61,37 dimensions=1\ny := add p t\n"
       "z = add y r\noutput z\n",
       "z tile 16,16,32\n"},
      {"narrow_transposed_product",
       "input x bf16[80,61]\ninput w pred[37,80]\nl := transpose x permutation=1,0\n"
       "r := transpose w permutation=1,0\ny = product l r\noutput y\n",
       "y tile 8,8,0\n"},
      {"narrow_matmul", "input a s8[16,24]\ninput b bf16[24,32]\ny = matmul a b\noutput y\n",
       "y pack 8,16,0\ny parallel 1,1,0,0,0\ny tile 0,0,4,0,0\ny vectorize\ny unroll 2\n"},
      {"narrow_convolution",
       "input x bf16[2,9,8,20]\ninput w f16[3,3,20,24]\n"
       "y = convolve x w sizes=9,8 pads=1,1\noutput y\n",
       ""},
      {"narrow_depthwise",
       "input x bf16[2,9,18,20]\ninput w f16[3,3,20]\ninput b s8[20]\n"
       "c := depthwise x w sizes=9,18 pads=1,1\ny = add c b\noutput y\n",
       "y tile 0,0,8,16,0,0\n"},
      {"narrow_depthwise_that_lies_otherwise",
       "input x s8[2,9,18,20]\ninput w bf16[20,3,3]\nt := transpose w permutation=1,2,0\n"
       "y = depthwise x t sizes=9,18 pads=1,1\noutput y\n",
       "y tile 0,0,8,16,0,0\n"},
      {"rounded_depthwise",
       "input x bf16[2,40,24]\ninput w bf16[4,24]\n"
       "c := depthwise x w sizes=40 pads=3\nl := logistic c\nm := multiply c l\n"
       "y = to_bf16 m\noutput y\n",
       ""},
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
      {"rounded_product",
       "input a bf16[61,80]\ninput b bf16[80,37]\np := product a b\ny = to_bf16 p\noutput y\n",
       "y tile 16,16,32\n"},
      {"rounded_product_with_what_follows",
       "input a f32[61,300]\ninput b f32[300,47]\ninput c bf16[47]\np := product a b\n"
       "t := broadcast c sizes=61,47 dimensions=1\ns := add p t\nr := relu s\ny = to_f16 r\n"
       "output y\n",
       "y parallel 20,16,0\ny tile 16,16,32\ny tile 8,16,0\n"},
      {"rounded_convolution",
       "input x bf16[2,9,8,20]\ninput w bf16[3,3,20,24]\n"
       "c := convolve x w sizes=9,8 pads=1,1\ny = to_bf16 c\noutput y\n",
       "y tile 0,0,32,16,0,0,40\ny tile 0,0,4,8,0,0,0\n"},
      {"one_element", "input x f32[1]\ny = exp x\noutput y\n", ""},
      {"one_row", "input x f32[7]\ny = softmax x\noutput y\n", ""},
  };
  return cases;
}

}  // namespace hone::loops
