"""Two executables of one program: do they compute the same, and which is faster?"""

import dataclasses
import math
import time

import numpy as np

# Of the largest value of an output; what rounding in the program itself explains is allowed too.
_TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 2e-2, "float16": 5e-3,
              "complex64": 1e-4, "complex128": 1e-9}
_LARGEST_TOLERANCE = 0.1


@dataclasses.dataclass(frozen=True)
class Race:
    """Seconds are medians of a run; speedup is the median over pairs, with its 95 % interval."""

    stock_seconds: float
    tuned_seconds: float
    speedup: float
    low: float
    high: float
    pairs: int


class Runner:
    """Runs executables on the same inputs; a donated one is copied first, outside of what is timed.

    Attributes:
      inputs: one jax.Array for each parameter.
      donated: positions of those that a run may overwrite.
    """

    def __init__(self, inputs, donated):
        self.inputs = list(inputs)
        self.donated = donated

    def run(self, executable, inputs=None):
        """([jax.Array], seconds)."""
        given = self.inputs if inputs is None else inputs
        given = [array.copy() if position in self.donated else array
                 for position, array in enumerate(given)]
        for array in given:
            array.block_until_ready()
        start = time.perf_counter()
        results = executable.execute_sharded(given).disassemble_into_single_device_arrays()
        results = [result[0] for result in results]
        for result in results:
            result.block_until_ready()
        return results, time.perf_counter() - start

    def values(self, executable, inputs=None):
        return [np.asarray(result) for result in self.run(executable, inputs)[0]]


def compare(runner, stock, tuned, seed=1):
    """None where the outputs are the same within tolerance, else what is different.

    Integers must be equal. The largest difference of a floating-point output may be 1e-4 of its
    largest value (of float32; others likewise), or what a relative change of the inputs by one unit in
    the last place does, eight times, up to a tenth.
    """
    import jax

    expected, found = runner.values(stock), runner.values(tuned)
    if len(expected) != len(found):
        return f"{len(found)} outputs, not {len(expected)}"
    nudged = None
    for position, (want, have) in enumerate(zip(expected, found)):
        if want.shape != have.shape or want.dtype != have.dtype:
            return f"output {position} is {have.dtype}{list(have.shape)}"
        kind = str(want.dtype)
        if kind not in _TOLERANCE:
            if want.tobytes() != have.tobytes():
                return f"output {position}, {kind}, is not equal"
            continue
        error, largest = _difference(want, have)
        if error <= _TOLERANCE[kind] * largest:
            continue
        if nudged is None:
            generator = np.random.default_rng(seed)
            moved = [jax.device_put(_nudge(np.asarray(array), generator), array.device)
                     for array in runner.inputs]
            nudged = runner.values(stock, moved)
        noise = min(8 * _difference(want, nudged[position])[0], _LARGEST_TOLERANCE * largest)
        if not error <= noise:
            return (f"output {position}, {kind}{list(want.shape)}, differs by {error:.3g} where its "
                    f"largest value is {largest:.3g} and rounding explains {noise:.3g}")
    return None


def race(runner, stock, tuned, seconds=5.0, least=10, most=400):
    """Pairs of runs, in alternating order, for so long."""
    for _ in range(2):
        runner.run(stock), runner.run(tuned)
    ours, theirs, end = [], [], time.perf_counter() + seconds
    while len(ours) < least or (time.perf_counter() < end and len(ours) < most):
        order = (stock, tuned) if len(ours) % 2 == 0 else (tuned, stock)
        times = {id(executable): runner.run(executable)[1] for executable in order}
        theirs.append(times[id(stock)])
        ours.append(times[id(tuned)])
    ratios = sorted(a / b for a, b in zip(theirs, ours))
    low, high = median_interval(ratios)
    return Race(float(np.median(theirs)), float(np.median(ours)), float(np.median(ratios)), low, high,
                len(ratios))


def median_interval(values):
    """The 95 % interval of the median, by order statistics; of ascending values, six or more."""
    count = len(values)
    rank = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
    # The normal approximation is near enough from ten on; below, the ends.
    if count < 10:
        rank = 0
    return values[rank], values[count - 1 - rank]


def _difference(want, have):
    """(largest difference, largest finite value); inf where one is finite or a number and the other
    isn't."""
    if want.size == 0:
        return 0.0, 0.0
    wide = np.complex128 if np.iscomplexobj(want) else np.float64
    want, have = want.astype(wide), have.astype(wide)
    finite = np.isfinite(want)
    if not np.array_equal(finite, np.isfinite(have)) or not np.array_equal(
            want[~finite], have[~finite], equal_nan=True):
        return np.inf, 0.0
    if not finite.any():
        return 0.0, 0.0
    return float(np.abs(want - have)[finite].max()), float(np.abs(want[finite]).max())


def _nudge(array, generator):
    kind = str(array.dtype)
    if kind not in _TOLERANCE or "complex" in kind:
        return array
    unit = {"float64": 2.0**-52, "float32": 2.0**-23, "bfloat16": 2.0**-8, "float16": 2.0**-10}[kind]
    factors = 1 + unit * generator.choice([-1.0, 1.0], size=array.shape)
    return (array.astype(np.float64) * factors).astype(array.dtype)
