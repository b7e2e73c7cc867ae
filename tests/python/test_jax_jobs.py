"""hone.jax: hone's jobs in this process."""

import json
import os
import signal
import threading

import pytest

from hone import _core

from jax_harness import hlo_of, jnp, needs_jax


@needs_jax
class TestJobs:
    def hlo(self):
        return hlo_of(lambda x, w: jnp.tanh(x @ w) + jnp.tanh(x @ w), jnp.ones((64, 32)),
                      jnp.ones((32, 8)))

    def test_tune_tells_and_remembers(self, tmp_path):
        from hone.jax import _improve

        plan, store = tmp_path / "plan.json", tmp_path / "tuned.db"
        found, answer = _improve.tune(self.hlo(), name="small", seconds=3, plan=plan, store=store)
        assert answer["file"] == "small" and answer["evaluations"] > 0
        assert answer["plan"] == found == json.loads(plan.read_text())
        kept = _core.kept_plans(str(store))
        assert kept == ({"small": found} if answer["kept"] == "tuned" else {})

    def test_what_has_no_bytes_or_many_is_not_compared_on(self, monkeypatch):
        import jax

        from hone.jax import _improve

        assert _improve.bytes_of([jnp.arange(3, dtype=jnp.int16)]) == [b"\0\0\1\0\2\0"]
        assert _improve.bytes_of([jnp.ones(3, jnp.int4)]) == []
        assert _improve.bytes_of([jax.random.key(0)]) == []
        monkeypatch.setattr(_improve, "_MOST_GIVEN_BYTES", 11)
        assert _improve.bytes_of([jnp.ones(3)]) == []

    def test_progress_goes_to_a_callback(self):
        from hone.jax._hone import start_worker

        lines = []
        _core.tune(self.hlo(), start_worker(), file="small", budget_seconds=2, tell=lines.append)
        assert any(line.startswith("small: ") and "evaluations" in line for line in lines)

    def test_what_the_callback_raises_ends_the_job(self):
        from hone.jax._hone import start_worker

        def fails(line):
            raise KeyError(line)

        with pytest.raises(KeyError, match="small"):
            _core.tune(self.hlo(), start_worker(), file="small", budget_seconds=600, tell=fails)

    def test_the_first_interrupt_ends_the_search(self):
        from hone.jax._hone import start_worker

        # What is started in the background by a shell ignores the signal.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
            answer, _ = _core.tune(self.hlo(), start_worker(), file="small", budget_seconds=60)
        finally:
            signal.signal(signal.SIGINT, before)
        assert answer["stop_reason"] == "interrupted"

    def test_other_threads_run_meanwhile(self):
        from hone.jax._hone import start_worker

        counted = []
        ended = threading.Event()
        counter = threading.Thread(target=lambda: [counted.append(1)
                                                   for _ in iter(lambda: ended.wait(0.02), True)])
        counter.start()
        _core.tune(self.hlo(), start_worker(), file="small", budget_seconds=1)
        ended.set()
        counter.join()
        assert len(counted) > 10

    def test_optimize(self):
        from hone.jax import _improve

        found, answer = _improve.shrink(self.hlo(), name="small", objective="op_count", seconds=1)
        assert answer["verified"] is True and answer["result"] < answer["initial"]
        assert found["program"].startswith("HloModule")

    def test_passes_and_plans(self):
        from hone.jax import _improve
        from hone.jax._hone import HoneError, program_after

        text, kernels = program_after(self.hlo(), ["algsimp", "dce"])
        assert text.startswith("HloModule") and kernels == b""
        with pytest.raises(HoneError, match="there is no pass 'alg'"):
            program_after(self.hlo(), ["alg"])
        text, _ = _improve._module_of(self.hlo(), {"passes": [], "choices": {}, "flags": {}})
        assert "fusion" in text

    def test_errors(self, tmp_path):
        from hone.jax import _improve
        from hone.jax._hone import HoneError

        with pytest.raises(HoneError):
            _improve.tune(b"nonsense", name="small", seconds=1)
        (tmp_path / "none.db").write_text("text, " * 100)
        with pytest.raises(HoneError, match="none.db"):
            _improve.tune(self.hlo(), name="small", seconds=1, store=tmp_path / "none.db")


def test_durations():
    assert _core.parse_duration("1.5h") == 5400
    with pytest.raises(ValueError, match="is not a duration such as 30s"):
        _core.parse_duration("5 years")
