#!/usr/bin/env python3
"""Single operations that XLA:CPU has slower and faster ways to compute, as programs.

    .venv-datasets/bin/python bench/operations.py FOLDER
    build/bin/hone tune FOLDER --budget 30s

Each is what JAX makes of a line of jax.numpy or jax.lax; shapes are those of common networks.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
from jax import lax

F32, BF16, S32, U32 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.uint32
IMAGE = ("NHWC", "HWIO", "NHWC")


def convolution(groups=1):
    def convolve(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", feature_group_count=groups, dimension_numbers=IMAGE
        )

    return convolve


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def average_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9


def gradient(function, arguments):
    def squares(*values):
        return jnp.sum(function(*values).astype(F32) ** 2)

    return jax.grad(squares, arguments)


def layer_norm(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


# Name: function, and the shapes and types of its arguments.
OPERATIONS = {
    "argmax": (lambda x: jnp.argmax(x, axis=1), ((4096, 1024), F32)),
    "average_pool": (average_pool, ((8, 56, 56, 64), F32)),
    "batched_dot_bf16": (jnp.matmul, ((96, 128, 64), BF16), ((96, 64, 128), BF16)),
    "convolution": (convolution(), ((4, 28, 28, 128), F32), ((3, 3, 128, 128), F32)),
    "cumsum": (lambda x: jnp.cumsum(x, axis=1), ((64, 20000), F32)),
    "cumsum_bf16": (lambda x: jnp.cumsum(x, axis=1), ((1024, 1024), BF16)),
    "depthwise": (convolution(256), ((4, 56, 56, 256), F32), ((3, 3, 1, 256), F32)),
    "depthwise_gradients": (
        gradient(convolution(256), (0, 1)),
        ((4, 56, 56, 256), F32),
        ((3, 3, 1, 256), F32),
    ),
    "depthwise_gradients_bf16": (
        gradient(convolution(256), (0, 1)),
        ((4, 56, 56, 256), BF16),
        ((3, 3, 1, 256), BF16),
    ),
    "dot_bf16": (jnp.matmul, ((512, 1024), BF16), ((1024, 1024), BF16)),
    "gather": (lambda table, rows: table[rows], ((50000, 256), F32), ((8192,), S32)),
    "grouped_convolution": (convolution(64), ((8, 28, 28, 128), F32), ((3, 3, 2, 128), F32)),
    "layer_norm": (layer_norm, ((4096, 1024), F32), ((1024,), F32), ((1024,), F32)),
    "max_pool": (max_pool, ((8, 56, 56, 64), F32)),
    "max_pool_gradient": (gradient(max_pool, 0), ((8, 56, 56, 64), F32)),
    "random_bits": (lambda key: jax.random.bits(key, (1 << 20,)), ((2,), U32)),
    "scatter_add": (
        lambda rows, updates: jnp.zeros((512, 64)).at[rows].add(updates),
        ((4096,), S32),
        ((4096, 64), F32),
    ),
    "softmax": (lambda x: jax.nn.softmax(x, axis=-1), ((2048, 2048), F32)),
    "sort_then_slice": (lambda x: -jnp.sort(-x, axis=1)[:, :16], ((64, 20000), F32)),
    "top_k": (lambda x: lax.top_k(x, 8), ((4096, 1024), F32)),
    "top_k_bf16": (lambda x: lax.top_k(x, 8), ((1024, 1024), BF16)),
    "transpose_add": (lambda x, y: x.T + y, ((4096, 1024), F32), ((1024, 4096), F32)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, *arguments) in OPERATIONS.items():
        shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in arguments]
        module = jax.jit(function).lower(*shapes).compiler_ir("hlo")
        (folder / f"{name}.hlo").write_text(module.as_hlo_text())
    print(f"{len(OPERATIONS)} programs in {folder}")


if __name__ == "__main__":
    main()
