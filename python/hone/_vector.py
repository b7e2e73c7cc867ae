"""What the vector environments share, and those over programs."""

import json

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from hone import _options
from hone._environment import part_of

_AUTORESET = {AutoresetMode.NEXT_STEP: 0, AutoresetMode.SAME_STEP: 1,
              AutoresetMode.DISABLED: _options.NO_AUTORESET}


class CoreVectorEnv(gymnasium.vector.VectorEnv):
    """A vector in C++, `self._core`. A subclass says by `_part` what one part of the observations is,
    by `_columns` what else is told of a step, and in `self._parts` and `self._single` what is observed.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
    _begins_on = "program"  # the key of a reset's options that says what with

    def _start(self, num_envs, autoreset_mode, render_mode, make_core):
        """`make_core(count, autoreset)` makes the vector."""
        if render_mode is not None:
            raise ValueError("a vector of environments is not rendered")
        if num_envs < 1:
            raise ValueError("num_envs must be at least 1")
        mode = AutoresetMode(autoreset_mode)
        self._core = make_core(num_envs, _AUTORESET[mode])
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.num_envs = num_envs

    def _set_spaces(self, action, observation):
        self.single_action_space = action
        self.action_space = batch_space(action, self.num_envs)
        self.single_observation_space = observation
        self.observation_space = batch_space(observation, self.num_envs)

    def reset(self, *, seed=None, options=None):
        """Resets all, or, with `options={"reset_mask": bool [num_envs]}`, those of the mask.

        Args:
          seed: an int (environment i takes seed + i), or one or None for each.
          options: also {"program": i}, the program to begin with, or {"task": i}.
        """
        super().reset(seed=seed if seed is None or isinstance(seed, int) else None)
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        else:
            seeds = [None if s is None else int(s) for s in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"{self.num_envs} environments need as many seeds")
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        mask = [] if mask is None else [bool(m) for m in mask]
        if mask and len(mask) != self.num_envs:
            raise ValueError(f"reset_mask has {len(mask)} places, not {self.num_envs}")
        self._core.reset(seeds, mask, _options.beginning(options, self._begins_on, len(self._names)))
        return self._observe(), self._info(self._core.outcomes())

    def _take(self, actions):
        self._core.step(_options.whole_numbers("actions", actions))

    def step(self, actions):
        """An action for each. Returns observations, rewards, terminations, truncations, infos."""
        self._take(actions)
        outcomes = self._core.outcomes()
        infos = self._info(outcomes)
        if outcomes["has_final"].any():
            final = outcomes["has_final"].view(bool)
            infos["final_obs"] = self._observe_final(final)
            infos["_final_obs"] = final
            infos["final_info"] = self._info(self._core.outcomes(True), final=True)
            infos["_final_info"] = final
        return (self._observe(), outcomes["reward"], outcomes["terminated"].view(bool),
                outcomes["truncated"].view(bool), infos)

    def send(self, env, action):
        """Begins a step of one environment, which is not under way."""
        self._core.send(env, self._one(action))

    @staticmethod
    def _one(action):
        return int(action)

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
            stacked = self._part(self._core, part, final)
            if part == "graph":
                stacked = {name: tuple(graph[name] for graph in stacked) for name in stacked[0]}
            observation[part] = stacked
        return observation[self._parts[0]] if self._single else observation

    def _observe_final(self, final):
        """An object array with the last observation of each episode that ended, None elsewhere."""
        observation = self._observe(final=True)
        each = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(final):
            each[i] = _row(observation, i)
        return each

    def _info(self, outcomes, final=False):
        everyone = np.ones(self.num_envs, dtype=bool)
        errors = np.array([error or None for error in outcomes["errors"]], dtype=object)
        infos = {**self._columns(outcomes, final), "changed": outcomes["changed"].view(bool),
                 "action_mask": self._core.action_masks()}
        infos.update({"_" + name: everyone for name in list(infos)})
        failed = errors != None  # noqa: E711, by element
        if failed.any():
            infos["error"] = errors
            infos["_error"] = failed
        return infos

    def action_masks(self):
        """bool [num_envs, actions]: False for what would do nothing there."""
        return self._core.action_masks().astype(bool)

    def close_extras(self, **kwargs):
        self._core = self._session = None


class ProgramVectorEnv(CoreVectorEnv):
    """Environments over a few workers. A subclass has `_make_core(session, count, autoreset)`."""

    _part = staticmethod(part_of)

    def _open(self, config, num_envs, autoreset_mode, render_mode):
        self._config = config
        self._parts, self._single = config["parts"], config["single"]
        self._names = np.array([name for name, _ in config["programs"]], dtype=object)

        def make_core(count, autoreset):
            self._session = _options.open_session(config)
            return self._make_core(self._session, count, autoreset)

        self._start(num_envs, autoreset_mode, render_mode, make_core)

    def _more_info(self, outcomes, final):
        return {}

    def _columns(self, outcomes, final):
        return {
            "program": self._names[outcomes["program"]],
            "op_count": outcomes["op_count"],
            "value": outcomes["value"],
            "steps": outcomes["steps"],
            **self._more_info(outcomes, final),
        }

    def states(self):
        """The fingerprint of each environment's state."""
        return [self._core.fingerprint(i) for i in range(self.num_envs)]

    def recipes(self):
        """How each environment's state was made, as `hone.PassOrderEnv.recipe`."""
        return [json.loads(self._core.recipe(i)) for i in range(self.num_envs)]

    @property
    def deaths(self):
        """[(what the worker was doing, how it ended)] of every worker that was lost."""
        return self._session.deaths


def _row(observation, i):
    if isinstance(observation, dict):
        return {name: _row(part, i) for name, part in observation.items()}
    return observation[i]
