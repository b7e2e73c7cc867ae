"""hone/Loops-v0: schedules of loop nests as an environment."""

import gymnasium
import numpy as np
import pytest

import hone  # registers the environments
from hone import loops

MATMUL = "task m\ninput a f32[32,16]\ninput b f32[16,32]\nc = matmul a b\noutput c\n"
SOFTMAX = "task s\ninput x f32[16,32]\ny = softmax x\noutput y\n"


def make(tasks=(MATMUL,), **options):
    return gymnasium.make("hone/Loops-v0", tasks=tasks, **{"measure": "estimate", **options})


def walk(env, seed):
    """An episode of random legal actions: its actions, rewards and last info."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    actions, rewards = [], []
    while True:
        action = int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))
        _, reward, terminated, truncated, info = env.step(action)
        actions.append(action)
        rewards.append(reward)
        if terminated or truncated:
            return actions, rewards, info


def test_it_is_registered_and_keeps_to_gymnasiums_rules():
    from gymnasium.utils.env_checker import check_env
    check_env(make().unwrapped, skip_render_check=True)
    check_env(make(actions="product").unwrapped, skip_render_check=True)
    assert gymnasium.spec("hone/Loops-v0").nondeterministic  # rewards are measured, unless "measure" says otherwise


def test_observations_are_in_their_spaces():
    env = make((MATMUL, SOFTMAX),
               observation=("loops", "accesses", "operations", "states", "graph", "history"))
    for task in range(2):
        observation, _ = env.reset(options={"task": task})
        assert env.observation_space.contains(observation)
    assert observation["graph"].sum() == 4  # exp takes max; sum takes exp; the division takes both


def test_the_same_seed_gives_the_same_episode():
    first, second = walk(make((SOFTMAX,)), 3), walk(make((SOFTMAX,)), 3)
    assert first[0] == second[0] and first[1] == second[1]
    assert first[2]["schedule"] == second[2]["schedule"]


def test_rewards_add_up_to_the_logarithm_of_the_speedup():
    for seed in range(5):
        _, rewards, info = walk(make(), seed)
        assert sum(rewards) == pytest.approx(np.log(info["speedup"]))
        _, rewards, info = walk(make(reward="final"), seed)
        assert rewards[:-1] == [0.0] * (len(rewards) - 1)
        assert rewards[-1] == pytest.approx(np.log(info["speedup"]))


def test_every_legal_action_changes_something_and_no_other_does():
    env = make()
    env.reset()
    masks = env.unwrapped.action_masks()
    assert masks[-1]  # stop
    for action in (np.flatnonzero(masks)[0], np.flatnonzero(~masks)[0]):
        env.reset()
        _, _, _, _, info = env.step(int(action))
        assert info["changed"] == bool(masks[action])
        assert ("error" in info) != bool(masks[action])


def make_vec(num_envs, tasks=(MATMUL, SOFTMAX), **options):
    return gymnasium.make_vec("hone/Loops-v0", num_envs=num_envs, tasks=tasks,
                              **{"measure": "estimate", **options})


@pytest.mark.parametrize("workers", [1, 2])
def test_a_vector_of_them_steps_as_each_would(workers):
    vector, one = make_vec(2, workers=workers), make((MATMUL, SOFTMAX))
    assert isinstance(vector.unwrapped, hone.LoopsVectorEnv)
    observations, infos = vector.reset(seed=0)
    observation, info = one.reset(seed=1)  # as the second of them
    while True:
        assert observations in vector.observation_space
        for part, seen in observation.items():
            assert (observations[part][1] == seen).all()
        masks = infos["action_mask"]
        assert (masks[1] == info["action_mask"]).all()
        actions = [int(np.flatnonzero(mask)[0]) for mask in masks]
        observations, rewards, terminations, truncations, infos = vector.step(np.array(actions))
        observation, reward, terminated, truncated, info = one.step(actions[1])
        assert rewards[1] == reward
        assert (terminations[1], truncations[1]) == (terminated, truncated)
        for key in ("speedup", "schedule", "task", "changed"):
            assert infos[key][1] == info[key]
        if terminated or truncated:
            break
    vector.close()


def test_a_vector_resets_at_the_next_step_or_in_the_same():
    vector = make_vec(2, (MATMUL,))
    first, infos = vector.reset(seed=1)
    stop = vector.single_action_space.n - 1
    action = int(np.flatnonzero(infos["action_mask"][0])[0])
    _, _, terminations, _, _ = vector.step(np.array([stop, action]))
    assert terminations.tolist() == [True, False]
    observations, rewards, terminations, _, infos = vector.step(np.array([stop, stop]))
    assert terminations.tolist() == [False, True] and rewards[0] == 0
    assert (observations["states"][0] == first["states"][0]).all()
    assert infos["schedule"][0] == "" and infos["schedule"][1] != ""

    vector = make_vec(2, (MATMUL,), autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    vector.reset(seed=1)
    vector.step(np.array([action, action]))
    observations, _, terminations, _, infos = vector.step(np.array([stop, stop]))
    assert terminations.all() and infos["_final_info"].all()
    assert (observations["states"] == first["states"]).all()
    assert (infos["final_obs"][0]["states"] != first["states"][0]).any()
    assert infos["final_info"]["schedule"][0] != "" and infos["schedule"][0] == ""


def test_a_vector_takes_products_tasks_and_sends():
    vector = make_vec(3, actions="product", workers=2)
    _, infos = vector.reset(options={"task": 1})
    assert infos["task"].tolist() == [SOFTMAX] * 3
    assert infos["action_mask"].shape == (3, sum(vector.single_action_space.nvec))
    stop = [0, 7] + [0] * 8
    wrong = [0, 2] + [0] * 8  # `parallel` of no loop
    _, _, terminations, _, infos = vector.step(np.array([stop, wrong, stop]))
    assert terminations.tolist() == [True, False, True]
    assert infos["_error"].tolist() == [False, True, False] and "tiled" in infos["error"][1]
    vector.unwrapped.send(1, stop)
    assert vector.unwrapped.receive(1) == [1]
    assert vector.unwrapped.view()[2].tolist() == [True, True, True]


def test_an_episode_has_five_steps_a_nest():
    env = make(steps=2)
    env.reset()
    wrong = int(np.flatnonzero(~env.unwrapped.action_masks())[0])
    assert env.step(wrong)[3] is False
    assert env.step(wrong)[3] is True


def test_the_product_of_subspaces_makes_the_same_decisions():
    env = make(actions="product")
    env.reset()
    kinds = ["pack", "interchange", "parallel", "tile", "fuse", "vectorize", "unroll", "stop"]

    def act(kind, *numbers):
        return env.step([0, kinds.index(kind), *numbers, *[0] * (8 - len(numbers))])

    assert act("tile", 3, 0, 2)[4]["schedule"] == "c tile 4,0,2\n"  # 1, 2, 4 divide 32, and 1, 2 divide 16
    assert "error" in act("parallel", 2, 0, 0)[4]
    assert act("interchange", 2, 1, 0)[4]["schedule"].endswith("c interchange 2,1,0\n")
    assert act("stop")[2] is True


def test_bad_input_is_a_value_error():
    for options in ({"tasks": "nothing_of_that_name"}, {"tasks": ("task t\n",)}, {"actions": "x"},
                    {"reward": "x"}, {"measure": "x"}, {"observation": "x"}, {"observation": ()},
                    {"steps": 0}):
        with pytest.raises(ValueError):
            make(**options)
        with pytest.raises(ValueError):
            make_vec(2, **options)
    with pytest.raises(ValueError):
        make_vec(2, workers=0)
    env = make()
    env.reset()
    with pytest.raises(ValueError):
        env.unwrapped.reset(options={"task": 7})
    with pytest.raises(ValueError):
        env.unwrapped.step(10**6)


def has_generator():
    try:
        return bool(loops.find_program())
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not has_generator(), reason="hone was built without MLIR")
def test_measured_kernels_run():
    env = make(measure="time", threads=1)
    env.reset(seed=1)
    rewards = []
    for _ in range(3):
        action = int(np.flatnonzero(env.unwrapped.action_masks())[0])
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        if terminated or truncated:
            break
    assert np.isfinite(rewards).all() and info["speedup"] > 0
    assert env.unwrapped.restarts == 0
    env.close()


@pytest.mark.skipif(not has_generator(), reason="hone was built without MLIR")
def test_a_vector_runs_kernels_on_several_workers():
    vector = make_vec(3, (MATMUL,), measure="time", threads=1, workers=2)
    _, infos = vector.reset(seed=1)
    actions = [int(np.flatnonzero(mask)[0]) for mask in infos["action_mask"]]
    _, rewards, _, _, infos = vector.step(np.array(actions))
    assert np.isfinite(rewards).all() and (infos["speedup"] > 0).all()
    assert vector.unwrapped.restarts == 0
    vector.close()


def test_tasks_come_along():
    assert "matmul_64_64_64" in loops.TASKS
    assert hone.LoopsEnv is loops.LoopsEnv
