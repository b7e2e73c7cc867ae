"""Schedules of loop nests as a Gymnasium environment."""

import os
import pathlib

import gymnasium
import numpy as np

from hone import _core, _options

PARTS = ("loops", "accesses", "operations", "states", "history")  # that are observed unless others are given
_ALL_PARTS = (*PARTS, "graph")
TASKS = dict(_core.LOOP_TASKS)


class LoopsEnv(gymnasium.Env):
    """An agent schedules the loops of a kernel (Bendib et al. 2024, for MLIR), in a few steps a nest.

    A task is a small graph of operations over tensors; its operations are loop nests. A step decides
    something about one of them: pack, interchange, parallel, tile, fuse, vectorize or unroll. Real
    MLIR makes machine code of it (docs/loops.md).

    With actions="flat" an action is a number, one of sixteen legal decisions of a kind at a site, or,
    the last, stop. With actions="product" it is a point of a product of subspaces: a site, a kind (the
    last is stop), and a number for each of eight loops: of tiles, 0 leaves the loop whole and i tiles it
    by its i-th divisor; of an interchange the loops are sorted by their numbers; of fuse the first one
    counts nests.

    Nothing that MLIR does makes `step` raise: the state is as it was and `info["error"]` says why.

    Args:
      tasks: names of `hone.loops.TASKS`, files, or texts; one, or a list.
      actions: "flat", Discrete, or "product", MultiDiscrete.
      observation: one part, or several, and observations are a dict. "loops": float32
        [sites, 8, 4]: log2 of the extent and of a tile's, whether it reduces, whether it exists.
        "accesses": float32 [sites, 4, 6, 8]: of three reads and the write, for each dimension the
        loops' coefficients. "operations": float32 [sites, 18], counts by kind. "states": float32
        [sites, 8]: packed, parallel, tiles, fused, vectorised, unrolled, steps, exists. "graph":
        float32 [sites, sites]. "history": int64, the actions so far, then -1.
      reward: "immediate", the logarithm of a step's speed-up, or "final", of all steps' at the end.
      measure: "time", of kernels that run, paired with the rules of thumb's; or "estimate", a cost
        that is the same everywhere and needs no hone-loops.
      steps: decisions a nest, as published 5; then the episode is truncated.
      threads: that share the work; the machine's unless given.
      failure: taken off the reward where a decision is not made.
      sandbox: False lets hone-loops do what this user may.

    Raises:
      ValueError: no such task, part, reward or measure.
      FileNotFoundError: measure is "time", and there is no hone-loops.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(self, tasks="matmul_64_64_64", *, actions="flat", observation=PARTS, reward="immediate",
                 measure="time", steps=5, threads=0, failure=0.0, sandbox=True, render_mode=None):
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is None or 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self._parts, self._single = observation_parts(observation)
        self.task_names = task_names(tasks)
        self._product = actions == "product"
        self._core = make_core(
            self.task_names, actions=actions, reward=reward, measure=measure, steps=steps,
            threads=threads, failure=failure, workers=1, sandbox=sandbox, count=1,
            autoreset=_options.NO_AUTORESET)
        self.action_space, self.observation_space = make_spaces(
            self._core, self._product, self._parts, self._single)

    def _here(self):
        if self._core is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")
        return self._core

    def reset(self, *, seed=None, options=None):
        """Begins an episode. `options={"task": i}` begins it on the i-th task."""
        super().reset(seed=seed)
        self._here().reset([seed], [], _options.beginning(options, "task", len(self.task_names)))
        return self._observe(), self._info(self._core.outcomes())

    def step(self, action):
        """Makes a decision. Returns observation, reward, terminated, truncated, info."""
        take(self._here(), self._product, [action])
        outcomes = self._core.outcomes()
        return (self._observe(), float(outcomes["reward"][0]), bool(outcomes["terminated"][0]),
                bool(outcomes["truncated"][0]), self._info(outcomes))

    def _observe(self):
        observation = {part: self._core.observe(part)[0] for part in self._parts}
        return observation[self._parts[0]] if self._single else observation

    def _info(self, outcomes):
        info = {
            "speedup": float(outcomes["speedup"][0]),
            "schedule": outcomes["schedules"][0],
            "changed": bool(outcomes["changed"][0]),
            "task": self.task_names[int(outcomes["task"][0])],
            "action_mask": self._core.action_masks()[0],
        }
        if outcomes["errors"][0]:
            info["error"] = outcomes["errors"][0]
        return info

    def action_masks(self):
        """bool: of "flat", which actions are offered; of "product", all subspaces one after another,
        each with what is legal for some choice of the others."""
        return self._here().action_masks()[0].astype(bool)

    @property
    def schedule(self):
        """The decisions so far, in the text form of docs/loops.md."""
        return self._here().outcomes()["schedules"][0]

    @property
    def task(self):
        """The task in the text form of docs/loops.md."""
        return self._here().task_text(0)

    @property
    def restarts(self):
        """How many processes of hone-loops were lost."""
        return self._here().restarts

    def render(self):
        """The schedule."""
        return self.schedule if self.render_mode == "ansi" else None

    def close(self):
        """Ends hone-loops."""
        self._core = None


def find_program():
    """The path of this package's hone-loops.

    Raises:
      FileNotFoundError: there is none.
    """
    package = pathlib.Path(__file__).resolve().parent
    for place in (package / "bin", package.parents[1] / "build" / "bin"):
        if os.access(place / "hone-loops", os.X_OK):
            return str(place / "hone-loops")
    raise FileNotFoundError(
        "there is no hone-loops, for MLIR 19 was not there when hone was built: run "
        "`setup/install --loops` and build again; or use measure='estimate'")


def make_core(names, *, actions, reward, measure, steps, threads, failure, workers, sandbox, count,
              autoreset):
    """The vector in C++ of so many environments."""
    _one_of("actions", actions, ("flat", "product"))
    _one_of("reward", reward, ("immediate", "final"))
    _one_of("measure", measure, ("time", "estimate"))
    return _core.LoopsEnvs(
        [_read(name) for name in names], int(steps), reward == "immediate", measure == "estimate",
        actions == "product", int(threads), float(failure), int(workers), bool(sandbox),
        "" if measure == "estimate" else find_program(), count, autoreset)


def make_spaces(core, product, parts, single):
    """The action space and the observation space of one environment."""
    spaces = gymnasium.spaces
    action = (spaces.MultiDiscrete([core.sites, _core.LOOP_KINDS + 1]
                                   + [_core.LOOP_CHOICES] * _core.SEEN_LOOPS)
              if product else spaces.Discrete(core.actions))
    boxes = {part: _part_space(core, part) for part in parts}
    return action, boxes[parts[0]] if single else spaces.Dict(boxes)


def _part_space(core, part):
    if part == "history":
        return gymnasium.spaces.Box(-1, core.actions, (core.most_steps,), np.int64)
    largest = np.finfo(np.float32).max
    return gymnasium.spaces.Box(-largest, largest, core.observe(part).shape[1:], np.float32)


def observation_parts(observation):
    """The parts, and whether an observation is one alone."""
    single = isinstance(observation, str)
    parts = [observation] if single else list(observation)
    for part in parts:
        _one_of("observation", part, _ALL_PARTS)
    if not parts or len(set(parts)) != len(parts):
        raise ValueError("an observation has at least one part, and each once")
    return parts, single


def task_names(tasks):
    """One name or many, as a list."""
    names = [tasks] if isinstance(tasks, (str, os.PathLike)) else list(tasks)
    return [os.fspath(name) for name in names]


def take(core, product, actions):
    """A step of each environment."""
    actions = np.ascontiguousarray(actions, dtype=np.int64)
    if product:
        core.step_products(actions)
    else:
        core.step(actions)


def _one_of(what, given, known):
    if given not in known:
        raise ValueError(f"{what} is one of {', '.join(map(repr, known))}, not {given!r}")


def _read(name):
    if name in TASKS:
        return TASKS[name]
    if "\n" in name:
        return name
    try:
        with open(name, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise ValueError(f"{name} is neither a task of hone.loops.TASKS nor a file: {error}") from error
