#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""refuse.py NAME[,NAME...] COMMAND...: runs it where these system calls fail with EPERM, as by the
seccomp profile of a container."""
import ctypes
import os
import sys

ALLOW, EPERM = 0x7FFF0000, 0x00050001  # SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(EPERM)

lib = ctypes.CDLL("libseccomp.so.2")
lib.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(ALLOW)))
for name in sys.argv[1].split(","):
    number = lib.seccomp_syscall_resolve_name(name.encode())
    if number < 0 or lib.seccomp_rule_add(context, ctypes.c_uint32(EPERM), number, 0):
        sys.exit(f"refuse.py: {name}: cannot be refused")
if lib.seccomp_load(context):
    sys.exit("refuse.py: cannot load the filter")
os.execvp(sys.argv[2], sys.argv[2:])
