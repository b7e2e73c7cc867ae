"""Memory that a run has freed is kept for the next one, in scripts that import hone.jax."""

import os
import pathlib
import subprocess
import sys

import pytest
from jax_harness import needs_jax

import hone

PACKAGE = pathlib.Path(hone.__file__).resolve().parents[1]
# 64 MiB twice: more than an arena of a thread holds. Prints how many of a run's pages came anew: the median of runs
# behind the first ones, which find places for everything.
SCRIPT = """
import resource, statistics
import jax, jax.numpy as jnp
f = jax.jit(lambda x, w: ((jnp.sin(x) @ w) @ w).sum())
x, w = jnp.ones((1 << 18, 64)), jnp.ones((64, 64))
pages = [0]
for _ in range(32):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    f(x, w).block_until_ready()
    pages.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(int(statistics.median(pages[-12:])))
"""


def pages(script, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                          env={**environment, "PYTHONPATH": str(PACKAGE), **variables})
    return int(done.stdout)


@needs_jax
def test_a_run_finds_the_memory_of_the_last_one():
    assert pages("import hone.jax\n" + SCRIPT) < 2000
    assert pages("import hone.jax\n" + SCRIPT, HONE_KEEP_MEMORY="0") > 16000
    assert pages(SCRIPT) > 16000


KEEP = "from hone.jax import _memory; print(int(_memory.keep()))"


@pytest.mark.parametrize(("variables", "kept"), [
    ({}, 1), ({"HONE_KEEP_MEMORY": "0"}, 0), ({"MALLOC_ARENA_MAX": "4"}, 0),
    ({"GLIBC_TUNABLES": "glibc.malloc.arena_max=4"}, 0), ({"GLIBC_TUNABLES": "glibc.rtld.nns=4"}, 1)])
def test_settings_of_the_users_own_stay(variables, kept):
    assert pages(KEEP, **variables) == kept
