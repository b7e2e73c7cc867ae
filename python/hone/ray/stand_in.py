"""Is, to hone, a hone-worker; the real one is on another machine.

Hands the descriptors that hone started it with to the hub (hub.py), whose socket lies beside this
file, and waits to be told how the worker ended, to end likewise. Knows nothing but the standard
library: hub.py writes it out as a program, and there may be a thousand of it.
"""

import json
import os
import signal
import socket
import sys

CALLS = 3  # the descriptors of src/wire/heartbeat.h
PAGE = 4


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is hone's to answer
    hub = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        hub.connect(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "hub"))
        socket.send_fds(hub, [json.dumps(sys.argv[1:]).encode()], [CALLS, PAGE])
        os.close(CALLS)
        told = hub.recv(1 << 16)
    except OSError as error:
        print(f"what reaches the cluster has ended: {error}", file=sys.stderr)
        return 1
    if not told:
        print("what reaches the cluster has ended", file=sys.stderr)
        return 1
    end = json.loads(told)
    sys.stderr.write(end["log"])
    sys.stderr.flush()
    if end["signal"]:
        if end["signal"] != signal.SIGKILL:
            signal.signal(end["signal"], signal.SIG_DFL)
        os.kill(os.getpid(), end["signal"])
    return end["status"]


if __name__ == "__main__":
    sys.exit(main())
