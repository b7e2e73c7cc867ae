"""hone.datasets: indexes and URIs; graphs of JAX functions and Flax models.

Tests that make graphs are skipped where JAX, or what they need besides, is not installed.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

import pytest

from dataset_programs import PROGRAM, needs_flax, needs_jax, write
from hone import datasets

GROUP = "0123456789abcdef" * 2
PYTHON = pathlib.Path(datasets.__file__).resolve().parents[2]


def write_dataset(folder):
    """Three programs of two families, with an index."""
    rows = [
        dict(file="a/one.hlo", family="a", phase="fwd", instructions=4, split="train"),
        dict(file="a/two.hlo", family="a", phase="train", instructions=9, split="test", group=GROUP),
        dict(file="b/deep/three.hlo", family="b", phase="train", config="x=1 y=2", split="train"),
    ]
    for row in rows:
        write(folder, row["file"])
    datasets.write_index(folder, rows)
    return rows


class TestIndex:
    def test_round_trip(self, tmp_path):
        rows = write_dataset(tmp_path / "set")
        loaded = datasets.load(tmp_path / "set")
        assert loaded.name == "set"
        assert [program.uri for program in loaded] == ["set/a/one", "set/a/two", "set/b/deep/three"]
        for program, row in zip(loaded, rows, strict=True):
            assert program.path == tmp_path / "set" / row["file"]
            assert program.text() == PROGRAM.format(name="test")
            for field in ("family", "phase", "config", "split", "group"):
                assert getattr(program, field) == row.get(field, "")
            assert program.instructions == row.get("instructions")

    def test_indexing(self, tmp_path):
        write_dataset(tmp_path / "set")
        loaded = datasets.load(tmp_path / "set")
        assert len(loaded) == 3
        assert loaded[1] == loaded["set/a/two"] == loaded[-2]
        assert isinstance(loaded[1:], datasets.Dataset) and loaded[1:].name == "set"
        assert list(loaded[1:]) == list(loaded)[1:]
        assert "set/a/one" in loaded and loaded[0] in loaded and "set/a/none" not in loaded
        with pytest.raises(IndexError):
            loaded[3]
        with pytest.raises(datasets.DatasetError, match="no program 'set/one'.*set/a/one"):
            loaded["set/one"]

    def test_programs_are_frozen_and_hashable(self, tmp_path):
        write_dataset(tmp_path / "set")
        loaded = datasets.load(tmp_path / "set")
        assert len({*loaded, *loaded}) == 3
        with pytest.raises(AttributeError):
            loaded[0].family = "b"

    def test_filter(self, tmp_path):
        write_dataset(tmp_path / "set")
        loaded = datasets.load(tmp_path / "set")

        def names(**conditions):
            return [program.path.stem for program in loaded.filter(**conditions)]

        assert names() == ["one", "two", "three"]
        assert names(family="a") == ["one", "two"]
        assert names(family=("a", "b"), phase="train") == ["two", "three"]
        assert names(split="train") == ["one", "three"]
        # The third's size is not in the index: its text has four instructions.
        assert names(max_instructions=4) == ["one", "three"]
        assert names(max_instructions=3) == []
        assert names(phase="none") == []

    def test_names_in_uris_can_be_chosen(self, tmp_path):
        write_dataset(tmp_path / "set")
        assert datasets.load(tmp_path / "set", name="mine")[0].uri == "mine/a/one"
        with pytest.raises(datasets.DatasetError, match="without '/'"):
            datasets.load(tmp_path / "set", name="a/b")

    def test_folder_without_index(self, tmp_path):
        write(tmp_path / "set", "b/deep/two.hlo")
        write(tmp_path / "set", "a/one.hlo")
        write(tmp_path / "set", "top.hlo")
        write(tmp_path / "set", "a/notes.md", "not a program")
        write(tmp_path / "set", "a/README.txt", "not a program either")
        loaded = datasets.load(tmp_path / "set")
        assert [(p.uri, p.family) for p in loaded] == [
            ("set/a/one", "a"),
            ("set/b/deep/two", "deep"),
            ("set/top", "top"),
        ]
        assert loaded[0].instructions is None
        assert len(loaded.filter(max_instructions=4)) == 3

    def test_shipped(self):
        models = datasets.load("models")
        demo = models["models/gpt2/hf_train_l4_d256_adamw"]
        assert demo.family == "gpt2" and demo.phase == "train" and demo.instructions == 3275
        for program in models:
            assert program.instructions == datasets.count_instructions(program.text()), program.uri
            assert program.licence
        assert datasets.find("models/gpt2/hf_train_l4_d256_adamw") == demo.path

    def test_find(self, tmp_path, monkeypatch):
        write_dataset(tmp_path / "set")
        loaded = datasets.load(tmp_path / "set")
        one = tmp_path / "set" / "a" / "one.hlo"
        assert datasets.find("set/a/one", [loaded]) == one
        assert datasets.find(str(one)) == one
        assert datasets.find(str(one.with_suffix(""))) == one
        with pytest.raises(datasets.DatasetError, match="none of the data sets 'set', 'models'"):
            datasets.find("set/a/none", [loaded])
        with pytest.raises(datasets.DatasetError, match="no program 'models/none'"):
            datasets.find("models/none")

    def test_written_as_it_is_read(self, tmp_path):
        write(tmp_path, "a.hlo")
        datasets.write_index(tmp_path, [dict(file="a.hlo", config='one\ttwo\n"three', origin="ü")])
        assert datasets.load(tmp_path)[0].config == 'one two "three'
        assert datasets.load(tmp_path)[0].origin == "ü"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.hlo", "index.tsv"]

    @pytest.mark.parametrize(
        "row, message",
        [
            (dict(file="a.hlo", split="valid"), "no split 'valid'"),
            (dict(file="a.hlo", group="gpt2_l4"), "'gpt2_l4' is no fingerprint"),
            (dict(family="gpt2"), "the column 'file' is empty"),
        ],
    )
    def test_what_could_not_be_read_is_not_written(self, tmp_path, row, message):
        with pytest.raises(datasets.DatasetError, match=f"index.tsv: line 2: .*{message}"):
            datasets.write_index(tmp_path, [row])
        assert not list(tmp_path.iterdir())

    def test_the_command_reads_what_is_written(self, tmp_path):
        rows = write_dataset(tmp_path / "set")
        hone = PYTHON.parent / "build" / "bin" / "hone"
        ran = subprocess.run(
            [hone, "dataset", "list", tmp_path / "set", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        listed = json.loads(ran.stdout)["programs"]
        loaded = datasets.load(tmp_path / "set")
        assert len(listed) == len(rows)
        for told, program in zip(listed, loaded, strict=True):
            assert (told["uri"], told["file"]) == (program.uri, str(program.path))
            for field in ("family", "phase", "config", "instructions", "group", "split"):
                assert told[field] == getattr(program, field)

    def test_windows_line_ends_and_blank_lines(self, tmp_path):
        write(tmp_path, "a.hlo")
        (tmp_path / "index.tsv").write_bytes(b"\xef\xbb\xbffile\tinstructions\r\na.hlo\t4\r\n\r\n")
        assert datasets.load(tmp_path)[0].instructions == 4

    @pytest.mark.parametrize(
        "content, message",
        [
            ("", "index.tsv: the file is empty"),
            ("path\tfamily\na.hlo\tx\n", "line 1: there is no column 'file'"),
            ("file\tfile\na.hlo\ta.hlo\n", "line 1: there are two columns 'file'"),
            ("file\tfamily\na.hlo\n", "line 2: 1 fields, where the first line has 2"),
            ("file\na.hlo\nb.hlo\n", "index.tsv: '.*b.hlo' is not there; restore it"),
            ("file\n../a.hlo\n", "line 2: '../a.hlo' is outside the folder"),
            ("file\n/a.hlo\n", "line 2: '/a.hlo' is outside the folder"),
            ("file\tinstructions\na.hlo\tmany\n", "line 2: 'many' is no number of instructions"),
            ("file\tinstructions\na.hlo\t-4\n", "line 2: '-4' is no number of instructions"),
            ("file\tsplit\na.hlo\tvalid\n", "line 2: there is no split 'valid' .did you mean 'vali"),
            ("file\tgroup\na.hlo\tgpt2_l4\n", "line 2: 'gpt2_l4' is no fingerprint"),
            ("file\na.hlo\na.hlo\n", "line 3: 'a.hlo' is there twice"),
            ("file\na.hlo\na.pb\n", "'set/a' is there twice"),
        ],
    )
    def test_errors_of_an_index(self, tmp_path, content, message):
        write(tmp_path / "set", "a.hlo")
        write(tmp_path / "set", "a.pb")
        write(tmp_path, "a.hlo")
        (tmp_path / "set" / "index.tsv").write_text(content)
        with pytest.raises(datasets.DatasetError, match=message):
            datasets.load(tmp_path / "set")

    def test_index_that_is_no_text(self, tmp_path):
        (tmp_path / "index.tsv").write_bytes(b"file\n\xff\xfe\n")
        with pytest.raises(datasets.DatasetError, match="can't read .*index.tsv"):
            datasets.load(tmp_path)

    def test_errors_of_a_folder(self, tmp_path):
        with pytest.raises(datasets.DatasetError, match="is not there; give a folder, or 'models'"):
            datasets.load(tmp_path / "none")
        with pytest.raises(datasets.DatasetError, match="is a file"):
            datasets.load(write(tmp_path, "a.hlo"))
        (tmp_path / "empty").mkdir()
        with pytest.raises(datasets.DatasetError, match="there is no program in this folder"):
            datasets.load(tmp_path / "empty")

    def test_reading_imports_no_extras(self):
        code = (
            "import sys, hone.datasets, hone.datasets.paper; hone.datasets.load('models'); "
            "list(hone.datasets.paper.recipe()); "
            "print([m for m in ('jax', 'flax', 'optax', 'transformers') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=PYTHON, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


@needs_jax
class TestFromJax:
    def shape(self, *sizes, dtype="float32"):
        import jax

        return jax.ShapeDtypeStruct(sizes, dtype)

    def test_text_and_name(self):
        def add_one(x):
            return x + 1

        text = datasets.from_jax(add_one, self.shape(8))
        assert text.startswith("HloModule jit_add_one, ")
        assert "(f32[8]{0})->f32[8]{0}" in text and " add(" in text
        named = datasets.from_jax(add_one, self.shape(8), name="mine")
        assert named == text.replace("jit_add_one", "jit_mine")
        assert text == datasets.from_jax(add_one, self.shape(8))
        assert text.endswith("}\n") and "metadata=" not in text

    def test_ways_to_give_shapes(self):
        import jax
        import numpy

        def fn(x, y):
            return x @ y["w"] + y["b"][0]

        tree = {"w": self.shape(4, 2), "b": [self.shape(2)]}
        text = datasets.from_jax(fn, self.shape(8, 4), tree)
        pairs = {"w": ((4, 2), "float32"), "b": [((2,), numpy.float32)]}
        assert text == datasets.from_jax(fn, ((8, 4), jax.numpy.float32), pairs)
        arrays = {"w": numpy.ones((4, 2), "float32"), "b": [jax.numpy.ones(2)]}
        assert text == datasets.from_jax(fn, numpy.zeros((8, 4), "float32"), arrays)
        assert "bf16[3]" in datasets.from_jax(lambda x: x * 2, ((3,), "bfloat16"))
        assert "f32[]" in datasets.from_jax(lambda x, y: x * y, 2.0, 3)

    def test_large_constants_are_whole(self):
        import numpy

        table = numpy.arange(5000, dtype=numpy.float32)
        text = datasets.from_jax(lambda x: x + table, self.shape(5000))
        assert "{...}" not in text and "4999" in text and "2500" in text

    def test_static_and_donated_arguments(self):
        def fn(x, times, y):
            return x * times, y + 1

        text = datasets.from_jax(fn, self.shape(8), 3, self.shape(4), static_argnums=1)
        assert "constant(3)" in text and "input_output_alias" not in text
        text = datasets.from_jax(
            fn, self.shape(8), 3, self.shape(4), static_argnums=(1,), donate_argnums=(0, 2)
        )
        assert "input_output_alias" in text

        def named(x, kind):
            return x + 1 if kind == "plus" else x - 1

        assert " add(" in datasets.from_jax(named, self.shape(8), "plus", static_argnums=-1)
        with pytest.raises(datasets.DatasetError, match="argument 1: 'plus' is no shape"):
            datasets.from_jax(named, self.shape(8), "plus")

    def test_jitted_functions(self):
        import functools

        import jax

        def fn(x, y):
            return x + y

        plain = datasets.from_jax(fn, self.shape(8), self.shape(8))
        assert plain == datasets.from_jax(jax.jit(fn), self.shape(8), self.shape(8))
        donating = datasets.from_jax(jax.jit(fn, donate_argnums=0), self.shape(8), self.shape(8))
        assert "input_output_alias" in donating
        part = datasets.from_jax(functools.partial(fn, y=1.0), self.shape(8))
        assert part.startswith("HloModule jit_function,")

    def test_nothing_is_run(self):
        import jax

        def fn(x):
            jax.debug.callback(lambda: pytest.fail("it was run"))
            return x @ x

        # A product of 4 TB: it can only be described.
        assert "f32[1000000,1000000]" in datasets.from_jax(fn, self.shape(10**6, 10**6))

    def test_errors(self):
        with pytest.raises(datasets.DatasetError, match="argument 0: 'x' is no shape"):
            datasets.from_jax(lambda x: x, "x")
        with pytest.raises(datasets.DatasetError, match="'float33' is no dtype"):
            datasets.from_jax(lambda x: x, ((8,), "float33"))
        with pytest.raises(datasets.DatasetError, match=r"argument 0: .* is no shape"):
            datasets.from_jax(lambda x: x, {"w": object()})


def gpt2(**options):
    import transformers

    sizes = dict(n_layer=1, n_embd=16, n_head=2, vocab_size=50, n_positions=32)
    return transformers.GPT2Config(**{**sizes, **options})


def bert(**options):
    import transformers

    sizes = dict(
        num_hidden_layers=1,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        vocab_size=50,
        max_position_embeddings=32,
    )
    return transformers.BertConfig(**{**sizes, **options})


def resnet():
    import transformers

    return transformers.ResNetConfig(
        depths=[1, 1], hidden_sizes=[8, 16], embedding_size=8, layer_type="basic"
    )


def opcodes(text):
    return collections.Counter(re.findall(r" = (?:\(.*?\)|\S+) ([a-z0-9\-]+)\(", text))


def entry(text):
    """Shapes of arguments and results, as text."""
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->(.*?)\}(?:, \w+=|\n)", text)
    return re.findall(r"[a-z]+\d+\[[\d,]*\]", layout[1]), re.findall(
        r"[a-z]+\d+\[[\d,]*\]", layout[2]
    )


@needs_flax
class TestFromFlax:
    def test_forward(self):
        text = datasets.from_flax(gpt2(), "causal-lm", batch=2, seq=8)
        assert text.startswith("HloModule jit_forward,") and "{...}" not in text
        arguments, results = entry(text)
        assert results == ["f32[2,8,50]"]
        assert arguments.count("s32[2,8]") == 2
        assert text == datasets.from_flax(gpt2(), "causal-lm", batch=2, seq=8)
        # Dropout is of training only.
        assert not opcodes(text)["while"]

    def test_train_step(self):
        text = datasets.from_flax(gpt2(), "causal-lm", "train", batch=2, seq=8)
        assert text.startswith("HloModule jit_train_step,") and "{...}" not in text
        assert "input_output_alias" in text
        arguments, results = entry(text)
        # Weights and two moments of each, the optimizer's count, the next key and the loss.
        weights = len(entry(datasets.from_flax(gpt2(), "causal-lm", batch=2, seq=8))[0]) - 2
        assert len(results) == 3 * weights + 3
        assert results.count("f32[50,16]") == 3 and results[-1] == "f32[]"
        assert arguments.count("s32[2,8]") == 3
        undonated = datasets.from_flax(gpt2(), "causal-lm", "train", batch=2, seq=8, donate=False)
        assert "input_output_alias" not in undonated

    def test_decode_step(self):
        text = datasets.from_flax(gpt2(), "causal-lm", "decode", batch=2, seq=8)
        arguments, results = entry(text)
        assert "s32[2]" in results and "f32[2,8,2,8]" in results and "s32[2,1]" in arguments
        assert opcodes(text)["dynamic-update-slice"]
        with pytest.raises(datasets.DatasetError, match="phase decode with task mlm"):
            datasets.from_flax(bert(), "mlm", "decode", seq=8)

    @pytest.mark.parametrize(
        "task, results",
        [
            ("mlm", ["f32[2,8,50]"]),
            ("sequence-classification", ["f32[2,2]"]),
            ("token-classification", ["f32[2,8,2]"]),
            ("question-answering", ["f32[2,8]", "f32[2,8]"]),
        ],
    )
    def test_tasks_of_bert(self, task, results):
        forward = datasets.from_flax(bert(), task, batch=2, seq=8)
        arguments, found = entry(forward)
        assert found == results and arguments.count("s32[2,8]") == 3
        train = datasets.from_flax(bert(), task, "train", batch=2, seq=8, optimizer="sgd")
        assert entry(train)[1][-1] == "f32[]"

    def test_resnet(self):
        forward = datasets.from_flax(resnet(), "image-classification", batch=2, image_size=32)
        arguments, results = entry(forward)
        assert "f32[2,3,32,32]" in arguments and results == ["f32[2,2]"]
        convolutions = opcodes(forward)["convolution"]
        train = datasets.from_flax(
            resnet(), "image-classification", "train", batch=2, image_size=(32, 48), optimizer="sgd"
        )
        assert "f32[2,3,32,48]" in entry(train)[0]
        # Each convolution has two gradients, but the first one's by its input isn't needed.
        assert opcodes(train)["convolution"] == 3 * convolutions - 1
        # The statistics of batch normalisation are among the results: weights and these and a loss.
        assert len(entry(train)[1]) == len(arguments) - 1 + 1

    @pytest.mark.parametrize("optimizer", sorted(datasets.OPTIMIZERS))
    def test_optimizers(self, optimizer):
        options = dict(batch=2, seq=8, optimizer=optimizer)
        text = datasets.from_flax(gpt2(), "causal-lm", "train", **options)
        assert "{...}" not in text
        if optimizer != "sgd":
            options["optimizer"] = "sgd"
            assert text != datasets.from_flax(gpt2(), "causal-lm", "train", **options)

    def test_own_optimizer(self):
        import optax

        options = dict(batch=2, seq=8)
        text = datasets.from_flax(
            gpt2(), "causal-lm", "train", optimizer=optax.sgd(1e-4), **options
        )
        assert text == datasets.from_flax(
            gpt2(), "causal-lm", "train", optimizer="sgd", learning_rate=1e-4, **options
        )

    def test_options(self):
        def train(**options):
            defaults = dict(batch=4, seq=8, optimizer="sgd")
            return datasets.from_flax(gpt2(), "causal-lm", "train", **{**defaults, **options})

        plain = train()
        assert "bf16[" not in plain
        assert "bf16[4,8," in train(dtype="bf16")
        assert "bf16[50,16]" in entry(train(dtype="bf16", param_dtype="bf16"))[0]
        assert opcodes(train(remat="full"))["dot"] > opcodes(plain)["dot"]
        assert opcodes(train(remat="dots"))["dot"] == opcodes(plain)["dot"]
        assert opcodes(train(remat="dots"))["opt-barrier"]
        assert opcodes(train(accumulate=2))["while"] > opcodes(plain)["while"]
        assert opcodes(train(rng="rbg"))["rng-bit-generator"] and "u32[4]" in train(rng="rbg")
        assert opcodes(train(clip_norm=1.0))["sqrt"] > opcodes(plain)["sqrt"]
        assert opcodes(train(schedule="cosine"))["cosine"]

    @pytest.mark.parametrize(
        "options, message",
        [
            (dict(task="translation"), "task 'translation' is not known; give one of causal-lm"),
            (dict(phase="eval"), "phase 'eval' is not known"),
            (dict(dtype="f8"), "dtype 'f8' is not known; give one of f32"),
            (dict(optimizer="adamv"), "optimizer 'adamv' is not known"),
            (dict(remat="some"), "remat 'some' is not known"),
            (dict(seq=64), "seq 64 is more than the 32 positions of the GPT2Config"),
            (dict(batch=0), "batch 0: give 1 or more"),
            (dict(phase="train", batch=3, accumulate=2), "no multiple of accumulate 2"),
            (dict(task="mlm"), "no Flax model for mlm of a GPT2Config"),
        ],
    )
    def test_errors(self, options, message):
        with pytest.raises(datasets.DatasetError, match=message):
            datasets.from_flax(gpt2(), **{"task": "causal-lm", "batch": 2, "seq": 8, **options})
