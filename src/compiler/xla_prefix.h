// Precompiled: what nearly every file here includes.
#ifndef HONE_COMPILER_XLA_PREFIX_H_
#define HONE_COMPILER_XLA_PREFIX_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

#endif  // HONE_COMPILER_XLA_PREFIX_H_
