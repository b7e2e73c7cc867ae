"""hone's jobs and its compiler, as this package calls them: in this process, their workers in others."""

import functools
import os
import pathlib
import shutil
import sys
import time

from hone import _core
from hone.fetch_xla import FetchError, ready_worker

_MOST_MEMORY = 4096  # MiB, of the worker that is kept
_BETWEEN_LINES = 10.0  # seconds, where stderr is no terminal
_SILENCE = 2.0  # before the first line


class HoneError(RuntimeError):
    """What hone said that it cannot do."""


def find_hone():
    """The path of the hone that came with the package, was built in the source tree, or is in PATH."""
    package = pathlib.Path(__file__).resolve().parents[1]
    for place in (package / "bin", package.parents[1] / "build" / "bin"):
        if os.access(place / "hone", os.X_OK):
            return str(place / "hone")
    found = shutil.which("hone")
    if found is None:
        raise HoneError(f"there is no hone in {package / 'bin'} nor in PATH: reinstall hone, or, in a "
                        "source tree, run `make build`")
    return found


def find_loops():
    """The path of hone-loops, which makes kernels; "" where hone was built without it."""
    program = pathlib.Path(find_hone()).resolve().parent / "hone-loops"
    return str(program) if program.exists() else ""


def call(job, *arguments, **named):
    """A job of `hone._core`, its errors as HoneError."""
    try:
        return job(*arguments, **named)
    except (ValueError, RuntimeError) as error:
        raise HoneError(str(error)) from error


def pool_options():
    """Of `hone._core`'s jobs and workbench. XLA is fetched first where an installed hone lacks it, with
    progress whatever else is shown: it takes minutes."""
    try:
        return {"worker_path": ready_worker(), "loops_program": find_loops()}
    except (FetchError, FileNotFoundError) as error:
        raise HoneError(str(error)) from error


def start_worker():
    """A worker for one job. It comes up while other things are done."""
    return _core.Starting(pool_options())


def loaded(hlo):
    """(a worker, the module in it): one worker for all, as long as the process lives."""
    bench = _workbench(os.getpid())
    return bench, _state(bench, hlo)


def program_after(hlo, passes):
    """(HLO text, the kernels that it calls) of a module after passes."""
    bench, state = loaded(hlo)
    return with_kernels(call(bench.run, state, list(passes)))


def with_kernels(text):
    return text, call(_core.kernels_of, text, pool_options())


@functools.lru_cache(maxsize=1)
def _workbench(process):
    del process  # a forked one has its own worker
    return call(_core.Workbench, {**pool_options(), "memory_limit": _MOST_MEMORY})


@functools.lru_cache(maxsize=1)
def _state(bench, hlo):
    return call(bench.load, hlo)


class Progress:
    """Shows lines on stderr as the command does: rewritten on a terminal, now and then elsewhere."""

    def __init__(self):
        self._next = time.monotonic() + _SILENCE
        self._terminal = sys.stderr.isatty()

    def __call__(self, line):
        now = time.monotonic()
        if now < self._next:
            return
        if self._terminal:
            print(f"\r{line[:shutil.get_terminal_size().columns - 1]}\x1b[K", end="", file=sys.stderr,
                  flush=True)
        else:
            print(line, file=sys.stderr)
            self._next = now + _BETWEEN_LINES

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
