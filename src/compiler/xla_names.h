// Names of XLA's that most files here use.
#ifndef HONE_COMPILER_XLA_NAMES_H_
#define HONE_COMPILER_XLA_NAMES_H_

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::PrimitiveType;
using xla::Shape;
using xla::ShapeUtil;

}  // namespace hone::compiler

#endif  // HONE_COMPILER_XLA_NAMES_H_
