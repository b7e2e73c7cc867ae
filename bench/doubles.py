"""Science in doubles and on grids: log-sums of exponentials in f64, eliminations and shortest paths in place, spectral
filters of real fields, circuits of small matrices, and states that are finite only where they are physical.

    .venv-jax/bin/python bench/doubles.py FOLDER
    build/bin/hone tune FOLDER --budget 12s
"""

import jax
import jax.numpy as jnp

from lowered import f32, f64, write

jax.config.update("jax_enable_x64", True)


def forward(transitions, emissions):
    """A hidden Markov model's forward pass, in logarithms (Rabiner, 1989)."""
    def step(alpha, emission):
        alpha = jax.nn.logsumexp(alpha[:, :, None] + transitions, axis=1) + emission
        return alpha, None
    return jax.lax.scan(step, emissions[0], emissions[1:])[0]


def sinkhorn(cost, a, b):
    """Entropic transport, in logarithms (Cuturi, 2013)."""
    def step(_, potentials):
        f, g = potentials
        f = jnp.log(a) - jax.nn.logsumexp(g[None, :] - cost / 0.05, axis=1)
        return f, jnp.log(b) - jax.nn.logsumexp(f[:, None] - cost / 0.05, axis=0)
    return jax.lax.fori_loop(0, 50, step, (jnp.zeros_like(a), jnp.zeros_like(b)))


def mixture(x, means, weights):
    """Responsibilities of a mixture of normal distributions, and its likelihood."""
    logits = jnp.log(jax.nn.softmax(weights)) - 0.5 * ((x[:, None] - means) ** 2).sum(-1)
    return jax.nn.softmax(logits, axis=1), jax.nn.logsumexp(logits, axis=1).sum()


def shortest_paths(d):
    return jax.lax.fori_loop(0, d.shape[0], lambda k, d: jnp.minimum(d, d[:, k, None] + d[None, k]), jnp.abs(d))


def gauss_jordan(a):
    def step(k, a):
        row = a[k] / a[k, k]
        return (a - a[:, k, None] * row[None]).at[k].set(row)
    return jax.lax.fori_loop(0, a.shape[0], step, a + a.shape[0] * jnp.eye(*a.shape))


def lu(a):
    def step(k, a):
        below = jnp.arange(a.shape[0]) > k
        factors = jnp.where(below, a[:, k] / a[k, k], 0)
        return (a - factors[:, None] * jnp.where(below, a[k], 0)[None]).at[:, k].set(jnp.where(below, factors, a[:, k]))
    return jax.lax.fori_loop(0, a.shape[0], step, a + a.shape[0] * jnp.eye(*a.shape))


def smoothed(u):
    k = jnp.fft.fftfreq(u.shape[0])
    return jnp.fft.ifft2(jnp.fft.fft2(u) * jnp.exp(-20 * (k[:, None] ** 2 + k[None] ** 2))).real


def gradient_spectral(u):
    k = 2j * jnp.pi * jnp.fft.fftfreq(u.shape[0])
    return jnp.fft.ifft2(jnp.fft.fft2(u) * k[:, None]).real, jnp.fft.ifft2(jnp.fft.fft2(u) * k[None]).real


def circuit(angles, state):
    """Rotations of qubits, and a phase between neighbours; the state as a matrix for each."""
    for layer in angles:
        for qubit, angle in enumerate(layer):
            c, s = jnp.cos(angle), jnp.sin(angle)
            state = jnp.einsum("ab,xby->xay", jnp.array([[c, -s], [s, c]]), state.reshape(2**qubit, 2, -1)).reshape(-1)
    return state


def gas(u, dt):
    """Euler's equations in one dimension (Rusanov, 1961): finite where the energy is more than what moves."""
    def step(u, _):
        speed = u[1] / u[0]
        pressure = 0.4 * (u[2] - 0.5 * u[1] * speed)
        flux = jnp.stack([u[1], u[1] * speed + pressure, speed * (u[2] + pressure)])
        fastest = jnp.abs(speed) + jnp.sqrt(1.4 * pressure / u[0])
        right = lambda x: jnp.roll(x, -1, -1)
        between = 0.5 * (flux + right(flux) - jnp.maximum(fastest, right(fastest)) * (right(u) - u))
        return u - dt * (between - jnp.roll(between, 1, -1)), None
    return jax.lax.scan(step, u, None, length=50)[0]


def boxes(truth, anchors, scores):
    """Targets of a detector (Liu et al., 2016): finite where corners are in order."""
    size, of_anchor = truth[..., 2:] - truth[..., :2], anchors[..., 2:] - anchors[..., :2]
    middle, of_anchors = truth[..., :2] + size / 2, anchors[..., :2] + of_anchor / 2
    targets = jnp.concatenate([(middle - of_anchors) / of_anchor, jnp.log(size / of_anchor)], -1)
    return targets, jax.nn.log_softmax(scores).sum(-1), jnp.tanh(scores @ jnp.ones((scores.shape[-1], 4))).sum(-1)


write(__doc__, {
    "markov_forward_f64": (forward, f64(48, 48), f64(200, 4, 48)),
    "transport_f64": (sinkhorn, f64(200, 150), f64(200), f64(150)),
    "mixture_f64": (mixture, f64(4000, 8), f64(32, 8), f64(32)),
    "shortest_paths": (shortest_paths, f32(200, 200)),
    "gauss_jordan": (gauss_jordan, f32(128, 128)),
    "lu_f64": (lu, f64(128, 128)),
    "smoothed": (smoothed, f32(256, 256)),
    "gradient_spectral_f64": (gradient_spectral, f64(128, 128)),
    "circuit": (circuit, f32(6, 14), f32(2**14)),
    "gas": (gas, f32(3, 2000), f32()),
    "boxes": (boxes, f32(8, 2000, 4), f32(2000, 4), f32(8, 2000, 21)),
})
