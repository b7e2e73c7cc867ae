"""Programs and their rewrites as graphs."""

import types

import numpy as np

# Kinds of edges, of core/program_arrays.h.
_OPERAND = 0
_CALL = 1


class HloGraph:
    """The program as arrays, nodes and edges numbered from 0.

    Nodes are callees before callers, operands before users. `features` has it all, see
    `HloEnv.get_features`; the attributes are HloEnv's.
    """

    def __init__(self, features, names, fingerprint, fusion_opcode):
        self.features = features
        self._fingerprint = fingerprint
        start, sources, kinds = (features[k] for k in ("edge_start", "edge_source", "edge_kind"))
        count = len(features["opcode"])
        targets = np.repeat(np.arange(count, dtype=np.int32), np.diff(start))
        order = np.argsort(sources, kind="stable")
        self.in_edge_offsets = start
        self.in_edge_indices = sources
        self.out_edge_offsets = np.searchsorted(sources[order], np.arange(count + 1)).astype(np.int32)
        self.out_edge_indices = targets[order]
        self.in_edge_features = types.SimpleNamespace(
            uids=np.arange(len(sources)), srcs=sources, dsts=targets, types=kinds)
        self.out_edge_features = types.SimpleNamespace(
            uids=order, srcs=sources[order], dsts=targets[order], types=kinds[order])
        operand = kinds == _OPERAND
        self.alternative_indices = features["alternatives"]["original"]
        # Of each of these: its choices, 0 for the original among them.
        self.num_alternatives = 1 + np.diff(features["alternatives"]["site_start"])
        is_alternative = np.zeros(count, bool)
        is_alternative[self.alternative_indices] = True
        called = sources[kinds == _CALL]  # roots of computations, and who calls them
        callers = targets[kinds == _CALL]
        in_fusion = np.isin(
            features["computation"],
            features["computation"][called[features["opcode"][callers] == fusion_opcode]])
        in_bytes = np.zeros(count, np.float32)
        np.add.at(in_bytes, targets[operand], features["bytes"][sources[operand]])
        self.node_features = types.SimpleNamespace(
            uids=np.arange(count), names=names, gids=features["computation"],
            opcodes=features["opcode"],
            num_users=np.bincount(sources[operand], minlength=count),
            num_operands=np.bincount(targets[operand], minlength=count),
            is_alternative=is_alternative, is_in_fusion=in_fusion,
            in_tensor_sizes=in_bytes, out_tensor_sizes=features["bytes"])

    def hash(self):
        return int(self._fingerprint, 16)


class HloRewriteGraph:
    """What the listed pass would do: `rewrite_data` (sites) and which of it conflicts."""

    def __init__(self, pass_name, rewrites, offered):
        self.pass_name = pass_name
        self.rewrites = rewrites
        self.rewrite_data = rewrites.sites
        self.offered = offered  # bool: not declined before in this turn
        self.conflicts = np.array(rewrites.conflicts, np.int64).reshape(-1, 2)

    @property
    def num_rewrites(self):
        return len(self.rewrite_data)

    @property
    def adjacency_matrix(self):
        """bool [rewrites, rewrites]; `conflicts` has the same pairs without the zeros."""
        matrix = np.zeros((self.num_rewrites, self.num_rewrites), bool)
        matrix[self.conflicts[:, 0], self.conflicts[:, 1]] = True
        return matrix | matrix.T
