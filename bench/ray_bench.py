#!/usr/bin/env python3
"""Tuning on a Ray cluster: throughput, kills, what a call costs, and a plan to a thousand machines.

  bench/ray_bench.py throughput --nodes 1,2,4     evaluations a second on a device that only waits
  bench/ray_bench.py kills --kills 20             workers, actors and nodes killed in mid-run
  bench/ray_bench.py calls                        a call's latency and the hub's time, by size
  bench/ray_bench.py plan                         a simulation of 1 to 1,000 machines

Nodes are processes on this machine (ray.cluster_utils.Cluster), the device is
build/bin/hone-simulated-worker. Run by .venv-ray/bin/python (setup/install --ray).
"""

import argparse
import collections
import contextlib
import heapq
import json
import os
import pathlib
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent import futures

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "data" / "kmeans" / "jax010_kmeans_while.hlo"
STORE_BYTES = 80_000_000
# A node that starts on a busy machine takes longer than Ray expects.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "180")


@contextlib.contextmanager
def cluster_of(nodes):
    from ray.cluster_utils import Cluster

    made = Cluster()
    try:
        add_node(made, resources={})  # the head
        for _ in range(nodes):
            add_node(made)
        yield made
    finally:
        made.shutdown()


def add_node(made, resources=None):
    """One that measures. On a busy machine Ray now and then gives a node up that it starts."""
    for attempt in range(5):
        try:
            return made.add_node(
                num_cpus=1, resources={"hone_measure": 1} if resources is None else resources,
                object_store_memory=STORE_BYTES, include_dashboard=False,
                include_log_monitor=False, no_monitor=True)
        except Exception as error:  # it raises nothing narrower
            print(f"ray_bench: a node did not start ({attempt}): {error}", file=sys.stderr)
    sys.exit("ray_bench: Ray starts no node here")


def simulated(folder, bin_folder, seconds):
    """A hone-worker that takes that long for a race."""
    program = pathlib.Path(folder) / "hone-worker"
    program.write_text(f"#!/bin/sh\nexec '{bin_folder}/hone-simulated-worker' "
                       f"--seconds {seconds} \"$@\"\n")
    program.chmod(0o700)
    return str(program)


def tune_command(options, made, worker, steps, store):
    return [f"{options.bin}/hone", "tune", str(PROGRAM), "--workers", f"ray:{made.address}",
            "--python", sys.executable, "--worker", worker, "--stages", "fusion,tiles",
            "--budget", f"5h,{steps}steps", "--seed", str(options.seed), "--store", str(store),
            "--json", "--quiet"]


def tuned(finished):
    if finished.returncode != 0:
        sys.exit(f"ray_bench: hone tune ended with {finished.returncode}: {finished.stderr}")
    return json.loads(finished.stdout)


def stored(store):
    """How often each plan's figures are there."""
    with contextlib.closing(sqlite3.connect(store)) as base:
        rows = base.execute("SELECT program, plan, executable, speedup, error FROM measurements")
        return collections.Counter(rows.fetchall())


def throughput(options):
    rates = {}
    for nodes in map(int, options.nodes.split(",")):
        with cluster_of(nodes) as made, tempfile.TemporaryDirectory() as folder:
            worker = simulated(folder, options.bin, options.seconds)
            command = tune_command(options, made, worker, options.steps, f"{folder}/store.db")
            result = tuned(subprocess.run(command, capture_output=True, text=True, check=False))
        rates[nodes] = result["evaluations"] / result["seconds"]
        print(json.dumps({"nodes": nodes, "evaluations": result["evaluations"],
                          "seconds": result["seconds"], "busy_share": result["busy_share"],
                          "a_second": rates[nodes], "speedup": result["speedup"]}), flush=True)
    first = min(rates)
    for nodes, rate in rates.items():
        print(f"{nodes} nodes: {rate / rates[first]:.2f} times {first}")


def simulated_workers(bin_folder):
    """Their process ids."""
    wanted = os.path.realpath(f"{bin_folder}/hone-simulated-worker")
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.readlink(f"/proc/{name}/exe") == wanted:
                found.append(int(name))
    return found


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def kill_during(running, options, made):
    """How many of each kind were killed at random while that future ran: a worker, the actor that has
    one, a node, for which another comes. Nodes start in the main thread only: call it there."""
    rng = random.Random(options.seed)
    killed = collections.Counter()
    while sum(killed.values()) < options.kills and not running.done():
        time.sleep(rng.uniform(0.5, 1.5) * options.every)
        kind = rng.choice(["worker", "worker", "actor", "actor"] + ["node"] * options.nodes_die)
        with contextlib.suppress(OSError):
            if kind == "node":
                nodes = [node for node in made.list_all_nodes() if node is not made.head_node]
                made.remove_node(rng.choice(nodes), allow_graceful=False)
                add_node(made)
            else:
                workers = simulated_workers(options.bin)
                if not workers:
                    continue  # they are being replaced
                pid = rng.choice(workers)
                os.kill(pid if kind == "worker" else parent_of(pid), signal.SIGKILL)
            killed[kind] += 1
    return killed


def kills(options):
    nodes = int(options.nodes.split(",")[-1])
    results = {}
    stores = {}
    with tempfile.TemporaryDirectory() as folder:
        worker = simulated(folder, options.bin, options.seconds)
        for name in ("undisturbed", "killed"):
            store = f"{folder}/{name}.db"
            with cluster_of(nodes) as made, futures.ThreadPoolExecutor(1) as pool:
                command = tune_command(options, made, worker, options.steps, store)
                running = pool.submit(subprocess.run, command, capture_output=True, text=True,
                                      check=False)
                if name == "killed":
                    killed = kill_during(running, options, made)
                results[name] = tuned(running.result())
            stores[name] = stored(store)
    a, b = stores["undisturbed"], stores["killed"]
    report = {
        "kills": sum(killed.values()),
        "by_kind": dict(killed),
        "measurements": sum(b.values()),
        "lost": sum((a - b).values()),
        "doubled": sum((b - a).values()),
        "same_plan": results["undisturbed"]["plan"] == results["killed"]["plan"],
        "same_speedup": results["undisturbed"]["speedup"] == results["killed"]["speedup"],
        "failures": results["killed"]["failures"],
        "seconds": [results[name]["seconds"] for name in ("undisturbed", "killed")],
    }
    print(json.dumps(report, indent=2))
    good = (report["lost"] == report["doubled"] == report["failures"] == 0 and
            report["same_plan"] and report["same_speedup"] and
            report["kills"] >= options.kills)
    return 0 if good else 1


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def calls(options):
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    sys.path.insert(0, str(ROOT / "python"))
    from ray_harness import Hub, StandIn, write_echo

    with cluster_of(1) as made, tempfile.TemporaryDirectory() as folder:
        hub = Hub("--address", made.address, "--measure", "--program",
                  write_echo(pathlib.Path(folder)))
        worker = StandIn(hub)
        worker.call(b"12345678")
        for size in (64, 4096, 65_536, 1 << 20, 8 << 20):
            text = os.urandom(size)
            count = max(10, min(options.calls, (32 << 20) // size))
            before = cpu_seconds(hub.process.pid)
            times = []
            for _ in range(count):
                start = time.perf_counter()
                worker.call(text)
                times.append(time.perf_counter() - start)
            spent = (cpu_seconds(hub.process.pid) - before) / count
            print(json.dumps({"bytes": size, "calls": count,
                              "median_ms": 1e3 * statistics.median(times),
                              "p95_ms": 1e3 * statistics.quantiles(times, n=20)[-1],
                              "hub_cpu_ms": 1e3 * spent}), flush=True)
        worker.close()
        hub.close()


def simulate(hosts, options, rng):
    """Evaluations a second of so many machines. An evaluation is two calls, compile and race, for
    each of which the hub, one processor, has work before the machine has; then, in the order in which
    they were asked for, the driver tells one and asks for another. Twice as many are under way as
    there are machines."""
    window = 2 * hosts
    count = 4 * window + 2000
    idle = hosts
    waiting = collections.deque(range(window))  # evaluations without a machine
    asked = window
    finished = set()
    told = 0
    hub = driver = 0.0  # when they are free
    events = []  # (time, what, evaluation, share of the evaluation)

    def begin(now):
        nonlocal idle
        while idle and waiting:
            idle -= 1
            heapq.heappush(events, (now, "call", waiting.popleft(), 0.2))

    begin(0.0)
    now = start = 0.0
    while told < count:
        now, what, number, share = heapq.heappop(events)
        if what == "call":
            hub = max(hub, now) + options.hub_ms / options.hubs / 1e3
            takes = share * options.seconds * rng.lognormvariate(-0.08, 0.4)  # of mean 1
            heapq.heappush(events, (hub + takes, "answer", number, share))
        elif what == "answer" and share < 0.5:
            heapq.heappush(events, (now, "call", number, 0.8))
        elif what == "ask":
            waiting.append(number)
            begin(now)
        elif what == "answer":
            idle += 1  # the machine pulls the next
            finished.add(number)
            begin(now)
            if number == told:
                heapq.heappush(events, (max(driver, now), "tell", number, 0))
        else:
            driver = max(driver, now) + options.driver_ms / 1e3
            finished.discard(number)
            told += 1
            if told == window:
                start = driver  # from here on it is steady
            heapq.heappush(events, (driver, "ask", asked, 0))
            asked += 1
            if told in finished:
                heapq.heappush(events, (driver, "tell", told, 0))
    return (count - window) / (now - start)


def plan(options):
    print(f"an evaluation: {options.seconds} s on its machine, {2 * options.hub_ms} ms of the hub, "
          f"{options.driver_ms} ms of the driver; {options.hubs} hubs")
    for hosts in (1, 10, 100, 200, 500, 1000):
        rate = simulate(hosts, options, random.Random(options.seed))
        print(json.dumps({"hosts": hosts, "a_second": round(rate, 2),
                          "share_of_ideal": round(rate * options.seconds / hosts, 3),
                          "hub_busy": round(rate * 2 * options.hub_ms / options.hubs / 1e3, 3),
                          "driver_busy": round(rate * options.driver_ms / 1e3, 3)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["throughput", "kills", "calls", "plan"])
    parser.add_argument("--bin", default=str(ROOT / "build" / "bin"), help="where hone is built")
    parser.add_argument("--nodes", default="1,2", help="that measure")
    parser.add_argument("--seconds", type=float, default=0.4, help="of a race")
    parser.add_argument("--steps", type=int, default=200, help="evaluations")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--nodes-die", type=int, choices=[0, 1], default=1,
                        help="whether nodes are killed too")
    parser.add_argument("--every", type=float, default=3, help="seconds between kills, about")
    parser.add_argument("--calls", type=int, default=300, help="of each size")
    parser.add_argument("--hub-ms", type=float, default=1.0, help="of the hub's processor, a call")
    parser.add_argument("--driver-ms", type=float, default=1.0, help="an evaluation")
    parser.add_argument("--hubs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return {"throughput": throughput, "kills": kills, "calls": calls, "plan": plan}[options.what](
        options)


if __name__ == "__main__":
    sys.exit(main())
