"""What `hone record -- python train.py` writes: the modules that the script compiles.

    FOLDER/index.json          what was recorded, a row a module, with counts and times of its calls
    FOLDER/NAME-KEY.pb         the module as HLO, for `hone tune`
    FOLDER/NAME-KEY.stablehlo  the same as JAX lowered it
    FOLDER/NAME-KEY.npz        the inputs of its second call, by which results are compared

Files are written whole. Recording into a folder that has something adds to it. A script that is killed
leaves what it had compiled; its counts are those of the last half minute before.
"""

import atexit
import fcntl
import json
import pathlib
import re
import sys
import threading
import time

import numpy as np

from hone._files import write_whole

FORMAT = "hone recording"
_SAVE_SECONDS = 30
_MOST_INPUT_BYTES = 512 << 20


class Recorder:
    """Watches JAX's compilations (`_compile.Watcher`) and the runs of what comes of them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._rows = {}  # key to row, with what isn't saved yet
        self._keys = {}  # id of an executable to its key
        self._alive = []  # so that no id is used twice
        self._lock = threading.Lock()
        self._saved_at = time.monotonic()
        self._begun = {}
        atexit.register(self._end)

    def before(self, module, options):
        from hone.jax import _compile

        key = _compile.key_of(module, options)
        name = _compile.name_of(module)
        file = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:80]}-{key[:12]}"
        if not (self.folder / f"{file}.pb").exists():
            write_whole(self.folder / f"{file}.stablehlo", _compile.bytecode_of(module))
            write_whole(self.folder / f"{file}.pb", _compile.hlo_of(module))
        self._begun[threading.get_ident()] = (key, name, file, time.perf_counter())

    def after(self, module, executable, options):
        key, name, file, begun = self._begun.pop(threading.get_ident())
        seconds = time.perf_counter() - begun
        with self._lock:
            row = self._rows.setdefault(key, {
                "file": f"{file}.pb", "key": key, "name": name, "calls": 0, "seconds": 0.0,
                "compilations": 0, "compile_seconds": 0.0})
            row["compilations"] += 1
            row["compile_seconds"] += seconds
            self._keys[id(executable)] = key
            self._alive.append(executable)
        self.save()

    def called(self, executable, inputs, run):
        """A run: counted, timed to its end, and from the second one the inputs are kept."""
        import jax

        key = self._keys.get(id(executable))
        if key is None:
            return run()
        row = self._rows[key]
        if row["calls"] == 1:
            self._keep_inputs(row, inputs)
        start = time.perf_counter()
        results = run()
        jax.block_until_ready(results)
        with self._lock:
            row["calls"] += 1
            # The first run of an executable is slower than those that follow.
            row["seconds"] += time.perf_counter() - start
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self.save()
        return results

    def _keep_inputs(self, row, inputs):
        path = self.folder / (row["file"][:-3] + ".npz")
        if path.exists():
            return
        try:
            arrays = [np.asarray(array) for array in inputs()]
            if sum(array.nbytes for array in arrays) > _MOST_INPUT_BYTES:
                return
            save_arrays(path, arrays)
        except Exception:  # of a kind that has no bytes: made-up inputs will do
            return

    def _end(self):
        self.save()
        print(f"hone: recorded {len(self._rows)} modules in {self.folder}", file=sys.stderr)

    def save(self):
        """Adds what is new to the index, which others may be writing too."""
        self._saved_at = time.monotonic()
        with self._lock, open(self.folder / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            index = read_index(self.folder) or new_index()
            known = {row["key"]: row for row in index["modules"]}
            for key, row in self._rows.items():
                there = known.setdefault(key, {**row, "calls": 0, "seconds": 0.0, "compilations": 0,
                                               "compile_seconds": 0.0})
                saved = row.setdefault("saved", {})
                for figure in ("calls", "seconds", "compilations", "compile_seconds"):
                    there[figure] += row[figure] - saved.get(figure, 0)
                    saved[figure] = row[figure]
                there.pop("saved", None)
            index["modules"] = sorted(known.values(), key=lambda row: -row["seconds"])
            text = json.dumps(index, indent=1)
            write_whole(self.folder / "index.json", text.encode())


def new_index():
    import jax

    from hone.jax import _compile

    return {"format": FORMAT, "python": sys.executable, "jax": jax.__version__,
            "versions": _compile.versions(), "command": sys.argv, "modules": []}


def read_index(folder):
    """The index of a recording; None where the folder has none.

    Raises:
      ValueError: the index is something else.
    """
    path = pathlib.Path(folder) / "index.json"
    if not path.exists():
        return None
    index = json.loads(path.read_text())
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise ValueError(f"{path} is no index of a recording; give a folder that `hone record` wrote")
    return index


def save_arrays(path, arrays):
    """numpy's own format; dtypes that it lacks, such as bfloat16, as bytes."""
    import io

    file = io.BytesIO()
    np.savez(file, kinds=np.array([str(array.dtype) for array in arrays]),
             **{f"a{i}": array if array.dtype.isbuiltin == 1 else array.view(f"V{array.dtype.itemsize}")
                for i, array in enumerate(arrays)})
    write_whole(path, file.getvalue())


def load_arrays(path):
    import jax.numpy as jnp

    with np.load(path) as file:
        return [file[f"a{i}"].view(jnp.dtype(str(kind))) if file[f"a{i}"].dtype.kind == "V"
                else file[f"a{i}"] for i, kind in enumerate(file["kinds"])]


def install(folder):
    """Records from now on."""
    from hone.jax import _compile

    recorder = Recorder(folder)
    _compile.watch(recorder)
    _compile.count_calls(recorder.called)
    return recorder
