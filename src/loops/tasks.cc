#include "loops/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/rng.h"

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

std::string Unary(const char* kind, const std::string& shape) {
  return fmt::format("input x f32[{}]\ny = {} x\noutput y\n", shape, kind);
}

std::string Add(const std::string& shape) {
  return fmt::format("input a f32[{0}]\ninput b f32[{0}]\nc = add a b\noutput c\n", shape);
}

std::string Linear(int m, int k, int n) {
  return fmt::format(
      "input x f32[{0},{1}]\ninput w f32[{1},{2}]\ninput b f32[{2}]\ny = matmul x w\n"
      "z = add y b\nr = relu z\noutput r\n",
      m, k, n);
}

std::string Reduce(const char* kind, int rows, int columns, int axis) {
  return fmt::format("input x f32[{},{}]\ny = reduce_{} x axes={}\noutput y\n", rows, columns, kind,
                     axis);
}

std::string Transpose(int rows, int columns) {
  return fmt::format("input x f32[{},{}]\ny = transpose x permutation=1,0\noutput y\n", rows,
                     columns);
}

std::string LayerNorm(int rows, int columns) {
  return fmt::format(
      "input x f32[{0},{1}]\ninput g f32[{1}]\ninput b f32[{1}]\ny = layer_norm x g b\noutput y\n",
      rows, columns);
}

// One task of a kind, in sizes as models have them. Its name tells all of it.
KnownTask Draw(size_t kind, Rng& rng) {
  static const std::vector<int> lengths = {32,  48,  64,  96,  100, 128, 160, 192, 224,  256,
                                           320, 384, 480, 512, 576, 640, 768, 896, 1000, 1024};
  static const std::vector<int> many = {64, 128, 200, 256, 512, 1000, 1024, 2048, 4096};
  static const std::vector<int> images = {1, 2, 4, 8};
  static const std::vector<int> features = {16, 24, 32, 48, 64, 96, 128};
  static const std::vector<int> heights = {14, 16, 28, 30, 32, 43, 57, 58, 64};
  const int m = rng.Pick(lengths), k = rng.Pick(lengths), n = rng.Pick(lengths);
  const int rows = rng.Pick(many), batch = rng.Pick(images), height = rng.Pick(heights);
  const int in = rng.Pick(features), out = rng.Pick(features);
  const int window = static_cast<int>(2 + rng.Below(2)),
            stride = static_cast<int>(1 + rng.Below(2));
  const int kernel = rng.Below(2) == 0 ? 1 : 3, axis = static_cast<int>(rng.Below(2));
  const char* const reduce = rng.Below(2) == 0 ? "sum" : "max";
  const std::string shape = rng.Below(2) == 0
                                ? fmt::format("{},{}", rows, n)
                                : fmt::format("{},{},{},{}", batch, height, height, in);
  std::string sizes = shape;
  std::replace(sizes.begin(), sizes.end(), ',', '_');
  const auto made = [](const char* name, std::string with, const std::string& body) {
    with = fmt::format("{}_{}", name, with);
    return KnownTask{with, name, "drawn", "task " + with + "\n" + body};
  };
  const std::string square = fmt::format("{}_{}", rows, n);
  switch (kind) {
    case 0:
      return made("matmul", fmt::format("{}_{}_{}", m, k, n), Matmul(m, k, n));
    case 1:
      return made("conv2d", fmt::format("{}_{}_{}_{}_{}", batch, in, height, out, kernel),
                  Conv(batch, in, height, out, kernel));
    case 2:
      return made("pool_max", fmt::format("{}_{}_{}_{}_{}", batch, in, height, window, stride),
                  Pool(batch, in, height, window, stride));
    case 3:
      return made("add", sizes, Add(shape));
    case 4:
      return made("relu", sizes, Unary("relu", shape));
    case 5:
      return made("linear", fmt::format("{}_{}_{}", m, k, n), Linear(m, k, n));
    case 6:
      return made("softmax", square, Unary("softmax", fmt::format("{},{}", rows, n)));
    case 7:
      return made("layer_norm", square, LayerNorm(rows, n));
    case 8:
      return made("reduce", fmt::format("{}_{}_{}", reduce, axis, square),
                  Reduce(reduce, rows, n, axis));
    default:
      return made("transpose", square, Transpose(rows, n));
  }
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
  put(kOurs, "depthwise", "depthwise_1_56_144_3",
      "input x f32[1,56,56,144]\ninput w f32[3,3,144]\n"
      "y = depthwise x w sizes=56,56 pads=1,1\noutput y\n");
  put(kOurs, "depthwise", "depthwise_4_2048_1536_4",
      "input x f32[4,2048,1536]\ninput w f32[4,1536]\n"
      "y = depthwise x w sizes=2048 pads=3\noutput y\n");
  put(kOurs, "pooling", "pool_max_8_64_114_3_2", Pool(8, 64, 114, 3, 2));
  put(kOurs, "linear", "linear_256_768_768", Linear(256, 768, 768));
  put(kOurs, "reduction", "reduce_sum_rows_4096_1024", Reduce("sum", 4096, 1024, 1));
  put(kOurs, "reduction", "reduce_max_columns_4096_1024", Reduce("max", 4096, 1024, 0));
  put(kOurs, "transpose", "transpose_1024_1024", Transpose(1024, 1024));
  put(kOurs, "softmax", "softmax_4096_1024", Unary("softmax", "4096,1024"));
  put(kOurs, "softmax", "softmax_64_128", Unary("softmax", "64,128"));
  put(kOurs, "layer_norm", "layer_norm_4096_1024", LayerNorm(4096, 1024));
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

std::vector<KnownTask> DrawTasks(size_t count, uint64_t seed) {
  constexpr size_t kKinds = 10, kTries = 100;
  Rng rng(seed);
  std::vector<KnownTask> tasks;
  std::set<std::string> names;
  for (size_t tries = 0; tasks.size() < count && tries < kTries * count; ++tries) {
    KnownTask task = Draw(tasks.size() % kKinds, rng);
    if (names.insert(task.name).second) tasks.push_back(std::move(task));
  }
  return tasks;
}

const KnownTask* FindKnownTask(std::string_view name) {
  for (const KnownTask& task : KnownTasks()) {
    if (task.name == name) return &task;
  }
  return nullptr;
}

}  // namespace hone::loops
