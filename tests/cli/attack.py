#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""attack.py PORT WHAT NUMBER: clients of an HTTP server that mean it no good, until this process is killed.

WHAT is what NUMBER connections do: "silent", nothing; "slow", a byte of the head of a request each half second; "unread",
ask for /metrics time and again and read no answer; "addresses", as slow, each from another loopback address. One that
the server closes is made anew. "flood": NUMBER threads connect as fast as they can, and ask for nothing. It prints
"ready" when it has begun.
"""
import os
import socket
import sys
import threading
import time

port, what, number = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
head = request + b"X-Slow: " + b"a" * 4000


def connect(i):
    s = socket.socket()
    if what == "addresses":
        s.bind((f"127.0.{1 + i // 250}.{1 + i % 250}", 0))
    if what == "unread":
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", port))
    return s


def flood():
    kept = []
    while True:
        try:
            s = socket.create_connection(("127.0.0.1", port))
            s.setblocking(False)
            s.send(b"GET /")
            kept.append(s)
        except OSError:
            pass
        del kept[:-200]


if what == "flood":
    for _ in range(number):
        threading.Thread(target=flood, daemon=True).start()
    print("ready", flush=True)
    time.sleep(600)
    os._exit(0)
sockets = [[connect(i), 0] for i in range(number)]
print("ready", flush=True)
for _ in range(1200):
    time.sleep(0.5)
    for i, (s, sent) in enumerate(sockets):
        try:
            if what == "unread":
                s.send((request + b"\r\n") * 50)
                continue
            if what != "silent":
                sockets[i][1] += s.send(head[sent:sent + 1])
            if not s.recv(4096):
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            s.close()
            sockets[i] = [connect(i), 0]
