"""Optuna and Nevergrad on what hone's searchers do: an order of passes with as few instructions.

  python bench/peers/search_peers.py --programs data/kmeans/*.hlo --budget-steps 4000 --json out.jsonl

A trial is a sequence of --length actions out of the set `simplify`; its value is the least number of
instructions met along it, as hone's searchers have it. Sequences run in hone's environment, which
looks up what it knows: the budget is in passes that were run, that is, in pairs of state and action
that were not known before. A run ends in the middle of a sequence where its budget does. Every run
begins with XLA's own order, as hone's do, unless --start is none.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import time
import warnings

import gymnasium
import nevergrad as ng
import numpy as np
import optuna

import hone  # noqa: F401, registers the environment
from hone import _options

BUDGETS = (250, 500, 1000, 2000, 4000)
UNLIMITED = 10**9


class Spent(Exception):
    """The budget is."""


class Problem:
    """One program: values of sequences, and what they cost."""

    def __init__(self, program, length, budget_steps, seconds):
        self._env = gymnasium.make(
            "hone/PassOrder-v0", programs=program, actions="simplify", traj_limit=length,
            observation="opcode_counts", use_table=True).unwrapped
        self.initial = self._env.reset()[1]["op_count"]
        self.actions = list(self._env.pass_names)
        self.length, self.budget_steps, self.seconds = length, budget_steps, seconds
        self.best, self.steps, self.taken, self.trials = self.initial, 0, 0, 0
        self.curve, self.curve_seconds, self.sequence = [[0, self.initial]], [0.0], []
        self.pass_seconds = 0.0  # in the environment; the rest is the searcher's own
        self.begin = time.perf_counter()

    def elapsed(self):
        return time.perf_counter() - self.begin

    def value(self, sequence):
        """Of the best prefix. Raises Spent at the end of the budget."""
        self.check()
        self.trials += 1
        start = time.perf_counter()
        try:
            return self._walk(sequence)
        finally:
            self.pass_seconds += time.perf_counter() - start

    def check(self):
        if self.steps >= self.budget_steps or self.elapsed() >= self.seconds:
            raise Spent

    def _walk(self, sequence):
        env, session, best = self._env, self._env._session, self.initial
        env.reset()
        for i, action in enumerate(sequence):
            known = session.transitions
            _, _, terminated, truncated, info = env.step(int(action))
            self.taken += 1
            # A pass was run where the table has grown, or something broke that it does not keep.
            self.steps += int(session.transitions != known
                              or ("error" in info and bool(info["action_mask"][int(action)])))
            best = min(best, info["op_count"])
            if best < self.best:
                self.best, self.sequence = best, [int(a) for a in sequence[:i + 1]]
                self.curve.append([self.steps, best])
                self.curve_seconds.append(round(self.elapsed(), 3))
            if terminated or truncated:
                break
            self.check()
        return float(best)

    def close(self):
        self._env.close()


# Searchers: (problem, seed, start) -> runs until the problem raises Spent. `start` is a list of
# actions, or empty.

def uniform(problem, seed, start):
    """Uniformly random sequences, to see what the others add."""
    rng = np.random.default_rng(seed)
    while True:
        problem.value(rng.integers(len(problem.actions), size=problem.length))


def fill(start, length, rng, actions):
    """`start`, made `length` long with random actions: they cannot make the best prefix worse."""
    return list(start[:length]) + [int(a) for a in rng.integers(actions, size=length)][len(start):]


def _optuna(sampler, problem, suggest, first=None):
    study = optuna.create_study(sampler=sampler, direction="minimize")
    if first is not None:
        study.enqueue_trial(first)
    while True:
        trial = study.ask()
        study.tell(trial, problem.value(suggest(trial)))


def _optuna_categorical(sampler, problem, seed, start):
    indices = list(range(len(problem.actions)))
    names = [f"a{i}" for i in range(problem.length)]
    first = dict(zip(names, fill(start, problem.length, np.random.default_rng(seed),
                                 len(indices)))) if start else None
    _optuna(sampler, problem,
            lambda trial: [trial.suggest_categorical(name, indices) for name in names], first)


def optuna_random(problem, seed, start):
    """Optuna's RandomSampler."""
    _optuna_categorical(optuna.samplers.RandomSampler(seed=seed), problem, seed, start)


def optuna_tpe(problem, seed, start):
    """Optuna's TPESampler, a categorical parameter a position, each by itself."""
    _optuna_categorical(optuna.samplers.TPESampler(seed=seed, multivariate=False), problem, seed,
                        start)


def optuna_tpe_multivariate(problem, seed, start):
    """The same, all positions together: Optuna 5's own default."""
    _optuna_categorical(optuna.samplers.TPESampler(seed=seed, multivariate=True), problem, seed,
                        start)


def optuna_cmaes(problem, seed, start):
    """Optuna's CmaEsSampler over a ranking: two keys an action, taken by falling key.

    So an action comes up twice at most (more often where --length needs it).
    """
    copies = max(2, math.ceil(problem.length / len(problem.actions)))
    keys = [f"k{i}" for i in range(copies * len(problem.actions))]
    x0 = dict.fromkeys(keys, 0.4)
    seen = {}
    for i, action in enumerate(start):
        if seen.setdefault(action, 0) < copies:
            x0[f"k{action * copies + seen[action]}"] = 0.95 - 0.5 * i / len(start)
            seen[action] += 1

    def suggest(trial):
        values = np.array([trial.suggest_float(key, 0, 1) for key in keys])
        return np.argsort(-values, kind="stable")[:problem.length] // copies

    _optuna(optuna.samplers.CmaEsSampler(seed=seed, x0=x0, sigma0=0.15), problem, suggest,
            x0 if start else None)


def optuna_cmaes_blocks(problem, seed, start):
    """Optuna's CmaEsSampler, separable, over logits: one an action and block of five positions.

    A block is the five actions of the greatest logits, in falling order.
    """
    block = 5
    blocks, count = math.ceil(problem.length / block), len(problem.actions)
    names = [f"b{i}_{a}" for i in range(blocks) for a in range(count)]
    x0 = dict.fromkeys(names, 0.4)
    for i, action in enumerate(start[:problem.length]):
        x0[f"b{i // block}_{action}"] = 0.9 - 0.08 * (i % block)

    def suggest(trial):
        logits = np.array([trial.suggest_float(name, 0, 1) for name in names])
        ranks = np.argsort(-logits.reshape(blocks, count), axis=1, kind="stable")
        return ranks[:, :block].reshape(-1)[:problem.length]

    _optuna(optuna.samplers.CmaEsSampler(seed=seed, x0=x0, sigma0=0.15, use_separable_cma=True),
            problem, suggest, x0 if start else None)


def _nevergrad(name, softmax=False):
    def run(problem, seed, start):
        count = len(problem.actions)
        if softmax:
            parameter = ng.p.Choice(count, repetitions=problem.length)
        else:
            parameter = ng.p.TransitionChoice(count, repetitions=problem.length, ordered=False)
        parameter.random_state.seed(seed)
        # Its budget is in trials, and some of a trial's passes are known: on the programs of data/
        # a trial runs about a third of them.
        trials = 10000 if problem.budget_steps == UNLIMITED else max(
            100, 3 * problem.budget_steps // problem.length)
        optimizer = ng.optimizers.registry[name](parameter, budget=trials)
        if start:
            optimizer.suggest(tuple(fill(start, problem.length, np.random.default_rng(seed),
                                         count)))
        while True:
            candidate = optimizer.ask()
            optimizer.tell(candidate, problem.value(candidate.value))

    run.__doc__ = f"Nevergrad's {name}, over {'softmaxes' if softmax else 'unordered choices'}."
    return run


METHODS = {
    "random": uniform,
    "optuna-random": optuna_random,
    "optuna-tpe": optuna_tpe,
    "optuna-tpe-multivariate": optuna_tpe_multivariate,
    "optuna-cmaes": optuna_cmaes,
    "optuna-cmaes-blocks": optuna_cmaes_blocks,
    "nevergrad-ngopt": _nevergrad("NGOpt"),
    "nevergrad-oneplusone": _nevergrad("DiscreteOnePlusOne"),
    "nevergrad-lengler": _nevergrad("DiscreteLenglerOnePlusOne"),
    "nevergrad-portfolio": _nevergrad("RecombiningPortfolioDiscreteOnePlusOne"),
    "nevergrad-de": _nevergrad("TwoPointsDE"),
    "nevergrad-de-softmax": _nevergrad("TwoPointsDE", softmax=True),
}
DEFAULT_METHODS = ("random,optuna-tpe,optuna-cmaes,optuna-cmaes-blocks,nevergrad-ngopt,"
                   "nevergrad-oneplusone,nevergrad-portfolio,nevergrad-de")


def default_order(program):
    """(names of XLA's own passes that change this program, its op count), from the tool `hone`."""
    tool = pathlib.Path(_options.find_worker()).with_name("hone")
    output = subprocess.run(
        [tool, "optimize", program, "--search", "greedy", "--budget", "1steps", "--no-verify",
         "--workers", "1", "--json", "--quiet"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    report = json.loads(output)
    return report["passes"], report["default"]


def run(method, program, names, seed, options):
    """One search; a dict for a line of the result."""
    problem = Problem(program, options.length, options.budget_steps, options.seconds)
    start = [problem.actions.index(name) for name in names if name in problem.actions]
    complaint = None
    try:
        if start:
            problem.value(start)
        METHODS[method](problem, seed, start)
    except Spent:
        pass
    except Exception as error:  # of the peer: what it had found counts
        complaint = f"{type(error).__name__}: {error}"
        print(f"{method} on {program} seed {seed}: {complaint}", file=sys.stderr)
    line = {
        "method": method, "program": program, "seed": seed, "length": options.length,
        "start": options.start, "budget_steps": options.budget_steps,
        "budget_seconds": options.seconds, "initial": problem.initial, "steps": problem.steps,
        "seconds": round(problem.elapsed(), 3), "best": problem.best, "curve": problem.curve,
        "curve_seconds": problem.curve_seconds, "pass_seconds": round(problem.pass_seconds, 3),
        "taken": problem.taken, "trials": problem.trials,
        "passes": [problem.actions[a] for a in problem.sequence],
    }
    if complaint:
        line["error"] = complaint
    problem.close()
    return line


def best_at(line, steps):
    return min(value for taken, value in line["curve"] if taken <= steps)


def show(lines, defaults):
    """Means over the seeds, a row a program and method; then geometric means over the programs."""
    columns = [b for b in BUDGETS if b <= max(line["steps"] for line in lines)] or [BUDGETS[0]]
    methods = list(dict.fromkeys(line["method"] for line in lines))
    print(f"{'program':40} {'method':24} {'initial':>7} {'XLA':>6} "
          + " ".join(f"{c:>7}" for c in columns) + f" {'steps':>6} {'s':>6} {'in hone':>7}")
    ratios = {method: [[] for _ in columns] for method in methods}
    for program in dict.fromkeys(line["program"] for line in lines):
        for method in methods:
            seeds = [r for r in lines if (r["program"], r["method"]) == (program, method)]
            if not seeds:
                continue
            means = [np.mean([best_at(r, c) for r in seeds]) for c in columns]
            for ratio, mean in zip(ratios[method], means):
                ratio.append(mean / seeds[0]["initial"])
            print(f"{program[-40:]:40} {method:24} {seeds[0]['initial']:7} "
                  f"{defaults.get(program, math.nan):6.0f} "
                  + " ".join(f"{m:7.1f}" for m in means)
                  + "".join(f" {np.mean([r[k] for r in seeds]):{w}}" for k, w in (
                      ("steps", "6.0f"), ("seconds", "6.1f"), ("pass_seconds", "7.1f"))))
    print("\ngeometric mean of best / initial")
    for method in methods:
        print(f"{'':40} {method:24} {'':14} " + " ".join(
            f"{math.exp(np.mean(np.log(r))):7.4f}" for r in ratios[method]))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="methods:\n" + "\n".join(
            f"  {name:24} {method.__doc__.splitlines()[0]}" for name, method in METHODS.items()))
    parser.add_argument("--programs", nargs="+", required=True, metavar="FILE",
                        help="files or URIs; @FILE has one a line")
    parser.add_argument("--methods", default=DEFAULT_METHODS,
                        help=f"names, or all (unless given: {DEFAULT_METHODS})")
    parser.add_argument("--length", type=int, default=40, help="of a sequence (40)")
    parser.add_argument("--budget-steps", type=int, default=BUDGETS[-1],
                        help="passes run, a search (4000); 0 is no limit")
    parser.add_argument("--seconds", type=float, default=120, help="of a search (120)")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--start", choices=("default", "none"), default="default",
                        help="what a search begins with: XLA's own order")
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT",
                        help="adds a line a search to it, and leaves out what it has already")
    options = parser.parse_args()
    options.budget_steps = options.budget_steps or UNLIMITED
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", module=r"optuna|nevergrad|cma")
    warnings.filterwarnings("ignore", category=FutureWarning)

    methods = list(METHODS) if options.methods == "all" else options.methods.split(",")
    for method in methods:
        if method not in METHODS:
            parser.error(f"there is no method {method}: there are {', '.join(METHODS)}")
    programs = []
    for program in options.programs:
        programs += (pathlib.Path(program[1:]).read_text().split() if program.startswith("@")
                     else [program])
    lines, defaults, seen = [], {}, set()
    if options.json and options.json.is_file():
        lines = [json.loads(text) for text in options.json.read_text().splitlines()]
        # Of searches under other options the file may hold what it likes.
        lines = [r for r in lines if (r["length"], r["start"], r["budget_steps"],
                                      r["budget_seconds"])
                 == (options.length, options.start, options.budget_steps, options.seconds)]
        seen = {(r["method"], r["program"], r["seed"]) for r in lines}
    for program in programs:
        names, defaults[program] = default_order(program)
        for seed in (int(s) for s in options.seeds.split(",")):
            for method in methods:
                if (method, program, seed) in seen:
                    continue
                line = run(method, program, names if options.start == "default" else [], seed,
                           options)
                lines.append(line)
                if options.json:
                    with options.json.open("a") as out:
                        out.write(json.dumps(line) + "\n")
    show([r for r in lines if r["program"] in defaults], defaults)


if __name__ == "__main__":
    main()
