/* SPDX-License-Identifier: GPL-2.0-only */
/* operations: ns of each call of libquartz, without and with a listener, less the empty loop. */
#include "tests/bench/library/bench.h"
#include "tests/userlib/fake.h"
#include "userlib/quartz.h"

#define TURNS 100000

static struct quartz_procedure outer = QUARTZ_PROCEDURE("outer"), inner = QUARTZ_PROCEDURE("inner");
static int object;

static void scope(void)
{
	QUARTZ_SCOPE("scope");

	__asm__ volatile("");
}

enum { SCOPE, NESTED, EVENT, SPIN, OBJECT, TASK, CAPTURE, OPERATIONS };

static const char *const names[OPERATIONS] = {
	"quartz_enter + quartz_leave",
	"QUARTZ_SCOPE in a function",
	"quartz_event",
	"quartz_spin_begin + end",
	"quartz_enter_object + leave",
	"quartz_task_begin + end",
	"quartz_task_capture (2 on stack)",
};

static void measure(double *ns)
{
	double empty = BENCH(TURNS, );

	ns[SCOPE] = BENCH(TURNS, quartz_leave(quartz_enter(&inner))) - empty;
	ns[NESTED] = BENCH(TURNS, scope()) - empty;
	ns[EVENT] = BENCH(TURNS, quartz_event(i)) - empty;
	ns[SPIN] = BENCH(TURNS, quartz_spin_begin(&object); quartz_spin_end()) - empty;
	ns[OBJECT] = BENCH(TURNS, quartz_leave(quartz_enter_object(&object))) - empty;
	ns[TASK] = BENCH(TURNS, quartz_task_end(quartz_task_begin(1))) - empty;
	ns[CAPTURE] = BENCH(TURNS, quartz_task_capture()) - empty;
}

int main(void)
{
	double alone[OPERATIONS], heard[OPERATIONS];
	struct fake *fake = fake__new();
	uint32_t entered;

	quartz_connect();
	measure(alone);
	fake__listen(fake);
	entered = quartz_enter(&outer);
	measure(heard);
	quartz_leave(entered);
	printf("| call | ns, inactive | ns, active |\n|---|---|---|\n");
	for (int i = 0; i < OPERATIONS; i++)
		printf("| %s | %.2f | %.2f |\n", names[i], alone[i], heard[i]);
	fake__free(fake);
	return 0;
}
