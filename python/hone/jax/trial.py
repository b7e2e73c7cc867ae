"""Compiles a module under a plan's flags in a process of its own, and runs it once.

    python -m hone.jax.trial FOLDER

XLA ends its process on a broken invariant, and a pipeline without one of its passes may break one. A
user's process is not risked for that.
"""

import json
import os
import pathlib
import subprocess
import sys

from hone.jax import _compile

_SECONDS = 120
_MOST_INPUT_BYTES = 256 << 20


def why_not(stablehlo, tuned, inputs, folder):
    """None where it compiles and runs, or has no flag that makes it doubtful; else what happened."""
    if not any(name.startswith((_compile.WITHOUT_PASS, _compile.EXTRA)) for name in tuned.flags):
        return None
    from hone.jax.record import save_arrays

    place = pathlib.Path(folder) / "trial"
    place.mkdir(exist_ok=True)
    (place / "stablehlo").write_bytes(
        stablehlo if isinstance(stablehlo, bytes) else stablehlo.encode())
    (place / "body").write_bytes(tuned.body)
    (place / "flags.json").write_text(json.dumps(tuned.flags))
    arrays = place / "inputs.npz"
    if not arrays.exists() and sum(array.nbytes for array in inputs) <= _MOST_INPUT_BYTES:
        import numpy as np

        save_arrays(arrays, [np.asarray(array) for array in inputs])
    paths = [str(pathlib.Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu",
                   "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    try:
        done = subprocess.run([sys.executable, "-m", "hone.jax.trial", str(place)], text=True,
                              capture_output=True, env=environment, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"JAX is not done with it in {_SECONDS} s"
    if done.returncode == 0:
        return None
    if done.returncode == 2:
        return done.stdout.strip() or "it fails in JAX"
    lines = [line for line in done.stderr.splitlines() if "Check failed" in line] \
        or done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return f"JAX's XLA ends the process: {lines[-1].rpartition('] ')[2][:200]}"


def main(place):
    import jax

    from hone.jax._race import Runner
    from hone.jax.record import load_arrays

    place = pathlib.Path(place)
    stablehlo = (place / "stablehlo").read_bytes()
    tuned = _compile.Tuned((place / "body").read_bytes(),
                           json.loads((place / "flags.json").read_text()))
    try:
        executable, _ = _compile.compile_stablehlo(stablehlo, tuned)
        if (place / "inputs.npz").exists():
            device = jax.devices("cpu")[0]
            inputs = [jax.device_put(array, device) for array in load_arrays(place / "inputs.npz")]
            Runner(inputs, set(range(len(inputs)))).run(executable)
    except Exception as error:  # XLA's answer
        print(str(error).strip().partition("\n")[0][:300])
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
