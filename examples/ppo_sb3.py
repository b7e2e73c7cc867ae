"""Trains stable-baselines3's PPO on the order of XLA's passes, and compares it with XLA's own order.

  pip install stable-baselines3      # not a dependency of hone
  python examples/ppo_sb3.py --program models/kmeans/jax010_kmeans_while --steps 20000
"""

# %% What is needed
import argparse
import sys

import gymnasium

import hone  # noqa: F401, registers the environment

try:
    from stable_baselines3 import PPO
    from stable_baselines3.common.monitor import Monitor
except ImportError:
    sys.exit("this example needs stable-baselines3: pip install stable-baselines3")

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--program", default="models/kmeans/jax010_kmeans_while", help="a file or URI")
parser.add_argument("--steps", type=int, default=20000)
parser.add_argument("--episodes", type=int, default=50, help="tried in the end")
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

# %% An environment: the op count falls, and the end is measured against XLA's own order
env = Monitor(gymnasium.make(
    "hone/PassOrder-v0", programs=options.program, traj_limit=40, stop_action=True,
    reward={"change": 1, "final_default": 1}))

# %% PPO, small, as the program is
model = PPO("MlpPolicy", env, n_steps=512, batch_size=128, gamma=0.99, gae_lambda=0.95,
            learning_rate=3e-4, ent_coef=0.01, seed=options.seed, verbose=1)
model.learn(total_timesteps=options.steps)

# %% What it has learnt: the best of some episodes
# Sampled, for where a pass changes nothing the greedy policy would pick the same one for ever.
best, fewest = None, float("inf")
for episode in range(options.episodes):
    observation, info = env.reset(seed=options.seed + episode)
    initial, total, over = info["op_count"], 0.0, False
    while not over:
        action, _ = model.predict(observation)
        observation, reward, terminated, truncated, info = env.step(int(action))
        total += reward
        over = terminated or truncated
    if info["op_count"] < fewest:
        fewest = info["op_count"]
        best = env.unwrapped.fork()  # in the same state, whatever becomes of this one
        # The return is (initial - fewest + XLA's own - fewest) / initial.
        default = round((total - 1) * initial + 2 * fewest)
print(f"{initial} -> {fewest} instructions, by {' '.join(best.recipe()['passes'])}")
print(f"XLA's own order: {default}")
print(f"verified: {best.verify()['verdict']}")
