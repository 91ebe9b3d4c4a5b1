/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scopes: C++ that leaves scopes by exceptions, from threads, and by exit in the middle. Prints a
 * line when it is in main/outer, all else being left, and exits there when its input ends.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

#include "userlib/quartz.h"

static void fail(int depth)
{
	QUARTZ_SCOPE("fail");

	if (depth)
		fail(depth - 1);
	else
		throw std::runtime_error("failed");
}

static void recover()
{
	QUARTZ_SCOPE("recover");
	QUARTZ_SCOPE("second");

	try {
		QUARTZ_SCOPE("try");
		fail(5);
	} catch (const std::runtime_error &) {
	}
}

struct at_thread_end {
	~at_thread_end()
	{
		QUARTZ_SCOPE("thread's end");
	}
};

static void run()
{
	static thread_local at_thread_end object;

	(void)object;
	for (int i = 0; i < 100; i++)
		recover();
}

[[noreturn]] static void outer()
{
	QUARTZ_SCOPE("outer");
	char c;

	std::puts("ready");
	std::fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	std::exit(7);
}

int main()
{
	QUARTZ_SCOPE("main");
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back(run);
	run();
	for (auto &t : threads)
		t.join();
	outer();
}
