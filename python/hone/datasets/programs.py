"""Data sets of programs: folders of HLO files, described by an `index.tsv`.

A program's URI is `DATASET/FILE`, FILE without its extension: the file `gpt2/a.hlo` of the data set
`models` is `models/gpt2/a`. URIs stay the same wherever the folder lies. Indexes are read and checked by
the command's own code (`src/dataset/`).
"""

import collections.abc
import dataclasses
import os
import pathlib
import re
from collections.abc import Collection, Iterable, Iterator

from hone import _core
from hone._files import write_whole

INDEX = "index.tsv"
SHIPPED = "models"

_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = ", re.MULTILINE)


class DatasetError(ValueError):
    """Something is wrong with a data set or a request. Says what, where, and what to do."""


@dataclasses.dataclass(frozen=True)
class Program:
    """One program of a data set.

    Attributes:
      uri: `DATASET/FILE`, FILE without its extension.
      path: where the file lies.
      family: the model or application, such as `gpt2`.
      phase: `fwd`, `train` or `other`.
      config: sizes and options, as `name=value` words.
      instructions: how many there are, over all computations; None where the index doesn't say.
      origin: what made it, with versions.
      licence: an SPDX name.
      fingerprint: hone's, 32 hexadecimal digits; "" where the index doesn't say.
      group: 32 hexadecimal digits; programs of one group are close relatives and belong on one side
        of a split; or "".
      split: `train`, `validation` or `test`; or "".
    """

    uri: str
    path: pathlib.Path
    family: str = ""
    phase: str = ""
    config: str = ""
    instructions: int | None = None
    origin: str = ""
    licence: str = ""
    fingerprint: str = ""
    group: str = ""
    split: str = ""

    def text(self) -> str:
        """The program's HLO text."""
        return self.path.read_text(encoding="utf-8")


class Dataset(collections.abc.Sequence):
    """A sequence of programs. Indexed by position (int or slice) or by URI (str)."""

    def __init__(self, name: str, programs: Iterable[Program]):
        """Raises DatasetError where two programs have the same URI."""
        self.name = name
        self._programs = tuple(programs)
        self._by_uri = {program.uri: program for program in self._programs}
        if len(self._by_uri) < len(self._programs):
            seen = set()
            for program in self._programs:
                if program.uri in seen:
                    raise DatasetError(
                        f"data set '{name}': '{program.uri}' is there twice; list each file once, "
                        "and let no two files differ in their extension only"
                    )
                seen.add(program.uri)

    def __len__(self) -> int:
        return len(self._programs)

    def __iter__(self) -> Iterator[Program]:
        return iter(self._programs)

    def __contains__(self, item) -> bool:
        if isinstance(item, str):
            return item in self._by_uri
        return item in self._programs

    def __getitem__(self, key: int | slice | str):
        """The program at a position or of a URI; for a slice, a Dataset.

        Raises DatasetError for a URI that isn't there, and IndexError for such a position.
        """
        if isinstance(key, str):
            if key not in self._by_uri:
                raise DatasetError(f"no program '{key}' in data set '{self.name}'{self._hint(key)}")
            return self._by_uri[key]
        if isinstance(key, slice):
            return Dataset(self.name, self._programs[key])
        return self._programs[key]

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {len(self)} programs)"

    def filter(
        self,
        *,
        family: str | Collection[str] | None = None,
        phase: str | Collection[str] | None = None,
        split: str | Collection[str] | None = None,
        max_instructions: int | None = None,
    ) -> "Dataset":
        """The programs that meet all conditions, in order; there may be none.

        Args:
          family, phase, split: a value, or several of which any will do.
          max_instructions: the most instructions, over all computations. Where the index doesn't
            say how many a program has, its text is read and counted.
        """

        def one_of(value, wanted):
            if isinstance(wanted, str):
                return value == wanted
            return wanted is None or value in wanted

        def small_enough(program):
            if max_instructions is None:
                return True
            count = program.instructions
            if count is None:
                text = program.path.read_text(encoding="utf-8", errors="replace")
                count = count_instructions(text)
            return count <= max_instructions

        return Dataset(
            self.name,
            (
                program
                for program in self._programs
                if one_of(program.family, family)
                and one_of(program.phase, phase)
                and one_of(program.split, split)
                and small_enough(program)
            ),
        )

    def _hint(self, uri: str) -> str:
        if not self._programs:
            return ", which is empty"
        stem = uri.rsplit("/", 1)[-1]
        close = [known for known in self._by_uri if stem in known] or list(self._by_uri)
        return "; there are " + ", ".join(close[:3]) + (", …" if len(close) > 3 else "")


def load(folder_or_name: str | os.PathLike, name: str | None = None) -> Dataset:
    """Reads a data set.

    Args:
      folder_or_name: `"models"` for the programs that come with hone, or else a folder. A folder
        without `index.tsv` gives every program below it, sorted, with the family and the phase that
        `hone dataset index` would guess.
      name: what URIs begin with; else the folder's own name.

    Raises:
      DatasetError: there's no such folder, nothing in it, or something wrong in its index.
    """
    if isinstance(folder_or_name, str) and folder_or_name == SHIPPED:
        return _load_folder(_shipped_folder(), name or SHIPPED)
    folder = pathlib.Path(folder_or_name)
    if not folder.is_dir():
        known = f"give a folder, or '{SHIPPED}' for the programs that come with hone"
        what = "is a file" if folder.exists() else "is not there"
        raise DatasetError(f"data set '{folder_or_name}' {what}; {known}")
    return _load_folder(folder, name or folder.resolve().name)


def find(uri: str, datasets: Iterable[Dataset] = ()) -> pathlib.Path:
    """The file of a program.

    Args:
      uri: a URI of one of `datasets` or of the shipped set; or the path of a file, with or without
        its `.hlo`.
      datasets: where to look besides the shipped set, in order, before it.

    Raises:
      DatasetError: no such program.
    """
    known = []
    for dataset in datasets:
        known.append(dataset.name)
        if uri in dataset:
            return dataset[uri].path
    if uri.startswith(SHIPPED + "/"):
        return load(SHIPPED)[uri].path
    for path in (pathlib.Path(uri), pathlib.Path(uri + ".hlo")):
        if path.is_file():
            return path
    searched = ", ".join(f"'{dataset}'" for dataset in [*known, SHIPPED])
    raise DatasetError(
        f"no program '{uri}': it is in none of the data sets {searched}, nor is it a file; "
        "pass the data set that has it, or the file's path"
    )


def count_instructions(text: str) -> int:
    """How many instructions HLO text has, over all computations."""
    return len(_INSTRUCTION.findall(text))


def read_index(folder: str | os.PathLike) -> list[dict]:
    """The rows of FOLDER/index.tsv, as dictionaries by column; none where there is no index.

    Raises:
      DatasetError: the index can't be read.
    """
    return _rows(pathlib.Path(folder), "") if (pathlib.Path(folder) / INDEX).is_file() else []


def write_index(folder: str | os.PathLike, rows: Iterable[dict]) -> None:
    """Writes FOLDER/index.tsv, at once: a reader sees the old index or the new one.

    Args:
      folder: exists already.
      rows: dictionaries by column; what's missing is left empty. Tabs and line ends in values
        become blanks.

    Raises:
      DatasetError: a value that `hone dataset` would refuse.
    """

    def field(value):
        return value if isinstance(value, int) else re.sub(r"[\t\r\n]+", " ", str(value))

    named = [{key: field(row[key]) for key in row if row[key] is not None} for row in rows]
    index = pathlib.Path(folder) / INDEX
    try:
        text = _core.format_index(named)
    except ValueError as error:
        raise DatasetError(f"{index}: {error}") from error
    write_file(index, text)


def write_file(path: pathlib.Path, text: str) -> None:
    """Writes a file at once: it has the new text, or it is as it was."""
    write_whole(path, text.encode())


def _load_folder(folder: pathlib.Path, name: str) -> Dataset:
    if "/" in name or not name:
        raise DatasetError(f"data set name '{name}': give one without '/', which ends it in a URI")
    programs = []
    for row in _rows(folder, name):
        path = folder / row.pop("file")
        if not path.is_file():
            raise DatasetError(f"{folder / INDEX}: '{path}' is not there; restore it or drop its line")
        programs.append(Program(**{**row, "path": path}))
    return Dataset(name, programs)


def _rows(folder: pathlib.Path, name: str) -> list[dict]:
    index = folder / INDEX
    try:
        return _core.load_dataset(str(folder), name)
    except UnicodeDecodeError as error:
        raise DatasetError(f"can't read {index}: {error}") from error
    except ValueError as error:
        raise DatasetError(f"{index if index.exists() else folder}: {error}") from error


def _shipped_folder() -> pathlib.Path:
    """`hone/data` of an installed package, else `data` of a source checkout."""
    here = pathlib.Path(__file__).resolve()
    candidates = [here.parents[1] / "data"]
    if len(here.parents) > 3:
        candidates.append(here.parents[3] / "data")
    for folder in candidates:
        if (folder / INDEX).is_file():
            return folder
    raise DatasetError(
        f"the data set '{SHIPPED}' is missing: no {INDEX} in "
        + " or ".join(str(folder) for folder in candidates)
        + "; install hone again, or load a folder of your own"
    )
