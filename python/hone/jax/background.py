"""Tunes a module in a process of its own, while the one that asked for it goes on.

    python -m hone.jax.background FOLDER

The folder has the module, its inputs and the options; in the end it has `answer.json`, and beside that what is
to be put in. The process ends when the one that started it does, which is seen by the end of its input.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading

from hone._files import write_whole
from hone.jax import _compile, trial

ERRORS = (RuntimeError, ValueError, OSError)  # of hone and of XLA


def start(folder):
    """The process (subprocess.Popen). Ctrl-C in the terminal is not for it."""
    with (folder / "log").open("wb") as log:
        return subprocess.Popen([sys.executable, "-m", "hone.jax.background", str(folder)],
                                stdin=subprocess.PIPE, stdout=log, stderr=log, env=trial.environment(),
                                start_new_session=True)


def write_request(module, folder, options):
    """Of a _module.Module, and _module.find's options.

    Raises:
      ValueError: the inputs are too large to be handed over.
    """
    trial.placed(module.stablehlo, module.inputs, folder)
    if not (folder / "inputs.npz").exists():
        raise ValueError("its arguments are too large to be handed to another process")
    (folder / "hlo").write_bytes(module.hlo)
    (folder / "options.json").write_text(json.dumps({"name": module.name, **options}))


def read_answer(folder):
    """(Tuned or None, the report), or None where the process left none."""
    if not (folder / "answer.json").exists():
        return None
    report = json.loads((folder / "answer.json").read_text())
    if report["kept"] != "tuned":
        return None, report
    return _compile.Tuned((folder / "body").read_bytes(), json.loads((folder / "flags.json").read_text()),
                          kernels=(folder / "kernels").read_bytes()), report


def main(folder):
    from hone.jax import _module

    def end_with_the_other():
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=end_with_the_other, daemon=True).start()
    folder = pathlib.Path(folder)
    options = json.loads((folder / "options.json").read_text())
    answer = {}
    try:
        verdict = _module.find((folder / "stablehlo").read_bytes(), (folder / "hlo").read_bytes(),
                               trial.inputs_of(folder), answer, **options)
        report = _module.report_of(verdict, answer)
        (folder / "body").write_bytes(verdict.tuned.body)
        (folder / "flags.json").write_text(json.dumps(verdict.tuned.flags))
        (folder / "kernels").write_bytes(verdict.tuned.kernels)
    except ERRORS as error:
        report = _module.failed(error, answer)
    write_whole(folder / "answer.json", json.dumps(report).encode())
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)  # the thread is still reading
