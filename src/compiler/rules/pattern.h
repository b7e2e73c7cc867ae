// A rewrite rule as data: what a rule file (docs/rules.md) says, after parsing.
//
// A pattern and a replacement are both a Graph: a DAG of operator nodes over named holes. Matching
// binds holes to values and variables to attributes; the replacement is built from these bindings.
#ifndef HONE_COMPILER_RULES_PATTERN_H_
#define HONE_COMPILER_RULES_PATTERN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

// Where something was said in a rule file, from 1.
struct Place {
  int line = 0;
  int column = 0;
};

// An attribute's value, a condition, or an argument of one of the functions of rules/expression.h.
// Variables are written in CAPITALS; holes and nodes (as arguments of functions) in lower case.
struct Expression {
  enum class Kind {
    kInteger,   // 3
    kReal,      // 0.5
    kList,      // {0, 1}: `arguments`
    kVariable,  // P: bound by a pattern's attribute, or by `where { P = … }`
    kWord,      // LT, add, f32: an enumerator, or (as an argument) the name of a hole or a node
    kCall,      // compose(P, Q), and the operators: add sub mul div mod neg eq ne lt le gt ge not
                // and or
  };
  Kind kind = Kind::kInteger;
  int64_t integer = 0;
  double real = 0;
  std::string name;  // of the variable, word or function
  std::vector<Expression> arguments;
  Place place;
};

// Which opcodes a node matches. All but kOne bind Node::opcode_variable to the opcode found.
enum class OpcodeClass {
  kOne,     // exactly Node::opcode
  kUnary,   // elementwise, one operand, same element type (no convert, no copy)
  kBinary,  // elementwise, two operands, same element type (no compare, no complex)
};

// The values that may stand in a hole.
enum class ElementClass { kAny, kFloat, kInteger, kNumber, kPred };  // kNumber: float or integer

struct Hole {
  std::string name;
  ElementClass element_class = ElementClass::kAny;
  std::optional<int> rank;
  bool constant = false;  // a constant instruction
  // A scalar constant, or a broadcast of one, or a constant all of whose elements are the same:
  // value(hole) is its value.
  bool splat = false;
  bool list = false;  // `x...`: all operands of its (only) node
};

// The operand of a node: a hole or an earlier node of the same graph. A replacement may also name
// nodes of its pattern (kMatched), to keep or reuse what was matched.
struct Operand {
  enum class Kind { kHole, kNode, kMatched };
  Kind kind = Kind::kHole;
  int index = 0;  // into Pattern::holes, this Graph::nodes, or the pattern's nodes
};

// `dimensions=P`. In a pattern a variable seen for the first time is bound; everything else must be
// equal. Names as in HLO text, with what is nested there spelled flat: slice has start, limit,
// strides; pad has low, high, interior; dot has lhs_batch_dims, rhs_batch_dims,
// lhs_contracting_dims, rhs_contracting_dims; reduce has dimensions, to_apply; compare has
// direction; convolution and others: `like=NODE` (replacement only) takes every attribute of a
// matched node, as does using the opcode variable that the node bound.
//
// A number as an operand (`multiply(x, 2)`) and `constant(value=C)` are nodes of opcode constant
// with the attribute value. In a pattern they match whatever is that number in every element: a
// scalar constant, a broadcast of one, a constant all of whose elements are equal. In a
// replacement without a written shape they take that of the first other operand of their user (a
// scalar of its element type as the second operand of pad, reduce and reduce-window).
struct Attribute {
  std::string name;
  Expression value;
  Place place;
};

struct Node {
  std::string name;
  OpcodeClass opcode_class = OpcodeClass::kOne;
  xla::HloOpcode opcode = xla::HloOpcode::kAdd;
  std::string opcode_variable;  // of a class; in a replacement: the opcode (and attributes) found
  std::vector<Operand> operands;
  // The shape where written (`TYPE[DIMENSIONS] opcode(…)`): bound or compared in a pattern; needed
  // in a replacement for what no inference tells (broadcast, reshape, iota, constant, convert).
  std::optional<Expression> element_type;
  std::optional<Expression> dimensions;
  std::vector<Attribute> attributes;
  // In a pattern: nothing outside the match uses it (`one_use(a)`).
  bool one_use = false;
  Place place;
};

struct Graph {
  std::vector<Node> nodes;  // operands before users
  Operand root;             // a node; of a replacement also a hole or a matched node
};

// One example to test a rule on. Either bindings: holes to types (`x = T[A,B]`: single capital
// letters of the law are a random size each, T every element type that the holes allow), variables
// to expressions (with random_permutation(rank) and the like), or a whole program to rewrite.
struct Law {
  struct Binding {
    std::string name;                        // of a hole or a variable
    Expression value;                        // of a variable
    std::optional<Expression> element_type;  // of a hole: with `dimensions`
    std::optional<Expression> dimensions;
    Place place;
  };
  std::vector<Binding> bindings;
  std::string hlo;  // "" where made from bindings
  Place place;
};

struct Rule {
  std::string name;   // snake_case, unique
  std::string group;  // the stem of the file
  std::string meaning;
  std::string source;  // whose idea: "TASO", "Enzyme-JAX: transpose_transpose"
  std::vector<Hole> holes;
  Graph pattern;
  // In order: `P = expression` binds a variable, all others must be true.
  struct Condition {
    std::string binds;  // "" for a plain condition
    Expression expression;
  };
  std::vector<Condition> conditions;
  Graph replacement;
  // The least number of instructions that an application must save, counting what falls dead
  // against what is added. 0 for a rule that only moves things where others find them; such a rule
  // must have a direction in which it ends.
  int gain = 1;
  // What it adds of scalars and of broadcasts of scalars is shared by its other applications:
  // counted once for a computation (and shape), and only done where it then still saves.
  bool shared = false;
  // Not in the pass `rules`: on demand by its own name only (it may undo what another rule does, or
  // cost run time).
  bool on_demand = false;
  std::vector<Law> laws;
  Place place;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RULES_PATTERN_H_
