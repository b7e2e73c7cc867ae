"""What the tests of hone.jax share; with JAX 0.10.2 or newer."""

import pytest

try:
    from hone.stablehlo import require_jax

    jax = require_jax("this test")
    jnp = jax.numpy
    MISSING = ""
except ImportError as error:
    jax = jnp = None
    MISSING = str(error)
needs_jax = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def tuned_by(body_of):
    """A Tuned whose body is what XLA makes of another function of one float32[4]."""
    from hone.jax import _compile

    text = jax.jit(body_of).lower(jnp.ones(4)).as_text()
    return _compile.Tuned(_compile.compile_stablehlo(text)[1], {}, "other")


def depthwise(params, x, scale):
    """Stock takes ten times as long for it as shifted multiplications do."""
    y = jax.lax.conv_general_dilated(
        x, params["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=x.shape[-1])
    return {"w": params["w"] * 0.5}, (y * scale).sum()


def hlo_of(function, *arguments):
    """A serialized HloModuleProto, not optimised."""
    from hone.jax import _compile

    return _compile.hlo_of(jax.jit(function).lower(*arguments).compiler_ir("stablehlo"))


def improve(function, arguments, plan, tmp_path, **named):
    """The verdict on a plan for a function."""
    from hone.jax import _compile, _improve

    stablehlo = _compile.bytecode_of(jax.jit(function).lower(*arguments).compiler_ir("stablehlo"))
    return _improve.improve(stablehlo, hlo_of(function, *arguments), plan,
                            list(map(jnp.asarray, arguments)), folder=tmp_path, seconds=0.2, **named)


def win_every_race(monkeypatch):
    from hone.jax import _improve

    monkeypatch.setattr(_improve, "race", lambda *_, **__: _improve.Race(2., 1., 2., 2., 2., 6))
