"""What users of XLA:CPU have reported to be slow, as small JAX programs written anew.

A kind is a public thread: its symptom, sizes (the thread's own among them where it tells), a function
that makes a JAX program and its arguments of a size and an element type, and a bound: the same
computed by numpy, or by the loops of bounds.cc, on one thread.
"""

import dataclasses
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

KINDS = {}


@dataclasses.dataclass
class Kind:
    name: str
    thread: str  # REPOSITORY#NUMBER
    symptom: str
    sizes: tuple
    make: Callable[[int, Any], tuple]  # (size, dtype) -> (function, arguments, bound)
    dtypes: tuple = ("float32", "float64")


def kind(thread, symptom, sizes, **more):
    """Registers make(size, dtype, random) under the function's name. It returns the JAX function, its
    arguments (numpy), and the bound: a function without arguments, or None where there is none."""

    def register(make):
        KINDS[make.__name__] = Kind(make.__name__, thread, symptom, sizes, make, **more)
        return make

    return register


def normal(random, dtype, *shape):
    return random.standard_normal(shape).astype(dtype)


# Loops of small operations.


@kind("jax#26145", "compartments of a neuron in a scan, 5-10 times slower since 0.4.32", (200, 1000, 4000))
def compartments(steps, dtype, random, bounds):
    count = 16

    def step(state, current):
        v, m, h, n = state
        rate = lambda x, shift: 1 / (1 + jnp.exp(-(x - shift) / 9))
        m = m + 0.02 * (rate(v, -40) - m) * 12
        h = h + 0.02 * (1 - rate(v, -62) - h)
        n = n + 0.02 * (rate(v, -53) - n) * 2
        ionic = 1.2 * m**3 * h * (v - 50) + 0.36 * n**4 * (v + 77) + 0.003 * (v + 54)
        axial = jnp.concatenate([v[1:], v[-1:]]) + jnp.concatenate([v[:1], v[:-1]]) - 2 * v
        v = v + 0.02 * (-ionic + 0.5 * axial + current)
        return (v, m, h, n), v[0]

    def run(currents):
        state = (jnp.full(count, -65, dtype), *(jnp.full(count, 0.3, dtype) for _ in range(3)))
        return lax.scan(step, state, currents)

    currents = np.abs(normal(random, dtype, steps))
    return run, (currents,), lambda: bounds.compartments(currents, count)


@kind("jax#26021", "small quadratic programs of robotics, 2-3 times slower", (50, 200, 1000))
def quadratic_program(steps, dtype, random, bounds):
    n = 12
    a = normal(random, dtype, n, n)
    matrix = np.linalg.inv(a @ a.T + n * np.eye(n)).astype(dtype)
    q, low, high = normal(random, dtype, n), np.full(n, -0.1, dtype), np.full(n, 0.1, dtype)

    def run(matrix, q, low, high):
        def step(_, state):
            z, u = state
            x = matrix @ (z - u - q)
            z = jnp.clip(x + u, low, high)
            return z, u + x - z

        return lax.fori_loop(0, steps, step, (jnp.zeros_like(q), jnp.zeros_like(q)))

    return run, (matrix, q, low, high), lambda: bounds.quadratic_program(matrix, q, low, high, steps)


@kind("jax#36799", "a scan with a 3x3 carry, about 10 times slower", (100, 1000, 10000))
def small_carry(steps, dtype, random, bounds):
    matrices = (np.eye(3) + 0.01 * random.standard_normal((steps, 3, 3))).astype(dtype)

    def run(matrices):
        def step(carry, matrix):
            product = carry @ matrix
            return product / jnp.sqrt(jnp.sum(product * product)), product[0, 0]

        return lax.scan(step, jnp.eye(3, dtype=dtype), matrices)

    return run, (matrices,), lambda: bounds.small_carry(matrices)


@kind("jax#40150", "the gradient of a scan over 60 scalar leaves, 60 times slower", (100, 500, 2000))
def scalar_leaves(steps, dtype, random, bounds):
    leaves = 60
    start = normal(random, dtype, leaves)

    def run(start):
        def step(carry, _):
            moved = tuple(0.99 * x + 0.01 * jnp.tanh(y) for x, y in zip(carry, carry[1:] + carry[:1]))
            return moved, None

        def loss(start):
            last, _ = lax.scan(step, tuple(start[i] for i in range(leaves)), None, length=steps)
            return sum(x * x for x in last)

        return jax.value_and_grad(loss)(start)

    return run, (start,), lambda: bounds.scalar_leaves(start, steps)


@kind("diffrax#615", "a differential equation, 36 to 700 s", (100, 1000, 10000))
def differential_equation(steps, dtype, random, bounds):
    start = np.array([1.0, 0.5, 0.2, 0.1], dtype)

    def run(start):
        def slope(y):
            a, b, c, d = y[0], y[1], y[2], y[3]
            return jnp.stack([0.7 * a - a * b, a * b - 0.5 * b - b * c, b * c - 0.3 * c, 0.1 * (a - d)])

        def step(_, y):
            k1 = slope(y)
            k2 = slope(y + 0.005 * k1)
            k3 = slope(y + 0.005 * k2)
            k4 = slope(y + 0.01 * k3)
            return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        return lax.fori_loop(0, steps, step, start)

    return run, (start,), lambda: bounds.differential_equation(start, steps)


@kind("blackjax#746", "steps of Hamiltonian Monte Carlo, more than 2 times slower", (10, 50, 250))
def hamiltonian(steps, dtype, random, bounds):
    x, y = normal(random, dtype, 100, 4), (random.random(100) > 0.5).astype(dtype)
    q, p = normal(random, dtype, 4) * 0.1, normal(random, dtype, 4)

    def run(x, y, q, p):
        def energy(q):
            z = x @ q
            return jnp.sum(jnp.logaddexp(0, z) - y * z) + 0.5 * q @ q

        gradient = jax.grad(energy)

        def step(_, state):
            q, p = state
            p = p - 0.005 * gradient(q)
            q = q + 0.01 * p
            return q, p - 0.005 * gradient(q)

        return lax.fori_loop(0, steps, step, (q, p))

    return run, (x, y, q, p), lambda: bounds.hamiltonian(x, y, q, p, steps)


@kind("jnkepler#18", "orbits of a few bodies, about 5 times slower", (100, 1000, 5000))
def orbits(steps, dtype, random, bounds):
    bodies = 4
    mass = np.array([1, 1e-3, 5e-4, 1e-4], dtype)
    place = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [3, 0, 0.1]], dtype)
    speed = np.array([[0, 0, 0], [0, 1, 0], [-0.7, 0, 0], [0, 0.57, 0]], dtype)

    def run(mass, place, speed):
        def pull(place):
            apart = place[:, None] - place[None, :]
            square = jnp.sum(apart * apart, -1) + jnp.eye(bodies, dtype=dtype)
            return -jnp.sum(mass[None, :, None] * apart * (square**-1.5)[..., None], 1)

        def step(state, _):
            place, speed = state
            speed = speed + 0.005 * pull(place)
            place = place + 0.01 * speed
            speed = speed + 0.005 * pull(place)
            return (place, speed), place[1]

        return lax.scan(step, (place, speed), None, length=steps)

    return run, (mass, place, speed), lambda: bounds.orbits(mass, place, speed, steps)


@kind("jax#25190", "a while loop until it is near enough, 2 to 42 s", (1000, 10000, 100000))
def until_near(steps, dtype, random, bounds):
    start = np.array([0.5, 0.2, -0.3], dtype)

    def run(start):
        def go_on(state):
            k, x = state
            return (k < steps) & (jnp.max(jnp.abs(x)) < 10)

        def step(state):
            k, x = state
            x0, x1, x2 = x[0], x[1], x[2]
            return k + 1, jnp.stack([jnp.cos(x1) * 0.9, jnp.sin(x0 + x2), 0.5 * x0 - 0.2 * x2])

        return lax.while_loop(go_on, step, (0, start))

    return run, (start,), lambda: bounds.until_near(start, steps)


@kind("jax#40101", "a small update in a loop rewrites the whole buffer", (1000, 10000, 100000))
def small_updates(size, dtype, random, bounds):
    start = normal(random, dtype, size)

    def run(start):
        def step(i, buffer):
            return buffer.at[i].set(0.5 * buffer[i - 1] + 0.5 * buffer[i])

        return lax.fori_loop(1, size, step, start)

    return run, (start,), lambda: bounds.small_updates(start)


# Reductions.


@kind("jax#37465", "reductions refuse slices: 33.7 to 16.2 ms by a flag", (256, 1024, 3000))
def sliced_reduction(size, dtype, random, bounds):
    x = normal(random, dtype, size, size)

    def run(x):
        return jnp.sum((x[1:, 1:] - x[:-1, 1:]) ** 2) + jnp.sum((x[1:, 1:] - x[1:, :-1]) ** 2)

    return run, (x,), lambda: bounds.sliced_reduction(x)


@kind("xla#49131", "an outer product is made as a whole before it is reduced", (500, 2000, 6000))
def outer_reduce(size, dtype, random, bounds):
    a, b, w = (normal(random, dtype, size) for _ in range(3))

    def run(a, b, w):
        return jnp.sum(jnp.exp(-((a[:, None] - b[None, :]) ** 2)) * w[None, :], 1)

    return run, (a, b, w), lambda: bounds.outer_reduce(a, b, w)


@kind("jax#25187", "a sum over the leading axis, 6 to 100 times slower", (100, 1000, 4000))
def leading_sum(size, dtype, random, bounds):
    x = normal(random, dtype, size, 512)
    return lambda x: jnp.sum(x, 0), (x,), lambda: x.sum(0)


@kind("jax#28097", "a cumulative sum, 4 times slower than a loop", (512, 4096, 16384))
def cumulative_sum(size, dtype, random, bounds):
    x = normal(random, dtype, 256, size)
    return lambda x: jnp.cumsum(x, 1), (x,), lambda: np.cumsum(x, 1)


# Convolutions.


def convolution(x, kernel, **more):
    return lax.conv_general_dilated(x, kernel, dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)


@kind("jax#23783", "a transposed convolution, 17 runs where others make 2,211", (8, 16, 32))
def transposed_convolution(size, dtype, random, bounds):
    x, kernel = normal(random, dtype, 4, size, size, 32), normal(random, dtype, 4, 4, 32, 32)
    run = lambda x, kernel: lax.conv_transpose(x, kernel, (2, 2), "SAME",
                                               dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return run, (x, kernel), lambda: bounds.transposed_convolution(x, kernel)


@kind("jax#31662", "the gradient of a transposed convolution, more than 30 times slower", (8, 16, 32))
def transposed_convolution_gradient(size, dtype, random, bounds):
    x, kernel = normal(random, dtype, 4, size, size, 32), normal(random, dtype, 4, 4, 32, 32)

    def loss(x, kernel):
        y = lax.conv_transpose(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(y * y)

    return jax.grad(loss, (0, 1)), (x, kernel), lambda: bounds.three_products(x, kernel)


@kind("jax#23713", "a depthwise convolution, 1.7 to 3 times slower", (14, 28, 56))
def depthwise_convolution(size, dtype, random, bounds):
    x, kernel = normal(random, dtype, 4, size, size, 64), normal(random, dtype, 3, 3, 1, 64)
    run = lambda x, kernel: convolution(x, kernel, window_strides=(1, 1), padding="SAME",
                                        feature_group_count=64)
    return run, (x, kernel), lambda: bounds.depthwise_convolution(x, kernel)


# Orders.


@kind("jax#10434", "argsort, 5 to 20 times slower", (1000, 20000, 200000))
def argsort(size, dtype, random, bounds):
    x = normal(random, dtype, size)
    return jnp.argsort, (x,), lambda: np.argsort(x, kind="stable")


@kind("xla#25487", "top_k sorts everything", (1000, 20000, 200000))
def top_k(size, dtype, random, bounds):
    x = normal(random, dtype, 8, size)
    run = lambda x: lax.top_k(x, 10)
    return run, (x,), lambda: np.argpartition(x, -10, axis=1)


# Others.


@kind("jax#33004", "a thin dot is slower than a broadcast", (10000, 100000, 1000000))
def thin_dot(size, dtype, random, bounds):
    x, m = normal(random, dtype, size, 3), normal(random, dtype, 3, 3)
    return lambda x, m: x @ m, (x, m), lambda: bounds.thin_dot(x, m)


@kind("jax#25808", "fftn is slower", (16, 32, 64), dtypes=("float32", "float64"))
def fft(size, dtype, random, bounds):
    x = normal(random, dtype, size, size, size)
    return lambda x: jnp.abs(jnp.fft.fftn(x)), (x,), lambda: np.abs(np.fft.fftn(x))


@kind("xla#35719", "temporaries of an unrolled loop are all alive", (4, 8, 16))
def unrolled(count, dtype, random, bounds):
    x, w = normal(random, dtype, 256, 256), normal(random, dtype, 256, 256)

    def run(x, w):
        total = jnp.zeros((), dtype)
        for k in range(count):
            total += jnp.sum(jnp.sin(x * (k + 1)) @ w)
        return total

    def bound():
        return sum(float(np.sum(np.sin(x * (k + 1)) @ w)) for k in range(count))

    return run, (x, w), bound


@kind("xla#41173", "of rank above 8, compiling runs out of memory", (2, 3, 4))
def high_rank(size, dtype, random, bounds):
    x = normal(random, dtype, *([size] * 9))

    def run(x):
        y = jnp.transpose(x, (8, 0, 7, 1, 6, 2, 5, 3, 4))
        return jnp.tanh(y + x) * jnp.transpose(y, (4, 3, 2, 1, 0, 8, 7, 6, 5))

    def bound():
        y = np.ascontiguousarray(np.transpose(x, (8, 0, 7, 1, 6, 2, 5, 3, 4)))
        return np.tanh(y + x) * np.transpose(y, (4, 3, 2, 1, 0, 8, 7, 6, 5))

    return run, (x,), bound
