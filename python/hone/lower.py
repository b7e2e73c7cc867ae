"""HLO of what isn't HLO: a StableHLO file, or a function of JAX's or TensorFlow's in a Python file.

    python -m hone.lower model.mlir -o model.pb
    python -m hone.lower train.py:step -o step.pb
    python -m hone.lower train.py:step(f32[8,16],s32[8]) -o step.pb

`hone optimize`, `hone tune` and the others call this for a FILE of either kind, with the python3 that
is first in PATH. What a function is traced with are the shapes in parentheses, or else its attribute
`example_args` or the file's `example_args`: a tuple of arguments, or a function that returns one. Only
shapes are looked at; a jitted function keeps its options. A function that is a
`tf.function(jit_compile=True)` is lowered by TensorFlow, every other by JAX; variables that a
tf.function uses are parameters of its program, after its arguments.
"""

import argparse
import importlib.util
import pathlib
import re
import sys

from hone._files import write_whole
from hone.stablehlo import from_stablehlo, require_jax

_DTYPES = {
    "pred": "bool", "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
    **{f"s{n}": f"int{n}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)},
}
_SHAPE = re.compile(r"\s*(\w+)\[([\d,\s]*)\]\s*(?:,|$)")
_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_][\w.]*)(?:\((?P<shapes>.*)\))?", re.S)


class LowerError(ValueError):
    """What was given cannot be lowered: what, and what to do."""


def lower(given):
    """A serialized HloModuleProto of FILE.mlir or FILE.py:FUNCTION[(SHAPES)].

    Raises:
      ImportError: JAX, or something that the file imports, is missing.
      LowerError: there is no such file or function, or what it is traced with isn't known.
      Whatever the file or the function raises.
    """
    function = _FUNCTION.fullmatch(given)
    if function is None:
        try:
            data = pathlib.Path(given).read_bytes()
        except OSError as error:
            raise LowerError(f"{given}: {error.strerror}") from error
        try:
            return from_stablehlo(data, binary=True)
        except ValueError as error:
            raise LowerError(f"{given}: {error}") from error
    module = _load(function["file"])
    found = module
    for part in function["name"].split("."):
        found = getattr(found, part, None)
    if not callable(found):
        callables = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        raise LowerError(f"{function['file']} has no function '{function['name']}'; it has "
                         + (", ".join(callables) or "none"))
    if hasattr(found, "experimental_get_compiler_ir"):
        return _lower_tensorflow(found, module, function)
    jax = require_jax("lowering a Python function")
    arguments = _arguments(jax.ShapeDtypeStruct, found, module, function)
    jitted = found if hasattr(found, "lower") else jax.jit(found)
    return jitted.lower(*arguments).compiler_ir("hlo").as_serialized_hlo_module_proto()


def _lower_tensorflow(found, module, function):
    # The function is TensorFlow's, so TensorFlow is loaded.
    tensorflow = sys.modules["tensorflow"]

    def spec(sizes, dtype):
        return tensorflow.TensorSpec(sizes, tensorflow.dtypes.as_dtype(dtype))

    if not getattr(found, "_jit_compile", True):
        raise LowerError(f"{function['name']} isn't compiled by XLA; make it a "
                         "tf.function(jit_compile=True)")
    arguments = _arguments(spec, found, module, function)
    try:
        give = found.experimental_get_compiler_ir(*arguments)
        return give(stage="hlo_serialized", platform_name="CPU")
    except ValueError as error:
        raise LowerError(f"TensorFlow cannot lower {function['name']}: {error}") from error


def shapes_of(make, text):
    """[make(sizes, dtype)] of "f32[8,16], s32[8]"; dtypes by numpy's names."""
    found, position = [], 0
    while text[position:].strip():
        match = _SHAPE.match(text, position)
        if match is None or match[1] not in _DTYPES:
            raise LowerError(f"'{text[position:].strip()}' is no list of shapes; give such as "
                             "f32[8,16],s32[8], of " + ", ".join(_DTYPES))
        sizes = tuple(int(size) for size in match[2].split(",") if size.strip())
        found.append(make(sizes, _DTYPES[match[1]]))
        position = match.end()
    return found


def _arguments(make, found, module, function):
    if function["shapes"] is not None:
        return shapes_of(make, function["shapes"])
    example = getattr(found, "example_args", None)
    if example is None:
        example = getattr(module, "example_args", None)
    if callable(example):
        example = example()
    if example is None:
        raise LowerError(
            f"what {function['name']} is traced with isn't known; give the shapes, "
            f"'{function['file']}:{function['name']}(f32[8,16],s32[8])', or define example_args, a "
            f"tuple of arguments, in {function['file']}")
    return example if isinstance(example, (tuple, list)) else (example,)


def _load(file):
    path = pathlib.Path(file).resolve()
    if not path.is_file():
        raise LowerError(f"{file}: there is no such file")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m hone.lower", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("given", metavar="FILE", help="FILE.mlir, or FILE.py:FUNCTION[(SHAPES)]")
    parser.add_argument("-o", "--output", required=True, help="where the HloModuleProto goes")
    options = parser.parse_args(arguments)
    try:
        write_whole(options.output, lower(options.given))
    except (ImportError, LowerError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except Exception as error:  # of the user's own file
        print(f"{options.given} raised {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
