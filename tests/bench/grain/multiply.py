# SPDX-License-Identifier: GPL-2.0-only
"""Four processes that multiply matrices: OPENBLAS_NUM_THREADS says how many threads each has for that."""
import os

import numpy

for _ in range(4):
    if not os.fork():
        a, b = numpy.random.rand(256, 256), numpy.random.rand(256, 256)
        for _ in range(300):
            a = (a @ b) * 1e-3
        os._exit(0)
for _ in range(4):
    os.wait()
