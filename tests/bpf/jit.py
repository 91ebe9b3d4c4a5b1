#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""jit.py KIND: runs code that it made itself, without end, and says "ready". The map with its name is of this
KIND: own, or public, of root and for all users; or pipe, link, second, others, roots: what quartzd must not believe.
roots is of root alone, and the process another user's.
memfd, file and shared: own, of code in a memfd, a deleted file or shared memory. late: its map comes when there is a file "go".
again: another procedure, "made_again", takes its place then."""
import ctypes
import mmap
import os
import sys
import tempfile
import threading
import time

LOOP = bytes.fromhex("48ffc1ebfb")  # turn: inc %rcx; jmp turn
COUNTED = bytes.fromhex("48ffcf75fbc3")  # turn: dec %rdi; jnz turn; ret


def map_code():
    protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    if kind == "memfd":
        fd = os.memfd_create("made")
    elif kind == "file":
        with tempfile.TemporaryFile(dir=".") as f:
            fd = os.dup(f.fileno())
    else:
        sharing = mmap.MAP_SHARED if kind == "shared" else mmap.MAP_PRIVATE
        return mmap.mmap(-1, 4096, flags=sharing | mmap.MAP_ANONYMOUS, prot=protection)
    os.ftruncate(fd, 4096)
    return mmap.mmap(fd, 4096, flags=mmap.MAP_SHARED, prot=protection)


kind = sys.argv[1]
code = map_code()
code.write(COUNTED if kind == "again" else LOOP)
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
path = f"/tmp/perf-{os.getpid()}.map"


def write_map(name="made_up", mode="x"):
    with open(path, mode, encoding="ascii") as f:
        f.write(f"{address:x} {len(COUNTED):x} {name}\n")


def run_twice():
    """The same code, which is another one from the second line of the map on."""
    run = ctypes.CFUNCTYPE(None, ctypes.c_long)(address)
    while not os.path.exists("go"):
        run(1000000)
    write_map("made_again", "a")
    while True:
        run(1000000)


def write_later():
    while not os.path.exists("go"):
        time.sleep(0.1)
    write_map()


if kind == "late":
    threading.Thread(target=write_later).start()
elif kind == "again":
    write_map()
elif kind == "pipe":
    os.mkfifo(path)
else:
    written = "map" if kind == "link" else path
    with open(written, "x", encoding="ascii") as f:
        f.write(f"{address:x} {len(LOOP):x} made_up\n")
    if kind == "link":
        os.symlink(os.path.abspath(written), path)
    if kind == "second":
        os.link(path, path + ".second")
    if kind == "others":
        os.chown(path, 65534, 65534)
    if kind in ("public", "roots"):
        os.chmod(path, 0o644 if kind == "public" else 0o600)
        os.setgid(65534)
        os.setuid(65534)
print("ready", flush=True)
if kind == "again":
    run_twice()
ctypes.CFUNCTYPE(None)(address)()
