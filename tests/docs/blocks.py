"""The fenced code blocks of the documentation, and what is said about running them.

A block is `sh`, `console` (commands behind `$ ` and what they print), `python` or `json`, and is run by
test_code_blocks.py; `text`, `rules`, `mermaid` and the like are not code of the reader's. HTML comments in
front of a block, which no reader sees, say how:

    <!-- no-run: WHY -->      it takes long, or wants what a test has not; its commands' flags are checked
    <!-- file: NAME -->       it is what that file holds; later blocks of the page may use it
    <!-- needs: jax -->       only where that is: jax (new enough for hone.jax), learn (hone-learn)
    <!-- continues -->        a python block that begins where the last of the page's ended
    <!-- given:               code in front of it that its reader is assumed to have
    ... -->
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

RUN = ("sh", "console", "python", "json")
SHOWN = ("text", "rules", "mermaid", "cpp", "hlo", "toml", "ini")

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
_COMMENT = re.compile(r"<!--\s*(?P<key>no-run|file|needs|continues|given)\b:?(?P<value>.*?)-->", re.S)


@dataclasses.dataclass
class Block:
    page: str  # relative to the root
    line: int  # of the fence
    language: str
    text: str
    marks: dict

    @property
    def name(self):
        return f"{self.page}:{self.line}"


def pages():
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *(p for p in found if "reference" not in p.parts)]


def blocks_of(page, text):
    """The blocks of a page's text. A comment counts for the block that follows it directly."""
    lines = text.splitlines()
    found, comment, at = [], [], 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence is None:
            if lines[at].startswith("<!--") or (comment and "-->" not in comment[-1]):
                comment.append(lines[at])
            elif lines[at].strip():
                comment = []
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].strip() != "```":
            end += 1
        indent = len(fence["indent"])
        body = "".join(line[indent:] + "\n" for line in lines[at + 1:end])
        marks = {m["key"]: m["value"].strip("\n ") for m in _COMMENT.finditer("\n".join(comment))}
        found.append(Block(page, at + 1, fence["info"].strip(), body, marks))
        comment, at = [], end + 1
    return found


def all_blocks():
    return [block for page in pages()
            for block in blocks_of(str(page.relative_to(ROOT)), page.read_text())]


def commands_of(block):
    """(command, what it prints) of a console block; ("the whole", "") of an sh block's lines."""
    if block.language == "sh":
        return [(line, "") for line in _joined(block.text.splitlines()) if line.strip()]
    found = []
    for line in _joined(block.text.splitlines()):
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif found:
            found[-1][1] += line + "\n"
    return [tuple(one) for one in found]


def _joined(lines):
    """Lines that end in a backslash with those that follow."""
    whole = ""
    for line in lines:
        if line.endswith("\\"):
            whole += line[:-1]
        else:
            yield whole + line
            whole = ""
    if whole:
        yield whole


_NUMBER = re.compile(r"(?<![\w-])[+-]?\d[\d,]*(\.\d+)?%?")


def shape_of(line):
    """A line of output without what differs from run to run: numbers, padding, cut-off ends."""
    return " ".join(_NUMBER.sub("#", line.partition("…")[0]).split())


def same_structure(expected, printed):
    """Lines of `expected` that nothing in `printed` looks like.

    A table's head must be there with its columns. A line `word: …` must begin alike. Other lines are what
    this run came to.
    """
    shapes = [shape_of(line) for line in printed.splitlines()]
    missing = []
    for line in expected.splitlines():
        words = line.split()
        is_head = len(words) > 2 and all(word.isupper() or "/" in word for word in words)
        key = re.match(r"[a-z]+: ", line)
        if is_head and shape_of(line) not in shapes:
            missing.append(line)
        elif key and not any(shape.startswith(key[0].strip()) for shape in shapes):
            missing.append(line)
    return missing
