"""What one environment over rewrites and a vector of them share."""

import gymnasium
import numpy as np

from hone import _core, _environment, _options

_PARTS = ("sites", "turn", "opcodes", "opcode_counts", "cost", "peak_memory", "graph")


def configure(programs, pipeline, mode, observation, **options):
    """What both environments over rewrites are made of: a config for `_options.open_session`."""
    if mode not in ("sites", "batch"):
        raise ValueError(f"mode is 'sites' or 'batch', not {mode!r}")
    parts, single = _options.observation_parts(observation, _PARTS)
    pipeline = pipeline if isinstance(pipeline, str) else ",".join(pipeline)
    return {
        # Read now, so that a copy of an environment needs no files.
        "programs": _options.read_programs(programs), "actions": pipeline, "batch": mode == "batch",
        "parts": parts, "single": single, "stop_action": False,
        **{**options, "rules": _options.read_rules(options["rules"])},
    }


def make_core(session, config, count, autoreset):
    """The vector in C++ of such a config."""
    return _core.RewritesEnvs(
        session, config["actions"], config["loops"], config["batch"], config["max_sites"],
        bool(config["enabled"]), count, autoreset)


def spaces(config, session, pipeline):
    """The action space and the observation space."""
    sites = config["max_sites"]
    action = (gymnasium.spaces.MultiBinary(sites) if config["batch"]
              else gymnasium.spaces.Discrete(sites + 1))
    parts = {part: _part_space(part, config, session, pipeline) for part in config["parts"]}
    return action, (parts[config["parts"][0]] if config["single"]
                    else gymnasium.spaces.Dict(parts))


def _part_space(part, config, session, pipeline):
    box = gymnasium.spaces.Box
    if part == "sites":
        largest = np.finfo(np.float32).max
        return box(-largest, largest, (config["max_sites"], len(_core.SITE_FEATURES)), np.float32)
    if part == "turn":
        return box(0, np.array([max(1, len(pipeline) - 1), config["loops"]]), (2,), np.int64)
    return _options.part_space(part, session, config["traj_limit"])


def part_of(core, part, final=False):
    """One part of the observations of a vector, stacked; of graphs a list."""
    if part == "sites":
        return core.site_features(final)
    if part == "turn":
        return core.turns(final)["turn"]
    return _environment.part_of(core, part, final)
