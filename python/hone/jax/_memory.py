"""Memory that a run has freed is kept for the next one (docs/jax.md, "Memory")."""

import ctypes
import os

# mallopt(3), malloc.h of the GNU C library.
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8


def keep():
    """True where it is from now on; False with HONE_KEEP_MEMORY=0, settings of the user's own, or another C
    library. JAX has malloc find the memory of each run, and the GNU library gives what is large back to the
    system afterwards: then each page comes anew, zeroed, when it is next touched."""
    if os.environ.get("HONE_KEEP_MEMORY") == "0":
        return False
    if "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "") or any(
            name.startswith("MALLOC_") for name in os.environ):
        return False
    try:
        os.confstr("CS_GNU_LIBC_VERSION")
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, ValueError):
        return False
    settings = {_M_MMAP_MAX: 0, _M_TRIM_THRESHOLD: 2**31 - 1,
                # JAX's threads would have arenas of 64 MiB at most; what is larger is mapped anew.
                _M_ARENA_MAX: 1}
    return all([mallopt(*setting) == 1 for setting in settings.items()])
