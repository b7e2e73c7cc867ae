"""hone.jax.optimize(transforms=…): what is transformed stays tuned, or is JAX's own."""

import warnings

import numpy as np
import pytest

from jax_harness import depthwise, jax, jnp, needs_jax, win_every_race


def loss(params, x):
    return {"loss": (depthwise(params, x, 2)[1] ** 2) * 1e-3, "count": x.shape[0]}


def scalar(function):
    return lambda params, x: function(params, x)["loss"]


@needs_jax
class TestTransforms:
    @pytest.fixture
    def tuned(self, monkeypatch):
        """optimize, by a plan that computes convolutions in another way and wins wherever it is tried."""
        import hone.jax
        from hone.jax import _improve

        plan = {"format": "hone tuned plan", "passes": ["implement:depthwise_shifts"], "choices": {}, "flags": {}}
        monkeypatch.setattr(_improve, "tune", lambda hlo, **_: (plan, {"kept": "tuned"}))
        monkeypatch.setattr(_improve, "_implementations", lambda *_: [])
        win_every_race(monkeypatch)

        def optimize(function, *arguments, **named):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return hone.jax.optimize(function, *arguments, budget="2s", **named)

        return optimize

    def arguments(self):
        key = jax.random.key(0)
        return {"w": jax.random.normal(key, (3, 3, 1, 8))}, jax.random.normal(key, (1, 12, 12, 8))

    def same(self, found, expected, tolerance=1e-4):
        found, expected = jax.tree.leaves(found), jax.tree.leaves(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert one.dtype == other.dtype
            scale = float(jnp.abs(other).max())
            np.testing.assert_allclose(one, other, atol=tolerance * scale, rtol=0)

    def programs(self, function):
        return [row["program"] for row in function.report["transforms"]]

    def test_gradients(self, tuned):
        fast = tuned(loss, *self.arguments(), transforms="grad")
        assert fast.report["transforms"] == []
        wanted = jax.grad(scalar(loss), (0, 1))(*self.arguments())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.same(jax.grad(scalar(fast), (0, 1))(*self.arguments()), wanted)
            assert self.programs(fast) == ["loss, forward of its gradient", "loss, backward of its gradient"]
            assert [row["kept"] for row in fast.report["transforms"]] == ["tuned"] * 2
            # Known by now; also within a jitted function, and beside results that are whole numbers.
            value, found = jax.value_and_grad(scalar(fast), (0, 1))(*self.arguments())
            self.same((value, found), (loss(*self.arguments())["loss"], wanted))
            self.same(jax.jit(jax.grad(scalar(fast), (0, 1)))(*self.arguments()), wanted)
            results, pull = jax.vjp(fast, *self.arguments())
            assert results["count"] == 1
            ones = {"loss": jnp.ones(()), "count": np.zeros((), jax.dtypes.float0)}
            self.same(pull(ones), wanted)
            assert len(self.programs(fast)) == 2
            # By the parameters alone is a smaller program.
            self.same(jax.grad(scalar(fast))(*self.arguments()), wanted[0])
            assert len(self.programs(fast)) == 4

    def test_batches(self, tuned):
        fast = tuned(loss, *self.arguments(), transforms=["grad", "vmap"])
        params, x = self.arguments()
        xs = jnp.stack([x, 2 * x, x + 1], 1)
        axes = {"in_axes": (None, 1), "out_axes": {"loss": 0, "count": None}}
        self.same(jax.vmap(fast, **{**axes, "out_axes": 0})(params, xs),
                  jax.vmap(loss, **{**axes, "out_axes": 0})(params, xs))
        assert self.programs(fast) == ["loss, a batch of 3"]

        def total(function):
            return lambda params, xs: jax.vmap(scalar(function), (None, 1))(params, xs).sum()

        self.same(jax.grad(total(fast))(params, xs), jax.grad(total(loss))(params, xs))
        assert self.programs(fast)[1:] == ["loss, a batch of 3, forward of its gradient",
                                           "loss, a batch of 3, backward of its gradient"]
        self.same(jax.vmap(jax.grad(scalar(fast)), (None, 1))(params, xs),
                  jax.vmap(jax.grad(scalar(loss)), (None, 1))(params, xs))
        assert self.programs(fast)[3:] == ["loss, forward of its gradient, a batch of 3",
                                           "loss, backward of its gradient, a batch of 3"]

    def test_what_was_tuned_is_what_runs(self, tuned, monkeypatch):
        from hone.jax import _optimize

        fast = tuned(loss, *self.arguments(), transforms=("grad", "vmap"))

        class Doubled:
            report, inner = {}, None

            def __init__(self, function, *_, **__):
                self._function = function

            def __call__(self, *arrays):
                return [2 * result for result in self._function(*arrays)]

        monkeypatch.setattr(_optimize, "optimize", Doubled)
        params, x = self.arguments()
        self.same(jax.vmap(scalar(fast), (None, 0))(params, x[None]), 2 * scalar(loss)(params, x)[None])
        pull = jax.vjp(scalar(fast), params, x)[1]
        # The backward program doubles, and what it is given by the forward one is double where it is floating.
        wanted = jax.vjp(scalar(loss), params, x)[1](jnp.ones(()))
        found = pull(jnp.ones(()))
        assert float(jnp.abs(found[1]).max()) > 1.9 * float(jnp.abs(wanted[1]).max())

    def test_in_a_jitted_function(self, tuned):
        params, x = self.arguments()
        for transforms, convolutions in (("jit", 0), ("grad", 1), ((), 1)):
            fast = tuned(loss, params, x, transforms=transforms)
            outer = jax.jit(lambda params, x: scalar(fast)(params, x) + 1)
            assert outer.lower(params, x).as_text().count("stablehlo.convolution") == convolutions
            self.same(outer(params, x), scalar(loss)(params, x) + 1)
        fast = tuned(loss, params, x, transforms=("jit", "grad"))
        gradient = jax.jit(jax.grad(scalar(fast)))
        self.same(gradient(params, x), jax.grad(scalar(loss))(params, x))
        # Of arguments that are no examples nothing is known.
        outer = jax.jit(lambda params, x: scalar(fast)(params, x))
        assert "stablehlo.convolution" in outer.lower(params, jnp.tile(x, (2, 1, 1, 1))).as_text()

    def test_constants_and_what_is_not_used(self, tuned):
        held = jnp.arange(1200.0).reshape(30, 40)

        def function(unused, w, x):
            return depthwise({"w": w}, x, 2)[1] + held.sum()

        params, x = self.arguments()
        fast = tuned(function, 3.0, params["w"], x, transforms=("jit", "grad"))
        assert fast.inner
        outer = jax.jit(lambda w, x: fast(3.0, w, x) * 2)
        assert "stablehlo.convolution" not in outer.lower(params["w"], x).as_text()
        self.same(outer(params["w"], x), 2 * function(3.0, params["w"], x))
        self.same(jax.grad(fast, (0, 1))(3.0, params["w"], x), jax.grad(function, (0, 1))(3.0, params["w"], x))

    def test_the_rest_is_jax_s_own(self, tuned):
        fast = tuned(loss, *self.arguments(), transforms=("grad", "vmap", "jit"))
        arguments = self.arguments()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for of in (lambda f: jax.jvp(f, arguments, arguments),
                       lambda f: jax.linearize(f, *arguments)[1](*arguments)):
                self.same(of(scalar(fast)), of(scalar(loss)))
            assert self.programs(fast) == []

            def product(function):  # of the Hessian
                return jax.jvp(jax.grad(lambda x: scalar(function)(arguments[0], x)),
                               arguments[1:], arguments[1:])

            self.same(product(fast), product(loss))

            def second(function):
                first = jax.grad(scalar(function))
                return jax.grad(lambda params: (first(params, arguments[1])["w"] ** 2).sum())(arguments[0])

            self.same(second(fast), second(loss))
            self.same(jax.grad(jax.checkpoint(scalar(fast)))(*arguments), jax.grad(scalar(loss))(*arguments))

            def thrice(function):
                return jax.lax.scan(lambda c, _: (c + scalar(function)(*arguments), None), 0.0, None, 3)[0]

            self.same(thrice(fast), thrice(loss))

    def test_a_loop_without_a_gradient(self, tuned):
        def halve(x):
            return jax.lax.while_loop(lambda x: x.sum() > 1, lambda x: x / 2, x)

        fast = tuned(halve, jnp.ones(4), transforms="grad")
        with pytest.warns(UserWarning, match="has no grad that could be tuned: Reverse-mode"), \
                pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
            jax.grad(lambda x: fast(x).sum())(jnp.ones(4))
        self.same(jax.jvp(fast, (jnp.ones(4),), (jnp.ones(4),)), jax.jvp(halve, (jnp.ones(4),), (jnp.ones(4),)))

    def test_static_arguments_and_the_original_kept(self, monkeypatch):
        import hone.jax
        from hone.jax import _improve

        monkeypatch.setattr(_improve, "tune", lambda hlo, **_: ({}, {"kept": "stock", "reason": "so"}))
        monkeypatch.setattr(_improve, "_implementations", lambda *_: [])
        with pytest.warns(UserWarning, match="stays as JAX compiles it: so"):
            same = hone.jax.optimize(lambda x, n: (x ** n).sum(), jnp.ones(3), 2, static_argnums=1,
                                     transforms=("grad", "vmap", "jit"))
            x = jnp.array([1.0, 2.0, 3.0])
            assert not same.tuned and same(x, 2) == 14
            self.same(jax.grad(same)(x, 2), 2 * x)
            self.same(jax.vmap(lambda x: same(x, 2))(x[:, None] * jnp.ones(3)), 3 * x ** 2)
            assert len(self.programs(same)) == 3
            self.same(jax.grad(same)(x, 3), 3 * x ** 2)
        assert len(self.programs(same)) == 3
        with pytest.warns(UserWarning, match="is as JAX compiles it within a jitted function"):
            jax.jit(lambda x: same(x, 2))(x)

    def test_bounds_and_errors(self, tuned, monkeypatch):
        import hone.jax
        from hone.jax import _improve, _transforms

        fast = tuned(loss, *self.arguments(), transforms="vmap")
        params, x = self.arguments()
        monkeypatch.setattr(_transforms, "_MOST", 1)
        for size in (2, 3):
            xs = jnp.stack([x] * size)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                self.same(jax.vmap(scalar(fast), (None, 0))(params, xs),
                          jax.vmap(scalar(loss), (None, 0))(params, xs))
            assert len(told) == size - 2 and len(self.programs(fast)) == 1
        assert "1 programs of its transformations are tuned already" in str(told[0].message)

        def fails(*_, **__):
            raise MemoryError("no room")

        fast = tuned(loss, *self.arguments(), transforms="grad")
        monkeypatch.setattr(_improve, "tune", fails)
        monkeypatch.setattr(_transforms, "_MOST", 8)
        with pytest.warns(UserWarning, match="forward of its gradient stays as JAX compiles it: no room"):
            self.same(jax.grad(scalar(fast))(params, x), jax.grad(scalar(loss))(params, x))
        with pytest.raises(ValueError, match="transforms: 'jvp': give some of grad, vmap, jit"):
            hone.jax.optimize(loss, params, x, transforms=("grad", "jvp"))
