"""Modules that call back into Python (jax.pure_callback), and what stands in for it while they are tried.

A module names its callbacks by number: their place in a list that JAX gives XLA beside the module. hone runs no
user's function: what stands in answers as src/compiler/custom_calls/python_callbacks.h says."""

import numpy as np
from jax.extend.mlir import ir

_TARGETS = ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback")


def _calls(module):
    found = []

    def visit(op):
        if op.name == "stablehlo.custom_call" \
                and ir.StringAttr(op.attributes["call_target_name"]).value in _TARGETS:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def are_pure(module):
    """Whether no callback of an ir.Module does more than answer (jax.debug.print does)."""
    return not any("has_side_effect" in call.attributes
                   and ir.BoolAttr(call.attributes["has_side_effect"]).value for call in _calls(module))


def stand_ins(module, dtype_of):
    """A list of functions for the callbacks of an ir.Module; `dtype_of` gives numpy's type of MLIR's."""
    by_index = {}
    for call in _calls(module):
        # JAX has it under a name of its own, XLA where StableHLO has it.
        own = "mhlo.backend_config" in call.attributes
        config = ir.DictAttr(call.attributes["mhlo.backend_config" if own else "backend_config"])
        kinds = [kind for result in call.results for kind in _arrays(result.type)]
        by_index[ir.IntegerAttr(config["index"]).value] = _stand_in(
            [(tuple(kind.shape), dtype_of(str(kind.element_type))) for kind in kinds])
    return [by_index.get(index) for index in range(1 + max(by_index, default=-1))]


def _arrays(kind):
    try:
        parts = ir.TupleType(kind)
    except ValueError:
        return [ir.RankedTensorType(kind)]
    return [ir.RankedTensorType(parts.get_type(position)) for position in range(parts.num_types)]


def _stand_in(results):
    def answer(*operands):
        operands = [np.asarray(operand) for operand in operands]
        real = [operand for operand in operands if operand.dtype in (np.float32, np.float64)]
        count = sum(operand.size for operand in real)
        mean = sum(float(np.sum(operand, dtype=np.float64)) for operand in real) / max(count, 1)

        def one(shape, dtype):
            size = int(np.prod(shape, dtype=np.int64))
            for operand in operands:
                if operand.dtype == dtype and operand.size == size:
                    return operand.reshape(shape)
            floats = dtype in (np.float32, np.float64, np.complex64, np.complex128)
            return np.full(shape, mean if floats else 0, dtype)

        return tuple(one(shape, dtype) for shape, dtype in results)

    return answer
