"""Samplers, integrators with forces at both ends of a step, random draws, Jacobians' products,
weights and positions that are put together alternately.

    .venv-jax/bin/python bench/sampling.py FOLDER
    build/bin/hone tune FOLDER --budget 15s
"""

import jax
import jax.numpy as jnp
from jax import lax

from lowered import f32, s32, u8, u32, write


def hamiltonian(x, y, q, key):
    """Chains of Hamiltonian Monte Carlo for a logistic regression, a leapfrog as textbooks have it."""
    def energy(q):
        return jnp.logaddexp(0, -y * (x @ q)).sum() + 0.5 * (q * q).sum()

    def chain(q, key):
        def draw(q, key):
            first, second = jax.random.split(key)
            p = jax.random.normal(first, q.shape)

            def leapfrog(_, state):
                q, p = state
                p = p - 0.005 * jax.grad(energy)(q)
                q = q + 0.01 * p
                return q, p - 0.005 * jax.grad(energy)(q)

            new, end = lax.fori_loop(0, 10, leapfrog, (q, p))
            gain = energy(q) - energy(new) + 0.5 * ((p * p).sum() - (end * end).sum())
            return jnp.where(jnp.log(jax.random.uniform(second)) < gain, new, q), q[0]

        return lax.scan(draw, q, jax.random.split(key, 5))

    return jax.vmap(chain)(q, jax.random.split(key, q.shape[0]))


def verlet(x, v):
    """Velocity Verlet with the forces of a Lennard-Jones fluid at both ends of each step."""
    def force(x):
        d = x[:, None] - x[None]
        r2 = (d * d).sum(-1) + 0.2 + 1e3 * jnp.eye(x.shape[0])
        s = 1 / (r2 * r2 * r2)
        return ((24 * (2 * s * s - s) / r2)[..., None] * d).sum(1)

    def step(state, _):
        x, v = state
        a = force(x)
        x = x + 1e-3 * v + 0.5e-6 * a
        return (x, v + 0.5e-3 * (a + force(x))), None

    return lax.scan(step, (x, v), None, length=10)[0]


def gravity(x, mass):
    """Accelerations of bodies, by a power of the distance."""
    d = x[None] - x[:, None]
    return ((mass[None, :, None] * d) / ((d * d).sum(-1, keepdims=True) + 0.01) ** 1.5).sum(1)


def tangent_kernel(x, w1, w2):
    """The empirical neural tangent kernel of a network of two layers."""
    def network(w, x):
        return jnp.tanh(jnp.tanh(x @ w[0]) @ w[1]).sum()

    rows = [j.reshape(x.shape[0], -1) for j in jax.vmap(jax.grad(network), (None, 0))((w1, w2), x)]
    return sum(j @ j.T for j in rows)


def four_bits(x, q, scale):
    """A layer with weights of four bits, two in a byte."""
    weights = jnp.stack([q & 15, q >> 4], -1).reshape(q.shape[0], -1).astype(x.dtype) - 8
    return x @ (weights * scale)


def rotary(q, k):
    """Scores of attention under rotary positions of pairs."""
    angle = jnp.arange(q.shape[1])[:, None] * 0.5 ** jnp.arange(q.shape[2] // 2)
    cos, sin = jnp.cos(angle), jnp.sin(angle)

    def turn(x):
        a, b = x[..., ::2], x[..., 1::2]
        return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)

    return jax.nn.softmax(turn(q) @ turn(k).swapaxes(1, 2))


def dropout(key, x, w):
    """Dropout in front of a layer, noise behind it."""
    first, second = jax.random.split(key)
    x = jnp.where(jax.random.bernoulli(first, 0.9, x.shape), x / 0.9, 0)
    y = x @ w
    return y + 0.01 * jax.random.normal(second, y.shape)


def tempering(key, spins):
    """Potts models at many temperatures, by Metropolis' method on two colours."""
    beta = jnp.linspace(0.2, 1.4, spins.shape[0])[:, None, None]
    rows, columns = spins.shape[1:]
    colour = (jnp.arange(rows)[:, None] + jnp.arange(columns)[None]) % 2

    def agree(value, spins):
        return sum((value == jnp.roll(spins, by, axis)).astype(jnp.float32)
                   for by in (1, -1) for axis in (1, 2))

    def sweep(state, _):
        spins, key = state
        for one in (0, 1):
            key, first, second = jax.random.split(key, 3)
            proposed = jax.random.randint(first, spins.shape, 0, 3)
            gain = agree(proposed, spins) - agree(spins, spins)
            accept = jnp.log(jax.random.uniform(second, spins.shape)) < beta * gain
            spins = jnp.where(accept & (colour == one), proposed, spins)
        return (spins, key), spins.mean()

    return lax.scan(sweep, (spins, key), None, length=5)


def reactions(key, start):
    """Gillespie's method for births and deaths, many at once."""
    def run(key, start):
        def step(state, key):
            n, t = state
            birth, death = 3.0, 0.1 * n
            first, second = jax.random.split(key)
            t = t + jax.random.exponential(first) / (birth + death)
            up = jax.random.uniform(second) * (birth + death) < birth
            return (n + jnp.where(up, 1.0, -1.0), t), n
        return lax.scan(step, (start, 0.0), jax.random.split(key, 100))

    return jax.vmap(run)(jax.random.split(key, start.shape[0]), start)


def closest(points, segments):
    """The closest of many segments for each point."""
    a, b = segments[:, 0], segments[:, 1]
    ab, ap = b - a, points[:, None] - a[None]
    t = jnp.clip((ap * ab).sum(-1) / ((ab * ab).sum(-1) + 1e-9), 0, 1)
    d = ap - t[..., None] * ab
    square = (d * d).sum(-1)
    return jnp.sqrt(square.min(1)), square.argmin(1)


if __name__ == "__main__":
    write(__doc__, {
        "hamiltonian": (hamiltonian, f32(200, 16), f32(200), f32(64, 16), u32(2)),
        "verlet": (verlet, f32(300, 3), f32(300, 3)),
        "gravity": (gravity, f32(1000, 3), f32(1000)),
        "tangent_kernel": (tangent_kernel, f32(128, 32), f32(32, 64), f32(64, 64)),
        "four_bits": (four_bits, f32(2, 2048), u8(2048, 1024), f32(2048)),
        "rotary": (rotary, f32(8, 256, 64), f32(8, 256, 64)),
        "dropout": (dropout, u32(2), f32(512, 1024), f32(1024, 64)),
        "tempering": (tempering, u32(2), s32(16, 48, 48)),
        "reactions": (reactions, u32(2), f32(1000)),
        "closest": (closest, f32(2000, 2), f32(500, 2, 2)),
    })
