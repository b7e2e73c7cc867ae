"""hone record and hone with: scripts that know nothing of hone, in processes of their own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import hone

try:
    from hone.stablehlo import require_jax

    require_jax("this test")
    import jax
    import jax.numpy as jnp

    from hone.jax import _compile, _improve, _shelf, record
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

PACKAGE = pathlib.Path(hone.__file__).resolve().parents[1]
SCRIPT = """
import functools, jax, jax.numpy as jnp

@functools.partial(jax.jit, donate_argnums=0)
def update(state, x):
    return state + x

@jax.jit
def step(x):
    return x * 2

@jax.jit
def again(x):
    return x * 2

x = jnp.ones(4)
for _ in range(5):
    y = step(x)
again(x)
state = jnp.zeros(4)
for _ in range(3):
    state = update(state, x)
print(y.tolist())
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def run(job, argument, *command, **variables):
    """As src/cli/python.cc sets things up; tests/cli has the command itself."""
    environment = {
        **os.environ, "HONE_JAX": f"{job}\n{argument}\n{PACKAGE}",
        "PYTHONPATH": str(PACKAGE / "hone/jax/site"), "JAX_PLATFORMS": "cpu", **variables}
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True,
                          env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done


def lowered(function, name, size=4):
    function.__name__ = name
    return jax.jit(function).lower(jnp.ones(size)).as_text()


def verdict_for(text):
    body = _compile.compile_stablehlo(text)[1]
    return _improve.Verdict(True, "", "module", _compile.Tuned(body, {}, "jit_step"))


def key_of(text):
    with _compile.module_of(text) as module:
        options = _compile.compiler.get_compile_options(1, 1)
        return _compile.key_of(module, options)


def test_record_counts_and_keeps_modules(script, tmp_path):
    folder = tmp_path / "recorded"
    assert run("record", folder, script).stdout == "[2.0, 2.0, 2.0, 2.0]\n"
    index = record.read_index(folder)
    rows = {row["name"]: row for row in index["modules"]}
    assert rows["jit_step"]["calls"] == 5 and rows["jit_again"]["calls"] == 1
    assert rows["jit_step"]["seconds"] > 0 and rows["jit_step"]["compile_seconds"] > 0
    assert index["python"] == sys.executable
    program = folder / rows["jit_step"]["file"]
    assert "multiply" in hone.to_stablehlo(program.read_bytes())
    inputs = record.load_arrays(program.with_suffix(".npz"))
    assert [i.tolist() for i in inputs] == [[1.0] * 4]
    assert not (folder / rows["jit_again"]["file"]).with_suffix(".npz").exists()
    # Donated arguments are gone from JAX's module once it is compiled.
    update = folder / rows["jit_update"]["file"]
    with _compile.module_of(update.with_suffix(".stablehlo").read_bytes()) as module:
        assert _compile.donated(module) == {0}
    assert "mhlo.input_output_alias = [{alias" in hone.to_stablehlo(update.read_bytes())
    assert key_of(program.with_suffix(".stablehlo").read_bytes()) == rows["jit_step"]["key"]
    names = {path.name for path in folder.iterdir()}
    assert not any(name.startswith(".") and name != ".lock" for name in names)

    run("record", folder, script)  # adds to what is there
    rows = {row["name"]: row for row in record.read_index(folder)["modules"]}
    assert rows["jit_step"]["calls"] == 10 and rows["jit_step"]["compilations"] == 2


def test_arrays_of_every_kind(tmp_path):
    arrays = [jnp.ones((2, 3), jnp.bfloat16), jnp.arange(3), jnp.ones((), bool)]
    record.save_arrays(tmp_path / "a.npz", [jax.device_get(a) for a in arrays])
    for a, b in zip(arrays, record.load_arrays(tmp_path / "a.npz")):
        assert a.dtype == b.dtype and (jax.device_get(a) == b).all()


def test_with_puts_in_what_the_store_knows(script, tmp_path):
    store = tmp_path / "tuned.db"
    text = lowered(lambda x: x * 2, "step")
    # A module that computes something else, so that one sees that it was taken.
    other = verdict_for(lowered(lambda x: x * 5, "step"))
    _shelf.put(store, key_of(text), _compile.versions(), "jit_step", other)
    assert run("with", store, script).stdout == "[5.0, 5.0, 5.0, 5.0]\n"

    # Other versions, other content, no row that was kept: left as they are.
    for key, versions, kept in [(key_of(text), "jaxlib 0.0", True), ("0" * 32, None, True),
                                (key_of(text), None, False)]:
        store.unlink()
        verdict = other if kept else _improve.Verdict(False, "slower")
        _shelf.put(store, key, versions or _compile.versions(), "jit_step", verdict)
        assert run("with", store, script).stdout == "[2.0, 2.0, 2.0, 2.0]\n"


def test_a_broken_module_leaves_the_script_as_it_is(script, tmp_path):
    store = tmp_path / "tuned.db"
    key = key_of(lowered(lambda x: x * 2, "step"))
    for tuned, said in [
            (_compile.Tuned(b"\x0b", {}, "jit_step"), "as it is"),
            (_compile.Tuned(b"", {"no_such_flag": 1}, "jit_step"), "No such compile option"),
            (_compile.Tuned(b"", {}, "jit_step", b"nonsense"), "no file of hone's kernels"),
            (verdict_for(lowered(lambda x: x * 2, "step", 5)).tuned, "as it is")]:
        _shelf.put(store, key, _compile.versions(), "jit_step",
                   _improve.Verdict(True, "", "module", tuned))
        done = run("with", store, script)
        assert done.stdout == "[2.0, 2.0, 2.0, 2.0]\n" and said in done.stderr


@pytest.mark.parametrize("job", ["record", "with"])
def test_errors_never_reach_the_script(job, script, tmp_path):
    (tmp_path / "file").write_text("no folder, no store")
    done = run(job, tmp_path / "file", script)
    assert done.stdout == "[2.0, 2.0, 2.0, 2.0]\n"
    assert f"hone {job}: the script runs as it is" in done.stderr


def test_the_other_sitecustomize_is_run_and_nothing_is_imported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.found = 'mine'\n")
    code = "import sys; print(sys.found, [m for m in sys.modules if m.partition('.')[0] == 'hone'])"
    site = str(PACKAGE / "hone/jax/site")
    done = run("with", tmp_path / "none.db", "-c", code, PYTHONPATH=f"{site}:{tmp_path}")
    assert done.stdout == "mine []\n"


def test_prepare(script, tmp_path, monkeypatch, capsys):
    from hone.jax import prepare

    folder, store = tmp_path / "recorded", tmp_path / "tuned.db"
    run("record", folder, script)
    row = next(r for r in record.read_index(folder)["modules"] if r["name"] == "jit_step")
    file = str((folder / row["file"]).resolve())
    monkeypatch.setattr(prepare, "_plans", lambda _: {file: {"passes": ["cse"]}})
    good = verdict_for(lowered(lambda x: x * 2, "step"))
    seen = []

    def improve(stablehlo, hlo, plan, inputs, **options):
        seen.append((plan, [i.tolist() for i in inputs]))
        return good

    monkeypatch.setattr(_improve, "improve", improve)
    assert prepare.main([str(folder), "--store", str(store), "--json", "--quiet"]) == 0
    answer = json.loads(capsys.readouterr().out)
    rows = {a["name"]: a["kept"] for a in answer}
    # What has no plan is looked at, too, where it was called again and took time.
    assert rows["jit_step"] == rows["jit_update"] == "tuned" and "jit_again" not in rows
    assert ({"passes": ["cse"]}, [[1.0] * 4]) in seen and len(seen) == len(answer)
    assert sum(plan == {} for plan, _ in seen) == len(answer) - 1
    assert prepare.prepare(folder, store, only=["jit_step"])[0][0]["name"] == "jit_step"
    assert _shelf.load(store, _compile.versions())[row["key"]] == ("jit_step", good.tuned.body, {}, b"")

    assert prepare.main([str(tmp_path), "--store", str(store)]) == 2
    assert "has no index.json" in capsys.readouterr().err
    (folder / "index.json").write_text(json.dumps({**record.read_index(folder), "versions": "old"}))
    assert prepare.main([str(folder), "--store", str(store)]) == 2
    assert "record anew" in capsys.readouterr().err


def test_a_store_that_is_none(tmp_path):
    (tmp_path / "t.db").write_text("text, " * 100)
    for path in (tmp_path / "t.db", tmp_path / "none.db"):
        with pytest.raises(_shelf.ShelfError, match="give a file that `hone tune --store` wrote"):
            _shelf.load(path, "x")
