"""hone.jax: the place where JAX compiles."""

import re
import time

import numpy as np
import pytest

from jax_harness import jax, jnp, needs_jax, tuned_by


@needs_jax
class TestCompile:
    def test_fields_take_messages_apart(self):
        from hone.jax import _compile

        proto = tuned_by(jnp.tanh).body
        found = _compile.fields(proto)
        assert b"".join(field for _, field in found) == proto
        assert {1, 2, 3, 5} <= {number for number, _ in found}
        assert _compile.fields(_compile.with_body(proto, proto)) != []
        with pytest.raises(ValueError, match="starts no field"):
            _compile.fields(b"\x0b")

    def test_a_body_takes_the_place_of_the_module(self):
        from hone.jax import _compile

        lowered = jax.jit(lambda x: x * 2).lower(jnp.ones(4))
        with _compile.forced(tuned_by(lambda x: x * 3), lowered.as_text()):
            compiled = lowered.compile()
        np.testing.assert_array_equal(compiled(jnp.ones(4)), np.full(4, 3.0))
        # Nothing is left behind for what is compiled later.
        np.testing.assert_array_equal(jax.jit(lambda x: x * 2 + 0)(jnp.ones(4)), np.full(4, 2.0))

    def test_a_body_of_another_shape_is_refused(self):
        from hone.jax import _compile

        five, four = (jax.jit(lambda x: x * 3).lower(jnp.ones(n)).as_text() for n in (5, 4))
        body = _compile.compile_stablehlo(five)[1]
        with pytest.raises(ValueError, match="other arguments"):
            _compile.compile_stablehlo(four, _compile.Tuned(body))

    def test_flags(self):
        from hone.jax import _compile

        text = jax.jit(lambda x: x * 2).lower(jnp.ones(4)).as_text()
        fine = {"xla_cpu_prefer_vector_width": "128", "xla_cpu_multi_thread_eigen": "false"}
        assert _compile.compile_stablehlo(text, _compile.Tuned(b"", fine))[0] is not None
        with pytest.raises(Exception, match="No such compile option"):
            _compile.compile_stablehlo(text, _compile.Tuned(b"", {"no_such": 1}))

    def test_flags_that_jax_spells_otherwise(self):
        from hone.jax import _compile

        def optimised(function, flags):
            text = jax.jit(function).lower(jnp.ones((40, 30))).as_text()
            executable, _ = _compile.compile_stablehlo(text, _compile.Tuned(b"", flags))
            # Its own mark is another each time.
            return re.sub(r'hone\.tuned="[^"]*"', "", executable.hlo_modules()[0].to_string())

        def sums(x):
            return jnp.sin(x.T * 2 + 0) @ jnp.cos(x)

        without = {name: _compile.WITHOUT_PASS + name for name in ("fusion", "algsimp")}
        texts = [optimised(sums, dict.fromkeys(flags, "true")) for flags in (
            [], [without["fusion"]], [without["algsimp"]], list(without.values()))]
        assert len(set(texts)) == 4  # each is left out, and both together
        assert optimised(sums, {without["fusion"]: "unset"}) == texts[0]

        def loop(x):
            return jax.lax.fori_loop(0, 9, lambda i, c: jnp.sin(c) + i, x)

        extra = _compile.EXTRA + "xla_cpu_small_while_loop_byte_threshold"
        assert optimised(loop, {extra: "0"}) != optimised(loop, {extra: "16777216"})

    def test_what_the_user_set_stays(self):
        from jax._src import compiler

        from hone.jax import _compile

        options = compiler.get_compile_options(
            1, 1, env_options_overrides={"xla_disable_hlo_passes": "dce", "xla_cpu_use_xnnpack": False})
        flags = {_compile.WITHOUT_PASS + "cse": "true", "xla_cpu_prefer_vector_width": "256"}
        changed = dict(_compile.with_flags(options, flags).env_option_overrides)
        assert changed == {"xla_disable_hlo_passes": "dce,cse", "xla_cpu_use_xnnpack": False,
                           "xla_cpu_prefer_vector_width": 256}
        assert len(options.env_option_overrides) == 2

    def test_keys(self):
        from hone.jax import _compile

        def key(function):
            with _compile.module_of(jax.jit(function).lower(jnp.ones(4)).as_text()) as module:
                return _compile.key_of(module)

        def f(x):
            return x * 2

        first = key(f)

        def f(x):  # elsewhere in the file
            return x * 2

        assert key(f) == first and len(first) == 32

        def f(x):
            return x * 3

        assert key(f) != first

    def test_donated_and_parameters(self):
        from hone.jax import _compile

        lowered = jax.jit(lambda x, y: (x + y, y.sum()), donate_argnums=0).lower(
            jnp.ones((2, 3)), jnp.ones((2, 3)))
        with _compile.module_of(lowered.as_text()) as module:
            assert _compile.donated(module) == {0}
        text = jax.jit(lambda a, b, c: (a, b, c)).lower(
            jnp.ones(2, jnp.bfloat16), jnp.ones((), jnp.uint8), jnp.ones(1, bool)).as_text()
        assert [(s, str(d)) for s, d in _compile.parameters(text)] == [
            ((2,), "bfloat16"), ((), "uint8"), ((1,), "bool")]
