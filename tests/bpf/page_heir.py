#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""page_heir.py SOCKET: a process that is not measured, gets a page set from one that is, and writes into it
what it likes until it is killed."""
import mmap
import os
import random
import socket
import sys

CHUNK = 65536

random.seed(3)
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    print('ready', flush=True)
    giver, _ = listener.accept()
_, fds, _, _ = socket.recv_fds(giver, 16, 2)
areas = [mmap.mmap(fd, os.fstat(fd).st_size) for fd in fds]
print('inherited', flush=True)
while True:
    for area in areas:
        for at in 0, random.randrange(0, len(area) - CHUNK + 1):
            area[at:at + CHUNK] = random.choice([b'\xff' * CHUNK, random.randbytes(CHUNK)])
