"""From an agent that acts at random to a row of a leaderboard, in ten minutes on two cores.

  python examples/random_to_leaderboard.py --out runs/first
  python examples/random_to_leaderboard.py --programs programs/seen --out runs/first    # a data set of yours

The best sequences that search finds on the training split are imitated, reinforcement goes on from there, and
the policy is measured on programs that it has not seen, beside a random search of as many steps and hone's own
policy. OUT has found.jsonl, imitation.safetensors, ppo.safetensors, rows.jsonl and leaderboard.md. More seeds
are the same lines with another --seed and the same --method (docs/learning.md).
"""

# %% What is needed
import argparse
import pathlib
import shutil
import subprocess
import sys

import gymnasium

import hone.datasets  # registers the environment, too

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--programs", default="models", help="a data set with splits: a folder or URI")
parser.add_argument("--out", type=pathlib.Path, required=True, help="a new folder")
parser.add_argument("--search-steps", type=int, default=1000, help="of each training program")
parser.add_argument("--steps", type=int, default=100000, help="of reinforcement")
parser.add_argument("--time", default="4m", help="of reinforcement, at most")
parser.add_argument("--budget", default="250steps", help="of searches that are measured")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--hone", help="the command; else build/bin/hone, else that of the PATH")
options = parser.parse_args()

built = pathlib.Path(__file__).resolve().parents[1] / "build" / "bin" / "hone"
command = options.hone or (str(built) if built.exists() else shutil.which("hone"))
if command is None:
    sys.exit("there is no hone: `make build`, or give --hone")
if options.out.exists():
    sys.exit(f"{options.out} is there already: rows would be added to its own")
options.out.mkdir(parents=True)


def run(*arguments):
    arguments = [command, *map(str, arguments)]
    print("$", " ".join(arguments), flush=True)
    if code := subprocess.run(arguments).returncode:
        sys.exit(f"that ended with {code}")


# %% An agent that acts at random, among the passes that are not known to do nothing here
programs = list(hone.datasets.load(options.programs).filter(split="train"))[:3]
env = gymnasium.make("hone/PassOrder-v0", programs=programs, traj_limit=64)
env.action_space.seed(options.seed)
for episode in range(3):
    observation, info = env.reset(seed=options.seed + episode)
    first, over = info["op_count"], False
    while not over:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    print(f"at random: {first} -> {info['op_count']} instructions", flush=True)
env.close()

# %% What search finds on the training split; imitated; and improved by acting
found, imitation, ppo = (options.out / name for name in ("found.jsonl", "imitation.safetensors", "ppo.safetensors"))
training = [options.programs, "--split", "train"]
run("eval", *training, "--search", "mcts", "--seeds", 1, "--seed", options.seed,
    "--budget", f"{options.search_steps}steps", "-o", found)  # fmt: skip
learning = ["train", *training, "--imitate", found, "--seed", options.seed]
run(*learning, "--steps", 0, "-o", imitation)
run(*learning, "--steps", options.steps, "--time", options.time, "-o", ppo, "--log", options.out / "log")

# %% Measured on what none of them has seen; a policy's walk has no chance in it
rows = options.out / "rows.jsonl"
for split in ("validation", "test"):
    measured = ["eval", options.programs, "--split", split, "--budget", options.budget, "-o", rows]
    run(*measured, "--seeds", 3, "--search", "random")
    run(*measured, "--seeds", 1, "--search", "policy_greedy", "--method", "the policy that comes with hone")
    for method, file in (("imitation", imitation), ("imitation, then PPO", ppo)):
        run(*measured, "--seeds", 1, "--search", "policy_greedy", "--policy", file, "--method", method)

# %% Rows of a leaderboard
run("leaderboard", rows, "--steps", "20,100,250", "-o", options.out / "leaderboard.md")
print(options.out / "leaderboard.md")
