#!/usr/bin/env python3
"""A row a program: pairs eliminated, DRAM bytes by the lower bound, copies, planning time, verdict.

usage: bench/memory_table.py FOLDER [--machine neuroncore_v2] [--budget 60s] [--hone build/bin/hone]
"""
import argparse
import json
import pathlib
import subprocess
import sys


def row(hone, file, machine, budget, limit):
    """The table's cells for one program; the reason in place of figures where there are none."""
    command = [hone, "memory", str(file), "--machine", machine, "--budget", budget, "--json", "-q"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return [file.stem, f"no plan within {limit:.0f} s", "", "", "", "", ""]
    if ran.returncode != 0:
        lines = ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"]
        return [file.stem, lines[-1][:100], "", "", "", "", ""]
    plan = json.loads(ran.stdout)
    dram, copies = plan["dram_bytes"], plan["copies_on_chip"]
    by_bound = [f"{dram[of] / max(1, dram['bound']):.3f}" for of in ("operator", "local", "hone")]
    return [file.stem, f"{plan['pairs_eliminated']}/{plan['pairs']}", " ".join(by_bound),
            f"{copies['local']} {copies['hone']}", f"{plan['planning_seconds']:.1f}",
            json.dumps(plan["verified"]), ", ".join(plan["conservative"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--machine", default="neuroncore_v2")
    parser.add_argument("--budget", default="60s", help="of planning, a program")
    parser.add_argument("--limit", type=float, default=300, help="seconds for everything, a program")
    parser.add_argument("--hone", default="build/bin/hone")
    options = parser.parse_args()
    print("| program | pairs | DRAM by bound: one by one, local, hone | copies: local, hone | s "
          "| verified | bounded |\n|---|---|---|---|---|---|---|")
    files = sorted(f for f in options.folder.rglob("*") if f.suffix in (".hlo", ".txt"))
    for file in files:
        cells = row(options.hone, file, options.machine, options.budget, options.limit)
        print("| " + " | ".join(cells) + " |", flush=True)
    return 0 if files else 2


if __name__ == "__main__":
    sys.exit(main())
