#!/usr/bin/env python3
"""Runs `hone tune` over programs and prints tables.

  bench/tune_table.py programs FOLDER --budget 10m          by program and by stage
  bench/tune_table.py modes FOLDER --budget 5m              joint against sequential
  bench/tune_table.py strategies FOLDER --budget 200steps   each searcher against random
  bench/tune_table.py transfer FOLDER --budget 100steps     the decision store on against off
  bench/tune_table.py policy FOLDER --budget 15s            a policy of what to try first on against off
  bench/tune_table.py ranked FOLDER --budget 5m             the top by a cost model against everything
  bench/tune_table.py targets FOLDER --budget 1m            for each GPU, and each GPU's plans on the others

Rows are kept in --out as lines of JSON; what is there already is not run again, so that an
interrupted run goes on. With --again every plan that was kept is measured once more, by `hone bench`.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

STRATEGIES = ["anneal", "evolutionary", "ridge", "forest", "boosting", "ensemble", "reinforce",
              "exhaustive", "random"]


def programs_of(paths):
    found = []
    for path in paths:
        if not os.path.isdir(path):
            found.append(path)
            continue
        found += sorted(os.path.join(folder, n) for folder, _, names in os.walk(path)
                        for n in names if n.endswith((".hlo", ".txt", ".pb")))
    return found


class Runs:
    """Results by (file, what), kept in a file of JSON lines."""

    def __init__(self, arguments):
        self.hone = arguments.hone
        self.budget = arguments.budget
        self.more = arguments.more
        self.path = arguments.out
        self.seeds = arguments.seeds.split(",")
        self.known = {}
        if self.path and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    self.known[row["key"]] = row

    def tune(self, file, what, extra, budget=None):
        budget = budget or self.budget
        key = json.dumps([file, what, budget, extra])
        if key not in self.known:
            command = [self.hone, "tune", file, "--json", "--quiet", "--budget", budget]
            done = subprocess.run(command + extra + self.more, capture_output=True, text=True)
            try:
                row = json.loads(done.stdout)
            except ValueError:
                row = {"error": {"message": done.stderr.strip()[-400:] or "no output"}}
            row.update({"key": key, "file": file, "what": what, "exit": done.returncode})
            self.known[key] = row
            if self.path:
                with open(self.path, "a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
            print(f"  {what} {file}: {summary(row)}", file=sys.stderr)
        return self.known[key]


def summary(row):
    if "error" in row:
        return "failed: " + row["error"]["message"].splitlines()[0][:100]
    if row["kept"] == "stock":
        return "stock: " + row["reason"][:100]
    return f"{row['speedup']:.3f}"


def speedup(row):
    return row["speedup"] if "error" not in row and row["kept"] == "tuned" else 1.0


def interval(values, draws=2000):
    """The mean and a 95 % bootstrap interval over programs."""
    rng = random.Random(1)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(draws))
    return sum(values) / len(values), means[int(0.025 * draws)], means[int(0.975 * draws)]


def geometric(values):
    mean, low, high = interval([math.log(v) for v in values])
    return f"{math.exp(mean):.3f} [{math.exp(low):.3f}, {math.exp(high):.3f}]"


def by_program(runs, files, arguments):
    rows = [runs.tune(file, "programs", store(arguments)) for file in files]
    print("| program | stock ms | tuned ms | speed-up | 95 % | verified | evaluations | of tasks | "
          "by stage |")
    print("|---|---|---|---|---|---|---|---|---|")
    stages = {}
    regressions = 0
    for row in rows:
        name = os.path.basename(row["file"])
        if "error" in row or row["kept"] == "stock":
            counts = f"{row.get('evaluations', '')} | {row.get('task_evaluations', '')}"
            print(f"| {name} | | | 1 | | | {counts} | {summary(row)} |")
            continue
        gains = []
        for gain in row["by_stage"]:
            stages.setdefault(gain["stage"], []).append(gain["speedup"])
            gains.append(f"{gain['stage']} {gain['speedup']:.2f}")
        low, high = row["speedup_ci"]
        print(f"| {name} | {row['stock_ms'] or 0:.4g} | {row['tuned_ms'] or 0:.4g} | {row['speedup']:.3f} | "
              f"[{low:.3f}, {high:.3f}] | {row['verified']} | {row['evaluations']} | "
              f"{row.get('task_evaluations', '')} | {', '.join(gains)} |")
        if arguments.again:
            again = bench(runs.hone, row)
            regressions += again["speedup_ci"][1] is not None and again["speedup_ci"][1] < 1
    measured = [row for row in rows if "error" not in row and row["stop_reason"] != "not_tunable"]
    if measured:
        speedups = [speedup(row) for row in measured]
        mean, low, high = interval(speedups)
        print(f"\n{len(measured)} of {len(rows)} programs can be measured; "
              f"{sum(row['kept'] == 'tuned' for row in measured)} are tuned.")
        print(f"Mean speed-up {mean:.3f} [{low:.3f}, {high:.3f}], geometric mean "
              f"{geometric(speedups)}, maximum {max(speedups):.2f}.")
        busy = sum(r["busy_share"] * r["seconds"] for r in measured) / \
            max(1e-9, sum(r["seconds"] for r in measured))
        counts = [row.get("task_evaluations", 0) for row in measured]
        print(f"Evaluations of tasks: {statistics.median(counts):.0f} in the median, "
              f"{min(counts)} at least.")
        print(f"{100 * busy:.0f} % of the time went into compiling, running and comparing.")
    if arguments.again:
        print(f"Regressions in a fresh measurement of all kept plans: {regressions}.")
    print("\n| stage | programs | mean of its speed-up | most |\n|---|---|---|---|")
    for stage, gains in sorted(stages.items()):
        print(f"| {stage} | {len(gains)} | {sum(gains) / len(gains):.3f} | {max(gains):.2f} |")


def bench(hone, row, more=()):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
        json.dump(row["plan"], plan)
        plan.flush()
        done = subprocess.run([hone, "bench", row["file"], "--plan", plan.name, "--json", "--quiet",
                               *more], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"speedup_ci": [None, None]}


def store(arguments):
    return ["--store", arguments.store] if arguments.store else []


def compare(runs, files, variants):
    """A column for each variant, and each against the first; several seeds by their geometric mean."""
    names = list(variants)
    print("| program | " + " | ".join(names) + " |\n" + "|---" * (1 + len(names)) + "|")
    table = {name: [] for name in names}
    evaluations = {name: 0 for name in names}
    for file in files:
        rows = {name: [runs.tune(file, name, extra + ["--seed", seed]) for seed in runs.seeds]
                for name, extra in variants.items()}
        if all("error" in row or row["stop_reason"] == "not_tunable"
               for of_name in rows.values() for row in of_name):
            continue
        shown = []
        for name, of_name in rows.items():
            logs = [math.log(speedup(row)) for row in of_name]
            table[name].append(math.exp(sum(logs) / len(logs)))
            evaluations[name] += sum(row.get("evaluations", 0) for row in of_name)
            shown.append(f"{table[name][-1]:.3f}")
        print(f"| {os.path.basename(file)} | " + " | ".join(shown) + " |")
    if not table[names[0]]:
        return
    print("| geometric mean | " + " | ".join(geometric(table[name]) for name in names) + " |")
    print("| evaluations | " + " | ".join(str(evaluations[name]) for name in names) + " |")
    base = table[names[0]]
    for name in names[1:]:
        ratios = [value / other for value, other in zip(table[name], base)]
        print(f"\n{name} against {names[0]}: {geometric(ratios)}; better on "
              f"{sum(r > 1.02 for r in ratios)}, worse on {sum(r < 1 / 1.02 for r in ratios)}, "
              f"alike on {sum(1 / 1.02 <= r <= 1.02 for r in ratios)}.")


def so_far(row, field, until):
    """The best that a run had found by then, before it was confirmed."""
    return max([1.0] + [one["speedup"] for one in row.get("best_so_far", []) if one[field] <= until])


def soon(runs, files, variants):
    """What was found by when, and how many evaluations each took to come within 5 % of the best of all."""
    at_seconds = {name: {} for name in variants}
    needed = {name: [] for name in variants}
    for file in files:
        for seed in runs.seeds:
            rows = {name: runs.tune(file, name, extra + ["--seed", seed])
                    for name, extra in variants.items()}
            if any("error" in row or row["stop_reason"] == "not_tunable" for row in rows.values()):
                continue
            seconds = max(row["seconds"] for row in rows.values())
            for name, row in rows.items():
                for share in (0.25, 0.5, 0.75, 1):
                    at_seconds[name].setdefault(share, []).append(so_far(row, "seconds", share * seconds))
            best = max(so_far(row, "seconds", math.inf) for row in rows.values())
            if best < 1.05:
                continue
            for name, row in rows.items():
                reached = [one["evaluations"] for one in row["best_so_far"] if one["speedup"] >= best / 1.05]
                needed[name].append(min(reached, default=2 * row["evaluations"] + 1))
    base = next(iter(variants))
    print("\n| share of the time | " + " | ".join(variants) + f" | against {base} |")
    print("|---" * (2 + len(variants)) + "|")
    for share, values in at_seconds[base].items():
        cells = [geometric(at_seconds[name][share]) for name in variants]
        ratios = [geometric([a / b for a, b in zip(at_seconds[name][share], values)])
                  for name in variants if name != base]
        print(f"| {share} | " + " | ".join(cells + ratios) + " |")
    print(f"\nEvaluations to come within 5 % of the best of all, {len(needed[base])} runs (one that "
          "does not come there counts as twice all it made):")
    for name, counts in needed.items():
        ratios = geometric([a / b for a, b in zip(counts, needed[base])]) if counts else "-"
        print(f"{name}: {statistics.median(counts or [0]):g} in the median; by {base}'s: {ratios}")


def targets(runs, files, names):
    """Rows: what was tuned for; columns: what its plans are worth on, by XLA's own estimates."""
    table = {(a, b): [] for a in names for b in names}
    refused = {name: 0 for name in names}
    for file in files:
        rows = {name: runs.tune(file, name, ["--target", name]) for name in names}
        if any("error" in row for row in rows.values()):
            continue
        for a, row in rows.items():
            for b in names:
                worth = 1.0
                if row["kept"] == "tuned":
                    worth = bench(runs.hone, row, ["--target", b]).get("speedup") or 0
                refused[a] += worth == 0
                table[a, b].append(worth or 1.0)
    print("| tuned for | " + " | ".join(f"on {name}" for name in names) +
          " | programs | worse elsewhere | refused elsewhere |")
    print("|---" * (4 + len(names)) + "|")
    for a in names:
        worse = sum(value < 0.995 for b in names if b != a for value in table[a, b])
        print(f"| {a} | " + " | ".join(geometric(table[a, b]) for b in names) +
              f" | {len(table[a, a])} | {worse} | {refused[a]} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["programs", "modes", "strategies", "transfer", "policy",
                                          "ranked", "targets"])
    parser.add_argument("files", nargs="+", help="programs, or folders of them")
    parser.add_argument("--budget", default="10m", help="as hone tune takes it")
    parser.add_argument("--teach-budget", help="transfer: of filling the store (--budget)")
    parser.add_argument("--store", help="programs: keep what is found out here")
    parser.add_argument("--out", help="keep the rows here")
    parser.add_argument("--again", action="store_true", help="programs: measure kept plans again")
    parser.add_argument("--models", default="roofline",
                        help="ranked: cost models as hone tune takes them, commas between them")
    parser.add_argument("--seeds", default="1", help="with commas between them")
    parser.add_argument("--policies", default="policies/changes.json",
                        help="policy: as hone tune takes them, commas between them")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--targets", default="h100,a100,b200", help="targets: with commas between them")
    parser.add_argument("--hone", default=os.path.join("build", "bin", "hone"))
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[],
                        help="all that follows goes to hone tune")
    arguments = parser.parse_args()
    files = programs_of(arguments.files)
    runs = Runs(arguments)
    if arguments.table == "ranked":
        models = ["none"] + arguments.models.split(",")
        compare(runs, files, {os.path.basename(model): ["--cost-model", model] for model in models})
    elif arguments.table == "programs":
        by_program(runs, files, arguments)
    elif arguments.table == "modes":
        compare(runs, files, {mode: ["--mode", mode] for mode in ("sequential", "joint")})
    elif arguments.table == "policy":
        policies = ["none"] + arguments.policies.split(",")
        variants = {os.path.basename(policy): ["--policy", policy] for policy in policies}
        compare(runs, files, variants)
        soon(runs, files, variants)
    elif arguments.table == "targets":
        targets(runs, files, arguments.targets.split(","))
    elif arguments.table == "strategies":
        names = arguments.strategies.split(",")
        names = ["random"] + [name for name in names if name != "random"]
        compare(runs, files, {name: ["--search", name] for name in names})
    else:
        transfer(runs, files, arguments)


def transfer(runs, files, arguments):
    """The first half of the programs teaches; the second is tuned with and without the lessons."""
    half = max(1, len(files) // 2)
    taught = arguments.store or os.path.join(tempfile.mkdtemp(), "taught.db")
    for file in files[:half]:
        runs.tune(file, "teach", ["--store", taught], arguments.teach_budget or arguments.budget)
    # A copy for each, so that none learns from another's run.
    def copy(name):
        path = f"{taught}.{name}"
        lines = subprocess.run([runs.hone, "store", "export", taught], capture_output=True, check=True)
        if os.path.exists(path):
            os.remove(path)
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(lines.stdout)
            file.flush()
            subprocess.run([runs.hone, "store", "import", path, file.name], check=True,
                           capture_output=True)
        return path
    compare(runs, files[half:], {"alone": ["--store", copy("alone"), "--no-transfer"],
                                 "taught": ["--store", copy("taught")]})


if __name__ == "__main__":
    main()
