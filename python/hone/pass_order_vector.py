"""Many pass-order environments over a few workers, as one Gymnasium vector environment."""

import gymnasium
from gymnasium.vector import AutoresetMode

from hone import _core, _options
from hone._vector import ProgramVectorEnv


class PassOrderVectorEnv(ProgramVectorEnv):
    """`num_envs` environments as `PassOrderEnv`, which share workers and transition table.

    Each environment keeps to one worker; the workers run at the same time. With the same seeds,
    `step` gives the same results whatever the number of workers. Where lock-step makes workers wait
    for each other, `send` and `receive` let each environment go on as soon as it can.

    Args:
      num_envs: environments.
      autoreset_mode: a `gymnasium.vector.AutoresetMode`.
      The rest: as `PassOrderEnv`. With "round_robin", environment i of n begins with program i and
        goes on by n.
    """

    def __init__(self, programs, num_envs=1, *, actions="simplify", observation="opcodes",
                 reward="op_count", traj_limit=40, stop_action=False, schedule="round_robin",
                 curriculum_episodes=20, use_table=True, pass_deadline=60.0, memory_limit=1024,
                 workers=1, rules=(), sandbox=True, target="cpu",
                 autoreset_mode=AutoresetMode.NEXT_STEP, render_mode=None):
        parts, single = _options.observation_parts(observation)
        self._open({
            "programs": _options.read_programs(programs), "actions": actions, "reward": reward,
            "parts": parts, "single": single, "traj_limit": traj_limit, "stop_action": stop_action,
            "schedule": schedule, "curriculum_episodes": curriculum_episodes,
            "use_table": use_table, "pass_deadline": pass_deadline, "memory_limit": memory_limit,
            "workers": workers, "rules": _options.read_rules(rules), "sandbox": sandbox,
            "target": target,
        }, num_envs, autoreset_mode, render_mode)
        self.pass_names = self._session.actions
        self._set_spaces(
            gymnasium.spaces.Discrete(len(self.pass_names)),
            _options.observation_space(parts, single, self._session, traj_limit))

    def _make_core(self, session, count, autoreset):
        return _core.PassOrderEnvs(session, count, autoreset)
