#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""jit.py KIND: runs code that it made itself, without end, and says "ready". The map with its name is of this
KIND: own, or public, of root and for everybody; or pipe, link, second, others, roots: what nobody may believe.
roots is of root alone, and the process another user's."""
import ctypes
import mmap
import os
import sys

LOOP = bytes.fromhex("48ffc1ebfb")  # turn: inc %rcx; jmp turn

kind = sys.argv[1]
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                 prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(LOOP)
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
path = f"/tmp/perf-{os.getpid()}.map"
if kind == "pipe":
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
ctypes.CFUNCTYPE(None)(address)()
