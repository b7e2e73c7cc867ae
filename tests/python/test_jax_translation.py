"""hone.jax: what JAX writes, read; and back."""

import subprocess
import sys

import numpy as np
import pytest

from jax_harness import jax, jnp, needs_jax


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

    def test_portable_artifacts(self):
        import hone
        from jax import export

        def function(x):
            return jnp.tanh(x) @ x.T

        exported = export.export(jax.jit(function))(jax.ShapeDtypeStruct((3, 4), jnp.float32))
        hlo = hone.from_stablehlo(exported.mlir_module_serialized)
        assert "f32[3,3]" in hlo and "tanh" in hlo

    def test_symbolic_shapes_are_told(self):
        import hone
        from jax import export

        rows = export.symbolic_shape("rows, 4")
        exported = export.export(jax.jit(lambda x: x - jnp.mean(x, 1, keepdims=True)))(
            jax.ShapeDtypeStruct(rows, jnp.float32))
        with pytest.raises(ValueError, match="symbolic shapes; export it for fixed ones"):
            hone.from_stablehlo(exported.mlir_module_serialized)

    @pytest.mark.parametrize("bad", ["nonsense", "", b"\xff\xfe", 3])
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
