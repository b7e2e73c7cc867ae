"""Writes programs/: what JAX makes of linear algebra, as HLO text. Run by .venv-jax/bin/python.

Each function once for each element type that it is for, on small matrices; a batch where it says so.
"""

import pathlib

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

jax.config.update("jax_enable_x64", True)
FOLDER = pathlib.Path(__file__).parent / "programs"
N = 12
REAL = ["float32", "float64"]
ALL = REAL + ["complex64", "complex128"]
SHORT = {"float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128"}


def positive(a):
    """A positive definite matrix out of any."""
    return a @ a.conj().T + a.shape[0] * jnp.eye(a.shape[0], dtype=a.dtype)


def real_sum(x):
    return jnp.sum(jnp.abs(x) ** 2)


def gradient(f):
    return jax.grad(lambda *arrays: jnp.real(f(*arrays)))


def svd_values_gradient(a):
    return gradient(lambda x: jnp.sum(jnp.linalg.svd(x, compute_uv=False) ** 1.5))(a)


def tridiagonal(a, b):
    d = jnp.diagonal(a) + 4
    du = jnp.concatenate([a[0, 1:], jnp.zeros(1, a.dtype)])
    dl = jnp.concatenate([jnp.zeros(1, a.dtype), a[1, 1:]])
    return jax.lax.linalg.tridiagonal_solve(dl, d, du, b)


# Name: function, shapes of its arguments, element types.
SQUARE, RIGHT, TALL, WIDE, BATCH = (N, N), (N, 3), (2 * N, N), (N, 2 * N), (4, N, N)
PROGRAMS = {
    "solve": (jnp.linalg.solve, [SQUARE, RIGHT], ALL),
    "solve_batch": (jax.vmap(jnp.linalg.solve), [BATCH, (4, N, 2)], REAL),
    "solve_grad": (gradient(lambda a, b: real_sum(jnp.linalg.solve(a, b))), [SQUARE, RIGHT], ALL),
    "inverse": (jnp.linalg.inv, [SQUARE], ALL),
    "slogdet": (jnp.linalg.slogdet, [SQUARE], ALL),
    "slogdet_grad": (gradient(lambda a: jnp.linalg.slogdet(a)[1]), [SQUARE], REAL),
    "lu": (jax.scipy.linalg.lu, [TALL], REAL),
    "triangular": (lambda a, b: jsl.solve_triangular(a + N * jnp.eye(N, dtype=a.dtype), b, lower=True),
                   [SQUARE, RIGHT], ALL),
    "triangular_batch": (jax.vmap(lambda a, b: jsl.solve_triangular(
        a + N * jnp.eye(N, dtype=a.dtype), b, trans=1)), [BATCH, (4, N, 2)], REAL),
    "cholesky": (jnp.linalg.cholesky, [SQUARE], ALL),
    "cholesky_of_product": (lambda a: jnp.linalg.cholesky(positive(a)), [SQUARE], ALL),
    "cholesky_grad": (gradient(lambda a: real_sum(jnp.linalg.cholesky(positive(a)))), [SQUARE], REAL),
    "cho_solve": (lambda a, b: jsl.cho_solve(jsl.cho_factor(positive(a)), b), [SQUARE, RIGHT], REAL),
    "qr": (jnp.linalg.qr, [TALL], ALL),
    "qr_complete": (lambda a: jnp.linalg.qr(a, mode="complete"), [TALL], REAL),
    "qr_grad": (gradient(lambda a: real_sum(jnp.linalg.qr(a)[1] + 1)), [TALL], REAL),
    "qr_pivots": (lambda a: jsl.qr(a, mode="economic", pivoting=True), [TALL], ALL),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), [TALL], ALL),
    "svd_full": (jnp.linalg.svd, [WIDE], REAL),
    "svd_values": (lambda a: jnp.linalg.svd(a, compute_uv=False), [BATCH], ALL),
    "svd_by_qr": (lambda a: jax.lax.linalg.svd(
        a, full_matrices=False, algorithm=jax.lax.linalg.SvdAlgorithm.QR), [TALL], ALL),
    "svd_grad": (svd_values_gradient, [TALL], REAL),
    "eigh": (jnp.linalg.eigh, [SQUARE], ALL),
    "eigh_values": (jnp.linalg.eigvalsh, [BATCH], ALL),
    "eigh_grad": (gradient(lambda a: jnp.sum(jnp.linalg.eigh(a)[0] ** 3)), [SQUARE], REAL),
    "eig": (jnp.linalg.eig, [SQUARE], ALL),
    "eig_values": (jnp.linalg.eigvals, [BATCH], REAL),
    "schur": (jsl.schur, [SQUARE], REAL),
    "schur_complex": (lambda a: jsl.schur(a, output="complex"), [SQUARE], ["complex64", "complex128"]),
    "hessenberg": (lambda a: jsl.hessenberg(a, calc_q=True), [SQUARE], ALL),
    "tridiagonal_form": (lambda a: jax.lax.linalg.tridiagonal(a + a.conj().T), [SQUARE], ALL),
    "tridiagonal_solve": (tridiagonal, [SQUARE, RIGHT], REAL),
    "lstsq": (lambda a, b: jnp.linalg.lstsq(a, b)[0], [TALL, (2 * N, 2)], REAL),
    "expm": (jsl.expm, [SQUARE], REAL),
    "expm_grad": (gradient(lambda a: real_sum(jsl.expm(a))), [(6, 6)], REAL),
    "pinv": (jnp.linalg.pinv, [TALL], REAL),
    "polar": (jsl.polar, [SQUARE], REAL),
    "rank_and_condition": (lambda a: (jnp.linalg.matrix_rank(a), jnp.linalg.cond(a)), [SQUARE], REAL),
}


def main():
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.hlo"):
        old.unlink()
    for name, (function, shapes, types) in PROGRAMS.items():
        for dtype in types:
            arguments = [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape in shapes]
            text = jax.jit(function).lower(*arguments).as_text("hlo")
            (FOLDER / f"{name}_{SHORT[dtype]}.hlo").write_text(text)


if __name__ == "__main__":
    main()
