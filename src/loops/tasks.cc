#include "loops/tasks.h"

#include <fmt/format.h>

#include <array>

namespace hone::loops {
namespace {

// The evaluation set that the authors publish with their system: data/execution_times_eval.json of
// github.com/mohph197/MLIR-RL-artifact, commit 081fdaf. Batches are of 256 there.
constexpr const char* kPublished = "MLIR-RL's evaluation set";
// Of models in use: a GPT-2's, a ResNet's, a BERT's.
constexpr const char* kOurs = "sizes of models";

std::string Matmul(int m, int k, int n) {
  return fmt::format("input a f32[{},{}]\ninput b f32[{},{}]\nc = matmul a b\noutput c\n", m, k, k,
                     n);
}

std::string Conv(int n, int c, int h, int f, int k) {
  return fmt::format(
      "input x f32[{},{},{},{}]\ninput w f32[{},{},{},{}]\ny = conv2d x w\noutput y\n", n, c, h, h,
      f, c, k, k);
}

std::string Pool(int n, int c, int h, int window, int stride) {
  return fmt::format(
      "input x f32[{},{},{},{}]\ny = pool_max x strides={},{} window={},{}\noutput y\n", n, c, h, h,
      stride, stride, window, window);
}

std::string Unary(const char* kind, const char* shape) {
  return fmt::format("input x f32[{}]\ny = {} x\noutput y\n", shape, kind);
}

std::string Add(const char* shape) {
  return fmt::format("input a f32[{0}]\ninput b f32[{0}]\nc = add a b\noutput c\n", shape);
}

std::vector<KnownTask> Make() {
  std::vector<KnownTask> tasks;
  const auto put = [&](const char* source, const char* kind, std::string name,
                       const std::string& body) {
    tasks.push_back({name, kind, source, "task " + name + "\n" + body});
  };
  for (const auto& [m, k, n] : std::vector<std::array<int, 3>>{
           {256, 1536, 1000}, {256, 256, 128}, {256, 256, 512}, {256, 512, 1024}}) {
    put(kPublished, "matmul", fmt::format("matmul_{}_{}_{}", m, k, n), Matmul(m, k, n));
  }
  for (const auto& [c, h, f] :
       std::vector<std::array<int, 3>>{{128, 28, 512}, {512, 28, 128}, {64, 56, 256}}) {
    put(kPublished, "conv2d", fmt::format("conv2d_256_{}_{}_{}_1", c, h, f), Conv(256, c, h, f, 1));
  }
  for (const auto& [c, h] : std::vector<std::array<int, 2>>{{336, 43}, {64, 114}, {64, 147}}) {
    put(kPublished, "pooling", fmt::format("pool_max_256_{}_{}_3_2", c, h), Pool(256, c, h, 3, 2));
  }
  put(kPublished, "add", "add_256_14_14_88", Add("256,14,14,88"));
  put(kPublished, "add", "add_256_42_42_168", Add("256,42,42,168"));
  put(kPublished, "add", "add_256_7_7_2048", Add("256,7,7,2048"));
  put(kPublished, "relu", "relu_256_100", Unary("relu", "256,100"));
  put(kPublished, "relu", "relu_256_512", Unary("relu", "256,512"));
  put(kPublished, "relu", "relu_256_57_57_64", Unary("relu", "256,57,57,64"));

  put(kOurs, "matmul", "matmul_512_512_512", Matmul(512, 512, 512));
  put(kOurs, "matmul", "matmul_64_64_64", Matmul(64, 64, 64));
  put(kOurs, "product", "product_512_512_512",
      "input a f32[512,512]\ninput b f32[512,512]\ny = product a b\noutput y\n");
  put(kOurs, "conv2d", "conv2d_8_64_58_64_3", Conv(8, 64, 58, 64, 3));
  put(kOurs, "convolve", "convolve_8_56_64_64_3",
      "input x f32[8,56,56,64]\ninput w f32[3,3,64,64]\n"
      "y = convolve x w sizes=56,56 pads=1,1\noutput y\n");
  put(kOurs, "pooling", "pool_max_8_64_114_3_2", Pool(8, 64, 114, 3, 2));
  put(kOurs, "linear", "linear_256_768_768",
      "input x f32[256,768]\ninput w f32[768,768]\ninput b f32[768]\ny = matmul x w\nz = add y b\n"
      "r = relu z\noutput r\n");
  put(kOurs, "reduction", "reduce_sum_rows_4096_1024",
      "input x f32[4096,1024]\ny = reduce_sum x axes=1\noutput y\n");
  put(kOurs, "reduction", "reduce_max_columns_4096_1024",
      "input x f32[4096,1024]\ny = reduce_max x axes=0\noutput y\n");
  put(kOurs, "transpose", "transpose_1024_1024",
      "input x f32[1024,1024]\ny = transpose x permutation=1,0\noutput y\n");
  put(kOurs, "softmax", "softmax_4096_1024", Unary("softmax", "4096,1024"));
  put(kOurs, "softmax", "softmax_64_128", Unary("softmax", "64,128"));
  put(kOurs, "layer_norm", "layer_norm_4096_1024",
      "input x f32[4096,1024]\ninput g f32[1024]\ninput b f32[1024]\ny = layer_norm x g b\noutput "
      "y\n");
  put(kOurs, "attention", "attention_2_8_256_64",
      "input q f32[2,8,256,64]\ninput k f32[2,8,256,64]\ninput v f32[2,8,256,64]\n"
      "y = attention q k v\noutput y\n");
  return tasks;
}

}  // namespace

const std::vector<KnownTask>& KnownTasks() {
  static const std::vector<KnownTask> tasks = Make();
  return tasks;
}

const KnownTask* FindKnownTask(std::string_view name) {
  for (const KnownTask& task : KnownTasks()) {
    if (task.name == name) return &task;
  }
  return nullptr;
}

}  // namespace hone::loops
