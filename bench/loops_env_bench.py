"""Steps a second of environments over schedules of loop nests: in Python one after the other, and as the
vector in C++, in turns, with random legal actions.

  .venv/bin/python bench/loops_env_bench.py [--num-envs 8] [--workers 1,2] [--measure estimate] [--seconds 10]
"""

import argparse
import statistics
import time

import gymnasium
import numpy as np

import hone  # noqa: F401, registers the environment

TASKS = ["matmul_64_64_64", "softmax_64_128", "relu_256_512", "layer_norm_4096_1024", "conv2d_8_64_58_64_3"]
TURNS = 5


class Player:
    def __init__(self, envs, seed):
        self.envs, self.rng = envs, np.random.default_rng(seed)
        _, self.infos = envs.reset(seed=seed)

    def play(self, seconds):
        """Steps a second."""
        start, steps = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            masks = self.infos["action_mask"]
            chosen = (self.rng.random(masks.shape) * masks).argmax(axis=1)
            self.infos = self.envs.step(chosen)[4]
            steps += len(masks)
        return steps / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--workers", default="1,2", help="threads of the vector in C++, with commas")
    parser.add_argument("--measure", default="estimate")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    common = {"num_envs": options.num_envs, "tasks": TASKS, "measure": options.measure}
    players = {"one after the other": Player(gymnasium.make_vec(
        "hone/Loops-v0", vectorization_mode="sync", **common), 1)}
    for workers in filter(None, options.workers.split(",")):
        players[f"in C++, workers={workers}"] = Player(
            gymnasium.make_vec("hone/Loops-v0", workers=int(workers), **common), 1)
    rates = {name: [] for name in players}
    for _ in range(TURNS):
        for name, player in players.items():
            rates[name].append(player.play(options.seconds / TURNS / len(players)))
    first = next(iter(rates))
    for name, each in rates.items():
        ratio = statistics.median(a / b for a, b in zip(each, rates[first]))
        print(f"{name:24} {statistics.median(each):10.0f} steps/s, {ratio:6.2f} times the first")


if __name__ == "__main__":
    main()
