"""Programs as data sets: the shipped ones, those of a folder, and those that JAX models give.

    from hone import datasets

    models = datasets.load("models")                      # the programs that come with hone
    small = models.filter(phase="train", max_instructions=1000)
    program = models["models/gpt2/hf_train_l4_d256_adamw"]

    text = datasets.from_jax(fn, jax.ShapeDtypeStruct((8, 16), "float32"))   # HLO of any function
    text = datasets.from_flax(transformers.GPT2Config(), task="causal-lm", phase="train")

    python -m hone.datasets.paper FOLDER                  # 429 GPT-2, BERT and ResNet graphs

Making programs needs `pip install 'hone[datasets]'`.
"""

from .flax_models import OPTIMIZERS, TASKS, from_flax
from .programs import Dataset, DatasetError, Program, count_instructions, find, load, write_index
from .lowering import from_jax

__all__ = [
    "OPTIMIZERS",
    "TASKS",
    "Dataset",
    "DatasetError",
    "Program",
    "count_instructions",
    "find",
    "from_flax",
    "from_jax",
    "load",
    "write_index",
]
