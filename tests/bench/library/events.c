/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events: the table of the National Bureau of Standards' report (NBSIR 86-3416, 1986): the cost of a
 * measurement event, in line and in three kinds of loop, with a constant, a variable, and a variable
 * ored with a constant; beside the same with clock_gettime and two stores into a buffer.
 */
#include "tests/bench/library/bench.h"
#include "tests/userlib/fake.h"
#include "userlib/quartz.h"

#define EVENTS 65536
#define LINE   16

struct stamp {
	struct timespec time;
	uint32_t value;
};

static struct stamp buffer[1024];
static uint32_t next;

static inline void stamp(uint32_t value)
{
	struct stamp *s = &buffer[next++ % 1024];

	clock_gettime(CLOCK_MONOTONIC, &s->time);
	s->value = value;
}

static inline void nothing(uint32_t value)
{
	__asm__ volatile("" ::"r"(value));
}

#define FOUR(x)	   x x x x
#define SIXTEEN(x) FOUR(x) FOUR(x) FOUR(x) FOUR(x)

/* So many events of one kind of loop, with data of one kind. */
#define LOOPS(call, name, data)                                                                    \
	static void __attribute__((noinline)) call##_none_##name(volatile uint32_t *v)             \
	{                                                                                          \
		for (int i = 0; i < EVENTS / LINE; i++) {                                          \
			SIXTEEN(call(data);)                                                       \
		}                                                                                  \
	}                                                                                          \
	static void __attribute__((noinline)) call##_do_##name(volatile uint32_t *v)               \
	{                                                                                          \
		int i = 0;                                                                         \
                                                                                                   \
		do {                                                                               \
			call(data);                                                                \
		} while (++i < EVENTS);                                                            \
	}                                                                                          \
	static void __attribute__((noinline)) call##_while_##name(volatile uint32_t *v)            \
	{                                                                                          \
		int i = 0;                                                                         \
                                                                                                   \
		while (i < EVENTS) {                                                               \
			call(data);                                                                \
			i++;                                                                       \
		}                                                                                  \
	}                                                                                          \
	static void __attribute__((noinline)) call##_for_##name(volatile uint32_t *v)              \
	{                                                                                          \
		for (int i = 0; i < EVENTS; i++)                                                   \
			call(data);                                                                \
	}

#define ALL(call)                                                                                  \
	LOOPS(call, constant, 5)                                                                   \
	LOOPS(call, variable, *v)                                                                  \
	LOOPS(call, both, *v | 0x100)

ALL(quartz_event)
ALL(stamp)
ALL(nothing)

typedef void loop(volatile uint32_t *v);

static double cost(loop *run)
{
	volatile uint32_t value = 3;

	return BENCH(1, run(&value)) / EVENTS;
}

#define ROW(loop, data, title, kind)                                                               \
	{                                                                                          \
		title, kind, nothing_##loop##_##data, quartz_event_##loop##_##data,                \
			stamp_##loop##_##data                                                      \
	}
#define ROWS(loop, title)                                                                          \
	ROW(loop, constant, title, "constant"), ROW(loop, variable, title, "variable"),            \
		ROW(loop, both, title, "constant or variable")

static const struct {
	const char *title, *kind;
	loop *nothing, *event, *stamp;
} rows[] = {ROWS(none, "none"), ROWS(do, "do-while"), ROWS(while, "while"), ROWS(for, "for")};

int main(void)
{
	struct fake *fake = fake__new();

	fake__listen(fake);
	quartz_connect();
	puts("| loop | data | ns, no event | + quartz_event | + clock_gettime, store |\n"
	     "|---|---|---|---|---|");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double alone = cost(rows[i].nothing);

		printf("| %s | %s | %.2f | %.2f | %.2f |\n", rows[i].title, rows[i].kind, alone,
		       cost(rows[i].event) - alone, cost(rows[i].stamp) - alone);
	}
	fake__free(fake);
	return 0;
}
