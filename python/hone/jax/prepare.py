"""Tries the plans of a tuned recording in JAX, and puts what is surely faster there into the store.

    python -m hone.jax.prepare recorded --store tuned.db

`hone tune recorded --store tuned.db` does this at its end.
"""

import argparse
import json
import pathlib
import sqlite3
import sys
import tempfile
import time

import numpy as np

from hone import _core
from hone.jax._hone import HoneError, call
from hone.jax.record import load_arrays, read_index

_LEAST_SHARE = 0.01  # of the time of all modules, as `hone tune` has it
_LOOKING_SECONDS = 30.0  # at implementations of a module


def prepare(folder, store, *, seconds=5.0, seed=1, only=None, say=lambda text: None):
    """[(row of the index, _improve.Verdict)] of the modules of a recording that take time. Where hone kept the stock
    way, the alternative implementations are looked at in JAX all the same: its XLA is another.

    Raises:
      ValueError: the folder is no recording, or was made with other versions of JAX.
    """
    import jax

    from hone.jax import _compile, _improve, _shelf

    folder = pathlib.Path(folder)
    index = read_index(folder)
    if index is None:
        raise ValueError(f"{folder} has no index.json; give a folder that `hone record` wrote")
    if index["versions"] != _compile.versions():
        raise ValueError(f"{folder} was recorded with {index['versions']}, here is "
                         f"{_compile.versions()}; run this with {index['python']}, or record anew")
    plans = _plans(store)
    least = _LEAST_SHARE * sum(row["seconds"] for row in index["modules"])
    found = []
    for row in index["modules"]:
        file = folder / row["file"]
        plan = plans.get(str(file.resolve()))
        if plan is None and (row["calls"] < 2 or row["seconds"] < least):
            continue
        if only is not None and row["name"] not in only:
            continue
        plan = plan or {}
        say(f"{row['name']}: trying {'its plan' if plan else 'implementations'} in JAX")
        stablehlo = file.with_suffix(".stablehlo").read_bytes()
        arrays = file.with_suffix(".npz")
        values = load_arrays(arrays) if arrays.exists() else _made_up(stablehlo, seed)
        device = jax.devices("cpu")[0]
        inputs = [jax.device_put(value, device) for value in values]
        with tempfile.TemporaryDirectory(prefix="hone-") as between:
            verdict = _improve.improve(
                stablehlo, file.read_bytes(), plan, inputs, implementations=True, looking=_LOOKING_SECONDS,
                seconds=seconds, seed=seed, name=row["name"], folder=between,
                say=lambda text, name=row["name"]: say(f"{name}: {text}"))
        _shelf.put(store, row["key"], _compile.versions(), row["name"], verdict)
        found.append((row, verdict))
    return found


def _plans(store):
    """{path of a program: its kept plan}."""
    return {str(pathlib.Path(file).resolve()): plan
            for file, plan in call(_core.kept_plans, str(store)).items()}


def _made_up(stablehlo, seed):
    """Inputs for a module none were recorded of: small floats, and zeros for what may be an index."""
    from hone.jax import _compile

    generator = np.random.default_rng(seed)
    return [generator.normal(0, 0.1, shape).astype(dtype) if np.issubdtype(dtype, np.floating)
            or dtype.name == "bfloat16" else np.zeros(shape, dtype)
            for shape, dtype in _compile.parameters(stablehlo)]


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m hone.jax.prepare", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", help="what `hone record` wrote")
    parser.add_argument("--store", required=True, help="what `hone tune --store` wrote")
    parser.add_argument("--seconds", type=float, default=5.0, help="of measuring, a module (5)")
    parser.add_argument("--seed", type=int, default=1, help="of made-up inputs and the comparison (1)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    options = parser.parse_args(arguments)
    begun = time.monotonic()

    def say(text):
        if not options.quiet and time.monotonic() - begun > 2:
            print(f"hone: {text}", file=sys.stderr)

    try:
        found = prepare(options.folder, options.store, seconds=options.seconds, seed=options.seed,
                        say=say)
    except (HoneError, ImportError, ValueError, OSError, sqlite3.Error) as error:
        print(f"hone: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # what was tried before is in the store
        return 130
    if options.json:
        print(json.dumps([{
            "name": row["name"], "key": row["key"], "kept": "tuned" if verdict.kept else "stock",
            "how": verdict.how, "reason": verdict.reason, "rejected": list(verdict.rejected),
            "left_out": list(verdict.left_out),
            **({"stock_ms": 1000 * verdict.race.stock_seconds,
                "tuned_ms": 1000 * verdict.race.tuned_seconds, "speedup": verdict.race.speedup,
                "speedup_ci": [verdict.race.low, verdict.race.high], "pairs": verdict.race.pairs}
               if verdict.race else {})} for row, verdict in found], indent=1))
        return 0
    for row, verdict in found:
        if verdict.kept:
            race = verdict.race
            print(f"in JAX {row['name']}: {1000 * race.stock_seconds:.4g} ms to "
                  f"{1000 * race.tuned_seconds:.4g} ms, {race.speedup:.3f} times as fast "
                  f"[{race.low:.3f}, {race.high:.3f}], by the plan's {verdict.how}")
        else:
            print(f"in JAX {row['name']}: as it is; {verdict.reason}")
        for flag in verdict.left_out:
            print(f"  without {flag}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
