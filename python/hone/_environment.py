"""What the environments over programs share: workers, copies, pickling, results."""

import copy
import json

import gymnasium

from hone import _options


def part_of(core, part, final=False):
    """One part of the observations of a vector, stacked; of graphs a list."""
    return core.graphs(final) if part == "graph" else core.observe(part, final)


class ProgramEnv(gymnasium.Env):
    """An environment alone, which is a vector of one in C++. A subclass has `_make_core(session)`."""

    _part = staticmethod(part_of)

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def _open(self, config, render_mode):
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is None or 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self._config = config
        self._session = _options.open_session(config)
        self._core = self._make_core(self._session)

    def _here(self):
        """The C++ side, made again where this process was forked off since."""
        if self._core is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")
        if not self._core.alive:
            self._again(self._core.save(0))
        return self._core

    def _again(self, saved):
        session = _options.open_session(self._config)
        core = self._make_core(session)
        core.restore(0, saved)
        self._session, self._core = session, core

    def _begin(self, seed, options):
        core = self._here()
        core.reset([seed], [], _options.beginning(options, "program", len(self.program_names)))
        return self._observe(), self._info(core.outcomes())

    def _stepped(self):
        outcomes = self._core.outcomes()
        return (self._observe(), float(outcomes["reward"][0]), bool(outcomes["terminated"][0]),
                bool(outcomes["truncated"][0]), self._info(outcomes))

    def _observe(self):
        parts = self._config["parts"]
        observation = {part: self._part(self._core, part)[0] for part in parts}
        return observation[parts[0]] if self._config["single"] else observation

    def _info(self, outcomes):
        info = {
            "program": self.program_names[int(outcomes["program"][0])],
            "op_count": int(outcomes["op_count"][0]),
            "value": float(outcomes["value"][0]),
            "changed": bool(outcomes["changed"][0]),
            "steps": int(outcomes["steps"][0]),
            "action_mask": self._core.action_masks()[0],
        }
        if outcomes["errors"][0]:
            info["error"] = outcomes["errors"][0]
        return info

    @property
    def program_names(self):
        """In the order of `reset(options={"program": i})`."""
        return [name for name, _ in self._config["programs"]]

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
        """How the state was made of the program, as a dict.

        Written to a file as JSON, `hone replay` makes the same bytes of it; "passes" are those that
        changed something, in order, each a name or, where only some of its rewrites were made, an
        object with the decisions about them.
        """
        return json.loads(self._here().recipe(0))

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
        core = self._here().fork()
        forked = object.__new__(type(self))
        forked.__dict__.update(self.__dict__)
        forked._core = core
        forked._np_random = copy.deepcopy(self._np_random)
        return forked

    def __copy__(self):
        return self.fork()

    def __deepcopy__(self, memo):
        return self.fork()

    def __getstate__(self):
        state = self.__dict__.copy()
        state["_core"] = self._here().save(0)
        state["_session"] = None
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._again(self._core)

    def close(self):
        """Ends the workers, unless a fork of this environment uses them too."""
        self._core = self._session = None
