"""Algorithms of many fields as JAX functions, each a few lines: programs that are no neural networks,
or unusual ones. They are in collection_sciences.py and collection_learning.py."""

import dataclasses
import importlib
from collections.abc import Callable

from .collection_functions import WAYS
from .lowering import require

_TABLE: list = []


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """A function and what it is called with.

    Attributes:
      family: its field.
      name: the function's.
      shapes: of its arguments, as of from_jax.
      differentiable: whether there is a gradient by the first argument.
      call: (jax, *arguments) -> results.
    """

    family: str
    name: str
    shapes: tuple
    differentiable: bool
    call: Callable

    @property
    def ways(self) -> tuple:
        return WAYS if self.differentiable else WAYS[:2]

    def make(self) -> Callable:
        return lambda *arguments: self.call(require("jax"), *arguments)


def algorithms() -> tuple:
    """All of them, always in the same order."""
    importlib.import_module(".collection_sciences", __package__)
    importlib.import_module(".collection_learning", __package__)
    return tuple(_TABLE)


def f32(*shape):
    return (shape, "float32")


def s32(*shape):
    return (shape, "int32")


KEY = ((2,), "uint32")


def program(family: str, *shapes, grad: bool = True):
    """Decorates (jax, *arguments): `shapes` are theirs; `grad`: it has one by the first."""

    def add(call):
        _TABLE.append(Algorithm(family, call.__name__, shapes, grad, call))
        return call

    return add
