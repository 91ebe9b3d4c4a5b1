# SPDX-License-Identifier: GPL-2.0-only
# Five programs of each language, written before the first of them was measured, with what they are to be told:
#   serial        parse works alone, as long as two workers need for compute after it; -fixed: two parse
#   lock          three quarters of what each of two does is in update, with one lock held; -fixed: each has a sum of its own
#   balanced      two workers compute all the time: nothing
# So serial gains 25 %, and lock 33 %: 6 parts one at a time become 8 in two. In Python and Ruby the lock is the interpreter's: threads,
# and -fixed processes, which gains 50 %.
import multiprocessing, sys, threading

SIZE, PIECES = 200, 600

def burn(x):
    for i in range(SIZE):
        x = (x * 69069 + i) & 0xffffffff
    return x

def parse(n):
    return sum(burn(i) for i in range(n))

def update(n):
    return sum(burn(i) for i in range(n))

def compute(n):
    return sum(burn(i) for i in range(n))

def both(kind, work, n):
    workers = [kind(target=work, args=(n,)) for _ in range(2)]
    for w in workers: w.start()
    for w in workers: w.join()

def main(what, times=200):
    process = multiprocessing.Process
    if what == "serial":
        parse(times * PIECES)
        both(process, compute, times * PIECES)
    elif what == "serial-fixed":
        both(process, parse, times * PIECES // 2)
        both(process, compute, times * PIECES)
    elif what == "lock":
        both(threading.Thread, update, times * PIECES)
    elif what == "lock-fixed":
        both(process, update, times * PIECES)
    else:
        both(process, compute, 2 * times * PIECES)

if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
