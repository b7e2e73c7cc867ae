// Stand-in: see README.md.
#ifndef LLVM_IR_VALUE_H
#define LLVM_IR_VALUE_H

namespace llvm {
class IRBuilderBase;
class Module;
class Type;
class Value;
}  // namespace llvm

#endif  // LLVM_IR_VALUE_H
