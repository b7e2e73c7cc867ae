"""Kernels of hone-loops in this process's XLA: what makes programs with custom calls `hone_loops` run.

hone writes them beside a program, FILE.kernels, for one kind of processor. libhone_kernels.so, which lies
beside the command hone, loads them and is what XLA calls.
"""

import contextlib
import ctypes
import functools
import pathlib
import threading

import jax

from hone import _core
from hone.jax._hone import HoneError, find_hone

_LIBRARY = "libhone_kernels.so"
_lock = threading.Lock()


def beside(program):
    """The kernels of a program that hone wrote; b"" where it calls none."""
    with contextlib.suppress(FileNotFoundError):
        return pathlib.Path(f"{program}.kernels").read_bytes()
    return b""


def add(kernels):
    """Programs that call these run from now on, as long as the process does. b"" is none.

    Raises:
      HoneError: the library is not there, the kernels are for another processor or none.
    """
    if not kernels:
        return
    message = ctypes.create_string_buffer(500)
    with _lock:
        if _library().hone_kernels_add(kernels, ctypes.c_size_t(len(kernels)), message,
                                       ctypes.c_size_t(len(message))):
            raise HoneError(message.value.decode(errors="replace"))


@functools.cache
def _library():
    path = pathlib.Path(find_hone()).resolve().parent / _LIBRARY
    try:
        library = ctypes.PyDLL(str(path))
    except OSError as error:
        raise HoneError(f"kernels of hone-loops need {path}: {error}") from error
    jax.ffi.register_ffi_target(_core.KERNEL_CALL, jax.ffi.pycapsule(library.hone_loops), platform="cpu")
    return library
