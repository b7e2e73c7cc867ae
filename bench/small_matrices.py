"""Small matrices of a batch, inner products, and loops that write into one place of a table.

    .venv-jax/bin/python bench/small_matrices.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve

from lowered import f32, f64, s32, write

jax.config.update("jax_enable_x64", True)


def rosenbrock(y, k):
    """Rosenbrock's method of second order for stiff systems, a batch of them."""
    n = y.shape[1]

    def slope(y):
        return jnp.tanh(k @ y) * y[::-1] - 0.5 * y

    def step(y, _):
        jacobian = jax.vmap(jax.jacfwd(slope))(y)
        lu = jax.scipy.linalg.lu_factor(jnp.eye(n) - 0.01 * jacobian)
        solve = jax.vmap(lambda a, p, b: jax.scipy.linalg.lu_solve((a, p), b))
        first = solve(*lu, jax.vmap(slope)(y))
        second = solve(*lu, jax.vmap(slope)(y + 0.01 * first) - 2 * first)
        return y + 0.015 * first + 0.005 * second, None

    return jax.lax.scan(step, y, None, length=20)[0]


def filtered(observations, move, observe):
    """Kalman filters of many series."""
    n, m = move.shape[0], observe.shape[0]

    def step(carry, z):
        x, p = carry
        x, p = move @ x, move @ p @ move.T + 0.1 * jnp.eye(n)
        s = observe @ p @ observe.T + jnp.eye(m)
        gain = jnp.linalg.solve(s, observe @ p).T
        x, p = x + gain @ (z - observe @ x), p - gain @ observe @ p
        return (x, p), x

    return jax.vmap(lambda z: jax.lax.scan(step, (jnp.zeros(n), jnp.eye(n)), z)[1])(observations)


def posterior(design, seen):
    """Ridge regressions, one for each of a batch, by Cholesky."""
    gram = jnp.einsum("bij,bik->bjk", design, design) + jnp.eye(design.shape[2])
    return jax.vmap(lambda a, b: cho_solve(cho_factor(a), b))(
        gram, jnp.einsum("bij,bi->bj", design, seen))


def conjugate_gradients(b):
    """Of a Laplacian on a grid."""
    def laplacian(x):
        padded = jnp.pad(x, 1)
        return (4.01 * x - padded[2:, 1:-1] - padded[:-2, 1:-1] - padded[1:-1, 2:]
                - padded[1:-1, :-2])

    def step(state, _):
        x, r, p, rr = state
        q = laplacian(p)
        a = rr / jnp.vdot(p, q)
        x, r = x + a * p, r - a * q
        new = jnp.vdot(r, r)
        return (x, r, r + new / rr * p, new), None

    start = (jnp.zeros_like(b), b, b, jnp.vdot(b, b))
    return jax.lax.scan(step, start, None, length=20)[0][0]


def q_learning(actions, rewards):
    """In a table of 200 states (Watkins, 1989)."""
    def step(carry, x):
        table, state = carry
        action, reward = x
        following = (state * 7 + action) % table.shape[0]
        wrong = reward + 0.9 * table[following].max() - table[state, action]
        return (table.at[state, action].add(0.1 * wrong), following), wrong

    return jax.lax.scan(step, (jnp.zeros((200, 4), rewards.dtype), 0),
                        (jnp.abs(actions) % 4, rewards))


def topics(words, documents, uniforms):
    """A sweep of a collapsed Gibbs sampler: counts of topics by word and by document."""
    k = 16

    def step(counts, x):
        by_word, by_document, topic = counts
        w, d, u = x
        p = (by_word[w] + 0.1) * (by_document[d] + 0.1)
        z = jnp.searchsorted(jnp.cumsum(p), u * p.sum())
        return (by_word.at[w, z].add(1), by_document.at[d, z].add(1), topic + z), None

    start = (jnp.zeros((200, k)), jnp.zeros((50, k)), 0)
    return jax.lax.scan(step, start, (jnp.abs(words) % 200, jnp.abs(documents) % 50,
                                      jnp.abs(uniforms) % 1))[0]


def cleaned(image, beam):
    """Högbom's CLEAN: the brightest place of an image, again and again."""
    def step(image, _):
        y, x = jnp.unravel_index(jnp.argmax(jnp.abs(image)), image.shape)
        peak = image[y, x]
        shifted = jax.lax.dynamic_slice(beam, (256 - y, 256 - x), image.shape)
        return image - 0.1 * peak * shifted, peak

    return jax.lax.scan(step, image, None, length=30)


if __name__ == "__main__":
    write(__doc__, {
        "solve_9": (lambda a, b: jnp.linalg.solve(a + 9 * jnp.eye(9), b[..., None])[..., 0],
                    f64(500, 9, 9), f64(500, 9)),
        "inverse_6": (lambda a: jnp.linalg.inv(a + 6 * jnp.eye(6, dtype=a.dtype)), f32(1000, 6, 6)),
        "log_determinant_10": (lambda a: jnp.linalg.slogdet(a)[1].sum(), f64(1000, 10, 10)),
        "ridge_regressions_16": (posterior, f32(500, 40, 16), f32(500, 40)),
        "rosenbrock_9": (rosenbrock, f64(200, 9), f64(9, 9)),
        "kalman_12_6": (filtered, f64(64, 50, 6), f64(12, 12), f64(6, 12)),
        "conjugate_gradients": (conjugate_gradients, f32(256, 256)),
        "conjugate_gradients_f64": (conjugate_gradients, f64(256, 256)),
        "q_learning": (q_learning, s32(2000), f32(2000)),
        "topics": (topics, s32(3000), s32(3000), f64(3000)),
        "clean": (cleaned, f32(256, 256), f32(512, 512)),
    })
