#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""sample_types.py PAGE FILE...: the section SAMPLE TYPES of a man page's source tells of the types of these pprof files, and of
no others."""
import gzip
import re
import sys

sys.dont_write_bytecode = True
from strict import STRINGS, TYPE, of, one

text = open(sys.argv[1]).read()
section = re.search(r"^# SAMPLE TYPES\n(.*?)^# ", text, re.M | re.S).group(1)
told = {name for line in section.splitlines() if line.startswith("_") for name in re.findall(r"_([a-z_]+)_", line)}
there = set()
for file in sys.argv[2:]:
    data = gzip.open(file).read()
    strings = of(STRINGS, data)
    there |= {strings[one(1, kind)].decode() for kind in of(TYPE, data)}
if told != there:
    sys.exit(f"{sys.argv[1]}: not told: {sorted(there - told)}; not there: {sorted(told - there)}")
