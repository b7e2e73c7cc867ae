"""Simple ways to choose among rewrites, compared on programs: one episode each, every result run and
compared with its program.

  python examples/rewrite_heuristics.py [--programs data] [--pipeline call-inliner,algsimp,cse,dce]
      [--loops 4] [--objective op_count] [--no-verify]
"""

import argparse
import math

import gymnasium

from hone import rewrites


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--programs", nargs="+", default=["data"])
    parser.add_argument("--pipeline", default="call-inliner,algsimp,cse,dce")
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("--objective", default="op_count", choices=["op_count", "flops", "bytes"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verify", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    programs = options.programs[0] if len(options.programs) == 1 else options.programs
    env = gymnasium.make("hone/Rewrites-v0", programs=programs, mode="batch",
                         pipeline=options.pipeline, loops=options.loops, max_sites=65536,
                         observation="turn", reward=options.objective)
    core = env.unwrapped
    print(f"{'program':44} {'before':>12} " + " ".join(f"{h:>12}" for h in rewrites.HEURISTICS))
    sums = dict.fromkeys(rewrites.HEURISTICS, 0.0)
    doubts = []
    for number in range(len(core.program_names)):
        row = []
        for heuristic in rewrites.HEURISTICS:
            played = rewrites.play(env, heuristic, options.seed, options.objective, number)
            row.append(played["result"])
            sums[heuristic] += math.log(max(1.0, played["initial"]) / max(1.0, played["result"]))
            doubts += [(played["program"], heuristic, error) for error in played["errors"]]
            if options.verify:
                verdict = core.verify()
                if verdict["verdict"] != "equal":
                    doubts.append((played["program"], heuristic, verdict))
        print(f"{played['program'][-44:]:44} {played['initial']:12,.0f} "
              + " ".join(f"{value:12,.0f}" for value in row), flush=True)
    count = len(core.program_names)
    print(f"{'geometric mean of before/after':57} "
          + " ".join(f"{math.exp(total / count):12.3f}" for total in sums.values()))
    for doubt in doubts:
        print("not equal, or failed:", *doubt)


if __name__ == "__main__":
    main()
