// Products and convolutions, which are the most of what kernels are for.
#include "kernel_cases.h"

namespace hone::loops {

const std::vector<KernelCase>& ProductKernelCases() {
  static const std::vector<KernelCase> cases = {
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
      {"narrow_product",
       "input x bf16[61,80]\ninput w f16[80,37]\ninput b s8[37]\ninput r bf16[61,37]\n"
       "p := product x w\nt := broadcast b sizes=61,37 dimensions=1\ny := add p t\n"
       "z = add y r\noutput z\n",
       "z tile 16,16,32\n"},
      {"narrow_transposed_product",
       "input x bf16[80,61]\ninput w pred[37,80]\nl := transpose x permutation=1,0\n"
       "r := transpose w permutation=1,0\ny = product l r\noutput y\n",
       "y tile 8,8,0\n"},
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
  };
  return cases;
}

}  // namespace hone::loops
