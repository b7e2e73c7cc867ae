"""How fast other programs for a module are in JAX: compiled and timed in a process of its own.

    python -m hone.jax.looks FOLDER

Each computes the same in another way, and was never tried. XLA may be at one for minutes, or end its
process on it; neither is to happen to the user's.
"""

import json
import pathlib
import subprocess
import sys

from hone.jax import _compile, _kernels, trial

_SECONDS = 0.2  # of a look


def faster(stablehlo, programs, inputs, folder, *, kernels=(), seconds, least):
    """[position] of those that are at least so many times as fast as the module itself, the fastest first.

    Args:
      stablehlo: the module as JAX lowered it.
      programs: HLO texts. What has not been looked at after `seconds` is not among the results.
      inputs: a jax.Array for each parameter.
      folder: for files in between.
      kernels: for each program those that it calls, or b"".
    """
    if not programs:
        return []
    place = trial.placed(stablehlo, inputs, pathlib.Path(folder) / "looks")
    for position, program in enumerate(programs):
        (place / f"{position}.hlo").write_text(program)
    for position, file in enumerate(kernels):
        (place / f"{position}.hlo.kernels").write_bytes(file)
    answers = place / "answers"
    with answers.open("wb") as file:
        try:
            subprocess.run([sys.executable, "-m", "hone.jax.looks", str(place)], stdout=file,
                           stderr=subprocess.DEVNULL, env=trial.environment(), timeout=seconds,
                           check=False)
        except subprocess.TimeoutExpired:
            pass
    found = [json.loads(line) for line in answers.read_text().splitlines() if line.endswith("}")]
    found = [one for one in found if one["speedup"] >= least]
    return [one["position"] for one in sorted(found, key=lambda one: -one["speedup"])]


def main(place):
    from jax.extend.mlir import hlo_to_stablehlo

    from hone.jax._race import Runner, race
    from hone.stablehlo import hlo_proto

    place = pathlib.Path(place)
    inputs = trial.inputs_of(place)
    if inputs is None:
        return 0
    runner = Runner(inputs, set(range(len(inputs))))
    stablehlo = (place / "stablehlo").read_bytes()
    trial.ready_for(stablehlo)
    stock, _ = _compile.compile_stablehlo(stablehlo)
    for position in range(len(list(place.glob("*.hlo")))):
        try:
            program = hlo_to_stablehlo(hlo_proto((place / f"{position}.hlo").read_text()))
            tuned = _compile.Tuned(flags=_compile.and_needed({}, program),
                                   kernels=_kernels.beside(place / f"{position}.hlo"))
            executable, _ = _compile.compile_stablehlo(program, tuned)
            look = race(runner, stock, executable, _SECONDS, least=3)
        except Exception:  # XLA's answer: this one leads nowhere
            continue
        print(json.dumps({"position": position, "speedup": look.speedup}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
