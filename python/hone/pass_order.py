"""Pass ordering as a Gymnasium environment."""

import copy
import os

import gymnasium
import numpy as np

from hone import _core, _options

# In a child that was forked off, the parent's threads and workers are not there: what belongs to
# them is kept, untouched, until the child ends.
_left_by_parent = []


class PassOrderEnv(gymnasium.Env):
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

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(self, programs, *, actions="simplify", observation="opcodes", reward="op_count",
                 traj_limit=40, stop_action=False, schedule="round_robin", curriculum_episodes=20,
                 use_table=True, pass_deadline=60.0, memory_limit=1024, workers=1, rules=(),
                 sandbox=True, target="cpu", render_mode=None):
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is None or 'ansi', not {render_mode!r}")
        parts, single = _options.observation_parts(observation)
        self._config = {
            # Read now, so that a copy of this environment needs no files.
            "programs": _options.read_programs(programs),
            "actions": actions, "reward": reward, "parts": parts,
            "single": single, "traj_limit": traj_limit, "stop_action": stop_action,
            "schedule": schedule, "curriculum_episodes": curriculum_episodes,
            "use_table": use_table, "pass_deadline": pass_deadline, "memory_limit": memory_limit,
            "workers": workers, "rules": _options.read_rules(rules), "sandbox": sandbox,
            "target": target,
        }
        self.render_mode = render_mode
        session = _options.open_session(self._config)
        self._attach(session, _core.VectorEnv(session, 1, 2))
        self.pass_names = session.actions
        self.action_space = gymnasium.spaces.Discrete(len(self.pass_names))
        self.observation_space = _options.observation_space(parts, single, session, traj_limit)

    def _attach(self, session, core):
        self._session = session
        self._core = core
        self._owner = os.getpid()

    def _here(self):
        """The C++ side, made again where this process was forked off since."""
        if self._core is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")
        if self._owner != os.getpid():
            snapshot = self._snapshot
            _left_by_parent.append((self._session, self._core))
            self._restore(snapshot)
        return self._core

    # What makes the state again: the schedule before the reset, and the actions since.
    def _remember(self, program=None):
        core = self._core
        self._snapshot = {"schedule": core.schedule_state(0), "program": program, "actions": []}

    def _restore(self, snapshot):
        session = _options.open_session(self._config)
        self._attach(session, _core.VectorEnv(session, 1, 2))
        self._snapshot = snapshot
        if snapshot is None:
            return
        if snapshot["program"] is not None:
            self._core.reset([None], [], snapshot["program"])
            for action in snapshot["actions"]:
                self._core.step(np.array([action], np.int64))
        self._core.set_schedule_state(0, snapshot["schedule"])

    def reset(self, *, seed=None, options=None):
        """Begins an episode. `options={"program": i}` begins it on the i-th program."""
        super().reset(seed=seed)
        core = self._here()
        program = None if options is None else options.get("program")
        core.reset([seed], [], program)
        outcomes = core.outcomes()
        self._remember(int(outcomes["program"][0]))
        return self._observe(), self._info(outcomes)

    def step(self, action):
        """Runs a pass. Returns observation, reward, terminated, truncated, info."""
        core = self._here()
        core.step(np.array([action], np.int64))
        self._snapshot["actions"].append(int(action))
        outcomes = core.outcomes()
        return (self._observe(), float(outcomes["reward"][0]), bool(outcomes["terminated"][0]),
                bool(outcomes["truncated"][0]), self._info(outcomes))

    def _observe(self):
        core = self._core
        observation = {
            part: core.graphs()[0] if part == "graph" else core.observe(part)[0]
            for part in self._config["parts"]
        }
        return observation[self._config["parts"][0]] if self._config["single"] else observation

    def _info(self, outcomes):
        program = int(outcomes["program"][0])
        info = {
            "program": self._config["programs"][program][0],
            "op_count": int(outcomes["op_count"][0]),
            "value": float(outcomes["value"][0]),
            "changed": bool(outcomes["changed"][0]),
            "steps": int(outcomes["steps"][0]),
            "action_mask": self._core.action_masks()[0],
        }
        if outcomes["errors"][0]:
            info["error"] = outcomes["errors"][0]
        return info

    def action_masks(self):
        """bool [actions]: False where a pass is known to change nothing in this state."""
        return self._here().action_masks()[0].astype(bool)

    def render(self):
        """The state's HLO text."""
        return self.hlo_text() if self.render_mode == "ansi" else None

    @property
    def state(self):
        """The state's structural fingerprint, 32 hexadecimal digits."""
        return self._here().fingerprint(0)

    def hlo_text(self):
        """The state as HLO text, rebuilt from the program and checked by XLA's verifier."""
        return self._here().text(0)

    def recipe(self):
        """A dict of the program and the passes that changed something."""
        return self._here().recipe(0)

    def verify(self, inputs=1, budget_seconds=60.0, seed=0):
        """Runs program and state on XLA:CPU with the same inputs and compares every output.

        Returns:
          A dict: verdict ("equal", "different" or "cannot tell"), method, reason, inputs,
          worst_error (as a multiple of the tolerance), seconds.
        """
        return self._here().verify(0, inputs, budget_seconds, seed)

    @property
    def deaths(self):
        """[(what the worker was doing, how it ended)] of every worker that was lost."""
        self._here()
        return self._session.deaths

    def failures(self):
        """{(pass, message): count} of the steps that failed."""
        self._here()
        return self._session.failures()

    def fork(self):
        """Another environment in the same state, with the same workers and transition table."""
        forked = copy.copy(self)
        forked._attach(self._session, self._here().fork())
        forked._snapshot = copy.deepcopy(self._snapshot)
        forked._np_random = copy.deepcopy(self._np_random)
        return forked

    def __deepcopy__(self, memo):
        return self.fork()

    def __getstate__(self):
        state = self.__dict__.copy()
        self._here()
        state["_session"] = state["_core"] = state["_owner"] = None
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._restore(self._snapshot)

    _snapshot = None

    def close(self):
        """Ends the workers, unless a fork of this environment uses them too."""
        self._core = self._session = None
