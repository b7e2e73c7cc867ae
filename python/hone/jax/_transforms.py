"""Transformations of a tuned function that stay tuned: gradients, batches, and being part of another program.

A tuned executable cannot be traced. So where a transformation meets the function, a primitive of its own,
`hone_call`, stands for it: run on arrays it is the tuned executable, everywhere else what the plain function
is. Three of its rules are other programs, each tuned when it is first asked for:

- linearised for a gradient (`jax.grad`, `vjp`, `value_and_grad`): a forward program, which gives what the
  backward one needs too, and the backward one, which is called by `hone_linear` when that is transposed;
- batched (`jax.vmap`): the plain function over the batch as one program;
- lowered (`jax.jit`): the tuned program's StableHLO, where tuning came to one that says all of it (passes and
  implementations; not flags, nor decisions within the compiler).

Gradients of batches and batches of gradients are such programs too. Everything further (second derivatives,
forward mode, scans over it) is JAX's own of the plain function. The rules reach into JAX (0.10.2 to 0.10).
"""

import functools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import ad, batching, mlir
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func
from jax.extend import core

NAMES = ("grad", "vmap", "jit")
_MOST = 8  # programs that are tuned for one function's transformations

call_p = core.Primitive("hone_call")
linear_p = core.Primitive("hone_linear")
call_p.multiple_results = linear_p.multiple_results = True


class Settings:
    """What the programs of one function share.

    Attributes:
      names: of NAMES, what is asked for.
      tune: (function of arrays, examples, whether for the whole budget, not half) to an `Optimized` of it.
      tell: called with a message, once for each thing that is to be said.
      reports: of the programs tuned, dicts.
    """

    def __init__(self, names, tune, tell):
        self.names = frozenset(names)
        self.tune = tune
        self.reports = []
        self._tell, self._told = tell, set()

    def tell(self, message):
        if message not in self._told:
            self._told.add(message)
            self._tell(message)


class Program:
    """A function of arrays that stands for a tuned function, or is derived from one.

    Attributes:
      function: [array] to [array], in JAX's own way.
      examples: a function that gives arrays to tune it on.
      optimized: what came of tuning; None before, and where there is nothing tuned.
      avals, out_avals: what it takes and gives.
    """

    def __init__(self, name, function, avals, examples, settings, optimized=None, *, gradients=True,
                 batches=True):
        self.name = function.__name__ = name
        self.function, self.examples, self.settings = jax.jit(function), examples, settings
        self.avals = tuple(avals)
        self.out_avals = tuple(jax.make_jaxpr(function)(*self.avals).out_avals)
        self.optimized = optimized
        self._tried = optimized is not None
        self._gradients, self._batches = gradients, batches
        self._derived = {}

    def bind(self, *arrays):
        """[array]; of the tuned program where it is run or lowered, and of JAX's own elsewhere."""
        self._tune(arrays)
        return call_p.bind(*arrays, program=self)

    def _tune(self, arrays):
        if self._tried or _differentiated(arrays, batching.BatchTracer):
            return  # or another program is going to be asked for
        self._tried = True
        if len(self.settings.reports) >= _MOST:
            self.settings.tell(f"{self.name} stays as JAX compiles it: {_MOST} programs of its "
                               "transformations are tuned already")
            return
        try:
            with jax.ensure_compile_time_eval():
                given = self.examples() if any(isinstance(a, jax.core.Tracer) for a in arrays) else arrays
                self.optimized = self.settings.tune(self.function, given, self._gradients)
        except Exception as error:  # the plain function is still there
            self.settings.tell(f"{self.name} stays as JAX compiles it: {_first_line(error)}")
            return
        self.settings.reports.append({"program": self.name, **self.optimized.report})

    def gradient(self, active):
        """_Gradient by the arguments for which `active` has a True; None where JAX's own is to do."""
        if "grad" not in self.settings.names or not self._gradients:
            return None
        return self._once(("grad", active), lambda: _Gradient(self, active))

    def batched(self, size, mapped):
        """The program over batches of `size` of the arguments for which `mapped` has a True; None likewise."""
        if "vmap" not in self.settings.names or not self._batches:
            return None
        return self._once(("vmap", size, mapped), lambda: self._batch(size, mapped))

    def _once(self, key, make):
        if key not in self._derived:
            try:
                with jax.ensure_compile_time_eval():
                    self._derived[key] = make()
            except Exception as error:  # such as no gradient of a loop of unknown length
                self._derived[key] = None
                self.settings.tell(f"{self.name} has no {key[0]} that could be tuned: {_first_line(error)}")
        return self._derived[key]

    def _batch(self, size, mapped):
        over = jax.vmap(self.function, in_axes=[0 if one else None for one in mapped])

        def examples():
            return [jnp.stack([jnp.asarray(array)] * size) if one else array
                    for array, one in zip(self.examples(), mapped)]

        avals = [jax.ShapeDtypeStruct((size, *aval.shape), aval.dtype) if one else aval
                 for aval, one in zip(self.avals, mapped)]
        return Program(f"{self.name}, a batch of {size}", lambda *arrays: over(*arrays), avals, examples,
                       self.settings, gradients=self._gradients, batches=False)


class _Gradient:
    """The two programs of a gradient."""

    def __init__(self, program, active):
        self.active = active
        self.results = len(program.out_avals)
        self.floating = [np.issubdtype(aval.dtype, np.inexact) or aval.dtype == jnp.bfloat16
                         for aval in program.out_avals]
        tree = None

        def whole(*arrays):
            """All results, and what the backward program needs."""
            nonlocal tree

            def of(*chosen):
                chosen = iter(chosen)
                results = program.function(
                    *[next(chosen) if one else array for array, one in zip(arrays, active)])
                return ([r for r, one in zip(results, self.floating) if one],
                        [r for r, one in zip(results, self.floating) if not one])

            results, pull, others = jax.vjp(
                of, *[array for array, one in zip(arrays, active) if one], has_aux=True)
            residuals, tree = jax.tree.flatten(pull)
            results, others = iter(results), iter(others)
            return [*[next(results if one else others) for one in self.floating], *residuals]

        traced = jax.make_jaxpr(whole)(*program.avals)
        residuals = traced.jaxpr.outvars[self.results:]
        # What is an argument, or is there already, the forward program need not give.
        places = {id(variable): ("argument", i) for i, variable in enumerate(traced.jaxpr.invars)}
        self._sources, kept = [], list(range(self.results))
        for position, variable in enumerate(residuals, self.results):
            if id(variable) not in places:
                places[id(variable)] = ("result", len(kept))
                kept.append(position)
            self._sources.append(places[id(variable)])
        flat = core.jaxpr_as_fun(traced)

        def forward(*arrays):
            results = flat(*arrays)
            return [results[position] for position in kept]

        def backward(*arrays):
            pull = jax.tree.unflatten(tree, arrays[:len(residuals)])
            return list(pull(list(arrays[len(residuals):])))

        def examples():
            arrays = program.examples()
            results = self.forward.function(*arrays)
            return [*self.residuals(arrays, results),
                    *[jnp.ones(aval.shape, aval.dtype) for aval in self._floats]]

        self._floats = [aval for aval, one in zip(program.out_avals, self.floating) if one]
        named = {"settings": program.settings, "gradients": False}
        self.forward = Program(f"{program.name}, forward of its gradient", forward, program.avals,
                               program.examples, batches=program._batches, **named)
        self.backward = Program(
            f"{program.name}, backward of its gradient", backward,
            [*[variable.aval for variable in residuals], *self._floats], examples,
            batches=program._batches, **named)
        self.tangents = [aval for aval, one in zip(program.avals, active) if one]

    def residuals(self, arrays, results):
        return [(arrays if where == "argument" else results)[i] for where, i in self._sources]

    def tangent_avals(self, *_):
        return [jax.core.ShapedArray(aval.shape, aval.dtype) for aval in self._floats]


def _run(*arrays, program):
    return (program.optimized or program.function)(*arrays)


def _linearize(is_vjp, active, *primals, program):
    once = is_vjp and not _differentiated(primals)
    gradient = program.gradient(tuple(active)) if once else None
    if gradient is None:
        return ad.fallback_linearize_rule(call_p, is_vjp, active, *primals, program=program)
    results = gradient.forward.bind(*primals)

    def linearized(residuals, *tangents):
        given = [ad.instantiate_zeros(t) for t, one in zip(tangents, active) if one]
        made = iter(linear_p.bind(*residuals, *given, gradient=gradient))
        return [next(made) if one else _no_tangent(aval)
                for aval, one in zip(program.out_avals, gradient.floating)]

    return (results[:gradient.results], gradient.floating, gradient.residuals(primals, results), linearized)


def _transpose(cotangents, *operands, gradient):
    residuals = operands[:len(operands) - len(gradient.tangents)]
    given = [jnp.zeros(aval.shape, aval.dtype) if isinstance(one, ad.Zero) else one
             for one, aval in zip(cotangents, gradient.tangent_avals())]
    return [None] * len(residuals) + gradient.backward.bind(*residuals, *given)


def _forward_mode(primals, tangents, *, program):
    """Of the plain function."""
    active = [not isinstance(tangent, ad.Zero) for tangent in tangents]

    def of(*chosen):
        chosen = iter(chosen)
        return program.function(*[next(chosen) if one else p for p, one in zip(primals, active)])

    results, made = jax.jvp(of, [p for p, one in zip(primals, active) if one],
                            [t for t, one in zip(tangents, active) if one])
    return results, [_no_tangent(aval) if tangent.dtype == jax.dtypes.float0 else tangent
                     for aval, tangent in zip(program.out_avals, made)]


def _differentiated(arrays, *others):
    """Whether a derivative of what is done with them is being taken, too."""
    return any(isinstance(array, (ad.JVPTracer, ad.LinearizeTracer, *others)) for array in arrays)


def _no_tangent(aval):
    return ad.Zero(aval.to_tangent_aval())


def _batch(arrays, axes, *, program):
    mapped = tuple(axis is not None for axis in axes)
    size = next(array.shape[axis] for array, axis, one in zip(arrays, axes, mapped) if one)
    arrays = [batching.moveaxis(array, axis, 0) if one else array
              for array, axis, one in zip(arrays, axes, mapped)]
    batched = program.batched(size, mapped)
    if batched is None:
        results = jax.vmap(program.function, in_axes=[0 if one else None for one in mapped])(*arrays)
    else:
        results = batched.bind(*arrays)
    return results, [0] * len(results)


def _lower(context, *operands, program):
    """The tuned program within another one, where it is for a CPU and there is a text for it."""
    inner = program.optimized and program.optimized.inner
    wanted = "jit" in program.settings.names
    if wanted and not inner:
        program.settings.tell(f"{program.name} is as JAX compiles it within a jitted function: tuning came to "
                              "no program that may stand there")
    if not inner or not wanted:
        return mlir.lower_fun(program.function, multiple_results=True)(context, *operands)
    stablehlo, constants, kept = inner
    module = context.module_context.module
    given = [*[mlir.ir_constant(np.asarray(constant)) for constant in constants], *operands]
    source = ir.Module.parse(stablehlo)
    main = ir.SymbolTable(source.operation)["main"]
    results = ir.FunctionType(ir.TypeAttr(main.operation.attributes["function_type"]).value).results
    name = mlir.merge_mlir_modules(module, "hone_tuned", source)
    call = func.CallOp(list(results), ir.FlatSymbolRefAttr.get(name),
                       [given[position] for position in sorted(kept)])
    return call.results


call_p.def_impl(_run)
call_p.def_abstract_eval(lambda *_, program: list(program.out_avals))
linear_p.def_abstract_eval(lambda *_, gradient: gradient.tangent_avals())
ad.primitive_jvps[call_p] = _forward_mode
ad.primitive_linearizations[call_p] = _linearize
ad.primitive_transposes[linear_p] = _transpose
batching.primitive_batchers[call_p] = _batch
mlir.register_lowering(call_p, lambda context, *operands, program: mlir.lower_fun(
    program.function, multiple_results=True)(context, *operands))
mlir.register_lowering(call_p, _lower, platform="cpu")


def _first_line(error):
    return str(error).strip().partition("\n")[0][:300]


class _Primal:
    """The tuned function itself, as a function of arrays."""

    def __init__(self, tree, optimized, compiled):
        self._tree, self._compiled = tree, compiled
        self.inner = optimized.inner

    def __call__(self, *arrays):
        arguments, named = jax.tree.unflatten(self._tree, arrays)
        return jax.tree.leaves(self._compiled(*arguments, **named))


class Transformed:
    """A tuned function as transformations meet it."""

    def __init__(self, traced, optimized, compiled, examples, settings):
        self._tree, self._out = traced.in_tree, traced.out_tree
        leaves = jax.tree.leaves(examples)
        flat = core.jaxpr_as_fun(traced.jaxpr)
        self.settings = settings
        self.program = Program(
            getattr(optimized, "__name__", "the function"), lambda *arrays: flat(*arrays),
            [jax.core.ShapedArray(aval.shape, aval.dtype) for aval in traced.jaxpr.in_avals],
            lambda: leaves, settings, _Primal(traced.in_tree, optimized, compiled))
        self.program.out_avals = tuple(traced.jaxpr.out_avals)  # some are weak

    def call(self, arguments, named):
        """(whether these are arguments like the examples, what comes of them)."""
        leaves, tree = jax.tree.flatten((arguments, named))
        if tree != self._tree or any(
                (jnp.shape(leaf), jax.dtypes.result_type(leaf)) != (aval.shape, aval.dtype)
                for leaf, aval in zip(leaves, self.program.avals)):
            return False, None
        return True, jax.tree.unflatten(self._out, self.program.bind(*leaves))
