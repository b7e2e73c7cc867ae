"""Trains a small depthwise convolution and a dense layer with plain JAX. It knows nothing of hone:

    hone record -o recorded -- python examples/jax_depthwise.py
    hone tune recorded --store tuned.db --budget 30s
    hone with tuned.db -- python examples/jax_depthwise.py

`--json` prints the seconds of every step and its loss.
"""

import argparse
import json
import time

import jax
import jax.numpy as jnp
from jax import lax


def network(params, images):
    features = lax.conv_general_dilated(
        images, params["depthwise"], (1, 1), "SAME", feature_group_count=images.shape[-1],
        dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.relu(features).mean((1, 2)) @ params["dense"]


@jax.jit
def train_step(params, images, targets):
    def loss_of(params):
        return jnp.mean((network(params, images) - targets) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    keys = jax.random.split(jax.random.key(options.seed), 4)
    params = {
        "depthwise": jax.random.normal(keys[0], (3, 3, 1, 96)),
        "dense": jax.random.normal(keys[1], (96, 10)),
    }
    images = jax.random.normal(keys[2], (8, 32, 32, 96))
    targets = jax.random.normal(keys[3], (8, 10))
    seconds, losses = [], []
    for step in range(options.steps):
        begun = time.perf_counter()
        params, loss = train_step(params, images, targets)
        losses.append(float(loss))
        seconds.append(time.perf_counter() - begun)
        if not options.json:
            print(f"step {step}: loss {losses[-1]:.6f}, {1000 * seconds[-1]:.1f} ms")
    if options.json:
        print(json.dumps({"seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main()
