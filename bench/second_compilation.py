#!/usr/bin/env python3
"""How much faster a program compiles in a second process, once another one has compiled it.

For each program (a file, or all of a folder's .hlo and .txt) `hone bench` runs twice with a new folder for machine
code and for what passes made (--kernel-folder): the seconds of the first compilation, of the second, and their ratio,
without a plan and, with --plan, under it. Geometric means at the end.

  bench/second_compilation.py models/ --plan kernels.json
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile


def compile_seconds(hone, program, plan, folder):
    command = [hone, "bench", str(program), "--budget", "1s", "-q", "--json", "--kernel-folder", folder]
    ran = subprocess.run(command + (["--plan", plan] if plan else []), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        return None
    return json.loads(ran.stdout)["compile_seconds"]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--plan", help="also under this plan")
    parser.add_argument("--hone", default="build/bin/hone")
    arguments = parser.parse_args()
    files = []
    for path in arguments.programs:
        files += sorted(p for p in path.rglob("*") if p.suffix in (".hlo", ".txt")) if path.is_dir() else [path]
    print("| program | first s | second s | times |" + (" first s, plan | second s | times |" if arguments.plan else ""))
    print("|---|---|---|---|" + ("---|---|---|" if arguments.plan else ""))
    ratios = ([], [])
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            first = compile_seconds(arguments.hone, file, arguments.plan, folder)
            second = compile_seconds(arguments.hone, file, arguments.plan, folder) if first else None
        if not second:
            print(f"| {file.stem} | does not compile or run here |", flush=True)
            continue
        row = f"| {file.stem} |"
        for which in range(2 if arguments.plan else 1):
            ratios[which].append(first[which] / second[which])
            row += f" {first[which]:.2f} | {second[which]:.3f} | {ratios[which][-1]:.1f} |"
        print(row, flush=True)
    for which in range(2 if arguments.plan else 1):
        under = " under the plan" if which else ""
        print(f"geometric mean{under}, {len(ratios[which])} programs: {geometric_mean(ratios[which]):.1f}")


if __name__ == "__main__":
    main()
