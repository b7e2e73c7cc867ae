#!/usr/bin/env python3
"""Small programs in bf16, f16, int8 and with masks, as users of JAX write them.

    .venv-jax/bin/python bench/narrow.py FOLDER
    build/bin/hone tune FOLDER --budget 8s
"""

import jax
import jax.numpy as jnp
import lowered
from jax import lax

BF16, F16, F32, S8 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.int8
U8, S32, BOOL = jnp.uint8, jnp.int32, jnp.bool_
D = 192  # of the transformer blocks


def shape(*sizes, of):
    return jax.ShapeDtypeStruct(sizes, of)


def layer_norm(x, gain, bias):
    wide = x.astype(F32)
    centred = wide - wide.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return (centred * lax.rsqrt(variance + 1e-5) * gain + bias).astype(x.dtype)


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[-1] ** -0.5)
    weights = jax.nn.softmax(scores.astype(F32), -1).astype(q.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def block(x, p):
    batch, positions, _ = x.shape
    heads = (batch, positions, 4, D // 4)
    q, k, v = jnp.split(layer_norm(x, p["g1"], p["b1"]) @ p["qkv"], 3, -1)
    mixed = attention(q.reshape(heads), k.reshape(heads), v.reshape(heads))
    x = x + mixed.reshape(x.shape) @ p["out"]
    hidden = jax.nn.gelu(layer_norm(x, p["g2"], p["b2"]) @ p["up"] + p["c1"])
    return x + hidden @ p["down"] + p["c2"]


def parameters(kind):
    vectors = {name: shape(D, of=F32) for name in ("g1", "b1", "g2", "b2")}
    return vectors | {
        "qkv": shape(D, 3 * D, of=kind),
        "out": shape(D, D, of=kind),
        "up": shape(D, 4 * D, of=kind),
        "c1": shape(4 * D, of=kind),
        "down": shape(4 * D, D, of=kind),
        "c2": shape(D, of=kind),
    }


def mixed_gradient(x, p):
    def loss(p):
        narrow = {k: v if k in ("g1", "b1", "g2", "b2") else v.astype(BF16) for k, v in p.items()}
        return block(x, narrow).astype(F32).sum()

    return jax.grad(loss)(p)


def convolve(x, w, stride=1, padding="SAME"):
    names = ("NHWC", "HWIO", "NHWC") if x.ndim == 4 else ("NWC", "WIO", "NWC")
    return lax.conv_general_dilated(
        x, w, (stride,) * (x.ndim - 2), padding, dimension_numbers=names
    )


def residual_gradient(x, w1, w2, gain, bias):
    def norm(y):
        wide = y.astype(F32)
        mean, variance = wide.mean((0, 1, 2)), wide.var((0, 1, 2))
        return ((wide - mean) * lax.rsqrt(variance + 1e-5) * gain + bias).astype(BF16)

    def loss(weights):
        y = jax.nn.relu(norm(convolve(x, weights[0])))
        y = jax.nn.relu(x + norm(convolve(y, weights[1])))
        return (y.astype(F32) ** 2).mean()

    return jax.grad(loss)((w1, w2))


def masked_mean(x, mask):
    weights = mask.astype(F32)[..., None]
    return (x * weights).sum(1) / jnp.maximum(weights.sum(1), 1)


def lstm(xs, wx, wh, bias):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split((x @ wx + h @ wh).astype(F32) + bias, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(BF16)
        return (h, c), h

    start = (jnp.zeros((xs.shape[0], 128), BF16), jnp.zeros((xs.shape[0], 128), F32))
    return lax.scan(step, start, xs.swapaxes(0, 1))[1]


def cross_entropy(logits, labels):
    smooth = jax.nn.one_hot(labels, 1000) * 0.9 + 1e-4

    def loss(logits):
        return -(jax.nn.log_softmax(logits.astype(F32)) * smooth).sum(-1).mean()

    return jax.value_and_grad(loss)(logits)


def group_norm(x, gain, bias, w):
    wide = x.astype(F32).reshape(2, 32 * 32, 8, 8)
    mean, variance = wide.mean((1, 3), keepdims=True), wide.var((1, 3), keepdims=True)
    y = ((wide - mean) * lax.rsqrt(variance + 1e-5)).reshape(x.shape) * gain + bias
    return x + convolve(jax.nn.silu(y).astype(BF16), w)


def experts(x, up, down):
    hidden = jax.nn.silu(jnp.einsum("etd,edf->etf", x, up))
    return jnp.einsum("etf,efd->etd", hidden, down)


def graph_layer(adjacent, x, w):
    adjacent = adjacent.astype(F32)
    return jax.nn.relu((adjacent @ x) / jnp.maximum(adjacent.sum(-1, keepdims=True), 1) @ w)


def adam(g, m, v, w):
    g = g.astype(F32)
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    w = w - 1e-3 * m / (jnp.sqrt(v) + 1e-8)
    return w.astype(BF16), w, m, v


def grouped_causal(q, k, v):
    positions = q.shape[1]
    angle = jnp.arange(positions)[:, None] / (10000 ** (jnp.arange(0, 32) / 32.0))
    cosine, sine = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]

    def rotate(x):
        a, b = jnp.split(x.astype(F32), 2, -1)
        return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1).astype(BF16)

    k, v = jnp.repeat(rotate(k), 4, 2), jnp.repeat(v, 4, 2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", rotate(q), k).astype(F32) * 0.125
    scores = jnp.where(jnp.tril(jnp.ones((positions, positions), bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1).astype(BF16), v)


def heat(u):
    def step(u, _):
        neighbours = sum(jnp.roll(u, d, axis) for axis in range(3) for d in (1, -1))
        return u + F16(0.1) * (neighbours - 6 * u), None

    return lax.scan(step, u, None, length=10)[0]


def retrieve(q, documents):
    length = jnp.linalg.norm(q.astype(F32), axis=-1, keepdims=True)
    return lax.top_k((q / length.astype(BF16)) @ documents.T, 10)


def masked_softmax(x, mask):
    scores = jnp.einsum("btd,bsd->bts", x, x)
    return jax.nn.softmax(jnp.where(mask[:, None, :], scores, jnp.finfo(BF16).min), -1)


def speech(x, w1, bias, w2):
    return jax.nn.leaky_relu(convolve(jax.nn.leaky_relu(convolve(x, w1, 2) + bias), w2))


def patches(x, w, bias):
    return convolve((x.astype(BF16) / 255 - 0.5) / 0.25, w, 4, "VALID") + bias


# Name: function, and its arguments.
PROGRAMS = {
    "adam_bf16": (adam, shape(300000, of=BF16), *[shape(300000, of=F32)] * 3),
    "attention_decode_f16": (
        attention,
        shape(8, 1, 8, 64, of=F16),
        shape(8, 512, 8, 64, of=F16),
        shape(8, 512, 8, 64, of=F16),
    ),
    "attention_grouped_causal_bf16": (
        grouped_causal,
        shape(1, 256, 8, 64, of=BF16),
        shape(1, 256, 2, 64, of=BF16),
        shape(1, 256, 2, 64, of=BF16),
    ),
    "convolutions_1d_bf16": (
        speech,
        shape(4, 2000, 32, of=BF16),
        shape(5, 32, 64, of=BF16),
        shape(64, of=BF16),
        shape(5, 64, 64, of=BF16),
    ),
    "cross_entropy_bf16": (cross_entropy, shape(64, 1000, of=BF16), shape(64, of=S32)),
    "dense_f16": (
        lambda x, w, b: jax.nn.relu(x @ w + b),
        shape(256, 300, of=F16),
        shape(300, 200, of=F16),
        shape(200, of=F16),
    ),
    "dense_int8_scaled_after": (
        lambda x, w, s, b: jax.nn.gelu((x @ w.astype(F32)) * s + b),
        shape(128, 512, of=F32),
        shape(512, 768, of=S8),
        shape(768, of=F32),
        shape(768, of=F32),
    ),
    "dense_int8_scaled_before": (
        lambda x, w, s, b: jax.nn.silu(x @ (w.astype(F32) * s) + b),
        shape(128, 512, of=F32),
        shape(512, 768, of=S8),
        shape(768, of=F32),
        shape(768, of=F32),
    ),
    "dot_int8": (
        lambda x, w: lax.dot(x, w, preferred_element_type=S32),
        shape(64, 128, of=S8),
        shape(128, 96, of=S8),
    ),
    "experts_bf16": (
        experts,
        shape(8, 64, 128, of=BF16),
        shape(8, 128, 256, of=BF16),
        shape(8, 256, 128, of=BF16),
    ),
    "graph_of_booleans": (
        graph_layer,
        shape(400, 400, of=BOOL),
        shape(400, 64, of=F32),
        shape(64, 64, of=F32),
    ),
    "group_norm_bf16": (
        group_norm,
        shape(2, 32, 32, 64, of=BF16),
        shape(64, of=F32),
        shape(64, of=F32),
        shape(3, 3, 64, 64, of=BF16),
    ),
    "heat_f16": (heat, shape(64, 64, 64, of=F16)),
    "lstm_bf16": (
        lstm,
        shape(32, 40, 64, of=BF16),
        shape(64, 512, of=BF16),
        shape(128, 512, of=BF16),
        shape(512, of=F32),
    ),
    "masked_mean": (masked_mean, shape(32, 256, 128, of=F32), shape(32, 256, of=BOOL)),
    "masked_softmax_bf16": (masked_softmax, shape(16, 200, 80, of=BF16), shape(16, 200, of=BOOL)),
    "patches_of_bytes": (
        patches,
        shape(8, 224, 224, 3, of=U8),
        shape(4, 4, 3, 96, of=BF16),
        shape(96, of=BF16),
    ),
    "residual_gradient_bf16": (
        residual_gradient,
        shape(4, 28, 28, 32, of=BF16),
        shape(3, 3, 32, 32, of=BF16),
        shape(3, 3, 32, 32, of=BF16),
        shape(32, of=F32),
        shape(32, of=F32),
    ),
    "retrieval_bf16": (retrieve, shape(64, 256, of=BF16), shape(5000, 256, of=BF16)),
    "transformer_bf16": (block, shape(2, 128, D, of=BF16), parameters(BF16)),
    "transformer_mixed_gradient": (
        mixed_gradient,
        shape(2, 128, D, of=BF16),
        parameters(F32),
    ),
}


if __name__ == "__main__":
    lowered.write(__doc__, PROGRAMS)
