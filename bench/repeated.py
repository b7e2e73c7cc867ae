"""What XLA:CPU computes again and again: recurrences and networks that are written out, which fusion takes into each
of their users; sorts of few elements, for which it calls a comparator; inverses that are multiplied.

    .venv-jax/bin/python bench/repeated.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp

from lowered import f32, f64, write


def bitonic(x):
    """A network of exchanges over the columns (Batcher, 1968)."""
    n, size = x.shape[-1], 2
    while size <= n:
        step = size // 2
        while step:
            blocks = x.reshape(*x.shape[:-1], n // (2 * step), 2, step)
            low, high = blocks[..., 0, :], blocks[..., 1, :]
            up = ((jnp.arange(n // (2 * step)) * 2 * step & size) == 0)[:, None]
            first, second = jnp.minimum(low, high), jnp.maximum(low, high)
            x = jnp.stack([jnp.where(up, first, second), jnp.where(up, second, first)], -2).reshape(x.shape)
            step //= 2
        size *= 2
    return x


def legendre(x, weights):
    before, now, total = jnp.ones_like(x), x, weights[0] + weights[1] * x
    for n in range(1, weights.shape[0] - 1):
        before, now = now, ((2 * n + 1) * x * now - n * before) / (n + 1)
        total += weights[n + 1] * now
    return total


def lifted(x, levels=4):
    """A wavelet by lifting steps (Cohen, Daubechies and Feauveau's 9/7)."""
    details = []
    for _ in range(levels):
        even, odd = x[..., ::2], x[..., 1::2]
        for a, b in ((-1.586134342, -0.05298011854), (0.8829110762, 0.4435068522)):
            odd = odd + a * (even + jnp.roll(even, -1, -1))
            even = even + b * (odd + jnp.roll(odd, 1, -1))
        details.append(jnp.abs(odd).sum())
        x = even
    return sum(details) + (x**2).sum()


def b_splines(x, degree=5, knots=12):
    """Bases by de Boor's recurrence."""
    t = jnp.linspace(-1.5, 1.5, knots + degree + 1)
    bases = [jnp.where((x >= t[i]) & (x < t[i + 1]), 1.0, 0.0) for i in range(knots + degree)]
    for k in range(1, degree + 1):
        bases = [(x - t[i]) / (t[i + k] - t[i]) * bases[i]
                 + (t[i + k + 1] - x) / (t[i + k + 1] - t[i + 1]) * bases[i + 1]
                 for i in range(knots + degree - k)]
    return jnp.stack(bases, -1)


def rays(densities, colours):
    """Colours along rays (Mildenhall et al., 2020)."""
    alpha = 1 - jnp.exp(-jax.nn.softplus(densities))
    through = jnp.cumprod(1 - alpha + 1e-6, 1)
    weights = alpha * jnp.concatenate([jnp.ones_like(through[:, :1]), through[:, :-1]], 1)
    return (jnp.sin((weights[..., None] * colours).sum(1)) ** 2).sum()


def rolling_median(x, width=21):
    windows = jax.vmap(lambda i: jax.lax.dynamic_slice_in_dim(x, i, width))(jnp.arange(len(x) - width + 1))
    return jnp.median(windows, 1)


def median_filter(x):
    size = x.shape[0] - 4
    taps = [x[i:i + size, j:j + size] for i in range(5) for j in range(5)]
    return jnp.sort(jnp.stack(taps), 0)[12]


PROGRAMS = {
    "bitonic": (bitonic, f32(64, 256)),
    "legendre_gradient": (jax.grad(lambda x, w: jnp.sin(legendre(x, w)).sum(), (0, 1)), f32(20000), f32(16)),
    "wavelet_gradient": (jax.grad(lifted), f32(64, 1024)),
    "b_splines": (b_splines, f32(4096)),
    "b_splines_gradient": (jax.grad(lambda x: jnp.sin(b_splines(x)).sum()), f32(4096)),
    "rays_gradient": (jax.grad(rays, (0, 1)), f32(1024, 64), f32(1024, 64, 3)),
    "rolling_median": (rolling_median, f64(2000, 4)),
    "median_filter": (median_filter, f32(100, 100)),
    "ranks": (lambda x: jnp.argsort(jnp.argsort(x, 1), 1), f32(5000, 24)),
    "trimmed_mean": (lambda x: jnp.sort(x, 0)[3:-3].mean(0), f32(32, 10000)),
    "inverse_times": (lambda a, b: jnp.linalg.inv(a) @ b, f64(128, 128), f64(128, 4)),
    "inverse_form": (lambda a, x: (x @ jnp.linalg.inv(a @ a.T + 100 * jnp.eye(96)) * x).sum(), f32(96, 96), f32(4, 96)),
}

if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    write(__doc__, PROGRAMS)
