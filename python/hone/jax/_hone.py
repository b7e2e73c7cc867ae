"""The `hone` command, as this package calls it."""

import json
import os
import pathlib
import shutil
import subprocess

from hone.fetch_xla import FetchError, ready_worker


class HoneError(RuntimeError):
    """What `hone` said that it cannot do."""


def find_hone():
    """The path of the hone that came with the package, was built in the source tree, or is in PATH."""
    package = pathlib.Path(__file__).resolve().parents[1]
    for place in (package / "bin", package.parents[1] / "build" / "bin"):
        if os.access(place / "hone", os.X_OK):
            return str(place / "hone")
    found = shutil.which("hone")
    if found is None:
        raise HoneError(f"there is no hone in {package / 'bin'} nor in PATH: reinstall hone, or, in a "
                        "source tree, run `make build`")
    return found


def run_hone(*arguments, show=False):
    """What `hone ARGUMENTS… --json` printed. With `show`, its progress goes to stderr. The first Ctrl-C
    is for hone, which ends its search and answers with the best so far.

    Raises:
      HoneError: it failed; the message is its own.
    """
    command = [find_hone(), *map(str, arguments), "--json"]
    _have_xla()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          stderr=None if show else subprocess.PIPE) as done:
        try:
            out, err = done.communicate()
        except KeyboardInterrupt:
            out, err = done.communicate()
    try:
        answer = json.loads(out)
    except json.JSONDecodeError:
        answer = {}
    # 130: interrupted, and finished with the best so far.
    if done.returncode not in (0, 130) or "error" in answer:
        said = answer.get("error", {}).get("message") or (err or "").strip()
        raise HoneError(f"hone {arguments[0]}: {said or f'exit code {done.returncode}'}")
    return answer


def _have_xla():
    """Fetches XLA where an installed hone lacks it, with progress whatever else is shown: it takes minutes."""
    try:
        ready_worker()
    except FileNotFoundError:
        pass  # a hone in PATH, which sees to it itself
    except FetchError as error:
        raise HoneError(str(error)) from error
