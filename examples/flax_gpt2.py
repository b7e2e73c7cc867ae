"""Trains a small GPT-2 with Flax and optax on made-up text. It knows nothing of hone:

    hone record -o recorded -- python examples/flax_gpt2.py
    hone tune recorded --store tuned.db --budget 2m
    hone with tuned.db -- python examples/flax_gpt2.py

`--json` prints the seconds of every step and its loss.
"""

import argparse
import json
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Block(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x, mask):
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=self.heads)(y, y, mask=mask)
        y = nn.LayerNorm()(x)
        y = nn.gelu(nn.Dense(4 * x.shape[-1])(y))
        return x + nn.Dense(x.shape[-1])(y)


class GPT2(nn.Module):
    vocabulary: int
    width: int
    heads: int
    layers: int
    longest: int

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(self.vocabulary, self.width, name="wte")
        positions = nn.Embed(self.longest, self.width, name="wpe")(jnp.arange(tokens.shape[-1]))
        x = embed(tokens) + positions
        mask = nn.make_causal_mask(tokens)
        for _ in range(self.layers):
            x = Block(self.heads)(x, mask)
        return embed.attend(nn.LayerNorm()(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq", type=int, default=32)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    key = jax.random.key(options.seed)
    model = GPT2(options.vocabulary, options.width, 4, options.layers, options.seq)
    shape = (options.batch, options.seq + 1)
    text = jax.random.randint(key, (8, *shape), 0, options.vocabulary)
    params = jax.jit(model.init)(key, text[0, :, :-1])
    optimizer = optax.adamw(1e-3)
    state = jax.jit(optimizer.init)(params)

    @jax.jit
    def train_step(params, state, tokens):
        def loss_of(params):
            logits = model.apply(params, tokens[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        loss, gradients = jax.value_and_grad(loss_of)(params)
        updates, state_after = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state_after, loss

    seconds, losses = [], []
    for step in range(options.steps):
        tokens = text[step % len(text)]
        begun = time.perf_counter()
        params, state, loss = train_step(params, state, tokens)
        losses.append(float(loss))
        seconds.append(time.perf_counter() - begun)
        if not options.json:
            print(f"step {step}: loss {losses[-1]:.4f}, {1000 * seconds[-1]:.1f} ms")
    if options.json:
        print(json.dumps({"seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main()
