"""Optuna, Nevergrad and OpenTuner on what hone's strategies do: the decisions of a compilation.

  python bench/peers/tune_peers.py --programs FILE… --evaluations 40 --json out.jsonl

All ask the same evaluator, `hone-bench choices`: paired races against the stock executable, each
executable once. A run is so many evaluations; its result is its best plan, raced once more in a fresh
process. Every run begins with the stock plan, which is worth 0. Lines that OUT has already are not run
again. Where a peer is not installed it is left out, with a message.
"""

import argparse
import importlib.util
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings


class Spent(Exception):
    """The budget is."""


class Problem:
    """One program's decisions, and their values."""

    def __init__(self, bench, program, stages, evaluations, seed):
        self.left = evaluations
        self._process = subprocess.Popen(
            [bench, "choices", "--program", program, "--stages", stages, "--search", "stdin",
             "--evaluations", str(evaluations), "--seed", str(seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        variables = self._read()["variables"]
        self.choices = [v["choices"] for v in variables]
        self.stock = [v["stock"] for v in variables]
        self.worst = 0.0

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("hone-bench has ended")
        return json.loads(line)

    def value(self, assignment):
        """The logarithm of the time by the stock executable's; of a failure somewhat worse than all."""
        if self.left == 0:
            raise Spent
        self.left -= 1
        self._process.stdin.write(json.dumps([int(c) for c in assignment]) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if answer["failed"]:
            return self.worst + 0.5
        self.worst = max(self.worst, answer["value"])
        return answer["value"]

    def conclude(self):
        self._process.stdin.close()
        result = self._read()
        self._process.wait()
        return result


# Searchers: (problem, seed) -> runs until the problem raises Spent.

def uniform(problem, seed):
    """Uniformly random assignments."""
    rng = random.Random(seed)
    problem.value(problem.stock)
    while True:
        problem.value([rng.randrange(count) for count in problem.choices])


def _optuna(make):
    def run(problem, seed):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        names = [f"v{i}" for i in range(len(problem.choices))]
        study = optuna.create_study(sampler=make(optuna, seed), direction="minimize")
        study.enqueue_trial(dict(zip(names, problem.stock)))
        while True:
            trial = study.ask()
            study.tell(trial, problem.value(
                [trial.suggest_categorical(name, list(range(count)))
                 for name, count in zip(names, problem.choices)]))
    return run


def _nevergrad(name):
    def run(problem, seed):
        import nevergrad as ng
        parameter = ng.p.Tuple(*[
            ng.p.TransitionChoice(list(range(count))) if name.startswith("Discrete")
            else ng.p.Choice(list(range(count))) for count in problem.choices])
        parameter.random_state.seed(seed)
        optimizer = ng.optimizers.registry[name](parameter, budget=problem.left)
        optimizer.suggest(tuple(problem.stock))
        while True:
            candidate = optimizer.ask()
            optimizer.tell(candidate, problem.value(candidate.value))
    return run


def opentuner(problem, seed):
    """OpenTuner's default bandit of techniques."""
    from opentuner import ConfigurationManipulator
    from opentuner.api import TuningRunManager
    from opentuner.measurement.interface import DefaultMeasurementInterface
    from opentuner.resultsdb.models import Result
    from opentuner.search.manipulator import EnumParameter
    import opentuner as package
    random.seed(seed)
    manipulator = ConfigurationManipulator()
    for i, count in enumerate(problem.choices):
        manipulator.add_parameter(EnumParameter(f"v{i}", list(range(count))))
    arguments = package.default_argparser().parse_args(
        ["--database", tempfile.mkdtemp() + "/opentuner.db", "--quiet", "--no-dups"])
    interface = DefaultMeasurementInterface(
        args=arguments, manipulator=manipulator, project_name="hone", program_name="choices",
        program_version="0")
    manager = TuningRunManager(interface, arguments)
    problem.value(problem.stock)
    while True:
        desired = manager.get_next_desired_result()
        if desired is None:
            problem.value([random.randrange(count) for count in problem.choices])
            continue
        configuration = desired.configuration.data
        value = problem.value([configuration[f"v{i}"] for i in range(len(problem.choices))])
        manager.report_result(desired, Result(time=math.exp(value)))


PEERS = {
    "uniform": uniform,
    "optuna-tpe": _optuna(lambda o, seed: o.samplers.TPESampler(seed=seed, multivariate=False)),
    "optuna-tpe-multivariate": _optuna(
        lambda o, seed: o.samplers.TPESampler(seed=seed, multivariate=True)),
    "nevergrad-ngopt": _nevergrad("NGOpt"),
    "nevergrad-oneplusone": _nevergrad("DiscreteOnePlusOne"),
    "nevergrad-lengler": _nevergrad("DiscreteLenglerOnePlusOne"),
    "opentuner": opentuner,
}
HONE = ["anneal", "evolutionary", "boosting", "forest", "random"]


def run(method, program, seed, options):
    if method.startswith("hone:"):
        done = subprocess.run(
            [options.bench, "choices", "--program", program, "--stages", options.stages,
             "--search", method[5:], "--evaluations", str(options.evaluations), "--seed",
             str(seed)], capture_output=True, text=True)
        if done.returncode != 0:
            return {"error": done.stderr.strip()[-300:]}
        return json.loads(done.stdout)
    problem = Problem(options.bench, program, options.stages, options.evaluations, seed)
    error = None
    try:
        PEERS[method](problem, seed)
    except Spent:
        pass
    except Exception as exception:  # of the peer: what it had found counts
        error = f"{type(exception).__name__}: {exception}"
    result = problem.conclude()
    return {**result, "error": error} if error else result


def interval(values, draws=2000):
    rng = random.Random(1)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(draws))
    return sum(values) / len(values), means[int(0.025 * draws)], means[int(0.975 * draws)]


def show(lines, methods):
    programs = list(dict.fromkeys(line["program"] for line in lines))
    base = "hone:anneal"
    print("| method | geometric mean speed-up, 95 % over programs | against hone:anneal | evaluations |")
    print("|---|---|---|---|")
    means = {}
    for method in methods:
        for program in programs:
            logs = [math.log(line["speedup"]) for line in lines
                    if (line["method"], line["program"]) == (method, program)
                    and "speedup" in line]
            if logs:
                means[method, program] = sum(logs) / len(logs)
    for method in methods:
        logs = [means[method, p] for p in programs if (method, p) in means]
        if not logs:
            continue
        mean, low, high = (math.exp(x) for x in interval(logs))
        ratios = [means[method, p] - means[base, p] for p in programs
                  if (method, p) in means and (base, p) in means]
        against = ""
        if ratios and method != base:
            against = "{:.3f} [{:.3f}, {:.3f}]".format(*(math.exp(x) for x in interval(ratios)))
        asked = [line["evaluations"] for line in lines
                 if line["method"] == method and "evaluations" in line]
        print(f"| {method} | {mean:.3f} [{low:.3f}, {high:.3f}] | {against} | "
              f"{sum(asked) / len(asked):.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", required=True)
    parser.add_argument("--methods", help="names, commas between them; hone's as hone:NAME (all)")
    parser.add_argument("--stages", default="tiles,flags")
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--bench", default="build/bin/hone-bench")
    parser.add_argument("--json", type=pathlib.Path, metavar="OUT")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    methods = options.methods.split(",") if options.methods else \
        [f"hone:{name}" for name in HONE] + list(PEERS)
    for method in methods:
        if method not in PEERS and not method.startswith("hone:"):
            parser.error(f"there is no method {method}: there are hone:NAME, {', '.join(PEERS)}")
    for package in ("optuna", "nevergrad", "opentuner"):
        if importlib.util.find_spec(package) is None:
            left_out = [m for m in methods if m.split("-")[0] == package]
            methods = [m for m in methods if m not in left_out]
            if left_out:
                print(f"{package} is not installed: without {', '.join(left_out)}", file=sys.stderr)
    lines = []
    if options.json and options.json.is_file():
        lines = [json.loads(text) for text in options.json.read_text().splitlines()]
        lines = [line for line in lines if "speedup" in line]  # the others are run again
    key = ("method", "program", "seed", "stages", "budget")
    seen = {tuple(line[k] for k in key) for line in lines}
    for program in options.programs:
        for seed in (int(s) for s in options.seeds.split(",")):
            for method in methods:
                line = {"method": method, "program": program, "seed": seed,
                        "stages": options.stages, "budget": options.evaluations}
                if tuple(line[k] for k in key) in seen:
                    continue
                try:
                    line.update(run(method, program, seed, options))
                except (RuntimeError, OSError) as error:
                    line["error"] = str(error)
                print(f"  {method} {program} {seed}: "
                      f"{line.get('speedup', line.get('error'))}", file=sys.stderr)
                lines.append(line)
                if options.json:
                    with options.json.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(line) + "\n")
    chosen = [line for line in lines if line["program"] in options.programs
              and (line["stages"], line["budget"]) == (options.stages, options.evaluations)]
    show(chosen, list(dict.fromkeys(line["method"] for line in chosen)))


if __name__ == "__main__":
    main()
