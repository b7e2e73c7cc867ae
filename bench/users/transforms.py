#!/usr/bin/env python3
"""What tuning gains of a function's gradient, of a batch of it, and of it as a part of a jitted function.

  transforms.py [--budget 10s] [--seconds 5]

The function is the loss of a depthwise convolution. Each row is a race of pairs of calls, JAX's own against tuned
(`hone.jax.optimize(transforms=…)`), both with what Python does around them, and how far the results lie apart.
"""

import argparse
import json
import time
import warnings

import jax
import jax.numpy as jnp

import hone.jax
from hone import _core


def loss(weights, images):
    made = jax.lax.conv_general_dilated(images, weights, (1, 1), "SAME", feature_group_count=images.shape[-1],
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return (made ** 2).mean()


def timed(function, arguments):
    start = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - start


def race(plain, tuned, arguments, seconds):
    for _ in range(3):
        timed(plain, arguments), timed(tuned, arguments)
    tally, start = _core.RaceTally(seconds, 20, 1000), time.perf_counter()
    while True:
        pair = [timed(one, arguments) for one in ((plain, tuned) if tally.pairs % 2 else (tuned, plain))]
        tally.add(*(pair if tally.pairs % 2 else pair[::-1]))
        if tally.is_over(time.perf_counter() - start):
            return tally.tell()


def apart(found, wanted):
    """The largest difference as a share of the largest value."""
    return max(float(jnp.abs(one - other).max() / jnp.abs(other).max())
               for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", default="10s")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each race")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    key = jax.random.key(0)
    weights, images = jax.random.normal(key, (3, 3, 1, 32)), jax.random.normal(key, (1, 24, 24, 32))
    plain = jax.jit(loss)
    tuned = hone.jax.optimize(loss, weights, images, budget=options.budget, transforms=("grad", "vmap", "jit"))
    batches = jnp.stack([images, images + 1, 2 * images, images - 1])
    over = {"in_axes": (None, 0)}
    for name, of, arguments in (
            ("loss", lambda f: f, (weights, images)),
            ("grad", jax.grad, (weights, images)),
            ("jit(grad)", lambda f: jax.jit(jax.grad(f)), (weights, images)),
            ("vmap", lambda f: jax.vmap(f, **over), (weights, batches)),
            ("jit(vmap)", lambda f: jax.jit(jax.vmap(f, **over)), (weights, batches)),
            ("jit(vmap(grad))", lambda f: jax.jit(jax.vmap(jax.grad(f), **over)), (weights, batches)),
            ("jit of more", lambda f: jax.jit(lambda w, x: jnp.log(f(w, x) + 1)), (weights, images)),
            ("jvp", lambda f: lambda w, x: jax.jvp(f, (w, x), (w, x)), (weights, images))):
        begun = time.perf_counter()
        fast, slow = of(tuned), of(plain)
        difference = apart(fast(*arguments), slow(*arguments))
        first = time.perf_counter() - begun
        told = race(slow, fast, arguments, options.seconds)
        print(json.dumps({"what": name, "jax_ms": 1000 * told["seconds_a"], "tuned_ms": 1000 * told["seconds_b"],
                          "speedup": told["speedup"], "speedup_ci": [told["low"], told["high"]],
                          "pairs": told["pairs"], "first_call_s": first, "apart": difference}), flush=True)


if __name__ == "__main__":
    main()
