#!/usr/bin/env python3
"""Training steps of small models of many kinds, a file each.

    .venv-jax/bin/python bench/training_steps.py FOLDER
    build/bin/hone tune FOLDER --budget 15s
"""

import jax
import jax.numpy as jnp
from jax import lax

from lowered import f32, s32, write


def step(loss):
    """Of stochastic gradient descent on the first argument."""
    def descend(weights, *data):
        value, gradients = jax.value_and_grad(loss)(weights, *data)
        return value, jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradients)
    return descend


def convolve(x, kernel, stride=1, groups=1):
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", feature_group_count=groups,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def normalised(x, axes):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(axes, keepdims=True) + 1e-5)


def mobile_net(weights, x, labels):
    widen, depthwise, narrow, head = weights
    x = jax.nn.relu(normalised(convolve(x, widen), (0, 1, 2)))
    x = jax.nn.relu(normalised(convolve(x, depthwise, 2, depthwise.shape[-1]), (0, 1, 2)))
    logits = convolve(x, narrow).mean((1, 2)) @ head
    return (jax.nn.logsumexp(logits, -1) - logits[:, 0] * labels).mean()


def conv_next(weights, x):
    depthwise, up, down = weights
    y = normalised(convolve(x, depthwise, 1, x.shape[-1]), -1)
    return ((x + jax.nn.gelu(y @ up) @ down) ** 2).mean()


def attention(weights, x):
    q, k, v = (jnp.einsum("btd,dhk->bthk", x, w) for w in weights)
    scores = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k) / 4)
    return (jnp.einsum("bhts,bshk->bthk", scores, v) ** 2).mean()


def perceptron(weights, x, labels):
    for w in weights[:-1]:
        x = jax.nn.relu(x @ w)
    logits = x @ weights[-1]
    one_hot = labels[:, None] == jnp.arange(logits.shape[-1])
    return -(jax.nn.log_softmax(logits) * one_hot).sum(-1).mean()


def heat_equation(weights, points):
    def u(x):
        for w in weights[:-1]:
            x = jnp.tanh(x @ w)
        return (x @ weights[-1])[0]

    def residual(x):
        gradient = jax.grad(u)
        second = jax.jvp(gradient, (x,), (jnp.array([1.0, 0.0]),))[1][0]
        return gradient(x)[1] - 0.1 * second
    return (jax.vmap(residual)(points) ** 2).mean()


def recurrent(weights, xs):
    w, head = weights
    size = head.shape[0]

    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zeros = jnp.zeros((xs.shape[1], size))
    return ((lax.scan(cell, (zeros, zeros), xs)[1] @ head) ** 2).mean()


def adam(weights, gradients, first, second):
    def update(w, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v
    return jax.tree.map(update, weights, gradients, first, second)


def bags_of_words(weights, words, bags, labels):
    table, head = weights
    sums = jax.ops.segment_sum(table[words], bags, labels.shape[0])
    return ((sums @ head)[:, 0] * labels).mean()


def messages(weights, nodes, senders, receivers):
    edge, node = weights
    sent = jax.nn.relu(jnp.concatenate([nodes[senders], nodes[receivers]], -1) @ edge)
    return ((jax.ops.segment_sum(sent, receivers, nodes.shape[0]) @ node) ** 2).mean()


def splats(weights, points):
    centres, scales, colours, opacities = weights
    distances = ((points[:, None] - centres) ** 2 * jnp.exp(scales)).sum(-1)
    alpha = jax.nn.sigmoid(opacities) * jnp.exp(-distances)
    behind = jnp.cumprod(1 - alpha + 1e-6, 1) / (1 - alpha + 1e-6)
    return (((alpha * behind) @ colours) ** 2).mean()


def bayesian(weights, x, y, key):
    means, deviations = weights
    keys = jax.random.split(key, len(means))
    for k, m, d in zip(keys, means, deviations):
        x = jnp.tanh(x @ (m + jax.nn.softplus(d) * jax.random.normal(k, m.shape)))
    return ((x[:, 0] - y) ** 2).mean()


SMALL = [f32(*sizes) for sizes in [(64,), (16, 16), (33,), (8, 24), (12,)] * 16]
LAYERS = [f32(2, 32), f32(32, 32), f32(32, 32), f32(32, 1)]
LATENT = [f32(4, 24), f32(24, 24), f32(24, 1)]

write(__doc__, {
    "mobile_net": (step(mobile_net), [f32(1, 1, 24, 96), f32(5, 5, 1, 96), f32(1, 1, 96, 32),
                                      f32(32, 10)], f32(8, 24, 24, 24), f32(8)),
    "conv_next": (step(conv_next), [f32(7, 7, 1, 48), f32(48, 192), f32(192, 48)],
                  f32(4, 28, 28, 48)),
    "attention": (step(attention), [f32(64, 4, 16)] * 3, f32(8, 64, 64)),
    "perceptron": (step(perceptron), [f32(784, 128), f32(128, 64), f32(64, 10)], f32(128, 784),
                   s32(128)),
    "heat_equation": (step(heat_equation), LAYERS, f32(512, 2)),
    "recurrent": (step(recurrent), [f32(96, 192), f32(48, 8)], f32(32, 16, 48)),
    "adam": (adam, SMALL, SMALL, SMALL, SMALL),
    "bags_of_words": (step(bags_of_words), [f32(4000, 64), f32(64, 1)], s32(4096), s32(4096),
                      f32(256)),
    "messages": (step(messages), [f32(64, 64), f32(64, 16)], f32(1024, 32), s32(6000), s32(6000)),
    "splats": (step(splats), [f32(96, 2), f32(96, 2), f32(96, 3), f32(96)], f32(2304, 2)),
    "bayesian": (step(bayesian), (LATENT, LATENT), f32(64, 4), f32(64),
                 jax.ShapeDtypeStruct((2,), jnp.uint32)),
})
