"""What programs of many kinds have in them: filters, resized images, masked writes, short rows,
gradients of slices, loops over large arrays, remainders, products of bf16 and of bytes.

    .venv-jax/bin/python bench/patterns.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp
from jax import lax

from lowered import f32, s32, write


def of(type_, *sizes):
    return jax.ShapeDtypeStruct(sizes, type_)


def resized(method, *sizes):
    return lambda x: jax.image.resize(x, sizes, method)


def gradient_of(function):
    return jax.grad(lambda *inputs: (function(*inputs) ** 2).sum())


def similarity(x, y):
    """SSIM, windows of 11 by 11 (Wang et al., 2004)."""
    window = jnp.outer(*[jnp.exp(-((jnp.arange(11) - 5.0) ** 2) / 4.5)] * 2)
    window = (window / window.sum())[:, :, None, None]

    def mean(image):
        return lax.conv_general_dilated(image[..., None], window, (1, 1), "VALID",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    a, b = mean(x), mean(y)
    spread = mean(x * x) - a * a, mean(y * y) - b * b, mean(x * y) - a * b
    return ((2 * a * b + 1e-4) * (2 * spread[2] + 9e-4)
            / ((a * a + b * b + 1e-4) * (spread[0] + spread[1] + 9e-4))).mean()


def decoded(x, stop):
    """Sequences that end one after the other, into a buffer."""
    def one(x, stop):
        def body(state):
            place, value, buffer = state
            value = jnp.sin(value) * 1.01
            return place + 1, value, buffer.at[place].set(value)

        return lax.while_loop(lambda state: state[0] < stop, body,
                              (0, x, jnp.zeros((256, *x.shape))))[2]

    return jax.vmap(one)(x, stop % 60 + 4)


def pushed(x, period):
    """A stack for each of a batch: some push, some do not."""
    def one(x, period):
        def body(step, state):
            top, stack = state
            push = step % 4 == period % 4
            return top + push, jnp.where(push, stack.at[top].set(x * step), stack)

        return lax.fori_loop(0, 60, body, (0, jnp.zeros(512)))[1]

    return jax.vmap(one)(x, period)


def mixture(x):
    """Log likelihood under twelve components."""
    mean, scale, share = jnp.split(x, 3, -1)
    terms = jax.nn.log_softmax(share) - 0.5 * ((1 - mean) * jnp.exp(-scale)) ** 2 - scale
    return jax.nn.logsumexp(terms, -1)


def swish_layer(x, weights, bias):
    y = x @ weights + bias
    return y * jax.nn.sigmoid(y) + jnp.tanh(y)


def recurrence(decay, x):
    """h = a h + b, by associative_scan."""
    def after(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    return lax.associative_scan(after, (jax.nn.sigmoid(decay), x), axis=1)[1]


def gates(x, weights):
    a, b, c, d = jnp.split(x @ weights, 4, -1)
    return jax.nn.sigmoid(a) * jnp.tanh(b) + jax.nn.sigmoid(c) * d


def pendulums(angle, speed):
    def body(_, state):
        angle, speed = state
        speed = speed - 0.01 * jnp.sin(angle)
        return angle + 0.01 * speed, speed

    return lax.fori_loop(0, 100, body, (angle, speed))


def perceptron(x, first, second):
    return jax.nn.gelu(x @ first) @ second


def of_bytes(x, weights, scale):
    sums = lax.dot(x.astype("int32"), weights.astype("int32"))
    return jax.nn.relu(sums.astype("float32") * scale)


PROGRAMS = {
    "resize_bilinear": (resized("bilinear", 2, 128, 128, 32), f32(2, 64, 64, 32)),
    "resize_cubic_gradient": (gradient_of(resized("cubic", 2, 96, 96, 16)), f32(2, 48, 48, 16)),
    "resize_smaller": (resized("bilinear", 4, 32, 32, 32), f32(4, 64, 64, 32)),
    "resize_nearest_gradient": (gradient_of(resized("nearest", 2, 128, 128, 32)),
                                f32(2, 64, 64, 32)),
    "filter_of_a_signal": (lambda x, taps: jnp.convolve(x, taps, mode="same"), f32(8000),
                           f32(129)),
    "filter_of_an_image": (lambda x, taps: jax.scipy.signal.convolve2d(x, taps, mode="same"),
                           f32(128, 128), f32(15, 15)),
    "similarity_of_images": (similarity, f32(2, 96, 96), f32(2, 96, 96)),
    "similarity_gradient": (jax.grad(similarity), f32(2, 96, 96), f32(2, 96, 96)),
    "sequences_that_end": (decoded, f32(32, 16), s32(32)),
    "stacks": (pushed, f32(64), s32(64)),
    "mixture_gradient": (gradient_of(mixture), f32(20000, 36)),
    "layer_of_20": (swish_layer, f32(20000, 32), f32(32, 20), f32(20)),
    "recurrence_gradient": (gradient_of(recurrence), f32(4, 256, 64, 16), f32(4, 256, 64, 16)),
    "gates_gradient": (gradient_of(gates), f32(512, 64), f32(64, 256)),
    "pendulums": (pendulums, f32(65536), f32(65536)),
    "buckets": (lambda keys, count: jnp.bincount(keys % count, length=64), s32(65536), s32()),
    "perceptron_bf16": (perceptron, of("bfloat16", 512, 256), of("bfloat16", 256, 1024),
                        of("bfloat16", 1024, 256)),
    "perceptron_gradient_bf16": (
        jax.grad(lambda *inputs: perceptron(*inputs).astype("float32").sum(), (1, 2)),
        of("bfloat16", 512, 256), of("bfloat16", 256, 1024), of("bfloat16", 1024, 256)),
    "layer_of_bytes": (of_bytes, of("int8", 256, 512), of("int8", 512, 512), f32(512)),
}

if __name__ == "__main__":
    write(__doc__, PROGRAMS)
