"""Linear algebra, filters and losses as they are written down: products in an order that is more
work than another, diagonal and rank-one matrices, traces, blurs, and losses of binary labels.

    .venv-jax/bin/python bench/algebra.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp
from jax import lax

from lowered import f32, write


def quasi_newton(inverse, step, change):
    """The inverse Hessian's update (Broyden, Fletcher, Goldfarb, Shanno)."""
    scale = 1 / jnp.dot(step, change)
    left = jnp.eye(len(step)) - scale * jnp.outer(step, change)
    return left @ inverse @ left.T + scale * jnp.outer(step, step)


def reflected(x, v):
    return (jnp.eye(len(v)) - 2 * jnp.outer(v, v) / jnp.dot(v, v)) @ x


def centred(x):
    middle = jnp.eye(len(x)) - 1 / len(x)
    return middle @ x @ middle


def divergence(factor, other, mean):
    """Kullback and Leibler's, of two normal distributions, by Cholesky factors."""
    half = jax.scipy.linalg.cho_solve((other, True), factor @ factor.T)
    return jnp.trace(half) + mean @ jax.scipy.linalg.cho_solve((other, True), mean)


def weighted_fit(x, weights, y):
    normal = x.T @ jnp.diag(weights) @ x + jnp.eye(x.shape[1])
    return jnp.linalg.solve(normal, x.T @ jnp.diag(weights) @ y)


def normalised(adjacent, features):
    """A layer of a graph convolution (Kipf and Welling, 2017)."""
    scale = jnp.diag(lax.rsqrt(adjacent.sum(1) + 1))
    return scale @ (adjacent + jnp.eye(len(adjacent))) @ scale @ features


def linear_attention(q, k, v):
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
    return jnp.einsum("bhnm,bhmd->bhnd", jnp.einsum("bhnd,bhmd->bhnm", q, k), v)


def shared_heads(q, k, v):
    """A step of decoding: four heads of queries for each of keys."""
    k, v = jnp.repeat(k, 4, 1), jnp.repeat(v, 4, 1)
    weights = jax.nn.softmax(jnp.einsum("bhd,bhnd->bhn", q, k), -1)
    return jnp.einsum("bhn,bhnd->bhd", weights, v)


def binary_loss(logits, labels):
    return (-labels * jax.nn.log_sigmoid(logits)
            - (1 - labels) * jax.nn.log_sigmoid(-logits)).mean()


def logistic_potential(weights, x, labels):
    return jnp.logaddexp(0, -labels * (x @ weights)).sum() + 0.5 * (weights ** 2).sum()


def sampled(weights, momentum, x, labels):
    """Leapfrog steps of Hamiltonian Monte Carlo."""
    gradient = jax.grad(logistic_potential)

    def step(_, state):
        weights, momentum = state
        momentum = momentum - 0.01 * gradient(weights, x, labels)
        return weights + 0.01 * momentum, momentum

    return lax.fori_loop(0, 8, step, (weights, momentum))


def blurred(x):
    row = jnp.exp(-((jnp.arange(11) - 5.0) ** 2) / 4.5)
    kernel = jnp.tile((jnp.outer(row, row) / row.sum() ** 2)[:, :, None, None], (1, 1, 1, 3))
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", feature_group_count=3,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def largest_around(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 5, 5, 1), (1, 1, 1, 1), "SAME")


PROGRAMS = {
    "chain": (lambda a, v: a @ a @ v, f32(256, 256), f32(256)),
    "gauss_newton": (lambda j, v: j.T @ j @ v, f32(400, 200), f32(200)),
    "quasi_newton": (quasi_newton, f32(200, 200), f32(200), f32(200)),
    "householder": (reflected, f32(256, 256), f32(256)),
    "centred": (centred, f32(256, 256)),
    "low_rank": (lambda u, s, v: u @ jnp.diag(s) @ v, f32(256, 64), f32(64), f32(64, 256)),
    "trace": (lambda a, b: jnp.trace(a @ b), f32(256, 256), f32(256, 256)),
    "diagonal": (lambda a, b: jnp.diag(a @ b.T), f32(256, 256), f32(256, 256)),
    "divergence_gradient": (jax.grad(divergence), f32(128, 128), f32(128, 128), f32(128)),
    "weighted_fit": (weighted_fit, f32(1000, 16), f32(1000), f32(1000)),
    "graph_layer": (normalised, f32(256, 256), f32(256, 16)),
    "kronecker": (lambda a, b, v: jnp.kron(a, b) @ v, f32(32, 32), f32(32, 32), f32(1024)),
    "covariance": (lambda x: (x[:, :, None] * x[:, None, :]).mean(0), f32(1000, 48)),
    "linear_attention_gradient": (
        jax.grad(lambda *inputs: jnp.sin(linear_attention(*inputs)).sum(), (0, 1, 2)),
        f32(2, 4, 512, 32), f32(2, 4, 512, 32), f32(2, 4, 512, 32)),
    "shared_heads": (shared_heads, f32(4, 16, 64), f32(4, 4, 512, 64), f32(4, 4, 512, 64)),
    "binary_loss_gradient": (jax.grad(binary_loss), f32(1024, 256), f32(1024, 256)),
    "logistic_hmc": (sampled, f32(32), f32(32), f32(2000, 32), f32(2000)),
    "blur": (blurred, f32(2, 128, 128, 3)),
    "blur_gradient": (jax.grad(lambda x: jnp.sin(blurred(x)).sum()), f32(2, 128, 128, 3)),
    "largest_around": (largest_around, f32(4, 64, 64, 16)),
}

if __name__ == "__main__":
    write(__doc__, PROGRAMS)
