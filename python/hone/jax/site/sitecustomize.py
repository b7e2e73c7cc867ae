"""Put first in Python's path by `hone record` and `hone with`: once a script imports JAX, hone's hook is
installed. Nothing that goes wrong here reaches the script; the sitecustomize that this one hides is run.
"""


def _hide_and_run_the_other():
    import importlib.machinery
    import importlib.util
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    # Not importlib.util.find_spec, which finds this one.
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _install(job, argument, package):
    import sys
    import warnings

    if job == "times":  # in environments that are not hone's
        import runpy

        try:
            runpy.run_path(f"{package}/hone/jax/times.py")["install"](argument)
        except Exception as error:
            warnings.warn(f"hone: the runs cannot be timed: {error}", stacklevel=2)
        return
    sys.path.append(package)  # last: nothing of the script's is hidden
    try:
        from importlib import import_module

        from hone.stablehlo import require_jax

        require_jax(f"hone {job}")
        import_module({"record": "hone.jax.record", "with": "hone.jax.run"}[job]).install(argument)
    except Exception as error:
        warnings.warn(f"hone {job}: the script runs as it is: {error}", stacklevel=2)
    finally:
        if "hone" not in sys.modules:
            sys.path.remove(package)


def _wait_for_jax(job, argument, package):
    import importlib.abc
    import importlib.machinery
    import sys

    class Loader(importlib.abc.Loader):
        def __init__(self, loader):
            self._loader = loader

        def create_module(self, spec):
            return self._loader.create_module(spec)

        def exec_module(self, module):
            self._loader.exec_module(module)
            _install(job, argument, package)

        def __getattr__(self, name):
            return getattr(self._loader, name)

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            if name != "jax":
                return None
            sys.meta_path.remove(self)
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = Loader(spec.loader)
            return spec

    sys.meta_path.insert(0, Finder())


def _main():
    import os

    # "JOB\nARGUMENT\nFOLDER OF THE PACKAGE", set by src/jobs/python_script.cc
    job, argument, package = os.environ["HONE_JAX"].split("\n")
    _wait_for_jax(job, argument, package)


try:
    _main()
except Exception:  # not for this hone
    pass
try:
    _hide_and_run_the_other()
except ImportError:
    pass
