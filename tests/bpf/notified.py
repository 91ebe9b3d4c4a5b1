#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""notified.py SOCKET: a service manager that is only told. Prints each message as one line."""
import signal
import socket
import sys

signal.alarm(300)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print("listening", flush=True)
while True:
    print(listener.recv(4096).decode().replace("\n", " "), flush=True)
