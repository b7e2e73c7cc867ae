// Parts of a program as programs: no XLA in it.
#ifndef HONE_BLAME_CUT_PROGRAM_H_
#define HONE_BLAME_CUT_PROGRAM_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "blame/program_text.h"
#include "core/result.h"

namespace hone::blame {

// A part of a program as a program.
struct CutProgram {
  std::string text;
  size_t instructions = 0;  // of all its computations, parameters too
};
// `kept` are instructions of one computation, ascending. What they need from outside becomes
// parameters, of the same names; small constants come along; what is read from outside of them, or
// by nobody, is the result, or the instruction `only` alone. Errors: kUnsupported where what would
// be passed is no array or tuple of arrays, or nothing is kept.
StatusOr<CutProgram> Cut(const ProgramText& program, size_t computation,
                         const std::vector<size_t>& kept,
                         std::optional<size_t> only = std::nullopt);
// An instruction and all that it is computed from, as far as Cut may keep it.
std::vector<size_t> Slice(const TextComputation& computation, size_t instruction);
// The whole of it, what the entry does not need left out.
CutProgram Print(const ProgramText& program);

// The program with these instructions of a computation gone, and what only they needed: in their
// place stands an earlier array of the same shape, else zeros. Those that Eliminable does not name
// must stay.
ProgramText Eliminate(ProgramText program, size_t computation, const std::vector<size_t>& gone);
// Arrays that are computed and not the result; no scalars, for loops may end by them.
std::vector<size_t> Eliminable(const TextComputation& computation);

// The instructions that Cut may keep: all of the computation but parameters and constants.
std::vector<size_t> Operations(const TextComputation& computation);

// The instructions that are at most `hops` operands or users away from `from`; through what is no
// operation no way leads.
std::vector<size_t> Neighbourhood(const TextComputation& computation,
                                  const std::vector<size_t>& from, int hops);

}  // namespace hone::blame

#endif  // HONE_BLAME_CUT_PROGRAM_H_
