"""hone.jax: translation, the hook, comparison, optimize; with JAX 0.10.2 or newer."""

import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    from hone.stablehlo import require_jax

    jax = require_jax("this test")
    jnp = jax.numpy
    MISSING = ""
except ImportError as error:
    MISSING = str(error)
needs_jax = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def tuned_by(body_of):
    """A Tuned whose body is what XLA makes of another function of one float32[4]."""
    from hone.jax import _compile

    text = jax.jit(body_of).lower(jnp.ones(4)).as_text()
    return _compile.Tuned(_compile.compile_stablehlo(text)[1], {}, "other")


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Makes `hone` a shell script."""
    from hone.jax import _hone

    def make(text):
        path = tmp_path / "hone"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        monkeypatch.setattr(_hone, "find_hone", lambda: str(path))

    return make


def test_what_hone_says(command):
    from hone.jax._hone import HoneError, run_hone

    command("echo '{\"arguments\": \"'$*'\"}'")
    assert run_hone("tune", "x.pb") == {"arguments": "tune x.pb --json"}
    command("echo '{\"error\": {\"message\": \"what; what to do\"}}'; exit 2")
    with pytest.raises(HoneError, match="hone tune: what; what to do"):
        run_hone("tune")
    command("echo 'no worker' >&2; exit 1")
    with pytest.raises(HoneError, match="hone apply: no worker"):
        run_hone("apply")


def test_the_first_interrupt_is_for_hone(command):
    from hone.jax._hone import run_hone

    # Interrupts its caller, once that waits for it, and answers only then.
    command("sleep 0.5; kill -INT $PPID; sleep 0.5; echo '{\"kept\": \"tuned\"}'; exit 130")
    assert run_hone("tune") == {"kept": "tuned"}


def run_python(code, *arguments, **named):
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True,
                          timeout=120, check=False, **named)


def test_importing_needs_no_jax():
    done = run_python("import sys; sys.modules['jax'] = None\n"
                      "import hone, hone.jax\n"
                      "for f in (lambda: hone.jax.optimize, lambda: hone.to_stablehlo('x'),\n"
                      "          lambda: hone.from_stablehlo('x')):\n"
                      "    try: f()\n"
                      "    except ImportError as e: print(e)\n")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and all("needs JAX 0.10.2 or newer; install it" in l for l in lines)


@needs_jax
class TestStableHlo:
    def text(self):
        return jax.jit(lambda x, y: (jnp.tanh(x @ y), x.sum())).lower(
            jnp.ones((3, 4)), jnp.ones((4, 2))).as_text()

    def test_there_and_back_computes_the_same(self):
        import hone
        from hone.jax import _compile

        hlo = hone.from_stablehlo(self.text())
        assert hlo.startswith("HloModule") and "f32[3,4]" in hlo
        back = hone.to_stablehlo(hlo)
        assert "stablehlo.tanh" in back
        inputs = [jnp.arange(12.0).reshape(3, 4) / 12, jnp.arange(8.0).reshape(4, 2) / 8]
        results = [
            [np.asarray(r[0]) for r in _compile.compile_stablehlo(text)[0].execute_sharded(
                inputs).disassemble_into_single_device_arrays()] for text in (self.text(), back)]
        for a, b in zip(*results):
            np.testing.assert_array_equal(a, b)

    def test_binary_forms(self):
        import hone
        from hone.jax import _compile

        with _compile.module_of(self.text()) as module:
            bytecode = _compile.bytecode_of(module)
        proto = hone.from_stablehlo(bytecode, binary=True)
        assert isinstance(proto, bytes)
        assert hone.to_stablehlo(proto) == hone.to_stablehlo(hone.from_stablehlo(self.text()))

    @pytest.mark.parametrize("bad", ["nonsense", b"\xff\xfe", 3])
    def test_errors(self, bad):
        import hone

        with pytest.raises(ValueError, match="StableHLO"):
            hone.from_stablehlo(bad)
        with pytest.raises(ValueError, match="HLO"):
            hone.to_stablehlo(bad)


@needs_jax
class TestLower:
    MODULE = ("import jax, jax.numpy as jnp\n"
              "def step(x, n): return x * 2 + n\n"
              "@jax.jit\ndef other(x): return x\n"
              "other.example_args = ({'a': jnp.ones(7)},)\n"
              "def raises(x): raise RuntimeError('mine')\n")

    @pytest.fixture
    def module(self, tmp_path):
        (tmp_path / "train.py").write_text(self.MODULE)
        return tmp_path / "train.py"

    def hlo(self, given):
        import hone
        from hone.lower import lower

        return hone.to_stablehlo(lower(str(given)))

    def test_functions(self, module):
        assert "tensor<8x16xf32>, %arg1: tensor<i32>" in self.hlo(f"{module}:step(f32[8, 16], s32[])")
        assert "tensor<7xf32>" in self.hlo(f"{module}:other")

    def test_file(self, tmp_path):
        path = tmp_path / "m.mlir"
        path.write_text(jax.jit(lambda x: x + 1).lower(jnp.ones(5)).as_text())
        assert "tensor<5xf32>" in self.hlo(path)

    @pytest.mark.parametrize("given, message", [
        (":step", "give the shapes"),
        (":step(f32[8)", "no list of shapes"),
        (":step(q7[8],f32[])", "no list of shapes"),
        (":none", "has no function 'none'; it has step"),
        (":raises(f32[1])", "raised RuntimeError: mine"),
        ("x:step", "there is no such file"),
    ])
    def test_errors(self, module, tmp_path, capsys, given, message):
        from hone.lower import main

        given = f"{module}{given}" if given[0] == ":" else f"{tmp_path}/x.py:step"
        assert main([given, "-o", str(tmp_path / "out.pb")]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "out.pb").exists()


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

        monkeypatch.setattr(_compare, "_loaded", lambda hlo: (Worker(), None))
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


def depthwise(params, x, scale):
    """Stock takes ten times as long for it as shifted multiplications do."""
    y = jax.lax.conv_general_dilated(
        x, params["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=x.shape[-1])
    return {"w": params["w"] * 0.5}, (y * scale).sum()


@needs_jax
class TestOptimize:
    PLAN = {"format": "hone tuned plan", "passes": ["implement:depthwise_shifts"], "choices": {},
            "flags": {}}

    @pytest.fixture
    def plan(self, monkeypatch):
        """What `hone tune` answers; the search itself is tested elsewhere."""
        from hone.jax import _improve

        answer = {"plan": self.PLAN, "kept": "tuned"}

        def tune(hlo_file, folder, **options):
            assert pathlib.Path(hlo_file).read_bytes()
            answer["options"] = options
            return answer["plan"], {"kept": answer["kept"], "reason": "as a test has it"}

        monkeypatch.setattr(_improve, "tune", tune)
        return answer

    def arguments(self):
        key = jax.random.key(0)
        return {"w": jax.random.normal(key, (3, 3, 1, 32))}, jax.random.normal(key, (1, 24, 24, 32))

    def test_tuned(self, plan):
        import hone.jax

        params, x = self.arguments()
        tuned = hone.jax.optimize(depthwise, params, x, 2, budget="7s", static_argnums=2,
                                  donate_argnums=0)
        assert tuned.tuned, tuned.report
        assert plan["options"]["budget"] == "4.66667s"
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
        ("15s", "10s"), ("2m", "110s"), ("0.6s", "0.4s"), ("900ms", "0.6s"), (" 30 ", "20s"),
        ("long", "long"), ("1.2.3s", "1.2.3s"), ("5 years", "5 years")])
    def test_the_search_gets_most_of_the_budget(self, budget, search):
        from hone.jax import _optimize

        assert _optimize._budget_of_search(budget) == search

    def test_bad_arguments(self):
        import hone.jax

        with pytest.raises(ValueError, match="objective 'speed': give one of time"):
            hone.jax.optimize(jnp.sin, jnp.ones(3), objective="speed")
        with pytest.raises(ValueError, match="is no function"):
            hone.jax.optimize(3)
        with pytest.raises(ValueError, match="a jitted function has its own"):
            hone.jax.optimize(jax.jit(lambda x: x), 1, donate_argnums=0)
        with pytest.raises(TypeError):  # the function's own
            hone.jax.optimize(lambda x: x, jnp.ones(3), jnp.ones(3))


def ode(x):
    return jax.lax.while_loop(lambda s: s[0] < 50,
                              lambda s: (s[0] + 1, s[1] + 0.01 * (jnp.sin(s[1]) - s[1]**3)), (0, x))[1]


@needs_jax
class TestPlansThatJaxDoesNotTake:
    """Flags of a plan that have another name in JAX, or none, or that its XLA does not survive."""

    WITHOUT_LAYOUT = "xla_disable_hlo_passes.layout-assignment"

    def improve(self, function, arguments, plan, tmp_path, **named):
        from hone.jax import _compile, _improve

        lowered = jax.jit(function).lower(*arguments)
        stablehlo = _compile.bytecode_of(lowered.compiler_ir("stablehlo"))
        hlo = tmp_path / "program.pb"
        hlo.write_bytes(_compile.hlo_of(lowered.compiler_ir("stablehlo")))
        return _improve.improve(stablehlo, hlo, plan, list(map(jnp.asarray, arguments)),
                                folder=tmp_path, seconds=0.2, **named)

    @pytest.mark.parametrize("function,shapes", [
        (lambda x: jnp.cumsum(x * 2, axis=0), [(64, 16)]),
        (ode, [(64,)]),
        (lambda q, k: jax.nn.softmax(q @ k.T) @ k, [(32, 16), (32, 16)])])
    def test_passes_left_out_are_left_out_in_jax(self, function, shapes, tmp_path):
        arguments = [jnp.linspace(0.1, 1, int(np.prod(shape))).reshape(shape) for shape in shapes]
        verdict = self.improve(function, arguments, {"flags": {self.WITHOUT_LAYOUT: "true"}}, tmp_path)
        assert verdict.race is not None and verdict.how == "flags", verdict
        assert not verdict.rejected and not verdict.left_out

    def test_what_jax_does_not_take_is_left_out_and_said(self, tmp_path):
        key = jax.random.key(0)
        arguments = (jax.random.normal(key, (3, 3, 1, 32)), jax.random.normal(key, (1, 24, 24, 32)))
        plan = {"passes": ["implement:depthwise_shifts"],
                "flags": {"xla_of_another_wheel": "7", "xla_cpu_experimental_ynn_fusion_type": "none",
                          "xla_cpu_multi_thread_eigen": "true"}}
        verdict = self.improve(
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

    def test_the_next_plan_is_tried(self, tmp_path):
        key = jax.random.key(0)
        arguments = (jax.random.normal(key, (3, 3, 1, 32)), jax.random.normal(key, (1, 24, 24, 32)))
        verdict = self.improve(
            lambda w, x: depthwise({"w": w}, x, 2)[1], arguments, {"flags": {"xla_none": "1"}}, tmp_path,
            others=[{"passes": ["implement:depthwise_shifts"]}])
        assert verdict.kept and verdict.how.endswith("of plan 2"), verdict
        assert "No such compile option" in verdict.rejected[0]
        assert verdict.plan == {"passes": ["implement:depthwise_shifts"]}

    def test_implementations_are_looked_at_in_jax(self, tmp_path, monkeypatch):
        from hone.jax import _improve

        raced = []

        def race(runner, stock, tuned, seconds, **_):
            raced.append(tuned)
            return _improve.Race(2.0, 1.0, 2.0, 2.0, 2.0, 6)

        monkeypatch.setattr(_improve, "race", race)
        points = (jnp.ones((50, 3)), jnp.arange(9.0).reshape(3, 3))
        verdict = self.improve(lambda x, m: x @ m, points, {}, tmp_path, implementations=True)
        assert verdict.kept and verdict.how == "implement:thin_dot_sum", verdict
        assert verdict.plan == {"passes": ["implement:thin_dot_sum"]}
        assert len(raced) >= 3, "a glance, a look, and the last race"

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
        monkeypatch.setattr(_improve, "race", lambda *_, **__: _improve.Race(2., 1., 2., 2., 2., 6))
        verdict = self.improve(jax.grad(loss, (0, 1)), arrays,
                               {"passes": ["implement:convolution_output_dots"]}, tmp_path)
        assert verdict.kept and not verdict.rejected, verdict

    def test_what_was_found_outlives_implementations_that_cannot_be_had(self, tmp_path, monkeypatch):
        from hone.jax import _improve

        def implementations(hlo_file, seconds, folder):
            raise ValueError("no worker")
            yield

        monkeypatch.setattr(_improve, "race", lambda *_, **__: _improve.Race(2., 1., 2., 2., 2., 6))
        monkeypatch.setattr(_improve, "_implementations", implementations)
        verdict = self.improve(lambda x: x + 1, (jnp.ones(8),), {"flags": {
            "xla_cpu_multi_thread_eigen": "false"}}, tmp_path, implementations=True)
        assert verdict.kept and verdict.how == "flags", verdict
        assert verdict.rejected == ("implementations: no worker",)

    def test_implementations_within_calls_are_found(self, tmp_path):
        from hone.jax import _improve

        inner = jax.jit(lambda x, m: jnp.tanh(x @ m))
        lowered = jax.jit(lambda x, m: inner(x, m) + 1).lower(jnp.ones((50, 3)), jnp.ones((3, 3)))
        hlo = tmp_path / "calls.hlo"
        hlo.write_text(lowered.as_text("hlo"))
        found = {passes: text
                 for passes, text, _ in _improve._implementations(hlo, 60, tmp_path)}
        assert any(passes[-1] == "implement:thin_dot_sum" for passes in found)
        assert all(text.startswith("HloModule") for text in found.values())

    def test_implementations_behind_others_are_found(self, tmp_path):
        from hone.jax import _improve

        def steps(x):
            return jax.lax.fori_loop(0, 1000, lambda _, y: jnp.sort(y * 1.5), x)

        hlo = tmp_path / "loop.hlo"
        hlo.write_text(jax.jit(steps).lower(jnp.ones(4)).as_text("hlo"))
        kernels = [passes for passes, _, _ in _improve._implementations(hlo, 60, tmp_path)
                   if passes[-1] == "implement:loop_one_kernel"]
        assert kernels and kernels[0][-2] == "implement:write_out_small"

    def test_an_argument_with_a_default_may_be_static(self):
        import hone.jax

        fast = hone.jax.optimize(jnp.argsort, jnp.array([3.0, 1.0, 2.0]), budget="1s")
        assert "safe_zip" not in fast.report["reason"]
        assert fast(jnp.array([3.0, 1.0, 2.0])).tolist() == [1, 2, 0]

    def test_a_process_that_xla_ends_is_not_the_users(self, tmp_path):
        from hone.jax import _compile, trial

        key = jax.random.PRNGKey(0)
        lowered = jax.jit(lambda k: jax.random.normal(k, (16,))).lower(key)
        stablehlo = _compile.bytecode_of(lowered.compiler_ir("stablehlo"))
        flags = {_compile.WITHOUT_PASS + "copy-insertion": "true"}
        why = trial.why_not(stablehlo, _compile.Tuned(b"", flags), [key], tmp_path)
        assert "JAX's XLA ends the process: Check failed" in why
        assert trial.why_not(stablehlo, _compile.Tuned(b"", {"xla_none": "1"}), [key], tmp_path) is None


@needs_jax
class TestKernels:
    """Kernels of hone-loops in JAX's XLA."""

    @pytest.fixture
    def loops(self):
        import pathlib

        from hone.jax._hone import find_hone

        folder = pathlib.Path(find_hone()).parent
        if not (folder / "hone-loops").exists():
            pytest.skip("hone was built without hone-loops")
        return folder

    def kernels_of(self, tmp_path):
        from hone.jax import _kernels
        from hone.jax._hone import run_hone

        hlo, out = tmp_path / "softmax.hlo", tmp_path / "called.hlo"
        hlo.write_text(jax.jit(lambda x: jax.nn.softmax(x)).lower(jnp.ones((37, 97))).as_text("hlo"))
        run_hone("run", hlo, "--passes", "implement:loops", "-o", out)
        assert 'custom_call_target="hone_loops"' in out.read_text()
        return _kernels.beside(out)

    def test_they_run_there(self, loops, tmp_path, monkeypatch):
        from hone.jax import _compile, _improve

        monkeypatch.setattr(_improve, "race", lambda *_, **__: _improve.Race(2., 1., 2., 2., 2., 6))
        x = jax.random.normal(jax.random.key(0), (64, 257))
        verdict = TestPlansThatJaxDoesNotTake().improve(
            lambda x: jax.nn.softmax(x + 1), (x,), {"passes": ["implement:loops"]}, tmp_path)
        assert verdict.kept and verdict.how == "passes", verdict
        assert verdict.tuned.kernels.startswith(b"hone kernels 1\n")
        lowered = jax.jit(lambda x: jax.nn.softmax(x + 1)).lower(x)
        stablehlo = _compile.bytecode_of(lowered.compiler_ir("stablehlo"))
        with _compile.forced(verdict.tuned, stablehlo):
            compiled = lowered.compile(compiler_options={"xla_embed_ir_in_executable": False})
        assert "hone_loops" in compiled.as_text()
        want = np.exp(np.asarray(x, np.float64))
        want /= want.sum(-1, keepdims=True)
        np.testing.assert_allclose(compiled(x), want, rtol=1e-5)

    def test_they_are_looked_at_in_jax(self, loops, tmp_path, monkeypatch):
        from hone.jax import _improve, looks

        # In a process of its own it has its kernels; how fast they are is not asked here.
        faster = looks.faster
        seen = []

        def all_of_them(*arguments, least, **named):
            seen.extend(faster(*arguments, least=0, **{**named, "seconds": 60}))
            return seen

        monkeypatch.setattr(looks, "faster", all_of_them)
        monkeypatch.setattr(_improve, "_MOST_TAKEN_ON", 100)
        monkeypatch.setattr(_improve, "_implementations",
                            lambda *a, original=_improve._implementations: [next(original(*a))])
        monkeypatch.setattr(_improve, "race", lambda *_, **__: _improve.Race(2., 1., 2., 2., 2., 6))
        x = jax.random.normal(jax.random.key(0), (64, 257))
        verdict = TestPlansThatJaxDoesNotTake().improve(
            jax.nn.softmax, (x,), {}, tmp_path, implementations=True)
        assert seen == [0]
        assert verdict.kept and verdict.how == "implement:loops", verdict
        assert verdict.tuned.kernels

    def test_a_file_for_another_processor_is_refused(self, loops, tmp_path):
        from hone.jax import _kernels
        from hone.jax._hone import HoneError

        kernels = self.kernels_of(tmp_path)
        _kernels.add(kernels)
        begin, _, rest = kernels.partition(b"\nprocessor ")
        with pytest.raises(HoneError, match="another processor"):
            _kernels.add(begin + b"\nprocessor abacus 1\n" + rest.partition(b"\n")[2])
        with pytest.raises(HoneError, match="no file of hone's kernels"):
            _kernels.add(b"nonsense")
        with pytest.raises(HoneError, match="or not all of it"):
            _kernels.add(kernels[:-100])
        _kernels.add(b"")

    def test_a_missing_library_is_said(self, tmp_path, monkeypatch):
        from hone.jax import _kernels
        from hone.jax._hone import HoneError

        monkeypatch.setattr(_kernels, "find_hone", lambda: str(tmp_path / "hone"))
        with pytest.raises(HoneError, match="libhone_kernels.so"):
            _kernels._library.__wrapped__()
