"""Compiles a module under a plan's flags in a process of its own, and runs it once.

    python -m hone.jax.trial FOLDER

XLA ends its process on a broken invariant. A pipeline without one of its passes may break one, and so may
a loop that is compiled as one kernel. A user's process is not risked for that.
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
    """None where it compiles and runs, or nothing makes it doubtful; else what happened."""
    stablehlo = _compile.encoded(stablehlo)
    if _compile.ONE_KERNEL not in (tuned.body or stablehlo) and not any(
            name.startswith((_compile.WITHOUT_PASS, _compile.EXTRA)) for name in tuned.flags):
        return None
    return why_not_within(_SECONDS, stablehlo, tuned, inputs, folder)


def why_not_within(seconds, stablehlo, tuned, inputs, folder):
    """The same of any way, in so many seconds."""
    place = placed(stablehlo, inputs, pathlib.Path(folder) / "trial")
    (place / "body").write_bytes(tuned.body)
    (place / "flags.json").write_text(json.dumps(tuned.flags))
    (place / "kernels").write_bytes(tuned.kernels)
    try:
        done = subprocess.run([sys.executable, "-m", "hone.jax.trial", str(place)], text=True,
                              capture_output=True, env=environment(), timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"JAX is not done with it in {seconds:.0f} s"
    if done.returncode == 0:
        return None
    if done.returncode == 2:
        return done.stdout.strip() or "it fails in JAX"
    lines = [line for line in done.stderr.splitlines() if "Check failed" in line] \
        or done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return f"JAX's XLA ends the process: {lines[-1].rpartition('] ')[2][:200]}"


def placed(stablehlo, inputs, place):
    """The folder `place`, with a module and its inputs for another process. Large ones are left out."""
    from hone.jax.record import save_arrays

    place.mkdir(exist_ok=True)
    (place / "stablehlo").write_bytes(_compile.encoded(stablehlo))
    arrays = place / "inputs.npz"
    if not arrays.exists() and sum(array.nbytes for array in inputs) <= _MOST_INPUT_BYTES:
        import numpy as np

        save_arrays(arrays, [np.asarray(array) for array in inputs])
    return place


def inputs_of(place):
    """The inputs on this process's device; None where there are none."""
    import jax

    from hone.jax.record import load_arrays

    if not (place / "inputs.npz").exists():
        return None
    device = jax.devices("cpu")[0]
    return [jax.device_put(array, device) for array in load_arrays(place / "inputs.npz")]


def ready_for(*programs):
    """Makes JAX's LAPACK known to a process that runs what another one lowered: JAX does so when it lowers a
    decomposition itself, and without it a call ends the process."""
    import jax

    if any(b"lapack_" in _compile.encoded(program) for program in programs):
        jax.jit(jax.numpy.linalg.cholesky).lower(jax.numpy.eye(2))


def environment():
    """Of a process with this hone and JAX's CPU, in which 64 bits stay 64 bits."""
    paths = [str(pathlib.Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1",
            "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def main(place):
    from hone.jax._race import Runner

    place = pathlib.Path(place)
    tuned = _compile.Tuned((place / "body").read_bytes(),
                           json.loads((place / "flags.json").read_text()),
                           kernels=(place / "kernels").read_bytes())
    try:
        stablehlo = (place / "stablehlo").read_bytes()
        ready_for(stablehlo, tuned.body)
        executable, _ = _compile.compile_stablehlo(stablehlo, tuned)
        inputs = inputs_of(place)
        if inputs is not None:
            Runner(inputs, set(range(len(inputs)))).run(executable)
    except Exception as error:  # XLA's answer
        print(str(error).strip().partition("\n")[0][:300])
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
