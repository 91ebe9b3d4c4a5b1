#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fuse_stuck.py FILE DIRECTORY: mounts a file system with FILE as DIRECTORY/program, which all users can
open but quartzd and its helpers: they wait for ever, and so would a profiler that opens what it finds."""
import ctypes
import os
import signal
import stat
import struct
import sys

LOOKUP, GETATTR, STATFS, OPEN, READ, RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR = (
    1, 3, 17, 14, 15, 18, 25, 26, 27, 29)
FORGET, INTERRUPT, BATCH_FORGET = 2, 36, 42
ENOENT, ENOSYS = 2, 38
VALID = 3600

data = open(sys.argv[1], "rb").read()
directory = sys.argv[2]
device = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
if libc.mount(b"stuck", directory.encode(), b"fuse", 0, options.encode()):
    sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
signal.alarm(300)
print("mounted", flush=True)


def attributes(node):
    is_file = node == 2
    mode = stat.S_IFREG | 0o755 if is_file else stat.S_IFDIR | 0o755
    size = len(data) if is_file else 0
    return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 1, 1, 1, 0, 0, 0,
                       mode, 1, 0, 0, 0, 4096, 0)


def answer(unique, body=b"", error=0):
    try:
        os.write(device, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
    except OSError:
        pass


def is_quartzd(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().startswith("quartzd")
    except OSError:
        return False


while True:
    try:
        request = os.read(device, 1 << 20)
    except OSError:
        break
    _, code, unique, node, _, _, pid, _ = struct.unpack_from("<IIQQIIII", request)
    body = request[40:]
    if code in (FORGET, INTERRUPT, BATCH_FORGET):
        continue
    if code != INIT and is_quartzd(pid):
        print("asked by quartzd", flush=True)
    elif code == INIT:
        answer(unique, struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0,
                                   0, *[0] * 7))
    elif code == LOOKUP and body == b"program\0":
        answer(unique, struct.pack("<QQQQII", 2, 0, VALID, VALID, 0, 0) + attributes(2))
    elif code == LOOKUP:
        answer(unique, error=ENOENT)
    elif code == GETATTR:
        answer(unique, struct.pack("<QII", VALID, 0, 0) + attributes(node))
    elif code in (OPEN, OPENDIR):
        answer(unique, struct.pack("<QII", 1, 0, 0))
    elif code == READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        answer(unique, data[offset:offset + size])
    elif code in (RELEASE, RELEASEDIR, FLUSH):
        answer(unique)
    elif code == STATFS:
        answer(unique, struct.pack("<QQQQQIIII24x", 1, 0, 0, 1, 0, 4096, 255, 4096, 0))
    else:
        answer(unique, error=ENOSYS)
