"""hone.jax on functions that call back into Python."""

import numpy as np
import pytest

from jax_harness import depthwise, jax, jnp, needs_jax, win_every_race

PLAN = {"format": "hone tuned plan", "passes": ["implement:depthwise_shifts"], "choices": {}, "flags": {}}


def lowered(function, *arguments):
    from hone.jax import _compile

    return _compile.bytecode_of(jax.jit(function).lower(*arguments).compiler_ir("stablehlo"))


@needs_jax
class TestCallbacks:
    @pytest.mark.parametrize("result,expected", [
        (((4,), "float32"), [1, 2, 3, 6]), (((2, 2), "float32"), [[1, 2], [3, 6]]),
        (((2,), "float64"), [3, 3]), (((3,), "int32"), [0, 0, 0])])
    def test_something_stands_in_while_it_is_tried(self, result, expected):
        from hone.jax import _compile

        def never(x):
            raise AssertionError("hone runs no user's function")

        with jax.enable_x64(True):
            program = lowered(
                lambda x: jax.pure_callback(never, jax.ShapeDtypeStruct(*result), x),
                np.array([1, 2, 3, 6], np.float32))
        executable, _ = _compile.compile_stablehlo(program)
        x = jax.device_put(np.array([1, 2, 3, 6], np.float32))
        found = executable.execute_sharded([x]).disassemble_into_single_device_arrays()[0][0]
        np.testing.assert_array_equal(np.asarray(found), expected)

    def test_pure_is_what_only_answers(self):
        from hone.jax import _callbacks, _compile

        def printing(x):
            jax.debug.print("{}", x)
            return x

        def asking(x):
            return jax.pure_callback(np.sin, x, x)

        for function, pure in ((printing, False), (asking, True), (jnp.sin, True)):
            with _compile.module_of(lowered(function, np.ones(3, np.float32))) as module:
                assert _callbacks.are_pure(module) is pure

    def test_a_tuned_function_calls_the_users_own(self, monkeypatch):
        import hone.jax
        from hone.jax import _improve

        monkeypatch.setattr(_improve, "tune", lambda hlo, **_: (PLAN, {"kept": "tuned", "reason": ""}))
        win_every_race(monkeypatch)
        calls = []

        def shifted(x):
            calls.append(x.shape)
            return x + 1

        def function(x, w):
            y = jax.pure_callback(shifted, x, x)
            # As checks of values have it: only where something is wrong, Python is called.
            y = jax.lax.cond(jnp.any(x > 1e6),
                             lambda y: jax.pure_callback(lambda y: (y / 0, y), (y, y), y)[0],
                             lambda y: y, y)
            return depthwise({"w": w}, y, 2)[1]

        x = jax.random.normal(jax.random.key(1), (1, 24, 24, 32))
        w = jax.random.normal(jax.random.key(2), (3, 3, 1, 32))
        tuned = hone.jax.optimize(function, x, w, budget="6s")
        assert tuned.tuned and not tuned.report["rejected"], tuned.report
        assert not calls
        np.testing.assert_allclose(tuned(x, w), depthwise({"w": w}, x + 1, 2)[1], rtol=1e-4)
        assert calls == [x.shape]
