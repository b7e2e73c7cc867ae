"""hone.jax: comparison and races of executables."""

import numpy as np

from jax_harness import jax, jnp, needs_jax


@needs_jax
class TestRace:
    def runs(self, *functions, x=None):
        from hone.jax import _compile
        from hone.jax._race import Runner

        x = jnp.linspace(0.1, 1, 64) if x is None else x
        found = [_compile.compile_stablehlo(jax.jit(f).lower(x).as_text())[0] for f in functions]
        with _compile.module_of(jax.jit(functions[0]).lower(x).as_text()) as module:
            self.hlo = _compile.hlo_of(module)
        return Runner([x], set()), *found

    def compare(self, runner, stock, other):
        from hone.jax._compare import compare

        return compare(runner, stock, other, self.hlo)

    def test_rounding_is_no_difference_and_another_result_is(self):
        runner, stock, near, far, slightly, shape = self.runs(
            lambda x: jnp.sum(jnp.exp(x)), lambda x: jnp.sum(jnp.exp(x)[::-1]),
            lambda x: jnp.sum(jnp.exp(x)) * 1.01, lambda x: jnp.sum(jnp.exp(x)) * (1 + 1e-5),
            lambda x: jnp.exp(x))
        assert self.compare(runner, stock, near) is None
        assert "output 0 (f32[])" in self.compare(runner, stock, far)
        assert "output 0 (f32[])" in self.compare(runner, stock, slightly)
        assert "output 0 is f32[] and f32[64]" in self.compare(runner, stock, shape)

    def test_what_the_examples_do_not_show_generated_inputs_do(self):
        runner, stock, other = self.runs(lambda x: jnp.abs(x) + 1, lambda x: x + 1)
        assert "on signed inputs" in self.compare(runner, stock, other)
        runner, stock, other = self.runs(
            lambda x: jnp.stack([x[:-1], x[1:]]), lambda x: jnp.stack([x[:-1], x[:-1]]), x=jnp.ones(9))
        assert "computes something else" in self.compare(runner, stock, other)

    def test_a_loop_that_does_not_end_on_generated_inputs(self, monkeypatch):
        from hone.jax import _compare

        # Ends for whole numbers only; hone's worker would be ended after minutes.
        class Worker:
            def evaluate(self, state, kind, seed, run=True, **named):
                if run:
                    raise RuntimeError("ran past the deadline and was killed")
                return [np.full(4, 0.5, np.float32).tobytes()], [], []

        monkeypatch.setattr(_compare, "loaded", lambda hlo: (Worker(), None))
        def whole(x):
            return jax.lax.fori_loop(0, jnp.int32(x.max()), lambda i, y: y * 1.5, x)

        runner, stock, same, other = self.runs(
            whole, whole, lambda x: whole(x) + 1, x=jnp.arange(4, dtype=jnp.float32))
        assert self.compare(runner, stock, same) is None
        assert "computes something else" in self.compare(runner, stock, other)

    def test_integers_and_nans(self):
        runner, one, two = self.runs(lambda x: (x * 9).astype(int), lambda x: (x * 9).astype(int) + 1)
        assert self.compare(runner, one, one) is None
        assert "differ" in self.compare(runner, one, two)
        runner, number, nan = self.runs(lambda x: x * 3, lambda x: jnp.where(x > 0.9, jnp.nan, x * 3))
        assert "differ" in self.compare(runner, number, nan)
        assert "not known" in self.compare(*self.runs(lambda x: x * jnp.nan, lambda x: x - jnp.nan))

    def test_race(self):
        from hone.jax._race import race

        runner, one, two = self.runs(lambda x: x + 1, lambda x: x + 2)
        result = race(runner, one, two, seconds=0.01, least=12)
        assert result.pairs >= 12 and result.low <= result.speedup <= result.high
        assert result.stock_seconds > 0

    def test_donated_inputs_survive(self):
        from hone.jax import _compile
        from hone.jax._race import Runner

        x = jnp.ones(8)
        lowered = jax.jit(lambda x: x + 1, donate_argnums=0).lower(x)
        executable, _ = _compile.compile_stablehlo(lowered.as_text())
        runner = Runner([x], {0})
        for _ in range(2):
            np.testing.assert_array_equal(runner.values(executable)[0], np.full(8, 2.0))

    def test_interval(self):
        from hone._core import interval_of_median

        assert interval_of_median([1, 2, 3, 4, 5, 6])[1:] == (1, 6)
