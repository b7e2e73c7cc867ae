"""hone.jax.optimize: a function of JAX, compiled in a better way."""

import functools
import tempfile
import warnings

import jax

from hone import _core
from hone.jax import _compile, _improve
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
        of it is kept; with `transforms`, the same of each program that was tuned for one.
    """

    def __init__(self, fun, original, compiled, static, report):
        self.original = original
        self.report = report
        self.tuned = compiled is not None
        self.inner = None
        self._compiled = compiled
        self._static = static
        self._warned = False
        self._transformed = None
        functools.update_wrapper(self, fun)

    def __call__(self, *arguments, **named):
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

    def transform(self, traced, lowered, examples, names, options):
        """Has transformations stay tuned."""
        from hone.jax import _transforms

        if self._compiled is None:  # which knows that it is traced
            self._compiled = lowered.compile()
        positions = self._static[0] if self._static else ()
        examples = [a for p, a in enumerate(examples) if p not in positions]
        half = f"{_core.parse_duration(str(options['budget'])) / 2}s"

        def tune(function, arrays, whole):
            return optimize(function, *arrays, **{**options, **({} if whole else {"budget": half})})

        settings = _transforms.Settings(names, tune, lambda message: _warn_of(message, 6))
        self.report["transforms"] = settings.reports
        self._transformed = _transforms.Transformed(traced, self, self._compiled, examples, settings)

    def lower(self, *arguments, **named):
        return self.original.lower(*arguments, **named)

    def _without(self, why, arguments, named, like=True):
        traced = any(isinstance(leaf, jax.core.Tracer)
                     for leaf in jax.tree_util.tree_leaves((arguments, named)))
        if traced:
            if self._transformed is not None and like:
                dynamic = arguments
                if self._static:
                    dynamic = tuple(a for p, a in enumerate(arguments) if p not in self._static[0])
                like_examples, results = self._transformed.call(dynamic, named)
                if like_examples:
                    return results
            # By the function itself: what a transformation keeps must not be donated.
            return self.__wrapped__(*arguments, **named)
        if not self._warned:
            self._warned = True
            _warn(self, 4, f"runs as JAX compiles it: {str(why).partition(chr(10))[0]}")
        return self.original(*arguments, **named)


def optimize(fun, *example_args, objective="time", budget="60s", store=None, static_argnums=None,
             donate_argnums=None, plan=None, seed=1, verbose=False, transforms=()):
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
    try:
        worker = start_worker() if objective == "time" else None
        lowered = traced.lower()
        verdict, compiled, inner = _search(lowered, example_args, static, search, worker=worker,
                                    objective=objective, budget=budget, store=store, plan=plan,
                                    seed=seed, show=verbose)
    except (HoneError, ValueError, RuntimeError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        report = {"kept": "original", "reason": reason, **({"search": search} if search else {})}
        optimized = Optimized(fun, original, None, static, report)
        _warn(optimized, 3, f"stays as JAX compiles it: {reason}")
        return optimized
    report = {"kept": "tuned" if compiled is not None else "original", "reason": verdict.reason,
              "how": verdict.how, "rejected": list(verdict.rejected),
              "left_out": list(verdict.left_out), "search": search}
    if verdict.race is not None:
        report.update(speedup=verdict.race.speedup,
                      speedup_ci=[verdict.race.low, verdict.race.high], pairs=verdict.race.pairs,
                      original_ms=1000 * verdict.race.stock_seconds,
                      tuned_ms=1000 * verdict.race.tuned_seconds)
    optimized = Optimized(fun, original, compiled, static, report)
    optimized.inner = inner
    if compiled is None:
        _warn(optimized, 3, f"stays as JAX compiles it: {verdict.reason}")
    if transforms:
        optimized.transform(traced, lowered, example_args, transforms, {
            "objective": objective, "budget": budget, "store": store, "seed": seed, "verbose": verbose})
    return optimized


def _seconds_of_search(budget):
    """What of the budget the search may take."""
    seconds = _core.parse_duration(str(budget))
    return seconds - min(_TRYING_SHARE * seconds, _TRYING_SECONDS)


def _search(lowered, example_args, static, search, *, worker, objective, budget, store, plan, seed,
            show):
    """(verdict, the tuned jax.stages.Compiled or None, `Optimized.inner`). `search` is filled with the answer
    of hone."""
    options = {"seconds": _seconds_of_search(budget), "seed": seed, "show": show}
    devices = {device for device in jax.tree_util.tree_leaves(lowered._lowering.compile_args.get(
        "device_assignment", ())) if hasattr(device, "platform")}
    if len(devices) > 1 or any(device.platform != "cpu" for device in devices):
        raise ValueError("it is not for one CPU device; hone.jax tunes for that")
    module = lowered.compiler_ir("stablehlo")
    stablehlo, name = _compile.bytecode_of(module), _compile.name_of(module)
    hlo = _compile.hlo_of(module)
    compiled = lowered.compile()
    _, constants, kept, put = _compile.executable_of(compiled)
    dynamic = [a for position, a in enumerate(example_args) if position not in (static or [[]])[0]]
    flat = [*constants, *jax.tree_util.tree_leaves(dynamic)]
    inputs = put([leaf for position, leaf in enumerate(flat) if position in kept])
    if objective == "time":
        found, answer = _improve.tune(hlo, name=name, worker=worker, store=store, plan=plan,
                                      **options)
    else:
        found, answer = _improve.shrink(hlo, name=name, objective=objective, **options)
    search.update(answer)
    others = [other["plan"] for other in search.get("others", ())]
    with tempfile.TemporaryDirectory(prefix="hone-") as folder:
        verdict = _improve.improve(stablehlo, hlo, found, inputs, others=others,
                                   implementations=objective == "time", seed=seed, folder=folder,
                                   name=name)
    if not verdict.kept and search.get("kept") == "stock":
        verdict = _improve.Verdict(False, search.get("reason") or "nothing better was found")
    if not verdict.kept:
        return verdict, None, None
    with _compile.forced(verdict.tuned, stablehlo):
        # An option, at its default: what is compiled with options, JAX doesn't take from its memory.
        tuned = lowered.compile(compiler_options={"xla_embed_ir_in_executable": False})
    return verdict, tuned, (verdict.inner, constants, kept) if verdict.inner else None


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
