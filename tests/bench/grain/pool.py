# SPDX-License-Identifier: GPL-2.0-only
"""Small jobs in a pool of two processes; the argument is how many go there at once."""
import multiprocessing
import sys


def job(n):
    return sum(i * i for i in range(n % 50))


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.imap(job, range(120000), chunksize=int(sys.argv[1]))))
