"""Linear recurrences by jax.lax.associative_scan, and triangular solves of many right sides.

    .venv-jax/bin/python bench/recurrences.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp

from lowered import c64, f32, f64, write

jax.config.update("jax_enable_x64", True)


def recurrence(a, b, axis=0, reverse=False):
    """h[t] = a[t] h[t-1] + b[t]."""
    def combine(x, y):
        return x[0] * y[0], y[0] * x[1] + y[1]
    return jax.lax.associative_scan(combine, (a, b), axis=axis, reverse=reverse)[1]


def selective_states(x, step, decay, into, out):
    """Mamba's (Gu and Dao, 2023): [batch, time, channels] by states of 16."""
    step = jax.nn.softplus(step)
    keep = jnp.exp(-step[..., None] * jnp.exp(decay))
    h = recurrence(keep, (step * x)[..., None] * into[:, :, None, :], axis=1)
    return jnp.einsum("btcn,btn->btc", h, out)


def diagonal_states(x, rate, angle, into, out):
    """LRU's and S5's (Orvieto et al., 2023; Smith et al., 2023): complex, the same factors at all times."""
    u = x @ into
    decay = jnp.exp(jax.lax.complex(-jnp.exp(rate), angle))
    h = recurrence(jnp.broadcast_to(decay, u.shape), u)
    return (h @ out).real


def gated_unit(x, wz, wh):
    """minGRU (Feng et al., 2024)."""
    gate = jax.nn.sigmoid(x @ wz)
    return recurrence(1 - gate, gate * (x @ wh), axis=1)


def gated_linear_recurrence(x, wr, wi, decay):
    """Griffin's (De et al., 2024)."""
    log_a = -8 * jax.nn.softplus(decay) * jax.nn.sigmoid(x @ wr)
    return recurrence(jnp.exp(log_a), jnp.sqrt(1 - jnp.exp(2 * log_a)) * jax.nn.sigmoid(x @ wi) * x, axis=1)


def advantages(rewards, values, dones):
    """Generalised advantage estimates (Schulman et al., 2016) of many environments."""
    following = jnp.concatenate([values[1:], values[-1:]])
    delta = rewards + 0.99 * following * (1 - dones) - values
    return recurrence(0.99 * 0.95 * (1 - dones), delta, reverse=True)


def smoothed(x):
    """Exponentially, at several rates."""
    rates = jnp.array([0.1, 0.03, 0.01, 0.003], x.dtype)
    kept = jnp.broadcast_to(1 - rates, (x.shape[0], x.shape[1], 4))
    return recurrence(kept, x[..., None] * rates)


def linear_attention(q, k, v, gate):
    """With a gate for each key (Yang et al., 2024): [time, heads, 32]."""
    state = recurrence(gate[..., None], k[..., None] * v[..., None, :])
    return jnp.einsum("thk,thkv->thv", q, state)


def gaussian_process(x, y, new):
    """Means and variances at many new points (Rasmussen and Williams, 2006, algorithm 2.1)."""
    def kernel(a, b):
        return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))
    factor = jnp.linalg.cholesky(kernel(x, x) + 0.1 * jnp.eye(len(x), dtype=x.dtype))
    weights = jax.scipy.linalg.cho_solve((factor, True), y)
    cross = kernel(x, new)
    v = jax.scipy.linalg.solve_triangular(factor, cross, lower=True)
    return cross.T @ weights, 1 - (v * v).sum(0)


def whitened(x, samples):
    """By the covariance's Cholesky factor."""
    factor = jnp.linalg.cholesky(x.T @ x / len(x) + 0.1 * jnp.eye(x.shape[1], dtype=x.dtype))
    return jax.scipy.linalg.solve_triangular(factor, samples.T, lower=True).T


if __name__ == "__main__":
    write(__doc__, {
        "selective_states": (selective_states, f32(2, 256, 128), f32(2, 256, 128), f32(128, 16), f32(2, 256, 16),
                             f32(2, 256, 16)),
        "diagonal_states": (diagonal_states, f32(1024, 64), f32(64), f32(64), c64(64, 64), c64(64, 64)),
        "gated_unit": (gated_unit, f32(4, 512, 128), f32(128, 128), f32(128, 128)),
        "gated_linear_recurrence": (gated_linear_recurrence, f32(2, 512, 256), f32(256, 256), f32(256, 256), f32(256)),
        "advantages": (advantages, f32(256, 512), f32(256, 512), f32(256, 512)),
        "smoothed": (smoothed, f32(2000, 64)),
        "linear_attention": (linear_attention, f32(128, 4, 32), f32(128, 4, 32), f32(128, 4, 32), f32(128, 4, 32)),
        "gaussian_process": (gaussian_process, f64(400, 3), f64(400), f64(2000, 3)),
        "whitened": (whitened, f32(500, 200), f32(4000, 200)),
    })
