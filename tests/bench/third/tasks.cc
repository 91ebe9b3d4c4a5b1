// SPDX-License-Identifier: GPL-2.0-only

// A sum by tasks of a thread each; the argument is how many numbers a task has.
#include <cstdio>
#include <cstdlib>
#include <future>

static long piece(long from, long until)
{
	long s = 0;

	for (long i = from; i < until; i++)
		s += i * i % 13;
	return s;
}

int main(int argc, char **argv)
{
	long n = 24000000, step = argc > 1 ? atol(argv[1]) : n, s = 0;

	for (long i = 0; i < n; i += 2 * step) {
		auto one = std::async(std::launch::async, piece, i, i + step);
		auto two = std::async(std::launch::async, piece, i + step, i + 2 * step);

		s += one.get() + two.get();
	}
	printf("%ld\n", s);
}
