"""The arguments that a function was tuned for: which of them are static, and how else they may be given."""

import inspect
import operator


class Form:
    """How the examples were given: so many by position, the others by name.

    Attributes:
      has_static: whether any of them is static.
    """

    def __init__(self, fun, original, arguments, named, static_argnums=None, static_argnames=None):
        info = getattr(original, "_jit_info", None)  # of jax.jit: names and numbers, told from each other
        numbers = getattr(info, "static_argnums", None) or static_argnums or ()
        names = getattr(info, "static_argnames", None) or static_argnames or ()
        numbers = (numbers,) if isinstance(numbers, int) else numbers
        names = (names,) if isinstance(names, str) else names
        self._count = len(arguments)  # one that is not given has its default
        self._positions = tuple(sorted({p % self._count for p in numbers if -self._count <= p < self._count}))
        self._names = tuple(sorted(set(names) & set(named)))
        self._given = frozenset(named)
        self.has_static = bool(self._positions or self._names)
        kept = [p for p in range(self._count) if p not in self._positions]
        # Of so many arguments; this is on the way of every call.
        self._kept = operator.itemgetter(*kept) if len(kept) > 1 else lambda all_: tuple(all_[p] for p in kept)
        self._values = self.static(arguments, named)
        try:
            self._signature = inspect.signature(fun)
        except (TypeError, ValueError):
            self._signature = None

    def dynamic(self, arguments, named):
        """Those that are not static: (arguments, named)."""
        if len(arguments) == self._count:
            arguments = self._kept(arguments)
        else:
            arguments = tuple(a for p, a in enumerate(arguments) if p not in self._positions)
        if self._names:
            named = {name: a for name, a in named.items() if name not in self._names}
        return arguments, named

    def static(self, arguments, named):
        """The values of those that are."""
        return (tuple(arguments[p] for p in self._positions if p < len(arguments)),
                tuple(named.get(name) for name in self._names))

    def same_static(self, arguments, named):
        """Whether static ones have the examples' values."""
        return len(arguments) == self._count and self.static(arguments, named) == self._values

    def as_examples(self, arguments, named):
        """(arguments, named) as the examples were given, by position and by name; None where that is how they
        are given, or cannot be told."""
        if len(arguments) == self._count and named.keys() == self._given:
            return None
        try:
            given = self._signature.bind(*arguments, **named).arguments
            kinds = [(one, one.kind) for one in self._signature.parameters.values()]
        except (AttributeError, TypeError):
            return None
        if any(kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) for _, kind in kinds):
            return None
        by_position, by_name = [], {}
        for number, (one, kind) in enumerate(kinds):
            if number < self._count and kind is not inspect.Parameter.KEYWORD_ONLY:
                if one.name not in given:
                    return None
                by_position.append(given[one.name])
            elif one.name in given:
                if one.name in self._given:
                    by_name[one.name] = given[one.name]
                elif given[one.name] is not one.default:
                    return None
        if len(by_position) == len(arguments) and by_name.keys() == named.keys():
            return None
        return tuple(by_position), by_name
