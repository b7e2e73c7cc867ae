"""Examples that need nothing but hone: with budgets of seconds."""

import pathlib
import subprocess
import sys

from hone import datasets

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def test_random_to_leaderboard(tmp_path, hone_command):
    folder = tmp_path / "programs"
    folder.mkdir()
    rows = []
    for split, uri in (
        ("train", "models/xla/layer_norm_1x4096x768_bf16"),
        ("validation", "models/xla/mha_block_1x12x128x64_bf16"),
        ("test", "models/hloenv/jaxrl_qr"),
    ):
        file = f"{split}.hlo"
        (folder / file).write_bytes(pathlib.Path(datasets.find(uri)).read_bytes())
        rows.append(f"{file}\t{split}\n")
    (folder / "index.tsv").write_text("file\tsplit\n" + "".join(rows))
    out = tmp_path / "out"
    command = [
        sys.executable, str(EXAMPLES / "random_to_leaderboard.py"), "--hone", str(hone_command),
        "--programs", str(folder), "--out", str(out),
        "--search-steps", "40", "--steps", "64", "--time", "5s", "--budget", "20steps",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    board = (out / "leaderboard.md").read_text()
    for method in ("random", "imitation", "imitation, then PPO", "the policy that comes with hone"):
        assert f"| {method} | " in board
    assert done.stdout.count("at random: ") == 3
    # Nothing is added to the rows of an earlier run.
    again = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert again.returncode != 0 and "is there already" in again.stderr
