#!/usr/bin/env python3
"""A training script as it is against the same under `hone with`: seconds a step, in pairs of runs.

  bench/jax_steps.py steps tuned.db examples/flax_resnet.py --pairs 6 --steps 40
  bench/jax_steps.py overhead tuned.db

`steps` runs the script in turns with and without; a run's figure is the median of its steps after the
first five. The speed-up is the median over pairs with its 95 % interval (below ten pairs: least to
most). The losses of both must agree. With --cpus the script runs on those cores only. What follows a
`--` goes to the script.

`overhead` times, in one process, what the hook adds to the compilation of modules that the store does
not know: the same functions are compiled in turns with the hook and without it, and the hook's own time
is added up; `named` are modules that have a tuned one's name and must be told apart by content.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run_script(arguments, tuned):
    command = [arguments.python, arguments.script, "--steps", str(arguments.steps), "--json",
               *arguments.more]
    if tuned:
        command = [arguments.hone, "with", arguments.store, "--", *command]
    if arguments.cpus:
        command = ["taskset", "-c", arguments.cpus, *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    answer = json.loads(done.stdout)
    return statistics.median(answer["seconds"][5:]), answer["losses"]


def steps(arguments):
    from hone import _core

    tally = _core.RaceTally(float("inf"), 1, arguments.pairs)
    stock, tuned, worst = [], [], 0.0
    for pair in range(arguments.pairs):
        figures = {}
        for which in ((False, True) if pair % 2 == 0 else (True, False)):
            figures[which] = run_script(arguments, which)
        stock.append(figures[False][0])
        tuned.append(figures[True][0])
        tally.add(stock[-1], tuned[-1])
        worst = max([worst] + [abs(a - b) / max(abs(a), 1e-30)
                               for a, b in zip(figures[False][1], figures[True][1])])
        print(f"pair {pair + 1}: {1000 * stock[-1]:.2f} ms as it is, {1000 * tuned[-1]:.2f} ms with, "
              f"{stock[-1] / tuned[-1]:.3f}", file=sys.stderr)
    told, ratios = tally.tell(), [a / b for a, b in zip(stock, tuned)]
    low, high = (min(ratios), max(ratios)) if len(ratios) < 10 else (told["low"], told["high"])
    return {"script": arguments.script, "pairs": arguments.pairs, "steps": arguments.steps,
            "stock_ms": 1000 * statistics.median(stock), "tuned_ms": 1000 * statistics.median(tuned),
            "speedup": told["speedup"], "speedup_ci": [low, high],
            "worst_loss_difference": worst}


def overhead(arguments):
    import jax
    import jax.numpy as jnp

    from hone.jax import _compile
    from hone.jax.run import Replacer

    def chain(depth, name):
        def function(x):
            for i in range(depth):
                x = jnp.tanh(x @ x) + i
            return x

        function.__name__ = name
        return function

    class Timed(Replacer):
        seconds = 0.0

        def before(self, module, options):
            begun = time.perf_counter()
            found = super().before(module, options)
            self.seconds += time.perf_counter() - begun
            return found

    example = jnp.ones((64, 64))
    answer = {}
    for name, known in (("unknown", "other"), ("named", "same")):
        shares = []
        for depth in range(2, 2 + arguments.modules):
            watcher = Timed({"0": (f"jit_{known}", b"", {})})
            end = _compile.watch(watcher)
            lowered = jax.jit(chain(depth, "same")).lower(example)
            begun = time.perf_counter()
            lowered.compile()
            shares.append(watcher.seconds / (time.perf_counter() - begun))
            end()
        answer[name] = {"modules": len(shares), "median_share": statistics.median(shares),
                        "most": max(shares)}
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["steps", "overhead"])
    parser.add_argument("store", nargs="?", default="")
    parser.add_argument("script", nargs="?", default="")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--modules", type=int, default=15, help="that `overhead` compiles")
    parser.add_argument("--cpus", default="", help="as taskset takes them")
    parser.add_argument("--hone", default=str(ROOT / "build/bin/hone"))
    parser.add_argument("--python", default=sys.executable)
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:end])
    arguments.more = sys.argv[end + 1:]
    sys.path.insert(0, str(ROOT / "python"))
    answer = steps(arguments) if arguments.what == "steps" else overhead(arguments)
    print(json.dumps(answer, indent=1))


if __name__ == "__main__":
    main()
