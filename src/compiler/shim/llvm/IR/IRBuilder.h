// Stand-in: see README.md.
#ifndef LLVM_IR_IRBUILDER_H
#define LLVM_IR_IRBUILDER_H

#include "llvm/IR/Value.h"

#endif  // LLVM_IR_IRBUILDER_H
