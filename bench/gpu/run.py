#!/usr/bin/env python3
"""XLA's own estimates of a GPU, held against that GPU.

    .venv-jax/bin/python bench/gpu/run.py FOLDER --target h100 --device pjrt:/path/to/xla_cuda_plugin.so

Each program is tuned by the estimate (orders, implementations and flags: what a plugin takes). Its plans, the
one that is kept and those behind it, then run on the device, in pairs with the plugin's own compilation, and
the program that the kept one's passes make is held against the one given there. The table says what was
estimated and what was measured; the last lines how well the one ranks the other. Without --device there are
the estimates alone. Ends by itself after --minutes, with what there is by then; rows are kept in --out.

Where the GPU is another machine's, for an hour, the plans are made before:

    .venv-jax/bin/python bench/gpu/run.py FOLDER --target h100 --out plans.jsonl
    .venv-jax/bin/python bench/gpu/run.py FOLDER --from plans.jsonl --device pjrt:/path/to/xla_cuda_plugin.so
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from scipy.stats import kendalltau, spearmanr

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tune_table import programs_of  # noqa: E402, of bench/

STAGES = "order,implementation,flags"


def hone(arguments, *command):
    """What `hone COMMAND --json` prints; {"error": …} where it fails."""
    done = subprocess.run([arguments.hone, *command, "--json", "--quiet"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": {"message": (done.stderr.strip() or "no output")[-300:]}}


def rows_made_before(path):
    """The rows of an earlier --out, by the program's name without its folder."""
    with open(path, encoding="utf-8") as lines:
        return {os.path.basename(row["file"]): row["estimated"] for row in map(json.loads, lines)}


def tuned(arguments, file, before):
    """The row of `hone tune`, and its plans with their estimated speed-ups, the one that is kept first."""
    row = before.get(os.path.basename(file)) or hone(
        arguments, "tune", file, "--target", arguments.target, "--stages", STAGES,
        "--budget", arguments.budget)
    if "error" in row:
        return row, []
    plans = [(row["plan"], row["speedup"])] if row["kept"] == "tuned" else []
    plans += [(other["plan"], other["speedup"]) for other in row.get("others", [])]
    return row, plans[:arguments.plans]


def measured(arguments, file, plan, folder, known, check):
    """What a plan does on the device: {"speedup", "speedup_ci", "stock_ms", "same"}.

    A plugin is given what XLA:CPU's passes make, `known` by name: passes that XLA:GPU alone has are left out.
    """
    plan = {**plan, "passes": [one for one in plan["passes"] if not isinstance(one, str) or one in known]}
    path = os.path.join(folder, "plan.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(plan, out)
    row = hone(arguments, "bench", file, "--plan", path, "--device", arguments.device,
               "--budget", arguments.race)
    # Passes with decisions about single rewrites have no name to run them by.
    if check and "error" not in row and all(isinstance(name, str) for name in plan["passes"]):
        made = os.path.join(folder, "made.hlo")
        ran = hone(arguments, "run", file, "--passes", ",".join(plan["passes"]), "-o", made)
        verdict = ran if "error" in ran else hone(arguments, "check", file, made, "--device",
                                                  arguments.device)
        row["same"] = verdict.get("verdict", verdict.get("error"))
    return row


def ranks(pairs, what):
    if len(pairs) < 3:
        return f"{what}: {len(pairs)} pairs, too few to rank"
    estimates, times = zip(*pairs)
    return (f"{what}: {len(pairs)} pairs, Spearman {spearmanr(estimates, times)[0]:.2f}, "
            f"Kendall {kendalltau(estimates, times)[0]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="programs, or folders of them")
    parser.add_argument("--target", default="h100", help="what is estimated: the device's own kind")
    parser.add_argument("--device", help="pjrt:/path/to/plugin.so")
    parser.add_argument("--budget", default="20s", help="of tuning a program, by the estimate")
    parser.add_argument("--race", default="2s", help="of measuring a plan")
    parser.add_argument("--plans", type=int, default=3, help="of a program that are measured")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--out", help="rows, as lines of JSON")
    parser.add_argument("--from", dest="before", help="rows of an earlier --out: their plans are measured")
    parser.add_argument("--hone", default=os.path.join("build", "bin", "hone"))
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    before = rows_made_before(arguments.before) if arguments.before else {}
    known = {row["name"] for row in hone(arguments, "passes")["passes"]} if arguments.device else set()
    times, gains = [], []
    print("| program | stock, estimated ms | measured ms | plan, estimated | measured | 95 % | equal there |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for file in programs_of(arguments.files):
            if time.monotonic() > end:
                print(f"The {arguments.minutes:g} minutes are over.", file=sys.stderr)
                break
            row, plans = tuned(arguments, file, before)
            on_device = []
            if arguments.device:
                on_device = [measured(arguments, file, plan, folder, known, check=i == 0)
                             for i, (plan, _) in enumerate(plans)]
            if arguments.out:
                with open(arguments.out, "a", encoding="utf-8") as out:
                    out.write(json.dumps({"file": file, "estimated": row, "measured": on_device}) + "\n")
            show(file, row, plans, on_device)
            for i, one in enumerate(on_device):
                if "error" in one or one["same_executable"]:
                    continue
                if i == 0:
                    times.append((row["stock_ms"], one["stock_ms"]))
                gains.append((plans[i][1], one["speedup"]))
    if arguments.device:
        print("\n" + ranks(times, "Milliseconds of the stock compilation"))
        print(ranks(gains, "Speed-ups of plans"))


def show(file, row, plans, on_device):
    name = os.path.basename(file)
    if "error" in row or not row["stock_ms"]:
        why = row["error"]["message"] if "error" in row else row["reason"]
        print(f"| {name} | {why.splitlines()[0][:100]} | | | | | |", flush=True)
        return
    for i, (_, estimate) in enumerate(plans or [(None, 1.0)]):
        cells = ["", "", "", ""]
        if i < len(on_device):
            one = on_device[i]
            if "error" in one:
                cells[1] = one["error"]["message"].splitlines()[0][:80]
            else:
                low, high = one["speedup_ci"]
                cells = [f"{one['stock_ms']:.4g}", f"{one['speedup']:.3f}", f"[{low:.3f}, {high:.3f}]",
                         str(one.get("same", ""))[:60]]
        print(f"| {name if i == 0 else ''} | {row['stock_ms']:.4g} | {cells[0]} | {estimate:.3f} | "
              f"{cells[1]} | {cells[2]} | {cells[3]} |", flush=True)


if __name__ == "__main__":
    main()
