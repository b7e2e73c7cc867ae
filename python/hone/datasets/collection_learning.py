"""Algorithms of learning: graphs, sequences, reinforcement, generation, and others."""

from .collection_algorithms import KEY, f32, program, s32
from .lowering import require


@program("graph", f32(12, 6), s32(30), s32(30), f32(6, 8), f32(6, 8))
def graph_convolution(jax, x, source, target, w, v):
    jnp = jax.numpy
    count = jax.ops.segment_sum(jnp.ones(30), target, 12)
    mean = jax.ops.segment_sum(x[source], target, 12) / jnp.maximum(count, 1)[:, None]
    return jax.nn.relu(mean @ w + x @ v)


@program("graph", f32(12, 6), s32(30), s32(30), f32(6, 8), f32(16))
def graph_attention(jax, x, source, target, w, a):
    jnp = jax.numpy
    h = x @ w
    e = jax.nn.leaky_relu(jnp.concatenate([h[source], h[target]], 1) @ a)
    e = jnp.exp(e - jax.ops.segment_max(e, target, 12)[target])
    e = e / (jax.ops.segment_sum(e, target, 12)[target] + 1e-6)
    return jax.nn.elu(jax.ops.segment_sum(e[:, None] * h[source], target, 12))


@program("graph", f32(12, 12), f32(12))
def page_rank(jax, links, rank):
    jnp = jax.numpy
    out = links / jnp.maximum(links.sum(1, keepdims=True), 1e-6)
    return jax.lax.fori_loop(0, 10, lambda _, r: 0.15 / 12 + 0.85 * r @ out, rank)


@program("graph", f32(9, 9), grad=False)
def floyd_warshall(jax, d):
    jnp = jax.numpy
    return jax.lax.fori_loop(0, 9, lambda k, d: jnp.minimum(d, d[:, k, None] + d[k]), d)


@program("graph", f32(10, 10), grad=False)
def label_propagation(jax, links):
    jnp = jax.numpy

    def step(state):
        label, _ = state
        new = jnp.minimum(label, jnp.min(jnp.where(links > 0, label[None], 99), 1))
        return new, jnp.any(new != label)

    return jax.lax.while_loop(lambda s: s[1], step, (jnp.arange(10), True))[0]


@program("sequence", f32(2, 10, 6), s32(2, 4))
def ctc_loss(jax, logits, labels):
    optax = require("optax")
    jnp = jax.numpy
    return optax.ctc_loss(logits, jnp.zeros((2, 10)), labels, jnp.zeros((2, 4))).mean()


@program("sequence", s32(8), s32(9), grad=False)
def edit_distance(jax, a, b):
    jnp = jax.numpy

    def row(before, x):
        def cell(left, at):
            up, corner, y = at
            new = jnp.minimum(jnp.minimum(left, up) + 1, corner + (x != y))
            return new, new

        first = before[0] + 1
        _, rest = jax.lax.scan(cell, first, (before[1:], before[:-1], b))
        return jnp.concatenate([first[None], rest]), None

    return jax.lax.scan(row, jnp.arange(10), a)[0][-1]


@program("sequence", f32(2, 16, 8), f32(8), f32(8, 8), f32(8, 8))
def state_space_layer(jax, x, decay, b, c):
    a = jax.nn.sigmoid(decay)

    def join(l, r):
        return l[0] * r[0], r[0] * l[1] + r[1]

    every = jax.numpy.broadcast_to(a, x.shape)
    return jax.lax.associative_scan(join, (every, x @ b), axis=1)[1] @ c


@program("sequence", f32(2, 12, 8), f32(8, 8), f32(8, 8), f32(8, 8))
def linear_attention(jax, x, q, k, v):
    jnp = jax.numpy
    q, k, v = jax.nn.elu(x @ q) + 1, jax.nn.elu(x @ k) + 1, x @ v
    kv = jnp.cumsum(k[..., None] * v[..., None, :], 1)
    return jnp.einsum("btd,btde->bte", q, kv) / jnp.einsum("btd,btd->bt", q, k.cumsum(1))[..., None]


@program("sequence", f32(2, 16, 4), f32(3, 4, 8), f32(3, 4, 8))
def gated_dilated_convolution(jax, x, a, b):
    def conv(w, dilation):
        return jax.lax.conv_general_dilated(
            x, w, (1,), [(2 * dilation, 0)], rhs_dilation=(dilation,),
            dimension_numbers=("NWC", "WIO", "NWC"))

    return jax.numpy.tanh(conv(a, 2)) * jax.nn.sigmoid(conv(b, 4))


@program("sequence", f32(12, 16), f32(16, 4), f32(4, 16, 20), f32(4, 20, 16))
def mixture_of_experts(jax, x, gate, w, v):
    jnp = jax.numpy
    p = jax.nn.softmax(x @ gate)
    best, which = jax.lax.top_k(p, 2)
    send = (jax.nn.one_hot(which, 4) * best[..., None]).sum(1)
    h = jax.nn.gelu(jnp.einsum("td,edf->etf", x, w))
    balance = jnp.sum(p.mean(0) * (send > 0).mean(0)) * 4
    return jnp.einsum("etf,efd,te->td", h, v, send), balance


@program("sequence", s32(4), f32(4, 30), KEY, grad=False)
def nucleus_sampling(jax, last, logits, key):
    jnp = jax.numpy
    logits = logits.at[jnp.arange(4), last].add(-2.0) / 0.8
    order = jnp.sort(logits, -1)[:, ::-1]
    kept = jnp.cumsum(jax.nn.softmax(order), -1) < 0.9
    least = jnp.min(jnp.where(kept, order, jnp.inf), -1, keepdims=True)
    return jax.random.categorical(key, jnp.where(logits < least, -jnp.inf, logits))


@program("reinforcement", f32(10, 3), f32(10, 3), s32(10), f32(10), f32(10))
def ppo_loss(jax, logits, old, actions, advantages, returns):
    jnp = jax.numpy
    now, before = jax.nn.log_softmax(logits), jax.nn.log_softmax(old)
    pick = (jnp.arange(10), actions)
    ratio = jnp.exp(now[pick] - before[pick])
    a = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    gain = jnp.minimum(ratio * a, jnp.clip(ratio, 0.8, 1.2) * a)
    entropy = -jnp.sum(jnp.exp(now) * now, -1)
    return -gain.mean() + 0.5 * jnp.mean((logits.mean(-1) - returns) ** 2) - 0.01 * entropy.mean()


@program("reinforcement", f32(12), f32(13), f32(12))
def generalised_advantages(jax, rewards, values, done):
    delta = rewards + 0.99 * values[1:] * (1 - done) - values[:-1]

    def step(after, now):
        d, stop = now
        after = d + 0.95 * 0.99 * (1 - stop) * after
        return after, after

    return jax.lax.scan(step, 0.0, (delta, done), reverse=True)[1]


@program("reinforcement", f32(8, 4), f32(8, 4), f32(8, 4), s32(8), f32(8))
def double_dqn_loss(jax, q, q_next, q_target, actions, rewards):
    jnp = jax.numpy
    best = q_next.argmax(-1)
    target = rewards + 0.99 * q_target[jnp.arange(8), best]
    error = q[jnp.arange(8), actions] - jax.lax.stop_gradient(target)
    small = jnp.abs(error) < 1
    return jnp.where(small, 0.5 * error**2, jnp.abs(error) - 0.5).mean()


@program("reinforcement", f32(8, 3, 3), f32(8, 3), f32(8))
def value_iteration(jax, transition, reward, value):
    def step(value, _):
        q = reward[:, None, :] + 0.9 * transition * value[:, None, None]
        return q.max((1, 2)), q.mean()

    return jax.lax.scan(step, value, None, length=6)


@program("generative", f32(6, 10), f32(10, 8), f32(4, 10), KEY)
def variational_autoencoder(jax, x, encode, decode, key):
    jnp = jax.numpy
    mean, log_var = jnp.split(x @ encode, 2, 1)
    z = mean + jnp.exp(0.5 * log_var) * jax.random.normal(key, mean.shape)
    out = z @ decode
    likelihood = jnp.sum(x * jax.nn.log_sigmoid(out) + (1 - x) * jax.nn.log_sigmoid(-out))
    return -likelihood - 0.5 * jnp.sum(1 + log_var - mean**2 - jnp.exp(log_var))


@program("generative", f32(6, 8), f32(8, 16), f32(16, 8), f32(20), KEY)
def diffusion_step(jax, x, w, v, schedule, key):
    jnp = jax.numpy
    a, b = jax.random.split(key)
    t = jax.random.randint(a, (6,), 0, 20)
    keep = jnp.cumprod(1 - jax.nn.sigmoid(schedule))[t][:, None]
    noise = jax.random.normal(b, x.shape)
    seen = jnp.sqrt(keep) * x + jnp.sqrt(1 - keep) * noise
    angles = t[:, None] * jnp.exp(-jnp.arange(8.0))
    h = jax.nn.silu(seen @ w + jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], 1))
    return jnp.mean((h @ v - noise) ** 2)


@program("generative", f32(6, 8), f32(4, 16), f32(16, 8))
def coupling_flow(jax, x, w, v):
    jnp = jax.numpy
    total = 0.0
    for turn in range(2):
        a, b = (x[:, :4], x[:, 4:]) if turn == 0 else (x[:, 4:], x[:, :4])
        shift, scale = jnp.split(jnp.tanh(a @ w) @ v, 2, 1)
        b = b * jnp.exp(scale) + shift
        total, x = total + scale.sum(1), jnp.concatenate([b, a], 1)
    return -jnp.mean(jax.scipy.stats.norm.logpdf(x).sum(1) + total)


@program("generative", f32(8, 16), f32(8, 16))
def contrastive_loss(jax, a, b):
    jnp = jax.numpy
    a, b = (x / jnp.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    logits = a @ b.T / 0.1
    both = jax.nn.log_softmax(logits, 0) + jax.nn.log_softmax(logits, 1)
    return -jnp.mean(jnp.diag(both)), jnp.mean(logits.argmax(1) == jnp.arange(8))


@program("generative", f32(5, 12), f32(12, 16), f32(16, 1), f32(16, 12), f32(5, 16))
def adversarial_step(jax, real, w, v, make, noise):
    jnp = jax.numpy

    def judge(x, w, v):
        return jax.nn.leaky_relu(x @ w, 0.2) @ v

    def loss(w, v):
        fake = jnp.tanh(noise @ make)
        slope = jax.grad(lambda x: judge(x, w, v).sum())(0.5 * (real + fake))
        penalty = jnp.mean((jnp.sqrt(jnp.sum(slope**2, 1) + 1e-6) - 1) ** 2)
        return judge(fake, w, v).mean() - judge(real, w, v).mean() + 10 * penalty

    return jax.value_and_grad(loss, (0, 1))(w, v)


@program("learning", f32(3, 8, 2), f32(3, 8), f32(2, 16), f32(16))
def meta_learning(jax, x, y, w, v):
    jnp = jax.numpy

    def loss(params, x, y):
        return jnp.mean((jnp.tanh(x @ params[0]) @ params[1] - y) ** 2)

    def adapted(x, y):
        slopes = jax.grad(loss)((w, v), x[:4], y[:4])
        return loss((w - 0.1 * slopes[0], v - 0.1 * slopes[1]), x[4:], y[4:])

    return jnp.mean(jax.vmap(adapted)(x, y))


@program("learning", f32(50, 8), f32(50, 8), s32(16), s32(16), s32(16, 5))
def word_vectors(jax, table, context, word, near, wrong):
    jnp = jax.numpy
    v = table[word]
    good = jnp.sum(v * context[near], -1)
    bad = jnp.einsum("bd,bkd->bk", v, context[wrong])
    return -jnp.mean(jax.nn.log_sigmoid(good) + jax.nn.log_sigmoid(-bad).sum(-1))


@program("learning", f32(8, 16), f32(16, 10), f32(16, 4), f32(4, 10))
def low_rank_adaptation(jax, x, w, a, b):
    y = x @ jax.lax.stop_gradient(w) + 0.5 * (x @ a) @ b
    return jax.numpy.mean(jax.nn.log_softmax(y)[:, 0])


@program("learning", f32(8, 16), f32(16, 10), grad=False)
def quantised_layer(jax, x, w):
    jnp = jax.numpy

    def quantise(x, axis):
        scale = jnp.max(jnp.abs(x), axis, keepdims=True) / 127
        return jnp.clip(jnp.round(x / scale), -127, 127).astype(jnp.int8), scale

    (a, sa), (b, sb) = quantise(x, 1), quantise(w, 0)
    y = jax.lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    return y.astype(jnp.float32) * sa * sb


@program("learning", f32(20, 4), f32(20))
def logistic_regression_by_newton(jax, x, y):
    jnp = jax.numpy
    w = jnp.zeros(4)
    for _ in range(2):
        p = jax.nn.sigmoid(x @ w)
        hessian = x.T @ (x * (p * (1 - p))[:, None]) + 1e-3 * jnp.eye(4)
        w = w + jnp.linalg.solve(hessian, x.T @ (y - p))
    return w


@program("learning", f32(12, 5))
def principal_components(jax, x):
    jnp = jax.numpy
    x = x - x.mean(0)
    values, vectors = jnp.linalg.eigh(x.T @ x / 11)
    return x @ vectors[:, ::-1][:, :2], values / values.sum()


@program("learning", f32(10, 3), f32(10, 2))
def stochastic_neighbours(jax, x, y):
    jnp = jax.numpy

    def distances(x):
        return jnp.sum((x[:, None] - x) ** 2, -1)

    p = jax.nn.softmax(jnp.where(jnp.eye(10) > 0, -jnp.inf, -distances(x)), -1)
    p = (p + p.T) / 20
    q = jnp.where(jnp.eye(10) > 0, 0.0, 1 / (1 + distances(y)))
    q = q / q.sum()
    return jnp.sum(p * (jnp.log(p + 1e-9) - jnp.log(q + 1e-9)))
