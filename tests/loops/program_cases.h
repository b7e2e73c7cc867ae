// Programs for kernels, and what is to become of them.
#ifndef HONE_TESTS_LOOPS_PROGRAM_CASES_H_
#define HONE_TESTS_LOOPS_PROGRAM_CASES_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/native_kernel.h"

namespace hone::loops {

struct Case {
  const char* name;
  std::string text;
  int calls = 1;           // 0: nothing is there for it
  std::string task = "";   // what one of them has in its task
  std::string lacks = "";  // what none has
  std::string_view pass = kKernelPass;
};

inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

// With computations add and max of a type, and a few constants.
std::string Program(const std::string& type, const std::string& body);

// A softmax of f32[64,96] and, of a second parameter, its gradient, which needs exponentials and
// sums.
std::string SoftmaxGradient();

// Of these instructions alone.
std::string Whole(const std::string& body);

// A softmax over the last dimension as JAX writes it: `shape` is "4,16,300", `rows` "4,16".
std::string Softmax(const std::string& type, const std::string& shape, const std::string& rows,
                    const std::string& dimensions, const std::string& last);

// For implement:loops, mostly: attention, and rows that several take.
std::vector<Case> Attentions();
std::vector<Case> Losses();
// For implement:products, implement:convolutions and implement:depthwise, implement:transposes,
// implement:sorts, and implement:matrices.
std::vector<Case> Products();
std::vector<Case> Convolutions();
std::vector<Case> Transposes();
std::vector<Case> Sorts();
std::vector<Case> Matrices();

}  // namespace hone::loops

#endif  // HONE_TESTS_LOOPS_PROGRAM_CASES_H_
