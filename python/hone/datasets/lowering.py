"""HLO text of JAX functions, as XLA is given it: lowered, not optimised, nothing run.

JAX is imported when a function here is called; `pip install 'hone[datasets]'` brings it.
"""

import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .programs import DatasetError


def from_jax(
    fn: Callable,
    *shapes: Any,
    static_argnums: int | Sequence[int] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    name: str | None = None,
) -> str:
    """The HLO text of `fn`, lowered for the CPU and not optimised.

    Nothing is run and no weights are made: `fn` is traced with shapes only. All constants are
    printed in full, so that the text is the whole program. The same function, shapes and JAX give
    the same text.

    Args:
      fn: a function that JAX can trace. A jitted one keeps its own options if none is given here.
      *shapes: for each argument of `fn` a jax.ShapeDtypeStruct, an array (of which only shape and
        dtype are looked at), a `(shape, dtype)` tuple such as `((8, 16), "float32")`, a Python
        number, or a pytree of these. For a static argument its value.
      static_argnums: positions of arguments that are compiled in, as in jax.jit.
      donate_argnums: positions of arguments whose memory the results may take, as in jax.jit.
      name: the HLO module's name is `jit_NAME`; else it's made of the function's own.

    Raises:
      ImportError: JAX is not installed.
      DatasetError: an argument is no shape.
      Whatever `fn` raises while it is traced.
    """
    jax = require("jax")
    static = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums or ())
    static = {position % len(shapes) if shapes else position for position in static}
    arguments = [
        shape if position in static else _abstract(jax, shape, f"argument {position}")
        for position, shape in enumerate(shapes)
    ]
    if hasattr(fn, "trace") and (static_argnums, donate_argnums, name) == (None, None, None):
        jitted = fn
    else:
        jitted = jax.jit(
            _named(fn, name), static_argnums=static_argnums, donate_argnums=donate_argnums
        )
    with warnings.catch_warnings():
        # A donated argument that no result fits is common in programs, and no concern here.
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        lowered = jitted.trace(*arguments).lower(lowering_platforms=("cpu",))
        # Lowered.as_text leaves large constants out in some versions of JAX.
        text = lowered.compiler_ir("hlo").as_hlo_text(print_large_constants=True)
    if "constant({...})" in text:
        raise DatasetError(
            f"JAX {jax.__version__} left constants out of the text of '{fn}'; pass large arrays "
            "as arguments, not as constants, or use another version of JAX"
        )
    return text.rstrip("\n") + "\n"


def require(module: str) -> Any:
    """Imports an optional module. Raises ImportError that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"hone.datasets needs '{module}' to make programs ({error}); install it: "
            "pip install 'hone[datasets]'"
        ) from error


def _named(fn: Callable, name: str | None) -> Callable:
    if name is None and hasattr(fn, "__name__"):
        return fn

    # With fn's signature, which newer versions of JAX name parameters by.
    @functools.wraps(fn)
    def call(*arguments):
        return fn(*arguments)

    call.__name__ = call.__qualname__ = name or "function"
    return call


def _abstract(jax, shapes: Any, where: str) -> Any:
    """`shapes` with jax.ShapeDtypeStruct for every leaf; Python numbers stay what they are."""
    numpy = require("numpy")

    def leaf(value):
        if isinstance(value, (bool, int, float, complex)):
            return value
        if is_shape_and_dtype(value):
            return jax.ShapeDtypeStruct(tuple(value[0]), dtype_of(value[1]))
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return jax.ShapeDtypeStruct(value.shape, value.dtype)
        raise DatasetError(
            f"{where}: {value!r} is no shape; give a jax.ShapeDtypeStruct, an array, a "
            "(shape, dtype) tuple, a number, or a pytree of these, or list it in static_argnums"
        )

    def is_shape_and_dtype(value):
        """Whether it's like ((8, 16), "float32"): dimensions, and what names a dtype."""
        return (
            type(value) is tuple
            and len(value) == 2
            and isinstance(value[0], (tuple, list))
            and all(isinstance(size, (int, numpy.integer)) for size in value[0])
            and (isinstance(value[1], (str, type, numpy.dtype)) or is_scalar_class(value[1]))
        )

    def is_scalar_class(value):
        """Whether it's like jax.numpy.float32, which is no type but has a dtype."""
        return callable(value) and isinstance(getattr(value, "dtype", None), numpy.dtype)

    def dtype_of(value):
        try:
            return jax.numpy.dtype(value)
        except TypeError as error:
            raise DatasetError(
                f"{where}: '{value}' is no dtype; give one such as 'float32', 'bfloat16' or 'int32'"
            ) from error

    return jax.tree_util.tree_map(leaf, shapes, is_leaf=is_shape_and_dtype)
