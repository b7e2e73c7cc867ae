"""Loops over a batch as vmap makes them, vectors of three, random bits, long integers.

    .venv-jax/bin/python bench/batches.py FOLDER
    build/bin/hone tune FOLDER --budget 15s
"""

import jax
import jax.numpy as jnp
from jax import lax

from lowered import f32, f64, s32, u32, u64, write

jax.config.update("jax_enable_x64", True)


def spheres(x, v):
    """Spheres that push each other away, in many boxes at once."""
    def step(state, _):
        x, v = state
        d = x[:, None] - x[None]
        r = jnp.sqrt((d * d).sum(-1) + 1e-6)
        push = 50 * jnp.maximum(0.3 - r, 0)
        v = 0.99 * v + 0.01 * (push[..., None] * d / r[..., None]).sum(1)
        return (jnp.clip(x + 0.01 * v, -1, 1), v), None

    return jax.vmap(lambda x, v: lax.scan(step, (x, v), None, length=20)[0])(x, v)


def tops(q, w):
    """Rigid bodies that turn: quaternions, and inertia in each body's own frame."""
    inertia = jnp.array([1.0, 1.3, 1.7], q.dtype)

    def product(a, b):
        return jnp.concatenate([a[:1] * b[:1] - (a[1:] * b[1:]).sum(keepdims=True),
                                a[:1] * b[1:] + b[:1] * a[1:] + jnp.cross(a[1:], b[1:])])

    def step(state, _):
        q, w = state
        w = w - 0.01 * jnp.cross(w, inertia * w) / inertia
        q = q + 0.005 * product(q, jnp.concatenate([jnp.zeros(1, q.dtype), w]))
        return (q / jnp.linalg.norm(q), w), q[0]

    return jax.vmap(lambda q, w: lax.scan(step, (q, w), None, length=50))(q, w)


def edit_distances(a, b):
    """Of many pairs of words, row by row."""
    def distance(a, b):
        def row(before, letter):
            def cell(left, above):
                diagonal, up, other = above
                new = jnp.minimum(jnp.minimum(up, left) + 1, diagonal + (letter != other))
                return new, new
            start = before[0] + 1
            _, rest = lax.scan(cell, start, (before[:-1], before[1:], b))
            return jnp.concatenate([start[None], rest]), None
        return lax.scan(row, jnp.arange(b.shape[0] + 1, dtype=b.dtype), a)[0][-1]

    return jax.vmap(distance)(a, b)


def options(spot):
    """American puts by Crank-Nicolson: a tridiagonal solve in each step."""
    def price(spot):
        grid = spot * jnp.linspace(0.2, 2.0, 24, dtype=spot.dtype)
        payoff = jnp.maximum(1 - grid, 0)

        def step(v, _):
            right = v + 0.2 * (jnp.roll(v, 1) - 2 * v + jnp.roll(v, -1))

            def forward(c, r):
                c, d = c
                m = 1 / (1.4 + 0.2 * c)
                return (-0.2 * m, (r + 0.2 * d) * m), (-0.2 * m, (r + 0.2 * d) * m)

            zero = jnp.zeros((), v.dtype)
            _, (c, d) = lax.scan(forward, (zero, zero), right)
            _, v = lax.scan(lambda x, cd: (cd[1] - cd[0] * x,) * 2, zero, (c, d), reverse=True)
            return jnp.maximum(v, payoff), None

        return lax.scan(step, payoff, None, length=12)[0]

    return jax.vmap(price)(spot)


def roots(c):
    """Newton's method for the roots of cubics, until all are found."""
    def newton(c):
        def step(state):
            x, n, _ = state
            value = ((x + c[0]) * x + c[1]) * x + c[2]
            slope = (3 * x + 2 * c[0]) * x + c[1]
            move = value / jnp.where(jnp.abs(slope) < 1e-3, 1e-3, slope)
            return x - jnp.clip(move, -1, 1), n + 1, jnp.abs(move).max() > 1e-5

        start = jnp.array([-2.0, 0.1, 2.0], c.dtype)
        return lax.while_loop(lambda s: s[2] & (s[1] < 40), step, (start, 0, True))[:2]

    return jax.vmap(newton)(c)


def separations(rotation, half, centre):
    """Of boxes in pairs, along the axes that may separate them."""
    def pair(a, b, i, j):
        d = j[1] - i[1]
        axes = jnp.concatenate([a.T, b.T, jnp.cross(a.T[:, None], b.T[None]).reshape(9, 3)])
        reach = jnp.abs(axes @ a) @ i[0] + jnp.abs(axes @ b) @ j[0]
        gaps = jnp.abs(axes @ d) - reach
        return gaps.max(), jnp.argmax(gaps)

    boxes = (half, centre)
    return jax.vmap(lambda a, i: jax.vmap(lambda b, j: pair(a, b, i, j))(rotation, boxes))(
        rotation, boxes)


def powers(base, exponent, modulus):
    """Modular powers of 32 bits."""
    modulus = (modulus & 0xffffffff) | 1

    def step(state, bit):
        result, base = state
        result = jnp.where((exponent >> bit) & 1 == 1, result * base % modulus, result)
        return (result, base * base % modulus), None

    return lax.scan(step, (jnp.ones_like(base), base % modulus),
                    jnp.arange(32, dtype=jnp.uint64))[0][0]


def noisy(key, x, w):
    """A layer with dropout and noise, by the generator `rbg`."""
    first, second = jax.random.split(jax.random.wrap_key_data(key, impl="rbg"))
    keep = jax.random.bernoulli(first, 0.9, x.shape)
    return jnp.where(keep, x, 0) @ w + 0.1 * jax.random.normal(second, (x.shape[0], w.shape[1]),
                                                               x.dtype)


def correlations(x):
    """A histogram of the logarithms of distances."""
    d = [x[:, None, k] - x[None, :, k] for k in range(3)]
    r = jnp.log(d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 1e-3)
    return jnp.exp(-((r[..., None] - jnp.linspace(-4, 2, 4, dtype=x.dtype)) ** 2)).sum((0, 1))


def droplets(mass, air):
    """Rates of growth, evaporation and fall with the same powers in several places."""
    a, b = mass ** 0.875, air ** 0.525
    return a * air, b * mass, a * b - mass, jnp.tanh(a) + b, (a - b) / (1 + a)


if __name__ == "__main__":
    write(__doc__, {
        "spheres": (spheres, f32(256, 10, 3), f32(256, 10, 3)),
        "tops": (tops, f32(500, 4), f32(500, 3)),
        "edit_distances": (edit_distances, s32(200, 40), s32(200, 50)),
        "american_options": (options, f64(200)),
        "cubic_roots": (roots, f32(2000, 3)),
        "separations": (separations, f32(150, 3, 3), f32(150, 3), f32(150, 3)),
        "modular_powers": (powers, u64(5000), u64(5000), u64(5000)),
        "dropout_rbg": (noisy, u32(4), f32(512, 1024), f32(1024, 64)),
        "log_distances": (correlations, f32(600, 3)),
        "shared_powers": (droplets, f32(60, 2000), f32(60, 2000)),
    })
