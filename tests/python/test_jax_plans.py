"""hone.jax: plans tried in JAX."""

import numpy as np
import pytest

from jax_harness import depthwise, improve, jax, jnp, needs_jax, win_every_race


def ode(x):
    return jax.lax.while_loop(lambda s: s[0] < 50,
                              lambda s: (s[0] + 1, s[1] + 0.01 * (jnp.sin(s[1]) - s[1]**3)), (0, x))[1]


@needs_jax
class TestPlansThatJaxDoesNotTake:
    """Flags of a plan that have another name in JAX, or none, or that its XLA does not survive."""

    WITHOUT_LAYOUT = "xla_disable_hlo_passes.layout-assignment"

    @pytest.mark.parametrize("function,shapes", [
        (lambda x: jnp.cumsum(x * 2, axis=0), [(64, 16)]),
        (ode, [(64,)]),
        (lambda q, k: jax.nn.softmax(q @ k.T) @ k, [(32, 16), (32, 16)])])
    def test_passes_left_out_are_left_out_in_jax(self, function, shapes, tmp_path):
        arguments = [jnp.linspace(0.1, 1, int(np.prod(shape))).reshape(shape) for shape in shapes]
        verdict = improve(function, arguments, {"flags": {self.WITHOUT_LAYOUT: "true"}}, tmp_path)
        assert verdict.race is not None and verdict.how == "flags", verdict
        assert not verdict.rejected and not verdict.left_out

    def test_what_jax_does_not_take_is_left_out_and_said(self, tmp_path, monkeypatch):
        win_every_race(monkeypatch)
        key = jax.random.key(0)
        arguments = (jax.random.normal(key, (3, 3, 1, 32)), jax.random.normal(key, (1, 24, 24, 32)))
        plan = {"passes": ["implement:depthwise_shifts"],
                "flags": {"xla_of_another_wheel": "7", "xla_cpu_experimental_ynn_fusion_type": "none",
                          "xla_cpu_multi_thread_eigen": "true"}}
        verdict = improve(
            lambda w, x: depthwise({"w": w}, x, 2)[1], arguments, plan, tmp_path)
        assert verdict.kept, verdict
        tried = dict(verdict.tuned.flags)
        assert not tried or tried == {"xla_cpu_multi_thread_eigen": "true"}

    def test_the_ladder(self):
        from hone.jax import _compile, _improve

        flags = {"xla_a": "1", self.WITHOUT_LAYOUT: "true", "xla_b": "true"}
        answers = ["No such compile option: 'xla_a'", "output 0 differs", None]
        seen = []

        def tried(tuned):
            seen.append(tuned.flags)
            return answers[len(seen) - 1], "executable", "look"

        make = _improve._Way(lambda flags: _compile.Tuned(b"", dict(flags)), needs_flags=True)
        tuned, executable, look, left_out, wrong = _improve._as_far_as_it_goes(make, flags, "f", tried)
        assert wrong is None and (executable, look) == ("executable", "look")
        assert tuned.flags == {"xla_b": "true"}
        assert left_out == ("xla_a = 1: No such compile option: 'xla_a'",
                            f"{self.WITHOUT_LAYOUT} = true: output 0 differs")
        answers, seen = ["no", "no", "no"], []
        assert _improve._as_far_as_it_goes(make, flags, "f", tried)[4] == "no"

    def test_notes_that_jax_has_no_name_for_are_left_out(self, monkeypatch):
        from hone.jax import _compile, _improve

        text = ('%w = while(%p), backend_config={"known_trip_count":{"n":"5"},"tuple_indices":["1"]}\n'
                '%c = custom-call(%w), backend_config={diag = 85 : i8}\n')
        monkeypatch.setattr(_improve, "_unknown_fields", set())
        assert _improve._without_fields(text, _improve._unknown_fields) == text
        made = []

        def tried(tuned):
            made.append(_improve._without_fields(text, _improve._unknown_fields))
            return (None if "tuple_indices" not in made[-1] else
                    "INTERNAL: invalid JSON, near 1:155:  no such   field: 'tuple_indices'"), "e", "l"

        make = _improve._Way(lambda flags: _compile.Tuned(b"", {}))
        assert _improve._as_far_as_it_goes(make, {}, "f", tried)[4] is None
        assert made[-1] == text.replace(',"tuple_indices":["1"]', "") and len(made) == 2

    def test_the_next_plan_is_tried(self, tmp_path, monkeypatch):
        win_every_race(monkeypatch)
        key = jax.random.key(0)
        arguments = (jax.random.normal(key, (3, 3, 1, 32)), jax.random.normal(key, (1, 24, 24, 32)))
        verdict = improve(
            lambda w, x: depthwise({"w": w}, x, 2)[1], arguments, {"flags": {"xla_none": "1"}}, tmp_path,
            others=[{"passes": ["implement:depthwise_shifts"]}])
        assert verdict.kept and verdict.how.endswith("of plan 2"), verdict
        assert "No such compile option" in verdict.rejected[0]
        assert verdict.plan == {"passes": ["implement:depthwise_shifts"]}

    def test_nothing_more_is_begun_when_the_time_is_over(self, tmp_path, monkeypatch):
        from hone.jax import _improve

        def fails(*_):
            raise AssertionError("there was no time for it")

        monkeypatch.setattr(_improve, "_implementations", fails)
        verdict = improve(lambda x: x * 2, (jnp.ones(4),), {"flags": {"xla_none": "1"}}, tmp_path,
                          others=[{"flags": {"xla_other": "1"}}], implementations=True, trying=0)
        assert not verdict.kept and len(verdict.rejected) == 2
        assert "xla_none" in verdict.rejected[0]  # the plan's own way
        assert verdict.rejected[1] == "implementations: no time was left for them"

    def test_without_time_the_first_way_that_is_faster_will_do(self, tmp_path, monkeypatch):
        from hone.jax import _improve

        win_every_race(monkeypatch)
        monkeypatch.setattr(_improve, "_module_of", lambda *_: pytest.fail("there was no time for it"))
        points = (jnp.ones((50, 3)), jnp.arange(9.0).reshape(3, 3))
        verdict = improve(lambda x, m: x @ m, points, {"passes": ["implement:thin_dot_sum"]}, tmp_path,
                          trying=-1)
        assert verdict.kept and verdict.how == "passes", verdict

    def test_decompositions_run_in_another_process(self, tmp_path):
        """Where JAX does not lower them, but is given them."""
        from hone.jax import _compile, looks, trial

        matrix = jnp.eye(4) * 2
        lowered = jax.jit(jnp.linalg.cholesky).lower(matrix)
        stablehlo = _compile.bytecode_of(lowered.compiler_ir("stablehlo"))
        assert b"lapack_" in stablehlo
        doubtful = _compile.Tuned(flags={"xla_disable_hlo_passes.reshape-mover": "true"})
        assert trial.why_not(stablehlo, doubtful, [matrix], tmp_path) is None
        assert looks.faster(stablehlo, [lowered.as_text("hlo")], [matrix], tmp_path, seconds=60, least=0) == [0]

    def test_a_process_that_xla_ends_is_not_the_users(self, tmp_path):
        from hone.jax import _compile, trial

        key = jax.random.PRNGKey(0)
        lowered = jax.jit(lambda k: jax.random.normal(k, (16,))).lower(key)
        stablehlo = _compile.bytecode_of(lowered.compiler_ir("stablehlo"))
        flags = {_compile.WITHOUT_PASS + "copy-insertion": "true"}
        why = trial.why_not(stablehlo, _compile.Tuned(b"", flags), [key], tmp_path)
        assert "JAX's XLA ends the process: Check failed" in why
        assert trial.why_not(stablehlo, _compile.Tuned(b"", {"xla_none": "1"}), [key], tmp_path) is None
