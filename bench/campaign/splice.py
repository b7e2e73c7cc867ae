"""Programs made of programs: one calls two, a loop or a conditional holds one."""

from program import Instruction, Program, element_type, leaves


def _empty(name):
    return Program(f"HloModule {name}\n\nENTRY main {{\n}}\n")


def _take(into, program, prefix):
    """Its computations, renamed; the entry as one to be called. Answers that one's name."""
    for name, computation in program.computations.items():
        for instruction in computation:
            instruction.rename_called(lambda called: prefix + called)
        into.computations[prefix + name] = computation
    into.computations["main"] = into.computations.pop("main")  # the entry stays the last
    return prefix + program.entry_name


def _zeros(into, shape):
    """Instructions of zeros of a shape, the last that shape itself; None where it cannot be had."""
    made = []
    for k, leaf in enumerate(leaves(shape)):
        if not element_type(leaf):
            return None
        name = f"zero.{len(into)}.{k}"
        zero = "false" if leaf.startswith("pred") else "(0, 0)" if leaf.startswith("c") else "0"
        into.append(Instruction(name, leaf.split("[")[0] + "[]", "constant", [zero], []))
        into.append(Instruction(name + ".all", leaf, "broadcast", [name], ["dimensions={}"]))
        made.append(name + ".all")
    if shape.startswith("("):
        into.append(Instruction(f"zeros.{len(into)}", shape, "tuple", made, []))
    return into[-1].name if made else None


def _call(into, name, shape, callee, operands):
    into.append(Instruction(name, shape, "call", operands, [f"to_apply={callee}"]))


def _parameters(into, shapes):
    """Parameters of these shapes, after those that are there; their names."""
    first = sum(i.opcode == "parameter" for i in into)
    names = [f"p.{k}" for k in range(len(shapes))]
    for k, (name, shape) in enumerate(zip(names, shapes)):
        into.append(Instruction(name, shape, "parameter", [str(first + k)], []))
    return names


def _unpack(into, tuple_name, shapes, prefix):
    names = [f"{prefix}.{k}" for k in range(len(shapes))]
    for k, (name, shape) in enumerate(zip(names, shapes)):
        into.append(Instruction(name, shape, "get-tuple-element", [tuple_name], [f"index={k}"]))
    return names


def _tuple(into, name, operands, root=False):
    shapes = {i.name: i.shape for i in into}
    into.append(Instruction(name, "(" + ", ".join(shapes[o] for o in operands) + ")", "tuple",
                            operands, [], root))


def both(a, b, rng):
    """Each called, the results in a tuple; the second is given the first's parameters where it can."""
    program = _empty("both")
    main, results, given = program.entry, [], {}
    for prefix, part in (("a.", a), ("b.", b)):
        operands = []
        for p in part.parameters():
            name = given.get(p.shape) if prefix == "b." and rng.random() < 0.5 else None
            if name is None:
                number = sum(i.opcode == "parameter" for i in main)
                name = f"p.{number}"
                main.append(Instruction(name, p.shape, "parameter", [str(number)], []))
                given[p.shape] = name
            operands.append(name)
        result = part.root().shape
        _call(main, prefix + "result", result, _take(program, part, prefix), operands)
        results.append(prefix + "result")
    _tuple(main, "results", results, True)
    return program


def twice(a, b, rng):
    """Called, and called again with what came of it where a parameter has that shape."""
    program = _empty("twice")
    main = program.entry
    shapes = [p.shape for p in a.parameters()]
    result = a.root().shape
    operands = _parameters(main, shapes)
    callee = _take(program, a, "a.")
    _call(main, "first", result, callee, operands)
    again = ["first" if s == result and rng.random() < 0.7 else o for s, o in zip(shapes, operands)]
    _call(main, "second", result, callee, again)
    _tuple(main, "results", rng.choice([["first", "second"], ["second", "second"]]), True)
    return program


def loop(a, b, rng):
    """In a while loop, of a known number of trips or of one that is passed."""
    program = _empty("loop")
    shapes = [p.shape for p in a.parameters()]
    result = a.root().shape
    callee = _take(program, a, "a.")
    state = ["s32[]"] + shapes + [result]
    whole = "(" + ", ".join(state) + ")"
    main = program.computations.pop("main")
    known = rng.random() < 0.6

    bound = ["constant", [str(rng.choice([0, 1, 2, 3, 9]))]]
    if not known:
        state.insert(1, "s32[]")
        whole = "(" + ", ".join(state) + ")"
    condition = [Instruction("state", whole, "parameter", ["0"], [])]
    _unpack(condition, "state", state[:2 - known], "s")
    if known:
        condition.append(Instruction("s.1", "s32[]", *bound, []))
    condition.append(Instruction("less", "pred[]", "compare", ["s.0", "s.1"], ["direction=LT"], True))
    body = [Instruction("state", whole, "parameter", ["0"], [])]
    held = _unpack(body, "state", state, "s")
    first = 2 - known
    body.append(Instruction("one", "s32[]", "constant", ["1"], []))
    body.append(Instruction("next", "s32[]", "add", ["s.0", "one"], []))
    _call(body, "result", result, callee, held[first:-1])
    fed = ["result" if s == result and rng.random() < 0.6 else o
           for s, o in zip(shapes, held[first:-1])]
    _tuple(body, "after", ["next"] + held[1:first] + fed + ["result"], True)
    program.computations.update({"again": condition, "step": body, "main": main})

    main.append(Instruction("start", "s32[]", "constant", ["0"], []))
    operands = ["start"] + _parameters(main, state[1:-1])
    zeros = _zeros(main, result)
    if zeros is None:
        return None
    _tuple(main, "before", operands + [zeros])
    main.append(Instruction("loop", whole, "while", ["before"], ["condition=again", "body=step"]))
    if rng.random() < 0.5:
        main[-1].root = True
    else:
        main.append(Instruction("last", result, "get-tuple-element", ["loop"],
                                [f"index={len(state) - 1}"], True))
    return program


def branch(a, b, rng):
    """One side of a conditional; the other is zeros."""
    program = _empty("branch")
    shapes = [p.shape for p in a.parameters()]
    result = a.root().shape
    callee = _take(program, a, "a.")
    main = program.computations.pop("main")
    whole = "(" + ", ".join(shapes) + ")"
    one = [Instruction("given", whole, "parameter", ["0"], [])]
    _call(one, "result", result, callee, _unpack(one, "given", shapes, "g"))
    one[-1].root = True
    other = [Instruction("given", whole, "parameter", ["0"], [])]
    if _zeros(other, result) is None:
        return None
    other[-1].root = True
    program.computations.update({"one": one, "other": other, "main": main})
    index = rng.random() < 0.3
    main.append(Instruction("which", "s32[]" if index else "pred[]", "parameter", ["0"], []))
    _tuple(main, "given", _parameters(main, shapes))
    calls = (["branch_computations={one, other, one}"] if index
             else ["true_computation=one", "false_computation=other"])
    main.append(Instruction("result", result, "conditional",
                            ["which"] + ["given"] * (3 if index else 2), calls, True))
    return program


SPLICES = [both, both, twice, loop, loop, branch]
