"""Trains a small ResNet with Flax and optax on made-up images. It knows nothing of hone:

    hone record -o recorded -- python examples/flax_resnet.py
    hone tune recorded --store tuned.db --budget 2m
    hone with tuned.db -- python examples/flax_resnet.py

`--json` prints the seconds of every step and its loss.
"""

import argparse
import functools
import json
import time

import flax.linen as nn
import jax
import optax


class Block(nn.Module):
    features: int
    stride: int

    @nn.compact
    def __call__(self, x):
        conv = functools.partial(nn.Conv, use_bias=False)
        norm = functools.partial(nn.BatchNorm, use_running_average=False)
        y = conv(self.features, (3, 3), (self.stride, self.stride))(x)
        y = nn.relu(norm()(y))
        y = norm()(conv(self.features, (3, 3))(y))
        if x.shape != y.shape:
            x = norm()(conv(self.features, (1, 1), (self.stride, self.stride))(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    """Of the shape of ResNet-18: a wide first convolution, a max-pool, stages of blocks."""

    width: int
    classes: int
    stages: int
    blocks: int

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.width, (7, 7), (2, 2), use_bias=False)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for stage in range(self.stages):
            for block in range(self.blocks):
                x = Block(self.width << stage, 2 if stage > 0 and block == 0 else 1)(x)
        return nn.Dense(self.classes)(x.mean((1, 2)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=1)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    key = jax.random.key(options.seed)
    model = ResNet(options.width, 10, options.stages, options.blocks)
    images = jax.random.normal(key, (4, options.batch, options.size, options.size, 3))
    labels = jax.random.randint(key, (4, options.batch), 0, 10)
    variables = jax.jit(model.init)(key, images[0])
    params, statistics = variables["params"], variables["batch_stats"]
    optimizer = optax.sgd(0.01, momentum=0.9)
    state = jax.jit(optimizer.init)(params)

    @jax.jit
    def train_step(params, statistics, state, images, labels):
        def loss_of(params):
            logits, changed = model.apply({"params": params, "batch_stats": statistics}, images,
                                          mutable=["batch_stats"])
            loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
            return loss, changed["batch_stats"]

        (loss, statistics_after), gradients = jax.value_and_grad(loss_of, has_aux=True)(params)
        updates, state_after = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), statistics_after, state_after, loss

    seconds, losses = [], []
    for step in range(options.steps):
        batch = images[step % len(images)], labels[step % len(labels)]
        begun = time.perf_counter()
        params, statistics, state, loss = train_step(params, statistics, state, *batch)
        losses.append(float(loss))
        seconds.append(time.perf_counter() - begun)
        if not options.json:
            print(f"step {step}: loss {losses[-1]:.4f}, {1000 * seconds[-1]:.1f} ms")
    if options.json:
        print(json.dumps({"seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main()
