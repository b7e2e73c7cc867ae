"""Passes and rewrites on many programs by one worker, through hone's Python package: a child of the campaign.

Reads lines of JSON, {"file", "seed"}; answers each with a line {"file", "fault", "remarks", "seconds"}.
"""

import json
import random
import sys
import time

from commands import signature


def examine(bench, file, rng):
    """(fault or None, remarks): random passes; what came of them read again; some rewrites of one more."""
    from hone import _core
    with open(file, "rb") as data:
        first = state = bench.load(data.read())
    remarks, done = [], []
    for _ in range(rng.choice([1, 2, 4, 8])):
        name = rng.choice(bench.passes)
        state, changed, failure = bench.apply(state, name, verify=True)
        if failure:
            remarks.append(f"pass {name}: {signature(failure)}")
        elif changed:
            done.append(name)
    for form, written in (("text", bench.text(state).encode()), ("proto", bench.proto(state))):
        try:
            again = bench.load(written)
        except (RuntimeError, ValueError) as error:
            return f"its {form} cannot be read again after {done[-1:]}: {signature(str(error))}", remarks
        # Text has no schedule's order of computations, and gives every shape a layout.
        if form == "proto" and again.fingerprint != state.fingerprint or again.op_count != state.op_count:
            return f"its {form} is another program after {done[-1:]}", remarks
    bench.metrics(state)
    bench.arrays(state)
    name = rng.choice(bench.passes)
    try:
        bench.rewrites(state, name)
    except RuntimeError as error:
        if "killed" in str(error):
            raise
        remarks.append(f"rewrites of {name}: {signature(str(error))}")  # the pass fails as a whole
    half = _core.Decisions("half", rng.randrange(99))
    rewritten, changed, failure = bench.apply(state, name, half, verify=True)
    if failure:
        remarks.append(f"half of {name}: {signature(failure)}")
    elif changed:
        done.append(name)
    if done and rng.random() < 0.2 and first.op_count < 400:
        try:
            found = bench.compare(first, rewritten, 2, 10.0, 1)
        except RuntimeError as error:  # XLA cannot compile or end it: no verdict
            return None, remarks + ["no verdict: " + signature(str(error))]
        if found["verdict"] == "different":
            return f"different after {','.join(done)}: {signature(found['reason'])}", remarks
        remarks.append(f"compared: {found['verdict']} {signature(found['reason'])}")
    return None, remarks


def main():
    from hone import _core, fetch_xla
    bench = _core.Workbench({"worker_path": fetch_xla.ready_worker(), "pass_deadline": 20.0})
    for line in sys.stdin:
        asked = json.loads(line)
        begin = time.monotonic()
        try:
            fault, remarks = examine(bench, asked["file"], random.Random(asked["seed"]))
        except (RuntimeError, ValueError) as error:
            fault, remarks = "error: " + signature(str(error)), []
        print(json.dumps({"file": asked["file"], "fault": fault, "remarks": remarks,
                          "seconds": time.monotonic() - begin}), flush=True)


if __name__ == "__main__":
    main()
