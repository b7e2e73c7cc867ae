"""Compares learning curves of hone with those of stable-baselines3.

  python bench/peers/compare_curves.py [--hone FOLDER] [--peer FOLDER] [--algo ppo] [--json]
  python bench/peers/compare_curves.py --run build/bin/hone-learning-curves   # makes hone's first

Files hone_ALGO.jsonl and sb3_ALGO.jsonl hold a point a line: "seed", "steps" of the environment so
far, and "episode_return", the mean over the episodes that ended since the point before. So a point
stands for the steps between the last one and itself, and all means here are over steps:

  area    mean over the whole training: the area under the curve over the number of steps
  final   mean over the last tenth
  tenths  means over each tenth; a range is the least and the greatest of the seeds, and two ranges
          overlap where they share a value
"""

import argparse
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ALGORITHMS = ("ppo", "trpo", "a2c", "dqn")
TENTHS = 10


def read_curves(path):
    """{seed: [(steps, return)]} of a file, in order of steps."""
    curves = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            continue
        try:
            point = json.loads(line)
            if point.get("episode_return") is None:  # no episode ended
                continue
            curves.setdefault(point.get("seed", 1), []).append(
                (float(point["steps"]), float(point["episode_return"])))
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f"{path}:{number}: not a point of a learning curve: {error}") from None
    if not curves:
        raise SystemExit(f"{path} holds no point of a learning curve")
    return {seed: sorted(points) for seed, points in sorted(curves.items())}


def mean_between(points, low, high):
    """The mean over the steps from `low` to `high`; the last point goes on beyond its end."""
    area, before = 0.0, 0.0
    for i, (steps, value) in enumerate(points):
        end = max(steps, high) if i == len(points) - 1 else steps
        area += value * max(0.0, min(end, high) - max(before, low))
        before = max(before, end)
    return area / (high - low)


def summary(curves, steps):
    """Mean and range over the seeds of area, final return and tenths."""
    def over_seeds(low, high):
        values = [mean_between(points, low, high) for points in curves.values()]
        return {"mean": sum(values) / len(values), "min": min(values), "max": max(values)}

    tenths = [over_seeds(steps * i / TENTHS, steps * (i + 1) / TENTHS) for i in range(TENTHS)]
    return {"seeds": len(curves), "area": over_seeds(0, steps), "final": tenths[-1],
            "tenths": tenths}


def overlap(a, b):
    return a["min"] <= b["max"] and b["min"] <= a["max"]


def make_curves(program, algo, seeds, steps, path, settings):
    """Runs hone's program, and writes what it prints with algorithm and seed."""
    lines = []
    for seed in seeds:
        command = [program, "--algo", algo, "--seed", str(seed), "--steps", str(steps)]
        for text in settings:
            command += ["--set", text]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        lines += [{"algo": algo, "seed": seed, **json.loads(line)}
                  for line in output.splitlines() if line.startswith("{")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def show(algo, result):
    def cell(r):
        return f"{r['mean']:6.1f} [{r['min']:5.1f}, {r['max']:5.1f}]"

    print(f"{algo}: {result['steps']} steps, {result['hone']['seeds']} seeds of hone, "
          f"{result['peer']['seeds']} of the peer")
    print(f"  {'':8} {'hone':^22} {'peer':^22}  ranges")
    rows = [(name, result["hone"][name], result["peer"][name]) for name in ("area", "final")]
    rows += [(f"{(i + 1) * 10:3} %", h, p) for i, (h, p) in
             enumerate(zip(result["hone"]["tenths"], result["peer"]["tenths"]))]
    for name, hone, peer in rows:
        says = "overlap" if overlap(hone, peer) else (
            "hone above" if hone["min"] > peer["max"] else "hone below")
        print(f"  {name:8} {cell(hone):22} {cell(peer):22}  {says}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", type=pathlib.Path, default=HERE / "curves",
                        help="the folder of hone_ALGO.jsonl")
    parser.add_argument("--peer", type=pathlib.Path, default=HERE / "curves",
                        help="the folder of sb3_ALGO.jsonl")
    parser.add_argument("--algo", default=",".join(ALGORITHMS))
    parser.add_argument("--steps", type=int, default=50000, help="the length of the training")
    parser.add_argument("--run", metavar="PROGRAM", help="makes hone's curves with it first")
    parser.add_argument("--seeds", default="1,2,3", help="for --run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="for --run, passed on")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    results, missing = {}, []
    for algo in options.algo.split(","):
        hone, peer = options.hone / f"hone_{algo}.jsonl", options.peer / f"sb3_{algo}.jsonl"
        if options.run:
            make_curves(options.run, algo, [int(s) for s in options.seeds.split(",")],
                        options.steps, hone, options.set)
        absent = [str(path) for path in (hone, peer) if not path.is_file()]
        if absent:
            missing += absent
            continue
        result = {"steps": options.steps, "hone": summary(read_curves(hone), options.steps),
                  "peer": summary(read_curves(peer), options.steps)}
        pairs = [(result["hone"][k], result["peer"][k]) for k in ("area", "final")]
        result["area_overlaps"], result["final_overlaps"] = (overlap(*pair) for pair in pairs)
        result["tenths_overlap"] = [
            overlap(h, p) for h, p in zip(result["hone"]["tenths"], result["peer"]["tenths"])]
        results[algo] = result
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        for algo, result in results.items():
            show(algo, result)
    if missing:
        raise SystemExit("there is no " + ", no ".join(missing))


if __name__ == "__main__":
    main()
