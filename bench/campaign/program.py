"""HLO text as lists of instructions: enough to change a program, not to understand it."""

import copy
import re
from dataclasses import dataclass

ARRAY = re.compile(r"\b(pred|bf16|[sufc]\d\w*)\[([^\]]*)\](\{[^{}]*\})?")
CALLED = re.compile(r"^(to_apply|calls|condition|body|select|scatter|true_computation|"
                    r"false_computation|branch_computations|called_computations)=")
_NAME = re.compile(r"[\w.\-]+")
_INSTRUCTION = re.compile(r"^\s*(ROOT\s+)?%?([\w.\-]+)\s+=\s+(.+)$")
_NOISE = re.compile(r"^(metadata|origin|frontend_attributes|backend_config)=")
_PAIRS = {"(": ")", "{": "}", "[": "]"}


def split(text, separator=","):
    """At the separators outside of brackets and quotes; nothing where there is nothing."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "({[":
            depth += 1
        elif c in ")}]":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _closing(text, start):
    """Of the bracket at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in _PAIRS) - (text[i] in _PAIRS.values())
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed")


@dataclass
class Instruction:
    """`operands` are names; of a constant or parameter what stands between the brackets."""
    name: str
    shape: str
    opcode: str
    operands: list
    attributes: list
    root: bool = False

    def __str__(self):
        tail = "".join(", " + a for a in self.attributes)
        return (f"  {'ROOT ' if self.root else ''}{self.name} = {self.shape} "
                f"{self.opcode}({', '.join(self.operands)}){tail}")

    @property
    def literal(self):
        return self.opcode in ("constant", "parameter", "iota", "infeed", "partition-id")

    def called(self):
        """Names of the computations that it calls."""
        names = []
        for attribute in self.attributes:
            if CALLED.match(attribute):
                names += _NAME.findall(attribute.split("=", 1)[1])
        return names

    def rename_called(self, change):
        for i, attribute in enumerate(self.attributes):
            if CALLED.match(attribute):
                key, names = attribute.split("=", 1)
                self.attributes[i] = f"{key}={_NAME.sub(lambda m: change(m[0]), names)}"


def _parse_instruction(text):
    root, name, rest = _INSTRUCTION.match(text).groups()
    end = _closing(rest, 0) + 1 if rest[0] == "(" else rest.index(" ")
    shape, rest = rest[:end], rest[end:].strip()
    opening = rest.index("(")
    closing = _closing(rest, opening)
    opcode, inner = rest[:opening].strip(), rest[opening + 1:closing].strip()
    attributes = [a for a in split(rest[closing + 1:].lstrip(", ")) if not _NOISE.match(a)]
    if opcode in ("constant", "parameter"):
        operands = [inner]
    else:  # an operand may come with its shape
        operands = [split(operand, " ")[-1] for operand in split(inner)]
    shape = ARRAY.sub(lambda m: f"{m[1]}[{m[2]}]", shape)  # default layouts
    return Instruction(name, shape, opcode, operands, attributes, root is not None)


class Program:
    """Computations by name, callees first; the last is the entry."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text)
        text = re.sub(r"%(?=[\w])", "", text)
        self.name = (re.search(r"^HloModule\s+([\w.\-]+)", text) or [0, "program"])[1]
        self.header = ""
        self.computations = {}
        current, entry, pending = None, None, ""
        for line in text.splitlines():
            if current is None:
                begins = re.match(r"^(ENTRY\s+)?([\w.\-]+)\b[^=]*\{\s*$", line)
                if begins and not line.startswith("HloModule"):
                    current = self.computations.setdefault(begins[2], [])
                    entry = begins[2] if begins[1] else entry
            elif re.match(r"^\}", line):
                if pending:
                    current.append(_parse_instruction(pending))
                current, pending = None, ""
            elif _INSTRUCTION.match(line):
                if pending:
                    current.append(_parse_instruction(pending))
                pending = line
            else:
                pending += " " + line.strip()  # a constant over several lines
        if entry is None:
            raise ValueError("no entry")
        self.entry_name = entry
        self.computations[entry] = self.computations.pop(entry)

    @property
    def entry(self):
        return self.computations[self.entry_name]

    def copy(self):
        return copy.deepcopy(self)

    def instructions(self):
        return [i for computation in self.computations.values() for i in computation]

    def parameters(self):
        """Of the entry, in order."""
        found = [i for i in self.entry if i.opcode == "parameter"]
        return sorted(found, key=lambda i: int(i.operands[0]))

    def root(self):
        return next((i for i in self.entry if i.root), self.entry[-1])

    def prune(self):
        """Without the computations that nothing reachable calls."""
        wanted, todo = set(), [self.entry_name]
        while todo:
            name = todo.pop()
            if name in wanted or name not in self.computations:
                continue
            wanted.add(name)
            for instruction in self.computations[name]:
                todo += instruction.called()
        self.computations = {n: c for n, c in self.computations.items() if n in wanted}

    def remove_dead(self):
        """Entry instructions that the root does not need; parameters stay."""
        needed, by_name = set(), {i.name: i for i in self.entry}
        todo = [self.root().name]
        while todo:
            name = todo.pop()
            if name in needed or name not in by_name:
                continue
            needed.add(name)
            if not by_name[name].literal:
                todo += by_name[name].operands
        self.computations[self.entry_name] = [
            i for i in self.entry if i.name in needed or i.opcode == "parameter"]
        self.prune()

    def __str__(self):
        lines = [f"HloModule {self.name}{self.header}", ""]
        for name, computation in self.computations.items():
            lines.append(f"{'ENTRY ' if name == self.entry_name else ''}{name} {{")
            lines += [str(instruction) for instruction in computation]
            lines += ["}", ""]
        return "\n".join(lines)


def element_type(shape):
    """Of an array; nothing of a tuple."""
    match = ARRAY.fullmatch(shape)
    return match[1] if match else None


def leaves(shape):
    """The shapes in a tuple; of an array that itself."""
    return split(shape[1:-1]) if shape.startswith("(") else [shape]
