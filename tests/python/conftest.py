"""What the tests of the Python package share."""

import pathlib

import pytest

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"


@pytest.fixture
def small():
    """A program of 145 instructions."""
    return str(DATA / "kmeans" / "jax010_kmeans_while.hlo")


@pytest.fixture
def finding():
    """A program on which the pass dce:call_analysis makes XLA abort."""
    folder = DATA.parent / "tests" / "xla_findings"
    return str(folder / "dce_call_analysis-same_dead_argument_twice.hlo")


@pytest.fixture
def hone_command():
    """The command, as it was built."""
    found = DATA.parent / "build" / "bin" / "hone"
    if not found.exists():
        pytest.skip(f"there is no {found}")
    return str(found)
