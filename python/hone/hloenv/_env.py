"""The environment itself."""

import dataclasses
import types

import numpy as np

from hone import _core
from hone.hloenv._graph import HloGraph, HloRewriteGraph
from hone.hloenv._module import HloModule, workbench
from hone.hloenv._passes import MOST_LOOPS, AltPipeline, Pass, PassFailed, Pipeline
from hone.rewrites import choose_contents, choose_sites


# Kinds of sites that a pass does not stop at: what it changed is put back where it was declined.
_IN_PLACE = ("layout", "sharding", "backend_config", "attributes")


@dataclasses.dataclass
class EvaluationResult:
    """Nanoseconds of each run on XLA:CPU, compiled as usual, after one that does not count."""

    durations: list

    @property
    def compute_durations(self):
        return self.durations

    @property
    def full_durations(self):
        return self.durations


class HloEnv:
    """A program, and passes that run on it or are asked what they would do.

    Args:
      hlo: a path or URI, HLO text, or an `HloModule`.
      platform: "cpu". The compiler is that of the tensorflow-cpu wheel.

    Raises:
      ValueError: no such program, or another platform.
    """

    def __init__(self, hlo, platform="cpu", *, bench=None):
        if platform != "cpu":
            raise ValueError(f"the platform is 'cpu': this XLA has no {platform!r}")
        self._bench = bench or workbench()
        self.failures = []  # (pass, message) of those that could not say what they would do
        self.load_hlo(hlo)

    # The program.

    def load_hlo(self, hlo, format="path"):
        """Takes another program: an `HloModule`, a path or URI, or HLO text."""
        if not isinstance(hlo, HloModule):
            hlo = HloModule(hlo, format, bench=self._bench)
        elif hlo._bench is not self._bench:
            hlo = HloModule(hlo.to_string(), "txt", bench=self._bench)
        self._state = hlo._state
        self._listed = None

    load = load_hlo

    def get_hlo_module(self):
        return HloModule(None, bench=self._bench, _state=self._state)

    clone_hlo = get_hlo_module

    def clone(self):
        """Another environment with this program. Alternatives that are listed are not taken along."""
        return HloEnv(self.get_hlo_module(), bench=self._bench)

    def export_hlo_to_str(self):
        return self._bench.text(self._state)

    def hash(self):
        return int(self._state.fingerprint, 16)

    get_hlo_module_hash = hash

    def cost_analysis(self):
        return self.get_hlo_module().cost_analysis()

    def extract_random_submodule(self, seed=0, depth=8):
        return self.get_hlo_module().extract_random_submodule(seed, depth)

    def extract_fusions(self):
        return self.get_hlo_module().extract_fusions()

    def extract_instructions(self):
        return self.get_hlo_module().extract_instructions()

    @property
    def made(self):
        """[(pass, Decisions)] of what changed the program since it was loaded."""
        return self._state.links

    # Passes.

    @property
    def pass_names(self):
        return self._bench.passes

    def _pass(self, name):
        classes = self._bench.pass_classes
        if any(name == known for known, _ in classes):
            return name
        for known, class_name in classes:
            if class_name == name:
                return known
        return name  # which the worker does not know either, and says so

    def run(self, pass_pipeline):
        """Runs a pass or pipeline, by object or name; or, an `AltPipeline`, asks what it would do.

        Returns:
          Whether there is a choice to make, by `apply_alternatives` or `apply_rewrites`.

        Raises:
          PassFailed: the program is as it was before the pass that failed.
          ValueError: no such pass.
        """
        if isinstance(pass_pipeline, AltPipeline):
            return self._list(pass_pipeline)
        self._listed = None
        self._run(pass_pipeline)
        return self._listed is not None

    def _run(self, one):
        """Whether it changed something."""
        if isinstance(one, AltPipeline):
            raise ValueError("an AltPipeline is run by itself: there is a choice to make after it")
        if not isinstance(one, (Pass, Pipeline)):
            one = Pass(one)
        one.changed = False
        most = one.loop_count if one.loop_count >= 0 else MOST_LOOPS
        for _ in range(most):
            if isinstance(one, Pass):
                changed = self._apply(one.name, one.decisions)
            else:
                changed = any([self._run(inner) for inner in one.passes])
            one.changed |= changed
            if one.loop_count < 0 and not changed:
                break
        return one.changed

    def _apply(self, name, decisions=None):
        state, changed, failure = self._bench.apply(
            self._state, self._pass(name), decisions, decisions is not None)
        if failure:
            raise PassFailed(f"{name}: {failure}")
        self._state = state
        return changed

    def optimize_hlo_module(self):
        """Runs the simplifying passes of XLA:CPU's own order; `evaluate` runs the rest of it."""
        program = self._bench.load(self.export_hlo_to_str().encode())
        simplifiers = set(self._bench.simplifiers)
        self._listed = None
        for name, _ in self._bench.stock_passes(program):
            if name in simplifiers:
                self._apply(name)

    # Alternatives.

    def _list(self, pipeline):
        self._listed = None
        while pipeline.passes:
            name = self._pass(pipeline.passes[pipeline._turn])
            try:
                rewrites = self._bench.rewrites(self._state, name)
            except RuntimeError as error:
                self.failures.append((name, str(error)))
                if not pipeline._next():
                    break
                continue
            offered = np.array([s.content not in pipeline._declined for s in rewrites.sites], bool)
            if offered.any():
                self._listed = types.SimpleNamespace(pipeline=pipeline, name=name, rewrites=rewrites,
                                                     offered=offered, found=None)
                return True
            if not pipeline._next():
                break
        pipeline._begin()
        return False

    def _pending(self):
        if self._listed is None:
            raise ValueError("there is nothing to choose from: run an AltPipeline first")
        return self._listed

    def _alternatives(self):
        """CSR of what is offered, over the nodes of the graph."""
        listed = self._listed
        if listed is None:
            empty = np.zeros(0, np.int32)
            return {"original": empty, "site_start": np.zeros(1, np.int32), "site": empty,
                    "user_start": np.zeros(1, np.int32), "user": empty}
        if listed.found is None:
            found = self._bench.alternatives(self._state, listed.rewrites)
            keep = listed.offered[found["site"]]
            counts = np.add.reduceat(keep, found["site_start"][:-1]) if len(keep) else keep
            kept = np.flatnonzero(counts)
            users = [found["user"][found["user_start"][i]:found["user_start"][i + 1]] for i in kept]
            listed.found = {
                "original": found["original"][kept],
                "site_start": np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32),
                "site": found["site"][keep],
                "user_start": np.cumsum([0] + [len(u) for u in users]).astype(np.int32),
                "user": np.concatenate([np.zeros(0, np.int32), *users]),
            }
        return listed.found

    def get_features(self):
        """The program, and the alternatives that are listed, as arrays.

        Returns:
          A dict: the graph as in `docs/environment.md` ("opcode" … "edge_kind"), and
          "alternatives", CSR over A originals: "original" [A] nodes, "site_start" [A + 1], "site" [S]
          the sites that would produce their value otherwise, "user_start" [A + 1], "user" [U] the
          nodes whose edges from the original these would take over; and "sites", float64 [sites, 6]:
          kind, status, Δ instructions, Δ flops, Δ bytes, conflicts.
        """
        features = self._bench.arrays(self._state)
        del features["name"]
        features["alternatives"] = self._alternatives()
        listed = self._listed
        sites = [] if listed is None else listed.rewrites.sites
        conflicts = np.zeros(len(sites))
        for pair in [] if listed is None else listed.rewrites.conflicts:
            conflicts[list(pair)] += 1
        features["sites"] = np.array(
            [[_core.REWRITE_KINDS.index(s.kind), _core.SITE_STATUSES.index(s.status),
              s.delta_op_count, s.delta_flops, s.delta_bytes, n] for s, n in zip(sites, conflicts)],
            np.float64).reshape(-1, 6)
        return features

    def get_hlo_graph(self, debug=False, inline_fused_comp=False, do_hash_verification=False):
        """The program as a graph, with the alternatives that are listed."""
        names = self._bench.arrays(self._state)["name"]
        return HloGraph(self.get_features(), names, self._state.fingerprint,
                        self._bench.opcodes.index("fusion"))

    def get_hlo_rewrite_graph(self):
        """The rewrites that are listed, and which of them conflict."""
        listed = self._pending()
        return HloRewriteGraph(listed.name, listed.rewrites, listed.offered)

    def alternatives(self):
        """The listing itself: sites, conflicts, separable."""
        return self._pending().rewrites

    def apply_alternatives(self, decisions, enabled=False):
        """Chooses a producer for each original; those not named stay as they are.

        Args:
          decisions: [[node, choice], …]: 0 is the original, i the i-th of its alternatives.
          enabled: as for `apply_rewrites`.

        Returns:
          Whether the program changed.
        """
        self._pending()
        found = self._alternatives()
        at = {int(node): i for i, node in enumerate(found["original"])}
        chosen = []
        for node, choice in np.asarray(decisions, np.int64).reshape(-1, 2):
            if int(node) not in at:
                raise ValueError(f"node {node} has no alternatives")
            start, end = found["site_start"][at[int(node)]:at[int(node)] + 2]
            if not 0 <= choice <= end - start:
                raise ValueError(f"node {node} has {end - start} alternatives, no {choice}")
            if choice > 0:
                chosen.append(int(found["site"][start + choice - 1]))
        return self._make(chosen, enabled)

    def apply_rewrites(self, decisions, enabled=False):
        """Makes these rewrites of the listing, by their numbers.

        Args:
          decisions: numbers of sites.
          enabled: what comes up only because these are made is made too, as the pass does it; so all
            sites are the pass.

        Returns:
          [(number, status)]: "ok", or why it gives way to an earlier one: "conflict" or "cycle".
        """
        rewrites = self._pending().rewrites
        chosen = [int(site) for site in decisions]
        taken, results = set(), []
        against = {}
        for i, j in rewrites.conflicts:
            against.setdefault(j, set()).add(i)
        sites = rewrites.sites
        for site in sorted(set(chosen)):
            if not 0 <= site < len(sites):
                raise ValueError(f"there is no rewrite {site}: there are {len(sites)}")
            gives_way = against.get(site, set()) & taken
            results.append((site, sites[site].status if gives_way else "ok"))
            taken.add(site)
        self._make(sorted(taken), enabled)
        return results

    def _make(self, chosen, enabled):
        listed = self._pending()
        pipeline, sites = listed.pipeline, listed.rewrites.sites
        made = {sites[i].content for i in chosen}
        pipeline._declined |= {s.content for s in sites} - made
        self._listed = None
        if not chosen:
            return False
        whole = enabled and len(chosen) == len(sites)
        try:
            changed = self._apply(
                listed.name, None if whole else choose_sites(listed.rewrites, chosen, enabled))
        except PassFailed:
            pipeline._declined |= made
            raise
        if not changed:
            pipeline._declined |= made
        pipeline._changed_in_loop |= changed
        pipeline.changed |= changed
        return changed

    def plan(self, sites):
        """`Decisions` about the listed pass by what sites look like, for this or other programs.

        `Pass(name, decisions=…)` follows them; `hone.rewrites.plan_to_json` writes them down.
        """
        return choose_contents(self._pending().rewrites, sites)

    def ask(self, pass_):
        """A generator: runs a pass and stops at each rewrite. Send it True to accept it.

        When it ends, the program is what came of the answers. Where it is closed before, nothing has
        happened. A pass that cannot be asked one by one gives all its sites first, and is run then.
        """
        name = self._pass(getattr(pass_, "name", pass_))
        self._listed = None
        choices = {}
        listed = self._bench.rewrites(self._state, name)
        in_place = bool(listed.sites) and listed.sites[0].kind in _IN_PLACE
        if not listed.separable or in_place:  # it does not stop at what it does
            for site in listed.sites:
                choices[site.place] = bool((yield site))
        else:
            site = self._bench.converse(self._state, name)
            while site is not None:
                choices[site.place] = bool((yield site))
                site = self._bench.answer(choices[site.place])
        if any(choices.values()):
            self._apply(name, _core.Decisions("decline", 0, choices))

    def run_with(self, pass_, decide):
        """Runs a pass; `decide(site)` says of each rewrite, as it comes up, whether it is made.

        Returns:
          [(site, answer)].
        """
        log = []
        questions = self.ask(pass_)
        try:
            site = next(questions)
            while True:
                answer = bool(decide(site))
                log.append((site, answer))
                site = questions.send(answer)
        except StopIteration:
            return log

    # What it is worth.

    def evaluate(self, times=20, seed=0):
        """Runs the program on XLA:CPU, compiled as usual, with generated inputs."""
        seconds = self._bench.run_time(self._state, times, 600.0, seed)
        return EvaluationResult([int(s * 1e9) for s in seconds])

    def race(self, other, budget_seconds=20.0, seed=0):
        """Which is faster? In pairs, in alternating order, in one process.

        Returns:
          A dict: speedup (above 1 where `other` is faster), low and high (95 % interval), pairs,
          same_executable, seconds_a, seconds_b.
        """
        return self._bench.race(self._state, self._other(other), budget_seconds, seed)

    def compare(self, other, inputs=1, budget_seconds=120.0, seed=1):
        """Compares every output on the same inputs: a dict, see `hone.PassOrderEnv.verify`."""
        return self._bench.compare(self._state, self._other(other), inputs, budget_seconds, seed)

    def has_equal_output_as(self, other, times=1):
        """Whether every output is equal, up to rounding noise.

        Raises:
          RuntimeError: it cannot be told, and why.
        """
        report = self.compare(other, inputs=times)
        if report["verdict"] == "cannot tell":
            raise RuntimeError("it cannot be told whether the outputs are equal: "
                               + report["reason"])
        return report["verdict"] == "equal"

    def has_equal_output(self, first, second=None, times=1):
        """The same for two programs; or, with one, for it and this environment's."""
        if second is None:
            return self.has_equal_output_as(first, times)
        return HloEnv(first, bench=self._bench).has_equal_output_as(second, times)

    def _other(self, other):
        module = other.get_hlo_module() if isinstance(other, HloEnv) else other
        if not isinstance(module, HloModule):
            module = HloModule(module, bench=self._bench)
        if module._bench is not self._bench:
            module = HloModule(module.to_string(), "txt", bench=self._bench)
        return module._state

    @property
    def deaths(self):
        """[(what the compiler was doing, how it ended)] of every process that was lost."""
        return self._bench.deaths
