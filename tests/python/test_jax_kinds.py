"""hone.jax.optimize on kinds of programs that once could not be tuned, or came back otherwise than JAX's own."""

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
