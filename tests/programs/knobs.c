/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs [deaf]: registers threads (1 to 8), chunk (16 to 64 by 16), mode (safe, fast), and called (0 to 100), whose callback
 * refuses 13; says which registrations are refused, then prints each value that it takes, until its input ends. "deaf": it
 * comes to no safe point. A child of it has no knobs.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userlib/quartz.h"

static long threads = 2, chunk = 32, mode, called = 5;

static int take(long value, void *context)
{
	printf("called %s %ld\n", (const char *)context, value);
	return value == 13;
}

static void add(const char *what, struct quartz_knob knob)
{
	int err = quartz_knob(&knob);

	printf("%s: %s\n", what, err ? strerrorname_np(-err) : "ok");
}

static void add_all(void)
{
	static const char *const modes[] = {"safe", "fast", NULL};

	add("threads", (struct quartz_knob) {"threads", &threads, .least = 1, .most = 8,
					     .role = QUARTZ_KNOB_THREADS});
	add("chunk", (struct quartz_knob) {"chunk", &chunk, .least = 16, .most = 64, .step = 16,
					   .role = QUARTZ_KNOB_CHUNK});
	add("mode",
	    (struct quartz_knob) {"mode", &mode, .choices = modes, .role = QUARTZ_KNOB_OTHER});
	add("called",
	    (struct quartz_knob) {"called", &called, .most = 100, .role = QUARTZ_KNOB_OTHER,
				  .changed = take, .context = "back"});
	add("twice", (struct quartz_knob) {"mode", &mode, .choices = modes});
	add("bad name", (struct quartz_knob) {"a b", &mode, .most = 1});
	add("bad value", (struct quartz_knob) {"x", &called, .most = 1});
	add("bad range", (struct quartz_knob) {"x", &mode, .least = 2, .most = 1});
	add("no value", (struct quartz_knob) {"x", NULL, .most = 1});
}

/* Its only knob is what quartzctl shows of it. */
static void have_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		quartz_knob_point();
		add("child", (struct quartz_knob) {"threads", &threads, .least = 1, .most = 4});
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};
	long before[3] = {threads, chunk, mode};

	setvbuf(stdout, NULL, _IOLBF, 0);
	add_all();
	have_child();
	puts("ready");
	while (!poll(&input, 1, 10)) {
		if (argc < 2)
			quartz_knob_point();
		if (threads != before[0] || chunk != before[1] || mode != before[2])
			printf("threads %ld chunk %ld mode %ld\n", threads, chunk, mode);
		before[0] = threads;
		before[1] = chunk;
		before[2] = mode;
	}
	return 0;
}
