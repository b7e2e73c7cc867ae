"""JAX functions and training scripts, compiled in a better way. Needs JAX 0.10.2 or newer.

    import hone.jax

    step = hone.jax.optimize(step, params, batch, budget="2m")     # a function like step, faster or the same

    hone record -o recorded -- python train.py                     # what a script compiles, and how often
    hone tune recorded --store tuned.db --budget 2m
    hone with tuned.db -- python train.py                          # the same script, tuned

Importing hone.jax imports JAX when something of it is used. From then on the process keeps the memory of a run for the
next one (docs/jax.md, "Memory").
"""

from importlib import import_module

from hone.jax import _memory

__all__ = ["OBJECTIVES", "Optimized", "optimize"]

_memory.keep()


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module 'hone.jax' has no attribute {name!r}")
    from hone.stablehlo import require_jax

    require_jax("hone.jax")
    return getattr(import_module("hone.jax._optimize"), name)
