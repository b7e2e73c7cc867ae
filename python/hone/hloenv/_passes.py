"""What can be run on a program."""

# As often HloEnv repeats what it repeats until nothing changes.
MOST_LOOPS = 25


class PassFailed(RuntimeError):
    """A pass failed, or killed or hung its compiler. The program is as it was before it."""


class PassInterface:
    """A pass by its name (`hone passes` lists them) or by the name of its class in XLA."""

    def __init__(self, name):
        self.name = str(name)

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r})"


class _HloPass:
    """`HloPass.AlgebraicSimplifier()`: passes by XLA's class names.

    Options are part of a pass's name here, such as "algsimp:layout_sensitive".
    """

    def __getattr__(self, class_name):
        if class_name.startswith("_"):
            raise AttributeError(class_name)

        def make(*options, **named):
            if options or named:
                raise ValueError(
                    f"{class_name} takes no options here: its variants are passes of their own, "
                    "such as 'algsimp:layout_sensitive'; `hone passes` lists them")
            return PassInterface(class_name)

        return make

    def __call__(self, name):
        return PassInterface(name)


HloPass = _HloPass()


class Pass(PassInterface):
    """A pass, run `loop_count` times; -1 is until nothing changes, at most 25 times.

    With `decisions` (of `hone.rewrites.choose_sites`, `choose_contents` or `plan_from_json`) only
    some of its rewrites are made.
    """

    def __init__(self, hlo_pass, loop_count=1, decisions=None):
        super().__init__(getattr(hlo_pass, "name", hlo_pass))
        self.loop_count = loop_count
        self.decisions = decisions
        self.changed = False


class Pipeline(PassInterface):
    """Passes and pipelines, one after the other, run `loop_count` times, as `Pass`."""

    def __init__(self, name, loop_count=1):
        super().__init__(name)
        self.loop_count = loop_count
        self.passes = []
        self.changed = False

    def add_pass(self, hlo_pass, loop_count=1):
        """Adds a pass, a pipeline, or a pass's name."""
        if not isinstance(hlo_pass, (Pass, Pipeline, AltPipeline)):
            hlo_pass = Pass(hlo_pass, loop_count)
        self.passes.append(hlo_pass)


class AltPipeline(PassInterface):
    """What it holds is not done but listed: `HloEnv.run` returns whether there is a choice to make.

    The passes have their turns: one is listed again and again, as the program changes, until it
    offers nothing new, then the next one. What was declined is not offered again in the same turn, so
    `while env.run(alternatives): …` comes to an end whatever is chosen; then it begins anew.
    """

    def __init__(self, hlo_pass, loop_count=1):
        if not isinstance(hlo_pass, (Pass, Pipeline)):
            hlo_pass = Pass(hlo_pass)
        super().__init__(hlo_pass.name)
        self.loop_count = loop_count
        self.passes = list(_flat(hlo_pass))
        self.changed = False
        self._begin()

    def _begin(self):
        self._turn = 0
        self._loop = 0
        self._changed_in_loop = False
        self._declined = set()

    def _next(self):
        """Whether there is a next turn."""
        self._declined = set()
        self._turn += 1
        if self._turn < len(self.passes):
            return True
        self._turn = 0
        self._loop += 1
        most = self.loop_count if self.loop_count >= 0 else MOST_LOOPS
        changed, self._changed_in_loop = self._changed_in_loop, False
        return bool(self.passes) and self._loop < most and changed


class RewritePipeline(AltPipeline):
    """The same; HloEnv tells alternatives and rewrites apart, here they are two views of one."""


def _flat(one):
    if isinstance(one, Pass):
        yield one.name
    elif isinstance(one, AltPipeline):
        raise ValueError("an AltPipeline holds passes and pipelines, not AltPipelines")
    else:
        for inner in one.passes:
            yield from _flat(inner)
