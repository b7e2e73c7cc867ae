"""HLO text of Hugging Face's Flax models: a forward pass, a whole train step, a decoding step.

The model is set up from its configuration alone, abstractly: no weights are made or downloaded,
nothing is run. JAX, Flax, optax and transformers are imported when a function here is called;
`pip install 'hone[datasets]'` brings versions that work together.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .programs import DatasetError
from .lowering import from_jax, require

# What a model can be set up for: the class of transformers that makes it of a configuration.
TASKS: Mapping[str, str] = {
    "causal-lm": "FlaxAutoModelForCausalLM",
    "mlm": "FlaxAutoModelForMaskedLM",
    "sequence-classification": "FlaxAutoModelForSequenceClassification",
    "token-classification": "FlaxAutoModelForTokenClassification",
    "question-answering": "FlaxAutoModelForQuestionAnswering",
    "image-classification": "FlaxAutoModelForImageClassification",
}

PHASES = ("fwd", "train", "decode")

DTYPES: Mapping[str, str] = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}

# How to make each optimizer: optax, learning rate (a number or a schedule) -> transformation.
OPTIMIZERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "sgd": lambda optax, rate: optax.sgd(rate),
    "momentum": lambda optax, rate: optax.sgd(rate, momentum=0.9, nesterov=True),
    "adam": lambda optax, rate: optax.adam(rate),
    "adamw": lambda optax, rate: optax.adamw(rate, weight_decay=0.01),
    "adafactor": lambda optax, rate: optax.adafactor(rate),
    "lion": lambda optax, rate: optax.lion(rate, weight_decay=0.01),
    "lamb": lambda optax, rate: optax.lamb(rate, weight_decay=0.01),
    "rmsprop": lambda optax, rate: optax.rmsprop(rate, momentum=0.9),
}

SCHEDULES = ("constant", "cosine")

# What is kept of the forward pass for the backward pass: everything; nothing but the inputs; the
# results of matrix multiplications.
REMATS = ("none", "full", "dots")

RANDOM = {"threefry": "threefry2x32", "rbg": "rbg", "unsafe_rbg": "unsafe_rbg"}


def from_flax(
    config: Any,
    task: str,
    phase: str = "fwd",
    *,
    batch: int = 8,
    seq: int = 128,
    image_size: int | tuple[int, int] | None = None,
    dtype: str = "f32",
    param_dtype: str = "f32",
    optimizer: str | Any = "adamw",
    learning_rate: float = 1e-4,
    schedule: str = "constant",
    clip_norm: float | None = None,
    accumulate: int = 1,
    remat: str = "none",
    rng: str = "threefry",
    donate: bool = True,
    name: str | None = None,
) -> str:
    """The HLO text of a model's forward pass, train step or decoding step.

    The arguments of the programs, flattened in this order:
      fwd: weights, inputs. Gives the logits.
      train: weights, statistics of batch normalisation (if any), optimizer state, inputs with
        labels, key of the random numbers (for text models). Gives the first three anew, the next
        key, and the loss.
      decode: weights, cache of keys and values, tokens [batch, 1], positions [batch, 1], attention
        mask [batch, seq]. Gives the likeliest next tokens [batch] and the cache.
    Inputs are input_ids, attention_mask, and token_type_ids where the model has them, s32[batch,
    seq]; or pixel_values, f32[batch, channels, height, width].

    Args:
      config: a configuration of transformers that has a Flax model, such as GPT2Config(n_layer=2).
        Its dropout rates are what the train step applies.
      task: a key of TASKS; also what the loss is.
      phase: `fwd`, `train` or `decode` (the next token with a cache; of `causal-lm` only).
      batch: samples in a step.
      seq: tokens in a sample; of `decode`, in the cache.
      image_size: pixels, one number or (height, width); None for the configuration's, or else 224.
      dtype: what to compute in: `f32`, `bf16` or `f16`.
      param_dtype: what the weights are kept in.
      optimizer: a key of OPTIMIZERS, or an optax.GradientTransformation.
      learning_rate: the schedule's highest.
      schedule: `constant`, or `cosine` with a linear warm-up.
      clip_norm: gradients are scaled down to this global norm; None for not.
      accumulate: a step's gradients are summed in a scan over so many parts of the batch.
      remat: what the backward pass computes again: `none`, `full` (all), `dots` (all but matrix
        multiplications).
      rng: generator of dropout's random numbers: `threefry`, `rbg` or `unsafe_rbg`.
      donate: whether weights, state and cache are given up to their successors.
      name: the HLO module's name is `jit_NAME`; else jit_forward, jit_train_step, jit_decode_step.

    Raises:
      ImportError: a package is missing.
      DatasetError: an option has a value that isn't known, or transformers has no such Flax model.
    """
    _check("task", task, TASKS)
    _check("phase", phase, PHASES)
    _check("dtype", dtype, DTYPES)
    _check("param_dtype", param_dtype, DTYPES)
    _check("schedule", schedule, SCHEDULES)
    _check("remat", remat, REMATS)
    _check("rng", rng, RANDOM)
    if isinstance(optimizer, str):
        _check("optimizer", optimizer, OPTIMIZERS)
    for option, value in (("batch", batch), ("seq", seq), ("accumulate", accumulate)):
        if value < 1:
            raise DatasetError(f"{option} {value}: give 1 or more")
    if phase == "train" and batch % accumulate:
        raise DatasetError(f"batch {batch} is no multiple of accumulate {accumulate}")

    model = _model(config, task, batch, seq, image_size, dtype, param_dtype)
    if phase == "fwd":
        return _forward(model, name or "forward")
    if phase == "decode":
        return _decode_step(model, donate, name or "decode_step")
    transformation = _transformation(optimizer, learning_rate, schedule, clip_norm)
    options = _TrainOptions(transformation, accumulate, remat, rng, donate)
    return _train_step(model, options, name or "train_step")


@dataclasses.dataclass(frozen=True)
class _Model:
    """A model of transformers with abstract weights.

    Attributes:
      task: a key of TASKS.
      model: the FlaxPreTrainedModel, without weights.
      params: the trained weights, a pytree of jax.ShapeDtypeStruct.
      statistics: the other variables, {"batch_stats": …} or {}.
      inputs: the call's keyword arguments, jax.ShapeDtypeStruct each.
      labels: likewise, what the loss needs besides.
      batch, seq: as in from_flax.
    """

    task: str
    model: Any
    params: Any
    statistics: dict
    inputs: dict
    labels: dict
    batch: int
    seq: int

    @property
    def takes_dropout_key(self) -> bool:
        return "dropout_rng" in _arguments(self.model)

    def variables(self, params, statistics):
        return {"params": params, **statistics} if statistics else params


@dataclasses.dataclass(frozen=True)
class _TrainOptions:
    optimizer: Any
    accumulate: int
    remat: str
    rng: str
    donate: bool


def _model(config, task, batch, seq, image_size, dtype, param_dtype) -> _Model:
    jax = require("jax")
    require("flax")
    transformers = require("transformers")
    int32 = jax.numpy.int32
    if task == "image-classification":
        height, width = _image_size(config, image_size)
        channels = config.num_channels
        input_shape = (1, height, width, channels)
        pixels = jax.ShapeDtypeStruct((batch, channels, height, width), jax.numpy.float32)
        inputs = {"pixel_values": pixels}
    else:
        longest = getattr(config, "max_position_embeddings", None)
        if longest is not None and seq > longest:
            raise DatasetError(
                f"seq {seq} is more than the {longest} positions of the {type(config).__name__}; "
                "give a smaller one, or a configuration with more"
            )
        input_shape = (1, seq)
        inputs = {
            key: jax.ShapeDtypeStruct((batch, seq), int32)
            for key in ("input_ids", "attention_mask", "token_type_ids")
        }
    try:
        model = getattr(transformers, TASKS[task]).from_config(
            config,
            input_shape=input_shape,
            dtype=jax.numpy.dtype(DTYPES[dtype]),
            _do_init=False,
        )
    except (ValueError, AttributeError, KeyError) as error:
        raise DatasetError(
            f"transformers {transformers.__version__} makes no Flax model for {task} of a "
            f"{type(config).__name__}: {error}; transformers before 5 has Flax models"
        ) from error

    if "token_type_ids" not in _arguments(model):
        inputs.pop("token_type_ids", None)
    label_per_token = task in ("causal-lm", "mlm", "token-classification")
    label = jax.ShapeDtypeStruct((batch, seq) if label_per_token else (batch,), int32)
    if task == "question-answering":
        labels = {"start_positions": label, "end_positions": label}
    else:
        labels = {"labels": label}

    def stored(leaf):
        floating = jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating)
        return jax.ShapeDtypeStruct(leaf.shape, DTYPES[param_dtype] if floating else leaf.dtype)

    variables = jax.tree_util.tree_map(stored, dict(model.params_shape_tree))
    statistics = {}
    params = variables
    if "batch_stats" in variables:
        statistics = {"batch_stats": model.params_shape_tree["batch_stats"]}
        params = variables["params"]
    return _Model(task, model, params, statistics, inputs, labels, batch, seq)


def _forward(model: _Model, name: str) -> str:
    def forward(params, statistics, inputs):
        outputs = model.model(**inputs, params=model.variables(params, statistics))
        return _logits(model.task, outputs)

    return from_jax(forward, model.params, model.statistics, model.inputs, name=name)


def _decode_step(model: _Model, donate: bool, name: str) -> str:
    jax = require("jax")
    if model.task != "causal-lm" or "past_key_values" not in _arguments(model.model):
        raise DatasetError(
            f"phase decode with task {model.task}: decoding needs a causal-lm model that keeps a "
            "cache; give task='causal-lm' and a configuration such as GPT2Config"
        )
    cache = jax.eval_shape(lambda: model.model.init_cache(model.batch, model.seq))
    one = jax.ShapeDtypeStruct((model.batch, 1), jax.numpy.int32)
    mask = jax.ShapeDtypeStruct((model.batch, model.seq), jax.numpy.int32)

    def decode_step(params, cache, tokens, positions, attention_mask):
        outputs = model.model(
            tokens,
            attention_mask=attention_mask,
            position_ids=positions,
            past_key_values=cache,
            params=params,
        )
        return jax.numpy.argmax(outputs.logits[:, -1], axis=-1), outputs.past_key_values

    return from_jax(
        decode_step,
        model.params,
        cache,
        one,
        one,
        mask,
        donate_argnums=(1,) if donate else None,
        name=name,
    )


def _train_step(model: _Model, options: _TrainOptions, name: str) -> str:
    jax = require("jax")
    optax = require("optax")
    random = model.takes_dropout_key

    def loss_of(params, statistics, samples, key):
        inputs = {name: samples[name] for name in model.inputs}
        labels = {name: samples[name] for name in model.labels}
        extra = {"dropout_rng": key} if random else {}
        outputs = model.model(
            **inputs, params=model.variables(params, statistics), train=True, **extra
        )
        if statistics:
            outputs, changed = outputs
            statistics = {"batch_stats": changed["batch_stats"]}
        return _loss(jax, optax, model.task, outputs, inputs, labels), statistics

    if options.remat == "full":
        loss_of = jax.checkpoint(loss_of)
    elif options.remat == "dots":
        loss_of = jax.checkpoint(loss_of, policy=jax.checkpoint_policies.dots_saveable)
    gradient_of = jax.value_and_grad(loss_of, has_aux=True)

    def accumulated(params, statistics, samples, key):
        """As gradient_of, in a scan over equal parts of the batch."""
        parts = jax.tree_util.tree_map(
            lambda x: x.reshape(options.accumulate, -1, *x.shape[1:]), samples
        )
        keys = jax.random.split(key, options.accumulate) if random else None

        def one_part(carry, part):
            loss_sum, gradient_sum, statistics = carry
            samples, key = part
            (loss, statistics), gradient = gradient_of(params, statistics, samples, key)
            gradient_sum = jax.tree_util.tree_map(jax.numpy.add, gradient_sum, gradient)
            return (loss_sum + loss, gradient_sum, statistics), None

        zeros = jax.tree_util.tree_map(jax.numpy.zeros_like, params)
        start = (jax.numpy.float32(0), zeros, statistics)
        (loss, gradient, statistics), _ = jax.lax.scan(one_part, start, (parts, keys))
        gradient = jax.tree_util.tree_map(lambda x: x / options.accumulate, gradient)
        return (loss / options.accumulate, statistics), gradient

    def train_step(params, statistics, state, samples, key):
        next_key, dropout_key = jax.random.split(key) if random else (None, None)
        compute = gradient_of if options.accumulate == 1 else accumulated
        (loss, statistics), gradient = compute(params, statistics, samples, dropout_key)
        updates, state = options.optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), statistics, state, next_key, loss

    key = None
    if random:
        key = jax.eval_shape(lambda: jax.random.key(0, impl=RANDOM[options.rng]))
    return from_jax(
        train_step,
        model.params,
        model.statistics,
        jax.eval_shape(options.optimizer.init, model.params),
        {**model.inputs, **model.labels},
        key,
        donate_argnums=(0, 1, 2) if options.donate else None,
        name=name,
    )


def _transformation(optimizer, learning_rate, schedule, clip_norm):
    optax = require("optax")
    if not isinstance(optimizer, str):
        transformation = optimizer
    else:
        if schedule == "cosine":
            learning_rate = optax.warmup_cosine_decay_schedule(
                init_value=0.0, peak_value=learning_rate, warmup_steps=100, decay_steps=10_000
            )
        transformation = OPTIMIZERS[optimizer](optax, learning_rate)
    if clip_norm is None:
        return transformation
    return optax.chain(optax.clip_by_global_norm(clip_norm), transformation)


def _logits(task: str, outputs):
    if task == "question-answering":
        return outputs.start_logits, outputs.end_logits
    return outputs.logits


def _loss(jax, optax, task: str, outputs, inputs: dict, labels: dict):
    """The mean cross entropy, f32[]. Labels below 0 don't count, nor does padding of text."""

    def cross_entropy(logits, labels, counted):
        losses = optax.softmax_cross_entropy_with_integer_labels(
            logits.astype(jax.numpy.float32), jax.numpy.maximum(labels, 0)
        )
        counted = counted.astype(jax.numpy.float32)
        return (losses * counted).sum() / jax.numpy.maximum(counted.sum(), 1)

    logits = _logits(task, outputs)
    if task == "question-answering":
        starts, ends = labels["start_positions"], labels["end_positions"]
        start_loss = cross_entropy(logits[0], starts, starts >= 0)
        return 0.5 * (start_loss + cross_entropy(logits[1], ends, ends >= 0))
    labels = labels["labels"]
    if task == "causal-lm":
        # Each token is to be told from those before it.
        mask = inputs["attention_mask"][:, 1:]
        return cross_entropy(logits[:, :-1], labels[:, 1:], (labels[:, 1:] >= 0) & (mask > 0))
    return cross_entropy(logits, labels, labels >= 0)


def _image_size(config, image_size) -> tuple[int, int]:
    if image_size is None:
        image_size = getattr(config, "image_size", 224)
    if isinstance(image_size, int):
        image_size = (image_size, image_size)
    if len(image_size) != 2 or min(image_size) < 1:
        raise DatasetError(f"image_size {image_size}: give pixels, or (height, width) in pixels")
    return tuple(image_size)


def _arguments(model) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(model.__call__).parameters


def _check(option: str, value: Any, known) -> None:
    if value not in known:
        raise DatasetError(f"{option} '{value}' is not known; give one of {', '.join(known)}")
