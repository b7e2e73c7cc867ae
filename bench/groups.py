#!/usr/bin/env python3
"""Programs of groups, lookups and complex numbers, as users write them.

    .venv-jax/bin/python bench/groups.py FOLDER
    build/bin/hone tune FOLDER --budget 12s
"""

import jax
import jax.numpy as jnp
import lowered

C64, F32, S32 = jnp.complex64, jnp.float32, jnp.int32


def shape(*sizes, of=F32):
    return jax.ShapeDtypeStruct(sizes, of)


def convolution(x, kernel, groups, strides=(1, 1)):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(
        x, kernel, strides, "SAME", feature_group_count=groups, dimension_numbers=numbers
    )


def grouped(groups):
    return lambda x, kernel: jax.nn.relu(convolution(x, kernel, groups))


def grouped_gradients(groups):
    def loss(x, kernel):
        return (convolution(x, kernel, groups) ** 2).sum()

    return jax.grad(loss, (0, 1))


def features_first(x, kernel):
    return jax.nn.relu(
        jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", feature_group_count=32)
    )


def positions(x, kernel):
    """The positional convolution of wav2vec 2.0 (Baevski et al., 2020)."""
    numbers = ("NWC", "WIO", "NWC")
    return jax.nn.gelu(
        jax.lax.conv_general_dilated(
            x, kernel, (1,), "SAME", feature_group_count=16, dimension_numbers=numbers
        )
    )


def embedding(words, table):
    return jax.nn.one_hot(words, table.shape[0]) @ table


def clusters(points, centres):
    """Five steps of Lloyd's algorithm."""

    def step(centres, _):
        distances = (centres**2).sum(1) - 2 * points @ centres.T
        nearest = jax.nn.one_hot(jnp.argmin(distances, 1), centres.shape[0])
        return nearest.T @ points / jnp.maximum(nearest.sum(0), 1)[:, None], None

    return jax.lax.scan(step, centres, None, length=5)[0]


def experts(x, router, up, down):
    """A mixture of experts with a capacity (Lepikhin et al., GShard, 2021)."""
    capacity = 2 * x.shape[0] // router.shape[1]
    gates = jax.nn.softmax(x @ router)
    chosen = jax.nn.one_hot(jnp.argmax(gates, 1), router.shape[1])
    place = ((jnp.cumsum(chosen, 0) - 1) * chosen).sum(1).astype(S32)
    dispatch = chosen[:, :, None] * jax.nn.one_hot(place, capacity)[:, None, :]
    inside = jax.nn.relu(jnp.einsum("tec,td,edf->ecf", dispatch, x, up))
    outside = jnp.einsum("ecf,efd->ecd", inside, down)
    return jnp.einsum("tec,ecd->td", dispatch * gates.max(1)[:, None, None], outside)


def messages(nodes, edges, senders, receivers, to_edges, to_nodes):
    """Three rounds of a graph network (Battaglia et al., 2018)."""
    for of_edges, of_nodes in zip(to_edges, to_nodes):
        ends = jnp.concatenate([nodes[senders], nodes[receivers], edges], -1)
        sent = jax.nn.relu(ends @ of_edges)
        sums = jax.ops.segment_sum(sent, receivers, nodes.shape[0])
        nodes = nodes + jnp.concatenate([nodes, sums], -1) @ of_nodes
        edges = edges + sent
    return nodes.sum()


def harmonics(field, polynomials):
    """Legendre transforms of Fourier coefficients, as on a sphere."""
    return jnp.einsum("blm,mlk->bmk", jnp.fft.rfft(field), polynomials.astype(C64))


IMAGE, GRAPH = shape(4, 28, 28, 128), (500, 4000, 64)
NODES, EDGES, FEATURES = GRAPH
OF_GRAPH = (
    shape(NODES, FEATURES),
    shape(EDGES, FEATURES),
    shape(EDGES, of=S32),
    shape(EDGES, of=S32),
    shape(3, 3 * FEATURES, FEATURES),
    shape(3, 2 * FEATURES, FEATURES),
)

PROGRAMS = {
    "convolution_32_groups": (grouped(32), IMAGE, shape(3, 3, 4, 128)),
    "convolution_8_groups": (grouped(8), IMAGE, shape(3, 3, 16, 128)),
    "convolution_32_groups_gradients": (grouped_gradients(32), IMAGE, shape(3, 3, 4, 128)),
    "convolution_8_groups_gradients": (grouped_gradients(8), IMAGE, shape(3, 3, 16, 128)),
    "convolution_32_groups_nchw": (features_first, shape(4, 128, 28, 28), shape(128, 4, 3, 3)),
    "positional_convolution": (positions, shape(2, 199, 64), shape(128, 4, 64)),
    "one_hot_embedding": (embedding, shape(64, 32, of=S32), shape(1000, 128)),
    "one_hot_clusters": (clusters, shape(4096, 32), shape(64, 32)),
    "experts_with_capacity": (
        experts,
        shape(1024, 128),
        shape(128, 8),
        shape(8, 128, 256),
        shape(8, 256, 128),
    ),
    "graph_network": (messages, *OF_GRAPH),
    "graph_network_gradients": (jax.grad(messages, (4, 5)), *OF_GRAPH),
    "complex_by_real": (harmonics, shape(8, 64, 126), shape(64, 64, 64)),
}


if __name__ == "__main__":
    lowered.write(__doc__, PROGRAMS)
