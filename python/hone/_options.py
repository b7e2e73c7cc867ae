"""What both environments take: programs, options, and the spaces that come of them."""

import operator
import os
import pathlib

import gymnasium
import numpy as np

from hone import _core
from hone.fetch_xla import ready_worker
from hone.spaces import Ragged

_PARTS = ("opcodes", "opcode_counts", "cost", "peak_memory", "history", "graph")
_REWARD_PARTS = (
    "objective", "change", "headroom", "level", "shaping", "discount", "flops_weight",
    "transcendentals_weight", "final_default", "final_run_time", "failure",
)
# As hone::Autoreset: 0 next step, 1 same step, 2 disabled.
NO_AUTORESET = 2
# Dimensions that a graph's nodes show, and the kinds of its edges: core/program_arrays.h.
_GRAPH_DIMENSIONS = 6
_EDGE_KINDS = 3


def whole(what, value):
    """As an int; what is none is a ValueError."""
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{what} is a whole number, not {value!r}") from None


def whole_numbers(what, values):
    """As an array of int64; what are none is a ValueError."""
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise ValueError(f"{what} are whole numbers, not {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.int64)


def beginning(options, key, count):
    """The number of what an episode begins with, or None, of `options={key: number}` of a reset; there are `count`."""
    if not options:
        return None
    unknown = [name for name in options if name != key]
    if unknown:
        raise ValueError(f"a reset has the option {key!r}, not {unknown[0]!r}")
    if options[key] is None:
        return None
    number = whole(key, options[key])
    if not 0 <= number < count:
        raise ValueError(f"{key} {number}: there are {count}, the first is 0")
    return number


def read_programs(programs):
    """[(name, bytes)] of what names programs.

    Args:
      programs: a path of a file or a folder (every *.hlo, *.txt and *.pb below it), a URI such as
        "models/gpt2/hf_train_l4_d256_adamw", HLO text, a `hone.datasets.Dataset` or `Program`, or a
        sequence of these.

    Raises:
      ValueError: there is no such program.
    """
    from hone import datasets

    if isinstance(programs, (str, os.PathLike, datasets.Program)):
        programs = [programs]
    found = []
    for program in programs:
        if isinstance(program, datasets.Program):
            found.append((program.uri, pathlib.Path(program.path).read_bytes()))
            continue
        if isinstance(program, str) and program.lstrip().startswith("HloModule"):
            found.append((program.split(None, 2)[1].rstrip(","), program.encode()))
            continue
        if not str(program):
            raise ValueError("a program has no name")
        path = pathlib.Path(program)
        if path.is_dir():
            files = sorted(
                p for p in path.rglob("*") if p.suffix in (".hlo", ".txt", ".pb") and p.is_file())
            if not files:
                raise ValueError(f"{path} holds no *.hlo, *.txt or *.pb file")
            found += [(str(p), p.read_bytes()) for p in files]
        elif path.is_file():
            found.append((str(path), path.read_bytes()))
        else:
            found.append((str(program), pathlib.Path(datasets.find(str(program))).read_bytes()))
    if not found:
        raise ValueError("an environment needs at least one program")
    return found


def observation_parts(observation, known=_PARTS):
    """([part], whether a single one) of what the user gave."""
    single = isinstance(observation, str)
    parts = [observation] if single else list(observation)
    for part in parts:
        if part not in known:
            raise ValueError(f"there is no part {part!r} of an observation: there are "
                             + ", ".join(known))
    if not parts or len(set(parts)) != len(parts):
        raise ValueError("an observation has at least one part, and each once")
    return parts, single


def open_session(config):
    """A `_core.Session` of an environment's arguments, its programs read."""
    reward = config["reward"]
    if isinstance(reward, str):
        reward = {"objective": reward}
    unknown = set(reward) - set(_REWARD_PARTS)
    if unknown:
        raise ValueError(f"there is no part {sorted(unknown)[0]!r} of a reward: there are "
                         + ", ".join(_REWARD_PARTS))
    actions = config["actions"]
    options = {
        "actions": actions if isinstance(actions, str) else ",".join(actions),
        "stop_action": bool(config["stop_action"]),
        "traj_limit": int(config["traj_limit"]),
        "schedule": config["schedule"],
        "curriculum_episodes": int(config["curriculum_episodes"]),
        "use_table": bool(config["use_table"]),
        "observation": {part: True for part in config["parts"] if part in _PARTS},
        "reward": {k: v if k == "objective" else float(v) for k, v in reward.items()},
    }
    pool = {
        "workers": int(config["workers"]),
        "worker_path": ready_worker(target=config["target"]),
        "target": os.fspath(config["target"]),
        "pass_deadline": float(config["pass_deadline"]),
        "memory_limit": float(config["memory_limit"]),
        "rules": read_rules(config.get("rules", ())),
        "sandbox": bool(config.get("sandbox", True)),
    }
    return _core.Session(config["programs"], options, pool)


def read_rules(rules):
    """A path or several, as a list of texts."""
    return [os.fspath(path) for path in ([rules] if isinstance(rules, (str, os.PathLike)) else rules)]


def _box(low, high, shape, dtype):
    return gymnasium.spaces.Box(low, high, shape, dtype)


def part_space(part, session, traj_limit):
    largest = np.finfo(np.float64).max
    opcodes = (len(session.opcodes),)
    if part == "opcodes":
        return _box(0, np.finfo(np.float32).max, opcodes, np.float32)
    if part == "opcode_counts":
        return _box(0, np.iinfo(np.int32).max, opcodes, np.int32)
    if part == "cost":
        return _box(-1, largest, (len(_core.COST_FEATURES),), np.float64)
    if part == "peak_memory":
        return _box(-1, largest, (1,), np.float64)
    if part == "history":
        return _box(-1, len(session.actions) - 1, (traj_limit,), np.int64)
    int32 = np.iinfo(np.int32).max
    float32 = float(np.finfo(np.float32).max)
    return gymnasium.spaces.Dict({
        "opcode": Ragged(0, len(session.opcodes) - 1, (), np.int32),
        "type": Ragged(0, len(session.types) - 1, (), np.int32),
        "rank": Ragged(0, 64, (), np.int32),
        "computation": Ragged(0, int32, (), np.int32),
        "dimensions": Ragged(0, np.iinfo(np.int64).max, (_GRAPH_DIMENSIONS,), np.int64),
        "flops": Ragged(0, float32, (), np.float32),
        "bytes": Ragged(0, float32, (), np.float32),
        "edge_start": Ragged(0, int32, (), np.int32),
        "edge_source": Ragged(0, int32, (), np.int32),
        "edge_kind": Ragged(0, _EDGE_KINDS - 1, (), np.int8),
    })


def observation_space(parts, single, session, traj_limit):
    spaces = {part: part_space(part, session, traj_limit) for part in parts}
    return spaces[parts[0]] if single else gymnasium.spaces.Dict(spaces)
