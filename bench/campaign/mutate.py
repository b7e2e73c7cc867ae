"""Changes to programs. Each takes a Program, which it changes, and a random.Random; it answers whether
there was anything to change. Not every program that comes out is legal: XLA's parser and verifier say."""

import re

from program import ARRAY, element_type, leaves, split

SIZES = [0, 0, 1, 1, 1, 2, 3, 5, 7, 16, 17, 31, 64, 100, 129]
FLOATS = ["f32", "f64", "bf16", "f16"]
INTEGERS = ["s32", "s64", "s8", "u32", "u8", "u64", "s16", "u16", "s4"]
OTHERS = ["pred", "c64", "f8e4m3fn", "f8e5m2"]
FLOAT_VALUES = ["0", "-0", "1", "-1", "inf", "-inf", "nan", "3.4e38", "1e-42", "0.1", "65520"]
INTEGER_VALUES = ["0", "1", "2", "3", "7", "-1", "100", "127", "128", "2147483647", "-2147483648"]
TRIPS = ["0", "1", "2", "3", "5", "8", "33", "1000", "-1", "2147483647"]
OPCODES = [
    ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "atan2",
     "and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic"],
    ["exponential", "tanh", "log", "sqrt", "rsqrt", "cbrt", "negate", "abs", "sine", "cosine", "tan",
     "logistic", "log-plus-one", "exponential-minus-one", "sign", "floor", "ceil", "erf", "not",
     "round-nearest-even", "round-nearest-afz", "copy", "popcnt", "count-leading-zeros"],
]
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]


def _sizes_of(shape):
    return [int(d) for array in ARRAY.finditer(shape)
            for d in re.findall(r"\d+", array[2])]


def _resized(text, change):
    """Sizes in shapes, and the attributes that speak of sizes."""
    return ARRAY.sub(
        lambda m: f"{m[1]}[{re.sub(r'[0-9]+', lambda d: str(change(int(d[0]))), m[2])}]", text)


def scalar_constants(program):
    """Arrays of constants as one of their values everywhere, so that their sizes can change."""
    for computation in program.computations.values():
        added = []
        for instruction in computation:
            if instruction.opcode != "constant" or not element_type(instruction.shape):
                continue
            if instruction.shape.endswith("[]"):
                continue
            values = re.findall(r"[^\s{},]+", instruction.operands[0]) or ["0"]
            value = values[0] if "..." not in values[0] and "(" not in values[0] else "0"
            name = instruction.name + ".value"
            scalar = type(instruction)(name, instruction.shape.split("[")[0] + "[]", "constant",
                                       [value], [])
            instruction.opcode, instruction.operands = "broadcast", [name]
            instruction.attributes = ["dimensions={}"]
            added.append(scalar)
        computation[:0] = added


def dimension(program, rng):
    """One size becomes another wherever it is, perhaps in products as well."""
    sizes = sorted({d for i in program.instructions() for d in _sizes_of(i.shape)})
    if not sizes:
        return False
    scalar_constants(program)
    old = rng.choice(sizes)
    new = rng.choice(SIZES + [old - 1, old + 1, 2 * old, old // 2])
    if new < 0 or new == old:
        return False
    products = rng.random() < 0.6 and old > 1

    def change(size):
        if size == old:
            return new
        return size // old * new if products and size % old == 0 else size

    numbers = re.compile(r"(?<![\w.\-])\d+(?![\w.])")
    for instruction in program.instructions():
        instruction.shape = _resized(instruction.shape, change)
        for i, attribute in enumerate(instruction.attributes):
            key = attribute.split("=")[0]
            if key == "slice":  # {[start:limit:stride], …}
                attribute = re.sub(r":(\d+)", lambda m: f":{change(int(m[1]))}", attribute, count=9)
            elif key in ("dynamic_slice_sizes", "slice_sizes", "size"):
                attribute = numbers.sub(lambda m: str(change(int(m[0]))), attribute)
            elif key == "feature_group_count" or (key == "window" and rng.random() < 0.5):
                attribute = re.sub(r"(?<==)\d+(x\d+)*", lambda m: "x".join(
                    str(max(1, change(int(d)))) for d in m[0].split("x")), attribute)
            instruction.attributes[i] = attribute
    return True


def scalars(program, rng):
    """No dimension at all, in a program without anything but what works on every shape."""
    scalar_constants(program)
    for instruction in program.instructions():
        instruction.shape = re.sub(r"\[[\d,]*\]", "[]", instruction.shape)
        instruction.attributes = [re.sub(r"^(dimensions|slice)=\{.*\}$", r"\1={}", a)
                                  for a in instruction.attributes]
    return True


def small(program, rng):
    """Every size of more than a few dozen is divided by the same number."""
    sizes = [d for i in program.instructions() for d in _sizes_of(i.shape) if d > 48]
    if not sizes:
        return False
    scalar_constants(program)
    by = rng.choice([2, 4, 8, 16, 32])
    for old in sorted(set(sizes)):
        _replace_size(program, old, max(1, old // by) if old % by == 0 else old)
    return True


def _replace_size(program, old, new):
    for instruction in program.instructions():
        instruction.shape = _resized(instruction.shape, lambda d: new if d == old else d)
        instruction.attributes = [
            re.sub(rf"(?<=[:={{, ]){old}(?=[\]}},])", str(new), a)
            if a.startswith(("slice=", "dynamic_slice_sizes=", "slice_sizes=")) else a
            for a in instruction.attributes]


def element(program, rng):
    """One element type becomes another everywhere, constants too."""
    types = sorted({m[1] for i in program.instructions() for m in ARRAY.finditer(i.shape)} - {"pred"})
    if not types:
        return False
    old = rng.choice(types)
    family = FLOATS if old in FLOATS else INTEGERS if old in INTEGERS else FLOATS
    new = rng.choice(family if rng.random() < 0.85 else FLOATS + INTEGERS + OTHERS)
    if new == old:
        return False
    for instruction in program.instructions():
        of = element_type(instruction.shape)
        instruction.shape = re.sub(rf"\b{old}\[", f"{new}[", instruction.shape)
        if instruction.opcode == "constant" and of == old and new not in FLOATS:
            instruction.operands = [_as_integers(instruction.operands[0], new)]
    return True


def _as_integers(literal, new):
    if new == "pred":
        return re.sub(r"[^\s{},]+", "true", literal)
    least = 0 if new.startswith("u") else -8
    return re.sub(r"[^\s{},]+", lambda m: str(max(least, min(7, int(float(m[0])) if re.fullmatch(
        r"-?[\d.]+(e[-+]?\d+)?", m[0]) else 0))), literal)


def trip_count(program, rng):
    """Another bound in the condition of a while loop."""
    conditions = [a.split("=")[1] for i in program.instructions() if i.opcode == "while"
                  for a in i.attributes if a.startswith("condition=")]
    bounds = [i for name in conditions for i in program.computations.get(name, [])
              if i.opcode == "constant" and i.shape in ("s32[]", "s64[]", "u32[]")]
    if not bounds:
        return False
    rng.choice(bounds).operands = [rng.choice(TRIPS)]
    return True


def opcode(program, rng):
    """Another operation of one arity."""
    swaps = [(i, ops) for i in program.instructions() for ops in OPCODES if i.opcode in ops]
    if not swaps:
        return False
    for instruction, ops in rng.sample(swaps, min(len(swaps), rng.choice([1, 1, 2, 5]))):
        simple = 7 if ops is OPCODES[0] else 18
        of = element_type(instruction.shape)
        instruction.opcode = rng.choice(ops[:simple] if of in FLOATS else ops)
        if instruction.opcode == "erf" or not instruction.attributes:
            continue
        instruction.attributes = [a for a in instruction.attributes if "accuracy" not in a]
    return True


def constant(program, rng):
    """Zeros, infinities, extremes in place of a scalar constant."""
    found = [i for i in program.instructions()
             if i.opcode == "constant" and i.shape.endswith("[]") and "pred" not in i.shape]
    if not found:
        return False
    instruction = rng.choice(found)
    of = element_type(instruction.shape)
    instruction.operands = [rng.choice(FLOAT_VALUES if of in FLOATS else INTEGER_VALUES)]
    return True


def direction(program, rng):
    """Another direction of a comparison."""
    found = [i for i in program.instructions() if i.opcode == "compare"]
    if not found:
        return False
    instruction = rng.choice(found)
    instruction.attributes = [f"direction={rng.choice(DIRECTIONS)}" if a.startswith("direction=")
                              else a for a in instruction.attributes]
    return True


def root(program, rng):
    """An inner instruction, or some of them, as the entry's root."""
    inner = [i for i in program.entry if not i.root]
    if not inner:
        return False
    some = rng.sample(inner, min(len(inner), rng.choice([1, 1, 1, 2, 4])))
    if rng.random() < 0.3:
        some.append(program.root())
    program.root().root = False
    if len(some) == 1:
        some[0].root = True
        program.entry.append(program.entry.pop(program.entry.index(some[0])))
        _sort(program.entry)
    else:
        program.entry.append(type(some[0])(
            "several", "(" + ", ".join(i.shape for i in some) + ")", "tuple",
            [i.name for i in some], [], True))
    if rng.random() < 0.6:
        program.remove_dead()
    return True


def _sort(computation):
    """Operands before users."""
    done, left = set(), list(computation)
    names = {i.name for i in computation}
    ordered = []
    while left:
        ready = [i for i in left if i.literal or all(o in done or o not in names
                                                     for o in i.operands)]
        if not ready:
            return
        ordered += ready
        done |= {i.name for i in ready}
        left = [i for i in left if i.name not in done]
    computation[:] = ordered


def operand(program, rng):
    """An earlier instruction of the same shape as an operand."""
    computation = rng.choice(list(program.computations.values()))
    shapes = {i.name: i.shape for i in computation}
    places = [(at, k) for at, i in enumerate(computation) if not i.literal
              for k in range(len(i.operands))]
    if not places:
        return False
    at, k = rng.choice(places)
    wanted = shapes.get(computation[at].operands[k])
    others = [i.name for i in computation[:at] if i.shape == wanted]
    if not others:
        return False
    computation[at].operands[k] = rng.choice(others)
    return True


def twin(program, rng):
    """An instruction twice, the second for some of its users."""
    computation = rng.choice(list(program.computations.values()))
    at = rng.randrange(len(computation))
    one = computation[at]
    if one.opcode == "parameter":
        return False
    other = type(one)(one.name + ".twin", one.shape, one.opcode, list(one.operands),
                      list(one.attributes))
    for user in computation[at + 1:]:
        if not user.literal and rng.random() < 0.5:
            user.operands = [other.name if o == one.name else o for o in user.operands]
    computation.insert(at + 1, other)
    return True


def parameter(program, rng):
    """A parameter in place of another of its shape, of a constant; a constant in place of one."""
    parameters = program.parameters()
    arrays = [p for p in parameters if element_type(p.shape)]
    what = rng.randrange(3)
    if what == 0 and len(arrays) > 1:
        one = rng.choice(arrays)
        same = [p for p in arrays if p.shape == one.shape and p is not one]
        if not same:
            return False
        other = rng.choice(same)
        for user in program.entry:
            if not user.literal:
                user.operands = [other.name if o == one.name else o for o in user.operands]
        return True
    if what == 1 and arrays:  # the last one, so that the others keep their numbers
        last = parameters[-1]
        if not element_type(last.shape):
            return False
        scalar = type(last)(last.name + ".value", f"{element_type(last.shape)}[]", "constant",
                            ["1" if element_type(last.shape) != "pred" else "true"], [])
        last.opcode, last.operands, last.attributes = "broadcast", [scalar.name], ["dimensions={}"]
        program.entry.insert(0, scalar)
        return True
    constants = [i for i in program.entry if i.opcode == "constant"]
    if not constants:
        return False
    chosen = rng.choice(constants)
    chosen.opcode, chosen.operands, chosen.attributes = "parameter", [str(len(parameters))], []
    return True


def donate(program, rng):
    """A parameter's buffer given to a result of its shape."""
    results = leaves(program.root().shape)
    pairs = [(r, p) for r, result in enumerate(results)
             for p, given in enumerate(program.parameters()) if given.shape == result]
    if not pairs:
        return False
    r, p = rng.choice(pairs)
    index = r if program.root().shape.startswith("(") else ""
    kind = rng.choice(["may-alias", "must-alias"])
    program.header += f", input_output_alias={{ {{{index}}}: ({p}, {{}}, {kind}) }}"
    return True


def attribute(program, rng):
    """Another number in an attribute."""
    found = [(i, k) for i in program.instructions() for k, a in enumerate(i.attributes)
             if re.search(r"\d", a.split("=", 1)[-1]) and not i.called()]
    if not found:
        return False
    instruction, k = rng.choice(found)
    text = instruction.attributes[k]
    numbers = [m for m in re.finditer(r"(?<![\w.])\d+", text)]
    if not numbers:
        return False
    number = rng.choice(numbers)
    value = max(0, int(number[0]) + rng.choice([-1, 1, 1, 2, 100, 2**31, 2**62]))
    instruction.attributes[k] = text[:number.start()] + str(value) + text[number.end():]
    return True


def order(program, rng):
    """A control dependency between two instructions of the entry."""
    if len(program.entry) < 3:
        return False
    first, second = sorted(rng.sample(range(len(program.entry)), 2))
    if program.entry[second].opcode in ("parameter", "constant"):
        return False
    if any(a.startswith("control-pred") for a in program.entry[second].attributes):
        return False
    program.entry[second].attributes.append(f"control-predecessors={{{program.entry[first].name}}}")
    return True


MUTATIONS = [dimension, dimension, dimension, element, element, small, scalars, trip_count,
             trip_count, opcode, opcode, constant, direction, root, root, operand, twin, parameter,
             donate, attribute, order]


def damage(text, rng):
    """Text that is most likely no program any more."""
    lines = text.splitlines()
    what = rng.randrange(12)
    at = rng.randrange(len(text))
    if what == 0:
        return text[:at]
    if what == 1:
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    elif what == 2:
        del lines[rng.randrange(len(lines))]
    elif what == 3:
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    elif what == 4:
        numbers = list(re.finditer(r"\d+", text))
        if not numbers:
            return text[:at]
        m = rng.choice(numbers)
        huge = rng.choice(["99999999999999999999", "-1", "2147483648", "9223372036854775807", "1e9",
                           "4611686018427387904", "65536", "1000000"])
        return text[:m.start()] + huge + text[m.end():]
    elif what == 5:
        return text[:at] + rng.choice("{}()[],=%\"<>?\0\x07\xff\u20ac") + text[at + 1:]
    elif what == 6:
        return text[:at] + rng.choice("({[") * rng.choice([10, 1000, 50000]) + text[at:]
    elif what == 7:
        return text.replace("ROOT ", rng.choice(["", "ROOT ROOT "]))
    elif what == 8:
        return text.replace("ENTRY ", "")
    elif what == 9:  # an operand that comes later, perhaps a cycle
        names = re.findall(r"^\s+(?:ROOT )?([\w.\-]+) = ", text, re.M)
        m = rng.choice(list(re.finditer(re.escape(rng.choice(names)), text)) or [None]) \
            if names else None
        return text[:at] if m is None else text[:m.start()] + rng.choice(names) + text[m.end():]
    elif what == 10:
        words = split(text.replace("\n", " "), " ")
        return text.replace(rng.choice(words), rng.choice(words))
    else:
        dims = "[" + ",".join(["1"] * rng.choice([9, 65, 300])) + "]"
        return re.sub(r"\[[\d,]+\]", dims, text, count=rng.choice([1, 1000]))
    return "\n".join(lines)
