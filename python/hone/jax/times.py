"""How long the runs of each compiled module take, in any JAX since 0.5: for `hone.jax.blame`.

It runs in environments that have other versions of everything, so it imports nothing of hone.
"""

import atexit
import functools
import json
import os
import time

_MOST = 400  # runs that are kept, of a module


def install(file):
    """From now on, written to `file` in the end. Takes JAX's fast path away, as hone record does."""
    import jax
    from jax._src import pjit
    from jax._src.interpreters import pxla

    made = []  # [name, seconds of the runs], in the order of compilation
    rows = {}  # id of an executable to its row; `made` keeps nothing alive, so rows do
    alive = []
    pjit._get_fastpath_data = lambda *_, **__: None
    pxla.MeshExecutable.create_cpp_call = lambda *_: None
    constructed, called = pxla.ExecuteReplicated.__init__, pxla.ExecuteReplicated.__call__

    @functools.wraps(constructed)
    def construct(self, executable, *rest, **named):
        constructed(self, executable, *rest, **named)
        if id(executable) not in rows:
            row = rows[id(executable)] = [executable.hlo_modules()[0].name, []]
            made.append(row)
            alive.append(executable)

    @functools.wraps(called)
    def call(self, *arguments):
        jax.block_until_ready(arguments)
        start = time.perf_counter()
        results = called(self, *arguments)
        jax.block_until_ready(results)
        seconds = rows[id(self.xla_executable)][1]
        if len(seconds) < _MOST:
            seconds.append(time.perf_counter() - start)
        return results

    pxla.ExecuteReplicated.__init__, pxla.ExecuteReplicated.__call__ = construct, call

    def write():
        from jax import __version__
        import jaxlib.version

        with open(f"{file}.new", "w", encoding="utf-8") as out:
            json.dump({"jax": __version__, "jaxlib": jaxlib.version.__version__, "modules": made}, out)
        os.replace(f"{file}.new", file)

    atexit.register(write)
