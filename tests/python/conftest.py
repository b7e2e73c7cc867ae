"""What the tests of the Python package share."""

import multiprocessing
import pathlib
import warnings

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


@pytest.fixture
def in_a_child():
    """Calls a function in a child of a fork and gives what it returned there."""
    def call(function):
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        process = context.Process(target=lambda: answers.put(function()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of forks beside threads
            process.start()
        answer = answers.get(timeout=60)
        process.join(timeout=60)
        assert process.exitcode == 0
        return answer
    return call
