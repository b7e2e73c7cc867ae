"""Runs hone's commands on a program, and says what of it should not have been."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

BUILD_PATH = re.compile(r"(?<![\w.])(?:/[\w.+\-]+)+/[\w.+\-]+\.(?:cc|h|cpp)\b")
# A pass of XLA that fails is a failed pass: exit 3 is right.
PASS_FAILED = re.compile(r"pass '?[\w:\-]+'? fails|of --after fails|these rewrites of \S+ fail")


@dataclass
class Ran:
    code: int  # the exit code; minus the signal that ended it; 0 and `late` where it was ended here
    out: str
    err: str
    seconds: float
    late: bool = False

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return None


def run(arguments, limit, given=""):
    """A command in a process group of its own, ended after `limit` seconds and at Ctrl-C."""
    begin = time.monotonic()
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    late = False
    try:
        out, err = process.communicate(given.encode(), timeout=limit)
    except subprocess.TimeoutExpired:
        late = True
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return Ran(0 if late else process.returncode, out.decode(errors="replace"),
               err.decode(errors="replace"), time.monotonic() - begin, late)


def signature(text):
    """A message without what is another in each program: names, numbers, addresses."""
    text = re.sub(r"\S*/\S+\.(hlo|json)\b", "FILE", text.strip())
    text = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{32}\b", "HEX", text)
    text = re.sub(r"[%']?\b(?=[\w.\-]*[a-z])[\w\-]+(\.[\w\-]+)*\.\d+[\w.\-]*'?", "NAME", text)
    text = re.sub(r"\b\w+\[[^\]]*\](\{[^}]*\})?", "SHAPE", text)
    return re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)?", "N", text))[:200]


def common_fault(ran, limit):
    """What no command may do, whatever it is given; None where all is well."""
    if ran.late:
        return f"still running after {limit:g} s"
    words = ran.err + ran.out
    if "broken invariant" in words:
        return "broken invariant: " + signature(words[words.index("broken invariant") + 16:])
    if ran.code < 0:
        return f"signal {-ran.code}"
    if path := BUILD_PATH.search(ran.err):
        return "a path of the build machine: " + path[0]
    return None


def first_message(ran):
    lines = [line for line in ran.err.splitlines() if line.startswith("hone: ")]
    return next((line for line in lines if "warning:" not in line), (lines or [""])[0])


class Commands:
    """Each method answers (exit code, fault or None, seconds, remarks) for a file; those in the plural
    a dictionary of these by file. What is drawn depends on the file's own generator only."""

    def __init__(self, hone, folder, limit, memory):
        self.hone = hone
        self.folder = folder
        self.limit = limit
        self.more = ["--json", "-q", "--memory-limit", memory]
        passes = json.loads(subprocess.run([hone, "passes", "--json"], check=True,
                                           capture_output=True).stdout)
        passes = passes.get("passes", passes) if isinstance(passes, dict) else passes
        self.passes = [p["name"] for p in passes]

    def _run(self, command, arguments, limit=None):
        return run([self.hone, command, *arguments, *self.more], limit or self.limit)

    def _path(self, kind, file):
        os.makedirs(f"{self.folder}/{kind}", exist_ok=True)
        stem = os.path.splitext(os.path.basename(file))[0]
        return f"{self.folder}/{kind}/{stem}" + (".json" if kind in ("recipes", "plans") else ".hlo")

    def _single(self, command, arguments, judge, also=()):
        """`judge` is asked where the exit code is 0 or one of `also`."""
        ran = self._run(command, arguments)
        fault, remarks = common_fault(ran, self.limit), []
        if fault is None:
            answer = ran.json()
            failed = isinstance(answer, dict) and "error" in answer
            if ran.code not in (0, *also) or failed:
                fault = f"exit {ran.code}: {signature(first_message(ran))}"
                if ran.code == 3 and PASS_FAILED.search(ran.err):
                    fault, remarks = None, [signature(first_message(ran))]
            elif answer is None:
                fault = "what it prints is no JSON"
            else:
                fault, remarks = judge(answer)
        return ran.code, fault, ran.seconds, remarks

    def _several(self, command, files, arguments, judge):
        """One process for all files; one each where that one failed as a whole."""
        ran = self._run(command, [*files, *arguments], self.limit + 10 * len(files))
        answer = None if common_fault(ran, self.limit) else ran.json()
        rows = answer and (answer.get("results") or [answer])
        if rows is None or len(rows) != len(files):
            if len(files) > 1:
                found = {}
                for half in (files[:len(files) // 2], files[len(files) // 2:]):
                    found |= self._several(command, half, arguments, judge)
                return found
            if rows is None:
                fault = common_fault(ran, self.limit) or "what it prints is no JSON"
                return {files[0]: (ran.code, fault, ran.seconds, [])}
        found = {}
        for file, row in zip(files, rows):
            seconds = row.get("seconds", ran.seconds / len(files))
            if "error" in row:
                code, message = row["error"]["code"], row["error"]["message"]
                bad = code in ("invalid_input", "unsupported")
                path = BUILD_PATH.search(message)
                found[file] = (2 if bad else 3,
                               "a path of the build machine: " + path[0] if path and not bad else
                               f"{code}: {signature(message)}", seconds, [])
            else:
                found[file] = (3 if "withheld" in row else 0, *judge(file, row, seconds))
        return found

    def stats(self, files):
        def judge(file, row, seconds):
            return None, seconds, [row["fingerprint"], row["instructions"], row["flops"],
                                   row["peak_memory"], row["bytes"], row["elided_constants"]]
        return self._several("stats", files, [], judge)

    def optimize(self, files):
        """Writes to outputs/ and recipes/ of the folder."""
        outputs, recipes = [os.path.dirname(self._path(k, files[0])) for k in ("outputs", "recipes")]
        if len(files) == 1:
            outputs, recipes = self._path("outputs", files[0]), self._path("recipes", files[0])

        def judge(file, row, seconds):
            fault = None
            if row["result"] > row["default"] and not row["rejected"] and "no_default" not in row:
                fault = "worse than XLA's own order"
            elif "withheld" in row:
                fault = "not verified: " + signature(row["verification"]["reason"])
            elif not os.path.exists(self._path("outputs", file)):
                fault = "verified, but not written"
            elif row.get("search_seconds", 0) > 10:
                fault = "searches far beyond its budget"
            remarks = [row["fingerprint"]] + ["rejected: " + signature(r) for r in row["rejected"]]
            return fault, seconds, remarks + [
                f"pass {f['pass']}: {signature(f['why'])}" for f in row["failures"]]

        return self._several(
            "optimize", files, ["-o", outputs, "--recipe", recipes, "--budget", "0.3s,300steps",
                                "--actions", "simplify+rules", "--workers", "1", "--verify-budget", "20s"], judge)

    def workbench(self, files):
        """See workbench.py; one that ends it is told apart from those after it."""
        found = {}
        child = [sys.executable, os.path.join(os.path.dirname(__file__), "workbench.py")]
        while left := [f for f in files if f not in found]:
            lines = "".join(json.dumps({"file": f, "seed": os.path.basename(f)}) + "\n" for f in left)
            ran = run(child, self.limit + 10 * len(left), lines)
            for line in ran.out.splitlines():
                row = json.loads(line)
                code = 0 if row["fault"] is None else 3
                found[row["file"]] = (code, row["fault"], row["seconds"], row["remarks"])
            guilty = next((f for f in left if f not in found), None)
            if guilty is not None:
                fault = common_fault(ran, self.limit) or f"exit {ran.code}: {signature(ran.err[-300:])}"
                found[guilty] = (ran.code, fault, ran.seconds, [])
        return found

    def check(self, file, rng):
        """The program against the optimised one."""
        def judge(answer):
            if answer["verdict"] == "equal":
                return None, []
            return f"{answer['verdict']} after optimize: {signature(answer['reason'])}", []
        other = self._path("outputs", file)
        if not os.path.exists(other):
            return None
        return self._single("check", [file, other, "--budget", "20s"], judge, also=(1, 4))

    def replay(self, file, rng):
        recipe, again = self._path("recipes", file), self._path("again", file)
        if not os.path.exists(recipe):
            return None

        def judge(answer):
            with open(again, "rb") as a, open(self._path("outputs", file), "rb") as b:
                return (None if a.read() == b.read() else "other bytes than optimize wrote"), []
        return self._single("replay", [recipe, "--program", file, "-o", again], judge)

    def run(self, file, rng):
        names = [rng.choice(self.passes) for _ in range(rng.choice([1, 2, 3, 5, 8]))]
        out = self._path("runs", file)

        def judge(answer):
            remarks = [f"pass {p['pass']}: {signature(p['failure'])}"
                       for p in answer["passes"] if "failure" in p]
            return (None if os.path.exists(out) else "nothing written"), remarks
        return self._single("run", [file, "--passes", ",".join(names), "--keep-going", "-o", out],
                            judge, also=(3,))

    def rewrites(self, file, rng):
        arguments = [file, "--pass", rng.choice(self.passes)]
        if rng.random() < 0.6:
            which = rng.choice(["all", "half", "shrinking", "none"])
            arguments += ["--apply", which, "--seed", str(rng.randrange(99)),
                          "-o", self._path("rewritten", file)]
            if rng.random() < 0.2:
                arguments.append("--verify")

        def judge(answer):
            if answer.get("verified") == "false":
                return "different after rewrites: " + signature(answer["verification_reason"]), []
            return None, []
        return self._single("rewrites", arguments, judge, also=(1,))

    def memory(self, file, rng):
        def judge(answer):
            if answer["verified"] is False:
                return "not verified: " + signature(answer["verification"]), []
            if answer["planning_seconds"] > 5:
                return "plans far beyond its budget", []
            return None, []
        return self._single("memory", [file, "--budget", "1s", "--verify-gflops", "1"], judge,
                            also=(3,))

    def tune(self, file, rng):
        plan = self._path("plans", file)

        def judge(answer):
            if answer["seconds"] > 60:
                return "tunes far beyond its budget", []
            if answer["kept"] == "tuned" and answer["verified"] is not True:
                return "kept, but not verified", []
            return None, [answer["kept"] + ": " + signature(answer["reason"])] + [
                "rejected: " + signature(r) for r in answer["rejected"]]
        return self._single("tune", [file, "--budget", "2s", "--plan", plan], judge)

    def refuse(self, file, rng):
        """A file that is no program, to some command: exit 2, one message, nothing written."""
        out = self._path("refused", file)
        if os.path.exists(out):
            os.remove(out)
        arguments = rng.choice([
            ["run", file, "--passes", "dce", "-o", out], ["memory", file, "-o", out],
            ["optimize", file, "--budget", "0.3s", "-o", out], ["tune", file, "--budget", "2s"],
            ["rewrites", file, "--pass", "algsimp", "--apply", "all", "-o", out],
            ["check", file, file], ["graph", file, "-o", out]])
        ran = run([self.hone, *arguments], self.limit)
        fault = common_fault(ran, self.limit)
        lines = ran.err.splitlines()
        if fault is None and ran.code != 2:
            fault = f"{arguments[0]}: exit {ran.code} for bad input: {signature(first_message(ran))}"
        elif fault is None and (not lines or not lines[0].startswith("hone: ") or
                                any(not line.startswith("  ") for line in lines[1:])):
            fault = f"{arguments[0]}: not one message"
        elif fault is None and (ran.out or os.path.exists(out)):
            fault = f"{arguments[0]}: something was written"
        return ran.code, fault, ran.seconds, [] if fault is None else [ran.err[:1000]]

    def clear(self):
        """What the commands have written."""
        for kind in ("outputs", "recipes", "again", "runs", "rewritten", "plans", "refused"):
            shutil.rmtree(f"{self.folder}/{kind}", ignore_errors=True)
