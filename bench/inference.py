#!/usr/bin/env python3
"""Programs of one example, and of images with features first, as users of JAX write them.

Decode steps and recurrent networks multiply a row, or a few, by matrices; convolution networks of
Equinox, or brought from PyTorch, have NCHW images and OIHW weights.

    .venv-jax/bin/python bench/inference.py FOLDER
    build/bin/hone tune FOLDER --budget 15s
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
from jax import lax

BF16, F16, F32, F64 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.float64
S8, U8, S32 = jnp.int8, jnp.uint8, jnp.int32


def shape(*sizes, of=F32):
    return jax.ShapeDtypeStruct(sizes, of)


# ---------------------------------------------------------------- rows


def rms_norm(x, gain):
    wide = x.astype(F32)
    return (wide * lax.rsqrt((wide**2).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * gain


def decode(x, layers, keys, values, position):
    """A step of a decoder without the vocabulary: x [rows, width], caches [rows, positions, heads, depth]."""
    new_keys, new_values = [], []
    for p, k, v in zip(layers, keys, values):
        rows, _, heads, depth = k.shape
        h = rms_norm(x, p["n1"])
        zero = jnp.zeros((), position.dtype)
        at = (zero, position, zero, zero)
        k = lax.dynamic_update_slice(k, (h @ p["k"]).reshape(rows, 1, heads, depth), at)
        v = lax.dynamic_update_slice(v, (h @ p["v"]).reshape(rows, 1, heads, depth), at)
        q = (h @ p["q"]).reshape(rows, heads, depth)
        scores = jnp.einsum("bhd,bthd->bht", q, k).astype(F32) * depth**-0.5
        scores = jnp.where(jnp.arange(k.shape[1]) <= position, scores, -1e30)
        weights = jax.nn.softmax(scores, -1).astype(x.dtype)
        x = x + jnp.einsum("bht,bthd->bhd", weights, v).reshape(rows, -1) @ p["o"]
        h = rms_norm(x, p["n2"])
        x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        new_keys.append(k)
        new_values.append(v)
    return x, new_keys, new_values


def decoding(of, rows, layers=3, width=768, wide=2048, positions=256):
    p = {name: shape(width, width, of=of) for name in "qkvo"}
    p |= {name: shape(width, of=of) for name in ("n1", "n2")}
    p |= {"gate": shape(width, wide, of=of), "up": shape(width, wide, of=of), "down": shape(wide, width, of=of)}
    cache = [shape(rows, positions, 12, width // 12, of=of)] * layers
    return decode, shape(rows, width, of=of), [p] * layers, cache, cache, shape(of=S32)


def quantised(x, layers):
    for w, scale in layers:
        x = jax.nn.relu((x @ w.astype(F32)) * scale)
    return x


def lstm(x, h, c, wx, wh, b):
    def step(state, row):
        h, c = state
        i, f, g, o = jnp.split(row @ wx + h @ wh + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(step, (h, c), x)


def nearest(query, keys):
    return lax.top_k(keys @ query, 8)[0]


def power_iteration(a, x):
    def step(x, _):
        y = a @ x
        return y / jnp.sqrt((y * y).sum()), None

    return lax.scan(step, x, None, length=20)[0]


# ---------------------------------------------------------------- features first


def convolve(x, w, stride=1):
    spatial = "DHW"[-(w.ndim - 2) :]
    return lax.conv_general_dilated(
        x, w, (stride,) * len(spatial), "SAME", dimension_numbers=("NC" + spatial, "OI" + spatial, "NC" + spatial)
    )


def per_feature(values, like):
    return values.reshape(1, -1, *[1] * (like.ndim - 2))


def unit(x, w, gain, bias, stride=1):
    y = convolve(x, w, stride)
    return jax.nn.relu(y * per_feature(gain, y) + per_feature(bias, y))


def residual(x, layers):
    for w1, w2, gain, bias in layers:
        y = unit(x, w1, gain, bias)
        y = convolve(y, w2)
        x = jax.nn.relu(y * per_feature(gain, y) + per_feature(bias, y) + x)
    return x.mean((2, 3))


def plain(x, layers):
    for number, (w, gain, bias) in enumerate(layers):
        x = unit(x, w, gain, bias, stride=2 if number % 2 else 1)
    return x.mean(tuple(range(2, x.ndim)))


def group_norm(x, groups=8):
    n, c = x.shape[:2]
    y = x.reshape(n, groups, -1)
    y = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    return y.reshape(x.shape)


def u_net(x, w_in, w_down, w_middle, w_out):
    a = jax.nn.silu(group_norm(convolve(x, w_in)))
    b = jax.nn.silu(group_norm(convolve(a, w_down, 2)))
    b = jax.nn.silu(group_norm(convolve(b, w_middle)))
    up = jnp.repeat(jnp.repeat(b, 2, 2), 2, 3)
    return convolve(jnp.concatenate([a, up], 1), w_out)


def pooled(x, w1, w2):
    x = jax.nn.relu(convolve(x, w1))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jax.nn.relu(convolve(x, w2)).sum()


def image(pixels, mean, deviation):
    return ((pixels.astype(F32) / 255 - mean) / deviation).transpose(0, 3, 1, 2)


def layers_of(*sizes, taps=(3, 3)):
    return [(shape(o, i, *taps), shape(o), shape(o)) for i, o in zip(sizes, sizes[1:])]


def loss(function):
    return lambda layers, x: function(x, layers).sum()


def programs():
    blocks = [(shape(96, 96, 3, 3), shape(96, 96, 3, 3), shape(96), shape(96))] * 3
    yield "decode_f32", *decoding(F32, 1)
    yield "decode_bf16", *decoding(BF16, 1)
    yield "decode_f16_4", *decoding(F16, 4)
    yield "decode_bf16_8", *decoding(BF16, 8)
    yield "quantised_row", quantised, shape(1, 1024), [(shape(1024, 4096, of=S8), shape(4096)), (shape(4096, 1024, of=S8), shape(1024))]
    yield "lstm_of_one", lstm, shape(40, 1, 256), shape(1, 512), shape(1, 512), shape(256, 2048), shape(512, 2048), shape(2048)
    yield "nearest_of_one", nearest, shape(128), shape(50000, 128)
    yield "power_iteration_f64", power_iteration, shape(1500, 1500, of=F64), shape(1500, of=F64)
    yield "residual_nchw", residual, shape(1, 96, 32, 32), blocks
    yield "residual_nchw_bf16", *jax.tree.map(
        lambda s: shape(*s.shape, of=BF16) if isinstance(s, jax.ShapeDtypeStruct) else s, (residual, shape(1, 96, 32, 32), blocks)
    )
    yield "plain_nchw", plain, shape(1, 3, 96, 96), layers_of(3, 32, 64, 128, 256)
    yield "plain_nchw_gradient", jax.grad(loss(plain)), layers_of(3, 32, 64, 128), shape(4, 3, 48, 48)
    yield "audio_ncw", plain, shape(1, 64, 4000), layers_of(64, 128, 128, 256, taps=(5,))
    yield "volume_ncdhw", plain, shape(1, 32, 16, 24, 24), layers_of(32, 32, 64, taps=(3, 3, 3))
    yield "u_net_nchw", u_net, shape(1, 32, 48, 48), shape(64, 32, 3, 3), shape(128, 64, 3, 3), shape(128, 128, 3, 3), shape(32, 192, 3, 3)
    yield "pooled_nchw_gradient", jax.grad(pooled, (1, 2)), shape(4, 32, 32, 32), shape(64, 32, 3, 3), shape(64, 64, 3, 3)
    yield "image_to_nchw", image, shape(8, 224, 224, 3, of=U8), shape(3), shape(3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_enable_x64", True)
    for name, function, *arguments in programs():
        (folder / f"{name}.hlo").write_text(jax.jit(function).lower(*arguments).as_text("hlo"))


if __name__ == "__main__":
    main()
