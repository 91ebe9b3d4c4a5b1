#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""get.py URL [METHOD [NAME: VALUE]...]: prints status and type of the answer on one line of stderr, its body on stdout.

A user and a password stand in the URL as in http://USER:PASSWORD@HOST/.
"""
import base64
import sys
import urllib.error
import urllib.request

scheme, rest = sys.argv[1].split("//", 1)
user, _, address = rest.rpartition("@")
request = urllib.request.Request(scheme + "//" + address, method=sys.argv[2] if len(sys.argv) > 2 else "GET")
if user:
    request.add_header("Authorization", "Basic " + base64.b64encode(user.encode()).decode())
for header in sys.argv[3:]:
    request.add_header(*header.split(": ", 1))
try:
    answer = urllib.request.urlopen(request, timeout=120)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.headers["Content-Type"], file=sys.stderr)
sys.stdout.buffer.write(answer.read())
