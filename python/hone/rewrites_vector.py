"""Many environments over rewrites and a few workers, as one Gymnasium vector environment."""

import numpy as np
from gymnasium.vector import AutoresetMode

from hone import _rewrites
from hone._vector import ProgramVectorEnv


class RewritesVectorEnv(ProgramVectorEnv):
    """`num_envs` environments as `RewritesEnv`, which share workers, listings and transition table.

    Each environment keeps to one worker; the workers run at the same time. With the same seeds,
    `step` gives the same results whatever the number of workers. Where lock-step makes workers wait
    for each other, `send` and `receive` let each environment go on as soon as it can.

    Args:
      num_envs: environments.
      autoreset_mode: a `gymnasium.vector.AutoresetMode`.
      The rest: as `RewritesEnv`. With "round_robin", environment i of n begins with program i and
        goes on by n.
    """

    _part = staticmethod(_rewrites.part_of)

    def __init__(self, programs, num_envs=1, *, pipeline="algsimp,cse,dce", loops=1, mode="sites",
                 max_sites=128, enabled=True, observation=("sites", "turn"), reward="op_count",
                 traj_limit=200, schedule="round_robin", curriculum_episodes=20, use_table=True,
                 pass_deadline=60.0, memory_limit=1024, workers=1, rules=(), sandbox=True,
                 target="cpu", autoreset_mode=AutoresetMode.NEXT_STEP, render_mode=None):
        self._open(_rewrites.configure(
            programs, pipeline, mode, observation, loops=loops, max_sites=max_sites,
            enabled=enabled, reward=reward, traj_limit=traj_limit, schedule=schedule,
            curriculum_episodes=curriculum_episodes, use_table=use_table,
            pass_deadline=pass_deadline, memory_limit=memory_limit, workers=workers, rules=rules,
            sandbox=sandbox, target=target), num_envs, autoreset_mode, render_mode)
        self.pipeline = self._core.pipeline
        self._set_spaces(*_rewrites.spaces(self._config, self._session, self.pipeline))

    def _make_core(self, session, count, autoreset):
        return _rewrites.make_core(session, self._config, count, autoreset)

    def _take(self, actions):
        if self._config["batch"]:
            self._core.step_batch(np.ascontiguousarray(actions, dtype=np.int8))
        else:
            super()._take(actions)

    def _one(self, action):
        return [bool(one) for one in action] if self._config["batch"] else int(action)

    def _more_info(self, outcomes, final):
        turns = self._core.turns(final)
        return {
            "flops": outcomes["flops"], "bytes_accessed": outcomes["bytes_accessed"],
            "pass": np.array(turns["pass"], dtype=object), "loop": turns["turn"][:, 1],
            "sites": turns["sites"], "sites_truncated": turns["sites_truncated"].view(bool),
        }

    def listings(self):
        """What the pass whose turn it is offers, in each environment."""
        return [self._core.listing(i) for i in range(self.num_envs)]
