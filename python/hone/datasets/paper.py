"""The graphs of paper_recipe.py as files with an index, and the command that writes them.

The same versions of JAX, Flax, optax and transformers make the same files.

    python -m hone.datasets.paper FOLDER --help
"""

import argparse
import collections
import concurrent.futures
import hashlib
import multiprocessing
import os
import pathlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from .lowering import require
from .paper_recipe import FAMILIES, Spec, recipe
from .programs import (
    Dataset,
    DatasetError,
    count_instructions,
    load,
    read_index,
    write_file,
    write_index,
)


def generate(
    folder: str | os.PathLike,
    limit: int | None = None,
    only: str | None = None,
    jobs: int = 1,
    log: TextIO | None = None,
) -> Dataset:
    """Writes the recipe's graphs and their index.tsv. One process to a folder at a time.

    Files that are there already are kept as they are, so a run that was stopped can be taken up
    again. Each file appears at once or not at all, and the index has every file that's there. A
    graph whose text equals an earlier one's, but for the module's name, is not written.

    Args:
      folder: made if it's not there.
      limit: the most graphs, counted from the recipe's first; of `only`, where given.
      only: a family.
      jobs: processes that lower graphs.
      log: where lines about the progress go; else standard error.

    Returns:
      The data set that's in the folder.

    Raises:
      DatasetError: an unknown family, a limit or jobs below 1, or the folder can't be written.
      ImportError: a package is missing.
      KeyboardInterrupt: on Ctrl-C, with what was made kept and indexed.
    """
    specs = _selected(limit, only)
    if jobs < 1:
        raise DatasetError(f"jobs {jobs}: give 1 or more")
    log = log or sys.stderr
    folder = pathlib.Path(folder)
    output = _Output(folder)
    missing = [spec for spec in specs if not output.has(spec)]
    origin = _origin() if missing else ""
    try:
        for family in sorted({spec.family for spec in specs}):
            (folder / family).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"can't make the folder {folder}: {error}; give another") from error
    kept = len(specs) - len(missing)
    if kept:
        print(f"{kept} of {len(specs)} graphs are there already", file=log, flush=True)
    start = time.monotonic()
    try:
        for number, (spec, text) in enumerate(_lowered(missing, jobs), 1):
            same = output.add(spec, text, origin)
            what = f"the same as {same}, left out" if same else f"{len(text):,} bytes"
            print(
                f"[{kept + number}/{len(specs)}] {time.monotonic() - start:.0f} s  "
                f"{spec.file}: {what}",
                file=log,
                flush=True,
            )
    finally:
        output.write_index()
    return load(folder)


class _Output:
    """The folder, what is in it, and its index. Keeps rows of files that no recipe has."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        self._file_by_digest = {}
        self._rows = {}
        for row in read_index(folder):
            if (folder / row["file"]).is_file():
                self._rows[row["file"]] = row
        self._order = {spec.file: position for position, spec in enumerate(recipe())}

    def has(self, spec: Spec) -> bool:
        """Whether the file is there; it's then in the index as well."""
        path = self._folder / spec.file
        if not path.is_file():
            return False
        text = path.read_text(encoding="utf-8")
        self._file_by_digest.setdefault(_digest(text), spec.file)
        if spec.file not in self._rows:
            # Stopped between the file and the index, so by these versions or earlier ones.
            self._rows[spec.file] = _row(spec, text, "lowered by JAX; no weights")
        return True

    def add(self, spec: Spec, text: str, origin: str) -> str | None:
        """Writes a graph; or else says which file has the same."""
        same = self._file_by_digest.setdefault(_digest(text), spec.file)
        if same != spec.file:
            return same
        try:
            write_file(self._folder / spec.file, text)
            self._rows[spec.file] = _row(spec, text, origin)
            self.write_index()
        except OSError as error:
            raise DatasetError(f"can't write {self._folder / spec.file}: {error}") from error
        return None

    def write_index(self) -> None:
        last = len(self._order)
        files = sorted(self._rows, key=lambda file: (self._order.get(file, last), file))
        write_index(self._folder, [self._rows[file] for file in files])


def _row(spec: Spec, text: str, origin: str) -> Mapping[str, Any]:
    return {
        "file": spec.file,
        "family": spec.family,
        "phase": spec.phase,
        "config": spec.config,
        "instructions": count_instructions(text),
        "origin": origin,
        "licence": "Apache-2.0",
        "group": spec.group,
        "split": spec.split,
    }


def _digest(text: str) -> bytes:
    """Of all but the module's name, which stands before the first comma."""
    return hashlib.sha256(text.partition(",")[2].encode()).digest()


def _origin() -> str:
    jax, flax, optax, transformers = map(require, ("jax", "flax", "optax", "transformers"))
    return (
        f"lowered from transformers-{transformers.__version__} with flax-{flax.__version__} and "
        f"optax-{optax.__version__} by JAX {jax.__version__}; no weights"
    )


def _lowered(specs: Sequence[Spec], jobs: int) -> Iterator[tuple[Spec, str]]:
    """Each spec with its text, in order."""
    if jobs == 1 or len(specs) < 2:
        for spec in specs:
            yield spec, spec.lower()
        return
    # JAX has threads, which a fork doesn't take along.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = collections.deque()
        try:
            for spec in specs:
                waiting.append((spec, pool.submit(spec.lower)))
                # Texts are large: no more of them at a time than keep the processes busy.
                if len(waiting) >= 2 * jobs:
                    done, text = waiting.popleft()
                    yield done, text.result()
            while waiting:
                done, text = waiting.popleft()
                yield done, text.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _selected(limit: int | None, only: str | None) -> list:
    if only is not None and only not in FAMILIES:
        raise DatasetError(f"family '{only}' is not known; give one of {', '.join(FAMILIES)}")
    if limit is not None and limit < 1:
        raise DatasetError(f"limit {limit}: give 1 or more")
    specs = [spec for spec in recipe() if only in (None, spec.family)]
    return specs[:limit]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 0, 2 for bad input, 130 when interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m hone.datasets.paper",
        description="Writes 429 graphs of GPT-2, BERT and ResNet as HLO text, forward "
        "passes and train steps at many sizes, with an index.tsv. No weights are made, nothing is "
        "run. Files that are there already are kept: a run that was stopped goes on.",
        epilog="examples:\n"
        "  python -m hone.datasets.paper graphs                       all of them\n"
        "  python -m hone.datasets.paper graphs --only resnet --jobs 4\n"
        "  python -m hone.datasets.paper graphs --limit 10\n"
        "  python -m hone.datasets.paper --list                       names, nothing is made\n"
        "\nneeds: pip install 'hone[datasets]'",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", help="where the graphs go; made if it's not there")
    parser.add_argument("--limit", type=int, metavar="N", help="no more than the first N graphs")
    parser.add_argument("--only", metavar="FAMILY", help="gpt2, bert or resnet")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; default 1")
    parser.add_argument("--list", action="store_true", help="print the graphs' files and options")
    options = parser.parse_args(arguments)
    try:
        if options.list:
            for spec in _selected(options.limit, options.only):
                print(f"{spec.file}\t{spec.config}")
            return 0
        if options.folder is None:
            parser.error("no FOLDER given; name one, such as: python -m hone.datasets.paper graphs")
        dataset = generate(options.folder, options.limit, options.only, options.jobs)
    except (DatasetError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(
            f"interrupted; what was made is in {options.folder}, and the same command goes on",
            file=sys.stderr,
        )
        return 130
    print(f"{len(dataset)} programs in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
