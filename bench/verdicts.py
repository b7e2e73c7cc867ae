#!/usr/bin/env python3
"""Runs `hone optimize` and `hone tune` over programs, both verified, and prints what came of each.

  bench/verdicts.py tests/linear_algebra/programs --out rows.jsonl
  bench/verdicts.py FOLDER --commands optimize --optimize 1s

A row a program: exit codes, verdicts, what was gained, and the seconds that verification took beyond
compiling. Rows are kept in --out as lines of JSON; what is there already is not run again.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

from tune_table import programs_of


def run(command, timeout):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"exit": None, "error": {"message": f"not done after {timeout} s"}}
    try:
        row = json.loads(done.stdout)
    except ValueError:
        row = {"error": {"message": done.stderr.strip()[-300:] or "no output"}}
    row["exit"] = done.returncode
    return row


def optimised(arguments, file, folder):
    out = os.path.join(folder, "optimised.hlo")
    return run([arguments.hone, "optimize", file, "--actions", "simplify+rules", "--budget",
                arguments.optimize, "-o", out, "--json", "--quiet"], arguments.timeout)


def tuned(arguments, file, _):
    return run([arguments.hone, "tune", file, "--budget", arguments.tune, "--json", "--quiet"],
               arguments.timeout)


COMMANDS = {"optimize": optimised, "tune": tuned}


def verdict(row):
    """In a word: a plan that is not kept needs no verdict."""
    if "error" in row:
        return "failed: " + row["error"]["message"].splitlines()[0][:90]
    if row.get("kept") == "stock" and row["verified"] in ("skipped", True):
        return "stock: " + row["reason"][:90]
    if row["verified"] is True:
        return "equal"
    return f"{row['verified']}: {row['verification']['reason'][:90]}"


def gain(row):
    """Instructions of XLA's own order by hone's, or the speed-up."""
    if "error" in row:
        return None
    return row["speedup"] if "speedup" in row else row["default"] / max(1, row["result"])


def beyond_compiling(row):
    """Processor seconds of the last comparison, all but compiling the two programs."""
    return row.get("verification", {}).get("processor_seconds")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--hone", default="build/bin/hone")
    parser.add_argument("--commands", default="optimize,tune")
    parser.add_argument("--optimize", default="1s", help="its budget (%(default)s)")
    parser.add_argument("--tune", default="3s", help="its budget (%(default)s)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one command")
    parser.add_argument("--out", help="rows as lines of JSON")
    arguments = parser.parse_args()
    known = {}
    if arguments.out and os.path.exists(arguments.out):
        with open(arguments.out, encoding="utf-8") as file:
            known = {(row["file"], row["command"]): row for row in map(json.loads, file)}
    commands = arguments.commands.split(",")
    rows = []
    print("| program | " + " | ".join(f"{c} exit | verdict | gain" for c in commands) + " |")
    print("|---" * (1 + 3 * len(commands)) + "|")
    for file in programs_of(arguments.paths):
        cells = [os.path.splitext(os.path.basename(file))[0]]
        for command in commands:
            row = known.get((file, command))
            if row is None:
                with tempfile.TemporaryDirectory() as folder:
                    row = COMMANDS[command](arguments, file, folder)
                row.update(file=file, command=command)
                if arguments.out:
                    with open(arguments.out, "a", encoding="utf-8") as out:
                        out.write(json.dumps(row) + "\n")
            rows.append(row)
            value = gain(row)
            cells += [str(row["exit"]), verdict(row), "" if value is None else f"{value:.3f}"]
        print("| " + " | ".join(cells) + " |", flush=True)
    for command in commands:
        those = [row for row in rows if row["command"] == command]
        words = [verdict(row).split(":")[0] for row in those]
        counts = ", ".join(f"{word} {words.count(word)}" for word in sorted(set(words)))
        codes = [str(row["exit"]) for row in those]
        exits = ", ".join(f"{code} x {codes.count(code)}" for code in sorted(set(codes)))
        line = f"\n{command}: {len(those)} programs; exit codes {exits}; {counts}"
        better = [gain(row) for row in those if gain(row) is not None]
        if better:
            line += f"; gain {statistics.geometric_mean(better):.3f} in the geometric mean"
        seconds = [row["seconds"] for row in those if "seconds" in row]
        if seconds:
            line += f"; {statistics.median(seconds):.1f} s in the median, {max(seconds):.1f} at most"
        beyond = [beyond_compiling(row) for row in those if beyond_compiling(row) is not None]
        if beyond:
            line += (f"; verification beyond compiling takes {statistics.median(beyond):.2f} s of "
                     f"processor time in the median, {max(beyond):.1f} at most")
        print(line + ".")


if __name__ == "__main__":
    main()
