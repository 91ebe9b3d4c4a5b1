# SPDX-License-Identifier: GPL-2.0-only
# Six short jobs and a long one, last or first; run with -j2 in a folder that has `part` and `bytes`, six times as long.
short := a b c d e f

late: $(short) long
early: long $(short)

$(short):
	@gzip -c part >/dev/null
long:
	@gzip -c bytes >/dev/null

# By the compiler, whose driver starts the process that works: a file of 200 functions, and one of 1,000.
compile-late: $(short:%=%.made) long.made
compile-early: long.made $(short:%=%.made)

$(short:%=%.made): functions = 200
long.made: functions = 1000
%.made:
	@seq $(functions) | sed 's/.*/int f&(int *a, int n) { int s = &; while (n--) s += a[n] * (s ^ n); return s; }/' | \
		gcc -O2 -x c -c -o /dev/null -
