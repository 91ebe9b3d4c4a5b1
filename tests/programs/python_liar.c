/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * python_liar HOW SECONDS: a program that looks as if it were CPython 3.11, and is not. Each turn of its interpreter is a frame of C
 * of that name. HOW: "circle", frames that call each other without end; "names" as long as memory, and of no kind; "nowhere", frames,
 * threads and code at addresses where nothing is; "codes", new code at each turn.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As symbolizer/elf/python_layout.c has it of 3.11, in words. */
struct thread_state {
	void *before, *next, *words[5], *cframe, *more[11];
	uint64_t thread_id;
};

struct interpreter {
	void *next, *word, *threads;
};

struct cframe {
	void *word, *frame;
};

struct text {
	void *head[2];
	uint64_t length, hash, state, word;
	char characters[32];
};

struct code {
	char head[72];
	uint32_t line, more[9];
	const struct text *file, *name, *qualname;
	char rest[64];
};

struct frame {
	void *words[4];
	const void *code;
	void *word, *previous, *instruction;
	uint32_t top;
	uint8_t is_entry, owner;
	void *room[4];
};

extern uint64_t _PyRuntime[64];
extern const unsigned long Py_Version;
uint64_t _PyRuntime[64];
const unsigned long Py_Version = 0x030b07f0;

#define ASCII (1 << 2 | 1 << 5 | 1 << 6)
#define CODES 4096

static struct code codes[CODES];
static struct frame frames[2];
static struct thread_state state;
static struct interpreter interpreter = {.threads = &state};
static struct cframe cframe = {.frame = &frames[0]};
static struct text file = {.length = 11, .state = ASCII, .characters = "/srv/lie.py"};
static struct text name = {.length = 4, .state = ASCII, .characters = "liar"};

double _PyEval_EvalFrameDefault(double until);

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile uint32_t turns;
static int changes_code;

__attribute__((noinline)) double _PyEval_EvalFrameDefault(double until)
{
	while (cpu_seconds() < until) {
		turns++;
		if (changes_code)
			frames[0].code = &codes[turns % CODES];
	}
	return until;
}

static void lie(const char *how)
{
	static char nowhere[1];

	if (!strcmp(how, "circle")) {
		frames[1].previous = &frames[0];
	} else if (!strcmp(how, "names")) {
		file.length = UINT64_MAX / 2;
		name.length = 1ull << 40;
		name.state = 7 << 2 | 1 << 5;
		for (size_t i = 0; i < CODES; i++)
			codes[i].qualname = i % 2 ? &name : &file;
	} else if (!strcmp(how, "nowhere")) {
		frames[1].previous = (void *)(uintptr_t)0x123456789abc;
		frames[1].code = nowhere + 4096ull * 1000 * 1000;
		interpreter.next = nowhere - 4096ull * 1000 * 1000;
		state.next = &state;
	} else {
		changes_code = 1;
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (uint32_t i = 0; i < CODES; i++)
		codes[i] =
			(struct code) {.line = i, .file = &file, .name = &name, .qualname = &name};
	frames[0] = (struct frame) {.code = &codes[0], .previous = &frames[1]};
	frames[1] = (struct frame) {.code = &codes[1], .is_entry = 1};
	state.cframe = &cframe;
	state.thread_id = pthread_self();
	_PyRuntime[5] = (uintptr_t)&interpreter;
	lie(argv[1]);
	_PyEval_EvalFrameDefault(strtod(argv[2], NULL));
	printf("turns %u\n", turns);
	return 0;
}
