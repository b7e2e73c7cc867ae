"""hone.jax: implementations tried in JAX."""

import numpy as np

from jax_harness import improve, jax, jnp, needs_jax, win_every_race


@needs_jax
class TestImplementations:
    """Alternative implementations, tried in JAX whatever hone's XLA thought of them."""

    def test_implementations_are_looked_at_in_jax(self, tmp_path, monkeypatch):
        from hone.jax import _compile, _improve

        raced = []

        def race(runner, stock, tuned, seconds, **_):
            raced.append(tuned)
            return _improve.Race(2.0, 1.0, 2.0, 2.0, 2.0, 6)

        monkeypatch.setattr(_improve, "race", race)
        monkeypatch.setattr(_improve, "_LISTING_SECONDS", 60)  # of a busy machine
        monkeypatch.setattr(_compile, "has_option", lambda _: False)  # for reductions
        points = (jnp.ones((50, 3)), jnp.arange(9.0).reshape(3, 3))
        verdict = improve(lambda x, m: x @ m, points, {}, tmp_path, implementations=True, looking=60)
        assert verdict.kept and verdict.how == "implement:thin_dot_sum", verdict
        assert verdict.plan == {"passes": ["implement:thin_dot_sum"]}
        assert len(raced) >= 3, "a glance, a look, and the last race"

    def test_reductions_are_tried_without_a_library(self, tmp_path, monkeypatch):
        from hone.jax import _improve

        win_every_race(monkeypatch)
        x = jnp.arange(1500.0).reshape(500, 3)
        verdict = improve(lambda x: (x * x).sum(1), (x,), {}, tmp_path, implementations=True, looking=0)
        assert verdict.kept and verdict.how == "flags", verdict
        assert verdict.plan == {"flags": _improve._NO_LIBRARY_REDUCTIONS}

        # On top of another program.
        program = jax.jit(lambda x: x[:, 0] ** 2 + x[:, 1] ** 2 + x[:, 2] ** 2).lower(x).as_text("hlo")
        races = iter([2, 2, 3, 3, 3])
        monkeypatch.setattr(_improve, "race",
                            lambda *_, **__: _improve.Race(2.0, 1.0, next(races), 1.5, 4.0, 6))
        verdict = improve(lambda x: (x * x).sum(1), (x,), {"program": program}, tmp_path,
                          implementations=True, looking=0)
        assert verdict.kept and verdict.how == "program and flags", verdict

    def test_other_programs_are_timed_in_a_process_of_their_own(self, tmp_path, monkeypatch):
        import time

        from hone.jax import _compile, looks

        x = jnp.linspace(-1, 1, 1 << 20)
        lowered = [jax.jit(f).lower(x) for f in (
            lambda x: sum(jnp.sin(x * k) for k in range(40)), lambda x: x + 1, lambda x: x + 2)]
        stablehlo = _compile.bytecode_of(lowered[0].compiler_ir("stablehlo"))
        texts = ["HloModule nothing that XLA reads"] + [one.as_text("hlo") for one in lowered[1:]]
        folder = tmp_path / "a"
        folder.mkdir()
        found = looks.faster(stablehlo, texts, [x], folder, seconds=60, least=1.1)
        assert sorted(found) == [1, 2]

        # XLA is at the second one for minutes.
        stuck = tmp_path / "python"
        stuck.write_text('#!/bin/sh\necho \'{"position": 0, "speedup": 2}\'\nexec sleep 600\n')
        stuck.chmod(0o755)
        monkeypatch.setattr(looks.sys, "executable", str(stuck))
        start = time.monotonic()
        assert looks.faster(stablehlo, texts, [x], folder, seconds=1, least=1.1) == [0]
        assert looks.faster(stablehlo, texts, [x], folder, seconds=1, least=2.1) == []
        assert time.monotonic() - start < 60

    def test_another_order_of_sums_is_no_difference_on_the_examples(self, tmp_path, monkeypatch):
        """Moved inputs alone do not tell how far the roundings of a thousand terms reach."""
        from hone.jax import _improve

        def loss(x, kernel):
            y = jax.lax.conv_transpose(x, kernel, (2, 2), "SAME",
                                       dimension_numbers=("NHWC", "HWIO", "NHWC"))
            return jnp.sum(y * y)

        random = np.random.default_rng(1)
        arrays = [random.normal(size=shape).astype(np.float32)
                  for shape in [(4, 16, 16, 32), (4, 4, 32, 32)]]
        win_every_race(monkeypatch)
        verdict = improve(jax.grad(loss, (0, 1)), arrays,
                               {"passes": ["implement:convolution_output_dots"]}, tmp_path)
        assert verdict.kept and not verdict.rejected, verdict

    def test_what_was_found_outlives_implementations_that_cannot_be_had(self, tmp_path, monkeypatch):
        from hone.jax import _improve

        def implementations(hlo, seconds):
            raise ValueError("no worker")
            yield

        win_every_race(monkeypatch)
        monkeypatch.setattr(_improve, "_implementations", implementations)
        verdict = improve(lambda x: x + 1, (jnp.ones(8),), {"flags": {
            "xla_cpu_multi_thread_eigen": "false"}}, tmp_path, implementations=True)
        assert verdict.kept and verdict.how == "flags", verdict
        assert verdict.rejected == ("implementations: no worker",)

    def test_implementations_within_calls_are_found(self):
        from hone.jax import _improve

        inner = jax.jit(lambda x, m: jnp.tanh(x @ m))
        lowered = jax.jit(lambda x, m: inner(x, m) + 1).lower(jnp.ones((50, 3)), jnp.ones((3, 3)))
        hlo = lowered.as_text("hlo").encode()
        found = {passes: text for passes, text, _ in _improve._implementations(hlo, 60)}
        assert any(passes[-1] == "implement:thin_dot_sum" for passes in found)
        assert all(text.startswith("HloModule") for text in found.values())

    def test_implementations_behind_others_are_found(self):
        from hone.jax import _improve

        def steps(x):
            return jax.lax.fori_loop(0, 1000, lambda _, y: jnp.sort(y * 1.5), x)

        hlo = jax.jit(steps).lower(jnp.ones(4)).as_text("hlo").encode()
        kernels = [passes for passes, _, _ in _improve._implementations(hlo, 60)
                   if passes[-1] == "implement:loop_one_kernel"]
        assert kernels and kernels[0][-2] == "implement:write_out_small"

    def test_a_loop_as_one_kernel_with_a_sum_that_jax_would_fuse_for_a_library(self, tmp_path, monkeypatch):
        from hone.jax import trial

        tried = []
        process = trial.subprocess.run
        monkeypatch.setattr(trial.subprocess, "run",
                            lambda *one, **named: tried.append(one) or process(*one, **named))
        win_every_race(monkeypatch)

        def steps(x):
            return jax.lax.fori_loop(0, 20, lambda _, y: y / (1 + (y * y).sum(1, keepdims=True)), x)

        verdict = improve(steps, (jnp.ones((3000, 3)),), {"passes": ["implement:loop_one_kernel"]}, tmp_path)
        assert verdict.kept and verdict.how == "passes", verdict
        assert tried, "what XLA may end the process on is compiled in another one first"
