"""Has workers on the machines of a Ray cluster, and tells what stands in for them on this one.

Started by `hone … --workers ray:…` (src/jobs/cluster.cc), which it tells, in one packet of JSON, how
many workers there may be and which program stands in for one (stand_in.py); it ends when hone does.
A stand-in hands over what hone started it with: the socket on which calls come, and the page of
memory that hone watches. For each there is a Ray actor with a hone-worker (worker.py) on a node that
has room. A call is read here, made of the actor, and its answer written back; the page is kept up to
date meanwhile. An actor that is lost, or silent for so long, is a stand-in that ends as by SIGKILL:
hone goes on as it does when somebody kills a local worker.
"""

import argparse
import asyncio
import collections
import hashlib
import inspect
import json
import mmap
import os
import signal
import socket
import struct
import sys
import tempfile

from hone.ray import stand_in
from hone.ray import worker as node_side

FRAME = struct.Struct(node_side.FRAME)
CONTROL = 3  # kHubDescriptor
MOST_PACKET = 1 << 16
MOST_WAITING = 4096  # stand-ins that want to be heard
KNOCK_SECONDS = 15.0
BEAT_SECONDS = 1.0
LEASE_SECONDS = 15.0  # that an actor may be silent
PLACE_SECONDS = 200.0  # that may pass until a node has room and the actor is there
SHARED_BYTES = 100_000  # larger calls are put where nodes fetch them: a program goes to every worker
MOST_SHARED = 8
MEASURE = "hone_measure"  # the resource by which measuring workers are alone on their nodes


class Unusable(Exception):
    """What is wrong and what to do about it."""


def connect(address, measure):
    """A cluster: the one at `address`; for "auto" one that runs here, or else one of its own."""
    try:
        import ray
    except ImportError as error:
        raise Unusable(
            f"{sys.executable} has no Ray ({error}): setup/install --ray makes .venv-ray, or say "
            "which python has it with --python") from error
    quiet = {"log_to_driver": False, "logging_level": "error", "namespace": "hone"}
    if address != "auto":
        try:
            knock(address)
            ray.init(address, **quiet)
        except (OSError, RuntimeError, ValueError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise Unusable(f"no Ray cluster answers at {address}: {first}; `ray status` tells "
                           "where one runs") from error
        return ray
    try:
        ray.init("auto", **quiet)
    except ConnectionError:
        resources = {MEASURE: 1} if measure else {}
        ray.init("local", resources=resources, include_dashboard=False, **quiet)
    return ray


def knock(address):
    """Ray itself takes minutes to find that nobody is there."""
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if not separator or not port.isdigit():
        raise ValueError("it is not of the form HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()


def nodes_of(ray, measure, device):
    """The nodes that may have workers: {node id: (workers, description)}, of one processor."""
    kind = f"hone_device_{device}" if device else ""
    room = {}
    for node in ray.nodes():
        resources = node["Resources"]
        if not node["Alive"] or (kind and resources.get(kind, 0) <= 0):
            continue
        count = int(resources.get(MEASURE if measure else "CPU", 0))
        if count > 0:
            room[node["NodeID"]] = count
    if not room:
        wanted = "; start nodes with "
        asked = {MEASURE: 1} if measure else {}
        if kind:
            asked[kind] = 1
        raise Unusable(
            "no node of this Ray cluster " +
            (f"is of the kind {device}" if kind else "may measure" if measure else "has a CPU") +
            (wanted + f"`ray start --resources='{json.dumps(asked)}'`" if asked else ""))
    asked = {node: describe(ray, node) for node in room}
    groups = collections.defaultdict(dict)
    for node, answer in asked.items():
        try:
            told = ray.get(answer, timeout=PLACE_SECONDS)
        except (ray.exceptions.RayError, TimeoutError):
            continue  # gone again
        groups[processor_of(told)][node] = (room[node], told)
    if not groups:
        raise Unusable("no node of this Ray cluster answers")
    # Figures of different processors are not comparable: those that are most.
    return max(groups.values(), key=lambda group: sum(count for count, _ in group.values()))


def describe(ray, node):
    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(num_cpus=0, max_retries=2, scheduling_strategy=there)(
        node_side.describe_node).remote()


def processor_of(description):
    return description["cpu"], description["cores"]


class Hub:
    def __init__(self, ray, options, nodes):
        self._ray = ray
        self._options = options
        self._processor = next(processor_of(told) for _, told in nodes.values())
        self._fits = {node: True for node in nodes}  # whether a node has that processor
        self._most_bytes = options.memory_limit or min(
            told["memory_bytes"] for _, told in nodes.values()) // 4 * 3
        self._shared = collections.OrderedDict()  # calls that several workers get, by their hash
        # Two at a time: a call, and a beat meanwhile. An actor is not started anew by Ray: what it
        # knew is gone, and hone tells a new one.
        self._actor = ray.remote(max_restarts=0, max_task_retries=0, max_concurrency=2)(
            node_side.Worker)
        self._tasks = set()

    async def run(self, control, listening):
        """Until hone has gone."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(control, ended.set)
        accepting = asyncio.create_task(self._accept(loop, listening))
        await ended.wait()
        accepting.cancel()

    async def _accept(self, loop, listening):
        listening.setblocking(False)
        while True:
            connection, _ = await loop.sock_accept(listening)
            task = asyncio.create_task(self._serve(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection):
        """One worker, from its beginning to its end."""
        gone = asyncio.Event()
        actor = writer = None
        end = {"signal": signal.SIGKILL, "status": 0, "log": ""}
        try:
            await readable(connection)
            arguments, descriptors, _, _ = socket.recv_fds(connection, MOST_PACKET, 2)
            if len(descriptors) != 2:
                return
            page = mmap.mmap(descriptors[1], 0)
            os.close(descriptors[1])
            asyncio.get_running_loop().add_reader(connection, gone.set)
            reader, writer = await asyncio.open_connection(
                sock=socket.socket(fileno=descriptors[0]))
            frame = await self._next(reader)
            if frame is not None:
                actor = await self._place(json.loads(arguments), len(page))
            while frame is not None:
                answer = await self._answer(actor, frame, page, gone)
                if isinstance(answer, dict):
                    end = answer
                    return
                writer.write(answer)
                await writer.drain()
                frame = await self._next(reader)
        except Unusable as error:
            end = {"signal": 0, "status": 1, "log": str(error)}
        except Exception as error:  # of Ray: the actor, its node or the cluster
            end["log"] = last_words(error)
        finally:
            # In this order: there is room for whoever is next, and the end is known when it shows.
            if actor is not None:
                try:
                    self._ray.kill(actor)
                except Exception:  # gone already
                    pass
            asyncio.get_running_loop().remove_reader(connection)
            try:
                connection.send(json.dumps(end).encode())
            except OSError:
                pass  # hone has ended it
            connection.close()
            if writer is not None:
                writer.close()

    async def _place(self, arguments, page_bytes):
        resources = {MEASURE: 1} if self._options.measure else {}
        if self._options.device:
            resources[f"hone_device_{self._options.device}"] = 1
        options = {"num_cpus": 0 if self._options.measure else 1, "resources": resources}
        if others := await self._other_processors():
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(others)})"}
        return self._actor.options(**options).remote(self._options.program, arguments, page_bytes)

    async def _other_processors(self):
        """Nodes whose figures would be of another processor; those that came since are looked at."""
        if not self._options.measure:
            return []
        alive = [node["NodeID"] for node in self._ray.nodes() if node["Alive"]]
        for node in alive:
            if node not in self._fits:
                asked = self._ask(describe(self._ray, node))
                await asyncio.wait({asked}, timeout=LEASE_SECONDS)
                if not asked.done() or asked.exception():
                    continue  # gone again
                told = asked.result()
                self._fits[node] = processor_of(told) == self._processor
        return [node for node in alive if not self._fits.get(node, True)]

    async def _answer(self, actor, frame, page, gone):
        """Of a call; or, a dict, how the worker ended."""
        answer = self._ask(actor.exchange.remote(page[node_side.STEP], self._share(frame)))
        meanwhile = [asyncio.create_task(self._beats(actor, page)),
                     asyncio.create_task(gone.wait())]
        try:
            done, _ = await asyncio.wait({answer, *meanwhile},
                                         return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in meanwhile:
                task.cancel()
            await asyncio.gather(*meanwhile, return_exceptions=True)
        if answer not in done:
            for task in done:
                task.result()  # raises, of the beats
            return {"signal": signal.SIGKILL, "status": 0, "log": ""}
        told = answer.result()
        page[:] = told[1]
        return told[2] if told[0] is None else told[0]

    def _ask(self, reference):
        """What comes of it. Never cancelled: Ray takes its time over that."""

        async def get():
            return await reference

        asked = asyncio.ensure_future(get())
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())  # looked at
        return asked

    async def _beats(self, actor, page):
        """Keeps the page up to date, and the actor's lease; raises where it does not renew it."""
        first = True
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            # The first may wait for a node to have room.
            lease = PLACE_SECONDS if first else LEASE_SECONDS
            beat = self._ask(actor.beat.remote())
            await asyncio.wait({beat}, timeout=lease)
            if not beat.done() and first:
                raise Unusable("no machine of the cluster had room for it within "
                               f"{lease:g} s")
            if not beat.done():
                raise TimeoutError(f"its machine was silent for {lease:g} s")
            told = beat.result()
            first = False
            page[:], resident = told
            if resident > self._most_bytes:
                raise Unusable(f"took {resident >> 20} MiB, more than the limit of "
                               f"{self._most_bytes >> 20} MiB, and was killed")

    def _share(self, frame):
        if len(frame) < SHARED_BYTES:
            return frame
        name = hashlib.blake2b(frame).digest()
        if name not in self._shared:
            self._shared[name] = self._ray.put(frame)
            while len(self._shared) > MOST_SHARED:
                self._shared.popitem(last=False)
        self._shared.move_to_end(name)
        return self._shared[name]

    @staticmethod
    async def _next(reader):
        try:
            head = await reader.readexactly(FRAME.size)
            return head + await reader.readexactly(8 * FRAME.unpack(head)[1])
        except (asyncio.IncompleteReadError, ConnectionError):
            return None


def last_words(error):
    """Of Ray's many lines the last that says something."""
    lines = [line for line in str(error).splitlines() if any(map(str.isalnum, line))]
    return f"{type(error).__name__}: {lines[-1].strip()}" if lines else type(error).__name__


async def readable(connection):
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(connection, ready.set)
    await ready.wait()
    loop.remove_reader(connection)


def listen(folder):
    """Where stand-ins come, and the program that one is."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(os.path.join(folder, "hub"))
    listening.listen(MOST_WAITING)
    program = os.path.join(folder, "worker")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f"#!{sys.executable} -IS\n{inspect.getsource(stand_in)}")
    os.chmod(program, 0o700)
    return listening, program


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="auto", help="ray://HOST:PORT, HOST:PORT or auto")
    parser.add_argument("--measure", action="store_true", help="one worker a node, alone there")
    parser.add_argument("--device", default="", help="only on nodes with the resource "
                        "hone_device_DEVICE")
    parser.add_argument("--program", default="hone-worker", help="the hone-worker on the nodes")
    parser.add_argument("--memory-limit", type=int, default=0, metavar="BYTES",
                        help="of a worker (three quarters of its machine's)")
    options = parser.parse_args()
    try:
        control = socket.socket(fileno=CONTROL)
    except OSError:
        parser.error("this is started by hone: hone tune PROGRAM --workers ray:auto")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is hone's to answer
    try:
        ray = connect(options.address, options.measure)
        # Nodes need none of hone's Python.
        ray.cloudpickle.register_pickle_by_value(node_side)
        nodes = nodes_of(ray, options.measure, options.device)
    except Unusable as error:
        control.send(json.dumps({"error": str(error)}).encode())
        return 1
    told = [description for _, description in nodes.values()]
    with tempfile.TemporaryDirectory(prefix="hone-hub-") as folder:
        listening, program = listen(folder)
        control.send(json.dumps({
            "workers": sum(count for count, _ in nodes.values()),
            "worker_path": program,
            "cpu": told[0]["cpu"],
            "cores": told[0]["cores"],
        }).encode())
        asyncio.run(Hub(ray, options, nodes).run(control, listening))
    ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
