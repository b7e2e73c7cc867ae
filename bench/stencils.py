"""Stencils on grids whose edges meet, as users write them with jnp.roll.

    .venv-jax/bin/python bench/stencils.py FOLDER
    build/bin/hone tune FOLDER --budget 10s
"""

import jax
import jax.numpy as jnp
import lowered


def grid(*sizes, of="float32"):
    return jax.ShapeDtypeStruct(sizes, of)


def laplacian(x):
    return sum(jnp.roll(x, by, axis) for axis in range(x.ndim) for by in (1, -1)) - 2 * x.ndim * x


def laplacian_of_fourth_order(x):
    weights = {-2: -1 / 12, -1: 4 / 3, 1: 4 / 3, 2: -1 / 12}
    return sum(weight * jnp.roll(x, by, axis) for axis in range(x.ndim)
               for by, weight in weights.items()) - 2.5 * x.ndim * x


def steps(count, step):
    return lambda *state: jax.lax.fori_loop(0, count, lambda _, state: step(*state), state)


def gray_scott(u, v):
    both = u * v * v
    return (u + 0.16 * laplacian(u) - both + 0.06 * (1 - u),
            v + 0.08 * laplacian(v) + both - 0.12 * v)


def wave(now, before):
    return 2 * now - before + 0.1 * laplacian_of_fourth_order(now), now


def shallow_water(h, u, v):
    def slope(x, axis):
        return (jnp.roll(x, -1, axis) - jnp.roll(x, 1, axis)) / 2

    return (h - 0.1 * (slope(h * u, 0) + slope(h * v, 1)), u - 0.1 * slope(h, 0),
            v - 0.1 * slope(h, 1))


def ising(key, spins):
    key, now = jax.random.split(key)
    field = laplacian(spins) + 4 * spins
    turns = jax.random.uniform(now, spins.shape) < jnp.exp(-0.8 * spins * field)
    return key, jnp.where(turns, -spins, spins)


def inversion(speed, start):
    """The gradient of what is left of a wave by the speeds that it has."""
    def loss(speed):
        def step(state, _):
            now, before = state
            after = 2 * now - before + speed * laplacian_of_fourth_order(now)
            return (after, now), None

        return (jax.lax.scan(step, (start, start), None, length=20)[0][0] ** 2).sum()

    return jax.grad(loss)(speed)


PROGRAMS = {
    "heat_256": (laplacian, grid(256, 256)),
    "heat_fourth_order_256": (steps(20, lambda x: (x + 0.1 * laplacian_of_fourth_order(x),)),
                              grid(256, 256)),
    "gray_scott_128": (steps(20, gray_scott), grid(128, 128), grid(128, 128)),
    "wave_fourth_order_128_f64": (steps(20, wave), grid(128, 128, of="float64"),
                                  grid(128, 128, of="float64")),
    "shallow_water_128": (steps(20, shallow_water), *[grid(128, 128)] * 3),
    "ising_128": (steps(10, ising), grid(2, of="uint32"), grid(128, 128)),
    "heat_volume_48": (steps(10, lambda x: (x + 0.1 * laplacian(x),)), grid(48, 48, 48)),
    "inversion_96": (inversion, grid(96, 96), grid(96, 96)),
}

if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    lowered.write(__doc__, PROGRAMS)
