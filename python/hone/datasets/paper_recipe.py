"""A recipe for 429 graphs of GPT-2, BERT and ResNet, as XLA Gym's authors train on.

The recipe is a list that one can read: sizes of models, and what is done with each. Every graph is
lowered from Hugging Face's Flax models without weights (see from_flax).
"""

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

from .flax_models import from_flax
from .lowering import require

FAMILIES = ("gpt2", "bert", "resnet")

_Options = tuple[tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True)
class Spec:
    """One graph of the recipe.

    Attributes:
      family: `gpt2`, `bert` or `resnet`.
      phase: `fwd` or `train`; a decoding step is `fwd`.
      file: where it goes, below the folder.
      group: of all graphs of one size of the model, which are in one split: 32 hexadecimal digits.
      split: `train`, `validation` or `test`.
      model: options of the configuration, as pairs.
      step: options of from_flax, as pairs.
    """

    family: str
    phase: str
    file: str
    group: str
    split: str
    model: _Options
    step: _Options

    @property
    def config(self) -> str:
        """All options, as `name=value` words."""
        return " ".join(
            f"{key}={'x'.join(map(str, value)) if isinstance(value, tuple) else value}"
            for key, value in (*self.step, *self.model)
        )

    def lower(self) -> str:
        """The HLO text. Raises ImportError where a package is missing."""
        transformers = require("transformers")
        make = {
            "gpt2": transformers.GPT2Config,
            "bert": transformers.BertConfig,
            "resnet": transformers.ResNetConfig,
        }[self.family]
        options = {
            key: list(value) if isinstance(value, tuple) else value for key, value in self.model
        }
        return from_flax(make(**options), **dict(self.step))


@dataclasses.dataclass(frozen=True)
class _TextSize:
    layers: int
    width: int
    heads: int
    vocabulary: int
    split: str = "train"

    @property
    def name(self) -> str:
        return f"l{self.layers}_d{self.width}_h{self.heads}"


@dataclasses.dataclass(frozen=True)
class _ImageSize:
    name: str
    layer_type: str
    depths: tuple[int, ...]
    widths: tuple[int, ...]
    stem: int
    split: str = "train"


_GPT2_SIZES = (
    _TextSize(1, 64, 2, 1000),
    _TextSize(2, 128, 4, 8000),
    _TextSize(2, 256, 8, 50257, "validation"),
    _TextSize(3, 192, 3, 16000),
    _TextSize(4, 256, 8, 50257),
    _TextSize(4, 384, 6, 32000, "test"),
    _TextSize(6, 384, 12, 50257),
    _TextSize(8, 512, 8, 32000),
    _TextSize(12, 768, 12, 50257),  # GPT-2 small
)

_BERT_SIZES = (
    _TextSize(1, 64, 2, 1000),
    _TextSize(2, 128, 2, 30522),  # BERT tiny
    _TextSize(2, 192, 6, 8000, "validation"),
    _TextSize(3, 256, 4, 16000),
    _TextSize(4, 256, 4, 30522),  # BERT mini
    _TextSize(4, 512, 8, 30522, "test"),  # BERT small
    _TextSize(6, 384, 12, 30522),
    _TextSize(8, 512, 8, 28996),  # BERT medium
    _TextSize(12, 768, 12, 30522),  # BERT base
)

_THIN, _BASIC, _WIDE = (16, 32, 64, 128), (64, 128, 256, 512), (256, 512, 1024, 2048)

_RESNET_SIZES = (
    _ImageSize("r10", "basic", (1, 1, 1, 1), _BASIC, 64),
    _ImageSize("r10thin", "basic", (1, 1, 1, 1), _THIN, 16),
    _ImageSize("r14b", "bottleneck", (1, 1, 1, 1), _WIDE, 64, "validation"),
    _ImageSize("r18", "basic", (2, 2, 2, 2), _BASIC, 64),
    _ImageSize("r18thin", "basic", (2, 2, 2, 2), _THIN, 16),
    _ImageSize("r26b", "bottleneck", (2, 2, 2, 2), _WIDE, 64, "test"),
    _ImageSize("r34", "basic", (3, 4, 6, 3), _BASIC, 64),
    _ImageSize("r50", "bottleneck", (3, 4, 6, 3), _WIDE, 64),
)

# Ways to train: options of from_flax, and of the configuration `dropout` and `activation`. What is
# not named is from_flax's default; no dropout, gelu.
_TEXT_TRAINING = (
    dict(optimizer="sgd"),
    dict(optimizer="momentum", dtype="bf16"),
    dict(optimizer="adam"),
    dict(optimizer="adamw"),
    dict(optimizer="adafactor"),
    dict(optimizer="lion"),
    dict(optimizer="adamw", dtype="bf16", remat="dots"),
    dict(optimizer="adamw", dtype="bf16", param_dtype="bf16", clip_norm=1.0),
    dict(optimizer="adam", remat="full"),
    dict(optimizer="adamw", dropout=0.1, clip_norm=1.0, schedule="cosine"),
    dict(optimizer="lamb", dropout=0.1, rng="rbg"),
    dict(optimizer="lion", dtype="bf16", accumulate=2, activation="relu"),
)

_IMAGE_TRAINING = (
    dict(optimizer="sgd"),
    dict(optimizer="momentum"),
    dict(optimizer="momentum", dtype="bf16", schedule="cosine"),
    dict(optimizer="adam"),
    dict(optimizer="adamw", clip_norm=1.0),
    dict(optimizer="adafactor", dtype="bf16"),
    dict(optimizer="lion"),
    dict(optimizer="rmsprop"),
    dict(optimizer="lamb", schedule="cosine"),
    dict(optimizer="adamw", dtype="bf16", param_dtype="bf16", remat="full"),
    dict(optimizer="sgd", remat="dots"),
    dict(optimizer="momentum", accumulate=2),
)

# Tokens in a sample and samples in a batch; pixels and images. A run through the ways to train
# takes them in turn.
_TEXT_SHAPES = ((128, 4), (64, 8), (32, 16), (256, 2), (128, 8))
_IMAGE_SHAPES = ((64, 8), (32, 32), (96, 4), (128, 4), (224, 2))

_BERT_TASKS = ("mlm", "sequence-classification", "token-classification", "question-answering")


def recipe() -> Iterator[Spec]:
    """The graphs, always the same in the same order, all different. Needs no other package."""
    yield from _gpt2()
    yield from _bert()
    yield from _resnet()


def _gpt2() -> Iterator[Spec]:
    for number, size in enumerate(_GPT2_SIZES):
        for seq, batch, dtype in ((128, 4, "f32"), (64, 16, "bf16"), (256, 1, "f32")):
            yield _text_spec("gpt2", size, "causal-lm", "fwd", seq, batch, dict(dtype=dtype))
        for seq, batch, dtype in ((128, 8, "f32"), (256, 1, "bf16")):
            yield _text_spec("gpt2", size, "causal-lm", "decode", seq, batch, dict(dtype=dtype))
        for way, options in enumerate(_TEXT_TRAINING):
            if _left_out(size.layers, options):
                continue
            seq, batch = _TEXT_SHAPES[(number + way) % len(_TEXT_SHAPES)]
            yield _text_spec("gpt2", size, "causal-lm", "train", seq, batch, options)


def _bert() -> Iterator[Spec]:
    for number, size in enumerate(_BERT_SIZES):
        for way, task in enumerate(_BERT_TASKS):
            seq, batch = _TEXT_SHAPES[(number + way) % len(_TEXT_SHAPES)]
            dtype = ("f32", "bf16")[(number + way) % 2]
            yield _text_spec("bert", size, task, "fwd", seq, batch, dict(dtype=dtype))
        for way, options in enumerate(_TEXT_TRAINING):
            if _left_out(size.layers, options):
                continue
            seq, batch = _TEXT_SHAPES[(number + way) % len(_TEXT_SHAPES)]
            task = _BERT_TASKS[(number + way) % len(_BERT_TASKS)]
            yield _text_spec("bert", size, task, "train", seq, batch, options)


def _resnet() -> Iterator[Spec]:
    for number, size in enumerate(_RESNET_SIZES):
        for way, (pixels, batch) in enumerate(_IMAGE_SHAPES):
            dtype = ("f32", "bf16")[(number + way) % 2]
            yield _image_spec(size, "fwd", pixels, batch, dict(dtype=dtype))
        for way, options in enumerate(_IMAGE_TRAINING):
            pixels, batch = _IMAGE_SHAPES[(number + way) % len(_IMAGE_SHAPES)]
            yield _image_spec(size, "train", pixels, batch, options)


def _left_out(layers: int, options: dict) -> bool:
    """Unrolled dropout in twelve layers gives programs of more than 30,000 instructions."""
    return layers >= 12 and "dropout" in options


def _text_spec(family, size, task, phase, seq, batch, options) -> Spec:
    options = dict(options)
    dropout = options.pop("dropout", 0.0)
    activation = options.pop("activation", "gelu_new" if family == "gpt2" else "gelu")
    if family == "gpt2":
        model = dict(
            n_layer=size.layers,
            n_embd=size.width,
            n_head=size.heads,
            vocab_size=size.vocabulary,
            n_positions=256,
            activation_function=activation,
            attn_pdrop=dropout,
            embd_pdrop=dropout,
            resid_pdrop=dropout,
        )
    else:
        model = dict(
            num_hidden_layers=size.layers,
            hidden_size=size.width,
            num_attention_heads=size.heads,
            intermediate_size=4 * size.width,
            vocab_size=size.vocabulary,
            max_position_embeddings=256,
            hidden_act=activation,
            attention_probs_dropout_prob=dropout,
            hidden_dropout_prob=dropout,
        )
    step = dict(task=task, phase=phase, seq=seq, batch=batch, **options)
    words = [] if family == "gpt2" else [task.replace("-", "")]
    words += [size.name, f"s{seq}", f"b{batch}", *_words(options)]
    words += [f"dropout{dropout:g}"] if dropout else []
    words += [activation] if activation == "relu" else []
    return _spec(family, phase, words, size.name, size.split, model, step)


def _image_spec(size, phase, pixels, batch, options) -> Spec:
    model = dict(
        depths=size.depths,
        hidden_sizes=size.widths,
        embedding_size=size.stem,
        layer_type=size.layer_type,
        num_labels=1000 if pixels >= 64 else 10,
    )
    step = dict(task="image-classification", phase=phase, image_size=pixels, batch=batch, **options)
    words = [size.name, f"i{pixels}", f"b{batch}", *_words(options)]
    return _spec("resnet", phase, words, size.name, size.split, model, step)


def _words(options: dict) -> list:
    """What tells a graph from others in its file's name."""
    words = [options["optimizer"]] if "optimizer" in options else []
    words.append(options.get("dtype", "f32"))
    words += ["paramsbf16"] if options.get("param_dtype") == "bf16" else []
    words += [f"remat{options['remat']}"] if "remat" in options else []
    words += [f"accumulate{options['accumulate']}"] if "accumulate" in options else []
    words += ["clip"] if "clip_norm" in options else []
    words += [options[key] for key in ("schedule", "rng") if key in options]
    return words


def _spec(family, phase, words, size_name, split, model, step) -> Spec:
    return Spec(
        family=family,
        phase="train" if phase == "train" else "fwd",
        file=f"{family}/{'_'.join([phase, *words])}.hlo",
        group=hashlib.md5(f"{family}_{size_name}".encode()).hexdigest(),
        split=split,
        model=tuple(model.items()),
        step=tuple(step.items()),
    )
