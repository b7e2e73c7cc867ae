#!/usr/bin/env python3
"""Runs the programs that users have reported to be slow: stock JAX, with hone, and by hand.

  .venv-jax/bin/python bench/users/run.py                        every kind, middle size, float32
  .venv-jax/bin/python bench/users/run.py --sizes all --dtypes all --out users.jsonl
  .venv-jax/bin/python bench/users/run.py --only argsort,top_k --budget 15s

A row a program: milliseconds of a call as JAX compiles it, with hone.jax.optimize, and by the bound;
the speed-up that hone claims with its interval; and the bound's time by hone's. Rows are kept in --out
as lines of JSON; what is there already is not run again. Every program runs in a process of its own.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import warnings

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))


def milliseconds(call, seconds=0.5):
    """The median of the calls that fit into the seconds, at least five."""
    call()
    took, end = [], time.perf_counter() + seconds
    while len(took) < 5 or (time.perf_counter() < end and len(took) < 10000):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return 1e3 * sorted(took)[len(took) // 2]


def measure(name, size, dtype, budget, seed):
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", dtype == "float64")
    import hone.jax

    import bounds
    from kinds import KINDS

    made, arguments, bound = KINDS[name].make(size, dtype, np.random.default_rng(seed), bounds)
    arguments = [jax.numpy.asarray(a) for a in arguments]
    stock = jax.jit(made)
    row = {"bound_ms": milliseconds(bound) if bound else None}
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tuned = hone.jax.optimize(made, *arguments, budget=budget, seed=seed)
    row["seconds"] = time.perf_counter() - start
    run = lambda f: lambda: jax.block_until_ready(f(*arguments))
    row["stock_ms"] = milliseconds(run(stock))
    row["hone_ms"] = milliseconds(run(tuned)) if tuned.tuned else row["stock_ms"]
    report = tuned.report
    row.update(kept=report.get("kept"), reason=report.get("reason"), how=report.get("how"),
               speedup=report.get("speedup", 1.0) if tuned.tuned else 1.0,
               speedup_ci=report.get("speedup_ci"),
               warnings=[str(w.message)[:200] for w in said])
    plan = (report.get("search") or {}).get("plan") or {}
    row["plan"] = plan.get("passes") or []
    row["flags"] = plan.get("flags") or {}
    return row


def rows(options):
    from kinds import KINDS

    names = options.only.split(",") if options.only else list(KINDS)
    unknown = [n for n in names if n not in KINDS]
    if unknown:
        sys.exit(f"there is no kind {unknown[0]}; there are: {', '.join(KINDS)}")
    known = {}
    if options.out and os.path.exists(options.out):
        with open(options.out, encoding="utf-8") as file:
            known = {r["key"]: r for r in map(json.loads, file)}
    for name in names:
        kind = KINDS[name]
        sizes = kind.sizes if options.sizes == "all" else kind.sizes[1:2]
        dtypes = kind.dtypes if options.dtypes == "all" else kind.dtypes[:1]
        for size in sizes:
            for dtype in dtypes:
                key = f"{name} {size} {dtype}"
                if key not in known:
                    row = in_a_process(name, size, dtype, options)
                    row.update(key=key, thread=kind.thread)
                    known[key] = row
                    if options.out:
                        with open(options.out, "a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + "\n")
                yield known[key]


def in_a_process(name, size, dtype, options):
    command = [sys.executable, __file__, "--one", name, str(size), dtype, "--budget", options.budget,
               "--seed", str(options.seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["?"])[-1][:300]}
    return json.loads(done.stdout.splitlines()[-1])


def line(row):
    head = f"{row['key']:<42}{row['thread']:<14}"
    if "failed" in row:
        return head + "failed: " + row["failed"]
    cell = lambda x: f"{x:>10.3f}" if x is not None else f"{'-':>10}"
    bound = row["bound_ms"]
    interval = "" if row["speedup_ci"] is None else "[{:.2f}, {:.2f}]".format(*row["speedup_ci"])
    ratio = f"{row['hone_ms'] / bound:>8.2f}" if bound else f"{'-':>8}"
    return (head + cell(row["stock_ms"]) + cell(row["hone_ms"]) + cell(bound) + ratio +
            f"{row['speedup']:>9.2f} {interval:<15}" + f"{row['seconds']:>6.0f}  " +
            (",".join(p if isinstance(p, str) else p.get("name", "?") for p in row["plan"]) or
             (row["reason"] or "")[:60]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="kinds, by comma")
    parser.add_argument("--sizes", choices=["middle", "all"], default="middle")
    parser.add_argument("--dtypes", choices=["first", "all"], default="first")
    parser.add_argument("--budget", default="15s", help="of hone.jax.optimize (15s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="rows as lines of JSON; goes on where it was interrupted")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, size, dtype = options.one
        print(json.dumps(measure(name, int(size), dtype, options.budget, options.seed)))
        return
    print(f"{'program':<42}{'thread':<14}{'stock ms':>10}{'hone ms':>10}{'bound ms':>10}"
          f"{'by bound':>8}{'speed-up':>9} {'':<15}{'took':>6}  how")
    speedups, good, failed = [], 0, 0
    for row in rows(options):
        print(line(row), flush=True)
        if "failed" in row:
            failed += 1
            continue
        speedups.append(row["speedup"])
        near = row["bound_ms"] is not None and row["hone_ms"] <= 1.3 * row["bound_ms"]
        good += row["speedup"] >= 1.3 or near
    if speedups:
        mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
        print(f"{good} of {len(speedups)} at 1.3 times or within 1.3 times of their bound, geometric "
              f"mean of speed-ups {mean:.2f}, {failed} failed")


if __name__ == "__main__":
    main()
