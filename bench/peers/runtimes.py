#!/usr/bin/env python3
"""Four networks under hone and under what a user would take instead: IREE, OpenVINO and ONNX Runtime.

    build/runtimes/bin/python bench/peers/runtimes.py write FOLDER
    build/bin/hone tune FOLDER/NAME.hlo --budget 60s --plan FOLDER/NAME.plan.json
    build/runtimes/bin/python bench/peers/runtimes.py race FOLDER

All compute in f32 with batch 1. The peers have the weights as constants, which they rearrange and fold before
they run; the image networks are NCHW for them, where they like that, and NHWC for hone and IREE. hone and IREE
are passed the weights. A race takes turns, three by default, each runtime in a process of its own; a turn runs
two seconds and counts the median. What each computes is compared with JAX's result.
"""

import argparse
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

THREADS = os.cpu_count()
LAYERS, WIDTH, HEADS, CACHED = 12, 768, 12, 255


# ---------------------------------------------------------------- networks


class Weights:
    """Drawn as they are asked for, by the order of asking."""

    def __init__(self):
        self.values, self.random = [], np.random.default_rng(1)

    def __call__(self, *shape, scale=None):
        fan = shape[0] if len(shape) == 2 else int(np.prod(shape[1:])) if len(shape) == 4 else 1
        scale = (2 / fan) ** 0.5 if scale is None else scale
        self.values.append((self.random.standard_normal(shape) * scale).astype(np.float32))
        return self.values[-1]


def layer_norm(x, gain, bias):
    import jax

    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain + bias


def attend(q, k, v):
    import jax
    import jax.numpy as jnp

    split = lambda x: x.reshape(x.shape[0], HEADS, -1).transpose(1, 0, 2)
    q, k, v = split(q), split(k), split(v)
    weights = jax.nn.softmax(q @ k.transpose(0, 2, 1) * (q.shape[-1] ** -0.5), -1)
    mixed = (weights @ v).transpose(1, 0, 2)
    return mixed.reshape(mixed.shape[0], -1)


def block(x, w, cache=None):
    """A transformer's, norms first; w: an iterator over weights."""
    import jax
    import jax.numpy as jnp

    y = layer_norm(x, next(w), next(w))
    q, k, v = (y @ next(w) + next(w) for _ in range(3))
    if cache is not None:
        k, v = jnp.concatenate([cache[0], k]), jnp.concatenate([cache[1], v])
    x = x + attend(q, k, v) @ next(w) + next(w)
    y = jax.nn.gelu(layer_norm(x, next(w), next(w)) @ next(w) + next(w))
    return x + y @ next(w) + next(w)


def transformer_weights():
    draw = Weights()
    for _ in range(LAYERS):
        draw(WIDTH, scale=1), draw(WIDTH, scale=0.1)
        for _ in range(4):
            draw(WIDTH, WIDTH, scale=0.02), draw(WIDTH, scale=0.1)
        draw(WIDTH, scale=1), draw(WIDTH, scale=0.1)
        draw(WIDTH, 4 * WIDTH, scale=0.02), draw(4 * WIDTH, scale=0.1)
        draw(4 * WIDTH, WIDTH, scale=0.02), draw(WIDTH, scale=0.1)
    return draw.values


def bert():
    def run(x, *weights):
        w = iter(weights)
        for _ in range(LAYERS):
            x = block(x, w)
        return x

    return run, [np.random.default_rng(2).standard_normal((128, WIDTH)).astype(np.float32)], (
        transformer_weights()
    )


def decode():
    """A step of GPT-2 for one token behind 255 that are cached."""

    def run(x, keys, values, *weights):
        w = iter(weights)
        for layer in range(LAYERS):
            x = block(x, w, (keys[layer], values[layer]))
        return x

    random = np.random.default_rng(2)
    shapes = ((1, WIDTH), (LAYERS, CACHED, WIDTH), (LAYERS, CACHED, WIDTH))
    return run, [random.standard_normal(s).astype(np.float32) for s in shapes], (
        transformer_weights()
    )


def convolve(x, kernel, layout, stride=1, groups=1):
    import jax

    names = ("NCHW", "OIHW", "NCHW") if layout == "NCHW" else ("NHWC", "HWIO", "NHWC")
    kernel = kernel if layout == "NCHW" else kernel.transpose(2, 3, 1, 0)
    pad = (kernel.shape[2 if layout == "NCHW" else 0] - 1) // 2
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), ((pad, pad), (pad, pad)), dimension_numbers=names,
        feature_group_count=groups,
    )


def normalised(x, gain, bias, layout):
    return x * gain[:, None, None] + bias[:, None, None] if layout == "NCHW" else x * gain + bias


def image(layout):
    x = np.random.default_rng(2).standard_normal((1, 3, 224, 224)).astype(np.float32)
    return x if layout == "NCHW" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def convolutions(plan, head):
    """Weights of what a plan lists: (out, in / groups, kernel), each with the gain and bias behind it."""
    draw = Weights()
    for out, into, kernel in plan:
        draw(out, into, kernel, kernel), draw(out, scale=0.5), draw(out, scale=0.1)
    draw(*head, scale=0.02), draw(head[1], scale=0.1)
    return draw.values


RESNET = [(64, 3, 256, 1), (128, 4, 512, 2), (256, 6, 1024, 2), (512, 3, 2048, 2)]


def resnet50(layout="NHWC"):
    import jax
    import jax.numpy as jnp

    plan, into = [(64, 3, 7)], 64
    for width, count, out, _ in RESNET:
        for i in range(count):
            plan += [(width, into, 1), (width, width, 3), (out, width, 1)]
            plan += [(out, into, 1)] if i == 0 else []
            into = out

    def run(x, *weights):
        w = iter(weights)
        step = lambda x, stride=1: normalised(
            convolve(x, next(w), layout, stride), next(w), next(w), layout
        )
        x = jax.nn.relu(step(x, 2))
        window, strides, pad = (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1))
        if layout == "NHWC":
            window, strides, pad = (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, pad)
        for _, count, _, stride in RESNET:
            for i in range(count):
                s = stride if i == 0 else 1
                y = jax.nn.relu(step(x))
                y = jax.nn.relu(step(y, s))
                y = step(y)
                x = jax.nn.relu(y + (step(x, s) if i == 0 else x))
        x = x.mean((2, 3) if layout == "NCHW" else (1, 2))
        return x @ next(w) + next(w)

    return run, [image(layout)], convolutions(plan, (2048, 1000))


MOBILE = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1)]  # fmt: skip


def mobilenet_v2(layout="NHWC"):
    import jax.numpy as jnp

    plan, into = [(32, 3, 3)], 32
    for expand, out, count, _ in MOBILE:
        for _ in range(count):
            hidden = into * expand
            plan += [(hidden, into, 1)] if expand > 1 else []
            plan += [(hidden, 1, 3), (out, hidden, 1)]
            into = out
    plan += [(1280, into, 1)]

    def run(x, *weights):
        w = iter(weights)
        step = lambda x, stride=1, groups=1: normalised(
            convolve(x, next(w), layout, stride, groups), next(w), next(w), layout
        )
        clip = lambda x: jnp.clip(x, 0, 6)
        channels = lambda x: x.shape[1 if layout == "NCHW" else 3]
        x = clip(step(x, 2))
        for expand, out, count, stride in MOBILE:
            for i in range(count):
                y = clip(step(x)) if expand > 1 else x
                y = clip(step(y, stride if i == 0 else 1, channels(y)))
                y = step(y)
                x = x + y if y.shape == x.shape else y
        x = clip(step(x)).mean((2, 3) if layout == "NCHW" else (1, 2))
        return x @ next(w) + next(w)

    return run, [image(layout)], convolutions(plan, (1280, 1000))


NETWORKS = {f.__name__: f for f in (bert, resnet50, mobilenet_v2, decode)}


def network(name, layout):
    return NETWORKS[name](layout) if name in ("resnet50", "mobilenet_v2") else NETWORKS[name]()


# ---------------------------------------------------------------- files


def plain_pools(model):
    """jax2onnx 0.17 pools over six dimensions, between Unsqueeze and Squeeze, which the peers refuse."""
    nodes = model.graph.node
    made_by = {output: node for node in nodes for output in node.output}
    for pool in [node for node in nodes if node.op_type == "MaxPool"]:
        around = [node for node in nodes if pool.output[0] in node.input]
        first = made_by[pool.input[0]]
        while first.op_type == "Unsqueeze":
            before = first
            nodes.remove(first)
            first = made_by[before.input[0]]
        pool.input[0] = first.output[0]
        pool.output[0] = around[0].output[0]
        nodes.remove(around[0])
        for attribute in pool.attribute:
            sizes = list(attribute.ints)
            keep = sizes[2:] if len(sizes) == 4 else sizes[2:4] + sizes[6:]
            del attribute.ints[:]
            attribute.ints.extend(keep)


def write(folder, names):
    import iree.compiler
    import jax
    import jax2onnx
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        run, inputs, weights = network(name, "NHWC")
        lowered = jax.jit(run, keep_unused=True).lower(*inputs, *weights)
        (folder / f"{name}.hlo").write_text(lowered.as_text("hlo"))
        np.savez(folder / f"{name}.npz", jax.jit(run)(*inputs, *weights))
        for level in (["--iree-opt-level=O3"], []):  # 3.13.0 does not compile all of them at O3
            try:
                iree.compiler.compile_str(
                    lowered.as_text("stablehlo"), input_type="stablehlo",
                    target_backends=["llvm-cpu"], output_file=str(folder / f"{name}.vmfb"),
                    extra_args=["--iree-llvmcpu-target-cpu=host", *level],
                )  # fmt: skip
                break
            except iree.compiler.CompilerToolError as error:
                print(name, "IREE", level, str(error).split("error: ")[1].splitlines()[0])
        run, inputs, weights = network(name, "NCHW")
        model = jax2onnx.to_onnx(
            lambda *x, run=run, weights=weights: run(*x, *weights),
            [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs],
        )
        plain_pools(model)
        onnx.save(model, folder / f"{name}.onnx")
        print(name, "written", flush=True)


# ---------------------------------------------------------------- runtimes


def with_onnxruntime(path, inputs, _):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(
        f"{path}.onnx", options, providers=["CPUExecutionProvider"]
    )
    feed = {i.name: x for i, x in zip(session.get_inputs(), inputs)}
    return lambda: session.run(None, feed)[0]


def with_openvino(path, inputs, _):
    import openvino

    core = openvino.Core()
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": THREADS,
                "INFERENCE_PRECISION_HINT": "f32"}  # fmt: skip
    request = core.compile_model(f"{path}.onnx", "CPU", settings).create_infer_request()
    tensors = [openvino.Tensor(x) for x in inputs]
    for i, tensor in enumerate(tensors):
        request.set_input_tensor(i, tensor)

    def run():
        request.infer()
        return request.get_output_tensor(0).data

    return run


def with_iree(path, inputs, weights):
    import iree.runtime

    config = iree.runtime.Config("local-task")
    module = iree.runtime.load_vm_flatbuffer_file(f"{path}.vmfb", driver="local-task")
    device = config.device
    arrays = [iree.runtime.asdevicearray(device, x) for x in (*inputs, *weights)]
    return lambda: module.main(*arrays).to_host()


RUNTIMES = {
    "onnxruntime": (with_onnxruntime, "NCHW"),
    "openvino": (with_openvino, "NCHW"),
    "iree": (with_iree, "NHWC"),
}


def turn(folder, name, runtime, seconds):
    """A median of runs in ms, and by how much the result is off JAX's, of its greatest element."""
    make, layout = RUNTIMES[runtime]
    _, inputs, weights = network(name, layout)
    run = make(folder / name, inputs, weights)
    expected = np.load(folder / f"{name}.npz")["arr_0"]
    off = np.abs(np.asarray(run()) - expected).max() / np.abs(expected).max()
    times, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until or len(times) < 5:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return {"ms": 1000 * statistics.median(times[len(times) // 5 :]), "off": float(off)}


def hone_turn(folder, name, hone):
    command = [hone, "bench", f"{folder / name}.hlo", "--json"]
    plan = folder / f"{name}.plan.json"
    command += ["--plan", str(plan)] if plan.exists() else []
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return found[0] if isinstance(found, list) else found


def race(folder, names, turns, seconds, hone):
    rows = {name: {runtime: [] for runtime in ("stock", "tuned", *RUNTIMES)} for name in names}
    for _ in range(turns):
        for name in names:
            found = hone_turn(folder, name, hone)
            rows[name]["stock"].append(found["stock_ms"])
            rows[name]["tuned"].append(found.get("tuned_ms") or found["stock_ms"])
            for runtime in RUNTIMES:
                command = [sys.executable, __file__, "turn", str(folder), name, runtime, str(seconds)]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    print(f"{name} {runtime}: {done.stderr.strip().splitlines()[-1]}", flush=True)
                    continue
                found = json.loads(done.stdout.splitlines()[-1])
                if found["off"] > 1e-3:
                    print(f"{name} {runtime}: off JAX's result by {found['off']:.2g}", flush=True)
                rows[name][runtime].append(found["ms"])
    print("| ms a run | " + " | ".join(next(iter(rows.values()))) + " | tuned by best peer |")
    print("|---" * (len(RUNTIMES) + 4) + "|")
    for name, row in rows.items():
        medians = {k: statistics.median(v) if v else None for k, v in row.items()}
        best = min((medians[k] for k in RUNTIMES if medians[k]), default=None)
        cells = [f"{m:.3g}" if m else "-" for m in medians.values()]
        cells.append(f"{medians['tuned'] / best:.2f}" if best else "-")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("write", "race"):
        sub = commands.add_parser(command)
        sub.add_argument("folder", type=pathlib.Path)
        sub.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=list(NETWORKS))
        if command == "race":
            sub.add_argument("--turns", type=int, default=3)
            sub.add_argument("--seconds", type=float, default=2)
            sub.add_argument("--hone", default="build/bin/hone")
    sub = commands.add_parser("turn")
    sub.add_argument("folder", type=pathlib.Path)
    sub.add_argument("network")
    sub.add_argument("runtime", choices=list(RUNTIMES))
    sub.add_argument("seconds", type=float)
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder, options.networks)
    elif options.command == "race":
        race(options.folder, options.networks, options.turns, options.seconds, options.hone)
    else:
        print(json.dumps(turn(options.folder, options.network, options.runtime, options.seconds)))


if __name__ == "__main__":
    main()
