"""The interface of HloEnv (Oh et al. 2022) on today's unmodified XLA.

```python
from hone.hloenv import AltPipeline, HloEnv, Pass, Pipeline

env = HloEnv("model.hlo", "cpu")
alternatives = AltPipeline(Pass("algsimp"))
while env.run(alternatives):
    graph = env.get_hlo_graph()
    env.apply_alternatives([[node, 1] for node in graph.alternative_indices])
```

`docs/from-hloenv.md` says which call of HloEnv's is which here, and what is different. The compiler
runs in a process of its own, which all environments of a Python process share.
"""

from hone.hloenv._env import EvaluationResult, HloEnv
from hone.hloenv._graph import HloGraph, HloRewriteGraph
from hone.hloenv._module import HloModule, workbench
from hone.hloenv._passes import (
    AltPipeline, HloPass, Pass, PassFailed, PassInterface, Pipeline, RewritePipeline)

__all__ = [
    "AltPipeline", "EvaluationResult", "HloEnv", "HloGraph", "HloModule", "HloPass",
    "HloRewriteGraph", "Pass", "PassFailed", "PassInterface", "Pipeline", "RewritePipeline",
    "workbench",
]
