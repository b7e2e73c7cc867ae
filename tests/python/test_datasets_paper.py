"""hone.datasets.paper: the paper's recipe, and the programs that are made by it."""

import collections
import io

import pytest

from dataset_programs import PROGRAM, needs_flax, write
from hone import datasets
from hone.datasets import paper


class TestRecipe:
    def test_many_and_distinct(self):
        specs = list(paper.recipe())
        assert len(specs) >= 300
        assert len({spec.file for spec in specs}) == len(specs)
        assert len({(spec.family, spec.model, spec.step) for spec in specs}) == len(specs)
        counts = collections.Counter((spec.family, spec.phase) for spec in specs)
        assert set(counts) == {(f, p) for f in paper.FAMILIES for p in ("fwd", "train")}
        assert min(counts.values()) >= 30

    def test_always_the_same(self):
        assert list(paper.recipe()) == list(paper.recipe())

    def test_is_lazy(self):
        assert next(iter(paper.recipe())).family == "gpt2"
        assert not isinstance(paper.recipe(), (list, tuple))

    def test_groups_are_on_one_side(self):
        splits = collections.defaultdict(set)
        for spec in paper.recipe():
            splits[spec.group].add(spec.split)
        assert all(len(found) == 1 for found in splits.values())
        for family in paper.FAMILIES:
            found = {spec.split for spec in paper.recipe() if spec.family == family}
            assert found == {"train", "validation", "test"}


class FakeLowering:
    """In place of Spec.lower: a small program, different for each spec but where told."""

    def __init__(self, monkeypatch, same=(), interrupt_after=None):
        self.lowered = []
        self._same = same
        self._interrupt_after = interrupt_after
        monkeypatch.setattr(paper.Spec, "lower", lambda spec: self._lower(spec))
        monkeypatch.setattr(paper, "_origin", lambda: "made by a test")

    def _lower(self, spec):
        if len(self.lowered) == self._interrupt_after:
            raise KeyboardInterrupt
        self.lowered.append(spec.file)
        position = [known.file for known in paper.recipe()].index(spec.file)
        size = 8 if spec.file in self._same else 9 + position
        return PROGRAM.format(name=f"jit_{position}").replace("[8]", f"[{size}]")


class TestGenerate:
    def files(self, family=None):
        return [spec.file for spec in paper.recipe() if family in (None, spec.family)]

    def test_writes_and_indexes(self, tmp_path, monkeypatch):
        FakeLowering(monkeypatch)
        log = io.StringIO()
        folder = tmp_path / "new" / "set"
        made = paper.generate(folder, limit=5, log=log)
        assert [p.path for p in made] == [folder / file for file in self.files()[:5]]
        program = made[0]
        assert program.uri.startswith("set/gpt2/") and program.instructions == 4
        assert program.family == "gpt2" and program.group and program.split == "train"
        assert program.licence == "Apache-2.0" and program.origin == "made by a test"
        assert "n_layer=1" in program.config and "phase=fwd" in program.config
        assert log.getvalue().count("\n") == 5 and "[5/5]" in log.getvalue()

    def test_resumes(self, tmp_path, monkeypatch):
        first = FakeLowering(monkeypatch, interrupt_after=3)
        with pytest.raises(KeyboardInterrupt):
            paper.generate(tmp_path, limit=5, log=io.StringIO())
        assert first.lowered == self.files()[:3]
        before = datasets.load(tmp_path)
        assert len(before) == 3
        texts = [program.text() for program in before]

        (tmp_path / self.files()[1]).unlink()
        second = FakeLowering(monkeypatch)
        log = io.StringIO()
        after = paper.generate(tmp_path, limit=5, log=log)
        assert second.lowered == [self.files()[index] for index in (1, 3, 4)]
        assert "2 of 5 graphs are there already" in log.getvalue()
        assert [after[0].text(), after[2].text()] == [texts[0], texts[2]]
        assert len(after) == 5

        third = FakeLowering(monkeypatch)
        assert len(paper.generate(tmp_path, limit=5, log=io.StringIO())) == 5
        assert third.lowered == []

    def test_a_lost_index_is_made_again(self, tmp_path, monkeypatch):
        FakeLowering(monkeypatch)
        before = paper.generate(tmp_path, limit=3, log=io.StringIO())
        (tmp_path / "index.tsv").unlink()
        after = paper.generate(tmp_path, limit=3, log=io.StringIO())
        assert [p.uri for p in after] == [p.uri for p in before]
        assert [p.instructions for p in after] == [4, 4, 4]

    def test_keeps_other_rows(self, tmp_path, monkeypatch):
        FakeLowering(monkeypatch)
        write(tmp_path, "own/mine.hlo")
        datasets.write_index(tmp_path, [dict(file="own/mine.hlo", family="own", config="x=1")])
        paper.generate(tmp_path, limit=1, only="bert", log=io.StringIO())
        made = paper.generate(tmp_path, limit=1, only="gpt2", log=io.StringIO())
        assert [program.family for program in made] == ["gpt2", "bert", "own"]
        assert made[2].config == "x=1"

    def test_duplicates_are_left_out(self, tmp_path, monkeypatch):
        same = (self.files()[0], self.files()[2])
        FakeLowering(monkeypatch, same=same)
        log = io.StringIO()
        made = paper.generate(tmp_path, limit=4, log=log)
        assert len(made) == 3 and not (tmp_path / same[1]).exists()
        assert f"{same[1]}: the same as {same[0]}, left out" in log.getvalue()

    def test_only_one_family(self, tmp_path, monkeypatch):
        fake = FakeLowering(monkeypatch)
        paper.generate(tmp_path, limit=2, only="resnet", log=io.StringIO())
        assert fake.lowered == self.files("resnet")[:2]

    def test_errors(self, tmp_path):
        with pytest.raises(datasets.DatasetError, match="family 'gpt3' is not known; give one of"):
            paper.generate(tmp_path, only="gpt3")
        with pytest.raises(datasets.DatasetError, match="limit 0"):
            paper.generate(tmp_path, limit=0)
        with pytest.raises(datasets.DatasetError, match="jobs 0"):
            paper.generate(tmp_path, jobs=0)

    def test_folder_that_cannot_be(self, tmp_path, monkeypatch):
        FakeLowering(monkeypatch)
        write(tmp_path, "file", "")
        with pytest.raises(datasets.DatasetError, match="can't make the folder"):
            paper.generate(tmp_path / "file" / "set", limit=1)

    def test_command(self, tmp_path, monkeypatch, capsys):
        FakeLowering(monkeypatch)
        assert paper.main([str(tmp_path), "--limit", "2"]) == 0
        assert capsys.readouterr().out == f"2 programs in {tmp_path}\n"
        assert paper.main(["--list", "--only", "bert"]) == 0
        listed = capsys.readouterr().out.splitlines()
        assert [line.split("\t")[0] for line in listed] == self.files("bert")
        assert paper.main([str(tmp_path), "--only", "gpt3"]) == 2
        assert capsys.readouterr().err.startswith("error: family 'gpt3'")
        with pytest.raises(SystemExit, match="0"):
            paper.main(["--help"])
        assert "--limit 10" in capsys.readouterr().out
        FakeLowering(monkeypatch, interrupt_after=0)
        assert paper.main([str(tmp_path), "--limit", "3"]) == 130
        assert "the same command goes on" in capsys.readouterr().err

    @needs_flax
    def test_real_graphs(self, tmp_path):
        paper.generate(tmp_path / "one", limit=2, only="resnet", log=io.StringIO())
        made = paper.generate(tmp_path / "two", limit=2, only="resnet", jobs=2, log=io.StringIO())
        for program in made:
            other = tmp_path / "one" / program.path.relative_to(tmp_path / "two")
            assert program.text() == other.read_text()
            assert "{...}" not in program.text() and "with flax-" in program.origin
