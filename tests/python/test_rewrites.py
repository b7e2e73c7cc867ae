"""The environment over rewrites, and what chooses among them."""

import copy
import json
import pickle
import subprocess
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hone
from hone import rewrites

PIPELINE = "call-inliner,algsimp,cse,dce"


def make(programs, **options):
    return gymnasium.make("hone/Rewrites-v0", programs=programs, **options).unwrapped


def play(env, steps, seed=0, over=True):
    """What came of random allowed actions, as plain numbers; begins anew where it is over."""
    rng = np.random.default_rng(seed)
    log = []
    for _ in range(steps):
        if over:
            env.reset()
        mask = env.action_masks()
        if isinstance(env.action_space, gymnasium.spaces.Discrete):
            action = rng.choice(np.flatnonzero(mask))
        else:
            action = (rng.random(len(mask)) < 0.5).astype(np.int8)
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation in env.observation_space
        over = terminated or truncated
        log.append((env.state, reward, terminated, truncated, info["op_count"], info["pass"]))
    return log


@pytest.mark.parametrize("options", [
    {},
    {"mode": "batch", "loops": 3},
    {"observation": "sites", "reward": "bytes", "max_sites": 5},
    {"mode": "batch", "observation": ["sites", "turn", "opcodes", "cost", "graph"],
     "reward": {"change": 1, "final_default": 1, "failure": 1}},
])
def test_gymnasium_finds_nothing_to_say(small, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(small, **options))


@pytest.mark.parametrize("mode", ["sites", "batch"])
def test_random_steps_hold_what_is_promised(small, mode):
    env = make(small, mode=mode, pipeline=PIPELINE, loops=2,
               observation=["sites", "turn", "opcode_counts"])
    log = play(env, 200)
    assert len({state for state, *_ in log}) > 5
    assert any(terminated for _, _, terminated, *_ in log)
    assert play(make(small, mode=mode, pipeline=PIPELINE, loops=2,
                     observation=["sites", "turn", "opcode_counts"]), 200) == log


@pytest.mark.parametrize("mode", ["sites", "batch"])
def test_pickled_and_forked_environments_go_on_alike(small, mode):
    env = make(small, mode=mode, pipeline=PIPELINE, loops=2, schedule="random", max_sites=16)
    env.reset(seed=3)
    play(env, 3, over=False)
    others = [pickle.loads(pickle.dumps(env)), env.fork(), copy.deepcopy(env), copy.copy(env)]
    assert [other.state for other in others] == [env.state] * 4
    expected = play(env, 12, over=False)
    for other in others:
        assert play(other, 12, over=False) == expected
    # A copy of a copy, after the first is gone.
    others[0].close()
    again = pickle.loads(pickle.dumps(others[1]))
    assert play(again, 3) == play(env, 3)


def test_one_that_has_not_begun_can_be_copied(small):
    env = make(small, pipeline="dce")
    assert play(pickle.loads(pickle.dumps(env)), 4) == play(env.fork(), 4) == play(env, 4)


def test_a_child_of_a_fork_has_workers_of_its_own(small, in_a_child):
    env = make(small, pipeline=PIPELINE)
    env.reset(seed=3)
    env.step(1)
    state, pids, log = in_a_child(
        lambda: (env.state, env._session.pids, play(env, 3, over=False)))
    assert state == env.state
    assert not set(pids) & set(env._session.pids)
    assert log == play(env, 3, over=False)


@pytest.mark.parametrize("mode", ["sites", "batch"])
def test_a_recipe_replays_to_the_same_bytes(small, hone_command, tmp_path, mode):
    env = make(small, mode=mode, pipeline=PIPELINE, loops=2)
    env.reset()
    play(env, 4, over=False)
    recipe = env.recipe()
    assert any(isinstance(made, dict) and made["choices"] for made in recipe["passes"])
    assert len(recipe["passes"]) == len(env.made())
    assert recipe["result_fingerprint"] == env.state
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    subprocess.run([hone_command, "replay", tmp_path / "recipe.json", "-o", tmp_path / "out.hlo"],
                   check=True, capture_output=True)
    assert (tmp_path / "out.hlo").read_text() == env.hlo_text()


def test_rewards_add_up_to_what_was_saved(small):
    env = make(small, mode="batch", pipeline=PIPELINE, loops=3)
    _, info = env.reset()
    initial, total, over = info["value"], 0, False
    while not over:
        _, reward, terminated, truncated, info = env.step(np.ones(env.action_space.n, np.int8))
        total += reward
        over = terminated or truncated
    assert info["value"] < initial
    assert np.isclose(total, (initial - info["value"]) / initial)


@pytest.mark.parametrize("pass_name", ["algsimp", "cse", "dce", "call-inliner", "fusion"])
def test_all_is_the_pass_and_none_is_nothing(small, pass_name):
    alone = hone.PassOrderEnv(small, actions=[pass_name])
    alone.reset()
    alone.step(0)
    env = make(small, pipeline=pass_name, mode="batch", max_sites=512)
    _, info = env.reset()
    before = env.state
    assert 0 < info["sites"] and not info["sites_truncated"]
    env.step(np.zeros(512, np.int8))
    assert env.state == before
    env.reset()
    _, _, terminated, _, info = env.step(np.ones(512, np.int8))
    assert env.state == alone.state and info["changed"] and terminated


@pytest.mark.parametrize("seed", range(3))
def test_random_halves_compute_the_same(small, seed):
    for program in (small, small.replace("kmeans/jax010_kmeans_while", "misc/jax010_int8_mlp_fwd")):
        env = make(program, pipeline=PIPELINE, mode="batch", loops=2)
        done = rewrites.play(env, "random", seed=seed)
        assert done["accepted"] > 0 and not done["errors"]
        assert env.verify()["verdict"] == "equal", (program, env.made())


def test_masks_and_features_are_those_of_the_listing(small):
    env = make(small, pipeline="algsimp", max_sites=4)
    observation, info = env.reset()
    listing = env.listing()
    assert info["sites"] == len(listing) > 4 and info["sites_truncated"]
    assert info["pass"] == "algsimp"
    assert env.action_masks().tolist() == [True] * 5
    assert (info["action_mask"] == env.action_masks()).all()
    kind = rewrites.SITE_FEATURES.index("kind")
    delta = rewrites.SITE_FEATURES.index("delta_op_count")
    opcode = rewrites.SITE_FEATURES.index("opcode")
    for row, site in zip(observation["sites"], listing.sites):
        assert hone._core.REWRITE_KINDS[int(row[kind])] == site.kind
        assert np.isclose(row[delta] * info["op_count"], site.delta_op_count, atol=1e-4)
        assert env._session.opcodes[int(row[opcode])] == site.opcode
    env = make(small, pipeline="algsimp", max_sites=64)
    observation, info = env.reset()
    assert env.action_masks().sum() == info["sites"] + 1 and env.action_masks()[-1]
    assert not observation["sites"][info["sites"]:].any()


def test_one_site_is_made_at_a_time(small):
    env = make(small, pipeline="dce", max_sites=64)
    _, info = env.reset()
    sites = info["sites"]
    _, reward, terminated, _, info = env.step(0)
    assert info["changed"] and info["sites"] == sites - 1 and not terminated
    assert np.isclose(reward, 1 / 145)
    # What is not offered changes nothing.
    before = env.state
    _, reward, _, _, info = env.step(63)
    assert env.state == before and reward == 0 and not info["changed"]
    assert env.step(64)[2]


def test_nodes_of_sites_are_those_of_the_graph(small):
    env = make(small, pipeline="algsimp,dce", observation=["sites", "graph"])
    observation, _ = env.reset()
    node = rewrites.SITE_FEATURES.index("node")
    opcode = rewrites.SITE_FEATURES.index("opcode")
    rng = np.random.default_rng(0)
    over, seen = False, 0
    while not over:
        for row in observation["sites"][:len(env.listing())]:
            if row[node] >= 0:
                seen += 1
                assert observation["graph"]["opcode"][int(row[node])] == int(row[opcode])
        action = rng.choice(np.flatnonzero(env.action_masks()))
        observation, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
    assert seen > 5


def vector(small, num_envs, **options):
    return gymnasium.make_vec("hone/Rewrites-v0", num_envs=num_envs, programs=small,
                              vectorization_mode="vector_entry_point", **options)


@pytest.mark.parametrize("mode", ["sites", "batch"])
def test_a_vectors_observations_and_infos_have_gymnasiums_form(small, mode):
    envs = vector(small, 3, mode=mode, pipeline=PIPELINE, max_sites=8, traj_limit=5, workers=2,
                  observation=["sites", "turn", "cost", "graph"],
                  autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    observations, infos = envs.reset(seed=5)
    assert observations in envs.observation_space
    envs.action_space.seed(1)
    finals = 0
    for _ in range(10):
        observations, rewards, terminations, truncations, infos = envs.step(
            envs.action_space.sample())
        assert observations in envs.observation_space
        assert rewards.shape == (3,) and terminations.dtype == bool and truncations.dtype == bool
        assert infos["action_mask"].shape == envs.action_masks().shape
        assert set(infos["pass"]) <= set(envs.pipeline)
        for i in np.flatnonzero(infos.get("_final_obs", np.zeros(3, bool))):
            finals += 1
            assert infos["final_obs"][i]["sites"].shape == observations["sites"][i].shape
            assert infos["final_info"]["pass"][i] == ""
    assert finals
    assert [len(listing) for listing in envs.listings()] == infos["sites"].tolist()
    assert envs.recipes()[0]["program"]["file"] == small
    envs.close()


@pytest.mark.parametrize("mode", ["sites", "batch"])
def test_an_episode_is_the_same_alone_and_among_others(small, mode):
    options = {"mode": mode, "pipeline": PIPELINE, "max_sites": 8, "loops": 2}
    logs = []
    for workers in (1, 2):
        envs = vector(small, 3, workers=workers, traj_limit=9, **options,
                      autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED)
        envs.reset(seed=0)
        envs.action_space.seed(7)
        actions = [envs.action_space.sample() for _ in range(4)]
        logs.append([])
        for row in actions:
            observation, rewards, *_ = envs.step(row)
            logs[-1] += [envs.states(), rewards.tolist(), observation["sites"].tolist()]
    assert logs[0] == logs[1]
    for i, state in enumerate(envs.states()):
        alone = make(small, **options)
        alone.reset()
        for row in actions:
            alone.step(row[i])
        assert alone.state == state


def test_send_and_receive_let_each_go_on(small):
    for mode, action in (("sites", 0), ("batch", np.ones(8, np.int8))):
        envs = vector(small, 2, mode=mode, pipeline="dce", max_sites=8, workers=2)
        envs.reset(seed=1)
        envs.send(1, action)
        assert envs.receive(1) == [1]
        assert envs.view()[4]["steps"].tolist() == [0, 1]
        envs.close()


def test_gymnasiums_own_vectors_work(small):
    for vectorization in ("sync", "async"):
        envs = gymnasium.make_vec("hone/Rewrites-v0", num_envs=2, vectorization_mode=vectorization,
                                  programs=small)
        observations, _ = envs.reset(seed=1)
        assert observations["sites"].shape[0] == 2
        _, rewards, *_ = envs.step(np.array([0, 128]))
        assert rewards.shape == (2,)
        envs.close()


def test_a_program_without_rewrites_takes_one_step():
    text = ("HloModule nothing\n\nENTRY main {\n  x = f32[4] parameter(0)\n"
            "  ROOT y = f32[4] negate(x)\n}\n")
    env = make(text, pipeline="algsimp,dce")
    _, info = env.reset()
    assert info["sites"] == 0
    _, reward, terminated, truncated, _ = env.step(env.action_space.n - 1)
    assert terminated and not truncated and reward == 0


def test_a_crash_is_a_step(finding):
    env = make(finding, pipeline="dce:call_analysis,algsimp", mode="batch", reward={"failure": 2})
    _, info = env.reset()
    assert info["sites"] > 0
    before = env.state
    _, reward, _, _, info = env.step(np.ones(env.action_space.n, np.int8))
    assert "killed" in info["error"] and not info["changed"]
    assert reward == -2 and env.state == before and len(env.deaths) == 1
    # One at a time, what kills it is not offered again.
    env = make(finding, pipeline="dce:call_analysis,algsimp", max_sites=4, traj_limit=20)
    _, info = env.reset()
    over = False
    while not over:
        _, _, over, truncated, info = env.step(int(np.flatnonzero(env.action_masks())[0]))
        assert not truncated


@pytest.mark.parametrize("heuristic", rewrites.HEURISTICS)
def test_heuristics(small, heuristic):
    env = make(small, pipeline=PIPELINE, mode="batch", loops=2)
    done = rewrites.play(env, heuristic)
    assert done["result"] <= done["initial"]
    assert (done["result"] < done["initial"]) == (heuristic != "none")
    if heuristic in ("all", "none"):
        assert done["accepted"] == (done["sites"] if heuristic == "all" else 0)
    assert done["accepted"] <= done["sites"]


def test_by_delta_takes_no_two_that_conflict(small):
    program = small.replace("kmeans/jax010_kmeans_while", "hloenv/maml_flax_train_step")
    env = make(program, pipeline="algsimp", mode="batch")
    env.reset()
    listing = env.listing()
    assert listing.conflicts
    chosen = rewrites.choose("by_delta", listing)
    assert chosen.any()
    assert not any(chosen[i] and chosen[j] for i, j in listing.conflicts)
    assert all(site.delta_op_count < 0 for site, c in zip(listing.sites, chosen) if c)


def test_plans_are_written_and_read():
    decisions = hone._core.Decisions("decline", 7, {2**63 + 1: True, 5: False})
    text = rewrites.plan_to_json("algsimp", decisions)
    assert rewrites.plan_from_json(text) == ("algsimp", decisions)
    for bad in ("{}", "[]", '{"format": "hone plan"}',
                '{"format": "hone plan", "pass": "x", "choices": {"zz": true}}',
                '{"format": "hone plan", "pass": "x", "otherwise": "maybe"}', "x"):
        with pytest.raises(ValueError):
            rewrites.plan_from_json(bad)


@pytest.mark.parametrize("options, words", [
    ({"mode": "batches"}, "batch"),
    ({"pipeline": "algsmp"}, "did you mean"),
    ({"observation": "site"}, "sites"),
    ({"max_sites": 0}, "max_sites"),
    ({"loops": 0}, "loops"),
    ({"reward": {"chang": 1}}, "chang"),
])
def test_bad_options_are_value_errors(small, options, words):
    with pytest.raises(ValueError, match=words):
        hone.RewritesEnv(small, **options)


def test_bad_actions_are_value_errors(small):
    env = make(small, max_sites=8)
    env.reset()
    for action in (-1, 9):
        with pytest.raises(ValueError, match="no action"):
            env.step(action)
    batch = make(small, max_sites=8, mode="batch")
    batch.reset()
    with pytest.raises(ValueError, match="8 answers"):
        batch.step(np.ones(7, np.int8))
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.reset()


def test_rules_of_ones_own(tmp_path):
    program = tmp_path / "halves.hlo"
    program.write_text("""HloModule halves
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  h = f32[] constant(0.5)
  hs = f32[8] broadcast(h), dimensions={}
  a = f32[8] multiply(x, hs)
  b = f32[8] multiply(y, hs)
  ROOT r = f32[8] add(a, b)
}""")
    mine = tmp_path / "mine.rules"
    mine.write_text("""rule average_of_two {
  meaning "x/2 + y/2 = (x + y)/2"
  pattern { add(multiply(x, 0.5), multiply(y, 0.5)) }
  replacement { multiply(add(x, y), 0.5) }
}""")
    env = make(str(program), pipeline="rule:average_of_two", rules=mine)
    env.reset()
    assert env.action_masks().sum() > 1
    env.close()
    with pytest.raises(ValueError, match="average_of_two"):
        make(str(program), pipeline="rule:average_of_two")
    mine.write_text("rule wrong {")
    with pytest.raises(ValueError, match="mine.rules:1"):
        make(str(program), pipeline="rules", rules=[mine])
