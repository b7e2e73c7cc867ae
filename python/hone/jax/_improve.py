"""From a tuned plan to a module that is surely faster in JAX.

hone tunes with the XLA that it comes with; JAX brings another. What was faster there need not be here,
so every way to have a plan in JAX is compiled by JAX, compared with what JAX makes of the function, and
raced against it in pairs. Where none is surely faster, JAX's own way is the result.
"""

import dataclasses
import json
import pathlib

from jax.extend.mlir import hlo_to_stablehlo

from hone.jax import _compile
from hone.jax._hone import HoneError, run_hone
from hone.jax._race import Race, Runner, compare, race
from hone.stablehlo import hlo_proto

_SHORT_SECONDS = 1.5
_NOT_SET_BY_MODULE = "xla_backend_extra_options."


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What came of a plan.

    Attributes:
      kept: whether it is faster, by the interval of `race`, and computes the same.
      reason: why not.
      how: what was kept: `passes` (the plan's passes, then JAX's own pipeline), `module` (the module
        that hone's compiler comes to) or `flags`.
      tuned: for _compile; of what was kept.
      race: against JAX's own; of what was kept, or else was nearest to it.
      rejected: "how: why" of the others.
    """

    kept: bool
    reason: str
    how: str = ""
    tuned: _compile.Tuned = _compile.Tuned()
    race: Race | None = None
    rejected: tuple = ()


def improve(stablehlo, hlo_file, plan, inputs, *, seconds=5.0, seed=1, name="", folder,
            say=lambda text: None):
    """The verdict on a plan of `hone tune --plan`, or on another program that computes the same.

    Args:
      stablehlo: the module as JAX lowered it.
      hlo_file: the same as HLO, which `hone` reads.
      plan: a dict; {"program": FILE} stands for a program to take the place of it.
      inputs: a jax.Array for each parameter.
      seconds: of the last race.
      folder: for files in between.
    """
    with _compile.module_of(stablehlo) as module:
        runner = Runner(inputs, _compile.donated(module))
    say("compiling as JAX does")
    stock, _ = _compile.compile_stablehlo(stablehlo)
    best, rejected = None, []
    for how, make in _ways(stablehlo, hlo_file, plan, pathlib.Path(folder)):
        say(f"compiling with the plan's {how}")
        try:
            tuned = dataclasses.replace(make(), name=name)
            executable, _ = _compile.compile_stablehlo(stablehlo, tuned)
            wrong = compare(runner, stock, executable, seed)
        except Exception as error:  # XLA's, or hone's: this way leads nowhere
            wrong = str(error).strip().partition("\n")[0][:300]
        if wrong:
            rejected.append(f"{how}: {wrong}")
            continue
        look = race(runner, stock, executable, min(_SHORT_SECONDS, seconds), least=6)
        if best is None or look.speedup > best[3].speedup:
            best = (how, tuned, executable, look)
    if best is None:
        return Verdict(False, "; ".join(rejected) or "the plan decides nothing",
                       rejected=tuple(rejected))
    how, tuned, executable, look = best
    if look.high > 1:
        say(f"racing the plan's {how}")
        look = race(runner, stock, executable, seconds, least=20)
    if look.low <= 1:
        return Verdict(False, f"not surely faster in JAX: {look.speedup:.3f} "
                       f"[{look.low:.3f}, {look.high:.3f}]", how, race=look, rejected=tuple(rejected))
    return Verdict(True, "", how, tuned, look, tuple(rejected))


def tune(hlo_file, folder, *, budget, store=None, seed=1, show=False):
    """(plan, the answer of `hone tune`). The plan is empty where stock is best."""
    plan_file = pathlib.Path(folder) / "plan.json"
    arguments = ["tune", hlo_file, "--budget", budget, "--plan", plan_file, "--seed", seed]
    if store is not None:
        arguments += ["--store", store]
    if not show:
        arguments.append("--quiet")
    answer = run_hone(*arguments, show=show)
    return json.loads(plan_file.read_text()), answer


def shrink(hlo_file, folder, *, objective, budget, seed=1, show=False):
    """(as `improve` takes it, the answer of `hone optimize`): a program that is less by `objective`."""
    output = pathlib.Path(folder) / "less.hlo"
    arguments = ["optimize", hlo_file, "--objective", objective, "--budget", budget, "--seed", seed,
                 "-o", output]
    if not show:
        arguments.append("--quiet")
    answer = run_hone(*arguments, show=show)
    return ({"program": str(output)} if output.exists() else {}), answer


def _ways(stablehlo, hlo_file, plan, folder):
    """(name, function that makes a Tuned) of each way to have the plan in JAX."""
    flags = {name: _compile.option_of(value) for name, value in plan.get("flags", {}).items()
             if not name.startswith(_NOT_SET_BY_MODULE)}
    passes = plan.get("passes", [])
    if "program" in plan:
        yield "program", lambda: _by_pipeline(pathlib.Path(plan["program"]).read_text(), {})
        return
    if passes and all(isinstance(one, str) for one in passes):
        changed = folder / "passes.hlo"

        def by_passes(flags):
            if not changed.exists():
                run_hone("run", hlo_file, "--passes", ",".join(passes), "-o", changed)
            return _by_pipeline(changed.read_text(), flags)

        yield "passes", lambda: by_passes({})
        if flags:
            yield "passes and flags", lambda: by_passes(flags)
    if passes or plan.get("choices"):
        yield "module", lambda: _by_module(hlo_file, plan, folder, flags)
    if flags:
        yield "flags", lambda: _compile.Tuned(b"", flags)


def _by_pipeline(program, flags):
    """What JAX's XLA makes of another program in the place of this one."""
    seen = _compile.compile_stablehlo(hlo_to_stablehlo(hlo_proto(program)), flags=flags)[1]
    if seen is None:
        raise HoneError("XLA did not call the transformation")
    return _compile.Tuned(seen, flags)


def _by_module(hlo_file, plan, folder, flags):
    plan_file, output = folder / "whole_plan.json", folder / "module.hlo"
    plan_file.write_text(json.dumps({"format": "hone tuned plan", **plan}))
    run_hone("apply", plan_file, hlo_file, "-o", output)
    return _compile.Tuned(hlo_proto(output.read_text()), flags)
