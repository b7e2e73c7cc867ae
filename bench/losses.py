#!/usr/bin/env python3
"""Training steps of an embedding and a head, with the losses over a vocabulary that users write.

    .venv-jax/bin/python bench/losses.py FOLDER
    build/bin/hone bench FOLDER/integer_f32.hlo --plan FOLDER/kernels.json --budget 2s
"""

import argparse
import json
import pathlib

import jax
import jax.numpy as jnp

WORDS, TOKENS, FEATURES = 8000, 256, 128
TIED = ("integer", "shift", "onehot")  # whose head is the embedding
IN_BF16 = ("integer", "onehot", "smooth", "masked")
# All of hone's kernels that there is room for, as `hone tune` races them at once.
KERNELS = ["call-inliner:every_call_site", "tuple-simplifier", "implement:loops"]
KERNELS += ["implement:products", "implement:transposes"]


def looked_up(rows, labels):
    return jnp.take_along_axis(rows, labels[:, None], -1)[:, 0]


def by_labels(logits, labels):
    return jax.nn.logsumexp(logits, -1) - looked_up(logits, labels)


def masked(logits, labels):
    mask = (labels != 0).astype(logits.dtype)
    losses = -looked_up(jax.nn.log_softmax(logits), labels)
    return (losses * mask).sum() / jnp.maximum(mask.sum(), 1)


def smooth(logits, labels):
    wanted = jax.nn.one_hot(labels, WORDS) * 0.9 + 0.1 / WORDS
    return -(wanted * jax.nn.log_softmax(logits)).sum(-1)


def onehot(logits, labels):
    wanted = jax.nn.one_hot(labels, WORDS, dtype=logits.dtype)
    return -(wanted * jax.nn.log_softmax(logits)).sum(-1)


def onehot_where(logits, labels):
    wanted = jax.nn.one_hot(labels, WORDS, dtype=bool)
    return -jnp.where(wanted, jax.nn.log_softmax(logits), 0).sum(-1)


def shift(logits, labels):
    return -looked_up(jax.nn.log_softmax(logits[:-1]), labels[1:])


def zloss(logits, labels):
    return by_labels(logits, labels) + 1e-4 * jax.nn.logsumexp(logits, -1) ** 2


def softcap(logits, labels):
    return by_labels(30 * jnp.tanh(logits / 30), labels)


def focal(logits, labels):
    log = looked_up(jax.nn.log_softmax(logits), labels)
    return -((1 - jnp.exp(log)) ** 2) * log


def distill(logits, labels):
    del labels
    teacher = jax.nn.softmax(jnp.roll(logits, 1, 0) / 2)
    return (teacher * (jnp.log(teacher + 1e-9) - jax.nn.log_softmax(logits / 2))).sum(-1)


def topk_acc(logits, labels):
    right = (jnp.argmax(logits, -1) == labels).mean()
    return by_labels(logits, labels).mean() + 0 * right


def bce(logits, labels):
    wanted = jax.nn.one_hot(labels, WORDS)
    return jnp.maximum(logits, 0) - logits * wanted + jnp.log1p(jnp.exp(-jnp.abs(logits)))


LOSSES = {
    "integer": by_labels,
    "onehot": onehot,
    "onehot_where": onehot_where,
    "smooth": smooth,
    "zloss": zloss,
    "masked": masked,
    "shift": shift,
    "softcap": softcap,
    "focal": focal,
    "distill": distill,
    "topk_acc": topk_acc,
    "bce": bce,
}


def step(name, kind):
    def train(weights, first, second, tokens, labels):
        def loss(weights):
            embedding, head = weights
            hidden = embedding[tokens].astype(kind)
            hidden = hidden - hidden.mean(-1, keepdims=True)
            head = embedding if name in TIED else head
            logits = jnp.einsum("td,vd->tv", hidden, head.astype(kind)).astype(jnp.float32)
            return LOSSES[name](logits, labels).mean()

        value, gradients = jax.value_and_grad(loss)(weights)
        norm = jnp.sqrt(sum((gradient**2).sum() for gradient in gradients))
        gradients = jax.tree.map(lambda g: g * jnp.minimum(1, 1 / norm), gradients)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        weights = jax.tree.map(
            lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, first, second
        )
        return value, weights, first, second

    return train


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    table = jax.ShapeDtypeStruct((WORDS, FEATURES), jnp.float32)
    tokens = jax.ShapeDtypeStruct((TOKENS,), jnp.int32)
    arguments = [(table, table)] * 3 + [tokens, tokens]
    for name in LOSSES:
        kinds = {"f32": jnp.float32} | ({"bf16": jnp.bfloat16} if name in IN_BF16 else {})
        for kind, type_ in kinds.items():
            text = jax.jit(step(name, type_)).lower(*arguments).as_text("hlo")
            (folder / f"{name}_{kind}.hlo").write_text(text)
    plan = {"format": "hone tuned plan", "version": 1, "passes": KERNELS}
    (folder / "kernels.json").write_text(json.dumps(plan, indent=2) + "\n")


if __name__ == "__main__":
    main()
