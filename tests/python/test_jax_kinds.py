"""hone.jax.optimize on kinds of programs that once could not be tuned, or came back otherwise than JAX's own."""

import functools
import warnings

import numpy as np
import pytest

import hone
from jax_harness import depthwise, jax, jnp, needs_jax, win_every_race


@pytest.fixture
def tuned(monkeypatch):
    """optimize, by a plan that computes convolutions in another way and wins wherever it is tried."""
    import hone.jax
    from hone.jax import _improve

    plan = {"format": "hone tuned plan", "passes": ["implement:depthwise_shifts"], "choices": {}, "flags": {}}
    monkeypatch.setattr(_improve, "tune", lambda hlo, **_: (plan, {"kept": "tuned"}))
    monkeypatch.setattr(_improve, "_implementations", lambda *_: [])
    win_every_race(monkeypatch)
    return lambda *a, **n: hone.jax.optimize(*a, budget="2s", **n)


def arguments():
    key = jax.random.key(0)
    return jax.random.normal(key, (3, 3, 1, 8)), jax.random.normal(key, (2, 12, 12, 8))


@needs_jax
class TestKinds:
    def test_shardings_over_one_device(self, tuned):
        from hone.jax import _compile

        mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("d",))
        split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))

        def function(w, x):
            y = depthwise({"w": w}, x, 2)[1]
            return y, jax.lax.with_sharding_constraint(x * 2, split)

        def jitted():
            return jax.jit(function, in_shardings=(None, split), out_shardings=(None, split))

        w, x = arguments()
        module = jitted().lower(w, x).compiler_ir("stablehlo")
        assert "sdy.sharding" in str(module)
        assert "custom_call" not in hone.to_stablehlo(_compile.hlo_of(module))
        assert "sdy.sharding" in str(module)  # JAX's own
        fast = tuned(jitted(), w, jax.device_put(x, split))
        assert fast.tuned, fast.report
        for found, wanted in zip(fast(w, jax.device_put(x, split)), jitted()(w, x)):
            np.testing.assert_allclose(found, wanted, rtol=1e-3)
            assert found.sharding == wanted.sharding

    def test_arguments_by_name(self, tuned):
        w, x = arguments()

        @functools.partial(jax.jit, static_argnames=("scale", "mean"))
        def function(w, x, scale, *, mean=False, shift):
            y = depthwise({"w": w}, x, scale)[1] + shift
            return y / x.size if mean else y

        fast = tuned(function, w, x, 2, example_kwargs={"mean": True, "shift": 1.0})
        assert fast.tuned, fast.report
        wanted = function(w, x, 2, mean=True, shift=3.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ways = [fast(w, x, 2, mean=True, shift=3.0), fast(w, x, scale=2, mean=True, shift=3.0),
                    fast(shift=3.0, x=x, w=w, mean=True, scale=2)]
        for found in ways:
            np.testing.assert_allclose(found, wanted, rtol=1e-3)
        with pytest.warns(UserWarning, match="a static argument has another value"):
            np.testing.assert_allclose(fast(w, x, 2, mean=False, shift=3.0),
                                       function(w, x, 2, mean=False, shift=3.0), rtol=1e-3)
        fast = tuned(lambda w, x, scale=2: depthwise({"w": w}, x, scale)[1], w, x, static_argnames="scale")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fast(w, x), fast(x=x, w=w), fast(w, x, 2)  # the default
        with pytest.warns(UserWarning, match="runs as JAX compiles it"):
            np.testing.assert_allclose(fast(w, x, 3), fast(w, x) * 1.5, rtol=1e-3)

    def test_arguments_by_name_of_any_shape_and_transformed(self, tuned):
        w, x = arguments()

        def function(w, *, x, scale):
            return depthwise({"w": w}, x, scale)[1]

        fast = tuned(function, w, example_kwargs={"x": x, "scale": 2}, static_argnames="scale", shapes="all",
                     transforms="grad")
        wanted = jax.grad(lambda w: function(w, x=x, scale=2))(w)
        np.testing.assert_allclose(jax.grad(fast)(w, x=x, scale=2), wanted, rtol=1e-3, atol=1e-2)
        assert [row["kept"] for row in fast.report["transforms"]] == ["tuned"] * 2
        fast(w, x=x, scale=2)
        assert fast.report["shapes"] == []
        np.testing.assert_allclose(fast(w, x=x, scale=3), function(w, x=x, scale=3), rtol=1e-3)
        assert len(fast.report["shapes"]) == 1

    def test_jitted_methods(self, tuned):
        class Model:
            scale = 2

            @functools.partial(jax.jit, static_argnums=0)
            def loss(self, w, x):
                return depthwise({"w": w}, x, self.scale)[1]

        w, x = arguments()
        model = Model()
        for fast, given in ((tuned(model.loss, w, x), (w, x)), (tuned(Model.loss, model, w, x), (model, w, x))):
            assert fast.tuned, fast.report
            np.testing.assert_allclose(fast(*given), model.loss(w, x), rtol=1e-3)

    def test_what_is_not_of_jax_jit(self, tuned):
        nnx = pytest.importorskip("flax.nnx")
        layer = nnx.Linear(3, 4, rngs=nnx.Rngs(0))
        with pytest.warns(UserWarning, match="lowers it in a way of its own; give the function of arrays"):
            same = tuned(nnx.jit(lambda layer, x: layer(x)), layer, jnp.ones((2, 3)))
        np.testing.assert_array_equal(same(layer, jnp.ones((2, 3))), layer(jnp.ones((2, 3))))
        with pytest.raises(ValueError, match="call optimize outside of jit, grad and vmap"):
            jax.jit(lambda x: tuned(jnp.sin, x)(x))(jnp.ones(3))

    def test_without_jit(self, tuned):
        w, x = arguments()
        fast = tuned(lambda w, x: depthwise({"w": w}, x, 2)[1], w, x)
        assert fast.tuned, fast.report
        with pytest.warns(UserWarning, match="runs as JAX compiles it: Disable jit"), jax.disable_jit():
            found = fast(w, x)
        np.testing.assert_allclose(found, fast(w, x), rtol=1e-3)
