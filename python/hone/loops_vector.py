"""Many environments over schedules of loop nests as one Gymnasium vector environment."""

import numpy as np
from gymnasium.vector import AutoresetMode

from hone import loops
from hone._vector import CoreVectorEnv


class LoopsVectorEnv(CoreVectorEnv):
    """`num_envs` environments as `LoopsEnv`, which share tasks and workers.

    A worker is a thread, with a hone-loops of its own where kernels run. Each environment keeps to one
    worker. With `measure="estimate"` and the same seeds, `step` gives the same results whatever the
    number of workers. Kernels that run on several workers at once are timed on a busy machine.

    Args:
      num_envs: environments. Environment i begins with task i, unless a seed or a task is given.
      workers: threads that steps are made on.
      autoreset_mode: a `gymnasium.vector.AutoresetMode`.
      The rest: as `LoopsEnv`.
    """

    _begins_on = "task"

    def __init__(self, tasks="matmul_64_64_64", num_envs=1, *, actions="flat", observation=loops.PARTS,
                 reward="immediate", measure="time", steps=5, threads=0, failure=0.0, workers=1,
                 sandbox=True, autoreset_mode=AutoresetMode.NEXT_STEP, render_mode=None):
        self._parts, self._single = loops.observation_parts(observation)
        self.task_names = loops.task_names(tasks)
        self._names = np.array(self.task_names, dtype=object)
        self._product = actions == "product"
        self._start(num_envs, autoreset_mode, render_mode,
                    lambda count, autoreset: loops.make_core(
                        self.task_names, actions=actions, reward=reward, measure=measure, steps=steps,
                        threads=threads, failure=failure, workers=workers, sandbox=sandbox,
                        count=count, autoreset=autoreset))
        self._set_spaces(*loops.make_spaces(self._core, self._product, self._parts, self._single))

    @staticmethod
    def _part(core, part, final):
        return core.observe(part, final)

    def _take(self, actions):
        loops.take(self._core, self._product, actions)

    def _one(self, action):
        return [int(number) for number in action] if self._product else int(action)

    def _columns(self, outcomes, final):
        return {
            "speedup": outcomes["speedup"],
            "schedule": np.array(outcomes["schedules"], dtype=object),
            "task": self._names[outcomes["task"]],
        }

    @property
    def restarts(self):
        """How many processes of hone-loops were lost."""
        return self._core.restarts
