"""tf.functions as programs."""

import importlib.util
import sys

import pytest

from hone.lower import LowerError, lower, main, shapes_of

FILE = """
import tensorflow as tf

weights = tf.Variable(tf.ones([16, 4]))

@tf.function(jit_compile=True)
def dense(x):
    return tf.nn.relu(x @ weights)

@tf.function(jit_compile=True)
def double(x):
    return 2 * x

double.example_args = (tf.TensorSpec([3], tf.int32),)

@tf.function
def not_compiled(x):
    return x
"""


def test_shapes_are_made_by_whoever_lowers():
    assert shapes_of(lambda sizes, dtype: (sizes, dtype), "f32[8,16], pred[]") == [
        ((8, 16), "float32"), ((), "bool")]


class Fake:
    """As a tf.function looks from outside."""

    _jit_compile = True

    def __init__(self, answer):
        self.answer = answer

    def __call__(self):
        raise AssertionError("it is not called")

    def experimental_get_compiler_ir(self, *arguments):
        def give(stage, platform_name):
            assert (stage, platform_name) == ("hlo_serialized", "CPU")
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer
        self.arguments = arguments
        return give


@pytest.fixture
def fake_file(tmp_path, monkeypatch):
    """A file with functions of a TensorFlow that is none."""
    class Tensorflow:
        class dtypes:
            as_dtype = staticmethod(str.upper)

        @staticmethod
        def TensorSpec(sizes, dtype):
            return sizes, dtype

    monkeypatch.setitem(sys.modules, "tensorflow", Tensorflow)
    path = tmp_path / "fake_functions.py"
    path.write_text("from test_tensorflow import Fake\n"
                    "fine = Fake(b'module')\n"
                    "bad = Fake(ValueError('no such op'))\n"
                    "plain = Fake(b'')\n"
                    "plain._jit_compile = None\n")
    return path


def test_what_tensorflow_says_is_passed_on(fake_file, capsys):
    assert lower(f"{fake_file}:fine(f32[8,16])") == b"module"
    with pytest.raises(LowerError, match="no such op"):
        lower(f"{fake_file}:bad(f32[8,16])")
    with pytest.raises(LowerError, match="jit_compile=True"):
        lower(f"{fake_file}:plain(f32[8,16])")
    with pytest.raises(LowerError, match="example_args"):
        lower(f"{fake_file}:fine")
    assert main([f"{fake_file}:bad(f32[2])", "-o", str(fake_file) + ".pb"]) == 2
    assert "no such op" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is missing")
def test_a_tf_function_is_lowered(tmp_path):
    path = tmp_path / "functions.py"
    path.write_text(FILE)
    module = lower(f"{path}:dense(f32[8,16])")
    assert b"parameter" in module and len(module) > 100
    assert b"multiply" in lower(f"{path}:double")
    with pytest.raises(LowerError, match="jit_compile=True"):
        lower(f"{path}:not_compiled(f32[2])")
