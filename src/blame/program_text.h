// A program as HLO text, taken apart: no XLA in it. What is read is what Pool::Export writes: an
// instruction a line, operands by name, "%" before names.
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

// Whether names of instructions and computations have it.
bool IsNameCharacter(char c);

}  // namespace hone::blame

#endif  // HONE_BLAME_PROGRAM_TEXT_H_
