#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""page_garbage.py SECONDS TABLES [HEIR]: a measured process that opens a page set and writes into it what it
likes: random bytes, all counts at their maximum, while it is read; tries to change its size; hands it to a
child, and opens ten more. With HEIR, a socket, hands it to whoever listens there, and ends at once."""
import fcntl
import mmap
import os
import random
import socket
import struct
import sys
import time

directory = os.environ['QUARTZ_RUNTIME_DIR']
TABLES, SEGMENT, SLOT = int(sys.argv[2], 16), 65536, 1024


def ask(kind, index=0, slots=0, pointer=0):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect(directory + '/page.sock')
    s.send(struct.pack('<IIIIQIIQQq', 56, kind, 1, index, TABLES, SEGMENT, SLOT, slots, slots, pointer))
    data, fds, _, _ = socket.recv_fds(s, 64, 4)
    status = struct.unpack('<IiII', data)[1]
    if status:
        sys.exit(f'request {kind}: status {status}')
    return fds


def maximum():
    head = struct.pack('<IIIIQQQQQQ', *[0xffffffff] * 4, *[2**64 - 1] * 6)
    return (head + b'\xff' * (SLOT - len(head))) * (SEGMENT // SLOT)


def plausible():
    slot = struct.pack('<IIIIQQQQQQ', 1, 1, 127, 0, 1 << 56, 127 << 32 | 4096, 7 << 32 | 9, 0, 0, 0)
    slot += struct.pack('<128I', *[random.randrange(1, 131073) for _ in range(128)])
    return (slot + bytes(SLOT - len(slot))) * (SEGMENT // SLOT)


def scribble(tables, slots, end):
    while time.monotonic() < end:
        slots[:] = random.choice([maximum, plausible, lambda: random.randbytes(SEGMENT)])()
        tables[0:4096] = random.choice([b'\xff' * 4096, random.randbytes(4096)])
        at = random.randrange(0, TABLES - 65536)
        tables[at:at + 65536] = random.choice([b'\xff' * 65536, random.randbytes(65536)])


random.seed(7)
end = time.monotonic() + float(sys.argv[1])
for _ in range(10):
    for fd in ask(1, slots=0x10000, pointer=-8):
        os.close(fd)
# an address that is this process's own stack, code, or nothing at all: only ever read as itself
tables_fd, slots_fd = ask(1, slots=random.getrandbits(47), pointer=random.getrandbits(40))
for fd, size in ((tables_fd, TABLES), (slots_fd, SEGMENT)):
    for wrong in (0, size - 1, size + 4096):
        try:
            os.ftruncate(fd, wrong)
            sys.exit('the size of a page set can be changed')
        except PermissionError:
            pass
    if not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_RDWR:
        sys.exit('a page set cannot be written')
if len(sys.argv) > 3:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as heir:
        heir.connect(sys.argv[3])
        socket.send_fds(heir, [b'yours'], [tables_fd, slots_fd])
    print('bequeathed')
    sys.exit()
tables, slots = mmap.mmap(tables_fd, TABLES), mmap.mmap(slots_fd, SEGMENT)
for index in range(1, 5):
    for fd in ask(2, index):
        os.close(fd)
child = os.fork()
scribble(tables, slots, end)
if not child:
    os._exit(0)
os.waitpid(child, 0)
print('scribbled')
