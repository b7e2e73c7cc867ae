"""A lowered function as hone takes it, and the search for a better way to compile it."""

import dataclasses
import tempfile

import jax

from hone.jax import _compile, _improve, trial

_LEAST_PATIENCE = 20.0  # seconds that a program has to be compiled and to end, where hone saw no end of it
_LAST_RACE_SECONDS = 5.0


@dataclasses.dataclass(frozen=True)
class Module:
    """A lowered function with arguments.

    Attributes:
      stablehlo, hlo: bytes; from before it was compiled.
      compiled: by JAX, as it is.
      constants: arrays that the function holds, its first parameters.
      kept: positions of constants and arguments that are parameters.
      inputs: a jax.Array for each parameter.
    """

    lowered: jax.stages.Lowered
    name: str
    stablehlo: bytes
    hlo: bytes
    compiled: jax.stages.Compiled
    constants: tuple
    kept: frozenset
    inputs: list

    def compile(self, tuned):
        """A jax.stages.Compiled of it by a _compile.Tuned."""
        with _compile.forced(tuned, self.stablehlo):
            # An option, at its default: what is compiled with options, JAX doesn't take from its memory.
            return self.lowered.compile(compiler_options={"xla_embed_ir_in_executable": False})


def module_of(lowered, arguments):
    """Of a lowered function and those arguments that are not static: (arguments, named).

    Raises:
      ValueError: it is not for one CPU device, has side effects, or is not of jax.jit.
    """
    if not isinstance(lowered, jax.stages.Lowered):
        raise ValueError(f"{type(lowered).__module__} lowers it in a way of its own; give the function of arrays "
                         "in it, or tune the script: hone record")
    devices = {device for device in jax.tree_util.tree_leaves(lowered._lowering.compile_args.get(
        "device_assignment", ())) if hasattr(device, "platform")}
    if len(devices) > 1 or any(device.platform != "cpu" for device in devices):
        raise ValueError("it is not for one CPU device; hone.jax tunes for that")
    module = lowered.compiler_ir("stablehlo")
    stablehlo, name = _compile.bytecode_of(module), _compile.name_of(module)
    hlo = _compile.hlo_of(module)
    compiled = lowered.compile()
    _, constants, kept, put = _compile.executable_of(compiled)
    flat = [*constants, *jax.tree_util.tree_leaves(arguments)]
    inputs = put([leaf for position, leaf in enumerate(flat) if position in kept])
    first = jax.devices("cpu")[0]  # on which everything is tried; it may be for another
    inputs = [jax.device_put(array, first) for array in inputs]
    return Module(lowered, name, stablehlo, hlo, compiled, tuple(constants), frozenset(kept), inputs)


def find(stablehlo, hlo, inputs, answer, *, name, objective="time", seconds, trying=float("inf"), store=None,
         plan=None, seed=1, show=False, worker=None):
    """The _improve.Verdict on the best way that hone finds in so many seconds, and by trying it in JAX for so many.
    `answer` is filled with what hone's search says."""
    options = {"name": name, "seconds": seconds, "seed": seed, "show": show}
    if objective == "time":
        found, said = _improve.tune(hlo, inputs=_improve.bytes_of(inputs), worker=worker, store=store,
                                    plan=plan, **options)
    else:
        found, said = _improve.shrink(hlo, objective=objective, **options)
    answer.update(said)
    others = [other["plan"] for other in answer.get("others", ())]
    with tempfile.TemporaryDirectory(prefix="hone-") as folder:
        # What no worker came to the end of is not run in the caller's process before another did.
        if objective == "time" and answer.get("stock_ms", 0) is None:
            patience = max(_LEAST_PATIENCE, 2 * seconds)
            if why := trial.why_not_within(patience, stablehlo, _compile.Tuned(), inputs, folder):
                return _improve.Verdict(False, f"compiled and run on its examples: {why}")
        verdict = _improve.improve(stablehlo, hlo, found, inputs, others=others,
                                   implementations=objective == "time", trying=trying,
                                   seconds=min(_LAST_RACE_SECONDS, trying), seed=seed, folder=folder, name=name)
    if not verdict.kept and answer.get("kept") == "stock":
        return _improve.Verdict(False, answer.get("reason") or "nothing better was found")
    return verdict


def report_of(verdict, answer):
    """`Optimized.report`."""
    report = {"kept": "tuned" if verdict.kept else "original", "reason": verdict.reason,
              "how": verdict.how, "rejected": list(verdict.rejected),
              "left_out": list(verdict.left_out), "search": answer}
    if verdict.race is not None:
        report.update(speedup=verdict.race.speedup,
                      speedup_ci=[verdict.race.low, verdict.race.high], pairs=verdict.race.pairs,
                      original_ms=1000 * verdict.race.stock_seconds,
                      tuned_ms=1000 * verdict.race.tuned_seconds)
    return report


def failed(error, answer):
    """Likewise, where an error ended it."""
    return {"kept": "original", "reason": first_line(error), **({"search": answer} if answer else {})}


def first_line(error):
    return str(error).strip().partition("\n")[0][:300]
