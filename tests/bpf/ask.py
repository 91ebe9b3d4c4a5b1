#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ask.py PARAMETERS: a snapshot of the quartzd in $QUARTZ_RUNTIME_DIR, asked for with these, JSON; or its reason why not."""
import json
import os
import socket
import sys

client = socket.socket(socket.AF_UNIX)
client.connect(os.environ["QUARTZ_RUNTIME_DIR"] + "/quartzd.sock")
request = {"method": "io.quartz.Snapshot", "parameters": json.loads(sys.argv[1])}
client.sendall(json.dumps(request).encode() + b"\0")
answer = b"".join(iter(lambda: client.recv(65536), b""))
head, _, body = answer.partition(b"\0")
head = json.loads(head)
if "error" in head:
    sys.exit(head["parameters"]["reason"])
if len(body) != head["parameters"]["bytes"]:
    sys.exit("quartzd had no more time for us")
sys.stdout.buffer.write(body)
