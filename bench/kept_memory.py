"""How fast steps are in JAX as it is, and with memory kept from run to run as hone.jax keeps it.

    .venv-jax/bin/python bench/kept_memory.py

Each program runs in processes of its own, in turns; the median of twenty runs behind thirty that are not timed.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

TURNS, WARM_UP, RUNS = 3, 30, 20


def lstm(jax, jnp, batch, steps, features):
    def loss(p, xs):
        def step(carry, x):
            h, c = carry
            i, f, o, u = jnp.split(jnp.concatenate([x, h], 1) @ p["w"], 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((batch, features))
        return (jax.lax.scan(step, (zero, zero), xs)[1] ** 2).mean()

    return loss, {"w": (2 * features, 4 * features)}, (steps, batch, features)


def transformer(jax, jnp, batch, steps, features, layers):
    heads = features // 32

    def loss(p, x):
        def split(a):
            return a.reshape(batch, steps, heads, -1).transpose(0, 2, 1, 3)

        for layer in range(layers):
            q, k, v = map(split, jnp.split(x @ p["qkv"][layer], 3, -1))
            a = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / 32**0.5, -1) @ v
            x = x + a.transpose(0, 2, 1, 3).reshape(x.shape) @ p["o"][layer]
            x = x + jax.nn.gelu(x @ p["up"][layer]) @ p["down"][layer]
        return (x**2).mean()

    d = features
    return loss, {"qkv": (layers, d, 3 * d), "o": (layers, d, d), "up": (layers, d, 4 * d),
                  "down": (layers, 4 * d, d)}, (batch, steps, d)


def convolutions(jax, jnp, batch, size, features, layers):
    def loss(p, x):
        for layer in range(layers):
            y = jax.lax.conv_general_dilated(x, p["k"][layer], (1, 1), "SAME",
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = x + jax.nn.relu(y - y.mean((0, 1, 2)))
        return (x**2).mean()

    return loss, {"k": (layers, 3, 3, features, features)}, (batch, size, size, features)


PROGRAMS = {
    "LSTM, 32 x 64 steps of 128": (lstm, 32, 64, 128),
    "LSTM, 64 x 128 steps of 192": (lstm, 64, 128, 192),
    "transformer, 8 x 128 of 192, 6 layers": (transformer, 8, 128, 192, 6),
    "transformer, 4 x 256 of 256, 4 layers": (transformer, 4, 256, 256, 4),
    "convolutions, 16 x 48 x 48 of 32, 6 layers": (convolutions, 16, 48, 32, 6),
}


def run(name):
    """Prints the temporaries in MiB, ms a run and new pages a run, of a gradient."""
    import jax
    import jax.numpy as jnp
    import numpy

    make, *sizes = PROGRAMS[name]
    loss, shapes, shape = make(jax, jnp, *sizes)
    random = numpy.random.default_rng(0)
    p = {key: jnp.asarray(0.05 * random.normal(size=of), "float32") for key, of in shapes.items()}
    x = jnp.asarray(random.normal(size=shape), "float32")
    step = jax.jit(jax.value_and_grad(loss)).lower(p, x).compile()
    seconds = []
    for k in range(WARM_UP + RUNS):
        if k == WARM_UP:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        start = time.perf_counter()
        jax.block_until_ready(step(p, x))
        seconds.append(time.perf_counter() - start)
    pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    print(step.memory_analysis().temp_size_in_bytes / 2**20,
          1e3 * statistics.median(seconds[WARM_UP:]), pages / RUNS)


def turn(name, keep):
    script = ("import hone.jax; " if keep else "") + f"import kept_memory; kept_memory.run({name!r})"
    here = pathlib.Path(__file__).resolve().parent
    path = os.pathsep.join([str(here), str(here.parent / "python")])
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": path}).stdout
    return tuple(map(float, out.split()))


def main():
    print("| gradient of | temporaries | as it is | new pages a run | kept | new pages a run | |")
    print("|---|---|---|---|---|---|---|")
    for name in PROGRAMS:
        turns = [(turn(name, False), turn(name, True)) for _ in range(TURNS)]
        (size, before, pages), (_, after, left) = (
            tuple(map(statistics.median, zip(*side))) for side in zip(*turns))
        print(f"| {name} | {size:.0f} MiB | {before:.1f} ms | {pages:.0f} | {after:.1f} ms | {left:.0f} "
              f"| {before / after:.2f} |", flush=True)


if __name__ == "__main__":
    main()
