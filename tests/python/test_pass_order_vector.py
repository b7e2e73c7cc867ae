"""The vector environment."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import hone  # noqa: F401, registers the environments


def make(programs, num_envs, **options):
    return gymnasium.make_vec("hone/PassOrder-v0", num_envs=num_envs, programs=programs, **options)


def test_observations_and_infos_have_gymnasiums_form(small):
    envs = make(small, 3, observation=["opcodes", "graph"], traj_limit=4, workers=2)
    observations, infos = envs.reset(seed=5)
    assert observations in envs.observation_space
    rng = np.random.default_rng(1)
    for _ in range(10):
        actions = rng.integers(envs.single_action_space.n, size=3)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert observations in envs.observation_space
        assert rewards.shape == (3,) and terminations.dtype == bool and truncations.dtype == bool
        assert infos["op_count"].shape == (3,) and infos["_op_count"].all()
        assert infos["action_mask"].shape == (3, envs.single_action_space.n)
        assert envs.action_masks().shape == infos["action_mask"].shape
    envs.close()


def test_arrays_of_one_step_stay_as_they_are(small):
    envs = make(small, 2)
    before, _ = envs.reset(seed=1)
    kept = before.copy()
    for action in range(10):
        envs.step(np.array([action, action + 10]))
    assert (before == kept).all()


def test_an_episode_is_the_same_alone_and_among_others(small):
    from hone import PassOrderEnv

    envs = make(small, 4, workers=2, traj_limit=15)
    envs.reset(seed=0)
    rng = np.random.default_rng(7)
    actions = rng.integers(envs.single_action_space.n, size=(15, 4))
    for row in actions:
        envs.step(row)
    for i, state in enumerate(envs.states()):
        alone = PassOrderEnv(small, traj_limit=15)
        alone.reset()
        for action in actions[:, i]:
            alone.step(action)
        assert alone.state == state


def test_autoreset_in_the_same_step_shows_the_last_observation(small):
    envs = make(small, 2, traj_limit=2, autoreset_mode=AutoresetMode.SAME_STEP)
    first, _ = envs.reset(seed=1)
    envs.step(np.array([1, 2]))
    observations, _, _, truncations, infos = envs.step(np.array([20, 3]))
    assert truncations.all()
    assert (observations == first).all()
    assert infos["_final_obs"].all()
    assert infos["final_obs"][0].shape == first[0].shape
    assert (infos["final_info"]["steps"] == 2).all() and (infos["steps"] == 0).all()


def test_autoreset_at_the_next_step(small):
    envs = make(small, 2, traj_limit=1)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    first, _ = envs.reset(seed=1)
    _, _, _, truncations, _ = envs.step(np.array([20, 20]))
    assert truncations.all()
    observations, rewards, _, truncations, _ = envs.step(np.array([20, 20]))
    assert not truncations.any() and (rewards == 0).all() and (observations == first).all()


def test_those_of_a_mask_are_reset(small):
    envs = make(small, 2, traj_limit=1, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=1)
    envs.step(np.array([0, 0]))
    with pytest.raises(ValueError, match="over"):
        envs.step(np.array([0, 0]))
    _, infos = envs.reset(options={"reset_mask": np.array([True, False])})
    assert infos["steps"].tolist() == [0, 1]


@pytest.mark.parametrize("options, words", [
    ({"program": -1}, "program -1: there are 1"), ({"mask": [True]}, "has the option 'program', not 'mask'"),
    ({"reset_mask": [True]}, "reset_mask has 1 places, not 2"),
])
def test_bad_options_of_a_reset_are_value_errors(small, options, words):
    with pytest.raises(ValueError, match=words):
        make(small, 2).reset(options=options)


def test_actions_that_are_no_whole_numbers_are_a_value_error(small):
    envs = make(small, 2)
    envs.reset()
    with pytest.raises(ValueError, match="actions are whole numbers, not float64"):
        envs.step([0.5, 1.5])


def test_sending_and_receiving(small):
    envs = make(small, 4, workers=2)
    envs.reset(seed=1)
    for env in range(4):
        envs.unwrapped.send(env, env)
    done = []
    while len(done) < 4:
        done += envs.unwrapped.receive(1)
    assert sorted(done) == [0, 1, 2, 3]
    assert (envs.unwrapped.view()[4]["steps"] == 1).all()


def test_errors_have_their_own_column(finding):
    envs = make(finding, 2, actions=["dce:call_analysis", "algsimp"])
    envs.reset()
    infos = envs.step(np.array([0, 1]))[4]
    assert infos["_error"].tolist() == [True, False]
    assert "killed" in infos["error"][0] and infos["error"][1] is None


def test_programs_are_scheduled(small):
    from conftest import DATA

    other = str(DATA / "misc" / "jax010_int8_mlp_fwd.hlo")
    envs = make([small, other], 2, traj_limit=1)
    _, infos = envs.reset(seed=0)
    assert infos["program"].tolist() == [small, other]
    _, infos = envs.reset(options={"program": 1})
    assert infos["program"].tolist() == [other, other]
