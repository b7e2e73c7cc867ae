"""Programs, and the compiler process that they live in."""

from hone import _core, _options
from hone.fetch_xla import ready_worker

_shared = None


def workbench(**options):
    """The compiler process that the environments share; with options, one of your own.

    Args:
      pass_deadline, call_deadline: seconds after which a pass, or another call, is given up.
      memory_limit: MiB that the compiler may take beside the bare library.
      rules: a list of files of your own rewrite rules (`docs/rules.md`).
      sandbox: whether the compiler locks itself up (`docs/architecture.md`).
    """
    global _shared
    if options:
        return _core.Workbench({"worker_path": ready_worker(), **options})
    if _shared is None or not _shared.alive:  # a child that was forked off has none
        _shared = _core.Workbench({"worker_path": ready_worker()})
    return _shared


class HloModule:
    """A program: a value, which no method changes.

    Args:
      input: a path or URI (`format="path"`), or HLO text (`format="txt"`, or where it begins with
        "HloModule").
    """

    def __init__(self, input, format="path", *, bench=None, _state=None):
        self._bench = bench or workbench()
        if _state is not None:
            self._state = _state
        elif format == "txt":
            self._state = self._bench.load(input.encode())
        elif format == "path":
            found = _options.read_programs(input)
            if len(found) != 1:
                raise ValueError(f"{input} is {len(found)} programs")
            self._state = self._bench.load(found[0][1])
        else:
            raise ValueError(f"format is 'path' or 'txt', not {format!r}")

    def _with(self, state):
        return HloModule(None, bench=self._bench, _state=state)

    def to_string(self):
        return self._bench.text(self._state)

    def to_proto(self):
        """The bytes of an HloModuleProto."""
        return self._bench.proto(self._state)

    @property
    def fingerprint(self):
        """32 hexadecimal digits; of the structure, not of names and metadata."""
        return self._state.fingerprint

    def hash(self):
        """The fingerprint as a number."""
        return int(self.fingerprint, 16)

    @property
    def name(self):
        return self._state.name

    @property
    def instruction_count(self):
        """Of every computation reachable from the entry."""
        return self._state.op_count

    @property
    def computation_count(self):
        return self._state.computations

    def cost_analysis(self):
        """{"flops", "transcendentals", "bytes accessed", "peak memory"}, by XLA; -1 where unknown."""
        metrics = self._bench.metrics(self._state)
        return {"flops": metrics["flops"], "transcendentals": metrics["transcendentals"],
                "bytes accessed": metrics["bytes_accessed"], "peak memory": metrics["peak_memory"]}

    def clone(self):
        return self._with(self._state)

    def _extracted(self, what, seed=0, most=10000):
        return [HloModule(text, "txt", bench=self._bench)
                for text in self._bench.extract(self._state, what, seed, most)]

    def extract_random_submodule(self, seed=0, depth=8):
        """An instruction drawn at random, with what it is computed from, at most `depth` deep."""
        return self._extracted("random", seed, depth)[0]

    def extract_fusions(self):
        """Each fusion as a program of its own."""
        return self._extracted("fusions")

    def extract_instructions(self):
        """Each instruction of the entry as a program of its own; equal ones once."""
        return self._extracted("instructions")

    extract_fusions_as_module = extract_fusions
    extract_instructions_as_module = extract_instructions

    def __eq__(self, other):
        return isinstance(other, HloModule) and self.fingerprint == other.fingerprint

    def __hash__(self):
        return hash(self.fingerprint)
