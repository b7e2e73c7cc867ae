"""Importing hone beside other libraries, and what comes with it."""

import subprocess
import sys

import pytest


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_starts_nothing():
    assert run("import hone, sys; print('hone._core' in sys.modules)") == "False\n"


@pytest.mark.parametrize("library", ["jax", "torch", "tensorflow"])
def test_hone_works_beside(library, small):
    pytest.importorskip(library)
    code = f"""
import {library}, hone
env = hone.PassOrderEnv({small!r})
env.reset(seed=1)
print(env.step(1)[4]["op_count"] > 0)
"""
    assert run(code) == "True\n"
    assert run(code.replace(f"{library}, hone", f"hone, {library}")) == "True\n"


def test_the_extension_has_type_stubs():
    import hone._core

    stub = hone._core.__file__.rsplit("/", 1)[0] + "/_core.pyi"
    text = open(stub).read()
    assert "class PassOrderEnvs" in text and "def step" in text
