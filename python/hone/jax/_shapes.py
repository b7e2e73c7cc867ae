"""Arguments of other shapes than the examples': tuned in the background, and JAX's own until then.

A function's arguments are told apart by their types. Of each kind of arguments that is new the module and the
inputs go to a process (`background.py`), one after another; what comes back is compiled at the next call with
such arguments. Nothing that goes wrong there reaches a call.
"""

import atexit
import dataclasses
import operator
import os
import pathlib
import shutil
import tempfile
import time
import weakref

import jax
from jax.api_util import shaped_abstractify

from hone.jax import _module, background

_MOST = 8  # kinds of arguments
_AVAL = operator.attrgetter("aval")
_alive = weakref.WeakSet()
atexit.register(lambda: [shapes.end() for shapes in list(_alive)])


@dataclasses.dataclass
class _Kind:
    """Arguments of some types. `run` takes those that are not static; None for the original."""

    report: dict
    run: object = None
    module: _module.Module | None = None  # until it is tuned, or is not
    folder: pathlib.Path | None = None
    process: object = None


class Shapes:
    """The kinds of arguments of one function.

    Args:
      original: the jitted function.
      form: an _arguments.Form.
      options: of _module.find.
      tell: called with a message, once for each thing that is to be said.
      reports: a list that gets a dict for each kind.
    """

    def __init__(self, original, form, options, tell, reports):
        self._original, self._form = original, form
        self._options, self._tell, self._reports = options, tell, reports
        self._kinds = {}
        self._full = False
        self._process = os.getpid()
        self._ended = False
        _alive.add(self)

    def add(self, arguments, named, run):
        """Arguments of which it is known what runs them."""
        self._kinds[self._key(arguments, named)] = _Kind({}, run)

    def run_for(self, arguments, named):
        """What runs the arguments that are not static, or None."""
        try:
            key = self._key(arguments, named)
            kind = self._kinds.get(key)
            if kind is None:
                kind = self._new(key, arguments, named)
            if kind.module is not None:
                self._look_after(kind)
            return kind.run
        except Exception as error:  # such as arguments that the function does not take: JAX says so
            self._tell(f"runs as JAX compiles it: {_module.first_line(error)}")
            return None

    def _key(self, arguments, named):
        static = ()
        if self._form.has_static:
            static = self._form.static(arguments, named)
            arguments, named = self._form.dynamic(arguments, named)
        leaves, tree = jax.tree_util.tree_flatten((arguments, named))
        try:
            return tree, static, tuple(map(_AVAL, leaves))
        except AttributeError:
            return tree, static, tuple([shaped_abstractify(leaf) for leaf in leaves])

    def _new(self, key, arguments, named):
        leaves = jax.tree.leaves((arguments, named))
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return _Kind({})
        kind = self._kinds[key] = _Kind(
            {"arguments": [aval.str_short(short_dtypes=True) for aval in key[2]], "state": "waiting"})
        if len(self._reports) >= _MOST:
            kind.report["state"] = "original"
            if not self._full:
                self._tell(f"runs other arguments as JAX compiles it: {_MOST} kinds of them are tuned already")
            self._full = True
            return kind
        self._reports.append(kind.report)
        try:
            lowered = self._original.lower(*arguments, **named)
            module = _module.module_of(lowered, self._form.dynamic(arguments, named))
            kind.folder = pathlib.Path(tempfile.mkdtemp(prefix="hone-"))
            background.write_request(module, kind.folder, self._options)
            kind.module = module
        except Exception as error:
            self._leave(kind, error)
        return kind

    def _look_after(self, kind):
        """Starts what is waiting, and takes what is done."""
        if kind.process is None:
            others = [other.process for other in self._kinds.values() if other.process is not None]
            if all(process.poll() is not None for process in others):
                kind.process = background.start(kind.folder)
                kind.report["state"] = "tuning"
            return
        if kind.process.poll() is None:
            return
        try:
            answer = background.read_answer(kind.folder)
            if answer is None:
                log = (kind.folder / "log").read_text(errors="replace").strip().splitlines()
                raise RuntimeError("its process ended" + (f": {log[-1][:200]}" if log else ""))
            tuned, report = answer
            run = kind.module.compile(tuned) if tuned else None
            kind.report.update(report, state=report["kept"])
            kind.run = run
            self._close(kind)
        except Exception as error:
            self._leave(kind, error)

    def _leave(self, kind, error):
        kind.report.update(_module.failed(error, {}), state="original")
        self._close(kind)

    def _close(self, kind):
        kind.module = None
        if kind.process is not None:
            kind.process.stdin.close()
        if kind.folder is not None:
            shutil.rmtree(kind.folder, ignore_errors=True)

    def wait(self, seconds=None):
        """Until all kinds that were called are tuned, or so long. Whether they are."""
        end = None if seconds is None else time.monotonic() + seconds
        while waiting := [kind for kind in self._kinds.values() if kind.module is not None]:
            for kind in waiting:
                self._look_after(kind)
            if end is not None and time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def end(self):
        """Ends what is under way."""
        self._ended = True
        if os.getpid() != self._process:  # a forked one
            return
        for kind in self._kinds.values():
            if kind.process is not None and kind.process.poll() is None:
                kind.process.kill()
                kind.process.wait()
            if kind.module is not None:
                self._leave(kind, "ended before it was tuned")

    def __del__(self):
        if not self._ended:  # after atexit's there may be no modules any more
            self.end()
