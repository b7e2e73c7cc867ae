"""Rewrites of passes as a Gymnasium environment, and simple ways to choose among them."""


import numpy as np

from hone import _core, _options, _rewrites
from hone._environment import ProgramEnv

HEURISTICS = _core.REWRITE_HEURISTICS
SITE_FEATURES = _core.SITE_FEATURES
Decisions = _core.Decisions


class RewritesEnv(ProgramEnv):
    """An agent decides which rewrites of a pipeline of passes are made (HloEnv, Oh et al. 2022).

    The passes have their turns. Each lists what it would do to the program as it stands. With
    mode="sites" an action makes one of these rewrites, after which the pass lists anew, or, the last
    action, goes on to the next pass. With mode="batch" an action says of every listed rewrite
    whether it is made, and goes on. A pass that offers nothing is passed over. The episode is
    terminated after the last pass of the last loop, or of a loop that changed nothing.

    Nothing that the compiler does makes `step` raise: the state is as it was, `info["error"]` says
    what happened, the reward is less by the part `failure`, and what failed is not offered again in
    this turn of the pass.

    Args:
      programs: as for `hone.PassOrderEnv`.
      pipeline: pass names in order, a list or with commas between them; sets of passes are allowed.
      loops: how often the pipeline is gone through at most.
      mode: "sites", Discrete(max_sites + 1), or "batch", MultiBinary(max_sites).
      max_sites: rewrites of a listing that can be acted on; `info["sites_truncated"]` says that there
        are more. Those beyond are declined.
      enabled: with mode="batch", rewrites that come up only because others are made are made too;
        so all ones is the pass as it is.
      observation: one part, or several, and observations are a dict. "sites": float32
        [max_sites, features], zeros beyond the listing, see `hone.rewrites.SITE_FEATURES`. "turn":
        int64 [2], which pass of the pipeline, and which loop. The others as for `hone.PassOrderEnv`.
      reward, traj_limit, schedule, curriculum_episodes, use_table, pass_deadline, memory_limit,
        workers, rules, sandbox, target: as for `hone.PassOrderEnv`.

    Raises:
      ValueError: no such program, pass, mode, part or objective.
    """

    _part = staticmethod(_rewrites.part_of)

    def __init__(self, programs, *, pipeline="algsimp,cse,dce", loops=1, mode="sites", max_sites=128,
                 enabled=True, observation=("sites", "turn"), reward="op_count", traj_limit=200,
                 schedule="round_robin", curriculum_episodes=20, use_table=True,
                 pass_deadline=60.0, memory_limit=1024, workers=1, rules=(), sandbox=True,
                 target="cpu", render_mode=None):
        self._open(_rewrites.configure(
            programs, pipeline, mode, observation, loops=loops, max_sites=max_sites,
            enabled=enabled, reward=reward, traj_limit=traj_limit, schedule=schedule,
            curriculum_episodes=curriculum_episodes, use_table=use_table,
            pass_deadline=pass_deadline, memory_limit=memory_limit, workers=workers, rules=rules,
            sandbox=sandbox, target=target), render_mode)
        self.pipeline = self._core.pipeline
        self.action_space, self.observation_space = _rewrites.spaces(
            self._config, self._session, self.pipeline)

    def _make_core(self, session):
        return _rewrites.make_core(session, self._config, 1, _options.NO_AUTORESET)

    def reset(self, *, seed=None, options=None):
        """Begins an episode. `options={"program": i}` begins it on the i-th program."""
        super().reset(seed=seed)
        return self._begin(seed, options)

    def step(self, action):
        """Makes rewrites, or goes on. Returns observation, reward, terminated, truncated, info."""
        core = self._here()
        if self._config["batch"]:
            core.step_batch(np.ascontiguousarray(action, np.int8)[None])
        else:
            core.step(np.array([_options.whole("an action", action)], np.int64))
        return self._stepped()

    def _info(self, outcomes):
        turns = self._core.turns()
        return {
            **super()._info(outcomes),
            "flops": float(outcomes["flops"][0]),
            "bytes_accessed": float(outcomes["bytes_accessed"][0]),
            "pass": turns["pass"][0], "loop": int(turns["turn"][0, 1]),
            "sites": int(turns["sites"][0]), "sites_truncated": bool(turns["sites_truncated"][0]),
        }

    def action_masks(self):
        """bool: which sites are offered; with mode="sites" also the action that goes on."""
        return self._here().action_masks()[0].astype(bool)

    def listing(self):
        """What the pass whose turn it is offers: sites, conflicts, separable."""
        return self._here().listing(0)

    def made(self):
        """[(pass, Decisions)] of what changed something, from the program on."""
        return self._here().made(0)


def choose(heuristic, rewrites, objective="op_count", seed=0):
    """int8 [sites]: what a simple heuristic accepts of a listing.

    Args:
      heuristic: "all"; "none"; "by_delta", what lowers the objective, best first, and of what
        conflicts only one; "by_size", what leaves no more instructions than it finds; "random", each
        with probability 1/2.
      rewrites: a listing, of `RewritesEnv.listing()` or `hone.hloenv`.
      objective: "op_count", "flops" or "bytes".
      seed: of "random".
    """
    return _core.rewrite_heuristic(heuristic, rewrites, objective, seed)


def play(env, heuristic, seed=0, objective="op_count", program=None):
    """One episode of a `RewritesEnv` with mode="batch" under a heuristic.

    Args:
      env: the environment.
      heuristic: as for `choose`; or a function of a listing that gives a 0 or 1 for each site.
      seed: of the environment and of "random".
      objective: as for `choose`.
      program: which program; the schedule's, unless given.

    Returns:
      A dict: program, initial and result (the objective's values), steps, sites, accepted, errors.
    """
    core = env.unwrapped
    _, info = env.reset(seed=seed, options=None if program is None else {"program": program})
    out = {"program": info["program"], "initial": info["value"], "steps": 0, "sites": 0,
           "accepted": 0, "errors": []}
    over = False
    while not over:
        answers = np.zeros(env.action_space.n, np.int8)
        chosen = (heuristic(core.listing()) if callable(heuristic) else
                  choose(heuristic, core.listing(), objective, seed + out["steps"]))[:len(answers)]
        answers[:len(chosen)] = chosen
        out["sites"] += info["sites"]
        out["accepted"] += int(np.sum(chosen))
        _, _, terminated, truncated, info = env.step(answers)
        out["steps"] += 1
        if "error" in info:
            out["errors"].append(info["error"])
        over = terminated or truncated
    out["result"] = info["value"]
    return out


def choose_sites(rewrites, sites, enabled=False):
    """`Decisions` that make exactly these sites of a listing, on the state that was listed.

    With `enabled`, what comes up only because they are made is made too, as the pass does it.
    """
    chosen = {int(site) for site in sites}
    if any(site < 0 or site >= len(rewrites) for site in chosen):
        raise ValueError(f"sites are numbers from 0 to {len(rewrites) - 1}")
    if not chosen:
        return _core.Decisions("decline")
    listed = rewrites.sites
    if not enabled:
        return _core.Decisions("decline", 0, {listed[i].place: True for i in chosen})
    return _core.Decisions(
        "accept", 0, {s.place: False for i, s in enumerate(listed) if i not in chosen})


def choose_contents(rewrites, sites):
    """The same for other programs: what looks like a chosen site is made, by majority."""
    votes = {}
    chosen = set(sites)
    for i, site in enumerate(rewrites.sites):
        votes[site.content] = votes.get(site.content, 0) + (1 if i in chosen else -1)
    return _core.Decisions("decline", 0, {key: True for key, vote in votes.items() if vote > 0})


def plan_to_json(pass_name, decisions):
    """The text of a plan, as `hone rewrites --plan-out` writes it and `--plan` takes it."""
    return _core.plan_to_json(pass_name, decisions)


def plan_from_json(text):
    """(pass name, Decisions) of a plan's text.

    Raises:
      ValueError: it is no plan.
    """
    return _core.plan_from_json(text)
