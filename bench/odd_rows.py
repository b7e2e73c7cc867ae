"""Rows of lengths and counts that vectors and processors do not divide: softmax and normalisation.

Also writes kernels.json, the plan of hone's kernels.

    .venv-jax/bin/python bench/odd_rows.py FOLDER
    for f in FOLDER/*.hlo; do build/bin/hone bench $f --plan FOLDER/kernels.json --budget 1s; done
"""

import json
import pathlib
import sys

import jax
import jax.numpy as jnp

from lowered import f32, write


def softmax(x):
    return jax.nn.softmax(x, -1)


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


if __name__ == "__main__":
    programs = {}
    for rows, length in ((9523, 21), (4081, 49), (3125, 64), (2597, 77), (1041, 192), (1015, 197), (200, 1000),
                         (195, 1024)):
        programs[f"softmax_{rows}x{length}"] = (softmax, f32(rows, length))
        programs[f"normalised_{rows}x{length}"] = (normalised, f32(rows, length))
    write(__doc__, programs)
    plan = {"format": "hone tuned plan", "version": 1, "choices": {}, "flags": {},
            "passes": ["call-inliner:every_call_site", "tuple-simplifier", "implement:loops"]}
    (pathlib.Path(sys.argv[1]) / "kernels.json").write_text(json.dumps(plan) + "\n", encoding="utf-8")
