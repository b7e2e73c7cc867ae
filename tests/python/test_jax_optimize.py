"""hone.jax.optimize."""

import warnings

import numpy as np
import pytest

from jax_harness import depthwise, jax, jnp, needs_jax, tuned_by, win_every_race


@needs_jax
class TestOptimize:
    PLAN = {"format": "hone tuned plan", "passes": ["implement:depthwise_shifts"], "choices": {},
            "flags": {}}

    @pytest.fixture
    def plan(self, monkeypatch):
        """What `hone tune` answers; the search itself is tested elsewhere."""
        from hone.jax import _improve

        answer = {"plan": self.PLAN, "kept": "tuned", "stock_ms": 1.0}

        def tune(hlo, **options):
            assert isinstance(hlo, bytes)
            answer["options"] = options
            return answer["plan"], {"kept": answer["kept"], "reason": "as a test has it",
                                    "stock_ms": answer["stock_ms"]}

        monkeypatch.setattr(_improve, "tune", tune)
        return answer

    def arguments(self):
        key = jax.random.key(0)
        return {"w": jax.random.normal(key, (3, 3, 1, 32))}, jax.random.normal(key, (1, 24, 24, 32))

    def test_tuned(self, plan, monkeypatch):
        import hone.jax

        win_every_race(monkeypatch)
        params, x = self.arguments()
        tuned = hone.jax.optimize(depthwise, params, x, 2, budget="7s", static_argnums=2,
                                  donate_argnums=0)
        assert tuned.tuned, tuned.report
        assert plan["options"]["seconds"] == pytest.approx(14 / 3)
        assert plan["options"]["inputs"] == [np.asarray(array).tobytes() for array in (params["w"], x)]
        assert tuned.report["speedup_ci"][0] > 1 and tuned.report["how"] in ("passes", "module")
        assert tuned.__name__ == "depthwise"
        expected = depthwise(params, x, 2)
        given = jax.tree.map(jnp.copy, params)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = tuned(given, x, 2)
        assert not params["w"].is_deleted()
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-4)
        np.testing.assert_array_equal(found[0]["w"], expected[0]["w"])

        # Gradients, and what else is traced, by the original; without a warning.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gradient = jax.grad(lambda x: tuned(params, x, 2)[1])(x)
            np.testing.assert_allclose(
                gradient, jax.grad(lambda x: depthwise(params, x, 2)[1])(x), rtol=1e-5)
            jax.vmap(lambda x: tuned(params, x, 2)[1])(x[None])

        # Other shapes and other static values: the original, told once.
        with pytest.warns(UserWarning, match="depthwise runs as JAX compiles it: a static argument"):
            other = tuned(jax.tree.map(jnp.copy, params), x, 3)
        np.testing.assert_allclose(other[1], depthwise(params, x, 3)[1], rtol=1e-4)
        wide = jnp.concatenate([x, x])
        np.testing.assert_allclose(tuned(jax.tree.map(jnp.copy, params), wide, 2)[1],
                                   depthwise(params, wide, 2)[1], rtol=1e-4)

    def test_stock_is_kept_with_a_reason(self, plan):
        import hone.jax

        plan.update(plan={**self.PLAN, "passes": []}, kept="stock")
        with pytest.warns(UserWarning, match="stays as JAX compiles it: as a test has it"):
            same = hone.jax.optimize(lambda x: x * 2, jnp.ones(3))
        assert not same.tuned and same.report["kept"] == "original"
        np.testing.assert_array_equal(same(jnp.ones(3)), np.full(3, 2.0))

    def test_what_does_not_end_is_not_run_here(self, plan, monkeypatch):
        import hone.jax
        from hone.jax import _module

        monkeypatch.setattr(_module, "_LEAST_PATIENCE", 4.0)
        plan.update(plan={**self.PLAN, "passes": []}, kept="stock", stock_ms=None)
        with pytest.warns(UserWarning, match="on its examples: JAX is not done with it in 4 s"):
            same = hone.jax.optimize(
                lambda x: jax.lax.while_loop(lambda x: x.sum() > -1, lambda x: x / 2, x), jnp.ones(3),
                budget="1s")
        assert same.report["kept"] == "original"

    def test_a_wrong_result_is_never_kept(self, plan, monkeypatch):
        from hone.jax import _improve

        wrong = tuned_by(lambda x: x * 3)
        monkeypatch.setattr(_improve, "_ways", lambda *_: [
            ("wrong", _improve._Way(lambda flags: wrong), {})])
        import hone.jax

        with pytest.warns(UserWarning, match="wrong: it computes something else: .*output 0"):
            same = hone.jax.optimize(lambda x: x * 2, jnp.ones(4))
        np.testing.assert_array_equal(same(jnp.ones(4)), np.full(4, 2.0))

    def test_the_answer_is_told_where_nothing_is_kept(self, plan, monkeypatch):
        import hone.jax
        from hone.jax import _improve

        def fails(*_, **__):
            raise RuntimeError("XLA says no")

        monkeypatch.setattr(_improve, "improve", fails)
        with pytest.warns(UserWarning, match="XLA says no"):
            same = hone.jax.optimize(lambda x: x * 2, jnp.ones(3))
        assert same.report["search"]["kept"] == "tuned"

    def test_what_fails_leaves_the_original(self, plan, monkeypatch):
        import hone.jax
        from hone.jax import _improve
        from hone.jax._hone import HoneError

        def fails(*_, **__):
            raise HoneError("hone tune: no worker")

        monkeypatch.setattr(_improve, "tune", fails)
        with pytest.warns(UserWarning, match="hone tune: no worker"):
            same = hone.jax.optimize(jax.jit(lambda x: x * 2), jnp.ones(3))
        np.testing.assert_array_equal(same(jnp.ones(3)), np.full(3, 2.0))

        def printing(x):
            jax.debug.print("{}", x)
            return x

        with pytest.warns(UserWarning, match="side effects"):
            hone.jax.optimize(printing, jnp.ones(3))

    @pytest.mark.parametrize("budget,search", [
        ("15s", 10), ("2m", 110), ("0.6s", 0.4), ("900ms", 0.6), (" 30 ", 20), (45, 35)])
    def test_the_search_gets_most_of_the_budget(self, budget, search):
        from hone.jax import _optimize

        assert _optimize._seconds_of_search(budget) == pytest.approx(search)

    @pytest.mark.parametrize("budget", ["long", "1.2.3s", "5 years"])
    def test_a_budget_that_is_none(self, budget):
        import hone.jax

        with pytest.raises(ValueError, match="budget: .*is not a duration such as 30s"):
            hone.jax.optimize(lambda x: x * 2, jnp.ones(3), budget=budget)

    @pytest.mark.parametrize("name", ["plan", "store"])
    def test_files_that_cannot_be_written_are_said_before_the_budget_is_spent(self, name, tmp_path):
        import hone.jax

        for path, why in [(tmp_path, "is a folder"), (tmp_path / "none" / "file", "there is no folder")]:
            with pytest.raises(ValueError, match=f"{name}: .*{why}"):
                hone.jax.optimize(lambda x: x * 2, jnp.ones(3), budget="60s", **{name: path})

    def test_bad_arguments(self):
        import hone.jax

        with pytest.raises(ValueError, match="objective 'speed': give one of time"):
            hone.jax.optimize(jnp.sin, jnp.ones(3), objective="speed")
        with pytest.raises(ValueError, match="is no function"):
            hone.jax.optimize(3)
        with pytest.raises(ValueError, match="a ShapeDtypeStruct has no values"):
            hone.jax.optimize(jnp.sin, jax.ShapeDtypeStruct((3,), jnp.float32))
        with pytest.raises(ValueError, match="a jitted function has its own"):
            hone.jax.optimize(jax.jit(lambda x: x), 1, donate_argnums=0)
        with pytest.raises(TypeError):  # the function's own
            hone.jax.optimize(lambda x: x, jnp.ones(3), jnp.ones(3))

    def test_an_argument_with_a_default_may_be_static(self):
        import hone.jax

        fast = hone.jax.optimize(jnp.argsort, jnp.array([3.0, 1.0, 2.0]), budget="1s")
        assert "safe_zip" not in fast.report["reason"]
        assert fast(jnp.array([3.0, 1.0, 2.0])).tolist() == [1, 2, 0]
