#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""serve.py HEADER [FILE]: a quartzd for one client.

Listens on quartzd.sock in $QUARTZ_RUNTIME_DIR and returns as soon as it does. The first request is
answered with HEADER, in which %d stands for the size of FILE, a NUL, and FILE. An empty HEADER is no
answer at all. The request must be the documented one, else the answer is a failure that quotes it.
"""
import os
import signal
import socket
import sys

header = sys.argv[1].encode()
body = open(sys.argv[2], "rb").read() if len(sys.argv) > 2 else b""

listener = socket.socket(socket.AF_UNIX)
listener.bind(os.environ["QUARTZ_RUNTIME_DIR"] + "/quartzd.sock")
listener.listen()
if os.fork():
    os._exit(0)
for fd in (0, 1, 2):
    os.close(fd)
signal.alarm(60)

client, _ = listener.accept()
request = b""
while not request.endswith(b"\0"):
    request += client.recv(4096) or b"(cut)\0"
os.unlink(listener.getsockname())
if request != b'{"method":"io.quartz.Snapshot"}\0':
    header = b'{"error":"io.quartz.Failed","parameters":{"reason":"asked in a strange way"}}'
if header:
    client.sendall(header.replace(b"%d", str(len(body)).encode()) + b"\0" + body)
