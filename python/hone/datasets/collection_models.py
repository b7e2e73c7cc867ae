"""Small models as programs: those of transformers that have Flax code, layers of flax.linen, optimizers
of optax. Sizes are small, for programs are compared without them."""

from collections.abc import Iterator
from typing import Any

from .collection_source import Source
from .flax_models import OPTIMIZERS, from_flax
from .lowering import from_jax, require

_TEXT = dict(seq=16, batch=2)
_IMAGE = dict(image_size=32, batch=2)
_BERT = dict(
    vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=37, max_position_embeddings=64,
)  # fmt: skip
_LLAMA = dict(
    vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, intermediate_size=37, max_position_embeddings=64,
)  # fmt: skip
_GPT2 = dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64)
_VIT = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37,
    image_size=32, patch_size=8,
)  # fmt: skip
_SEQ2SEQ = dict(
    vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=37, decoder_ffn_dim=37, max_position_embeddings=64,
    pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2,
)  # fmt: skip
_T5 = dict(vocab_size=99, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4)

# Family (architectures that are nearly the same have one), configuration, its options, task.
_TRANSFORMERS = (
    ("bert", "BertConfig", _BERT, "mlm"),
    ("bert", "RobertaConfig", _BERT, "token-classification"),
    ("bert", "ElectraConfig", dict(_BERT, embedding_size=32), "sequence-classification"),
    ("bert", "RobertaPreLayerNormConfig", _BERT, "mlm"),
    ("albert", "AlbertConfig", dict(_BERT, embedding_size=16), "mlm"),
    ("gpt2", "GPT2Config", _GPT2, "causal-lm"),
    ("gptj", "GPTJConfig", dict(_GPT2, rotary_dim=4), "causal-lm"),
    (
        "gpt_neo",
        "GPTNeoConfig",
        dict(vocab_size=99, hidden_size=32, num_layers=2, num_heads=4, window_size=7,
             attention_types=[[["global", "local"], 1]], max_position_embeddings=64),
        "causal-lm",
    ),
    (
        "opt",
        "OPTConfig",
        dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=37,
             word_embed_proj_dim=32, max_position_embeddings=64),
        "causal-lm",
    ),
    (
        "xglm",
        "XGLMConfig",
        dict(vocab_size=99, d_model=32, num_layers=2, attention_heads=4, ffn_dim=37,
             max_position_embeddings=64),
        "causal-lm",
    ),
    ("bloom", "BloomConfig", dict(vocab_size=99, hidden_size=32, n_layer=2, n_head=4), "causal-lm"),
    ("llama", "LlamaConfig", _LLAMA, "causal-lm"),
    ("llama", "MistralConfig", dict(_LLAMA, sliding_window=8), "causal-lm"),
    ("gemma", "GemmaConfig", dict(_LLAMA, head_dim=8), "causal-lm"),
    ("vit", "ViTConfig", _VIT, "image-classification"),
    ("beit", "BeitConfig", dict(_VIT, use_relative_position_bias=True), "image-classification"),
    ("vit", "Dinov2Config", _VIT, "image-classification"),
    (
        "resnet",
        "ResNetConfig",
        dict(depths=[1, 2], hidden_sizes=[16, 32], embedding_size=16, layer_type="basic"),
        "image-classification",
    ),
    (
        "resnet",
        "ResNetConfig",
        dict(depths=[1, 1, 1], hidden_sizes=[16, 32, 48], embedding_size=16, layer_type="bottleneck"),
        "image-classification",
    ),
    (
        "regnet",
        "RegNetConfig",
        dict(depths=[1, 2], hidden_sizes=[16, 32], embedding_size=16, groups_width=8, layer_type="y"),
        "image-classification",
    ),
    ("t5", "T5Config", _T5, "seq2seq"),
    ("t5", "MT5Config", dict(_T5, feed_forward_proj="gated-gelu"), "seq2seq"),
    ("t5", "LongT5Config", dict(_T5, local_radius=4), "seq2seq"),
    ("bart", "BartConfig", _SEQ2SEQ, "seq2seq"),
    ("bart", "MBartConfig", _SEQ2SEQ, "seq2seq"),
    ("marian", "MarianConfig", _SEQ2SEQ, "seq2seq"),
    ("pegasus", "PegasusConfig", _SEQ2SEQ, "seq2seq"),
    ("blenderbot", "BlenderbotConfig", _SEQ2SEQ, "seq2seq"),
)

# How each is lowered: options of from_flax. What trains takes the next two of OPTIMIZERS.
_FORWARD = (dict(phase="fwd"), dict(phase="fwd", dtype="bf16"))
_TRAIN = (
    dict(),
    dict(dtype="bf16", clip_norm=1.0),
    dict(remat="full"),
    dict(schedule="cosine", dtype="bf16", param_dtype="bf16"),
)


def models() -> Iterator[Source]:
    yield from _transformers()
    yield from _layers()
    yield from _optimizers()


def _transformers() -> Iterator[Source]:
    optimizers = list(OPTIMIZERS)
    for number, (family, config, options, task) in enumerate(_TRANSFORMERS):
        name = f"{config.removesuffix('Config').lower()}.{number}"
        if task == "seq2seq":
            for phase in ("fwd", "train"):
                lower = _late(_sequence_to_sequence, config, options, phase == "train")
                yield Source(family, name, f"{name}.{phase}", phase, lower)
            continue
        shape = _IMAGE if task == "image-classification" else _TEXT
        for way, step in enumerate(_FORWARD):
            lower = _late(_from_flax, config, options, dict(task=task, **shape, **step))
            yield Source(family, name, f"{name}.fwd.{way}", "fwd", lower)
        if task == "causal-lm":
            lower = _late(_from_flax, config, options, dict(task=task, phase="decode", **shape))
            yield Source(family, name, f"{name}.decode", "fwd", lower)
        for way, step in enumerate(_TRAIN):
            optimizer = optimizers[(number + 3 * way) % len(optimizers)]
            step = dict(task=task, phase="train", optimizer=optimizer, **shape, **step)
            lower = _late(_from_flax, config, options, step)
            yield Source(family, name, f"{name}.train.{way}.{optimizer}", "train", lower)


def _late(call, *arguments):
    return lambda: call(*arguments)


def _configuration(config: str, options: dict):
    transformers = require("transformers")
    return getattr(transformers, config)(**options)


def _from_flax(config: str, options: dict, step: dict) -> str:
    return from_flax(_configuration(config, options), **step)


def _sequence_to_sequence(config: str, options: dict, train: bool) -> str:
    jax, transformers = require("jax"), require("transformers")
    jnp = jax.numpy
    made = _configuration(config, options)
    name = f"Flax{config.removesuffix('Config')}"
    kind = getattr(transformers, f"{name}ForConditionalGeneration", None)
    kind = kind or getattr(transformers, f"{name}MTModel")
    model = kind(made, _do_init=False, input_shape=(1, 16))
    tokens = ((2, 16), "int32")

    def logits(params, source, target):
        mask = jnp.ones_like(source)
        out = model(source, mask, target, jnp.ones_like(target), params=params)
        return out.logits

    def loss(params, source, target):
        chosen = jax.nn.log_softmax(logits(params, source, target)[:, :-1])
        return -jnp.mean(jnp.take_along_axis(chosen, target[:, 1:, None], -1))

    params = model.params_shape_tree
    return from_jax(jax.grad(loss) if train else logits, params, tokens, tokens, name="model")


# flax.linen: the layer as an expression of `nn`, and the shape of its input.
_LAYERS = (
    ("nn.Dense(8)", (4, 12)),
    ("nn.DenseGeneral((3, 4), axis=(-2, -1))", (4, 6, 8)),
    ("nn.Einsum((8, 5), '...x,xy->...y')", (4, 8)),
    ("nn.Conv(8, (3, 3))", (2, 10, 10, 3)),
    ("nn.Conv(8, (3, 3), strides=2, padding='VALID')", (2, 10, 10, 3)),
    ("nn.Conv(6, (3, 3), feature_group_count=3)", (2, 10, 10, 3)),
    ("nn.Conv(6, (3,), kernel_dilation=2, padding='CAUSAL')", (2, 16, 4)),
    ("nn.ConvLocal(4, (3,))", (2, 10, 3)),
    ("nn.ConvTranspose(4, (3, 3), strides=(2, 2))", (2, 6, 6, 3)),
    ("nn.BatchNorm(use_running_average=False)", (8, 12)),
    ("nn.BatchNorm(use_running_average=True)", (8, 12)),
    ("nn.LayerNorm()", (8, 12)),
    ("nn.LayerNorm(use_fast_variance=False)", (8, 12)),
    ("nn.RMSNorm()", (8, 12)),
    ("nn.GroupNorm(4)", (2, 6, 6, 12)),
    ("nn.InstanceNorm()", (2, 6, 6, 12)),
    ("nn.WeightNorm(nn.Dense(8))", (4, 12)),
    ("nn.PReLU()", (4, 12)),
    ("nn.RNN(nn.LSTMCell(8))", (3, 7, 5)),
    ("nn.RNN(nn.OptimizedLSTMCell(8))", (3, 7, 5)),
    ("nn.RNN(nn.GRUCell(8), reverse=True)", (3, 7, 5)),
    ("nn.RNN(nn.MGUCell(8))", (3, 7, 5)),
    ("nn.RNN(nn.SimpleCell(8), unroll=3)", (3, 7, 5)),
    ("nn.RNN(nn.ConvLSTMCell(4, (3,)))", (3, 7, 6, 2)),
    ("nn.Bidirectional(nn.RNN(nn.GRUCell(8)), nn.RNN(nn.GRUCell(8)))", (3, 7, 5)),
    ("nn.MultiHeadDotProductAttention(4)", (2, 10, 16)),
    ("nn.MultiHeadDotProductAttention(4, normalize_qk=True)", (2, 10, 16)),
    ("nn.Sequential([nn.Dense(16), nn.gelu, nn.Dense(8), nn.LayerNorm()])", (4, 12)),
    ("nn.Sequential([nn.Conv(8, (3, 3)), nn.relu, lambda x: nn.max_pool(x, (2, 2), (2, 2)), "
     "nn.Conv(16, (3, 3)), nn.relu, lambda x: nn.avg_pool(x, (2, 2), (2, 2)), "
     "lambda x: x.reshape(x.shape[0], -1), nn.Dense(10)])", (2, 12, 12, 3)),
)  # fmt: skip


def _layers() -> Iterator[Source]:
    for number, (layer, shape) in enumerate(_LAYERS):
        name = layer.removeprefix("nn.").split("(")[0].lower()
        for way in ("fwd", "train", "bf16"):
            lower = _late(_layer, layer, shape, way)
            phase = "train" if way == "train" else "fwd"
            yield Source("flax.linen", f"{name}.{number}", f"{name}.{number}.{way}", phase, lower)


def _layer(layer: str, shape: tuple, way: str) -> str:
    jax, nn = require("jax"), require("flax.linen")
    made = eval(layer, {"nn": nn})  # of the table above
    given = jax.ShapeDtypeStruct(shape, "bfloat16" if way == "bf16" else "float32")
    variables = jax.eval_shape(made.init, jax.eval_shape(lambda: jax.random.key(0)), given)

    def forward(variables, x):
        return made.apply(variables, x, mutable=["batch_stats"])

    def loss(variables, x):
        out, state = forward(variables, x)
        return sum(jax.numpy.sum(leaf**2) for leaf in jax.tree_util.tree_leaves(out)), state

    if way == "train":
        return from_jax(jax.value_and_grad(loss, has_aux=True), variables, given, name="layer")
    return from_jax(forward, variables, given, name="layer")


# optax: transformations as expressions of `optax`.
_OPTIMIZERS = (
    "adabelief(1e-3)", "adadelta(1e-3)", "adafactor(1e-3)", "adagrad(1e-3)", "adam(1e-3)",
    "adamax(1e-3)", "adamaxw(1e-3)", "adamw(1e-3)", "amsgrad(1e-3)", "fromage(1e-3)",
    "lamb(1e-3)", "lars(1e-3)", "lion(1e-3)", "nadam(1e-3)", "nadamw(1e-3)", "noisy_sgd(1e-3)",
    "novograd(1e-3)", "optimistic_gradient_descent(1e-3)", "radam(1e-3)", "rmsprop(1e-3)",
    "rprop(1e-3)", "sgd(1e-3, momentum=0.9)", "sign_sgd(1e-3)", "sm3(1e-3)", "yogi(1e-3)",
    "MultiSteps(optax.adam(1e-3), 4)", "apply_if_finite(optax.adam(1e-3), 3)",
    "chain(optax.adaptive_grad_clip(0.1), optax.sgd(1e-2))",
    "chain(optax.clip(1.0), optax.add_noise(0.1, 0.5, 7), optax.sgd(1e-2))",
    "chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-3, 900)))",
    "chain(optax.zero_nans(), optax.trace(0.9), optax.scale(-1e-3), optax.keep_params_nonnegative())",
    "adam(optax.cosine_onecycle_schedule(900, 1e-3))", "contrib.prodigy(1e-3)",
    "contrib.dadapt_adamw(1e-3)", "contrib.schedule_free_adamw(1e-3)",
)  # fmt: skip

# Networks that they train: widths of an MLP.
_WIDTHS = ((12, 8, 3), (12, 16, 16, 8, 3))


def _optimizers() -> Iterator[Source]:
    for number, optimizer in enumerate(_OPTIMIZERS):
        name = optimizer.split("(")[0].split(".")[-1].lower()
        for widths in _WIDTHS:
            lower = _late(_optimizer_step, optimizer, widths)
            yield Source("optax", name, f"{name}.{number}.l{len(widths)}", "train", lower)


def _optimizer_step(optimizer: str, widths: tuple) -> str:
    jax, optax = require("jax"), require("optax")
    require("optax.contrib")
    made = eval("optax." + optimizer, {"optax": optax})  # of the table above
    shapes = [
        {"w": jax.ShapeDtypeStruct(pair, "float32"), "b": jax.ShapeDtypeStruct(pair[1:], "float32")}
        for pair in zip(widths, widths[1:])
    ]

    def loss(params, x, labels):
        for layer in params[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        x = x @ params[-1]["w"] + params[-1]["b"]
        return optax.softmax_cross_entropy_with_integer_labels(x, labels).mean()

    def step(params, state, x, labels):
        value, gradient = jax.value_and_grad(loss)(params, x, labels)
        updates, state = made.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    state: Any = jax.eval_shape(made.init, shapes)
    samples = ((16, widths[0]), "float32"), ((16,), "int32")
    return from_jax(step, shapes, state, *samples, name="step")
