"""Many pass-order environments over a few workers, as one Gymnasium vector environment."""

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from hone import _core, _options

_AUTORESET = {AutoresetMode.NEXT_STEP: 0, AutoresetMode.SAME_STEP: 1, AutoresetMode.DISABLED: 2}


class PassOrderVectorEnv(gymnasium.vector.VectorEnv):
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

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, programs, num_envs=1, *, actions="simplify", observation="opcodes",
                 reward="op_count", traj_limit=40, stop_action=False, schedule="round_robin",
                 curriculum_episodes=20, use_table=True, pass_deadline=60.0, memory_limit=1024,
                 workers=1, rules=(), sandbox=True, target="cpu",
                 autoreset_mode=AutoresetMode.NEXT_STEP, render_mode=None):
        if render_mode is not None:
            raise ValueError("a vector of environments is not rendered")
        if num_envs < 1:
            raise ValueError("num_envs must be at least 1")
        self._parts, self._single = _options.observation_parts(observation)
        sources = _options.read_programs(programs)
        self._names = np.array([name for name, _ in sources], dtype=object)
        self._mode = AutoresetMode(autoreset_mode)
        self._session = _options.open_session({
            "programs": sources, "actions": actions, "reward": reward, "parts": self._parts,
            "traj_limit": traj_limit, "stop_action": stop_action, "schedule": schedule,
            "curriculum_episodes": curriculum_episodes, "use_table": use_table,
            "pass_deadline": pass_deadline, "memory_limit": memory_limit, "workers": workers,
            "rules": rules, "sandbox": sandbox, "target": target,
        })
        self._core = _core.VectorEnv(self._session, num_envs, _AUTORESET[self._mode])
        self.metadata = {**self.metadata, "autoreset_mode": self._mode}
        self.num_envs = num_envs
        self.pass_names = self._session.actions
        self.single_action_space = gymnasium.spaces.Discrete(len(self.pass_names))
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = _options.observation_space(
            self._parts, self._single, self._session, traj_limit)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(self, *, seed=None, options=None):
        """Resets all, or, with `options={"reset_mask": bool [num_envs]}`, those of the mask.

        Args:
          seed: an int (environment i takes seed + i), or one or None for each.
          options: also {"program": i}, the program to begin with.
        """
        super().reset(seed=seed if seed is None or isinstance(seed, int) else None)
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        else:
            seeds = [None if s is None else int(s) for s in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"{self.num_envs} environments need as many seeds")
        options = options or {}
        mask = options.get("reset_mask")
        mask = [] if mask is None else [bool(m) for m in mask]
        if mask and len(mask) != self.num_envs:
            raise ValueError(f"reset_mask has {len(mask)} places, not {self.num_envs}")
        self._core.reset(seeds, mask, options.get("program"))
        return self._observe(), self._info(self._core.outcomes())

    def step(self, actions):
        """An action for each. Returns observations, rewards, terminations, truncations, infos."""
        self._core.step(np.ascontiguousarray(actions, dtype=np.int64))
        outcomes = self._core.outcomes()
        infos = self._info(outcomes)
        if outcomes["has_final"].any():
            final = outcomes["has_final"].view(bool)
            infos["final_obs"] = self._observe_final(final)
            infos["_final_obs"] = final
            infos["final_info"] = self._info(self._core.outcomes(True))
            infos["_final_info"] = final
        return (self._observe(), outcomes["reward"], outcomes["terminated"].view(bool),
                outcomes["truncated"].view(bool), infos)

    def send(self, env, action):
        """Begins a step of one environment, which is not under way."""
        self._core.send(env, int(action))

    def receive(self, least=1):
        """Waits for `least` of those under way; returns their numbers. `view` shows them."""
        return self._core.receive(least)

    def view(self):
        """As `step` returns it, of the last step that each environment has finished."""
        outcomes = self._core.outcomes()
        return (self._observe(), outcomes["reward"], outcomes["terminated"].view(bool),
                outcomes["truncated"].view(bool), self._info(outcomes))

    def _observe(self, final=False):
        observation = {}
        for part in self._parts:
            if part == "graph":
                graphs = self._core.graphs(final)
                observation[part] = {
                    name: tuple(graph[name] for graph in graphs) for name in graphs[0]
                }
            else:
                observation[part] = self._core.observe(part, final)
        return observation[self._parts[0]] if self._single else observation

    def _observe_final(self, final):
        """An object array with the last observation of each episode that ended, None elsewhere."""
        observation = self._observe(final=True)
        each = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(final):
            each[i] = _row(observation, i)
        return each

    def _info(self, outcomes):
        everyone = np.ones(self.num_envs, dtype=bool)
        errors = np.array([error or None for error in outcomes["errors"]], dtype=object)
        infos = {
            "program": self._names[outcomes["program"]],
            "op_count": outcomes["op_count"],
            "value": outcomes["value"],
            "changed": outcomes["changed"].view(bool),
            "steps": outcomes["steps"],
            "action_mask": self._core.action_masks(),
        }
        infos.update({"_" + name: everyone for name in list(infos)})
        failed = errors != None  # noqa: E711, by element
        if failed.any():
            infos["error"] = errors
            infos["_error"] = failed
        return infos

    def action_masks(self):
        """bool [num_envs, actions]: False where a pass is known to change nothing there."""
        return self._core.action_masks().astype(bool)

    def states(self):
        """The fingerprint of each environment's state."""
        return [self._core.fingerprint(i) for i in range(self.num_envs)]

    def recipes(self):
        """A dict of each environment's program and the passes that changed something."""
        return [self._core.recipe(i) for i in range(self.num_envs)]

    @property
    def deaths(self):
        """[(what the worker was doing, how it ended)] of every worker that was lost."""
        return self._session.deaths

    def close_extras(self, **kwargs):
        self._core = self._session = None


def _row(observation, i):
    if isinstance(observation, dict):
        return {name: _row(part, i) for name, part in observation.items()}
    return observation[i]
