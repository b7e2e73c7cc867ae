"""Points and vectors of two and three components, places by row and column, and what is first true.

    .venv-jax/bin/python bench/vectors.py FOLDER
    build/bin/hone tune FOLDER --budget 12s
"""

import jax
import jax.numpy as jnp

from lowered import f32, s32, write


def attraction(x, masses):
    """Of each body by all others, with softened distances."""
    d = x[None] - x[:, None]
    return (masses[None, :, None] * d / ((d**2).sum(-1, keepdims=True) + 1e-3) ** 1.5).sum(1)


def embedding_gradient(y, p):
    """Of t-SNE (van der Maaten and Hinton, 2008)."""
    d = y[:, None] - y[None]
    q = 1 / (1 + (d**2).sum(-1))
    q = q * (1 - jnp.eye(len(y)))
    return 4 * ((p - q / q.sum())[:, :, None] * q[:, :, None] * d).sum(1)


def hits(origins, directions, triangles):
    """How far rays come in triangles (Moeller and Trumbore, 1997)."""
    corner, first, second = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    across = jnp.cross(directions[:, None], second[None])
    scale = 1 / ((first[None] * across).sum(-1) + 1e-12)
    to = origins[:, None] - corner[None]
    u = scale * (to * across).sum(-1)
    up = jnp.cross(to, first[None])
    v = scale * (directions[:, None] * up).sum(-1)
    t = scale * (second[None] * up).sum(-1)
    return jnp.where((u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0), t, jnp.inf).min(1)


def magnification(angles, lenses):
    """Of images, by the determinant of the lens map's Jacobian."""
    def source(at):
        d = at - lenses[:, :2]
        return at - (d * (jnp.abs(lenses[:, 2]) / ((d**2).sum(-1) + 1e-3))[:, None]).sum(0)
    jacobians = jax.vmap(jax.vmap(jax.jacfwd(source)))(angles)
    return 1 / jnp.linalg.det(jacobians)


def fluid(x, v):
    """Steps of smoothed particles in two dimensions (Monaghan, 1992)."""
    def step(state, _):
        x, v = state
        d = x[:, None] - x[None]
        r = jnp.sqrt((d**2).sum(-1) + 1e-9)
        w = jnp.maximum(0.1 - r, 0)
        density = (w**3).sum(1)
        pressure = jnp.maximum(density - 1e-3, 0) / density**2
        force = -((pressure[:, None] + pressure[None]) * w**2 / r)[..., None] * d
        v = v + 1e-3 * force.sum(1)
        return (x + 1e-3 * v, v), None
    return jax.lax.scan(step, (x, v), None, length=4)[0]


def inertias(joints, bodies):
    """Spatial inertias along an arm, each turned into the frame before it (Featherstone, 2008)."""
    total = bodies[:, -1]
    for k in range(bodies.shape[1] - 2, -1, -1):
        moved = jnp.einsum("bji,bjk,bkl->bil", joints[:, k], total, joints[:, k])
        total = bodies[:, k] + moved
    return total


def deposited(x, y, charge):
    """Charges on a grid, each shared by the four nearest places."""
    i, j = jnp.floor(x * 63).astype(jnp.int32), jnp.floor(y * 63).astype(jnp.int32)
    a, b = x * 63 - i, y * 63 - j
    grid = jnp.zeros((64, 64))
    for di, dj in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight = (a if di else 1 - a) * (b if dj else 1 - b)
        grid = grid.at[i + di, j + dj].add(charge * weight)
    return grid


def sampled_gradient(image, u, v):
    """Of an image that is sampled between its pixels."""
    def loss(image):
        i, j = jnp.floor(u * 254).astype(jnp.int32), jnp.floor(v * 254).astype(jnp.int32)
        a, b = u * 254 - i, v * 254 - j
        top = image[i, j] * (1 - b) + image[i, j + 1] * b
        bottom = image[i + 1, j] * (1 - b) + image[i + 1, j + 1] * b
        return jnp.tanh(top * (1 - a) + bottom * a).sum()
    return jax.grad(loss)(image)


def first_ends(tokens):
    """Where each text ends."""
    return jnp.argmax(tokens == 7, axis=1)


def paths(transitions, observed):
    """The probability of what was observed, of many sequences, in logarithms (Rabiner, 1989)."""
    def step(alpha, emission):
        return jax.nn.logsumexp(alpha[:, :, None] + transitions[None], axis=1) + emission, None
    return jax.nn.logsumexp(jax.lax.scan(step, observed[0], observed[1:])[0], axis=1)


if __name__ == "__main__":
    write(__doc__, {
        "attraction": (attraction, f32(800, 3), f32(800)),
        "embedding_gradient": (embedding_gradient, f32(700, 2), f32(700, 700)),
        "hits": (hits, f32(1000, 3), f32(1000, 3), f32(300, 3, 3)),
        "magnification": (magnification, f32(96, 96, 2), f32(16, 3)),
        "fluid": (fluid, f32(500, 2), f32(500, 2)),
        "inertias": (inertias, f32(256, 7, 6, 6), f32(256, 7, 6, 6)),
        "deposited": (deposited, f32(200000), f32(200000), f32(200000)),
        "sampled_gradient": (sampled_gradient, f32(256, 256), f32(60000), f32(60000)),
        "first_ends": (first_ends, s32(4096, 256)),
        "paths": (paths, f32(64, 64), f32(50, 16, 64)),
    })
