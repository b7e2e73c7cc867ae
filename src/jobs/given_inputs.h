// Inputs that programs are compared on: how many sets are generated, and which somebody gives.
#ifndef HONE_JOBS_GIVEN_INPUTS_H_
#define HONE_JOBS_GIVEN_INPUTS_H_

#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/result.h"
#include "wire/pool.h"

namespace hone::jobs {

struct GivenInputs {
  std::vector<std::string>
      texts;  // a number of sets to generate, or files as numpy.savez writes them

  // Into the options: how many, and, behind what is there, the files' arrays in the order of the
  // program's parameters. A
  // module of a recording brings the inputs that were kept beside it. Errors: kInvalidInput, naming
  // file, array, and the shape and type that are expected.
  Status Read(Pool& pool, const ProgramInfo& program, const std::string& path,
              CompareOptions* compare) const;
};

// Why a text is neither such a number nor a file; "" where it is.
std::string WhyNoInputs(const std::string& text);

}  // namespace hone::jobs

#endif  // HONE_JOBS_GIVEN_INPUTS_H_
