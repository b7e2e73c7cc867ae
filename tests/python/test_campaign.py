"""bench/campaign: mutants are the same for the same seed, a stopped run goes on, faults are told."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAMPAIGN = ROOT / "bench" / "campaign"
HONE = ROOT / "build" / "bin" / "hone"
sys.path.insert(0, str(CAMPAIGN))

import commands  # noqa: E402
import mutate  # noqa: E402
import splice  # noqa: E402
from program import Program  # noqa: E402
from reduce import reduce_program  # noqa: E402

TEXT = """HloModule small, entry_computation_layout={(f32[8,3]{1,0})->f32[8]{0}}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add.1 = f32[] add(f32[] %a, f32[] %b), metadata={op_name="add, all"}
}

ENTRY %main (x: f32[8,3]) -> f32[8] {
  %x = f32[8,3]{1,0} parameter(0)
  %c = f32[3]{0} constant({1, 2,
    3})
  %all = f32[8,3]{1,0} broadcast(%c), dimensions={1}
  %product = f32[8,3]{1,0} multiply(%x, %all)
  %zero = f32[] constant(0)
  %unused = f32[8,3]{1,0} negate(%x)
  ROOT %reduce.1 = f32[8]{0} reduce(%product, %zero), dimensions={1}, to_apply=%sum
}
"""


def test_text_is_read_and_written():
    program = Program(TEXT)
    assert [i.name for i in program.entry] == ["x", "c", "all", "product", "zero", "unused", "reduce.1"]
    assert program.entry[1].operands == ["{1, 2, 3}"]
    assert program.entry[-1].called() == ["sum"]
    assert program.computations["sum"][-1].operands == ["a", "b"]
    assert str(Program(str(program))) == str(program)
    program.remove_dead()
    assert "unused" not in str(program)


def test_every_change_is_made_of_its_seed_alone():
    for change in {*mutate.MUTATIONS}:
        texts = []
        for _ in range(2):
            program, rng = Program(TEXT), random.Random(3)
            for _ in range(4):
                change(program, rng)
            texts.append(str(program))
        assert texts[0] == texts[1], change.__name__
    for change in {*splice.SPLICES}:
        made = [str(change(Program(TEXT), Program(TEXT), random.Random(3))) for _ in range(2)]
        assert made[0] == made[1], change.__name__


def test_a_fault_is_told():
    def fault(script, limit=5):
        return commands.common_fault(commands.run(["sh", "-c", script], limit), limit)
    assert fault("kill -SEGV $$") == "signal 11"
    assert fault("echo broken invariant at x.cc:12: n >&2; exit 3").startswith("broken invariant")
    assert "/build/src/a.cc" in fault("echo failed at /build/src/a.cc:12 >&2")
    assert fault("sleep 60", limit=0.2).startswith("still running")
    assert fault("exit 3") is None  # which of them may, each command knows
    assert commands.signature("%add.12 of f32[3,4]{1,0} is 0x7f, 12.5") == "NAME of SHAPE is HEX, N"


def test_a_program_is_reduced():
    text = reduce_program(TEXT, lambda smaller: "multiply(" in smaller, seconds=5)
    assert "reduce" not in text and "multiply(" in text
    assert len(Program(text).entry) == 3


@pytest.mark.skipif(not HONE.exists(), reason="hone is not built")
def test_a_stopped_run_goes_on(tmp_path, small):
    (tmp_path / "seeds").mkdir()
    shutil.copy(small, tmp_path / "seeds" / "a.hlo")
    out = tmp_path / "out"

    def run(count):
        done = subprocess.run(
            [sys.executable, CAMPAIGN / "campaign.py", "run", tmp_path / "seeds", "--out", out,
             "--count", str(count), "--cuts", "2", "--hone", HONE, "--shares",
             "optimize=0.5,run=0,rewrites=0,memory=0.2,check=0,replay=0.2,tune=0,refuse=0"],
            capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
        assert "| stats |" in done.stdout, done.stderr
        return (out / "results.jsonl").read_text(encoding="utf-8").splitlines()

    first = run(3)
    both = run(6)
    assert both[:len(first)] == first
    rows = [json.loads(line) for line in both]
    assert {r["mutant"] for r in rows} == set(range(6))
    assert len({(r["mutant"], r["command"]) for r in rows}) == len(rows)
    assert not [r for r in rows if r["exit"] < 0]
