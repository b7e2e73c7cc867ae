"""Two executables of one program: which is faster? By the tally and the interval of `hone bench`."""

import dataclasses
import time

import numpy as np

from hone import _core

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


def race(runner, stock, tuned, seconds=5.0, least=10, most=400):
    """Pairs of runs, in alternating order, until `hone` would call them decided, for so long at most (four
    times as long where there are fewer than `least`)."""
    for _ in range(2):
        runner.run(stock), runner.run(tuned)
    tally = _core.RaceTally(seconds, least, most)
    start = time.perf_counter()
    while True:
        order = (stock, tuned) if tally.pairs % 2 == 0 else (tuned, stock)
        times = {id(executable): runner.run(executable)[1] for executable in order}
        tally.add(times[id(stock)], times[id(tuned)])
        if tally.is_over(time.perf_counter() - start):
            break
    told = tally.tell()
    return Race(told["seconds_a"], told["seconds_b"], told["speedup"], told["low"], told["high"],
                told["pairs"])
