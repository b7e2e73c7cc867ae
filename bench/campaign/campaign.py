#!/usr/bin/env python3
"""Programs that nobody wrote, through hone's commands: what ends hone, fails without need or breaks a law?

  bench/campaign/campaign.py run FOLDER --out OUT --count 5000   changes programs of FOLDER, tries them
  bench/campaign/campaign.py table OUT                           what came of it, by command and fault
  bench/campaign/campaign.py again OUT                           what went wrong, once more by today's hone
  bench/campaign/campaign.py reduce OUT MUTANT COMMAND           a smaller program with the same fault

Programs are cut into parts, changed and put together as --seed says; `run` with the same OUT goes on where
it was stopped. A mutant that XLA's parser and verifier take goes through the commands, each with the share
that --shares says; one that they do not take must be refused. Rows are in OUT/results.jsonl, programs with
a fault in OUT/findings. Needs hone's Python package: PYTHONPATH=python .venv/bin/python.
"""

import argparse
import collections
import json
import os
import random
import sys
import time

import mutate
import splice
from commands import Commands
from program import Program
from reduce import reduce_program

SHARES = {"optimize": 1, "workbench": 1, "run": 0.2, "rewrites": 0.2, "memory": 0.4, "check": 0.1,
          "replay": 0.2, "tune": 0.03, "refuse": 0.3}
TOGETHER = ("stats", "optimize", "workbench")  # by one process for many files
MOST_INSTRUCTIONS = 250  # of a part
BATCH = 40
MOST_BYTES, MOST_FLOPS = 32e6, 3e8  # of what is compiled and run


def say(progress):
    """One line that changes, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{progress} ", end="", file=sys.stderr, flush=True)


def cut(folder, out, seed, each):
    """Small programs of the folder, and parts of all, into OUT/parts; a folder's are made once."""
    parts = os.path.join(out, "parts")
    if os.path.exists(os.path.join(parts, "all")):
        return
    from hone import _core, fetch_xla
    bench = _core.Workbench({"worker_path": fetch_xla.ready_worker()})
    os.makedirs(parts, exist_ok=True)
    files = sorted(os.path.join(at, n) for at, _, names in os.walk(folder) for n in names
                   if n.endswith((".hlo", ".txt", ".pb")))
    for number, file in enumerate(files):
        say(f"{number + 1} of {len(files)} programs cut")
        with open(file, "rb") as data:
            try:
                state = bench.load(data.read())
            except (RuntimeError, ValueError) as error:
                print(f"\n{file} is left out: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
        texts = [bench.text(state)] if state.op_count <= MOST_INSTRUCTIONS else []
        for k in range(each):
            depth = 2 + (seed + k) % 9
            texts += bench.extract(state, "random", seed * 1000 + k, depth)
        for k, text in enumerate(dict.fromkeys(texts)):
            if text.count("\n") <= 2 * MOST_INSTRUCTIONS and "{...}" not in text:
                with open(os.path.join(parts, f"{number:03}.{k}.hlo"), "w", encoding="utf-8") as to:
                    to.write(text)
    open(os.path.join(parts, "all"), "w", encoding="utf-8").close()


class Mutants:
    """Texts by number."""

    def __init__(self, out, seed):
        self.seed = seed
        self.parts = {}
        folder = os.path.join(out, "parts")
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".hlo"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                try:
                    self.parts.setdefault(name.split(".")[0], []).append(Program(file.read()))
                except (ValueError, AttributeError, IndexError):  # no text that we can read
                    continue

    def _part(self, rng):
        return rng.choice(self.parts[rng.choice(list(self.parts))]).copy()

    def make(self, number):
        """(what was done, the text)"""
        rng = random.Random(f"{self.seed}/{number}")
        program, done = self._part(rng), []
        if rng.random() < 0.7 and mutate.small(program, rng):
            done.append("small")
        for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
            if rng.random() < 0.15:
                change = rng.choice(splice.SPLICES)
                made = change(program.copy(), self._part(rng), rng)
                changed = made is not None
                program = made or program
            else:
                change = rng.choice(mutate.MUTATIONS)
                changed = change(program, rng)
            if changed:
                done.append(change.__name__)
        text = str(program)
        if rng.random() < 0.08:
            text = mutate.damage(text, rng)
            done.append("damage")
        return done, text


class Results:
    """Rows by mutant and command, kept in OUT/NAME as lines of JSON."""

    def __init__(self, out, name="results.jsonl"):
        self.path = os.path.join(out, name)
        self.rows = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    self.rows[row["mutant"], row["command"]] = row

    def add(self, mutant, command, answer, **more):
        code, fault, seconds, remarks = answer
        row = {"mutant": mutant, "command": command, "exit": code, "fault": fault,
               "seconds": round(seconds, 2), "remarks": remarks, **more}
        self.rows[mutant, command] = row
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return row


class Campaign:
    def __init__(self, options):
        self.options = options
        self.shares = SHARES | {name: float(share) for name, share in
                                (s.split("=") for s in options.shares.split(",") if s)}
        self.results = Results(options.out)
        self.mutants = Mutants(options.out, options.seed)
        self.commands = Commands(options.hone, options.out, options.limit, options.memory)
        self.findings = os.path.join(options.out, "findings")
        os.makedirs(self.findings, exist_ok=True)
        os.makedirs(os.path.join(options.out, "mutants"), exist_ok=True)

    def _file(self, number):
        return f"{self.options.out}/mutants/{number:06}.hlo"

    def _add(self, number, command, answer, **more):
        row = self.results.add(number, command, answer, **more)
        if row["fault"] is not None and not (command == "stats" and row["exit"] == 2):
            with open(self._file(number), "rb") as a:
                with open(f"{self.findings}/{number:06}.hlo", "wb") as b:
                    b.write(a.read())
        return row

    def _draw(self, number, command):
        rng = random.Random(f"{self.options.seed}/{number}/{command}")
        return rng if rng.random() < self.shares[command] else None

    def restore(self, number):
        """Its file, made anew where it is no finding."""
        found = f"{self.findings}/{number:06}.hlo"
        if os.path.exists(found):
            return found
        with open(self._file(number), "w", encoding="utf-8", errors="replace") as file:
            file.write(self.mutants.make(number)[1])
        return self._file(number)

    def one(self, command, file):
        """A command on one mutant; it draws as it did."""
        if command in ("check", "replay"):
            self.commands.optimize([file])
        if command in TOGETHER:
            return getattr(self.commands, command)([file])[file]
        number = int(os.path.basename(file).split(".")[0])
        rng = random.Random(f"{self.options.seed}/{number}/{command}")
        rng.random()  # the draw of the share
        return getattr(self.commands, command)(file, rng)

    def _left(self, numbers, command):
        return [n for n in numbers if (n, command) not in self.results.rows]

    def batch(self, numbers):
        made = {}
        for number in numbers:
            made[number], text = self.mutants.make(number)
            with open(self._file(number), "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
        self._several("stats", numbers, made)
        rows = {n: self.results.rows[n, "stats"] for n in numbers}
        legal = [n for n in numbers if rows[n]["exit"] == 0]
        # [fingerprint, instructions, flops, peak memory, bytes, elided constants]
        light = [n for n in legal if rows[n]["remarks"][2] < MOST_FLOPS and
                 rows[n]["remarks"][4] < MOST_BYTES and not rows[n]["remarks"][5]]
        self._several("optimize", [n for n in light if self._draw(n, "optimize")])
        self._several("workbench", [n for n in light if self._draw(n, "workbench")])
        for command, of in (("check", light), ("replay", light), ("memory", light), ("tune", light),
                            ("run", legal), ("rewrites", legal),
                            ("refuse", [n for n in numbers if rows[n]["exit"] == 2])):
            for number in self._left(of, command):
                rng = self._draw(number, command)
                if rng is None:
                    continue
                answer = getattr(self.commands, command)(self._file(number), rng)
                if answer is not None:
                    self._add(number, command, answer)
        self._reread(legal)
        self.commands.clear()
        for number in numbers:
            os.remove(self._file(number))

    def _several(self, command, numbers, made=None):
        left = self._left(numbers, command)
        if not left:
            return
        answers = getattr(self.commands, command)([self._file(n) for n in left])
        for number in left:
            more = {"made": made[number]} if made else {}
            self._add(number, command, answers[self._file(number)], **more)

    def _reread(self, legal):
        """What was written is a program, and of optimize the one that it said."""
        for kind, of in (("outputs", "optimize"), ("runs", "run"), ("rewritten", "rewrites")):
            files = {n: f"{self.options.out}/{kind}/{n:06}.hlo" for n in
                     self._left(legal, "reread " + kind)}
            files = {n: file for n, file in files.items() if os.path.exists(file)}
            if not files:
                continue
            answers = self.commands.stats(list(files.values()))
            for number, file in files.items():
                code, fault, seconds, remarks = answers[file]
                said = self.results.rows.get((number, of), {}).get("remarks")
                if of == "optimize" and fault is None and said and said[0] != remarks[0]:
                    fault = "another program than optimize said"
                self._add(number, "reread " + kind, (code, fault, seconds, []))

    def run(self):
        begin = time.monotonic()
        for first in range(self.options.first, self.options.first + self.options.count, BATCH):
            numbers = range(first, min(first + BATCH, self.options.first + self.options.count))
            if all((n, "end") in self.results.rows for n in numbers):
                continue
            if time.monotonic() - begin > self.options.seconds:
                break
            self.batch(list(numbers))
            for number in self._left(numbers, "end"):
                self.results.add(number, "end", (0, None, 0, []))
            faults = sum(counts_as_fault(r) for r in self.results.rows.values())
            say(f"{first + len(numbers)} mutants, {len(self.results.rows)} rows, {faults} faults, "
                f"{time.monotonic() - begin:.0f} s")


def counts_as_fault(row):
    """That XLA refuses a mutant is what most mutants are for."""
    return row["fault"] is not None and not (
        row["command"] == "stats" and row["exit"] == 2 and "path of" not in row["fault"])


def table(rows):
    """By command; then by fault, the commonest first, with a mutant that has it."""
    commands = collections.defaultdict(list)
    for row in rows:
        if row["command"] != "end":
            commands[row["command"]].append(row)
    lines = ["| command | runs | exit codes | signals | broken invariants | other faults | median s |",
             "|---|---|---|---|---|---|---|"]
    for command, of in commands.items():
        codes = collections.Counter(r["exit"] for r in of)
        faults = [r["fault"] for r in of if counts_as_fault(r)]
        signals = sum(f.startswith("signal") for f in faults)
        broken = sum(f.startswith("broken invariant") for f in faults)
        seconds = sorted(r["seconds"] for r in of)[len(of) // 2]
        told = ", ".join(f"{c}: {n:,}" for c, n in sorted(codes.items()))
        lines.append(f"| {command} | {len(of):,} | {told} | {signals} | {broken} | "
                     f"{len(faults) - signals - broken} | {seconds:.2f} |")
    found = collections.defaultdict(list)
    for row in rows:
        if counts_as_fault(row):
            found[row["command"], row["fault"]].append(row["mutant"])
    lines += ["", "| times | command | fault | first |", "|---|---|---|---|"]
    for (command, fault), of in sorted(found.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {len(of)} | {command} | {fault.replace('|', '/')} | {min(of)} |")
    return "\n".join(lines)


def again(options):
    """Every row with a fault, and --sample rows a command that had none, made once more."""
    campaign = Campaign(options)
    before, after = campaign.results.rows.values(), Results(options.out, options.name)
    chosen = [r for r in before if counts_as_fault(r)]
    of_command = collections.defaultdict(list)
    for row in before:
        if row["fault"] is None and row["command"] != "end":
            of_command[row["command"]].append(row)
    for command, rows in sorted(of_command.items()):
        rows.sort(key=lambda r: r["mutant"])
        rng = random.Random(f"{options.seed}/{command}")
        chosen += rng.sample(rows, min(options.sample, len(rows)))
    for row in sorted(chosen, key=lambda r: r["mutant"]):
        number, command = row["mutant"], row["command"]
        if (number, command) in after.rows or command.startswith("reread"):
            continue
        answer = campaign.one(command, campaign.restore(number))
        if answer is not None:
            after.add(number, command, answer, before=row["fault"])
    campaign.commands.clear()
    print(pairs(after.rows.values()))
    print("\n" + table(list(after.rows.values())))


def pairs(rows):
    """By command: rows that had a fault and have none now, and so on."""
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        now = counts_as_fault(row)
        counts[row["command"]][row["before"] is not None, now] += 1
    lines = ["| command | again | mended | still at fault | newly at fault | well both times |",
             "|---|---|---|---|---|---|"]
    for command, of in sorted(counts.items()):
        lines.append(f"| {command} | {sum(of.values()):,} | {of[True, False]} | {of[True, True]} | "
                     f"{of[False, True]} | {of[False, False]:,} |")
    return "\n".join(lines)


def reduce_one(options):
    campaign = Campaign(options)
    wanted = campaign.results.rows[options.mutant, options.command]["fault"]
    file = f"{options.out}/mutants/{options.mutant:06}.hlo"

    def fails(text):
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        answer = campaign.one(options.command, file)
        return answer is not None and answer[1] == wanted

    with open(campaign.restore(options.mutant), encoding="utf-8") as of:
        text = reduce_program(of.read(), fails, options.seconds)
    with open(f"{options.out}/reduced.hlo", "w", encoding="utf-8") as out:
        out.write(text)
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    for name in ("run", "again", "reduce", "table"):
        action = actions.add_parser(name)
        if name == "run":
            action.add_argument("folder", help="of programs")
            action.add_argument("--out", required=True)
            action.add_argument("--count", type=int, default=5000)
            action.add_argument("--first", type=int, default=0)
            action.add_argument("--cuts", type=int, default=12, help="parts of a program, at most")
        else:
            action.add_argument("out")
        if name == "again":
            action.add_argument("--name", default="again.jsonl", help="in OUT, where rows are kept")
            action.add_argument("--sample", type=int, default=0, help="of what had no fault, a command")
        if name == "reduce":
            action.add_argument("mutant", type=int)
            action.add_argument("command")
        action.add_argument("--hone", default="build/bin/hone")
        action.add_argument("--seed", type=int, default=1)
        action.add_argument("--shares", default="", help="such as tune=0.1,memory=1")
        action.add_argument("--seconds", type=float, default=float("inf"), help="then it stops")
        action.add_argument("--limit", type=float, default=120, help="seconds of a command on a program")
        action.add_argument("--memory", default="3GiB", help="that a worker may take")
    options = parser.parse_args()
    try:
        if options.action == "run":
            os.nice(10)
            os.makedirs(options.out, exist_ok=True)
            cut(options.folder, options.out, options.seed, options.cuts)
            Campaign(options).run()
        elif options.action == "again":
            again(options)
        elif options.action == "reduce":
            reduce_one(options)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
    if options.action in ("run", "table"):
        print("\n" + table(list(Results(options.out).rows.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
