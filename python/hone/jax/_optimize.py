"""hone.jax.optimize: a function of JAX, compiled in a better way."""

import functools
import os
import types
import warnings

import jax

from hone import _core
from hone.jax import _module
from hone.jax._arguments import Form
from hone.jax._hone import HoneError, start_worker

OBJECTIVES = ("time", *_core.OBJECTIVES)
TRANSFORMS = ("grad", "vmap", "jit")
# What a compiled function says of arguments of other types, on another device, and under jax.disable_jit.
_REFUSED = (TypeError, ValueError)

# What of the budget the search leaves for trying in JAX what it found: this share, or so many seconds where that is
# less. Where something is found a small budget is exceeded, by itself at most, and by a large one's sixth.
_TRYING_SHARE, _TRYING_SECONDS = 1 / 3, 10.0
_TRYING_SHARE_OF_MUCH = 1 / 6


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

    def __init__(self, fun, original, compiled, form, report):
        self.original = original
        self.report = report
        self.tuned = compiled is not None
        self.inner = None
        self._compiled = compiled
        self._form = form  # _arguments.Form
        self._warned = False
        self._transformed = self._shapes = None
        functools.update_wrapper(self, fun)

    def __call__(self, *arguments, **named):
        if self._shapes is not None:
            return self._of_any_shape(arguments, named)
        if self._compiled is None:
            return self.original(*arguments, **named)
        if not self._form.has_static:
            try:
                return self._compiled(*arguments, **named)
            except _REFUSED as error:  # raised before anything runs or is donated
                return self._without(error, arguments, named)
        if not self._form.same_static(arguments, named):
            return self._without("a static argument has another value", arguments, named, like=False)
        dynamic, by_name = self._form.dynamic(arguments, named)
        try:
            return self._compiled(*dynamic, **by_name)
        except _REFUSED as error:
            return self._without(error, arguments, named)

    def transform(self, traced, module, examples, names, options):
        """Has transformations stay tuned. `examples` are (arguments, named) without static ones."""
        from hone.jax import _transforms

        if self._compiled is None:  # which knows that it is traced
            self._compiled = module.compiled
        half = f"{_core.parse_duration(str(options['budget'])) / 2}s"

        def tune(function, arrays, whole):
            return optimize(function, *arrays, **{**options, **({} if whole else {"budget": half})})

        settings = _transforms.Settings(names, tune, lambda message: _warn_of(message, 6))
        self.report["transforms"] = settings.reports
        self._transformed = _transforms.Transformed(traced, self, self._compiled, examples, settings)

    def take_all_shapes(self, examples, options):
        """Has other arguments than the examples', (arguments, named), tuned, too."""
        from hone.jax import _shapes

        reports, name = [], getattr(self, "__name__", "the function")
        self.report["shapes"] = reports
        self._shapes = _shapes.Shapes(self.original, self._form, options,
                                      lambda message: _warn_of(f"{name} {message}", 6), reports)
        self._shapes.add(*examples, self._compiled)

    def wait(self, seconds=None):
        """Until all shapes that it was called with are tuned (`shapes="all"`), or so long. Whether they are."""
        return self._shapes is None or self._shapes.wait(seconds)

    def lower(self, *arguments, **named):
        return self.original.lower(*arguments, **named)

    def _of_any_shape(self, arguments, named):
        run = self._shapes.run_for(arguments, named)
        if run is None:
            return self._without("", arguments, named, like=False)
        dynamic, by_name = self._form.dynamic(arguments, named)
        try:
            return run(*dynamic, **by_name)
        except _REFUSED as error:
            return self._without(error, arguments, named, like=run is self._compiled)

    def _without(self, why, arguments, named, like=True):
        if (given := self._form.as_examples(arguments, named)) is not None:
            return self(*given[0], **given[1])
        traced = any(isinstance(leaf, jax.core.Tracer)
                     for leaf in jax.tree_util.tree_leaves((arguments, named)))
        if traced:
            if self._transformed is not None and like:
                like_examples, results = self._transformed.call(*self._form.dynamic(arguments, named))
                if like_examples:
                    return results
            # By the function itself: what a transformation keeps must not be donated.
            return self.__wrapped__(*arguments, **named)
        if why and not self._warned:
            self._warned = True
            _warn(self, 4, f"runs as JAX compiles it: {str(why).partition(chr(10))[0]}")
        return self.original(*arguments, **named)


def optimize(fun, *example_args, example_kwargs=None, objective="time", budget="60s", store=None,
             static_argnums=None, static_argnames=None, donate_argnums=None, plan=None, seed=1,
             verbose=False, transforms=(), shapes="examples"):
    """A function that computes the same as `fun`, compiled in a better way where hone finds one.

    The example arguments are what `fun` is specialised and measured for: arrays, pytrees of them,
    numbers; they are left as they are, also donated ones. Every result is checked here, on them: outputs
    equal within rounding, faster than jax.jit(fun) with the whole 95 % interval of a paired measurement.
    Otherwise the original is returned, with a warning that names the reason.

    Args:
      fun: a function that JAX can trace. A jitted one keeps its options.
      *example_args: as `fun` is called; values of static arguments too.
      example_kwargs: a dict of those that are given by name.
      objective: `time`, or `op_count`, `flops`, `bytes` or `peak_memory`, for which the search looks; what
        comes of it still has to be faster.
      budget: a duration such as "30s" or "2m": for the search, and for trying in JAX what it found (a third,
        10 s at most).
      store: a file that `hone tune --store` keeps; None for none.
      static_argnums, static_argnames, donate_argnums: as in jax.jit, for a function that isn't jitted.
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
    try:
        budget_seconds = _core.parse_duration(str(budget))
    except ValueError as error:
        raise ValueError(f"budget: {error}") from None
    for name, path in (("plan", plan), ("store", store or None)):
        if path is not None:
            _check_file(name, path)
    if not callable(fun):
        raise ValueError(f"{fun!r} is no function")
    if shapes not in ("examples", "all"):
        raise ValueError(f"shapes {shapes!r}: give examples or all")
    transforms = (transforms,) if isinstance(transforms, str) else tuple(transforms)
    if wrong := [name for name in transforms if name not in TRANSFORMS]:
        raise ValueError(f"transforms: {wrong[0]!r}: give some of {', '.join(TRANSFORMS)}")
    named = dict(example_kwargs or {})
    leaves = jax.tree.leaves((example_args, named))
    if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        raise ValueError("example arguments: what a transformation traces has no values; call optimize outside of "
                         "jit, grad and vmap")
    if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves):
        raise ValueError("example arguments: a ShapeDtypeStruct has no values to measure and compare on; give arrays")
    # A method's attributes are those of the function, which lack the object.
    jitted = hasattr(fun, "lower") and hasattr(fun, "trace") and not isinstance(fun, types.MethodType)
    own = {"static_argnums": static_argnums, "static_argnames": static_argnames, "donate_argnums": donate_argnums}
    if jitted and any(one is not None for one in own.values()):
        raise ValueError("static_argnums, static_argnames and donate_argnums: a jitted function has its own; give "
                         "the function that was jitted, or leave them away")
    if isinstance(fun, Optimized):
        fun, jitted = fun.original, True
    original = fun if jitted else jax.jit(fun, **own)
    traced = original.trace(*example_args, **named)
    form = Form(fun, original, example_args, named, static_argnums, static_argnames)
    examples = form.dynamic(example_args, named)
    search = {}  # what is found is told whatever becomes of it
    options = {"objective": objective, "store": store and str(store), "seed": seed}
    compiled = inner = None
    try:
        times = {"seconds": _seconds_of_search(budget),
                 "trying": max(min(_TRYING_SECONDS, budget_seconds), _TRYING_SHARE_OF_MUCH * budget_seconds)}
        worker = start_worker() if objective == "time" else None
        module = _module.module_of(traced.lower(), examples)
        verdict = _module.find(module.stablehlo, module.hlo, module.inputs, search, name=module.name,
                               plan=plan, show=verbose, worker=worker, **times, **options)
        report = _module.report_of(verdict, search)
        if verdict.kept:
            compiled = module.compile(verdict.tuned)
            inner = (verdict.inner, module.constants, module.kept) if verdict.inner else None
    except (HoneError, ValueError, RuntimeError, OSError) as error:
        report = _module.failed(error, search)
        optimized = Optimized(fun, original, None, form, report)
        _warn(optimized, 3, f"stays as JAX compiles it: {report['reason']}")
        return optimized
    optimized = Optimized(fun, original, compiled, form, report)
    optimized.inner = inner
    if compiled is None:
        _warn(optimized, 3, f"stays as JAX compiles it: {verdict.reason}")
    if transforms:
        optimized.transform(traced, module, examples, transforms,
                            {**options, "budget": budget, "verbose": verbose})
    if shapes == "all":
        optimized.take_all_shapes((example_args, named), {**options, **times})
    return optimized


def _check_file(name, path):
    """Raises ValueError where no file can be written there: known before the budget is spent."""
    path = os.path.abspath(os.fspath(path))
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        raise ValueError(f"{name}: {path!r} is a folder; give a file in it")
    if not os.path.isdir(folder):
        raise ValueError(f"{name}: there is no folder {folder!r}; make it, or give a file elsewhere")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{name}: nothing can be written into {folder!r}; give a file elsewhere")


def _seconds_of_search(budget):
    """What of the budget the search may take."""
    seconds = _core.parse_duration(str(budget))
    return seconds - min(_TRYING_SHARE * seconds, _TRYING_SECONDS)


def _warn(optimized, level, message):
    _warn_of(f"{getattr(optimized, '__name__', 'the function')} {message}", level + 1)


def _warn_of(message, level):
    warnings.warn(f"hone.jax: {message}", stacklevel=level)
