"""What `hone with tuned.db -- python train.py` does in the script: tuned modules take the place of
those that the store knows; all others are compiled as they are."""

import atexit
import sys
import warnings


class Replacer:
    """Knows tuned modules by name and key (`_compile.Watcher`)."""

    def __init__(self, known):
        from hone.jax import _compile

        self._known = {key: _compile.Tuned(body, flags, name, kernels)
                       for key, (name, body, flags, kernels) in known.items()}
        # Most modules are told apart by their names, which costs nothing.
        self._names = {tuned.name for tuned in self._known.values()}
        self.replaced = []

    def before(self, module, options):
        from hone.jax import _compile

        name = _compile.name_of(module)
        if name not in self._names:
            return None
        tuned = self._known.get(_compile.key_of(module, options))
        if tuned is not None:
            self.replaced.append(name)
        return tuned

    def after(self, module, executable, options):
        pass


def install(store):
    """Replaces from now on. Returns the Replacer; None where the store knows nothing for this JAX."""
    from hone.jax import _compile, _shelf

    known = _shelf.load(store, _compile.versions())
    if not known:
        warnings.warn(f"hone: {store} has no tuned module for {_compile.versions()} on this machine; "
                      "the script runs as it is", stacklevel=2)
        return None
    replacer = Replacer(known)
    _compile.watch(replacer)
    atexit.register(lambda: print(
        f"hone: put in {len(replacer.replaced)} of {len(known)} tuned modules"
        + "".join(f", {name}" for name in replacer.replaced), file=sys.stderr))
    return replacer
