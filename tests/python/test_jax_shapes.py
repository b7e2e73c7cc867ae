"""hone.jax.optimize(shapes="all"): other arguments than the examples' are tuned in the background."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest

from jax_harness import jax, jnp, needs_jax


class Process:
    """Stands for one in the background."""

    pid = 0

    def __init__(self, folder):
        self.folder, self.code, self.killed = folder, None, False
        self.stdin = open(os.devnull, "wb")

    def poll(self):
        return self.code

    def kill(self):
        self.killed = True

    def wait(self):
        self.code = -9

    def answer(self, **report):
        (self.folder / "answer.json").write_text(json.dumps({"kept": "original", "reason": "", **report}))
        self.code = 0

    def tuned(self, function, shape):
        """What was found is another function, so that one sees that it is run."""
        from hone.jax import _compile

        body = _compile.compile_stablehlo(jax.jit(function).lower(jnp.ones(shape)).as_text())[1]
        for name, data in (("body", body), ("flags.json", b"{}"), ("kernels", b"")):
            (self.folder / name).write_bytes(data)
        self.answer(kept="tuned", speedup=2.0)


@needs_jax
class TestShapes:
    @pytest.fixture
    def started(self, monkeypatch):
        from hone.jax import _improve, background

        monkeypatch.setattr(_improve, "tune", lambda hlo, **_: ({}, {"kept": "stock", "reason": "so"}))
        monkeypatch.setattr(_improve, "_implementations", lambda *_: [])
        processes = []

        def start(folder):
            processes.append(Process(folder))
            return processes[-1]

        monkeypatch.setattr(background, "start", start)
        return processes

    def optimize(self, function, *arguments, **named):
        import hone.jax

        with pytest.warns(UserWarning, match="stays as JAX compiles it: so"):
            return hone.jax.optimize(function, *arguments, budget="7s", shapes="all", **named)

    def states(self, function):
        return [row["state"] for row in function.report["shapes"]]

    def test_one_after_another_and_jax_until_then(self, started):
        fast = self.optimize(lambda x: x * 2, jnp.ones(4))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert fast(jnp.ones(4)).tolist() == [2.0] * 4 and not started
            assert fast(jnp.ones(2)).tolist() == [2.0] * 2
            assert fast(jnp.ones(3)).tolist() == [2.0] * 3
            assert self.states(fast) == ["tuning", "waiting"] and len(started) == 1
            options = json.loads((started[0].folder / "options.json").read_text())
            assert options["seconds"] == pytest.approx(14 / 3) and options["objective"] == "time"
            assert not fast.wait(0)
            started[0].tuned(lambda x: x * 5, 2)
            assert fast(jnp.ones(2)).tolist() == [5.0] * 2  # what was found
            assert fast(jnp.ones(3)).tolist() == [2.0] * 3
            assert self.states(fast) == ["tuned", "tuning"] and len(started) == 2
            started[1].answer(reason="nothing better")
            assert fast.wait() and fast(jnp.ones(3)).tolist() == [2.0] * 3
            assert self.states(fast) == ["tuned", "original"]
            assert fast(np.ones(3, np.float32)).tolist() == [2.0] * 3  # the same types
            assert fast(jnp.ones(4)).tolist() == [2.0] * 4 and len(started) == 2
        rows = fast.report["shapes"]
        assert rows[0]["arguments"] == ["f32[2]"] and rows[0]["speedup"] == 2.0
        assert rows[1]["reason"] == "nothing better"
        assert not any(process.folder.exists() for process in started)

    def test_nothing_that_goes_wrong_reaches_a_call(self, started, monkeypatch):
        from hone.jax import background

        fast = self.optimize(lambda x: x * 2, jnp.ones(4))
        fast(jnp.ones(2))
        (started[0].folder / "log").write_text("a line\nno room\n")
        started[0].code = 1
        assert fast(jnp.ones(2)).tolist() == [2.0] * 2
        assert fast.report["shapes"][0]["reason"] == "its process ended: no room"
        fast(jnp.ones(3))
        started[1].tuned(lambda x: x * 5, 7)  # takes other arguments
        assert fast(jnp.ones(3)).tolist() == [2.0] * 3
        assert "other arguments or results" in fast.report["shapes"][1]["reason"]

        def fails(*_):
            raise OSError("no space left")

        monkeypatch.setattr(background, "write_request", fails)
        assert fast(jnp.ones(5)).tolist() == [2.0] * 5
        assert fast.report["shapes"][2]["reason"] == "no space left"
        with pytest.raises(TypeError), pytest.warns(UserWarning, match="runs as JAX compiles it"):
            fast("text")
        assert fast.wait()

    def test_donated_and_static_arguments(self, started):
        fast = self.optimize(lambda x, n: x * n, jnp.ones(4), 2, static_argnums=1, donate_argnums=0)
        x = jnp.ones(4)
        assert fast(x, 3).tolist() == [3.0] * 4 and x.is_deleted()
        from hone.jax.record import load_arrays

        assert load_arrays(started[0].folder / "inputs.npz")[0].tolist() == [1.0] * 4
        started[0].tuned(lambda x: x * 5, 4)
        assert fast(jnp.ones(4), 3).tolist() == [5.0] * 4
        assert fast(jnp.ones(4), 2).tolist() == [2.0] * 4
        assert fast(jnp.ones(4), n=2).tolist() == [2.0] * 4

    def test_transformations_start_nothing(self, started):
        fast = self.optimize(lambda x: (x * x).sum(), jnp.ones(4))
        assert jax.grad(fast)(jnp.ones(3)).tolist() == [2.0] * 3
        assert jax.jit(fast)(jnp.ones(5)) == 5 and not started
        fast(jnp.ones(3))
        assert jax.grad(fast)(jnp.ones(3)).tolist() == [2.0] * 3
        started[0].tuned(lambda x: x.sum(), 3)
        assert fast(jnp.ones(3)) == 3 and jax.vmap(fast)(jnp.ones((2, 3))).tolist() == [3.0, 3.0]

    def test_bounds(self, started, monkeypatch):
        import hone.jax
        from hone.jax import _shapes

        monkeypatch.setattr(_shapes, "_MOST", 1)
        fast = self.optimize(lambda x: x * 2, jnp.ones(4))
        fast(jnp.ones(2))
        with pytest.warns(UserWarning, match="1 kinds of them are tuned already") as told:
            for size in (3, 5):
                assert fast(jnp.ones(size)).tolist() == [2.0] * size
        assert len(told) == 1 and len(fast.report["shapes"]) == 1
        process, folder = started[0], started[0].folder
        del fast
        assert process.killed and not folder.exists()
        with pytest.raises(ValueError, match="shapes 'some': give examples or all"):
            hone.jax.optimize(lambda x: x, jnp.ones(4), shapes="some")


SCRIPT = """
import signal, sys, time, warnings
import jax, jax.numpy as jnp
import hone.jax
from hone.jax import _improve
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
warnings.simplefilter("ignore")
_improve.tune = lambda hlo, **_: ({}, {"kept": "stock"})  # here, not in the background
_improve._implementations = lambda *_: []
fast = hone.jax.optimize(lambda x: jnp.tanh(x @ x).sum(), jnp.ones((4, 4)), budget=sys.argv[1], shapes="all")
x = jnp.ones((64, 64)) / 64
first = float(fast(x))
process = next(kind.process for kind in fast._shapes._kinds.values() if kind.process)
print(process.pid, flush=True)
"""


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@needs_jax
class TestProcesses:
    def script(self, budget, rest):
        return [sys.executable, "-c", SCRIPT + textwrap.dedent(rest), budget]

    def test_it_is_tuned(self):
        done = subprocess.run(self.script("2s", """
            assert fast.wait(120)
            row, = fast.report["shapes"]
            assert row["search"]["evaluations"] > 0 and row["state"] in ("tuned", "original"), row
            assert abs(float(fast(x)) - first) < 1e-3
        """), capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr
        assert "Exception ignored" not in done.stderr
        assert not alive(int(done.stdout))

    @pytest.mark.parametrize("how", [0, signal.SIGINT, signal.SIGKILL])
    def test_it_ends_with_the_script(self, how):
        script = subprocess.Popen(self.script("10m", "time.sleep(120)" if how else ""),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(script.stdout.readline())
        time.sleep(1)
        if how:
            assert alive(pid)
            script.send_signal(how)
        script.communicate(timeout=20)
        end = time.monotonic() + 10
        while alive(pid) and time.monotonic() < end:
            time.sleep(0.1)
        assert not alive(pid)
