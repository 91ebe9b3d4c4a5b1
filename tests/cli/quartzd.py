#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""quartzd.py FIRST LATER: a quartzd that runs until it is killed, on quartzd.sock in $QUARTZ_RUNTIME_DIR.

Snapshots are FIRST until a file `later` stands beside the socket, and LATER from then on; where a file `once` does,
it takes its place after the next snapshot. Whole snapshots are not answered while a file `hang` stands there. All
requests are kept in the file `requests`. It returns as soon as it listens, and prints the id of the process that does.
"""
import json
import os
import socket
import sys
import threading
import time

directory = os.environ["QUARTZ_RUNTIME_DIR"]
snapshots = [open(name, "rb").read() for name in sys.argv[1:3]]
status = {"state": "running", "version": "0.1.0", "pid": 1, "cpu_ns": 1500000000, "rate_hz": 99,
          "event": "cpu-clock", "processors": 4, "processes": 2, "scopes_refused": 0}

listener = socket.socket(socket.AF_UNIX)
listener.bind(directory + "/quartzd.sock")
listener.listen(16)
child = os.fork()
if child:
    print(child, flush=True)
    os._exit(0)
for fd in (0, 1, 2):
    os.close(fd)
lock = threading.Lock()


def is_there(name):
    return os.path.exists(f"{directory}/{name}")


def serve(client):
    request = b""
    while not request.endswith(b"\0"):
        request += client.recv(4096) or b"\0"
    body = b""
    while b'"io.quartz.Snapshot"}' in request and is_there("hang"):
        time.sleep(0.1)
    with lock:
        with open(directory + "/requests", "ab") as log:
            log.write(request[:-1] + b"\n")
        if json.loads(request[:-1])["method"] == "io.quartz.Snapshot":
            body = snapshots[is_there("later")]
            parameters = {"bytes": len(body)}
            if is_there("once"):
                os.rename(directory + "/once", directory + "/later")
        else:
            parameters = status
    try:
        client.sendall(json.dumps({"parameters": parameters}).encode() + b"\0" + body)
    except BrokenPipeError:
        pass
    client.close()


while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
