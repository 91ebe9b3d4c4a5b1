# SPDX-License-Identifier: GPL-2.0-only
"""Four threads that write a journal, each entry 2 ms; 0: with the lock of the journal held, 1: after it was let go of."""
import sys
import threading
import time

after = sys.argv[1] == "1"
lock = threading.Lock()
entries = []


def write_entry():
    time.sleep(0.002)


def log():
    for i in range(200):
        with lock:
            entries.append(i)
            if not after:
                write_entry()
        if after:
            write_entry()


threads = [threading.Thread(target=log) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(entries))
