"""The bounds of kinds.py: bounds.cc compiled once for this machine, and products by numpy."""

import ctypes
import hashlib
import os
import pathlib
import subprocess
import tempfile

import numpy as np

# Sums may be made in any order, as XLA's may.
_SOURCE = pathlib.Path(__file__).with_name("bounds.cc")
_FLAGS = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]


def _library():
    name = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    path = pathlib.Path(tempfile.gettempdir()) / f"hone-bounds-{os.getuid()}-{name}.so"
    if not path.exists():
        made = path.with_suffix(f".{os.getpid()}")
        subprocess.run(["g++", *_FLAGS, str(_SOURCE), "-o", str(made)], check=True)
        os.replace(made, path)
    return ctypes.CDLL(str(path))


_loaded = None


def _call(name, shape, *arguments):
    """Calls NAME_DTYPE of bounds.cc; the last argument is its result, of that shape."""
    global _loaded
    _loaded = _loaded or _library()
    dtype = next(a.dtype for a in arguments if isinstance(a, np.ndarray))
    out = np.empty(shape, dtype)
    given = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int64(a)
             for a in (*arguments, out)]
    getattr(_loaded, f"{name}_{dtype}")(*given)
    return out


def compartments(currents, count):
    return _call("compartments", currents.shape, currents, len(currents), count)


def quadratic_program(matrix, q, low, high, steps):
    return _call("quadratic_program", q.shape, matrix, q, low, high, len(q), steps)


def small_carry(matrices):
    return _call("small_carry", len(matrices), matrices, len(matrices))


def scalar_leaves(start, steps):
    return _call("scalar_leaves", start.shape, start, len(start), steps)


def differential_equation(start, steps):
    return _call("differential_equation", 4, start, steps)


def hamiltonian(x, y, q, p, steps):
    return _call("hamiltonian", q.shape, x, y, *x.shape, q, p, steps)


def orbits(mass, place, speed, steps):
    return _call("orbits", (steps, 3), mass, place, speed, len(mass), steps)


def until_near(start, steps):
    return _call("until_near", 3, start, steps)


def small_updates(start):
    return _call("small_updates", start.shape, start, len(start))


def sliced_reduction(x):
    return _call("sliced_reduction", (), x, len(x))


def outer_reduce(a, b, w):
    return _call("outer_reduce", a.shape, a, b, w, len(a))


def thin_dot(x, m):
    return _call("thin_dot", x.shape, x, m, len(x))


def depthwise_convolution(x, kernel):
    batch, size, _, channels = x.shape
    return _call("depthwise_convolution", x.shape, x, kernel, batch, size, channels)


def transposed_convolution(x, kernel):
    """One product with the kernel, its results added where they belong: stride 2, SAME."""
    batch, size, _, inputs = x.shape
    k, _, _, outputs = kernel.shape
    spread = (x.reshape(-1, inputs) @ kernel[::-1, ::-1].transpose(2, 0, 1, 3).reshape(inputs, -1))
    spread = spread.reshape(batch, size, size, k, k, outputs)
    out = np.zeros((batch, 2 * size + k - 2, 2 * size + k - 2, outputs), x.dtype)
    for i in range(k):
        for j in range(k):
            out[:, i:i + 2 * size:2, j:j + 2 * size:2] += spread[:, :, :, i, j]
    return out[:, 1:-1, 1:-1]


def three_products(x, kernel):
    """What a transposed convolution and its two gradients multiply, without moving results about."""
    inputs, outputs = kernel.shape[2:]
    flat = x.reshape(-1, inputs)
    weights = kernel.transpose(2, 0, 1, 3).reshape(inputs, -1)
    spread = flat @ weights
    return spread @ weights.T, flat.T @ spread
