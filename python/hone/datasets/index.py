"""Data sets of programs: folders of HLO files, described by an `index.tsv`.

A program's URI is `DATASET/FILE`, FILE without its extension: the file `gpt2/a.hlo` of the data set
`models` is `models/gpt2/a`. URIs stay the same wherever the folder lies.
"""

import collections.abc
import csv
import dataclasses
import io
import os
import pathlib
import re
from collections.abc import Collection, Iterable, Iterator

from hone._files import write_whole

INDEX = "index.tsv"
SHIPPED = "models"

# The columns of index.tsv, in order. Only `file` must be there; the last three are written where
# any program has them.
COLUMNS = (
    "file",
    "family",
    "phase",
    "config",
    "instructions",
    "origin",
    "licence",
    "fingerprint",
    "group",
    "split",
)
_OPTIONAL_COLUMNS = ("fingerprint", "group", "split")

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
      group: programs of one group are close relatives and belong on one side of a split; or "".
      split: `train`, `valid` or `test`; or "".
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
        without `index.tsv` gives every `*.hlo` file below it, sorted, its family the first folder.
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


def write_index(folder: str | os.PathLike, rows: Iterable[dict]) -> None:
    """Writes FOLDER/index.tsv, at once: a reader sees the old index or the new one.

    Args:
      folder: exists already.
      rows: dictionaries by COLUMNS; what's missing is left empty. Tabs and line ends in values
        become blanks.
    """
    rows = list(rows)
    columns = [
        column
        for column in COLUMNS
        if column not in _OPTIONAL_COLUMNS or any(row.get(column) for row in rows)
    ]
    out = io.StringIO()
    out.write("\t".join(columns) + "\n")
    for row in rows:
        values = ("" if row.get(column) is None else str(row[column]) for column in columns)
        out.write("\t".join(" ".join(re.split(r"[\t\r\n]+", value)) for value in values) + "\n")
    write_file(pathlib.Path(folder) / INDEX, out.getvalue())


def write_file(path: pathlib.Path, text: str) -> None:
    """Writes a file at once: it has the new text, or it is as it was."""
    write_whole(path, text.encode())


def read_rows(index: pathlib.Path) -> list[dict]:
    """The rows of an index.tsv, as dictionaries by column, `line` (from 1) among them.

    Raises:
      DatasetError: not UTF-8, no column `file`, a column twice, or a wrong number of fields.
    """
    try:
        text = index.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"can't read {index}: {error}") from error
    lines = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(lines, [])
    if "file" not in header:
        raise DatasetError(
            f"{index}, line 1: no column 'file'; the first line names the columns, separated by "
            f"tabs: {' '.join(COLUMNS)}"
        )
    if len(set(header)) < len(header):
        raise DatasetError(f"{index}, line 1: a column is named twice; name each once")
    rows = []
    for fields in lines:
        if not fields:
            continue
        if len(fields) != len(header):
            raise DatasetError(
                f"{index}, line {lines.line_num}: {len(fields)} fields where the header has "
                f"{len(header)}; separate them by single tabs"
            )
        rows.append({**dict(zip(header, fields, strict=True)), "line": lines.line_num})
    return rows


def _load_folder(folder: pathlib.Path, name: str) -> Dataset:
    if "/" in name or not name:
        raise DatasetError(f"data set name '{name}': give one without '/', which ends it in a URI")
    index = folder / INDEX
    if index.is_file():
        return Dataset(name, [_program(folder, name, index, row) for row in read_rows(index)])
    files = sorted(path.relative_to(folder) for path in folder.rglob("*.hlo") if path.is_file())
    if not files:
        raise DatasetError(f"nothing in data set '{folder}': neither {INDEX} nor any *.hlo file")
    return Dataset(
        name,
        (
            Program(
                uri=_uri(name, file),
                path=folder / file,
                family=file.parts[0] if len(file.parts) > 1 else "",
            )
            for file in files
        ),
    )


def _program(folder: pathlib.Path, name: str, index: pathlib.Path, row: dict) -> Program:
    where = f"{index}, line {row['line']}"
    file = pathlib.PurePosixPath(row["file"])
    if not row["file"] or file.is_absolute() or ".." in file.parts:
        raise DatasetError(f"{where}: file '{row['file']}'; give a path below the index's folder")
    path = folder / file
    if not path.is_file():
        raise DatasetError(f"{where}: '{row['file']}' is not there; restore it or drop the line")
    instructions = row.get("instructions", "").replace(" ", "")
    if instructions and not (instructions.isascii() and instructions.isdigit()):
        raise DatasetError(
            f"{where}: instructions '{row['instructions']}' is no number; give digits or nothing"
        )
    family = row.get("family") or (file.parts[0] if len(file.parts) > 1 else "")
    other = ("phase", "config", "origin", "licence", "fingerprint", "group", "split")
    return Program(
        uri=_uri(name, file),
        path=path,
        family=family,
        instructions=int(instructions) if instructions else None,
        **{column: row.get(column, "") for column in other},
    )


def _uri(name: str, file: pathlib.PurePath) -> str:
    return f"{name}/{file.with_suffix('').as_posix()}"


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
