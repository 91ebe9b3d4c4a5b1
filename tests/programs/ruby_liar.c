/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ruby_liar HOW SECONDS: a program that looks as if it were Ruby 3.1, and is not: `<main>` calls `liar`, which a procedure of C runs.
 * HOW: "plain", just that; "endless", frames without an end; "names" as long as memory, and of no kind; "nowhere", frames, threads and
 * code at addresses where nothing is; "codes", new code at each turn.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As symbolizer/elf/python_layout.c has it of 3.1. */
struct string {
	uint64_t flags, class;
	union {
		char inside[24];
		struct {
			uint64_t length;
			const char *characters;
		};
		const struct string *elements[3];
	};
};

struct body {
	char head[64];
	const struct string *path, *base, *label;
	uint64_t line;
	char rest[64];
};

struct iseq {
	uint64_t flags, wrapper;
	const struct body *body;
};

struct control_frame {
	uint64_t pc, sp;
	const struct iseq *iseq;
	uint64_t self;
	const uint64_t *environment;
	uint64_t words[3];
};

struct context {
	const struct control_frame *stack;
	uint64_t size;
	const struct control_frame *frame;
};

struct thread {
	struct thread *next, *previous;
	uint64_t words[3];
	const struct context *context;
	uint64_t more[4], thread_id;
};

struct vm {
	uint64_t words[5];
	struct thread *main;
};

#define STRING	  5
#define ARRAY	  (7 | 1 << 13)
#define OUTSIDE	  (1 << 13)
#define SHORT(n)  ((n) << 14)
#define OBJECT(n) ((uint64_t)(n) << 1 | 1)
#define CODES	  4096
#define ENDLESS	  4096

static const uint64_t finish = 0x20, none;
static struct string path = {STRING | OUTSIDE, 0, {.length = 11, .characters = "/srv/lie.rb"}};
static struct string paths = {ARRAY, 0, {.elements = {&path, &path}}};
static struct string names[] = {{STRING | SHORT(4), 0, {.inside = "liar"}},
				{STRING | SHORT(6), 0, {.inside = "<main>"}}};
static struct body bodies[CODES];
static struct iseq iseqs[CODES];
static struct control_frame frames[ENDLESS];
static struct context context = {.stack = frames, .frame = frames};
static struct thread threads[2] = {{.context = &context}};
static struct vm vm = {.main = &threads[1]};

extern const int ruby_api_version[3];
extern struct vm *ruby_current_vm_ptr;
const int ruby_api_version[3] = {3, 1, 0};
struct vm *ruby_current_vm_ptr = &vm;

double rb_vm_exec(double until);
double vm_exec_core(double until);

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile uint32_t turns;
static int changes_code;

__attribute__((noinline)) double vm_exec_core(double until)
{
	while (turns++ % CODES || cpu_seconds() < until)
		if (changes_code)
			frames[0].iseq = &iseqs[turns % CODES];
	return until;
}

__attribute__((noinline)) double rb_vm_exec(double until)
{
	return vm_exec_core(until) + 1;
}

static void lie(const char *how)
{
	static char nowhere[1];

	if (!strcmp(how, "endless")) {
		for (size_t i = 2; i < ENDLESS; i++)
			frames[i] = frames[0];
		context.size = UINT64_MAX / 64;
	} else if (!strcmp(how, "names")) {
		path.length = UINT64_MAX / 2;
		names[0] = (struct string) {STRING | OUTSIDE, 0, {.length = 1ull << 40}};
		names[1].flags = 3;
		changes_code = 1;
	} else if (!strcmp(how, "nowhere")) {
		frames[0].environment = (void *)(uintptr_t)0x123456789abc;
		frames[1].iseq = (void *)(nowhere + 4096ull * 1000 * 1000);
		threads[1].next = (void *)(nowhere - 4096ull * 1000 * 1000);
	} else if (!strcmp(how, "codes")) {
		changes_code = 1;
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (uint32_t i = 0; i < CODES; i++) {
		bodies[i] = (struct body) {
			.path = &paths, .label = &names[i == 1], .line = OBJECT(i + 1)};
		iseqs[i].body = &bodies[i];
	}
	frames[0] = (struct control_frame) {.iseq = &iseqs[0], .environment = &none};
	frames[1] = (struct control_frame) {.iseq = &iseqs[1], .environment = &finish};
	frames[2] = frames[1]; /* as the first thread has it */
	context.size = 3 * sizeof(frames[0]) / sizeof(uint64_t);
	threads[1].next = &threads[0];
	threads[0].next = &threads[1];
	threads[0].thread_id = pthread_self();
	lie(argv[1]);
	rb_vm_exec(strtod(argv[2], NULL));
	printf("turns %u\n", turns);
	return 0;
}
