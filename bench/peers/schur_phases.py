"""Complex Schur forms by this machine's LAPACK against JAX's: equal but for a factor of size 1 for each vector.

Run by .venv-jax/bin/python. LAPACK leaves these phases open (zgees); JAX calls SciPy's own build of it.
"""

import ctypes

import jax
import jax.scipy.linalg
import numpy as np

jax.config.update("jax_enable_x64", True)
N = 12


def zgees(library, a):
    """Form and vectors, called as hone's handler does."""
    form = np.asfortranarray(a)
    vectors = np.zeros((N, N), complex, order="F")
    values, work = np.zeros(N, complex), np.zeros(64 * N, complex)
    real_work, marks = np.zeros(N), np.zeros(N, np.int32)

    def number(value):
        return ctypes.byref(ctypes.c_int(value))

    def data(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    info = ctypes.c_int()
    library.zgees_(b"V", b"N", None, number(N), data(form), number(N), number(0), data(values),
                   data(vectors), number(N), data(work), number(len(work)), data(real_work),
                   data(marks), ctypes.byref(info), ctypes.c_size_t(1), ctypes.c_size_t(1))
    assert info.value == 0
    return form, vectors


def main():
    library = ctypes.CDLL("liblapack.so.3")
    rng = np.random.default_rng(1)
    print("| matrix | vectors differ by | phases' sizes | vectors, phases taken out | form, likewise | A = ZTZ* |")
    print("|---|---|---|---|---|---|")
    for k in range(5):
        a = rng.normal(size=(N, N)) + 1j * rng.normal(size=(N, N))
        form, vectors = zgees(library, a)
        of_jax, vectors_of_jax = map(np.asarray, jax.scipy.linalg.schur(a, output="complex"))
        phases = np.sum(vectors.conj() * vectors_of_jax, axis=0)
        turned = np.diag(phases)
        figures = [abs(vectors - vectors_of_jax).max(), abs(abs(phases) - 1).max(),
                   abs(vectors @ turned - vectors_of_jax).max(),
                   abs(turned.conj() @ form @ turned - of_jax).max(),
                   abs(vectors @ form @ vectors.conj().T - a).max()]
        print(f"| {k} | {figures[0]:.2g} | 1 ± {figures[1]:.1g} | " +
              " | ".join(f"{figure:.1g}" for figure in figures[2:]) + " |")


if __name__ == "__main__":
    main()
