// Linear recurrences, written as jax.lax.associative_scan writes them.
#include "implementation_cases.h"
#include "program_text.h"

namespace hone::compiler {
namespace {

// h[t] = a[t] h[t-1] + b[t] of b [batch, n, 3] along the middle, with a of the same sizes or
// [batch, n], and as jax.lax.associative_scan has it: pairs, what comes of these, what lies
// between.
class Tree {
 public:
  Tree(int64_t batch, bool spread, std::string even_opcode)
      : batch_(batch), spread_(spread), even_opcode_(std::move(even_opcode)) {}

  std::string Text(int64_t n) {
    const std::string end = Scan("p0", "p1", n);
    return Entry(Type(n, spread_) + ";" + Type(n, false), "zero = f32[] constant(0)\n  " + text_ +
                                                              "ROOT r = " + Type(n, false) +
                                                              " negate(" + end + ")");
  }

 private:
  std::string Type(int64_t n, bool narrow) const {
    return "f32[" + std::to_string(batch_) + "," + std::to_string(n) + (narrow ? "]" : ",3]");
  }

  std::string Add(const std::string& type, const std::string& what) {
    const std::string name = "v" + std::to_string(count_++);
    text_ += name + " = " + type + " " + what + "\n  ";
    return name;
  }

  std::string Part(const std::string& of, int64_t first, int64_t end, int64_t stride, bool narrow) {
    const int64_t size = (end - first + stride - 1) / stride;
    return Add(Type(size, narrow), "slice(" + of + "), slice={[0:" + std::to_string(batch_) +
                                       "], [" + std::to_string(first) + ":" + std::to_string(end) +
                                       ":" + std::to_string(stride) + "]" +
                                       (narrow ? "}" : ", [0:3]}"));
  }

  std::string Factor(const std::string& a, int64_t n) {
    if (!spread_) return a;
    const std::string one = Add("f32[" + std::to_string(batch_) + "," + std::to_string(n) + ",1]",
                                "reshape(" + a + ")");
    const std::string back = Add(Type(n, true), "reshape(" + one + ")");
    return Add(Type(n, false), "broadcast(" + back + "), dimensions={0,1}");
  }

  std::string Next(const std::string& a, const std::string& before, const std::string& b, int64_t n,
                   const std::string& opcode = "add") {
    const std::string product =
        Add(Type(n, false), "multiply(" + Factor(a, n) + ", " + before + ")");
    return Add(Type(n, false), opcode + "(" + product + ", " + b + ")");
  }

  std::string Scan(const std::string& a, const std::string& b, int64_t n) {
    if (n < 2) return b;
    const int64_t pairs = n / 2, even = (n - 1) / 2;
    const std::string a0 = Part(a, 0, n - 1, 2, spread_), a1 = Part(a, 1, n, 2, spread_);
    const std::string b0 = Part(b, 0, n - 1, 2, false), b1 = Part(b, 1, n, 2, false);
    const std::string of_a = Add(Type(pairs, spread_), "multiply(" + a0 + ", " + a1 + ")");
    const std::string odd = Scan(of_a, Next(a1, b0, b1, pairs), pairs);
    std::string evens = Part(b, 0, 1, 1, false);
    if (even > 0) {
      const std::string before = n % 2 == 0 ? Part(odd, 0, even, 1, false) : odd;
      const std::string others = Next(Part(a, 2, n, 2, spread_), before, Part(b, 2, n, 2, false),
                                      even, n > 8 ? even_opcode_ : "add");
      evens =
          Add(Type(even + 1, false), "concatenate(" + evens + ", " + others + "), dimensions={1}");
    }
    const std::string high = n % 2 == 0 ? "0_1_1" : "0_0_1", low = n % 2 == 0 ? "1_0_1" : "1_1_1";
    const std::string x =
        Add(Type(n, false), "pad(" + evens + ", zero), padding=0_0x" + high + "x0_0");
    const std::string y =
        Add(Type(n, false), "pad(" + odd + ", zero), padding=0_0x" + low + "x0_0");
    return Add(Type(n, false), "add(" + x + ", " + y + ")");
  }

  const int64_t batch_;
  const bool spread_;
  const std::string even_opcode_;
  std::string text_;
  int count_ = 0;
};

}  // namespace

std::vector<Case> RecurrenceCases() {
  const auto tree = [](const std::string& label, int64_t steps, int64_t batch, bool spread,
                       bool applies = true, const std::string& even_opcode = "add") {
    return Case{"linear_recurrences", label, Tree(batch, spread, even_opcode).Text(steps), applies};
  };
  return {
      tree("of a power of two", 16, 2, false),
      tree("of a prime", 37, 2, false),
      tree("of one batch", 24, 1, false),
      tree("with a factor for each row", 21, 2, true),
      tree("of few steps", 9, 2, false, false),
      tree("that subtracts at even places", 32, 2, false, false, "subtract"),
  };
}

}  // namespace hone::compiler
