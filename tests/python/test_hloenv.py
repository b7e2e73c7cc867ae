"""HloEnv's interface."""

import random

import numpy as np
import pytest

from hone import rewrites
from hone.hloenv import (
    AltPipeline, HloEnv, HloModule, HloPass, Pass, PassFailed, Pipeline, RewritePipeline)
from hone.rewrites import Decisions

PASSES = ["algsimp", "cse", "dce", "call-inliner", "fusion"]


@pytest.fixture
def env(small):
    return HloEnv(small, "cpu")


def test_a_module_is_a_value(small):
    module = HloModule(small)
    assert module.instruction_count == 145
    assert module.computation_count == 13
    assert module.clone() == module
    again = HloModule(module.to_string(), "txt")
    assert again == module and again.hash() == module.hash()
    assert HloModule(module.to_string()) == module
    costs = module.cost_analysis()
    assert costs["flops"] > 0 and costs["bytes accessed"] > 0 and costs["peak memory"] > 0


def test_pipelines_run_in_order_and_in_loops(env, small):
    pipeline = Pipeline("all", loop_count=-1)
    inner = Pipeline("inner")
    inner.add_pass(HloPass.CallInliner())
    inner.add_pass(HloPass.AlgebraicSimplifier(), loop_count=2)
    pipeline.add_pass(inner)
    pipeline.add_pass("dce")
    assert env.run(pipeline) is False
    assert pipeline.changed and inner.passes[0].changed is False  # the last time round
    assert env.get_hlo_module().instruction_count < 145
    by_hand = HloEnv(small)
    before = None
    while before != by_hand.hash():
        before = by_hand.hash()
        for name in ("call-inliner", "algsimp", "algsimp", "dce"):
            by_hand.run(name)
    assert env.hash() == by_hand.hash()


def test_save_and_load(env):
    saved = env.clone_hlo()
    other = env.clone()
    env.run("algsimp")
    assert env.hash() != saved.hash()
    assert other.hash() == saved.hash()
    env.load_hlo(saved)
    assert env.hash() == saved.hash()
    env.load_hlo(saved.to_string(), "txt")
    assert env.hash() == saved.hash()


def test_the_loop_of_hloenv_ends_and_computes_the_same(env):
    original = env.clone_hlo()
    rng = random.Random(1)
    alternatives = AltPipeline(Pass(HloPass.AlgebraicSimplifier()), loop_count=-1)
    rounds = 0
    env.run("call-inliner")
    while env.run(alternatives):
        rounds += 1
        graph = env.get_hlo_graph(do_hash_verification=False)
        assert len(graph.alternative_indices) > 0
        env.apply_alternatives(np.asarray([
            [graph.node_features.uids[node], rng.randrange(count)]
            for node, count in zip(graph.alternative_indices, graph.num_alternatives)]))
        env.run("dce")
    assert 1 < rounds < 100
    assert env.get_hlo_module().instruction_count < original.instruction_count
    assert env.has_equal_output_as(original)


def test_always_the_original_ends_at_once(env):
    before = env.hash()
    pipeline = Pipeline("two")
    pipeline.add_pass("algsimp")
    pipeline.add_pass("dce")
    alternatives = AltPipeline(pipeline)
    listed = []
    while env.run(alternatives):
        listed.append(env.get_hlo_rewrite_graph().pass_name)
        assert not env.apply_alternatives([[n, 0] for n in env.get_hlo_graph().alternative_indices])
    assert listed == ["algsimp", "dce"]
    assert env.hash() == before
    assert env.run(alternatives)  # it begins anew


@pytest.mark.parametrize("name", PASSES)
def test_all_rewrites_are_the_pass(env, small, name):
    alone = HloEnv(small)
    alone.run(name)
    assert env.run(RewritePipeline(Pass(name)))
    graph = env.get_hlo_rewrite_graph()
    results = env.apply_rewrites(range(graph.num_rewrites), enabled=True)
    assert env.hash() == alone.hash()
    assert len(results) == graph.num_rewrites
    conflicting = {int(j) for _, j in graph.conflicts}
    assert all((status == "ok") == (i not in conflicting) for i, status in results)


@pytest.mark.parametrize("name", PASSES)
def test_asked_one_by_one(env, small, name):
    alone = HloEnv(small)
    alone.run(name)
    before = env.hash()
    asked = env.run_with(name, lambda site: False)
    assert asked and env.hash() == before
    assert env.run_with(name, lambda site: True)
    assert env.hash() == alone.hash()
    places = [site.place for site, _ in asked]
    assert len(set(places)) == len(places), "a declined rewrite is not offered again"


@pytest.mark.parametrize("name", ["layout-assignment", "flatten-call-graph", "algsimp"])
def test_none_is_nothing_whatever_the_pass(env, name):
    before = env.hash()
    env.run(Pass(name, decisions=Decisions("decline")))
    assert env.hash() == before
    assert env.run(AltPipeline(Pass(name)))
    assert env.apply_rewrites([], enabled=True) == []
    assert env.hash() == before
    asked = env.run_with(name, lambda site: False)
    assert asked and env.hash() == before
    if name != "algsimp":
        assert [site.kind for site, _ in asked] == ["whole"]
        alone = env.clone()
        alone.run(name)
        env.run_with(name, lambda site: True)
        assert env.hash() == alone.hash() != before


def test_half_asked_computes_the_same(env):
    original = env.clone_hlo()
    rng = random.Random(5)
    log = env.run_with("algsimp", lambda site: rng.random() < 0.5)
    assert {answer for _, answer in log} == {True, False}
    assert env.has_equal_output_as(original)


def test_a_conversation_may_be_left(env):
    before = env.hash()
    questions = env.ask("algsimp")
    assert next(questions).kind == "replace_instruction"
    questions.close()
    assert env.hash() == before
    env.run("dce")


def test_features_are_csr(env):
    env.run(AltPipeline(Pass("algsimp")))
    features = env.get_features()
    graph = env.get_hlo_graph()
    alternatives = features["alternatives"]
    nodes = len(features["opcode"])
    assert nodes == env.get_hlo_module().instruction_count == len(graph.node_features.names)
    sites = env.alternatives().sites
    assert len(sites) == len(features["sites"])
    assert alternatives["site_start"][-1] == len(alternatives["site"])
    assert alternatives["user_start"][-1] == len(alternatives["user"])
    for i, node in enumerate(alternatives["original"]):
        for k in alternatives["site"][alternatives["site_start"][i]:alternatives["site_start"][i + 1]]:
            assert sites[k].instruction == graph.node_features.names[node]
            assert env._bench.opcodes[features["opcode"][node]] == sites[k].opcode
        users = alternatives["user"][alternatives["user_start"][i]:alternatives["user_start"][i + 1]]
        out = graph.out_edge_indices[graph.out_edge_offsets[node]:graph.out_edge_offsets[node + 1]]
        assert set(users) <= set(out)
    assert graph.node_features.is_alternative.sum() == len(alternatives["original"])
    assert graph.node_features.num_operands.sum() == graph.node_features.num_users.sum()
    for node in range(nodes):
        start, end = graph.in_edge_offsets[node:node + 2]
        assert (graph.in_edge_features.dsts[start:end] == node).all()


def test_a_plan_goes_on_to_other_programs(env, small):
    listing_of = AltPipeline(Pass("algsimp"))
    env.run(listing_of)
    everything = range(len(env.alternatives()))
    name, decisions = rewrites.plan_from_json(
        rewrites.plan_to_json("algsimp", env.plan(everything)))
    env.apply_rewrites(everything)
    other = HloEnv(small)
    other.run(Pass(name, decisions=decisions))
    assert other.get_hlo_module().instruction_count < 145
    assert other.has_equal_output_as(HloModule(small))


def test_what_it_is_worth(env):
    original = env.clone_hlo()
    env.optimize_hlo_module()
    assert env.get_hlo_module().instruction_count < original.instruction_count
    durations = env.evaluate(3).durations
    assert len(durations) == 3 and min(durations) > 0
    assert env.has_equal_output(original)
    race = env.race(original, budget_seconds=2)
    assert race["same_executable"] or race["low"] <= race["speedup"] <= race["high"]


def test_different_outputs_are_told():
    text = "HloModule m\n\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT y = f32[64] %s(x)\n}\n"
    env = HloEnv(text % "negate")
    assert not env.has_equal_output_as(HloModule(text % "exponential", "txt"))
    # All outputs: here the second one differs.
    two = ("HloModule m\n\nENTRY e {\n  x = f32[64] parameter(0)\n  a = f32[64] negate(x)\n"
           "  b = f32[64] %s(x)\n  ROOT t = (f32[64], f32[64]) tuple(a, b)\n}\n")
    assert not HloEnv(two % "sine").has_equal_output_as(HloEnv(two % "cosine"))


def test_parts_are_programs(env):
    random_part = env.extract_random_submodule(seed=3, depth=4)
    assert 0 < random_part.instruction_count <= 145
    parts = env.extract_instructions()
    assert len({part.hash() for part in parts}) == len(parts) > 5
    assert env.extract_fusions() == []
    env.run("fusion")
    fused = env.get_hlo_module().extract_fusions_as_module()
    assert fused and all(part.instruction_count > 1 for part in fused)


def test_a_failing_pass_leaves_the_program(finding):
    env = HloEnv(finding)
    before = env.hash()
    with pytest.raises(PassFailed, match="dce:call_analysis"):
        env.run("dce:call_analysis")
    assert env.hash() == before
    env.run("algsimp")
    assert any("dce:call_analysis" in doing for doing, _ in env.deaths)


def test_what_is_wrong_is_a_value_error(env, small):
    with pytest.raises(ValueError, match="platform"):
        HloEnv(small, "gpu")
    with pytest.raises(ValueError, match="did you mean"):
        env.run("algsmp")
    with pytest.raises(ValueError, match="no options"):
        HloPass.AlgebraicSimplifier(is_layout_sensitive=True)
    with pytest.raises(ValueError, match="AltPipeline"):
        env.apply_alternatives([[0, 1]])
    env.run(AltPipeline(Pass("algsimp")))
    node = env.get_hlo_graph().alternative_indices[0]
    with pytest.raises(ValueError, match="no alternatives"):
        env.apply_alternatives([[node + 1, 1]])
    with pytest.raises(ValueError, match="1 alternatives"):
        env.apply_alternatives([[node, 2]])
    with pytest.raises(ValueError, match="no rewrite 1000"):
        env.apply_rewrites([1000])
    with pytest.raises(ValueError, match="format"):
        HloModule(small, "binary")
