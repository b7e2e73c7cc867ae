"""python -m hone.jax.blame: a script under two versions of JAX."""

import json
import os
import stat
import sys

import pytest

from jax_harness import needs_jax

SCRIPT = """
import os, sys, jax, jax.numpy as jnp
b = os.environ.get("VARIANT") == "b"
print(sys.argv[1:])

@jax.jit
def same(x):
    renamed = jnp.tanh(x)  # the same, whatever its parts are called
    return renamed @ renamed

@jax.jit
def changed(x):
    return x * 3 if b else x * 2

def alone(x):
    return jnp.sin(x) + 1

x = jnp.ones((64, 64))
for _ in range(40):
    same(x), changed(x)
    if b:
        jax.jit(alone)(x)
"""


@pytest.fixture
def environments(tmp_path):
    """Two that differ by a variable only, which the script looks at."""
    folders = []
    for variant in "ab":
        python = tmp_path / variant / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\nVARIANT={variant} exec {sys.executable} \"$@\"\n")
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        folders.append(str(tmp_path / variant))
    return folders


def arguments(script, environments, *more):
    return [str(script), "--jax-a", environments[0], "--jax-b", environments[1], "--quiet", *more]


@needs_jax
class TestBlame:
    def test_a_script(self, tmp_path, environments, capsys):
        from hone.jax import blame

        script = tmp_path / "train.py"
        script.write_text(SCRIPT)
        code = blame.main(arguments(script, environments, "--json", "--runs", "2", "--budget", "20s",
                                    "-o", str(tmp_path / "out"), "--", "--flag"))
        answer = json.loads(capsys.readouterr().out)
        rows = {row["name"]: row for row in answer["modules"]}
        assert answer["versions"]["a"] == answer["versions"]["b"] and "jaxlib" in answer["versions"]["a"]
        assert rows["jit_same"]["programs"] == "the same"
        assert len(rows["jit_same"]["ms"]) == 2 and rows["jit_same"]["said"] in (
            "slower", "faster", "equal", "unsure")
        assert rows["jit_changed"]["programs"] == "different"
        assert "they compute different things" in rows["jit_changed"]["verdict"]
        assert rows["jit_alone"]["programs"] == "b alone" and code == 4
        names = {path.name.split("-", 1)[1] for path in (tmp_path / "out").iterdir()}
        assert {"jit_same.a.hlo.pb", "jit_same.b.hlo.pb", "jit_changed.b.hlo.pb"} <= names

    def test_errors(self, tmp_path, environments, capsys):
        from hone.jax import blame

        script = tmp_path / "train.py"
        script.write_text("import sys; sys.exit('no data here')")
        assert blame.main(arguments(script, environments)) == 3
        assert "ended with 1: no data here" in capsys.readouterr().err
        script.write_text("print('no JAX')")
        assert blame.main(arguments(script, environments)) == 3
        assert "no run was timed; does it use JAX" in capsys.readouterr().err
        for wrong, said in ((["--budget", "long"], "is not a duration"), (["--runs", "0"], "give 1 or more")):
            assert blame.main(arguments(script, environments, *wrong)) == 2
            assert said in capsys.readouterr().err
        assert blame.main(arguments(tmp_path / "none.py", environments)) == 2
        assert "there is no such file" in capsys.readouterr().err
        assert blame.main(arguments(script, [environments[0], str(tmp_path / "none")])) == 2
        assert "give a virtual environment" in capsys.readouterr().err

    def module(self, name, key, *runs):
        from hone.jax.blame import Module

        module = Module(name, b"")
        module.key, module.runs = key, list(runs)
        return module

    def test_matching(self):
        from hone.jax.blame import matched

        a = [self.module("step", "1"), self.module("step", "2"), self.module("init", "3"), self.module("old", "4")]
        b = [self.module("step", "2"), self.module("renamed", "1"), self.module("init", "5"), self.module("new", "6")]
        assert [(one and one.key, other and other.key) for one, other in matched(a, b)] == [
            ("1", "1"), ("2", "2"), ("3", "5"), ("4", None), (None, "6")]

    @pytest.mark.parametrize("a,b,said", [
        ([[1.0] * 9] * 2, [[2.0] * 9] * 2, "slower"), ([[2.0] * 9] * 2, [[1.0] * 9] * 2, "faster"),
        ([[1.0] * 9] * 2, [[1.01] * 9] * 2, "equal"), ([[1.0] * 9] * 2, [[2.0] * 9, [0.5] * 9], "unsure"),
        ([[1.0] * 3] * 2, [[2.0] * 3] * 2, "unsure")])
    def test_every_run_has_to_say_so(self, a, b, said):
        from hone.jax.blame import race

        row = race(self.module("f", "1", *a), self.module("f", "1", *b), 1.05)
        assert row["said"] == said
        if said == "slower":
            assert row["ratio"] == 2 and row["ms"] == [1000, 2000]

    def test_verdicts(self):
        from hone.jax.blame import verdict

        def row(said, slower, different="no"):
            return {"programs": "different", "said": said, "blame": {"answers": [
                {"question": "slower", "b_against_a": {"shows": slower, "ratio": 1.5}},
                {"question": "different", "b_against_a": {"shows": different, "reason": "output 0"}}]}}

        assert "1.50 times as long: JAX is to blame; they compute the same" in verdict(row("slower", "yes"))
        assert "not slower: XLA is to blame" in verdict(row("slower", "no"))
        assert "to blame" not in verdict(row("equal", "no"))
        assert "compute different things: output 0" in verdict(row("equal", "no", "yes"))
        assert "XLA, the compiler, made it slower" in verdict({"programs": "the same", "said": "slower"})
        assert "do not agree" in verdict({"programs": "the same", "said": "unsure"})
        assert verdict({"programs": "different", "said": "slower", "blame_failed": "no room"}).endswith(": no room")


def test_what_runs_elsewhere_imports_nothing_of_hone():
    import hone

    with open(os.path.join(os.path.dirname(hone.__file__), "jax", "times.py"), encoding="utf-8") as file:
        assert "import hone" not in file.read().replace("from hone", "import hone")
