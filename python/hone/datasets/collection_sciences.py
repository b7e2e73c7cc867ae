"""Algorithms of the sciences: physics, probability, optimisation, graphics, finance."""

from .collection_algorithms import KEY, f32, program, s32


@program("physics", f32(9, 3), f32(9, 3))
def n_body(jax, x, v):
    jnp = jax.numpy

    def force(x):
        d = x[:, None] - x[None]
        r = jnp.sqrt(jnp.sum(d**2, -1) + 1e-3)
        return -jnp.sum(d / r[..., None] ** 3, 1)

    def step(state, _):
        x, v = state
        v = v + 0.005 * force(x)
        x = x + 0.01 * v
        return (x, v + 0.005 * force(x)), jnp.sum(v**2)

    return jax.lax.scan(step, (x, v), None, length=10)


@program("physics", f32(32, 32))
def heat_equation(jax, u):
    jnp = jax.numpy

    def step(_, u):
        flow = sum(jnp.roll(u, s, a) for s in (1, -1) for a in (0, 1)) - 4 * u
        return (u + 0.1 * flow).at[0].set(0.0).at[-1].set(1.0)

    return jax.lax.fori_loop(0, 20, step, u)


@program("physics", f32(32), f32(32))
def wave_equation(jax, u, v):
    jnp = jax.numpy
    for _ in range(4):
        u, v = u + 0.1 * v, v + 0.1 * jnp.convolve(u, jnp.array([1.0, -2.0, 1.0]), mode="same")
    return u, v


@program("physics", f32(16, 16))
def navier_stokes_spectral(jax, w):
    jnp = jax.numpy
    k = jnp.fft.fftfreq(16) * 16
    kx, ky = k[:, None], k[None]
    k2 = jnp.where(kx**2 + ky**2 == 0, 1.0, kx**2 + ky**2)
    for _ in range(2):
        h = jnp.fft.fft2(w)
        psi = h / k2
        u, v = jnp.fft.ifft2(1j * ky * psi).real, -jnp.fft.ifft2(1j * kx * psi).real
        wx, wy = jnp.fft.ifft2(1j * kx * h).real, jnp.fft.ifft2(1j * ky * h).real
        w = w - 0.01 * (u * wx + v * wy) + 0.001 * jnp.fft.ifft2(-k2 * h).real
    return w


@program("physics", f32(9, 12, 12))
def lattice_boltzmann(jax, f):
    jnp = jax.numpy
    cx = jnp.array([0, 1, 0, -1, 0, 1, -1, -1, 1.0])
    cy = jnp.array([0, 0, 1, 0, -1, 1, 1, -1, -1.0])
    weight = jnp.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)[:, None, None]
    moved = [jnp.roll(f[i], (int(a), int(b)), (0, 1)) for i, (a, b) in enumerate(
        [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])]
    f = jnp.stack(moved)
    rho = f.sum(0)
    ux, uy = jnp.tensordot(cx, f, 1) / rho, jnp.tensordot(cy, f, 1) / rho
    cu = 3 * (cx[:, None, None] * ux + cy[:, None, None] * uy)
    equal = rho * weight * (1 + cu + 0.5 * cu**2 - 1.5 * (ux**2 + uy**2))
    return f - (f - equal) / 0.6


@program("physics", f32(8, 3), f32())
def lennard_jones(jax, x, box):
    jnp = jax.numpy
    d = x[:, None] - x[None]
    d = d - box * jnp.round(d / box)
    r2 = jnp.sum(d**2, -1) + jnp.eye(8)
    s6 = 1 / r2**3
    return jnp.sum(jnp.where(jnp.eye(8) > 0, 0.0, 4 * (s6**2 - s6))) / 2


@program("physics", s32(16, 16), KEY, grad=False)
def ising(jax, spins, key):
    jnp = jax.numpy
    for parity in (0, 1):
        key, now = jax.random.split(key)
        around = sum(jnp.roll(spins, s, a) for s in (1, -1) for a in (0, 1))
        chance = jnp.exp(-2.0 * 0.4 * (spins * around).astype(jnp.float32))
        board = (jnp.arange(16)[:, None] + jnp.arange(16)) % 2 == parity
        flip = board & (jax.random.uniform(now, (16, 16)) < chance)
        spins = jnp.where(flip, -spins, spins)
    return spins


@program("physics", s32(16, 16), grad=False)
def game_of_life(jax, cells):
    jnp = jax.numpy

    def step(cells, _):
        near = sum(
            jnp.roll(cells, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)
        )
        return ((near == 3) | ((cells == 1) & (near == 2))).astype(jnp.int32), near.sum()

    return jax.lax.scan(step, cells, None, length=8)


@program("physics", f32(4), f32())
def double_pendulum(jax, y, dt):
    jnp = jax.numpy

    def rate(y):
        a, b, p, q = y
        c, s = jnp.cos(a - b), jnp.sin(a - b)
        den = 2 - c**2
        return jnp.stack([p, q, (-jnp.sin(a) * 2 - s * (q**2 + p**2 * c)) / den,
                          (2 * s * (p**2 + jnp.cos(a) + q**2 * c / 2)) / den])

    for _ in range(2):
        k1 = rate(y)
        k2 = rate(y + dt / 2 * k1)
        k3 = rate(y + dt / 2 * k2)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + dt * k3))
    return y


@program("physics", f32(3), grad=False)
def lorenz_adaptive(jax, y):
    ode = __import__("jax.experimental.ode", fromlist=["odeint"])
    jnp = jax.numpy

    def rate(y, t):
        return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    return ode.odeint(rate, y, jnp.linspace(0.0, 1.0, 5))


@program("probability", f32(20, 3), f32(4, 3))
def k_means(jax, x, centres):
    jnp = jax.numpy
    for _ in range(2):
        near = jnp.argmin(jnp.sum((x[:, None] - centres) ** 2, -1), 1)
        one = jax.nn.one_hot(near, 4)
        centres = one.T @ x / jnp.maximum(one.sum(0), 1)[:, None]
    return centres


@program("probability", f32(20, 3), f32(4, 3), f32(4, 3), f32(4))
def mixture_of_gaussians(jax, x, mean, spread, logits):
    jnp = jax.numpy
    logs = -0.5 * jnp.sum(((x[:, None] - mean) / spread) ** 2 + 2 * jnp.log(spread), -1)
    r = jax.nn.softmax(logs + jax.nn.log_softmax(logits), -1)
    n = r.sum(0)[:, None]
    mean = r.T @ x / n
    return mean, jnp.sqrt(r.T @ x**2 / n - mean**2 + 1e-6), jnp.log(n[:, 0])


@program("probability", f32(5, 5), f32(12, 5), f32(5))
def hidden_markov_forward(jax, transition, emission, start):
    def step(alpha, now):
        alpha = jax.nn.logsumexp(alpha[:, None] + jax.nn.log_softmax(transition), 0) + now
        return alpha, alpha

    return jax.nn.logsumexp(jax.lax.scan(step, start + emission[0], emission[1:])[0])


@program("probability", f32(5, 5), f32(12, 5), grad=False)
def viterbi(jax, transition, emission):
    jnp = jax.numpy

    def step(score, now):
        all_ = score[:, None] + transition
        return all_.max(0) + now, all_.argmax(0)

    score, back = jax.lax.scan(step, emission[0], emission[1:])

    def walk(state, choice):
        return choice[state], state

    return jax.lax.scan(walk, jnp.argmax(score), back, reverse=True)


@program("probability", f32(6, 2), f32(4), f32(4, 4), f32(4, 4), f32(2, 4))
def kalman_filter(jax, seen, x, p, a, h):
    jnp = jax.numpy

    def step(state, z):
        x, p = state
        x, p = a @ x, a @ p @ a.T + 0.1 * jnp.eye(4)
        gain = p @ h.T @ jnp.linalg.inv(h @ p @ h.T + 0.2 * jnp.eye(2))
        x = x + gain @ (z - h @ x)
        return (x, (jnp.eye(4) - gain @ h) @ p), x

    return jax.lax.scan(step, (x, p), seen)


@program("probability", KEY, f32(64), f32(8), grad=False)
def particle_filter(jax, key, particles, seen):
    jnp = jax.numpy

    def step(state, z):
        particles, key = state
        key, a, b = jax.random.split(key, 3)
        particles = particles + 0.1 * jax.random.normal(a, (64,))
        weight = jax.nn.log_softmax(-((particles - z) ** 2))
        return (particles[jax.random.categorical(b, weight, shape=(64,))], key), jnp.mean(particles)

    return jax.lax.scan(step, (particles, key), seen)


@program("probability", f32(15, 2), f32(15), f32(3), f32(5, 2))
def gaussian_process(jax, x, y, log_scales, new):
    jnp = jax.numpy
    length, size, noise = jnp.exp(log_scales)

    def kernel(a, b):
        return size * jnp.exp(-0.5 * jnp.sum((a[:, None] - b) ** 2, -1) / length**2)

    low = jnp.linalg.cholesky(kernel(x, x) + noise * jnp.eye(15))
    solve = jax.scipy.linalg.solve_triangular
    alpha = solve(low.T, solve(low, y, lower=True))
    return kernel(new, x) @ alpha, -0.5 * y @ alpha - jnp.sum(jnp.log(jnp.diag(low)))


@program("probability", f32(10), KEY, grad=False)
def hamiltonian_monte_carlo(jax, x, key):
    jnp = jax.numpy

    def energy(x):
        return jnp.sum((x[1:] - x[:-1] ** 2) ** 2 + 0.1 * x[:-1] ** 2)

    key, a, b = jax.random.split(key, 3)
    p = start = jax.random.normal(a, x.shape)
    y = x
    for _ in range(3):
        p = p - 0.05 * jax.grad(energy)(y)
        y = y + 0.1 * p
        p = p - 0.05 * jax.grad(energy)(y)
    gain = energy(x) - energy(y) + 0.5 * (jnp.sum(start**2) - jnp.sum(p**2))
    return jnp.where(jnp.log(jax.random.uniform(b)) < gain, y, x)


@program("probability", f32(12, 3))
def stein_variational_gradient(jax, x):
    jnp = jax.numpy
    d2 = jnp.sum((x[:, None] - x) ** 2, -1)
    h = jnp.median(d2) / jnp.log(13.0) + 1e-3
    k = jnp.exp(-d2 / h)
    score = jax.grad(lambda x: -jnp.sum(jnp.log(jnp.exp(-x) + jnp.exp(x))))(x)
    return x + 0.1 * (k @ score + (x * k.sum(1, keepdims=True) - k @ x) * 2 / h) / 12


@program("optimisation", f32(6))
def newton(jax, x):
    jnp = jax.numpy

    def f(x):
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return x - jnp.linalg.solve(jax.hessian(f)(x) + 1e-3 * jnp.eye(6), jax.grad(f)(x))


@program("optimisation", f32(6), grad=False)
def bfgs(jax, x):
    optimize = __import__("jax.scipy.optimize", fromlist=["minimize"])
    return optimize.minimize(lambda x: jax.numpy.sum(jax.numpy.cos(x) + x**4), x, method="BFGS").x


@program("optimisation", f32(12, 12), f32(12), grad=False)
def conjugate_gradient(jax, a, b):
    return jax.scipy.sparse.linalg.cg(lambda x: a.T @ (a @ x) + x, b, maxiter=9)[0]


@program("optimisation", f32(12, 12), f32(12), grad=False)
def gmres(jax, a, b):
    return jax.scipy.sparse.linalg.gmres(a, b, maxiter=2, restart=5)[0]


@program("optimisation", f32(12, 12), f32(12), grad=False)
def bicgstab(jax, a, b):
    return jax.scipy.sparse.linalg.bicgstab(a, b, maxiter=9)[0]


@program("optimisation", f32(10, 10), f32(10), f32(10))
def sinkhorn(jax, cost, a, b):
    f = g = jax.numpy.zeros(10)
    for _ in range(4):
        f = jax.numpy.log(a) - jax.nn.logsumexp(g[None] - cost, 1)
        g = jax.numpy.log(b) - jax.nn.logsumexp(f[:, None] - cost, 0)
    return jax.numpy.sum(jax.numpy.exp(f[:, None] + g - cost) * cost)


@program("optimisation", f32(20, 6), f32(20), f32(6))
def lasso_by_proximal_gradient(jax, a, b, x):
    jnp = jax.numpy

    def step(x, _):
        y = x - 0.01 * a.T @ (a @ x - b)
        return jnp.sign(y) * jnp.maximum(jnp.abs(y) - 0.02, 0), jnp.sum((a @ x - b) ** 2)

    return jax.lax.scan(step, x, None, length=12)


@program("optimisation", f32(16, 5), KEY, grad=False)
def evolution_strategy(jax, x, key):
    jnp = jax.numpy
    key, a = jax.random.split(key)
    noise = jax.random.normal(a, (16, 5))
    worth = -jnp.sum((x + noise) ** 2 - jnp.cos(3 * (x + noise)), -1)
    rank = jnp.argsort(jnp.argsort(worth)) / 15 - 0.5
    return x + 0.1 * jnp.mean(rank[:, None] * noise, 0), key


@program("optimisation", f32(12, 12), f32(12))
def power_iteration(jax, a, v):
    def step(_, v):
        v = a @ v
        return v / jax.numpy.linalg.norm(v)

    v = jax.lax.fori_loop(0, 9, step, v)
    return v @ a @ v


@program("optimisation", f32(8, 5))
def gram_schmidt(jax, a):
    jnp = jax.numpy
    columns = []
    for i in range(5):
        v = a[:, i]
        for q in columns:
            v = v - (q @ v) * q
        columns.append(v / jnp.linalg.norm(v))
    return jnp.stack(columns, 1)


@program("graphics", f32(16, 16), f32(16, 16), grad=False)
def mandelbrot(jax, re, im):
    def step(state):
        z, n, i = state
        z = z * z + jax.lax.complex(re, im)
        return z, n + (abs(z) < 2), i + 1

    start = (jax.lax.complex(re, im) * 0, (re * 0).astype("int32"), 0)
    return jax.lax.while_loop(lambda s: s[2] < 30, step, start)[1]


@program("graphics", f32(12, 12, 3), f32(3), f32(3))
def ray_marching(jax, rays, eye, light):
    jnp = jax.numpy

    def distance(p):
        ball = jnp.linalg.norm(p - jnp.array([0.0, 0.0, 4.0]), axis=-1) - 1
        return jnp.minimum(ball, p[..., 1] + 1)

    t = jnp.zeros((12, 12))
    for _ in range(4):
        t = t + distance(eye + t[..., None] * rays)
    p = eye + t[..., None] * rays
    normal = jax.grad(lambda p: jnp.sum(distance(p)))(p)
    return jnp.clip(jnp.sum(normal * light, -1), 0, 1) * (t < 9)


@program("graphics", f32(20, 20))
def sobel(jax, image):
    jnp = jax.numpy
    k = jnp.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
    x = jax.scipy.signal.convolve2d(image, k, mode="same")
    y = jax.scipy.signal.convolve2d(image, k.T, mode="same")
    size, angle = jnp.hypot(x, y), jnp.arctan2(y, x)
    return jnp.where(size > jnp.mean(size), angle, 0.0)


@program("graphics", f32(14, 14))
def bilateral_filter(jax, image):
    jnp = jax.numpy
    total = weight = 0.0
    padded = jnp.pad(image, 1, mode="reflect")
    for a in range(3):
        for b in range(3):
            near = padded[a : a + 14, b : b + 14]
            w = jnp.exp(-((near - image) ** 2) - 0.5 * ((a - 1) ** 2 + (b - 1) ** 2))
            total, weight = total + w * near, weight + w
    return total / weight


@program("graphics", f32(40, 3), f32(4, 4), f32(20, 20))
def splat_points(jax, points, camera, canvas):
    jnp = jax.numpy
    p = jnp.concatenate([points, jnp.ones((40, 1))], 1) @ camera.T
    xy = p[:, :2] / jnp.maximum(p[:, 2:3], 0.1)
    at = jnp.clip(jnp.round(xy * 10 + 10), 0, 19).astype("int32")
    return canvas.at[at[:, 1], at[:, 0]].add(jnp.exp(-p[:, 2]), mode="drop")


@program("graphics", f32(10, 3), f32(10, 4))
def rotate_by_quaternions(jax, v, q):
    jnp = jax.numpy
    q = q / jnp.linalg.norm(q, axis=-1, keepdims=True)
    t = 2 * jnp.cross(q[:, :3], v)
    return v + q[:, 3:] * t + jnp.cross(q[:, :3], t)


@program("finance", f32(8), f32(8), f32(8), f32(8))
def black_scholes(jax, s, k, sigma, t):
    jnp, cdf = jax.numpy, jax.scipy.stats.norm.cdf
    d = (jnp.log(s / k) + (0.01 + sigma**2 / 2) * t) / (sigma * jnp.sqrt(t))
    return s * cdf(d) - k * jnp.exp(-0.01 * t) * cdf(d - sigma * jnp.sqrt(t))


@program("finance", f32(), KEY)
def monte_carlo_option(jax, s, key):
    jnp = jax.numpy
    z = jax.random.normal(key, (64, 12))
    paths = s * jnp.exp(jnp.cumsum(0.05 * z - 0.001, 1))
    return jnp.mean(jnp.maximum(jnp.mean(paths, 1) - 1.0, 0.0)), jnp.mean(paths.max(1) > 1.2)


@program("finance", f32(), f32(20))
def binomial_tree(jax, strike, prices):
    jnp = jax.numpy
    value = jnp.maximum(strike - prices, 0)
    for n in range(19, 13, -1):
        value = 0.99 * (0.52 * value[1:] + 0.48 * value[:-1])
        value = jnp.maximum(value, strike - prices[:n])
    return value


@program("finance", f32(30, 5))
def portfolio(jax, returns):
    jnp = jax.numpy
    mean, cov = returns.mean(0), jnp.cov(returns.T) + 1e-3 * jnp.eye(5)
    w = jnp.linalg.solve(cov, mean)
    w = w / w.sum()
    path = jnp.cumprod(1 + returns @ w)
    return w @ mean / jnp.sqrt(w @ cov @ w), jnp.min(path / jax.lax.cummax(path))
