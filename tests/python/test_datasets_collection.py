"""hone.datasets.collection: many different programs, whose families and sources do not leak between splits."""

import collections
import csv
import pathlib
import subprocess

import pytest

from dataset_programs import needs_flax, needs_jax
from hone import _core, datasets, fetch_xla
from hone.datasets import collection, collection_sample

ROOT = pathlib.Path(__file__).resolve().parents[2]
HONE = ROOT / "build" / "bin" / "hone"


class TestSources:
    def test_many_and_distinct(self):
        sources = list(collection.sources())
        assert len(sources) >= 1500
        assert len({(source.family, source.name) for source in sources}) == len(sources)

    def test_always_the_same(self):
        def of(source):
            return source.family, source.unit, source.name, source.phase, source.split

        assert list(map(of, collection.sources())) == list(map(of, collection.sources()))

    def test_a_unit_is_in_one_split_and_a_family_on_one_side(self):
        splits = collections.defaultdict(set)
        units = collections.defaultdict(set)
        for source in collection.sources():
            splits[source.family, source.unit].add(source.split)
            units[source.split].add((source.family, source.unit))
            if source.family in collection.UNSEEN:
                assert source.split == "test"
        assert all(len(found) == 1 for found in splits.values())
        assert set(units) == {"train", "validation", "test"}
        known = {source.family for source in collection.sources()}
        assert collection.UNSEEN < known
        # What is tested on is of many sources, and what is trained on of more.
        seen = {unit for unit in units["test"] if unit[0] not in collection.UNSEEN}
        assert 50 <= len(seen) < len(units["train"]) / 2


def names(sources):
    return [(source.family, source.name) for source in sources]


class TestSample:
    COUNTS = {"train": 20, "test": 15, "unseen": 10}

    def test_by_seed_and_side(self):
        drawn = collection.draw(collection.sources(), self.COUNTS, seed=3)
        assert names(drawn) == names(collection.draw(collection.sources(), self.COUNTS, seed=3))
        assert names(drawn) != names(collection.draw(collection.sources(), self.COUNTS, seed=4))
        sides = collections.Counter(collection_sample.side_of(source) for source in drawn)
        assert sides == self.COUNTS
        # No unit of training is tested on, and no family of `unseen` is on another side.
        units = collections.defaultdict(set)
        for source in drawn:
            units[source.split].add((source.family, source.unit))
        assert not units["train"] & units["test"]
        known = {s.family for s in drawn if collection_sample.side_of(s) == "train"}
        assert not known & collection.UNSEEN

    def test_who_was_there_stays(self):
        few = collection.draw(collection.sources(), {"test": 15}, seed=3)
        more = collection.draw(collection.sources(), {"train": 5, "test": 40}, seed=3)
        assert set(names(few)) < set(names(more))
        left = few[0].family
        without = collection.draw(collection.sources(), {"test": 15}, seed=3, without=[left])
        assert {name for name in names(few) if name[0] != left} <= set(names(without))
        assert left not in {source.family for source in without}

    def test_all_that_begin_so_are_left_out(self):
        all_of_them = collection.draw(collection.sources())
        assert len(all_of_them) == len(list(collection.sources()))
        left = collection.draw(collection.sources(), without=["jax.*"])
        assert left and not any(source.family.startswith("jax.") for source in left)


def rows(folder):
    with open(folder / "index.tsv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@needs_jax
class TestGenerate:
    def test_a_small_one(self, tmp_path, capsys):
        for name in ("a", "b"):
            arguments = [str(tmp_path / name), "--only", "reinforcement", "--limit", "5"]
            assert collection.main(arguments) == 0
        found = rows(tmp_path / "a" / "seen")
        assert 10 <= len(found) <= 30
        assert not (tmp_path / "a" / "unseen").exists()
        assert f"{len(found)} programs in {tmp_path}/a/seen" in capsys.readouterr().out

        # The same twice, to the byte.
        files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*"))
        assert len(files) == len(found) + 1
        for file in files:
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()

        # No two are nearly the same; parts and rewritings are among them.
        bench = _core.Workbench({"worker_path": fetch_xla.ready_worker(quiet=True)})
        sketches = []
        for row in found:
            state = bench.load((tmp_path / "a" / "seen" / row["file"]).read_bytes())
            assert str(state.fingerprint) == row["fingerprint"] == row["group"]
            assert int(row["instructions"]) == state.op_count >= collection.LEAST_INSTRUCTIONS
            sketch = bench.sketch(state)
            sketches.append([sketch[i : i + 8] for i in range(0, len(sketch), 8)])
        assert len(sketches[0]) == 128
        for i, one in enumerate(sketches):
            for other in sketches[:i]:
                same = sum(a == b for a, b in zip(one, other))
                assert same < collection.NEAR_DUPLICATE * 128
        configs = [row["config"] for row in found]
        assert any("part" in config for config in configs)
        assert any("," in config or ": " in config and "part" not in config for config in configs)

        # A source's programs are in its split, and no more of them than that allows.
        split = {f"of {source.name}": source.split for source in collection.sources()}
        counts = collections.Counter()
        for row in found:
            source = row["config"].split(":")[0]
            assert row["split"] == split[source]
            counts[source] += 1
        for source, count in counts.items():
            assert count <= collection._MOST_OF_A_SOURCE[split[source]]
        assert len(datasets.load(tmp_path / "a" / "seen")) == len(found)
        if HONE.exists():
            check = [str(HONE), "dataset", "check", str(tmp_path / "a" / "seen")]
            assert subprocess.run(check, check=False, capture_output=True).returncode == 0

    def test_families_never_trained_on_are_apart(self, tmp_path):
        assert collection.generate(tmp_path, limit=2, only="finance")[0] == 0
        assert not (tmp_path / "seen").exists()
        found = rows(tmp_path / "unseen")
        assert found and {row["split"] for row in found} == {"test"}
        assert {row["family"] for row in found} == {"finance"}

    def test_a_sample_of_small_ones(self, tmp_path):
        arguments = ["--sample", "train=3,unseen=2", "--seed", "5", "--largest", "100"]
        arguments += ["--without", "flax*,optax"]
        for name in ("a", "b"):
            assert collection.main([str(tmp_path / name), *arguments]) == 0
        for side, splits in (("seen", {"train"}), ("unseen", {"test"})):
            found = rows(tmp_path / "a" / side)
            assert found == rows(tmp_path / "b" / side)
            assert {row["split"] for row in found} == splits
            assert all(int(row["instructions"]) <= 100 for row in found)

    def test_rewritten_programs_compute_the_same(self, tmp_path):
        collection.generate(tmp_path, limit=2, only="finance")
        bench = _core.Workbench({"worker_path": fetch_xla.ready_worker(quiet=True)})
        source = next(s for s in collection.sources() if s.family == "finance")
        whole = collection._Made(bench.load(source.lower().encode()), "")
        (rewritten,) = collection._rewritten(bench, source, whole)
        assert rewritten.state.fingerprint != whole.state.fingerprint
        assert bench.compare(whole.state, rewritten.state)["verdict"] == "equal"


class TestBadInput:
    def test_is_one_message(self, tmp_path, capsys):
        (tmp_path / "seen").mkdir()
        for arguments in (
            [str(tmp_path / "x"), "--only", "nothing"],
            [str(tmp_path / "x"), "--limit", "0"],
            [str(tmp_path / "x"), "--sample", "trian=3"],
            [str(tmp_path / "x"), "--sample", "train=-3"],
            [str(tmp_path / "x"), "--sample", "train=0"],
            [str(tmp_path / "x"), "--without", "nothing"],
            [str(tmp_path / "x"), "--without", "*"],
            [str(tmp_path / "x"), "--largest", "3"],
            [str(tmp_path)],
        ):
            assert collection.main(arguments) == 2
            assert capsys.readouterr().err.startswith("error: ")


@needs_flax
@pytest.mark.parametrize("family", ["t5", "opt", "flax.linen", "optax"])
def test_models_are_lowered(family):
    source = next(source for source in collection.sources() if source.family == family)
    assert source.lower().startswith("HloModule")
