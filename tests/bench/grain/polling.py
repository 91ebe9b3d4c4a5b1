# SPDX-License-Identifier: GPL-2.0-only
"""Jobs of a thread by a queue; the argument is for how long it sleeps between two looks, in us. 0: it waits there."""
import queue
import sys
import threading
import time

JOBS = 200
nap = float(sys.argv[1]) / 1e6
jobs, results = queue.Queue(), queue.Queue()


def take():
    while nap:
        try:
            return jobs.get_nowait()
        except queue.Empty:
            time.sleep(nap)
    return jobs.get()


def serve():
    for _ in range(JOBS):
        results.put(sum(range(take())))


server = threading.Thread(target=serve)
server.start()
for _ in range(JOBS):
    jobs.put(20000)
    results.get()
server.join()
