/* SPDX-License-Identifier: GPL-2.0-only */
/* std::async for pieces of a sum; the argument is how many numbers a piece has. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

static double sum(long from, long until)
{
	double s = 0;

	for (long i = from; i < until; i++)
		s += std::sqrt((double)i) * std::sin((double)i);
	return s;
}

int main(int argc, char **argv)
{
	const long n = 8000000;
	long step = argc > 1 ? atol(argv[1]) : 200;
	double s = 0;

	for (long i = 0; i < n; i += 2 * step) {
		std::future<double> a = std::async(std::launch::async, sum, i, i + step);
		std::future<double> b = std::async(std::launch::async, sum, i + step, i + 2 * step);

		s += a.get() + b.get();
	}
	std::printf("%f\n", s);
}
