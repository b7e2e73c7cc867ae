"""Which of a script's modules became slower, or different, from one version of JAX to another?

    python -m hone.jax.blame train.py --jax-a OLD_ENVIRONMENT --jax-b NEW_ENVIRONMENT

The script runs in both environments, in turns, and every module that XLA compiles there is kept and its runs
are timed. Modules are matched by what they compute. Of each pair it is told which is faster, each in its own JAX;
where the two versions of JAX make different programs of a function, `hone blame` holds those against each other,
compiled by one and the same XLA. So what JAX makes of a function is told apart from what its compiler makes of that.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from hone import _core
from hone.jax._hone import HoneError, Progress, call, loaded, pool_options

_PACKAGE = pathlib.Path(__file__).resolve().parents[2]
_DUMP = re.compile(r"module_(\d+)\.(.*)\.before_optimizations\.hlo\.pb$")
_LEAST_SHARE = 0.01  # of the time of all modules; what takes less is not looked at


class Module:
    """What a script had compiled.

    Attributes:
      name: as JAX calls it.
      hlo: a serialized HloModuleProto, before XLA's passes; key: of what it computes.
      runs: for each run of the script the seconds of its calls but the first.
    """

    def __init__(self, name, hlo):
        self.name, self.hlo, self.runs = name, hlo, []
        self.key = ""

    def seconds(self):
        return sum(sum(run) for run in self.runs)


def run_script(python, command, folder):
    """({(name, which of that name): seconds of its calls}, what was said of versions).

    Raises:
      HoneError: the script ended with an error, or its runs could not be timed.
    """
    folder.mkdir(parents=True)
    times = folder / "times.json"
    site = _PACKAGE / "hone/jax/site"
    paths = [str(site), os.environ.get("PYTHONPATH", "")]
    dump = f"--xla_dump_to={folder / 'dump'} --xla_dump_hlo_as_proto"
    environment = {**os.environ, "HONE_JAX": f"times\n{times}\n{_PACKAGE}", "JAX_PLATFORMS": "cpu",
                   "JAX_ENABLE_COMPILATION_CACHE": "false", "TF_CPP_MIN_LOG_LEVEL": "3",
                   "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                   "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {dump}".strip()}
    done = subprocess.run([str(python), *command], env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise HoneError(f"{python} {command[0]} ended with {done.returncode}: {said[:300]}")
    if not times.exists():
        raise HoneError(f"{python} {command[0]}: no run was timed; does it use JAX, 0.5 or newer? "
                        f"{(done.stderr.strip().splitlines() or [''])[-1][:300]}")
    told = json.loads(times.read_text())
    found, counts = {}, {}
    for name, seconds in told["modules"]:
        which = counts[name] = counts.get(name, -1) + 1
        found[name, which] = seconds[1:]
    return found, {"jax": told["jax"], "jaxlib": told["jaxlib"]}


def dumped(folder):
    """{(name, which of that name): HLO} in the order of compilation."""
    found, counts = {}, {}
    files = [(int(match[1]), match[2], path) for path in sorted((folder / "dump").iterdir())
             if (match := _DUMP.match(path.name))]
    for _, name, path in sorted(files):
        which = counts[name] = counts.get(name, -1) + 1
        found[name, which] = path.read_bytes()
    return found


def record(python, command, folder, runs, say):
    """([Module], versions) of one environment, not run yet but for the programs. Yields after each run."""
    modules, versions = {}, {}
    for number in range(runs):
        place = folder / str(number)
        say(f"{python}: run {number + 1} of {runs}")
        seconds, versions = run_script(python, command, place)
        if number == 0:
            programs = dumped(place)
            modules = {one: Module(one[0], programs[one]) for one in seconds if one in programs}
        for one, module in modules.items():
            module.runs.append(seconds.get(one, []))
        yield list(modules.values()), versions


def key_of(hlo):
    """Of what a program computes, whatever its parts are called; its own bytes where hone cannot read it."""
    try:
        bench, _ = loaded(hlo)
        return str(bench.load(hlo).fingerprint)
    except (HoneError, RuntimeError, ValueError):
        return hlo.hex()


def matched(ours, theirs):
    """[(Module or None, Module or None)]: of the same computation, else of the same name, each once."""
    left, pairs = list(theirs), []
    rest = []
    for one in ours:
        other = next((other for other in left if other.key == one.key), None)
        if other is None:
            rest.append(one)
        else:
            left.remove(other)
            pairs.append((one, other))
    for one in rest:
        other = next((other for other in left if other.name == one.name), None)
        if other is not None:
            left.remove(other)
        pairs.append((one, other))
    return pairs + [(None, other) for other in left]


def race(one, other, least):
    """How many times as long the second takes, as a dict; `said` is slower, faster, equal or unsure. Each run of
    the script has to say so by itself."""
    ratios = []
    for a, b in zip(one.runs, other.runs):
        tally = _core.RaceTally(float("inf"), 1, 1 << 20)
        for pair in zip(b, a):
            tally.add(*pair)
        if tally.pairs >= 6:  # of fewer there is no interval
            ratios.append(tally.tell())
    row = {"ms": [1000 * _median(one.runs), 1000 * _median(other.runs)]}
    if not ratios:
        return {**row, "said": "unsure", "why": "it was called too seldom; have the script call it oftener"}
    low, high = min(told["low"] for told in ratios), max(told["high"] for told in ratios)
    row.update(ratio=sorted(told["speedup"] for told in ratios)[len(ratios) // 2], ratio_ci=[low, high])
    said = ("slower" if low >= least else "faster" if high <= 1 / least else
            "equal" if 1 / least < low and high < least else "unsure")
    return {**row, "said": said}


def _median(runs):
    values = sorted(seconds for run in runs for seconds in run)
    return values[len(values) // 2] if values else 0.0


def blame(python_a, python_b, command, folder, *, runs=3, least=1.05, budget=300.0, seed=1,
          say=lambda text: None):
    """The answer as a dict: `versions`, `modules` (a row a pair), `others` (left out, for they take no time).

    Raises:
      HoneError: the script ends with an error in one of the environments.
    """
    in_turns = [record(python, command, folder / side, runs, say)
                for side, python in (("a", python_a), ("b", python_b))]
    for _ in range(runs):
        (ours, version_a), (theirs, version_b) = [next(one) for one in in_turns]
    for module in [*ours, *theirs]:
        module.key = key_of(module.hlo)
    total = max(sum(module.seconds() for module in modules) for modules in (ours, theirs)) or 1.0
    rows, others = [], 0
    for one, other in matched(ours, theirs):
        if max(module.seconds() for module in (one, other) if module) < _LEAST_SHARE * total:
            others += 1
            continue
        row = {"name": (one or other).name, "seconds": [module.seconds() if module else 0.0
                                                        for module in (one, other)]}
        if one is None or other is None:
            rows.append({**row, "programs": "b alone" if one is None else "a alone", "said": "unsure"})
            continue
        same = one.key == other.key
        row.update(programs="the same" if same else "different", **race(one, other, least))
        rows.append({**row, "hlo": (one.hlo, other.hlo)})
    rows.sort(key=lambda row: row["seconds"][0] - row["seconds"][1])
    asked = [row for row in rows if row["programs"] == "different"]
    for row in asked:
        say(f"{row['name']}: holding the two programs against each other")
        try:
            row["blame"] = call(
                _core.blame_programs, *row["hlo"], pool_options(), file=f"{row['name']} of a",
                other=f"{row['name']} of b", budget_seconds=budget / len(asked), seed=seed)
        except HoneError as error:
            row["blame_failed"] = str(error).strip().partition("\n")[0]
    return {"versions": {"a": version_a, "b": version_b}, "modules": rows, "others": others}


def verdict(row):
    """What is to blame for a pair, in words."""
    if row["programs"].endswith("alone"):
        return f"is compiled in {row['programs']}: there is nothing to hold it against"
    if row["programs"] == "the same":
        return {"slower": "the program is the same: XLA, the compiler, made it slower",
                "faster": "the program is the same: XLA, the compiler, made it faster",
                "equal": "the same program, as fast"}.get(
                    row["said"], "the same program; " + row.get("why", "the runs do not agree on which is faster"))
    if "blame" not in row:
        return f"JAX makes another program of it; they were not held against each other: {row['blame_failed']}"
    parts = []
    for answer in row["blame"]["answers"]:
        shows = answer["b_against_a"]["shows"]
        if answer["question"] == "slower":
            ratio = answer["b_against_a"].get("ratio") or 0
            parts.append({"yes": f"by one XLA the new one takes {ratio:.2f} times as long: JAX is to blame",
                          "no": "by one XLA the new one is not slower"
                          + (": XLA is to blame" if row["said"] == "slower" else ""),
                          "cannot_tell": "which is slower by one XLA cannot be told"}[shows])
        else:
            parts.append({"yes": f"they compute different things: {answer['b_against_a'].get('reason', '')}",
                          "no": "they compute the same",
                          "cannot_tell": "whether they compute the same cannot be told"}[shows])
    return "JAX makes another program of it; " + "; ".join(parts)


def text_of(answer):
    lines = [f"{side}: JAX {one['jax']}, jaxlib {one['jaxlib']}" for side, one in answer["versions"].items()]
    for row in answer["modules"]:
        figures = ""
        if "ms" in row:
            figures = f": {row['ms'][0]:.4g} ms -> {row['ms'][1]:.4g} ms a call"
        if "ratio" in row:
            low, high = row["ratio_ci"]
            figures += f", {row['ratio']:.2f} times as long [{low:.2f}, {high:.2f}]"
        lines += [f"{row['name']}{figures}", f"  {verdict(row)}"]
        for one in row.get("blame", {}).get("answers", []):
            for kernel in one.get("kernels", [])[:3]:
                lines.append(f"  kernel {kernel['b'] or kernel['a']} ({kernel['what']}): "
                             f"{kernel['ms'][0]:.4g} ms -> {kernel['ms'][1]:.4g} ms")
    if answer["others"]:
        lines.append(f"{answer['others']} others take less than {_LEAST_SHARE:.0%} of the time")
    return "\n".join(lines)


def write(answer, folder):
    """The two programs of each pair, for a bug report."""
    from hone._files import write_whole

    folder.mkdir(parents=True, exist_ok=True)
    for number, row in enumerate(answer["modules"]):
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", row["name"])[:80]
        for side, hlo in zip("ab", row.get("hlo", ())):
            write_whole(folder / f"{number}-{name}.{side}.hlo.pb", hlo)


def python_of(environment):
    """The interpreter of a virtual environment, or an interpreter itself."""
    path = pathlib.Path(environment)
    for python in (path / "bin" / "python", path):
        if python.is_file() and os.access(python, os.X_OK):
            return python.absolute()
    raise HoneError(f"{environment}: there is no bin/python; give a virtual environment")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m hone.jax.blame", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script", help="what follows a -- is passed to it")
    parser.add_argument("--jax-a", required=True, metavar="ENVIRONMENT", help="with the JAX held to be good")
    parser.add_argument("--jax-b", required=True, metavar="ENVIRONMENT", help="with the other")
    parser.add_argument("--runs", type=int, default=3, help="of the script in each (3)")
    parser.add_argument("--least", type=float, default=1.05, help="what is less slower is nobody's fault (1.05)")
    parser.add_argument("--budget", default="5m", help="for holding programs against each other (5m)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (1)")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write the programs into this folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:end])
    try:
        pythons = [python_of(environment) for environment in (options.jax_a, options.jax_b)]
        if not pathlib.Path(options.script).is_file():
            raise HoneError(f"{options.script}: there is no such file")
        budget = call(_core.parse_duration, options.budget)
        if options.runs < 1:
            raise HoneError("--runs: give 1 or more")
    except HoneError as error:
        print(f"hone: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="hone-") as folder, Progress() as tell:
        try:
            answer = blame(*pythons, [options.script, *arguments[end + 1:]], pathlib.Path(folder), runs=options.runs,
                           least=options.least, budget=budget, seed=options.seed,
                           say=(lambda text: None) if options.quiet else tell)
        except HoneError as error:
            print(f"hone: {error}", file=sys.stderr)
            return 3
        except KeyboardInterrupt:
            return 130
    if options.output:
        write(answer, pathlib.Path(options.output))
    for row in answer["modules"]:
        row.pop("hlo", None)
        row["verdict"] = verdict(row)
    print(json.dumps(answer, indent=1) if options.json else text_of(answer))
    return 4 if any(row["said"] == "unsure" for row in answer["modules"]) else 0


if __name__ == "__main__":
    sys.exit(main())
