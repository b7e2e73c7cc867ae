// A program as HLO text, in which instructions can be picked out: no XLA in it. What is read is
// what Pool::Export writes: an instruction a line, operands by name, "%" before names.
#ifndef HONE_BLAME_PROGRAM_TEXT_H_
#define HONE_BLAME_PROGRAM_TEXT_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::blame {

struct TextInstruction {
  std::string name;   // without "%"
  std::string shape;  // as written
  std::string opcode;
  std::string inside;            // what is between the brackets behind the opcode, as written
  std::vector<size_t> operands;  // indices into the computation's instructions
  std::string attributes;        // behind the brackets, as written, without metadata
  std::vector<std::string>
      metadata;                // what people want to know of it: op_name, source file and line
  std::vector<size_t> called;  // indices into the program's computations
};

struct TextComputation {
  std::string name;
  std::vector<TextInstruction> instructions;  // operands before users
  size_t root = 0;
};

struct ProgramText {
  std::vector<TextComputation> computations;  // callees before callers
  size_t entry = 0;
};

// Errors: kInvalidInput, with the line that could not be read.
StatusOr<ProgramText> ParseProgramText(std::string_view text);

// Where an instruction is.
struct TextPlace {
  size_t computation = 0;
  size_t instruction = 0;
  friend bool operator==(const TextPlace& a, const TextPlace& b) {
    return a.computation == b.computation && a.instruction == b.instruction;
  }
};
// By its name before it was copied or fused (KernelShares' rule); nothing where there is none. In
// the entry where it is there too.
std::optional<TextPlace> FindInstruction(const ProgramText& program, const std::string& name);

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

// What Cut may keep: all of the computation but parameters and constants.
std::vector<size_t> Operations(const TextComputation& computation);

// The instructions that are at most `hops` operands or users away from `from`; through what is no
// operation no way leads.
std::vector<size_t> Neighbourhood(const TextComputation& computation,
                                  const std::vector<size_t>& from, int hops);

}  // namespace hone::blame

#endif  // HONE_BLAME_PROGRAM_TEXT_H_
