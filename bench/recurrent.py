#!/usr/bin/env python3
"""Training steps of recurrent networks, as users write them.

    .venv-jax/bin/python bench/recurrent.py FOLDER
    build/bin/hone tune FOLDER --budget 12s
"""

import jax
import jax.numpy as jnp
import lowered


def gru(p, h, x):
    g = jax.nn.sigmoid(x @ p["x"] + h @ p["h"] + p["b"])
    r, z = jnp.split(g, 2, -1)
    n = jnp.tanh(x @ p["xn"] + r * (h @ p["hn"]))
    h = (1 - z) * n + z * h
    return h, h


def lstm(p, state, x):
    """Of both, put together, as Haiku has it."""
    h, c = state
    i, f, o, u = jnp.split(jnp.concatenate([x, h], -1) @ p["w"] + p["b"], 4, -1)
    c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def simple(p, h, x):
    h = jnp.tanh(x @ p["x"] + h @ p["h"] + p["b"])
    return h, h


def speaking(cell):
    """With the head within the loop: what is said at each step."""
    def step(p, state, x):
        state, h = cell(p["cell"], state, x)
        return state, jax.nn.gelu(h @ p["hidden"]) @ p["out"]
    return step


def of(*sizes, kind="float32"):
    return jax.ShapeDtypeStruct(sizes, kind)


def weights(cell, features, kind):
    d = features
    shapes = {gru: {"x": (d, 2 * d), "h": (d, 2 * d), "b": (2 * d,), "xn": (d, d), "hn": (d, d)},
              lstm: {"w": (2 * d, 4 * d), "b": (4 * d,)},
              simple: {"x": (d, d), "h": (d, d), "b": (d,)}}
    return {name: of(*shape, kind=kind) for name, shape in shapes[cell].items()}


def training(cell, batch, steps, features, *, head=False, kind="float32", both_ways=False,
             again=False):
    """Batch None: one sequence; `again`: what a step computes is computed again on the way back."""
    rows = () if batch is None else (batch,)
    step = speaking(cell) if head else cell
    step = jax.checkpoint(step) if again else step

    def loss(p, xs):
        zero = jnp.zeros((*rows, features), kind)
        start = (zero, zero) if cell is lstm else zero
        ys = jax.lax.scan(lambda state, x: step(p, state, x), start, xs)[1]
        if both_ways:
            ys = ys + jax.lax.scan(lambda state, x: step(p, state, x), start, xs, reverse=True)[1]
        return (ys.astype("float32") ** 2).mean()

    p = weights(cell, features, kind)
    if head:
        p = {"cell": p, "hidden": of(features, 2 * features, kind=kind),
             "out": of(2 * features, 64, kind=kind)}

    def train(p, xs):
        value, gradients = jax.value_and_grad(loss)(p, xs)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, p, gradients)

    return train, p, of(steps, *rows, features, kind=kind)


PROGRAMS = {
    "simple_one_sequence": training(simple, None, 128, 256),
    "simple_8_sequences": training(simple, 8, 64, 128),
    "gru_8_sequences": training(gru, 8, 64, 128),
    "gru_16_sequences_wide": training(gru, 16, 48, 384),
    "gru_32_sequences": training(gru, 32, 64, 128),
    "lstm_8_sequences": training(lstm, 8, 64, 128),
    "lstm_8_sequences_wide": training(lstm, 8, 64, 256),
    "lstm_32_sequences": training(lstm, 32, 64, 128),
    "gru_both_ways": training(gru, 8, 64, 128, both_ways=True),
    "gru_with_head": training(gru, 8, 64, 128, head=True),
    "lstm_with_head_bf16": training(lstm, 8, 32, 128, head=True, kind="bfloat16"),
    "lstm_computed_again": training(lstm, 8, 64, 128, again=True),
}

if __name__ == "__main__":
    lowered.write(__doc__, PROGRAMS)
