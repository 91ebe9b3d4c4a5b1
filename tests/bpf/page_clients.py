#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""page_clients.py SOCKET TABLES: strangers and vandals at the socket for page sets. Each must get a refusal,
or nothing; and one that asks properly must get its answer meanwhile."""
import errno
import os
import random
import resource
import socket
import struct
import sys
import time

path = sys.argv[1]
OPEN, MORE, VERSION = 1, 2, 1
TABLES, SEGMENT, SLOT = int(sys.argv[2], 16), 65536, 1024


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(10)
    for _ in range(2000):
        try:
            s.connect(path)
            return s
        except BlockingIOError:
            time.sleep(0.005)
    sys.exit('cannot connect')


def request(kind=OPEN, version=VERSION, index=0, tables=TABLES, segment=SEGMENT, slot=SLOT):
    return struct.pack('<IIIIQIIQQq', 56, kind, version, index, tables, segment, slot, 4096, 8192, 0)


def ask(message):
    """Status and number of descriptors of the reply; None: dropped without one."""
    s = connect()
    try:
        s.send(message)
        data, fds, _, _ = socket.recv_fds(s, 64, 4)
    except (ConnectionResetError, BrokenPipeError):
        return None
    finally:
        s.close()
    for fd in fds:
        os.close(fd)
    return (struct.unpack('<IiII', data)[1], len(fds)) if len(data) == 16 else None


def expect(what, got, wanted):
    if got not in wanted:
        sys.exit(f'{what}: {got}, not one of {wanted}')


refused = (-errno.ESRCH, 0)
expect('a process that is not measured', ask(request()), [refused])
expect('another segment without a page set', ask(request(MORE, index=1)), [refused])
expect('another version', ask(request(version=2)), [(-errno.EPROTONOSUPPORT, 0)])
expect('another size', ask(request(tables=1)), [(-errno.EPROTO, 0)])
expect('a short message', ask(b'\0'), [(-errno.EPROTO, 0)])
expect('a long message', ask(request() + bytes(4096)), [refused])
random.seed(1)
for _ in range(500):
    ask(random.randbytes(random.randrange(1, 100)))

# Half-open ones that say nothing, more than there is room for, and a good one after their time.
silent = [connect() for _ in range(300)]
deadline = time.monotonic() + 30
while ask(request()) != refused:
    if time.monotonic() > deadline:
        sys.exit('silent clients keep others out')
    time.sleep(0.05)
for s in silent:
    s.close()

# Ten thousand at once, or as many as we may have descriptors: those that are not turned away stand in
# the queue, and say nothing. Who comes when they have gone is answered.
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
many = min(10000, hard - 64)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
crowd = []
for _ in range(many):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setblocking(False)
    crowd.append(s)
waiting = sum(s.connect_ex(path) == 0 for s in crowd)
with open('/proc/sys/net/core/somaxconn') as f:
    queue = min(int(f.read()), 4096)
if waiting < min(many, queue):
    sys.exit(f'only {waiting} of {many} could connect at once')
for s in crowd:
    s.close()
expect(f'after {many} at once', ask(request()), [refused])

# As many as ten thousand one after the other.
for _ in range(10000):
    s = connect()
    s.send(request())
    s.close()
expect('after ten thousand', ask(request()), [refused])
