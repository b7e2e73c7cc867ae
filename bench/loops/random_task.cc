#include "random_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loops/catalogue.h"

namespace hone::bench {
namespace {

int Size(Rng& rng, int most) {
  static const std::vector<int> sizes = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 48};
  while (true) {
    const int size = rng.Pick(sizes);
    if (size <= most) return size;
  }
}

// What is elementwise behind a product that is not stored: with numbers of one dimension, and with
// another array, as it lies or turned round.
void End(Rng& rng, const std::string& shape, const std::string& type, std::string& inputs,
         std::string& body) {
  body.replace(body.find("y = "), 4, "s0 := ");
  std::vector<std::string> sizes(1);
  for (const char c : shape) {
    if (c == ',') {
      sizes.emplace_back();
    } else {
      sizes.back() += c;
    }
  }
  const size_t d = rng.Below(sizes.size());
  inputs += fmt::format("input e0 {}[{}]\n", type, sizes[d]);
  body += fmt::format("s1 := broadcast e0 sizes={} dimensions={}\ns2 := add s0 s1\n", shape, d);
  std::string other = "e1", turned = shape;
  if (rng.Below(2) == 0) {
    turned = fmt::format("{}", fmt::join(sizes.rbegin(), sizes.rend(), ","));
    std::vector<size_t> permutation;
    for (size_t i = sizes.size(); i-- > 0;) permutation.push_back(i);
    body += fmt::format("s3 := transpose e1 permutation={}\n", fmt::join(permutation, ","));
    other = "s3";
  }
  inputs += fmt::format("input e1 {}[{}]\n", type, turned);
  static const std::vector<std::string> kinds = {
      "s4 := relu s2\ny = multiply s4 {}\n", "s4 := less {0} s2\ny = select s4 s2 {0}\n",
      "s4 := tanh s2\ny = add {} s4\n", "y = subtract {} s2\n"};
  body += fmt::format(fmt::runtime(rng.Pick(kinds)), other);
}

}  // namespace

std::string RandomTask(Rng& rng) {
  static const std::vector<std::string> types = {"f32", "f32", "f32", "f64", "s32"};
  const std::string type = rng.Pick(types);
  const bool floats = type[0] == 'f';
  std::string inputs, body, value;
  int rank = 2;
  const auto input = [&](const std::string& name, const std::string& shape) {
    inputs += fmt::format("input {} {}[{}]\n", name, type, shape);
  };
  std::string shape;
  switch (rng.Below(floats ? 15 : 6)) {
    case 0: {
      const int m = Size(rng, 48), k = Size(rng, 48), n = Size(rng, 48);
      input("a", fmt::format("{},{}", m, k));
      input("b", fmt::format("{},{}", k, n));
      body = "y = matmul a b\n";
      shape = fmt::format("{},{}", m, n);
      break;
    }
    case 1: {
      const int b = Size(rng, 5), m = Size(rng, 24), k = Size(rng, 24), n = Size(rng, 24);
      input("a", fmt::format("{},{},{}", b, m, k));
      input("b", fmt::format("{},{},{}", b, k, n));
      body = "y = batch_matmul a b\n";
      shape = fmt::format("{},{},{}", b, m, n);
      rank = 3;
      break;
    }
    case 2:
    case 3: {
      const int n = Size(rng, 3), c = Size(rng, 8), f = Size(rng, 8), window = Size(rng, 3);
      const int stride = Size(rng, 2), dilation = Size(rng, 2);
      const bool conv = rng.Below(2) == 0;
      const int reach = conv ? (window - 1) * dilation + 1 : window;
      const int h = reach + Size(rng, 12), w = reach + Size(rng, 12);
      input("a", fmt::format("{},{},{},{}", n, c, h, w));
      rank = 4;
      if (conv) {
        input("b", fmt::format("{},{},{},{}", f, c, window, window));
        body = fmt::format("y = conv2d a b strides={0},{0} dilations={1},{1}\n", stride, dilation);
      } else {
        body = fmt::format("y = pool_{0} a window={1},{1} strides={2},{2}\n",
                           rng.Below(2) == 0 ? "max" : "sum", window, stride);
      }
      shape = fmt::format("{},{},{},{}", n, conv ? f : c, (h - reach) / stride + 1,
                          (w - reach) / stride + 1);
      break;
    }
    case 4: {
      const bool large = rng.Below(2) == 0;  // then all of it is reduced in parts
      const int m = Size(rng, 48) * (large ? 20 : 1), n = Size(rng, 48) * (large ? 9 : 1);
      const int more_m = Size(rng, 3), more_n = Size(rng, 3);
      const bool slices = rng.Below(2) == 0;
      input("a",
            slices ? fmt::format("{},{}", m + more_m, n + more_n) : fmt::format("{},{}", m, n));
      if (slices) {
        body = fmt::format(
            "s := slice a starts={},{} sizes={},{}\nt := slice a starts=0,{} "
            "sizes={},{}\nu := subtract s t\n",
            more_m, rng.Below(2), m, n, more_n, m, n);
      }
      const std::vector<std::string> axes = {"0", "1", "0,1"};
      const size_t which = large ? 2 : rng.Below(3);
      body += fmt::format("y = reduce_{} {} axes={}\n", rng.Below(2) == 0 ? "max" : "sum",
                          slices ? "u" : "a", axes[which]);
      shape = which == 2 ? "1" : fmt::format("{}", which == 1 ? m : n);
      rank = 1;
      break;
    }
    case 5: {
      if (rng.Below(2) == 0) {
        const int a = Size(rng, 8), n = Size(rng, 48), b = Size(rng, 48);
        const bool behind = rng.Below(2) == 0;
        shape = behind ? fmt::format("{},{},{}", a, n, b) : fmt::format("{},{}", a, n);
        input("a", shape);
        body = fmt::format("y = running_{} a{}\n", rng.Below(2) == 0 ? "max" : "sum",
                           rng.Below(2) == 0 ? " reverse=1" : "");
        break;
      }
      const int m = Size(rng, 48), n = Size(rng, 48);
      input("a", fmt::format("{},{}", m, n));
      body = "y = transpose a permutation=1,0\n";
      shape = fmt::format("{},{}", n, m);
      break;
    }
    case 6: {
      const int m = Size(rng, 48), n = Size(rng, 48);
      shape = fmt::format("{},{}", m, n);
      input("a", shape);
      body = "y = softmax a\n";
      break;
    }
    case 7: {
      const int m = Size(rng, 48), n = 1 + Size(rng, 48);
      shape = fmt::format("{},{}", m, n);
      input("a", shape);
      input("b", std::to_string(n));
      input("c", std::to_string(n));
      body = "y = layer_norm a b c\n";
      break;
    }
    case 8: {
      const int b = Size(rng, 3), s = Size(rng, 16), d = Size(rng, 16), t = Size(rng, 16);
      input("a", fmt::format("{},2,{},{}", b, s, d));
      input("b", fmt::format("{},2,{},{}", b, t, d));
      input("c", fmt::format("{},2,{},{}", b, t, d));
      body = "y = attention a b c\n";
      shape = fmt::format("{},2,{},{}", b, s, d);
      rank = 4;
      break;
    }
    case 9: {
      const int b = Size(rng, 3), s = Size(rng, 48), d = Size(rng, 16), t = Size(rng, 48);
      const int e = Size(rng, 16);
      const std::string mask = rng.Below(2) == 0 ? fmt::format("{},{}", t, s) : std::to_string(t);
      const bool rows = mask.find(',') != mask.npos;
      input("a", fmt::format("{},{},{}", s, b, d));
      input("b", fmt::format("{},{},{}", b, t, d));
      input("c", fmt::format("{},{}", t, e));
      input("w", mask);
      body = fmt::format(
          "p := transpose a permutation=1,0,2\nn := broadcast c sizes={0},{2},{3} dimensions=1,2\n"
          "s := scores p b\n{4}l := broadcast {5} sizes={0},{1},{2} dimensions={6}\n"
          "k := constant s value={7}\nr := relu l\nu := select r s k\n"
          "y = attend u n{8}{9}\n",
          b, s, t, e, rows ? "o := transpose w permutation=1,0\n" : "", rows ? "o" : "w",
          rows ? "1,2" : "2", rng.Below(2) == 0 ? "-1e9" : "-1",
          rng.Below(2) == 0 ? fmt::format(" until={}", Size(rng, 48)) : "",
          rng.Below(2) == 0 ? " permutation=1,0,2" : "");
      shape = body.find("permutation=1,0,2\n", body.find("attend")) != body.npos
                  ? fmt::format("{},{},{}", s, b, e)
                  : fmt::format("{},{},{}", b, s, e);
      rank = 3;
      break;
    }
    case 10: {
      const int b = Size(rng, 3), m = Size(rng, 48), k = Size(rng, 48), n = Size(rng, 48);
      const bool left = rng.Below(2) == 0, right = rng.Below(2) == 0, last = rng.Below(4) == 0;
      input("a", left ? fmt::format("{},{},{}", k, b, m) : fmt::format("{},{},{}", b, m, k));
      input("b", last    ? fmt::format("{},{},{}", k, n, b)
                 : right ? fmt::format("{},{}", n, k)
                         : fmt::format("{},{},{}", b, k, n));
      body = left ? "l := transpose a permutation=1,2,0\n" : "";
      if (last) {
        body += "r := transpose b permutation=2,0,1\n";
      } else if (right) {
        body += fmt::format(
            "s := transpose b permutation=1,0\n"
            "r := broadcast s sizes={},{},{} dimensions=1,2\n",
            b, k, n);
      }
      const bool permuted = rng.Below(2) == 0;
      body += fmt::format("y = product {} {}{}\n", left ? "l" : "a", last || right ? "r" : "b",
                          permuted ? " permutation=1,0,2" : "");
      shape = permuted ? fmt::format("{},{},{}", m, b, n) : fmt::format("{},{},{}", b, m, n);
      rank = 3;
      break;
    }
    case 11: {
      const int n = Size(rng, 4), h = 1 + Size(rng, 8), w = 1 + Size(rng, 8), c = Size(rng, 24);
      const int f = Size(rng, 48), k = Size(rng, 3), stride = Size(rng, 2), dilation = Size(rng, 2);
      const int oh = Size(rng, 8), ow = Size(rng, 8);
      const int pad_h = static_cast<int>(rng.Below(4)) - 1, pad_w = static_cast<int>(rng.Below(3));
      const bool turned = rng.Below(2) == 0, other = rng.Below(2) == 0;
      input("a", turned ? fmt::format("{},{},{},{}", c, h, w, n)
                        : fmt::format("{},{},{},{}", n, h, w, c));
      input("b", other ? fmt::format("{0},{1},{1},{2}", c, k, f)
                       : fmt::format("{0},{0},{1},{2}", k, f, c));
      body = fmt::format(
          "{}t := transpose b permutation={}\ny = convolve {} t sizes={},{} strides={},1 "
          "dilations=1,{} pads={},{}{}\n",
          turned ? "s := transpose a permutation=3,1,2,0\n" : "", other ? "1,2,0,3" : "0,1,3,2",
          turned ? "s" : "a", oh, ow, stride, rng.Below(3) == 0 ? -dilation : dilation, pad_h,
          pad_w, turned ? " permutation=1,2,0,3" : "");
      shape = turned ? fmt::format("{},{},{},{}", oh, ow, n, f)
                     : fmt::format("{},{},{},{}", n, oh, ow, f);
      rank = 4;
      break;
    }
    case 13: {
      const int n = Size(rng, 3), h = 1 + Size(rng, 8), w = 1 + Size(rng, 30), c = Size(rng, 40);
      const int k = Size(rng, 3), l = Size(rng, 4), oh = Size(rng, 9), ow = Size(rng, 30);
      const bool other = rng.Below(2) == 0;
      input("a", fmt::format("{},{},{},{}", n, h, w, c));
      input("b", other ? fmt::format("{},{},{}", c, k, l) : fmt::format("{},{},{}", k, l, c));
      const int stride_h = Size(rng, 2), stride_w = Size(rng, 3);
      const int dilation_h = Size(rng, 2) * (rng.Below(3) == 0 ? -1 : 1);
      const int dilation_w = Size(rng, 3) * (rng.Below(3) == 0 ? -1 : 1);
      const int pad_h = static_cast<int>(rng.Below(5)) - 2;
      const int pad_w = static_cast<int>(rng.Below(9)) - 3;
      body =
          fmt::format("{}y = depthwise a {} sizes={},{} strides={},{} dilations={},{} pads={},{}\n",
                      other ? "t := transpose b permutation=1,2,0\n" : "", other ? "t" : "b", oh,
                      ow, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w);
      shape = fmt::format("{},{},{},{}", n, oh, ow, c);
      rank = 4;
      break;
    }
    case 12: {
      const int m = Size(rng, 48), n = Size(rng, 48);
      static const std::vector<std::string> kinds = {"equal", "not_equal", "less", "less_equal"};
      shape = fmt::format("{},{}", m, n);
      input("a", shape);
      input("b", rng.Below(2) == 0 ? shape : std::to_string(n));
      body = fmt::format(
          "c := {} a b\nd := {} a a\ne := maximum c d\nn := negate a\n"
          "y = select e a n\n",
          rng.Pick(kinds), rng.Pick(kinds));
      break;
    }
    default: {
      const int m = Size(rng, 48), n = Size(rng, 48);
      shape = fmt::format("{},{}", m, n);
      input("a", shape);
      body = "y = tanh a\n";
      break;
    }
  }
  if ((body.find("y = product") != body.npos || body.find("y = convolve") != body.npos ||
       body.find("y = depthwise") != body.npos) &&
      rng.Below(2) == 0) {
    End(rng, shape, type, inputs, body);
  }
  value = "y";
  const size_t more = rng.Below(3);
  for (size_t i = 0; i < more; ++i) {
    const std::string next = fmt::format("z{}", i);
    const size_t what = rng.Below(floats ? 4 : 2);
    if (what == 0) {
      body += fmt::format("{} = relu {}\n", next, value);
    } else if (what == 1) {
      const std::string last =
          shape.substr(shape.rfind(',') == shape.npos ? 0 : shape.rfind(',') + 1);
      input("m" + std::to_string(i), rng.Below(2) == 0 ? shape : last);
      body +=
          fmt::format("{} = {} {} m{}\n", next, rng.Below(2) == 0 ? "add" : "multiply", value, i);
    } else if (what == 2) {
      body += fmt::format("{} = logistic {}\n", next, value);
    } else {
      body += fmt::format("{} = exp {}\n", next, value);
      value = next;
      break;  // twice would be out of range
    }
    value = next;
  }
  (void)rank;
  return "task random\n" + inputs + body + "output " + value + "\n";
}

loops::Schedule RandomSchedule(const loops::Program& program, Rng& rng) {
  const loops::Catalogue catalogue(program, {2, 64, 32});
  loops::Scheduled scheduled(program);
  const size_t steps = rng.Below(3 + 4 * program.nests.size());
  for (size_t i = 0; i < steps; ++i) {
    const size_t site = rng.Below(catalogue.sites().size());
    const auto kind = static_cast<loops::StepKind>(rng.Below(loops::kStepKinds));
    const auto offers = catalogue.Offers(scheduled, site, kind);
    if (offers.empty()) continue;
    (void)scheduled.Apply(rng.Pick(offers));
  }
  return scheduled.schedule();
}

}  // namespace hone::bench
