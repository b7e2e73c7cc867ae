"""Environments whose XLA compiles for a GPU that is not here."""

import json
import pathlib
import subprocess

import pytest

import hone

HONE = str(pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "hone")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.hlo"
    path.write_text("""HloModule small

ENTRY main {
  x = f32[64,256] parameter(0)
  y = f32[256,64] parameter(1)
  d = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[64,64] exponential(d)
  n = f32[64,64] negate(e)
  ROOT m = f32[64,64] multiply(n, n)
}
""")
    return path


def test_passes_and_estimates_are_the_gpus(small):
    env = hone.PassOrderEnv(small, target="h100", actions="all", reward="estimate")
    try:
        assert "cublas-gemm-rewriter" in env.pass_names
        assert "priority-fusion" in env.pass_names
        env.reset(seed=1)
        order = ["layout-assignment", "priority-fusion"]
        rewards = [env.step(env.pass_names.index(name))[1] for name in order]
        assert rewards[-1] > 0, "one kernel instead of three has a lower estimate"
    finally:
        env.close()


def test_a_vector_of_them(small):
    envs = hone.PassOrderVectorEnv(small, 2, target="a100", reward="kernels")
    try:
        envs.reset(seed=1)
        envs.step([0, 1])
    finally:
        envs.close()


def test_their_rewrites_are_decisions(small):
    env = hone.RewritesEnv(small, target="h100", pipeline="cublas-gemm-rewriter")
    try:
        _, info = env.reset(seed=1)
        assert info["sites"]
    finally:
        env.close()


@pytest.mark.parametrize("environment", [hone.PassOrderEnv, hone.RewritesEnv])
def test_there_is_no_such_target(small, environment):
    with pytest.raises(ValueError, match="there is no target 'h1000'"):
        environment(small, target="h1000")


def test_hone_bench_says_what_a_plan_is_worth_by_the_estimate(tmp_path):
    program = tmp_path / "chain.hlo"
    program.write_text("""HloModule chain

ENTRY main {
  x = f32[64,256] parameter(0)
  e = f32[64,256] exponential(x)
  c = f32[64,256] cosine(e)
  ROOT t = f32[64,256] tanh(c)
}
""")
    plan = tmp_path / "plan.json"
    plan.write_text('{"format": "hone tuned plan", "passes": [], "choices": {}, "flags": '
                    '{"xla_disable_hlo_passes.priority-fusion": "true"}}')
    command = [HONE, "bench", str(program), "--target", "h100", "--plan", str(plan)]
    done = subprocess.run(command + ["--json", "--kernels", "9"], capture_output=True, text=True, check=True)
    row = json.loads(done.stdout)
    assert row["estimated"] and row["target"] == "h100"
    assert row["speedup"] < 1
    assert row["speedup_ci"] == [row["speedup"]] * 2
    kernels = row["kernels"]
    assert len(kernels["plan"]) > len(kernels["stock"])
    assert sum(kernel["ms"] for kernel in kernels["plan"]) == pytest.approx(row["tuned_ms"])
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "estimated by XLA's own model of h100" in said and "as fast" not in said


def test_hone_kernels_says_what_the_back_end_makes(tmp_path):
    program = tmp_path / "rows.hlo"
    program.write_text("""HloModule rows

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[256,4096] parameter(0)
  zero = f32[] constant(0)
  e = f32[256,4096] exponential(x)
  ROOT s = f32[256] reduce(e, zero), dimensions={1}, to_apply=add
}
""")
    ptx = tmp_path / "rows.ptx"
    done = subprocess.run([HONE, "kernels", str(program), "--target", "a100", "--ptx", str(ptx), "--json"],
                          capture_output=True, text=True, check=True)
    row = json.loads(done.stdout)
    assert row["architecture"] == "sm_80" and row["assembled"]
    (kernel,) = row["kernels"]
    assert kernel["registers"] > 0 and kernel["shared_bytes"] > 0 and kernel["spill_stores"] == 0
    assert kernel["threads"] > 0 and kernel["estimated_ms"] > 0
    assert f".entry {kernel['name']}(" in ptx.read_text()
    without = subprocess.run([HONE, "kernels", str(program), "--target", "a100", "--ptxas", "no/such/ptxas"],
                             capture_output=True, text=True, check=True).stdout
    assert kernel["name"] in without and "registers and spills are not known" in without
