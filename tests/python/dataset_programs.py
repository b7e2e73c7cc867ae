"""What the tests of hone.datasets share."""

import importlib.util

import pytest


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {' '.join(missing)}")


needs_jax = needs("jax")
needs_flax = needs("jax", "flax", "optax", "transformers")

PROGRAM = """HloModule {name}, entry_computation_layout={{(f32[8]{{0}})->f32[8]{{0}}}}

ENTRY main {{
  x = f32[8]{{0}} parameter(0)
  one = f32[] constant(1)
  ones = f32[8]{{0}} broadcast(one), dimensions={{}}
  ROOT sum = f32[8]{{0}} add(x, ones)
}}
"""


def write(folder, file, text=PROGRAM.format(name="test")):
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
