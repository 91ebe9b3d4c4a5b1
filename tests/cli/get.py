#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""get.py URL [METHOD [ACCEPT]]: prints status and type of the answer on one line of stderr, its body on stdout."""
import sys
import urllib.error
import urllib.request

request = urllib.request.Request(sys.argv[1], method=sys.argv[2] if len(sys.argv) > 2 else "GET")
if len(sys.argv) > 3:
    request.add_header("Accept", sys.argv[3])
try:
    answer = urllib.request.urlopen(request, timeout=120)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.headers["Content-Type"], file=sys.stderr)
sys.stdout.buffer.write(answer.read())
