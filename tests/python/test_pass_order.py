"""The Gymnasium environment."""

import copy
import json
import os
import pathlib
import pickle
import signal
import subprocess
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hone

EVERY_PART = ["opcodes", "opcode_counts", "cost", "peak_memory", "history", "graph"]


def make(programs, **options):
    return gymnasium.make("hone/PassOrder-v0", programs=programs, **options).unwrapped


def play(env, steps, seed=0):
    """What came of random actions, as plain numbers."""
    rng = np.random.default_rng(seed)
    log = []
    over = True
    for _ in range(steps):
        if over:
            env.reset()
        _, reward, terminated, truncated, info = env.step(rng.integers(env.action_space.n))
        over = terminated or truncated
        log.append((env.state, reward, terminated, truncated, info["op_count"]))
    return log


@pytest.mark.parametrize("options", [
    {},
    {"observation": EVERY_PART, "stop_action": True,
     "reward": {"change": 1, "shaping": 0.5, "final_default": 1}},
    {"observation": ["graph"], "reward": "bytes", "schedule": "random"},
    {"observation": "cost", "actions": ["dce", "algsimp", "cse"]},
])
def test_gymnasium_finds_nothing_to_say(small, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(small, **options))


def test_an_observation_is_what_the_space_says(small):
    env = make(small, observation=EVERY_PART)
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    for action in range(12):
        observation, _, _, _, info = env.step(action)
        assert observation in env.observation_space
        assert observation["opcode_counts"].sum() == info["op_count"]
        assert len(observation["graph"]["opcode"]) == info["op_count"]
        assert np.isclose(observation["opcodes"].sum() * 145, info["op_count"], rtol=1e-5)
        counts = np.bincount(observation["graph"]["opcode"], minlength=len(env._session.opcodes))
        assert (counts == observation["opcode_counts"]).all()
    assert (observation["history"][:12] == np.arange(12)).all()
    assert (observation["history"][12:] == -1).all()


def test_the_same_seed_gives_the_same(small):
    assert play(make(small), 60) == play(make(small), 60)


def workers_of(process):
    """Processes that it started, with the mode of their filter of system calls."""
    found = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:  # it has ended
            continue
        if int(lines["PPid"]) == process:
            found[int(lines["Pid"])] = lines.get("Seccomp")
    return found


@pytest.mark.parametrize("sandbox", [True, False])
def test_workers_are_locked_up_unless_told_otherwise(small, sandbox):
    before = workers_of(os.getpid())
    env = hone.PassOrderEnv(small, sandbox=sandbox)
    env.reset(seed=1)
    env.step(0)
    modes = [mode for pid, mode in workers_of(os.getpid()).items() if pid not in before]
    assert modes == ["2" if sandbox else "0"]
    env.close()


def test_masks_say_what_is_known_to_change_nothing(small):
    env = make(small, traj_limit=10)
    env.reset()
    assert env.action_masks().all()
    _, _, _, _, info = env.step(0)
    mask = env.action_masks()
    assert mask.dtype == bool
    assert (mask == info["action_mask"].astype(bool)).all()
    if not info["changed"]:
        assert not mask[0]


def test_a_crash_is_a_step(finding):
    env = make(finding, actions=["dce:call_analysis", "algsimp"], reward={"failure": 2})
    env.reset()
    before = env.state
    _, reward, _, _, info = env.step(0)
    assert "error" in info and "killed" in info["error"]
    assert reward == -2
    assert env.state == before
    assert len(env.deaths) == 1
    assert list(env.failures().values()) == [1]
    assert "error" not in env.step(1)[4]


def test_pickled_and_forked_environments_go_on_alike(small):
    env = make(small, schedule="random")
    env.reset(seed=3)
    for action in (1, 20, 33):
        env.step(action)
    others = [pickle.loads(pickle.dumps(env)), env.fork(), copy.deepcopy(env)]
    expected = play(env, 5)
    for other in others:
        assert play(other, 5) == expected


def test_a_child_of_a_fork_has_workers_of_its_own(small, in_a_child):
    env = make(small)
    env.reset(seed=3)
    env.step(20)
    state, pids, log = in_a_child(
        lambda: (env.state, env._session.pids, play(env, 3)))
    assert state == env.state
    assert not set(pids) & set(env._session.pids)
    assert log == play(env, 3)


def test_gymnasiums_own_asynchronous_vector_works(small):
    envs = gymnasium.make_vec("hone/PassOrder-v0", num_envs=2, vectorization_mode="async",
                              programs=small)
    observations, _ = envs.reset(seed=1)
    assert observations.shape[0] == 2
    envs.step(np.array([1, 2]))
    envs.close()


def test_a_result_can_be_taken_out_and_verified(small):
    env = make(small)
    env.reset()
    for action in range(40):
        env.step(action)
    recipe = env.recipe()
    assert recipe["values"]["result"] < recipe["values"]["initial"]
    assert len(recipe["passes"]) > 0
    assert env.hlo_text().startswith("HloModule")
    assert env.verify()["verdict"] == "equal"
    again = make(env.hlo_text())
    again.reset()
    assert again.state == env.state


def test_a_recipe_replays_to_the_same_bytes(small, hone_command, tmp_path):
    env = make(small)
    env.reset()
    for action in (1, 20, 33, 5):
        env.step(action)
    (tmp_path / "recipe.json").write_text(json.dumps(env.recipe()))
    subprocess.run([hone_command, "replay", tmp_path / "recipe.json", "-o", tmp_path / "out.hlo"],
                   check=True, capture_output=True)
    assert (tmp_path / "out.hlo").read_text() == env.hlo_text()


def test_a_closed_environment_says_so(small):
    env = make(small)
    env.reset()
    pids = env._session.pids
    env.close()
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.step(0)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("options, words", [
    ({"actions": "simplfy"}, "did you mean"),
    ({"observation": "opcode"}, "opcodes"),
    ({"reward": {"chang": 1}}, "chang"),
    ({"reward": "speed"}, "speed"),
    ({"schedule": "none"}, "round_robin"),
    ({"traj_limit": 0}, "traj_limit"),
])
def test_bad_options_are_value_errors(small, options, words):
    with pytest.raises(ValueError, match=words):
        hone.PassOrderEnv(small, **options)


def test_bad_programs_are_value_errors(tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        hone.PassOrderEnv(str(tmp_path / "nowhere.hlo"))
    (tmp_path / "bad.hlo").write_text("HloModule nothing")
    with pytest.raises(ValueError, match="bad.hlo"):
        hone.PassOrderEnv(str(tmp_path / "bad.hlo")).reset()
    with pytest.raises(ValueError, match="no program"):
        hone.PassOrderEnv("models/no/such")
    with pytest.raises(ValueError, match="has no name"):
        hone.PassOrderEnv("")


def test_an_action_that_there_is_not_is_a_value_error(small):
    env = make(small)
    env.reset()
    with pytest.raises(ValueError, match="no action 1000"):
        env.step(1000)
    for action in (1.5, np.array([3]), "algsimp"):
        with pytest.raises(ValueError, match="an action is a whole number"):
            env.step(action)


@pytest.mark.parametrize("options, words", [
    ({"program": -1}, "program -1: there are 1"), ({"program": "gpt2"}, "whole number"),
    ({"programs": 0}, "has the option 'program', not 'programs'"),
])
def test_bad_options_of_a_reset_are_value_errors(small, options, words):
    with pytest.raises(ValueError, match=words):
        make(small).reset(options=options)


def test_control_c_reaches_python(small):
    env = make(small)
    env.reset()
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    with pytest.raises(KeyboardInterrupt):
        while True:
            play(env, 10)
    signal.setitimer(signal.ITIMER_REAL, 0)
    play(env, 3)
