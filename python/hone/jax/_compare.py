"""Do two executables of one program compute the same? By the rule of `hone check`, in its code.

Compared are the inputs that are there and three generated sets, legal for what each parameter is used
for (made by hone's worker, which reads the same module; inputs near those that are there where a loop
does not end on generated ones). What rounding explains is told from further
runs: of the stock executable on inputs moved by one unit in their last place, and, where those are not
enough, of hone's own XLA with rounding errors everywhere.
"""

import numpy as np

from hone import _core
from hone.jax._hone import loaded

# XLA's names of element types, by numpy's.
_TYPES = {"bool": "pred", "bfloat16": "bf16", "float8_e5m2": "f8e5m2", "complex64": "c64",
          "complex128": "c128"}
_SETS = 3
_FEW, _MANY = _core.FEW_SAMPLES, _core.MANY_SAMPLES  # that the rule asks for, made at once


class CannotTell(Exception):
    """There is no verdict."""


def compare(runner, stock, tuned, hlo, seed=1, budget=120.0):
    """None where the outputs are the same within what rounding explains, else what is different or why
    nobody can tell.

    Args:
      runner: a _race.Runner; its inputs are the first set.
      hlo: the module, a serialized HloModuleProto or text.
    """
    try:
        report = _core.compare_runs(_Subject(runner, stock, tuned, hlo, seed), given=1, inputs=_SETS,
                                    budget_seconds=budget, seed=seed)
    except CannotTell as error:
        return f"not known to compute the same: {error}"
    if report["verdict"] == "equal":
        return None
    if report["verdict"] == "different":
        return f"it computes something else: {report['reason']}"
    return f"not known to compute the same: {report['reason']}"


class _Subject:
    """What `hone._core.compare_runs` runs."""

    def __init__(self, runner, stock, tuned, hlo, seed):
        self._runner, self._stock, self._tuned = runner, stock, tuned
        self._hlo, self._seed = hlo, seed
        self._bench = self._state = None
        self._inputs = None  # numpy arrays
        self._choice = None
        self._endless = False  # on generated inputs
        self._samples = []  # with rounding errors everywhere, on the inputs chosen
        self._wide = []  # with sums of narrow floats in f32: as it is, then with such errors

    def choose(self, given, near, kind, seed):
        self._choice = (given, kind, seed)
        self._samples, self._wide = [], []
        examples = [np.asarray(array) for array in self._runner.inputs]
        if given < 0:
            self._inputs = self._generated(examples) or _moved(examples, seed, nearby=True)
        else:
            self._inputs = _moved(examples, seed, nearby=True) if near else examples

    def _generated(self, examples):
        """None where the program does not come to an end on them: a loop that counts on its inputs would
        go on for ever in this very process, so hone's worker, which can be ended, goes first."""
        if self._endless:
            return None
        made = self._evaluate(run=False)[0]
        if [len(array) for array in made] != [array.nbytes for array in examples]:
            raise CannotTell("hone's compiler reads other parameters in it")
        if b"while" in self._hlo:
            try:
                self._evaluate(run=True)
            except CannotTell:
                self._endless = True
                return None
        return [np.frombuffer(data, array.dtype).reshape(array.shape)
                for data, array in zip(made, examples)]

    def reference(self):
        return self._run(self._stock, self._inputs)

    def candidate(self):
        return self._run(self._tuned, self._inputs)

    def moved_sample(self, k):
        return self._run(self._stock, _moved(self._inputs, self._seed * 64 + k))

    def sample(self, k):
        if self._endless and self._choice[0] < 0:
            return self.moved_sample(k + _MANY)
        if k >= len(self._samples):
            try:
                self._samples = self._noisy(noisy=_FEW if k < _FEW else _MANY)
            except CannotTell:  # a custom call that only JAX has, say
                return self.moved_sample(k + _MANY)
        return self._samples[k]

    def wide_sample(self, k):
        if self._endless and self._choice[0] < 0:
            return None
        if k == 0:
            try:
                self._wide = self._noisy(wide=_MANY + 1)
            except CannotTell:
                return None
        return self._wide[k] if k < len(self._wide) else None

    def _noisy(self, **named):
        given = [array.tobytes() for array in self._inputs] if self._choice[0] >= 0 else []
        found = self._evaluate(given=given, **named)[2]
        shapes = self._run(self._stock, self._inputs)
        return [[(type_, dimensions, data) for (type_, dimensions, _), data in zip(shapes, arrays)]
                for arrays in found]

    def _run(self, executable, inputs):
        import jax

        placed = [jax.device_put(array, like.device)
                  for array, like in zip(inputs, self._runner.inputs)]
        results = self._runner.values(executable, placed)
        for result in results:
            if _type_of(result) is None:
                raise CannotTell(f"an output is of dtype {result.dtype}")
        return [(_type_of(result), result.shape, result.tobytes()) for result in results]

    def _evaluate(self, **named):
        _, kind, seed = self._choice
        try:
            if self._bench is None:
                self._bench, self._state = loaded(self._hlo)
            return self._bench.evaluate(self._state, kind, seed, **named)
        except (RuntimeError, ValueError, OSError) as error:
            raise CannotTell(f"no inputs could be made: {error}") from error


def _type_of(array):
    """XLA's name of numpy's dtype; None where hone does not compare it."""
    kind = str(array.dtype)
    if kind in _TYPES:
        return _TYPES[kind]
    name = {"i": "s", "u": "u", "f": "f"}.get(array.dtype.kind)
    return f"{name}{8 * array.dtype.itemsize}" if name else None


def _moved(arrays, seed, nearby=False):
    moved = []
    for position, array in enumerate(arrays):
        kind = _type_of(array)
        if kind is not None:
            data = _core.moved(kind, array.tobytes(), seed * 1000003 + position, nearby)
            array = np.frombuffer(data, array.dtype).reshape(array.shape)
        moved.append(array)
    return moved
