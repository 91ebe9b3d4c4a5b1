# SPDX-License-Identifier: GPL-2.0-only
"""Requests of two parts to a server in a thread; the argument is whether both go in one write."""
import socket
import sys
import threading


def serve(listener):
    connection, _ = listener.accept()
    while connection.recv(200, socket.MSG_WAITALL):
        connection.sendall(b"reply")


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
client = socket.create_connection(listener.getsockname())
for _ in range(60):
    if int(sys.argv[1]):
        client.sendall(b"h" * 100 + b"b" * 100)
    else:
        client.sendall(b"h" * 100)
        client.sendall(b"b" * 100)
    client.recv(5, socket.MSG_WAITALL)
