"""Trains TorchRL's PPO on the order of XLA's passes, and compares it with XLA's own order.

  pip install torch torchrl      # not dependencies of hone; run with torch 2.15.0 and torchrl 0.14.1, on a CPU
  python examples/ppo_torchrl.py --program models/kmeans/jax010_kmeans_while --steps 20000
"""

# %% What is needed
import argparse
import sys

import gymnasium

import hone  # noqa: F401, registers the environment

try:
    import torch
    from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import GymWrapper
    from torchrl.modules import MLP, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
except ImportError as error:
    sys.exit(f"this example needs TorchRL: pip install torch torchrl ({error})")

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--program", default="models/kmeans/jax010_kmeans_while", help="a file or URI")
parser.add_argument("--steps", type=int, default=20000)
parser.add_argument("--episodes", type=int, default=50, help="tried in the end")
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
torch.manual_seed(options.seed)
torch.set_num_threads(1)

# %% An environment: the op count falls, and the end is measured against XLA's own order
make = {"programs": options.program, "traj_limit": 40, "stop_action": True,
        "reward": {"change": 1, "final_default": 1}}  # fmt: skip
env = GymWrapper(gymnasium.make("hone/PassOrder-v0", **make), categorical_action_encoding=True)
env.set_seed(options.seed)

# %% Networks
actor = ProbabilisticTensorDictSequential(
    TensorDictModule(
        MLP(out_features=env.action_spec.space.n, num_cells=[64, 64], activation_class=torch.nn.Tanh),
        in_keys=["observation"], out_keys=["logits"]),
    ProbabilisticTensorDictModule(
        in_keys=["logits"], out_keys=["action"], distribution_class=torch.distributions.Categorical,
        return_log_prob=True))  # fmt: skip
critic = ValueOperator(MLP(out_features=1, num_cells=[64, 64], activation_class=torch.nn.Tanh))
for module in (actor, critic):
    module(env.reset())  # they learn how wide the observation is

# %% PPO, small, as the program is
advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=0.5)
optimizer = torch.optim.Adam(loss.parameters(), lr=3e-4)
done = 0
for batch in Collector(env, actor, frames_per_batch=512, total_frames=options.steps):
    done += batch.numel()
    for _ in range(10):
        with torch.no_grad():
            advantage(batch)
        for rows in torch.randperm(batch.numel()).split(128):
            losses = loss(batch.reshape(-1)[rows])
            optimizer.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    ends = max(1, int(batch["next", "done"].sum()))
    print(f"{done} steps: {batch['next', 'reward'].sum() / ends:.3f} an episode", flush=True)

# %% What it has learnt: the best of some episodes, drawn, for a pass may change nothing
env = gymnasium.make("hone/PassOrder-v0", **make)
best, fewest = None, float("inf")
for episode in range(options.episodes):
    observation, info = env.reset(seed=options.seed + episode)
    initial, total, over = info["op_count"], 0.0, False
    while not over:
        with torch.no_grad():
            logits = actor[0].module(torch.as_tensor(observation, dtype=torch.float32))
        action = int(torch.distributions.Categorical(logits=logits).sample())
        observation, reward, terminated, truncated, info = env.step(action)
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
