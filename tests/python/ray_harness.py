"""hone's side of the hub, and a worker that echoes: for tests and measurements without hone.

What src/jobs/cluster.cc and src/wire/worker_process.cc do, in a few lines of Python.
"""

import json
import mmap
import os
import pathlib
import socket
import struct
import subprocess
import sys
import textwrap

from hone.ray import worker as node_side

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAME = struct.Struct(node_side.FRAME)
PAGE_BYTES = 96

# Answers a call with its bytes upside down; dies where it is told to.
ECHO = """\
    import mmap, os, socket, struct, sys, time
    calls, page = socket.socket(fileno=3), mmap.mmap(4, 0)
    frame = struct.Struct("<QQ")
    page[0:8] = struct.pack("<Q", 1)
    while head := calls.recv(frame.size):
        method, words = frame.unpack(head)
        text = calls.recv(8 * words, socket.MSG_WAITALL) if words else b""
        if text.startswith(b"abort"):
            print("Check failed: it is so", file=sys.stderr, flush=True)
            os.abort()
        if text.startswith(b"sleep"):
            page[0:8] = struct.pack("<Q", 7)
            time.sleep(60)
        if text.startswith(b"second"):
            time.sleep(1)
        page[16:24] = page[8:12] + b"done"
        if text.startswith(b"where"):
            text = ("%-16d" % os.getpid()).encode()[::-1]
        calls.sendall(frame.pack(method, len(text) // 8) + text[::-1])
"""


def write_echo(folder):
    program = folder / "hone-worker"
    program.write_text(f"#!{sys.executable} -IS\n{textwrap.dedent(ECHO)}")
    program.chmod(0o700)
    return str(program)


class Hub:
    """As src/jobs/cluster.cc has one."""

    def __init__(self, *arguments):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hone.ray.hub", *arguments], env=environment,
            pass_fds=(3, theirs.fileno()), preexec_fn=lambda: os.dup2(theirs.fileno(), 3))
        theirs.close()
        self.told = json.loads(self.control.recv(1 << 16))

    def close(self):
        self.control.close()
        return self.process.wait(timeout=30)


class StandIn:
    """As src/wire/worker_process.cc starts a worker."""

    def __init__(self, hub):
        self.calls, theirs = socket.socketpair()
        page = os.memfd_create("page")
        os.ftruncate(page, PAGE_BYTES)
        self.page = mmap.mmap(page, PAGE_BYTES)

        def place():
            os.dup2(os.dup(theirs.fileno()), 3)
            os.dup2(page, 4)

        self.process = subprocess.Popen(
            [hub.told["worker_path"]], env={"LC_ALL": "C"}, pass_fds=(3, 4),
            stderr=subprocess.PIPE, preexec_fn=place)
        theirs.close()
        os.close(page)
        self.calls.settimeout(60)

    def send(self, text):
        self.calls.sendall(FRAME.pack(5, len(text) // 8) + text)

    def call(self, text):
        self.send(text)
        head = self._receive(FRAME.size)
        return head and self._receive(8 * FRAME.unpack(head)[1])

    def _receive(self, size):
        data = b""
        while len(data) < size:
            some = self.calls.recv(size - len(data))
            if not some:
                return None
            data += some
        return data

    def where(self):
        return int(self.call(b"where..."))

    def close(self):
        self.calls.close()
        self.process.kill()
        self.process.wait()
