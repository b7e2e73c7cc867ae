"""A recipe for 4,700 different graphs of many kinds, with a test split of kinds never trained on.

Sources are programs of JAX's functions (collection_functions.py), of algorithms
(collection_algorithms.py), of small models, layers and optimizers (collection_models.py), graphs of
paper.py and the programs that come with hone. Of each, parts are cut: an instruction with what it is
computed from. Of sources and parts others are made by passes of XLA's that keep what is computed. What
is nearly the same as an earlier one, sizes aside, is left out, so every program is a group of its own.

    python -m hone.datasets.collection FOLDER --help

FOLDER/seen has train, validation and test; what was made of one source is in one of them. FOLDER/unseen
has other families: all of it is test. The same versions of JAX, Flax, optax, transformers and XLA make
the same files.
"""

import argparse
import collections
import dataclasses
import pathlib
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

import numpy

from .. import _core, fetch_xla
from .collection_algorithms import algorithms
from .collection_functions import functions, lower, transformed
from .collection_models import models
from .collection_sample import draw, parse_counts
from .collection_source import UNSEEN, Source
from .lowering import from_jax
from .paper_recipe import recipe
from .programs import SHIPPED, DatasetError, load, write_file, write_index

# Of the two hops of the sketch (src/dataset/similarity.h).
NEAR_DUPLICATE = 0.9
LEAST_INSTRUCTIONS, MOST_INSTRUCTIONS = 12, 3000

# The most programs of one source. What is tested on is to be of many sources, for programs of one
# are alike in what helps them.
_MOST_OF_A_SOURCE = {"train": 6, "validation": 2, "test": 2}

# A part for so many instructions of a source, at most so many; how deep they are, in turn.
_INSTRUCTIONS_A_PART, _MOST_PARTS = 20, 8
_DEPTHS = (6, 9, 13, 18, 26, 40, 60, 100)

# Passes that write a program otherwise. None rounds coarser, and none is only for another device.
_PASSES = (
    "algsimp:single_pass", "algsimp:associative_reordering", "algsimp:raise_through_dot",
    "algsimp:keep_reduce_window", "algsimp:no_sink_broadcast", "batchnorm_expander",
    "broadcast_canonicalizer", "call-inliner", "cse", "dot_decomposer", "gather_expander:all",
    "logistic-expander", "conditional-to-select", "comparison-expander", "cholesky_expander",
    "qr_expander", "triangular_solve_expander", "eigh_expander", "map-inline", "reduce-decomposer",
    "reshape-decomposer", "reshape-mover:cheap_broadcast", "rng-bit-generator-expander",
    "scatter_expander", "select_and_scatter_expander", "simplify-while-loops", "slice-sinker",
    "topk-decomposer", "tree_reduction_rewriter", "while-loop-constant-sinking",
    "while-loop-invariant-code-motion", "tuple-simplifier", "rules:algebra",
    "rules:shape", "rules:transpose", "rules:reduce",
)  # fmt: skip


def sources() -> Iterator[Source]:
    """Always the same in the same order. Needs no other package until one is lowered."""
    for program in load(SHIPPED):
        name = program.path.stem
        yield Source(program.family, name, name, program.phase, program.text)
    yield from models()
    for spec in _small_graphs():
        name = pathlib.PurePath(spec.file).stem
        yield Source(spec.family, spec.group, name, spec.phase, spec.lower)
    names = collections.Counter()
    for function in functions():
        name = function.name.lower()
        names[function.family, name] += 1
        number = names[function.family, name]
        for way in function.ways:
            yield Source(
                function.family,
                name,
                f"{name}.{number}.{way}",
                "other",
                lambda function=function, way=way: lower(function, way),
            )
    for algorithm in algorithms():
        for way in algorithm.ways:
            yield Source(
                algorithm.family,
                algorithm.name,
                f"{algorithm.name}.{way}",
                "other",
                lambda algorithm=algorithm, way=way: _lower_algorithm(algorithm, way),
            )


def _small_graphs():
    """Every second of the paper's graphs of one or two layers."""
    small = ("l1_", "l2_d128", "r10_", "r14b_")
    return [spec for spec in recipe() if any(size in spec.file for size in small)][::2]


def _lower_algorithm(algorithm, way: str) -> str:
    shapes = algorithm.shapes
    if way == "vmap":
        shapes = [((5, *shape), dtype) for shape, dtype in shapes]
    return from_jax(transformed(algorithm.make(), way), *shapes, name="f")


class _Kept:
    """The programs so far, and which are nearly the same as one of them."""

    def __init__(self):
        self._fingerprints = set()
        self._sketches = numpy.zeros((0, 128), numpy.uint64)
        self._count = 0

    def is_new(self, bench, state) -> bool:
        """Whether it's unlike all before it; it is kept then."""
        if state.fingerprint in self._fingerprints:
            return False
        self._fingerprints.add(state.fingerprint)
        sketch = numpy.frombuffer(bench.sketch(state), numpy.uint64)
        alike = (self._sketches[: self._count] == sketch).mean(1)
        if alike.size and alike.max() >= NEAR_DUPLICATE:
            return False
        if self._count == len(self._sketches):
            more = numpy.zeros((max(256, self._count), 128), numpy.uint64)
            self._sketches = numpy.concatenate([self._sketches, more])
        self._sketches[self._count] = sketch
        self._count += 1
        return True


@dataclasses.dataclass
class _Made:
    state: object
    what: str  # "", "part 3", "part 3, cse, dot_decomposer"


def _parts(bench, source: Source, whole) -> Iterator[_Made]:
    for number in range(min(_MOST_PARTS, whole.op_count // _INSTRUCTIONS_A_PART)):
        depth = _DEPTHS[number % len(_DEPTHS)]
        for text in bench.extract(whole, "random", source.seed(number), depth):
            try:
                yield _Made(bench.load(text.encode()), f"part {number}")
            except (RuntimeError, ValueError):
                continue  # what XLA cuts is not always what it reads


def _rewritten(bench, source: Source, made: _Made) -> Iterator[_Made]:
    """By a few passes that change it; none where the tries are spent."""
    rng = random.Random(source.seed(f"{made.what}, passes"))
    state, passes = made.state, []
    for name in rng.sample(_PASSES, 12):
        if len(passes) == 3:
            break
        after, changed, failure = bench.apply(state, name, verify=True)
        if changed and not failure and after.op_count <= MOST_INSTRUCTIONS:
            state = after
            passes.append(name)
    if passes:
        what = ", ".join(filter(None, [made.what, *passes]))
        yield _Made(bench.load(bench.text(state).encode()), what)


def _programs(bench, source: Source, log: TextIO) -> Iterator[_Made]:
    """Of a source: itself, then in any order its parts, and all of them written otherwise."""
    try:
        whole = bench.load(source.lower().encode())
    except ImportError:
        raise
    except Exception as error:  # JAX has no such gradient, or XLA no such operation on a CPU
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        print(f"left out: {source.family} {source.name}: {reason}", file=log)
        return
    parts = list(_parts(bench, source, whole))
    written = [(made, True) for made in [_Made(whole, ""), *parts]]
    more = [(made, False) for made in parts] + written
    random.Random(source.seed("order")).shuffle(more)
    for made, otherwise in [(_Made(whole, ""), False), *more]:
        if made.state.op_count <= MOST_INSTRUCTIONS:
            yield from _rewritten(bench, source, made) if otherwise else [made]


def generate(
    folder: str | pathlib.Path,
    limit: int | None = None,
    only: str | None = None,
    log: TextIO | None = None,
    sample: Mapping[str, int] | None = None,
    seed: int = 0,
    without: Sequence[str] = (),
    largest: int = MOST_INSTRUCTIONS,
) -> tuple[int, int]:
    """Writes the programs, FOLDER/seen and FOLDER/unseen with an index.tsv each.

    Args:
      folder: must not have such folders yet; made if it's not there.
      limit: the most sources.
      only: a family.
      log: where lines about the progress go; else standard error.
      sample: how many sources of each side are drawn (collection_sample.py); None for all.
      seed: of the sample.
      without: families left out.
      largest: the most instructions of a program.

    Returns:
      How many programs there are in each.

    Raises:
      DatasetError: no such family, a limit below 1, or the folder can't be written or has been used.
      ImportError: a package is missing.
    """
    log = log or sys.stderr
    folder = pathlib.Path(folder)
    if largest < LEAST_INSTRUCTIONS:
        raise DatasetError(f"largest {largest}: give {LEAST_INSTRUCTIONS} or more")
    drawn = draw(sources(), sample, seed, without)
    wanted = [source for source in drawn if only in (None, source.family)]
    if not wanted and only is None:
        raise DatasetError("no source is left; draw more, or leave fewer families out")
    if not wanted:
        raise DatasetError(f"family '{only}' is not known; --list prints the families")
    if limit is not None and limit < 1:
        raise DatasetError(f"limit {limit}: give 1 or more")
    wanted = wanted[:limit]
    for name in ("seen", "unseen"):
        if (folder / name).exists():
            raise DatasetError(
                f"{folder / name} is there already; remove it or give another folder"
            )
    bench = _core.Workbench({"worker_path": fetch_xla.ready_worker(quiet=True)})
    kept = _Kept()
    rows: dict = {"seen": [], "unseen": []}
    start = time.monotonic()
    try:
        for number, source in enumerate(wanted, 1):
            side = "unseen" if source.family in UNSEEN else "seen"
            left = _MOST_OF_A_SOURCE[source.split]
            for made in _programs(bench, source, log):
                if not LEAST_INSTRUCTIONS <= made.state.op_count <= largest:
                    continue
                if not kept.is_new(bench, made.state):
                    continue
                rows[side].append(_write(bench, folder / side, source, made, len(rows[side])))
                left -= 1
                if left == 0:
                    break
            if number % 25 == 0 or number == len(wanted):
                many = len(rows["seen"]) + len(rows["unseen"])
                told = f"[{number}/{len(wanted)}] {time.monotonic() - start:.0f} s"
                print(f"{told}: {many} programs", file=log, flush=True)
        for side, found in rows.items():
            if found:
                write_index(folder / side, found)
    except OSError as error:
        raise DatasetError(f"can't write {folder}: {error}") from error
    return len(rows["seen"]), len(rows["unseen"])


def _write(bench, folder: pathlib.Path, source: Source, made: _Made, number: int) -> dict:
    name = source.name.replace(".", "_")[:40]
    file = f"{source.family.replace('.', '_').replace(' ', '_')}/{number:04}_{name}.hlo"
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, bench.text(made.state))
    fingerprint = str(made.state.fingerprint)
    return {
        "file": file,
        "family": source.family,
        "phase": source.phase if not made.what.startswith("part") else "other",
        "config": f"of {source.name}" + (f": {made.what}" if made.what else ""),
        "instructions": int(made.state.op_count),
        "origin": "hone.datasets.collection",
        "licence": "Apache-2.0",
        "fingerprint": fingerprint,
        "group": fingerprint,
        "split": source.split,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 0, 2 for bad input, 130 when interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m hone.datasets.collection",
        description="Writes 4,700 different programs as HLO text: of JAX's functions, "
        "algorithms, small models, and parts and rewritings of them, with an index.tsv. "
        "FOLDER/seen is split into train, validation and test by source; FOLDER/unseen has families "
        "that the other has not. No two are nearly the same.",
        epilog="examples:\n"
        "  python -m hone.datasets.collection programs\n"
        "  python -m hone.datasets.collection programs --only physics\n"
        "  python -m hone.datasets.collection programs --sample train=70,test=70,unseen=45 --largest 400\n"
        "  python -m hone.datasets.collection --list\n"
        "\nneeds: pip install 'hone[datasets]'",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", help="where the programs go; made if it's not there")
    parser.add_argument("--limit", type=int, metavar="N", help="no more than the first N sources")
    parser.add_argument("--only", metavar="FAMILY", help="no other family")
    parser.add_argument(
        "--sample", metavar="COUNTS", help="draw so many sources: train=N,validation=N,test=N,unseen=N"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the sample (0)")
    parser.add_argument(
        "--without", default="", metavar="FAMILIES",
        help="leave these families out, commas between them; with * at its end all that begin so",
    )  # fmt: skip
    parser.add_argument(
        "--largest", type=int, default=MOST_INSTRUCTIONS, metavar="N",
        help=f"no program of more instructions ({MOST_INSTRUCTIONS})",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print families and how many sources each has")
    options = parser.parse_args(arguments)
    try:
        if options.list:
            counts = collections.Counter(source.family for source in sources())
            for family, count in sorted(counts.items()):
                print(f"{family}\t{count}\t{'unseen' if family in UNSEEN else 'seen'}")
            return 0
        if options.folder is None:
            parser.error("no FOLDER given; name one: python -m hone.datasets.collection programs")
        sample = None if options.sample is None else parse_counts(options.sample)
        seen, unseen = generate(
            options.folder,
            options.limit,
            options.only,
            sample=sample,
            seed=options.seed,
            without=options.without.split(",") if options.without else [],
            largest=options.largest,
        )
    except (DatasetError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"interrupted; remove {options.folder} and start again", file=sys.stderr)
        return 130
    print(f"{seen} programs in {options.folder}/seen, {unseen} in {options.folder}/unseen")
    return 0


if __name__ == "__main__":
    sys.exit(main())
