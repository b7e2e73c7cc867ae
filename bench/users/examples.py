#!/usr/bin/env python3
"""Runs an example script of Flax or optax, unmodified, on made-up data of the same shapes.

  examples.py optax/examples/mlp_mnist.ipynb --steps 30 --json
  examples.py flax/examples/mnist/train.py --steps 20 --json
  examples.py optax/examples/nanolm.ipynb --steps 8 --json

The scripts come from those libraries' own repositories; a notebook is its code cells. Modules that only load data,
draw or export (tensorflow, tensorflow_datasets, matplotlib, orbax.export) are stood in for. After so many calls of the
function that the script names `train_step` or `step` it is ended. `--json` prints the seconds of every step and its
loss, as bench/jax_steps.py reads them:

  hone record -o recorded -- python bench/users/examples.py FILE --steps 6
  hone tune recorded --store tuned.db --budget 2m
  bench/jax_steps.py steps tuned.db bench/users/examples.py --pairs 5 --steps 20 -- FILE
"""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import time
import types
from unittest import mock

import numpy as np

_CHARACTERS = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_IMAGES = {"mnist": ((28, 28, 1), 10, 6000)}


class Enough(Exception):
    """The script has made its steps."""


class Data:
    """As much of tf.data.Dataset as these scripts use. Made anew at every iteration, the same each time."""

    def __init__(self, items):
        self._items = items  # a function to an iterator

    def map(self, function):
        def mapped():
            for item in self._items():
                yield function(*item) if isinstance(item, tuple) else function(item)

        return Data(mapped)

    def batch(self, size, **_):
        def batched():
            held = []
            for item in self._items():
                held.append(item)
                if len(held) == size:
                    yield _stacked(held)
                    held = []

        return Data(batched)

    def concatenate(self, other):
        return Data(lambda: (item for data in (self, other) for item in data.as_numpy_iterator()))

    def shuffle(self, *_, **__):
        return self

    prefetch = shuffle

    def as_numpy_iterator(self):
        return self._items()

    __iter__ = as_numpy_iterator

    @staticmethod
    def source(data):
        """grain.MapDataset.source of tensorflow_datasets.data_source."""
        return data


def _stacked(items):
    first = items[0]
    if isinstance(first, dict):
        return {name: np.stack([item[name] for item in items]) for name in first}
    return tuple(np.stack(column) for column in zip(*items))


def load(name, split=None, as_supervised=False, with_info=False):
    """tensorflow_datasets.load."""
    if name == "tiny_shakespeare":
        def text(length, seed):
            chosen = np.random.default_rng(seed).integers(0, len(_CHARACTERS), length)
            data = (_CHARACTERS + "".join(_CHARACTERS[i] for i in chosen)).encode()
            return Data(lambda: iter([{"text": data}]))

        return {"train": text(1_003_854, 0), "test": text(55_770, 1), "validation": text(55_770, 2)}
    shape, classes, count = _IMAGES[name]

    features = {"label": types.SimpleNamespace(num_classes=classes),
                "image": types.SimpleNamespace(shape=shape)}

    def images(seed):
        def made():
            generator = np.random.default_rng(seed)
            for _ in range(count):
                image, label = generator.integers(0, 256, shape, np.uint8), generator.integers(0, classes)
                yield (image, label) if as_supervised else {"image": image, "label": label}

        data = Data(made)
        data.dataset_info = types.SimpleNamespace(features=features)
        return data

    found = [images(seed) for seed in range(len(split))] if isinstance(split, list) else images(0)
    return (found, types.SimpleNamespace(features=features)) if with_info else found


class Settings(dict):
    """ml_collections.ConfigDict."""

    __getattr__ = dict.__getitem__


def stand_in():
    tensorflow = mock.MagicMock(name="tensorflow")
    tensorflow.cast = lambda value, kind: np.asarray(value, kind)
    tensorflow.float32 = np.float32
    modules = {"tensorflow": tensorflow, "grain": types.SimpleNamespace(MapDataset=Data),
               "tensorflow_datasets": types.SimpleNamespace(load=load, data_source=load)}
    for name in ("matplotlib", "ml_collections", "flax.metrics.tensorboard", "orbax.export"):
        modules[name] = mock.MagicMock(name=name)
    sys.modules.update(modules)


def count_steps(most, answer):
    """Has jax.jit and nnx.jit time the functions called `train_step` and `step`."""
    import jax
    from flax import nnx

    def counted(jit):
        def made(function=None, **named):
            if function is None:
                return lambda function: made(function, **named)
            jitted = jit(function, **named)
            if getattr(function, "__name__", "") not in ("train_step", "step"):
                return jitted

            def step(*arguments):
                if answer["within"]:  # nnx.jit uses jax.jit
                    return jitted(*arguments)
                answer["within"] = True
                start = time.perf_counter()
                results = jitted(*arguments)
                changed = [nnx.state(one) for one in arguments if isinstance(one, nnx.Pytree)]
                jax.block_until_ready((results, changed))
                answer["within"] = False
                answer["seconds"].append(time.perf_counter() - start)
                answer["losses"].append(_loss(results, arguments))
                if len(answer["losses"]) == most:
                    raise Enough
                return results

            return step

        return made

    jax.jit, nnx.jit = counted(jax.jit), counted(nnx.jit)


def _loss(results, arguments):
    """The first scalar of the results, or what the metrics among the arguments have added up."""
    import jax

    for leaf in jax.tree.leaves(results):
        if leaf.ndim == 0 and leaf.dtype.kind == "f":
            return float(leaf)
    metrics = next(one for one in arguments if hasattr(one, "compute"))
    return float(metrics.compute()["loss"])


def source_of(file):
    text = pathlib.Path(file).read_text(encoding="utf-8")
    if not file.endswith(".ipynb"):
        return text
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join(line for cell in cells for line in cell.splitlines() if not line.startswith("%"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    stand_in()
    answer = {"seconds": [], "losses": [], "within": False}
    count_steps(options.steps, answer)
    module = types.ModuleType("example")
    sys.modules["example"] = module
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Enough):
        exec(compile(source_of(options.file), options.file, "exec"), module.__dict__)
        if hasattr(module, "train_and_evaluate"):  # Flax's examples have their settings in other files
            module.train_and_evaluate(
                Settings(learning_rate=0.1, momentum=0.9, batch_size=128, num_epochs=10), "unused")
    if options.json:
        print(json.dumps({"seconds": answer["seconds"], "losses": answer["losses"]}))
    else:
        for seconds, loss in zip(answer["seconds"], answer["losses"]):
            print(f"{1000 * seconds:.1f} ms, loss {loss:.5f}")


if __name__ == "__main__":
    main()
