"""hone.jax: kernels of hone-loops in JAX's XLA."""

import numpy as np
import pytest

from jax_harness import hlo_of, improve, jax, jnp, needs_jax, win_every_race


@needs_jax
class TestKernels:
    """Kernels of hone-loops in JAX's XLA."""

    @pytest.fixture
    def loops(self):
        from hone.jax._hone import find_loops

        if not find_loops():
            pytest.skip("hone was built without hone-loops")

    def kernels_of_softmax(self):
        from hone.jax._hone import program_after

        hlo = hlo_of(lambda x: jax.nn.softmax(x), jnp.ones((37, 97)))
        text, kernels = program_after(hlo, ["implement:loops"])
        assert 'custom_call_target="hone_loops"' in text
        return kernels

    def test_they_run_there(self, loops, tmp_path, monkeypatch):
        from hone.jax import _compile, _improve

        win_every_race(monkeypatch)
        x = jax.random.normal(jax.random.key(0), (64, 257))
        verdict = improve(
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
        from hone.jax import _compile, _improve, looks

        # In a process of its own it has its kernels; how fast they are is not asked here.
        faster = looks.faster
        seen = []

        def all_of_them(*arguments, least, **named):
            seen.extend(faster(*arguments, least=0, **{**named, "seconds": 60}))
            return seen

        monkeypatch.setattr(looks, "faster", all_of_them)
        monkeypatch.setattr(_improve, "_MOST_TAKEN_ON", 100)
        monkeypatch.setattr(_compile, "has_option", lambda _: False)  # for reductions
        monkeypatch.setattr(_improve, "_implementations",
                            lambda *a, original=_improve._implementations: [next(original(*a))])
        win_every_race(monkeypatch)
        x = jax.random.normal(jax.random.key(0), (64, 257))
        verdict = improve(
            jax.nn.softmax, (x,), {}, tmp_path, implementations=True)
        assert seen == [0]
        assert verdict.kept and verdict.how == "implement:loops", verdict
        assert verdict.tuned.kernels

    def test_products_and_convolutions_run_there(self, loops, tmp_path, monkeypatch):
        win_every_race(monkeypatch)

        def features(x, w, v):
            y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME",
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"))
            return y.reshape(-1, y.shape[-1]) @ v

        x, w, v = (jax.random.normal(jax.random.key(i), shape)
                   for i, shape in enumerate([(2, 12, 12, 32), (3, 3, 32, 64), (64, 80)]))
        verdict = improve(features, (x, w, v),
                          {"passes": ["implement:convolutions", "implement:products"]}, tmp_path)
        assert verdict.kept and verdict.how == "passes", verdict
        assert verdict.tuned.kernels.count(b"\nkernel ") == 2

    def test_they_are_tried_one_by_one_and_together(self, loops):
        from hone.jax import _improve

        hlo = hlo_of(lambda x, w: jax.nn.softmax(x @ w), jnp.ones((64, 96)), jnp.ones((96, 128)))
        found = [passes for passes, _, _ in _improve._implementations(hlo, 60)]
        assert ("implement:loops",) in found and ("implement:products",) in found
        assert found.index(("implement:loops", "implement:products")) == 2
        assert len(set(found)) == len(found)

    def test_a_file_for_another_processor_is_refused(self, loops):
        from hone.jax import _kernels
        from hone.jax._hone import HoneError

        kernels = self.kernels_of_softmax()
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
