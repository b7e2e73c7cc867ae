"""A hone-worker on this node, called from elsewhere.

Knows nothing of Ray, and nothing of the rest of hone: Ray carries the class to nodes that have none
of hone's Python.
"""

import mmap
import os
import platform
import socket
import struct
import subprocess

SOCKET = 3  # the descriptors of src/wire/heartbeat.h
PAGE = 4
FRAME = "<QQ"  # src/wire/channel.cc: the method, and the words that follow
STEP = slice(8, 12)  # hone::wire::Heartbeat::step, which hone writes before a call
MOST_LOG = 1 << 14


def describe_node():
    """What src/store's Place has of a machine, and its memory."""
    cpu = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name") and ": " in line:
                    cpu = line.split(": ", 1)[1].rstrip("\n")
                    break
    except OSError:
        pass
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_bytes": memory}


def _start_as_worker(ours, page):
    # Between fork and exec; duplicates are inherited.
    os.dup2(ours, SOCKET)
    os.dup2(page, PAGE)


def _above(descriptor):
    """Out of the way of the descriptors that a worker is started with."""
    moved = os.dup(descriptor)
    low = []
    while moved <= PAGE:
        low.append(moved)
        moved = os.dup(descriptor)
    for one in low:
        os.close(one)
    return moved


class Worker:
    """One process. `exchange` is called by one thread at a time, `beat` by another meanwhile."""

    def __init__(self, program, arguments, page_bytes):
        if not os.access(program, os.X_OK):
            raise FileNotFoundError(
                f"there is no {program} on {platform.node()}: install hone there at the same path, "
                "or say where it is with --worker")
        mine, theirs = socket.socketpair()
        self._socket = mine
        page = os.memfd_create("hone-worker-heartbeat")
        os.ftruncate(page, page_bytes)
        self._page = mmap.mmap(page, page_bytes)
        self._log = os.memfd_create("hone-worker-log")
        their_socket = _above(theirs.fileno())
        their_page = _above(page)
        # As src/wire/worker_process.cc starts one: XLA reads flags from the environment.
        self._process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            env={"TF_CPP_MIN_LOG_LEVEL": "2", "LC_ALL": "C"}, close_fds=True,
            pass_fds=(SOCKET, PAGE, their_socket, their_page),
            preexec_fn=lambda: _start_as_worker(their_socket, their_page))
        for descriptor in (their_socket, their_page, page):
            os.close(descriptor)
        theirs.close()

    def exchange(self, step, frame):
        """The answer to a call and the page behind it; or None, the page and how it ended."""
        try:
            self._page[STEP] = step
            self._socket.sendall(frame)
            head = self._receive(struct.calcsize(FRAME))
            answer = head + self._receive(8 * struct.unpack(FRAME, head)[1])
        except OSError:
            return None, self._page[:], self._end()
        return answer, self._page[:]

    def beat(self):
        """The page now, and the process's resident bytes."""
        resident = 0
        try:
            with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as file:
                resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            pass
        return self._page[:], resident

    def _receive(self, size):
        data = bytearray(size)
        view = memoryview(data)
        while view:
            got = self._socket.recv_into(view)
            if got == 0:
                raise OSError("closed")
            view = view[got:]
        return bytes(data)

    def _end(self):
        """A signal or an exit status, and its last words."""
        try:
            code = self._process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        size = os.lseek(self._log, 0, os.SEEK_END)
        log = os.pread(self._log, MOST_LOG, max(0, size - MOST_LOG)).decode(errors="replace")
        return {"signal": max(0, -code), "status": max(0, code), "log": log}
