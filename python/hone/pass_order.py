"""Pass ordering as a Gymnasium environment."""

import gymnasium
import numpy as np

from hone import _core, _options
from hone._environment import ProgramEnv


class PassOrderEnv(ProgramEnv):
    """An agent picks which of XLA's passes runs next on a program (XLA Gym, Ganai et al. 2023).

    Every step runs a real pass of the unmodified compiler, or is looked up where its outcome is
    known. Whatever the compiler does (an error, a crash, a hang, too much memory), `step` returns:
    the state is as it was, `info["error"]` says what happened, and the reward is less by the part
    `failure` of the reward.

    Args:
      programs: what to optimise: a path of a file or folder, a URI such as
        "models/gpt2/hf_train_l4_d256_adamw", HLO text, a `hone.datasets.Dataset`, or a sequence of
        these.
      actions: "simplify", "all", or a sequence of pass names (`hone passes` lists them).
      observation: one part, and observations are that array; or several, and they are a dict.
        "opcodes": float32 [opcodes], the instructions of each opcode over the program's initial
        instruction count. "opcode_counts": int32 [opcodes], the same not divided. "cost": float64
        [5], flops, transcendentals and bytes accessed of one run by XLA's cost analysis (-1 where
        it fails), computations, depth of nested loops. "peak_memory": float64 [1], bytes. "history":
        int64 [traj_limit], the actions so far, then -1. "graph": the whole program as CSR arrays,
        see `docs/environment.md`.
      reward: an objective's name ("op_count", "flops", "bytes", "peak_memory", "kernels"), rewarded by its
        change over the initial value; or a dict of weights: objective, change, level, shaping,
        discount, flops_weight, transcendentals_weight, final_default, final_run_time, failure; see
        `docs/environment.md`.
      traj_limit: steps after which an episode is truncated.
      stop_action: adds an action, the last, that ends the episode.
      schedule: which program a reset takes: "round_robin", "random" or "curriculum" (small ones
        first, one more every `curriculum_episodes`). `reset(options={"program": i})` overrides it.
      use_table: whether known transitions are looked up.
      pass_deadline: seconds after which a pass is given up.
      memory_limit: MiB that a worker may take beside the bare compiler.
      workers: worker processes.
      rules: paths of files of your own rewrite rules (`docs/rules.md`), a path or a sequence.
      sandbox: whether workers lock themselves up (`docs/architecture.md`).
      target: what XLA compiles for: "cpu", "h100" or another of `docs/gpu.md`'s, or a path of a
        description. For a GPU "estimate" is an objective too, and nothing can be run.

    Raises:
      ValueError: no such program, action, part or objective, or a rule that is wrong.
    """

    def __init__(self, programs, *, actions="simplify", observation="opcodes", reward="op_count",
                 traj_limit=40, stop_action=False, schedule="round_robin", curriculum_episodes=20,
                 use_table=True, pass_deadline=60.0, memory_limit=1024, workers=1, rules=(),
                 sandbox=True, target="cpu", render_mode=None):
        parts, single = _options.observation_parts(observation)
        self._open({
            # Read now, so that a copy of this environment needs no files.
            "programs": _options.read_programs(programs),
            "actions": actions, "reward": reward, "parts": parts,
            "single": single, "traj_limit": traj_limit, "stop_action": stop_action,
            "schedule": schedule, "curriculum_episodes": curriculum_episodes,
            "use_table": use_table, "pass_deadline": pass_deadline, "memory_limit": memory_limit,
            "workers": workers, "rules": _options.read_rules(rules), "sandbox": sandbox,
            "target": target,
        }, render_mode)
        self.pass_names = self._session.actions
        self.action_space = gymnasium.spaces.Discrete(len(self.pass_names))
        self.observation_space = _options.observation_space(
            parts, single, self._session, traj_limit)

    def _make_core(self, session):
        return _core.PassOrderEnvs(session, 1, _options.NO_AUTORESET)

    def reset(self, *, seed=None, options=None):
        """Begins an episode. `options={"program": i}` begins it on the i-th program."""
        super().reset(seed=seed)
        return self._begin(seed, options)

    def step(self, action):
        """Runs a pass. Returns observation, reward, terminated, truncated, info."""
        self._here().step(np.array([_options.whole("an action", action)], np.int64))
        return self._stepped()

    def action_masks(self):
        """bool [actions]: False where a pass is known to change nothing in this state."""
        return self._here().action_masks()[0].astype(bool)
