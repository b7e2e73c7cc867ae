"""From a tuned plan to a module that is surely faster in JAX.

hone tunes with the XLA that it comes with; JAX brings another. What was faster there need not be here,
so every way to have a plan in JAX is compiled by JAX, compared with what JAX makes of the function, and
raced against it in pairs. Where none is surely faster, JAX's own way is the result.
"""

import dataclasses
import functools
import itertools
import json
import re
import time

import numpy as np
from jax.extend.mlir import hlo_to_stablehlo

from hone import _core
from hone._files import write_whole
from hone.jax import _compile, looks, trial
from hone.jax._compare import compare
from hone.jax._hone import (
    HoneError, Progress, call, loaded, pool_options, program_after, start_worker, with_kernels)
from hone.jax._race import Race, Runner, race
from hone.stablehlo import hlo_proto

_GLANCE_SECONDS = 0.3
_SHORT_SECONDS = 1.5
_MOST_PLANS = 3  # that are tried where the best one comes to nothing
# What hone's XLA does well JAX's may not: each implementation is looked at in JAX, all of them for so
# long, and the best of those that seem so many times as fast are taken on.
_LISTING_SECONDS = 4.0
_LOOKS_SECONDS = 5.0
_WORTH_COMPARING = 1.1
_MOST_GIVEN_BYTES = 64 << 20
_MOST_TAKEN_ON = 3
# Reductions are left to XLA itself: the library that JAX's XLA:CPU takes for them is slow where few elements
# are added up at a time, eight times for norms of three.
_NO_LIBRARY_REDUCTIONS = {_compile.FUSES_FOR_A_LIBRARY: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,"
                                                        "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"}
# What hone's XLA notes beside an instruction that JAX's has no name for, as far as it has come up.
_unknown_fields = set()


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
      left_out: "flag: why" of what is part of the plan and could not be put into JAX.
      plan: of those tried, the one that `how` is of.
      inner: StableHLO of the fastest program that computes the same and seemed faster, compiled by JAX without
        anything beside it, so that it may stand within another; b"" for none.
    """

    kept: bool
    reason: str
    how: str = ""
    tuned: _compile.Tuned = _compile.Tuned()
    race: Race | None = None
    rejected: tuple = ()
    left_out: tuple = ()
    plan: dict = dataclasses.field(default_factory=dict)
    inner: bytes = b""


@dataclasses.dataclass(frozen=True)
class _Found:
    """A way looked at shortly. It computes the same where it may be kept."""

    how: str
    tuned: _compile.Tuned
    executable: object
    look: Race
    left_out: tuple
    plan: dict


def improve(stablehlo, hlo, plan, inputs, *, others=(), implementations=False, looking=_LOOKS_SECONDS,
            trying=float("inf"), seconds=5.0, seed=1, name="", folder, say=lambda text: None):
    """The verdict on a plan of `hone tune --plan`, or on another program that computes the same.

    What of a plan JAX does not take is left out, and the rest is tried. Where nothing of the plan may be
    faster, the next best is tried.

    Args:
      stablehlo: the module as JAX lowered it.
      hlo: the same as HLO, in any form that hone reads.
      plan: a dict; {"program": HLO text} stands for a program to take the place of it.
      inputs: a jax.Array for each parameter.
      others: plans that were nearly as good, the best first.
      implementations: whether every alternative implementation that the program has a place for is
        looked at, too, for `looking` seconds: one that is not faster by hone's XLA may be by JAX's.
      trying: after so many seconds nothing more is begun but the last race, and the plan's own ways until one is
        faster.
      seconds: of the last race.
      folder: for files in between.
    """
    with _compile.module_of(stablehlo) as module:
        runner = Runner(inputs, _compile.donated(module))
    say("compiling as JAX does")
    trial.ready_for(stablehlo)
    stock, _ = _compile.compile_stablehlo(stablehlo)
    best, rejected = None, []
    inner = 0.0, b""
    end = time.monotonic() + trying

    def doubt(program, tuned):
        if why := trial.why_not(program, tuned, inputs, folder):
            raise HoneError(why)

    def tried(tuned):
        """(why it leads nowhere or None, executable, look). One that is not going to be kept is not
        compared."""
        try:
            doubt(stablehlo, tuned)
            executable, _ = _compile.compile_stablehlo(stablehlo, tuned)
            look = race(runner, stock, executable, _GLANCE_SECONDS, least=5)
            wrong = compare(runner, stock, executable, hlo, seed) if may_win(look) else None
            return wrong, executable, look
        except Exception as error:  # XLA's, or hone's: this way leads nowhere
            return _first_line(error), None, None

    def may_win(look):
        return look.high > 1 and (best is None or look.high > best.look.speedup)

    def consider(how, make, flags, one):
        """Goes a way as far as it goes, and keeps it where it is the best so far."""
        nonlocal best, inner
        tuned, executable, look, left_out, wrong = _as_far_as_it_goes(make, flags, name, tried)
        if wrong:
            rejected.append(f"{how}: {wrong}")
            return
        if may_win(look):
            look = race(runner, stock, executable, min(_SHORT_SECONDS, seconds), least=6)
            if tuned.program and look.low > max(1, inner[0]):
                inner = look.low, tuned.program
        if best is None or look.speedup > best.look.speedup:
            best = _Found(how, tuned, executable, look, left_out, one)

    for number, one in enumerate([plan, *others][:_MOST_PLANS]):
        if (best is not None and best.look.high > 1) or (number > 0 and time.monotonic() > end):
            break
        for how, make, flags in _ways(hlo, one, doubt):
            if best is not None and best.look.low > 1 and time.monotonic() > end:
                break  # another way may be faster still, and was not waited for
            how = how if number == 0 else f"{how} of plan {number + 1}"
            say(f"compiling with the plan's {how}")
            consider(how, make, flags, one)
    if implementations and time.monotonic() <= end and _reduces(stablehlo) and (
            _compile.has_option(_compile.FUSES_FOR_A_LIBRARY)):
        say("looking at reductions in JAX")
        before = best
        begun = best if best and best.look.low > 1 and best.tuned.program else None
        if begun and _compile.ONE_KERNEL not in begun.tuned.program:
            consider(f"{begun.how} and flags",
                     _Way(lambda flags: _from(begun.tuned.program, flags, doubt, begun.tuned.kernels),
                          needs_flags=True),
                     _NO_LIBRARY_REDUCTIONS, {**begun.plan, "flags": _NO_LIBRARY_REDUCTIONS})
        elif not begun:
            consider("flags", _Way(lambda flags: _compile.Tuned(b"", flags), needs_flags=True),
                     _NO_LIBRARY_REDUCTIONS, {"flags": _NO_LIBRARY_REDUCTIONS})
        if best is not before and best.look.speedup < _WORTH_COMPARING:
            best = before
    if implementations and time.monotonic() > end:
        rejected.append("implementations: no time was left for them")
    elif implementations:
        try:
            listing = min(_LISTING_SECONDS, (end - time.monotonic()) / 2)
            untried = [found for found in _implementations(hlo, listing)
                       if list(found[0]) != plan.get("passes")]
            say("looking at implementations in JAX")
            worth = max(_WORTH_COMPARING, best.look.speedup if best else 0)
            for position in looks.faster(stablehlo, [program for _, program, _ in untried], inputs,
                                         folder, kernels=[kernels for _, _, kernels in untried],
                                         seconds=min(looking, max(end - time.monotonic(), 0)),
                                         least=worth)[:_MOST_TAKEN_ON]:
                if time.monotonic() > end:
                    break
                passes, program, kernels = untried[position]
                say(f"compiling with {passes[-1]}")
                way = _Way(functools.partial(_by_pipeline, program, doubt=doubt, kernels=kernels))
                consider(passes[-1], way, {}, {"passes": list(passes)})
        except Exception as error:  # what has been found stays
            rejected.append(f"implementations: {_first_line(error)}")
    if best is None:
        nothing = "the plan decides nothing" + (
            ", and no other implementation seems faster in JAX" if implementations else "")
        return Verdict(False, "; ".join(rejected) or nothing, rejected=tuple(rejected))
    look, known = best.look, {"rejected": tuple(rejected), "left_out": best.left_out,
                              "plan": best.plan}
    if look.high > 1:
        say(f"racing the plan's {best.how}")
        look = race(runner, stock, best.executable, seconds, least=20)
    if look.low <= 1:
        return Verdict(False, f"not surely faster in JAX: {look.speedup:.3f} "
                       f"[{look.low:.3f}, {look.high:.3f}]", best.how, race=look, **known)
    return Verdict(True, "", best.how, best.tuned, look, inner=inner[1], **known)


def _reduces(stablehlo):
    """Whether there is a reduction in a module, text or bytecode."""
    return b"reduce" in _compile.encoded(stablehlo)


def _implementations(hlo, seconds):
    """((pass, …), HLO text, kernels) of each alternative implementation that the program has a place for,
    as far as one comes to it in so many seconds, the caller's among them. Those with kernels first, and all of
    them together."""
    end = time.monotonic() + seconds
    bench, state = loaded(hlo)

    def found(among):
        return call(bench.implementations, state, among, end - time.monotonic())

    kernels = [passes for name in _core.KERNEL_PASSES for passes in found((name,))]
    together = [list(dict.fromkeys(sum(kernels, [])))] if len(kernels) > 1 else []
    others = (passes for passes in found(None) if passes[-1] not in _core.KERNEL_PASSES)
    for passes in itertools.chain(kernels, together, others):
        if time.monotonic() > end:
            return
        yield (tuple(passes), *program_after(hlo, passes))


def _as_far_as_it_goes(make, flags, name, tried):
    """(Tuned, executable, look, what was left out, why it leads nowhere): with all flags, or without those that
    JAX does not take or under which it computes something else."""
    left_out = []
    flags = dict(flags)
    while True:
        executable = look = None
        try:
            tuned = dataclasses.replace(make(flags), name=name)
        except Exception as error:  # hone's, or XLA's of the program behind the passes
            tuned, wrong = None, _first_line(error)
        else:
            wrong, executable, look = tried(tuned)
        if not wrong:
            return tuned, executable, look, tuple(left_out), None
        unknown = re.search(r"no\s+such\s+field:\s+'(\w+)'", wrong)
        if unknown and unknown[1] not in _unknown_fields:
            _unknown_fields.add(unknown[1])
            continue
        refused = _refused(flags, wrong)
        if not refused or (make.needs_flags and len(refused) == len(flags)):
            return tuned, None, None, (), wrong
        for flag in refused:
            left_out.append(f"{flag} = {flags.pop(flag)}: {wrong}")


def _refused(flags, wrong):
    """Of the flags those to do without, after such an answer: the ones that it names, else the passes
    left out, else all."""
    spelled = {flag: flag.partition(".")[0] if flag.startswith(
        (_compile.WITHOUT_PASS, _compile.EXTRA)) else flag for flag in flags}
    named = [flag for flag, spelling in spelled.items() if spelling in wrong]
    without = [flag for flag in flags if flag.startswith(_compile.WITHOUT_PASS)]
    return named or without or list(flags)


def _first_line(error):
    return str(error).strip().partition("\n")[0][:300]


def tune(hlo, *, name, seconds, inputs=(), worker=None, plan=None, store=None, seed=1, show=False):
    """(plan, the answer of `hone tune`). The plan is empty where stock is best; it is written into the file
    `plan`, if one is given. `inputs` are arrays of bytes (`bytes_of`), `worker` is start_worker's."""
    with Progress() as tell:
        answer, found = call(_core.tune, hlo, worker or start_worker(), file=name, budget_seconds=seconds,
                             seed=seed, store=str(store or ""), inputs=list(inputs), tell=tell if show else None)
    if plan is not None:
        write_whole(plan, (json.dumps(found, indent=2) + "\n").encode())
        answer["plan_file"] = str(plan)
    return found, answer


def bytes_of(inputs):
    """Of jax.Arrays as hone compares on them; none where they are large or have no bytes as XLA has them."""
    try:
        if sum(array.nbytes for array in inputs) > _MOST_GIVEN_BYTES:
            return []
        arrays = [np.asarray(array) for array in inputs]
    except TypeError:  # keys of jax.random
        return []
    if any(re.fullmatch(r"u?int[24]|float4.*", array.dtype.name) for array in arrays):
        return []
    return [array.tobytes() for array in arrays]


def shrink(hlo, *, name, seconds, objective, seed=1, show=False):
    """(as `improve` takes it, the answer of `hone optimize`): a program that is less by `objective`."""
    with Progress() as tell:
        answer, text, withheld = call(
            _core.optimize, hlo, pool_options(), file=name, objective=objective,
            budget_seconds=seconds, seed=seed, tell=tell if show else None)
    if withheld:
        raise HoneError(withheld)
    return {"program": text}, answer


@dataclasses.dataclass(frozen=True)
class _Way:
    """Makes a Tuned of flags. With `needs_flags` it is nothing without any."""

    make: object
    needs_flags: bool = False

    def __call__(self, flags):
        return self.make(flags)


def _ways(hlo, plan, doubt):
    """(name, _Way, flags) of each way to have the plan in JAX. `doubt` raises where JAX is not to compile a
    program so."""
    flags = {name: value for name, value in plan.get("flags", {}).items() if value != "unset"}
    passes = plan.get("passes", [])
    if "program" in plan:
        yield "program", _Way(lambda _: _by_pipeline(plan["program"], {}, doubt)), {}
        return
    if passes and all(isinstance(one, str) for one in passes):
        after = functools.cache(lambda: program_after(hlo, passes))

        def by_passes(flags):
            program, kernels = after()
            return _by_pipeline(program, flags, doubt, kernels)

        yield "passes", _Way(by_passes), {}
        if flags:
            yield "passes and flags", _Way(by_passes, needs_flags=True), flags
    if passes or plan.get("choices"):
        # What the passes left out would have done, the module does not have.
        rest = {name: value for name, value in flags.items()
                if not name.startswith(_compile.WITHOUT_PASS)}
        module = functools.cache(lambda: _module_of(hlo, plan))
        yield "module", _Way(lambda flags: _by_module(module(), flags)), rest
    if flags:
        yield "flags", _Way(lambda flags: _compile.Tuned(b"", flags), needs_flags=True), flags


def _by_pipeline(program, flags, doubt, kernels=b""):
    """What JAX's XLA makes of another program in the place of this one."""
    return _from(hlo_to_stablehlo(hlo_proto(program)), flags, doubt, kernels)


def _from(stablehlo, flags, doubt, kernels=b""):
    tuned = _compile.Tuned(b"", _compile.and_needed(flags, stablehlo), kernels=kernels)
    doubt(stablehlo, tuned)
    seen = _compile.compile_stablehlo(stablehlo, tuned)[1]
    if seen is None:
        raise HoneError("XLA did not call the transformation")
    return dataclasses.replace(tuned, body=seen, program=b"" if flags else stablehlo)


def _module_of(hlo, plan):
    """(HLO text, kernels) that hone's compiler comes to under the plan."""
    text = json.dumps({**_core.TUNED_PLAN, **plan})
    return with_kernels(call(_core.compile_under, hlo, start_worker(), text))


def _by_module(module, flags):
    text, kernels = module
    body = hlo_proto(_without_fields(text, _unknown_fields))
    return _compile.Tuned(body, _compile.and_needed(flags, body), kernels=kernels)


def _without_fields(text, fields):
    """HLO text whose backend configurations lack the fields. They are notes of XLA's analyses, such as
    how a loop counts; without one nothing is computed otherwise."""
    if not fields:
        return text

    def pruned(value):
        if isinstance(value, dict):
            return {name: pruned(one) for name, one in value.items() if name not in fields}
        return [pruned(one) for one in value] if isinstance(value, list) else value

    parts, done = [], 0
    for found in re.finditer(r"backend_config=(?=\{)", text):
        if found.end() < done:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, found.end())
        except json.JSONDecodeError:  # of a custom call, in a syntax of its own
            continue
        parts += [text[done:found.end()], json.dumps(pruned(value), separators=(",", ":"))]
        done = end
    return "".join(parts) + text[done:]
