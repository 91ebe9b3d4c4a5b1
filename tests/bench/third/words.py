# SPDX-License-Identifier: GPL-2.0-only
"""Counts letters in two workers; the argument says whether these are threads (0) or processes (1)."""
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor


def letters(seed):
    counts = {}
    for i in range(seed, seed + 900000):
        for c in str(i):
            counts[c] = counts.get(c, 0) + 1
    return sum(counts.values())


if __name__ == "__main__":
    pool = (ThreadPoolExecutor, ProcessPoolExecutor)[int(sys.argv[1])]
    with pool(2) as workers:
        print(sum(workers.map(letters, (1000000, 3000000))))
