"""The largest few, places in short tables, powers by counters, phases of waves, networks of pairs, values of small
matrices.

    .venv-jax/bin/python bench/few_of_many.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp

from lowered import f32, s32, write


def c64(*sizes):
    return jax.ShapeDtypeStruct(sizes, "complex64")


def experts(x, gates):
    """Weights of the two best experts of each token (Shazeer et al., 2017)."""
    best, which = jax.lax.top_k(x @ gates, 2)
    return jax.nn.softmax(best), which


def dispatched(x, which, experts=8, slots=160):
    """Tokens in the slots of their experts, by a mask (Lepikhin et al., 2021)."""
    chosen = jax.nn.one_hot(which, experts)
    slot = (jnp.cumsum(chosen, 0) - 1).astype("int32")
    return jnp.einsum("tec,td->ecd", chosen[..., None] * jax.nn.one_hot(slot, slots), x)


def sampled(logits, uniform):
    """A token among the forty likeliest."""
    best, which = jax.lax.top_k(logits, 40)
    total = jnp.cumsum(jax.nn.softmax(best), -1)
    return jnp.take_along_axis(which, (total < uniform[:, None]).sum(-1, keepdims=True), -1)


def neighbours(x, points):
    distances = (x * x).sum(1)[:, None] - 2 * x @ points.T + (points * points).sum(1)
    return jax.lax.top_k(-distances, 8)


def polynomial(x, c):
    return (x[:, None] ** jnp.arange(10) @ c).sum()


def projected(field, target):
    """A step of Gerchberg and Saxton (1972): the phases of what is seen, with known magnitudes, and back."""
    seen = jnp.fft.fft2(field)
    return jnp.fft.ifft2(target * jnp.exp(1j * jnp.angle(seen)))


def intensity(field, target):
    return ((jnp.abs(field) ** 2 - target) ** 2).mean()


def relations(x, w):
    """Sums over pairs (Santoro et al., 2017)."""
    n, size = x.shape
    pairs = jnp.concatenate([jnp.broadcast_to(x[:, None], (n, n, size)), jnp.broadcast_to(x, (n, n, size))], -1)
    return jax.nn.relu(pairs @ w).sum(1)


def messages(nodes, edges, sources, targets, w):
    both = jnp.concatenate([nodes[sources], nodes[targets], edges], -1)
    return jax.ops.segment_sum(jnp.tanh(both @ w), targets, nodes.shape[0])


def corners(image):
    """The least eigenvalue of the structure tensor (Shi and Tomasi, 1994)."""
    x, y = jnp.gradient(image)
    tensor = jnp.stack([jnp.stack([x * x, x * y], -1), jnp.stack([x * y, y * y], -1)], -1)
    return jnp.linalg.eigvalsh(jax.lax.reduce_window(tensor, 0.0, jax.lax.add, (5, 5, 1, 1), (1, 1, 1, 1), "SAME"))[..., 0]


PROGRAMS = {
    "corners": (corners, f32(64, 64)),
    "strains": (lambda u: jnp.linalg.eigvalsh(u + jnp.swapaxes(u, 1, 2)), f32(4000, 3, 3)),
    "stretches": (lambda f: jnp.linalg.svd(f, compute_uv=False), f32(4000, 2, 2)),
    "experts": (experts, f32(4096, 32), f32(32, 64)),
    "dispatched": (dispatched, f32(1024, 64), s32(1024)),
    "sampled": (sampled, f32(8, 50257), f32(8)),
    "neighbours": (neighbours, f32(256, 4), f32(2000, 4)),
    "polynomial_gradient": (jax.grad(polynomial), f32(20000), f32(10)),
    "vandermonde": (lambda x: jnp.vander(x, 12), f32(10000)),
    "projected": (projected, c64(256, 256), f32(256, 256)),
    "intensity_gradient": (lambda z, t: jax.grad(intensity)(z, t), c64(256, 256), f32(256, 256)),
    "digitized": (lambda x: jnp.digitize(x, jnp.linspace(-3, 3, 32)), f32(100000)),
    "histogram": (lambda x: jnp.histogram(x, bins=50, range=(-3, 3))[0], f32(100000)),
    "relations": (relations, f32(128, 32), f32(64, 48)),
    "relations_gradient": (jax.grad(lambda x, w: relations(x, w).sum(), (0, 1)), f32(128, 32), f32(64, 48)),
    "messages_gradient": (jax.grad(lambda n, e, s, t, w: messages(n, e, s, t, w).sum(), (0, 1, 4)),
                          f32(400, 32), f32(4000, 8), s32(4000), s32(4000), f32(72, 64)),
}

if __name__ == "__main__":
    write(__doc__, PROGRAMS)
