// SPDX-License-Identifier: GPL-2.0-only
// runtime_threads [SECONDS]: two threads by std::thread, made by create_threads for hand_out, each of
// which computes for so long in worker. Says how long that took.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#define PROCEDURE __attribute__((noinline, noclone))

static std::uint64_t cpu_ns[2];
static volatile std::uint64_t sink;

static std::uint64_t now()
{
	timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return static_cast<std::uint64_t>(t.tv_sec) * 1000000000 + static_cast<std::uint64_t>(t.tv_nsec);
}

PROCEDURE static void worker(int i, double seconds)
{
	std::uint64_t begin = now(), end = begin + static_cast<std::uint64_t>(seconds * 1e9);

	while (now() < end)
		for (int k = 0; k < 20000; k++)
			sink = sink * 3 + static_cast<std::uint64_t>(k);
	cpu_ns[i] = now() - begin;
}

PROCEDURE static void create_threads(double seconds)
{
	std::thread first(worker, 0, seconds), second(worker, 1, seconds);

	first.join();
	second.join();
	sink = sink + 1;
}

PROCEDURE static void hand_out(double seconds)
{
	create_threads(seconds);
	sink = sink + 1;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? std::atof(argv[1]) : 1;

	hand_out(seconds);
	std::printf("truth worker cpu_ns %llu elapsed_ns 0\n",
		    static_cast<unsigned long long>(cpu_ns[0] + cpu_ns[1]));
	return 0;
}
