"""A smaller program with the same fault."""

import time

from program import Program


def _candidates(program):
    """Programs of fewer instructions: the root is one of its operands, an instruction a parameter."""
    for at in range(len(program.entry) - 1, -1, -1):
        one = program.entry[at]
        if one.root and not one.literal:
            for name in dict.fromkeys(one.operands):
                smaller = program.copy()
                smaller.entry[at].root = False
                next(i for i in smaller.entry if i.name == name).root = True
                yield smaller
            if one.opcode == "tuple":
                for k in range(len(one.operands)):
                    smaller = program.copy()
                    root = smaller.entry[at]
                    del root.operands[k]
                    shapes = {i.name: i.shape for i in smaller.entry}
                    root.shape = "(" + ", ".join(shapes[o] for o in root.operands) + ")"
                    yield smaller
        elif one.opcode not in ("parameter", "constant"):
            smaller = program.copy()
            now = smaller.entry[at]
            now.opcode, now.operands, now.attributes = "parameter", ["0"], []
            yield smaller
    for name, computation in program.computations.items():
        if name == program.entry_name:
            continue
        for at, one in enumerate(computation):  # an operand in place of what has its shape
            for operand in [] if one.literal else one.operands:
                if all(i.shape != one.shape for i in computation if i.name == operand):
                    continue
                smaller = program.copy()
                for user in smaller.computations[name]:
                    if not user.literal:
                        user.operands = [operand if o == one.name else o for o in user.operands]
                    if user.name == operand and one.root:
                        user.root = True
                del smaller.computations[name][at]
                yield smaller
                break


def _tidy(program):
    """Without what the root does not need; parameters numbered anew."""
    program.remove_dead()
    used = {o for i in program.entry if not i.literal for o in i.operands}
    used.add(program.root().name)
    program.computations[program.entry_name] = [
        i for i in program.entry if i.opcode != "parameter" or i.name in used]
    program.header = ""
    for number, p in enumerate(i for i in program.entry if i.opcode == "parameter"):
        p.operands = [str(number)]
    return program


def reduce_program(text, fails, seconds):
    """The text of a smaller program of which `fails` is true as well, found in about that time."""
    begin = time.monotonic()
    try:
        best = Program(text)
    except (ValueError, AttributeError, IndexError):
        return text
    best_text = text
    found = True
    while found and time.monotonic() - begin < seconds:
        found = False
        for candidate in _candidates(best):
            smaller = str(_tidy(candidate))
            if len(smaller) < len(best_text) and fails(smaller):
                best, best_text, found = Program(smaller), smaller, True
                break
            if time.monotonic() - begin > seconds:
                break
    return best_text
