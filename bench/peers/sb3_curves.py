"""Learning curves of stable-baselines3 (PPO, A2C, DQN) and sb3-contrib (TRPO) on CartPole-v1.

  python bench/peers/sb3_curves.py [--algo ppo] [--seeds 1,2,3] [--steps 50000] [--set n_steps=512]

One file an algorithm, one JSON line a point: "steps" of the environment so far, and "episode_return",
the mean over the episodes that ended since the point before. A point comes with the first update of
each hundredth of the training, so that the files stay small.
"""

import argparse
import json
import pathlib
import time

import torch
from sb3_contrib import TRPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

HERE = pathlib.Path(__file__).resolve().parent
POINTS = 100

# (class, environments, what differs from the class's defaults)
ALGORITHMS = {
    "ppo": (PPO, 1, {"n_steps": 2048}),
    "trpo": (TRPO, 1, {}),
    "a2c": (A2C, 8, {"n_steps": 5}),
    # rl-baselines3-zoo's settings for CartPole-v1.
    "dqn": (DQN, 1, {
        "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100000, "learning_starts": 1000,
        "gamma": 0.99, "target_update_interval": 10, "train_freq": 256, "gradient_steps": 128,
        "exploration_fraction": 0.16, "exploration_final_eps": 0.04,
        "policy_kwargs": {"net_arch": [256, 256]},
    }),
}


class Curve(BaseCallback):
    """Collects the returns of episodes as they end, and makes points of them at updates."""

    def __init__(self, every):
        super().__init__()
        self.points, self._every, self._returns, self._last = [], every, [], 0

    def _on_step(self):
        self._returns += [i["episode"]["r"] for i in self.locals["infos"] if "episode" in i]
        return True

    def _on_rollout_end(self):
        if self._returns and self.num_timesteps - self._last >= self._every:
            self._point()

    def _on_training_end(self):
        if self._returns:
            self._point()

    def _point(self):
        mean = sum(self._returns) / len(self._returns)
        self.points.append((self.num_timesteps, round(float(mean), 2)))
        self._returns, self._last = [], self.num_timesteps


def train(algo, seed, steps, environment, settings):
    """[(steps, mean return)] of one run."""
    kind, environments, own = ALGORITHMS[algo]
    model = kind("MlpPolicy", make_vec_env(environment, environments, seed=seed), seed=seed,
                 device="cpu", **{**own, **settings})
    curve = Curve(steps // POINTS)
    model.learn(total_timesteps=steps, callback=curve)
    return curve.points


def setting(text):
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--algo", default=",".join(ALGORITHMS), help="of " + ", ".join(ALGORITHMS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--steps", type=int, default=50000)
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="NAME=VALUE",
                        help="another argument of the algorithm's class")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "curves", help="a folder")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    for algo in options.algo.split(","):
        lines = []
        for seed in (int(s) for s in options.seeds.split(",")):
            start = time.perf_counter()
            points = train(algo, seed, options.steps, options.env, dict(options.set))
            print(f"{algo} seed {seed}: {len(points)} points, the last {points[-1]}, "
                  f"{time.perf_counter() - start:.0f} s", flush=True)
            lines += [{"algo": algo, "seed": seed, "steps": s, "episode_return": r}
                      for s, r in points]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (options.out / f"sb3_{algo}.jsonl").write_text(text)


if __name__ == "__main__":
    main()
