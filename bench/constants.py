"""What follows from constants and counters alone, within the program that takes it.

    .venv-jax/bin/python bench/constants.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp

from lowered import f32, s32, write


def energy_of_pairs(x):
    """Of each pair once, by their places in a triangle."""
    i, j = jnp.triu_indices(len(x), 1)
    return (1 / (((x[i] - x[j]) ** 2).sum(-1) + 1e-3)).sum()


def covariance(values):
    """From the triangle of its Cholesky factor."""
    factor = jnp.zeros((60, 60)).at[jnp.tril_indices(60)].set(values)
    return factor @ factor.T


def chosen(x):
    """Elements at places that satisfy a fixed condition."""
    at = jnp.arange(1000)
    return x[jnp.nonzero((at % 7 == 0) | (at % 11 == 0), size=300, fill_value=0)[0]].sum()


def random_features(x):
    """Of a kernel (Rahimi and Recht, 2007), drawn with a fixed key."""
    weights = jax.random.normal(jax.random.key(0), (16, 256))
    return jnp.cos(x @ weights + 6.28 * jax.random.uniform(jax.random.key(1), (256,)))


def cosine_transform(x):
    at = jnp.arange(256)
    return x @ jnp.cos(2 * jnp.pi * jnp.outer(at, at) / 256)


def rotary_positions(q):
    """Su et al., 2021."""
    angles = jnp.arange(len(q))[:, None] / 10000 ** (jnp.arange(0, 64, 2) / 64)
    cosine, sine = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    first, second = q[..., :32], q[..., 32:]
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def sinusoidal_positions(x):
    """Vaswani et al., 2017."""
    at = jnp.arange(128)[None]
    angles = jnp.arange(256)[:, None] / 10000 ** (2 * (at // 2) / 128)
    return x + jnp.where(at % 2 == 0, jnp.sin(angles), jnp.cos(angles))


def windowed_spectrum(x):
    return jnp.fft.rfft(x * (0.54 - 0.46 * jnp.cos(2 * jnp.pi * jnp.arange(2048) / 2047)))


def shuffled(x):
    return 2 * x[jax.random.permutation(jax.random.key(3), 4096)]


def noise_schedule(x, steps):
    """How much of an image is left, in diffusion models."""
    left = jnp.exp(-jnp.cumsum(jnp.linspace(1e-4, 0.02, 1000)))
    return x * jnp.sqrt(left[steps])[:, None]


if __name__ == "__main__":
    write(__doc__, {
        "energy_of_pairs": (energy_of_pairs, f32(200, 3)),
        "energy_of_pairs_gradient": (jax.grad(energy_of_pairs), f32(200, 3)),
        "covariance": (covariance, f32(1830)),
        "chosen": (chosen, f32(1000)),
        "random_features": (random_features, f32(64, 16)),
        "cosine_transform": (cosine_transform, f32(32, 256)),
        "rotary_positions": (rotary_positions, f32(512, 4, 64)),
        "sinusoidal_positions": (sinusoidal_positions, f32(8, 256, 128)),
        "windowed_spectrum": (windowed_spectrum, f32(16, 2048)),
        "shuffled": (shuffled, f32(4096)),
        "noise_schedule": (noise_schedule, f32(64, 256), s32(64)),
    })
