"""hone.jax.optimize: a function of JAX, compiled in a better way."""

import functools
import warnings

import jax

from hone import _core
from hone.jax import _module
from hone.jax._hone import HoneError, start_worker

OBJECTIVES = ("time", *_core.OBJECTIVES)
TRANSFORMS = ("grad", "vmap", "jit")

# What trying the plan in JAX takes: this of the budget, or so many seconds where that is less.
_TRYING_SHARE, _TRYING_SECONDS = 1 / 3, 10.0


class Optimized:
    """What `optimize` returns: called like the function it was made of.

    Arguments like the examples (shapes, dtypes, structure, static values) run what was tuned; others run
    the original, as jax.jit compiles it, and so does everything inside of a transformation that
    `transforms` does not name: gradients are those of the original.

    Attributes:
      original: jax.jit of the function.
      tuned: whether there is something better than the original.
      inner: (StableHLO, constants, positions kept of constants and arguments) of a program that may stand
        for it within another; None where tuning came to none.
      report: dict: `kept` ("tuned" or "original") and `reason`; as far as it came, `how`, `rejected`,
        `left_out` (what of the plan JAX does not take, and why), `speedup`, `speedup_ci`, `original_ms`,
        `tuned_ms`, and `search`, the answer of `hone tune --json`, which has the plan, also where nothing
        of it is kept; with `transforms` and `shapes`, the same of each program that was
        tuned for one.
    """

    def __init__(self, fun, original, compiled, static, report):
        self.original = original
        self.report = report
        self.tuned = compiled is not None
        self.inner = None
        self._compiled = compiled
        self._static = static
        self._warned = False
        self._transformed = self._shapes = None
        functools.update_wrapper(self, fun)

    def __call__(self, *arguments, **named):
        if self._shapes is not None:
            return self._of_any_shape(arguments, named)
        if self._compiled is None:
            return self.original(*arguments, **named)
        if not self._static:
            try:
                return self._compiled(*arguments, **named)
            except TypeError as error:  # raised before anything runs or is donated
                return self._without(error, arguments, named)
        positions, values = self._static
        if len(arguments) <= max(positions) or \
                any(arguments[p] != value for p, value in zip(positions, values)):
            return self._without("a static argument has another value", arguments, named, like=False)
        try:
            return self._compiled(
                *(a for p, a in enumerate(arguments) if p not in positions), **named)
        except TypeError as error:
            return self._without(error, arguments, named)

    def transform(self, traced, module, examples, names, options):
        """Has transformations stay tuned."""
        from hone.jax import _transforms

        if self._compiled is None:  # which knows that it is traced
            self._compiled = module.compiled
        examples = _dynamic(examples, self._static)
        half = f"{_core.parse_duration(str(options['budget'])) / 2}s"

        def tune(function, arrays, whole):
            return optimize(function, *arrays, **{**options, **({} if whole else {"budget": half})})

        settings = _transforms.Settings(names, tune, lambda message: _warn_of(message, 6))
        self.report["transforms"] = settings.reports
        self._transformed = _transforms.Transformed(traced, self, self._compiled, examples, settings)

    def take_all_shapes(self, module, examples, options):
        """Has other arguments than the examples' tuned, too."""
        from hone.jax import _shapes

        reports, name = [], getattr(self, "__name__", "the function")
        self.report["shapes"] = reports
        self._shapes = _shapes.Shapes(self.original, self._static[0] if self._static else (), options,
                                      lambda message: _warn_of(f"{name} {message}", 6), reports)
        self._shapes.add(examples, {}, self._compiled)

    def wait(self, seconds=None):
        """Until all shapes that it was called with are tuned (`shapes="all"`), or so long. Whether they are."""
        return self._shapes is None or self._shapes.wait(seconds)

    def lower(self, *arguments, **named):
        return self.original.lower(*arguments, **named)

    def _of_any_shape(self, arguments, named):
        run = self._shapes.run_for(arguments, named)
        if run is None:
            return self._without("", arguments, named, like=False)
        try:
            return run(*self._shapes.dynamic(arguments), **named)
        except TypeError as error:
            return self._without(error, arguments, named, like=run is self._compiled)

    def _without(self, why, arguments, named, like=True):
        traced = any(isinstance(leaf, jax.core.Tracer)
                     for leaf in jax.tree_util.tree_leaves((arguments, named)))
        if traced:
            if self._transformed is not None and like:
                like_examples, results = self._transformed.call(_dynamic(arguments, self._static), named)
                if like_examples:
                    return results
            # By the function itself: what a transformation keeps must not be donated.
            return self.__wrapped__(*arguments, **named)
        if why and not self._warned:
            self._warned = True
            _warn(self, 4, f"runs as JAX compiles it: {str(why).partition(chr(10))[0]}")
        return self.original(*arguments, **named)


def optimize(fun, *example_args, objective="time", budget="60s", store=None, static_argnums=None,
             donate_argnums=None, plan=None, seed=1, verbose=False, transforms=(),
             shapes="examples"):
    """A function that computes the same as `fun`, compiled in a better way where hone finds one.

    The example arguments are what `fun` is specialised and measured for: arrays, pytrees of them,
    numbers; they are left as they are, also donated ones. Every result is checked here, on them: outputs
    equal within rounding, faster than jax.jit(fun) with the whole 95 % interval of a paired measurement.
    Otherwise the original is returned, with a warning that names the reason.

    Args:
      fun: a function that JAX can trace. A jitted one keeps its options.
      *example_args: as `fun` is called; values of static arguments too.
      objective: `time`, or `op_count`, `flops`, `bytes` or `peak_memory`, for which the search looks; what
        comes of it still has to be faster.
      budget: a duration such as "30s" or "2m": for the search, and for trying in JAX what it found (a third,
        10 s at most).
      store: a file that `hone tune --store` keeps; None for none.
      static_argnums, donate_argnums: as in jax.jit, for a function that isn't jitted.
      plan: a file for the plan that is found, for `hone apply` and `hone bench`; None for none.
      seed: of the search and of the comparison.
      verbose: show hone's progress.
      transforms: of "grad", "vmap" and "jit", those that are to stay tuned: a gradient (its forward and its
        backward program), the function over a batch, the function as a part of a jitted one. Each program is
        tuned when it is first asked for, which takes the budget (half of it each for a gradient's two); what
        is not, and all that is transformed further, is JAX's own. `report["transforms"]` says what came of it.
      shapes: "examples", or "all": arguments of other shapes or dtypes are tuned, too, when they first come, by a
        process in the background, with the same budget for each kind of them, one after another; until then
        and where nothing is found JAX's own answers. `report["shapes"]` says what came of it.

    Raises:
      ValueError: an argument of this function is wrong.
      Whatever `fun` raises while it is traced.
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective {objective!r}: give one of {', '.join(OBJECTIVES)}")
    if plan is not None and objective != "time":
        raise ValueError("plan: only a search for time finds one; leave it away, or the objective")
    if not callable(fun):
        raise ValueError(f"{fun!r} is no function")
    if shapes not in ("examples", "all"):
        raise ValueError(f"shapes {shapes!r}: give examples or all")
    transforms = (transforms,) if isinstance(transforms, str) else tuple(transforms)
    if wrong := [name for name in transforms if name not in TRANSFORMS]:
        raise ValueError(f"transforms: {wrong[0]!r}: give some of {', '.join(TRANSFORMS)}")
    jitted = hasattr(fun, "lower") and hasattr(fun, "trace")
    if jitted and (static_argnums is not None or donate_argnums is not None):
        raise ValueError("static_argnums and donate_argnums: a jitted function has its own; give the "
                         "function that was jitted, or leave them away")
    if isinstance(fun, Optimized):
        fun, jitted = fun.original, True
    original = fun if jitted else jax.jit(
        fun, static_argnums=static_argnums, donate_argnums=donate_argnums)
    traced = original.trace(*example_args)
    static = _static_values(original, traced, example_args, static_argnums)
    search = {}  # what is found is told whatever becomes of it
    options = {"objective": objective, "store": store and str(store), "seed": seed}
    compiled = inner = None
    try:
        worker = start_worker() if objective == "time" else None
        module = _module.module_of(traced.lower(), _dynamic(example_args, static))
        verdict = _module.find(module.stablehlo, module.hlo, module.inputs, search, name=module.name,
                               seconds=_seconds_of_search(budget), plan=plan, show=verbose, worker=worker,
                               **options)
        report = _module.report_of(verdict, search)
        if verdict.kept:
            compiled = module.compile(verdict.tuned)
            inner = (verdict.inner, module.constants, module.kept) if verdict.inner else None
    except (HoneError, ValueError, RuntimeError, OSError) as error:
        report = _module.failed(error, search)
        optimized = Optimized(fun, original, None, static, report)
        _warn(optimized, 3, f"stays as JAX compiles it: {report['reason']}")
        return optimized
    optimized = Optimized(fun, original, compiled, static, report)
    optimized.inner = inner
    if compiled is None:
        _warn(optimized, 3, f"stays as JAX compiles it: {verdict.reason}")
    if transforms:
        optimized.transform(traced, module, example_args, transforms,
                            {**options, "budget": budget, "verbose": verbose})
    if shapes == "all":
        optimized.take_all_shapes(module, example_args,
                                  {**options, "seconds": _seconds_of_search(budget)})
    return optimized


def _seconds_of_search(budget):
    """What of the budget the search may take."""
    seconds = _core.parse_duration(str(budget))
    return seconds - min(_TRYING_SHARE * seconds, _TRYING_SECONDS)


def _dynamic(arguments, static):
    """Those that are not static."""
    return tuple(a for p, a in enumerate(arguments) if p not in static[0]) if static else tuple(arguments)


def _static_values(original, traced, example_args, static_argnums):
    """([position], [value]) or None. Of a jitted function: the positions that its trace left out."""
    if static_argnums is None:
        info = getattr(original, "_jit_info", None)
        static_argnums = getattr(info, "static_argnums", ()) or ()
    given = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    count = len(example_args)  # one that is not given has its default
    positions = sorted({p % count for p in given if -count <= p < count})
    return (positions, [example_args[p] for p in positions]) if positions else None


def _warn(optimized, level, message):
    _warn_of(f"{getattr(optimized, '__name__', 'the function')} {message}", level + 1)


def _warn_of(message, level):
    warnings.warn(f"hone.jax: {message}", stacklevel=level)
