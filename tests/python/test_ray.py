"""Workers on a Ray cluster: the hub and what stands in for workers, with hone and hone-worker played
by this file; and `hone tune` with a simulated device, where it is built. Skipped where Ray is missing.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from concurrent import futures

import pytest

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

from hone.ray import worker as node_side  # noqa: E402
from ray_harness import ROOT, Hub, StandIn, write_echo  # noqa: E402
BIN = ROOT / "build" / "bin"


@pytest.fixture(scope="module")
def cluster():
    # A node that starts on a busy machine takes longer than Ray expects.
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "180")
    made = cluster_utils.Cluster()
    for _ in range(2):
        add_node(made)
    yield made
    made.shutdown()


def add_node(made):
    for _ in range(3):
        try:
            return made.add_node(
                num_cpus=1, resources={"hone_measure": 1}, object_store_memory=80_000_000,
                include_dashboard=False, include_log_monitor=False, no_monitor=True)
        except Exception:  # it raises nothing narrower
            pass
    pytest.skip("Ray starts no node here")


@pytest.fixture(scope="module")
def echo(tmp_path_factory):
    return write_echo(tmp_path_factory.mktemp("echo"))


@pytest.fixture(scope="module")
def hub(cluster, echo):
    started = Hub("--address", cluster.address, "--measure", "--program", echo)
    yield started
    assert started.close() == 0


@pytest.fixture
def stand_in(hub):
    made = StandIn(hub)
    yield made
    made.close()


def gone(pid):
    for _ in range(100):
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def test_the_hub_tells_what_there_is(hub):
    node = node_side.describe_node()
    assert hub.told["workers"] == 2
    assert hub.told["cpu"] == node["cpu"]
    assert hub.told["cores"] == node["cores"]


def test_calls_and_the_page_go_both_ways(stand_in):
    stand_in.page[8:12] = b"step"
    assert stand_in.call(b"12345678") == b"87654321"
    assert stand_in.page[0:8] == bytes([1, 0, 0, 0, 0, 0, 0, 0])
    assert stand_in.page[16:24] == b"stepdone"
    large = os.urandom(1 << 20)
    assert stand_in.call(large) == large[::-1]


def test_the_page_is_kept_up_to_date_while_a_worker_is_busy(stand_in):
    stand_in.send(b"sleep...")
    for _ in range(100):
        if stand_in.page[0] == 7:
            return
        time.sleep(0.1)
    pytest.fail("no beat")


def test_an_answer_comes_while_a_beat_is_under_way(stand_in):
    for _ in range(3):
        assert stand_in.call(b"second..") == b"..dnoces"


def test_a_worker_that_aborts_says_why(stand_in):
    assert stand_in.call(b"abort...") is None
    _, words = stand_in.process.communicate(timeout=10)
    assert stand_in.process.returncode == -signal.SIGABRT
    assert b"Check failed: it is so" in words


def test_a_worker_that_is_given_up_ends(hub, stand_in):
    pid = stand_in.where()
    stand_in.send(b"sleep...")
    time.sleep(0.2)
    stand_in.close()
    assert gone(pid)
    again = StandIn(hub)
    assert again.call(b"12345678") == b"87654321"
    again.close()


def test_each_machine_has_one_worker_and_a_lost_machine_is_a_kill(hub, cluster):
    workers = [StandIn(hub) for _ in range(2)]
    assert len({worker.where() for worker in workers}) == 2
    assert sum(node.get("hone_measure", 0) for node in [ray_available(cluster)]) == 0
    for worker in workers:
        worker.send(b"sleep...")
    time.sleep(0.5)
    node = cluster.list_all_nodes()[-1]
    cluster.remove_node(node, allow_graceful=False)
    lost = next_ended(workers)
    assert lost.process.returncode == -signal.SIGKILL
    add_node(cluster)
    again = StandIn(hub)
    assert again.call(b"12345678") == b"87654321"
    for worker in [*workers, again]:
        worker.close()


def ray_available(cluster):
    """What is left of the resources, asked of the cluster by a process of its own."""
    asked = subprocess.run(
        [sys.executable, "-c", "import json, sys, ray; ray.init(sys.argv[1], logging_level='error',"
         " log_to_driver=False); print(json.dumps(ray.available_resources()))", cluster.address],
        capture_output=True, check=True, text=True)
    return json.loads(asked.stdout.splitlines()[-1])


def next_ended(workers):
    for _ in range(400):
        for worker in workers:
            if worker.process.poll() is not None:
                return worker
        time.sleep(0.1)
    raise AssertionError("none has ended")


@pytest.mark.skipif(not (BIN / "hone-simulated-worker").exists() or not (BIN / "hone").exists(),
                    reason="hone is not built")
def test_kills_lose_and_double_nothing(cluster, tmp_path):
    sys.path.insert(0, str(ROOT / "bench"))
    import ray_bench

    options = argparse.Namespace(bin=str(BIN), seed=1, kills=2, every=0.4, nodes_die=False)
    worker = ray_bench.simulated(tmp_path, BIN, 0.05)
    results = []
    for disturbed in (False, True):
        store = tmp_path / f"{disturbed}.db"
        command = ray_bench.tune_command(options, cluster, worker, 16, store)
        with futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(subprocess.run, command, capture_output=True, text=True,
                                  check=False, timeout=120)
            if disturbed:
                killed = ray_bench.kill_during(running, options, cluster)
            done = running.result()
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        results.append((ray_bench.stored(store), told["plan"], told["speedup"], told["failures"]))
    assert killed.total() >= 1
    assert results[0] == results[1]
    assert results[0][0].total() >= 16


def test_what_cannot_be_used_is_said(cluster, echo):
    for arguments, words in (
            (["--address", "127.0.0.1:1", "--measure"], "no Ray cluster answers"),
            (["--address", cluster.address, "--measure", "--device", "tpu"], "hone_device_tpu")):
        refused = Hub(*arguments, "--program", echo)
        assert words in refused.told["error"]
        assert refused.close() == 1
