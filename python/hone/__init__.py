"""Better ways to compile machine-learning programs with the real, unmodified XLA.

`gymnasium.make("hone/PassOrder-v0", programs=...)` makes an environment in which an agent picks the
order of XLA's passes; `gymnasium.make_vec` makes many. In "hone/Rewrites-v0" it decides about the
rewrites of passes, one by one; in "hone/Loops-v0" about the loops of a kernel. `hone.hloenv` has the interface of HloEnv, `hone.datasets` programs.
`hone.jax.optimize` tunes a JAX function; `from_stablehlo` and `to_stablehlo` translate.
Importing hone starts nothing: the compiler runs in processes of its own, started with the first
environment, so hone can be imported beside jax, tensorflow or torch.
"""

from importlib import import_module

__all__ = [
    "LoopsEnv", "LoopsVectorEnv", "PassOrderEnv", "PassOrderVectorEnv", "RewritesEnv", "RewritesVectorEnv",
    "datasets", "from_stablehlo", "jax", "to_stablehlo",
]
__version__ = "0.1.0"

_HOMES = {
    "LoopsEnv": "hone.loops",
    "LoopsVectorEnv": "hone.loops_vector",
    "PassOrderEnv": "hone.pass_order",
    "PassOrderVectorEnv": "hone.pass_order_vector",
    "RewritesEnv": "hone.rewrites",
    "RewritesVectorEnv": "hone.rewrites_vector",
    "datasets": "hone.datasets",
    "from_stablehlo": "hone.stablehlo",
    "jax": "hone.jax",
    "to_stablehlo": "hone.stablehlo",
}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'hone' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    return module if name in ("datasets", "jax") else getattr(module, name)


def _register():
    try:
        import gymnasium
    except ImportError:  # hone.datasets works without it
        return
    gymnasium.register(
        id="hone/PassOrder-v0",
        entry_point="hone.pass_order:PassOrderEnv",
        vector_entry_point="hone.pass_order_vector:PassOrderVectorEnv",
    )
    gymnasium.register(
        id="hone/Rewrites-v0",
        entry_point="hone.rewrites:RewritesEnv",
        vector_entry_point="hone.rewrites_vector:RewritesVectorEnv",
    )
    gymnasium.register(
        id="hone/Loops-v0",
        entry_point="hone.loops:LoopsEnv",
        vector_entry_point="hone.loops_vector:LoopsVectorEnv",
        nondeterministic=True,  # rewards are measured times, unless measure is "estimate"
    )


_register()
