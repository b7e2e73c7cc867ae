"""What an environment costs through Gymnasium: the same episodes as the passes alone, in turns.

  .venv/bin/python bench/env_bench.py [--program FILE] [--seconds 10] [--json]
"""

import argparse
import json
import pathlib
import statistics
import time

import gymnasium

import hone  # noqa: F401, registers the environment

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
TURNS = 5
MASK = (1 << 64) - 1


def episode_actions(seed, episode, length, actions):
    """The actions of core/raw_loop.h's EpisodeRng: SplitMix64."""
    state = (seed * 0x9E3779B97F4A7C15 + episode) & MASK
    taken = []
    for _ in range(length):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        taken.append((z ^ (z >> 31)) % actions)
    return taken


def play(env, plans):
    """Plays episodes of planned actions; (steps, seconds)."""
    start = time.perf_counter()
    taken = 0
    for plan in plans:
        env.reset()
        for action in plan:
            _, _, terminated, truncated, _ = env.step(action)
            taken += 1
            if terminated or truncated:
                break
    return taken, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(DATA / "bert/hf_train_mlm_l2_d128_adamw.hlo"))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    env = gymnasium.make("hone/PassOrder-v0", programs=options.program, use_table=False)
    env.reset()
    session = env.unwrapped._session
    actions = int(env.action_space.n)
    raw_steps = raw_seconds = env_steps = env_seconds = episodes = 0
    ratios = []
    for _ in range(TURNS):
        steps, ran, seconds = session.raw_loop(0, options.seed, episodes,
                                               options.seconds / 2 / TURNS)
        plans = [episode_actions(options.seed, e, 40, actions)
                 for e in range(episodes, episodes + ran)]
        episodes += ran
        taken, spent = play(env, plans)
        ratios.append((taken / spent) / (steps / seconds))
        raw_steps, raw_seconds = raw_steps + steps, raw_seconds + seconds
        env_steps, env_seconds = env_steps + taken, env_seconds + spent

    known = gymnasium.make("hone/PassOrder-v0", programs=options.program)
    rounds = []
    for _ in range(4):  # the last of them looked up
        taken, spent = play(known, plans[:5])
        rounds.append(taken / spent)

    result = {
        "program": options.program,
        "raw_steps_per_second": raw_steps / raw_seconds,
        "gymnasium_steps_per_second": env_steps / env_seconds,
        "ratio": (env_steps / env_seconds) / (raw_steps / raw_seconds),
        "median_turn_ratio": statistics.median(ratios),
        "memo_steps_per_second": rounds[-1],
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"{options.program}\n"
              f"  the passes alone, in a loop         {result['raw_steps_per_second']:8.0f} steps/s\n"
              f"  through Gymnasium, every pass run   "
              f"{result['gymnasium_steps_per_second']:8.0f} steps/s, ratio {result['ratio']:.3f}\n"
              f"  revisited transitions               {result['memo_steps_per_second']:8.0f} steps/s")


if __name__ == "__main__":
    main()
