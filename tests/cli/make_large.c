/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make_large FILE STACKS: writes a profile with so many different stacks, each with samples, of 64 threads on 16
 * processors, whose names include what would harm a page that took them for HTML, and one of a megabyte.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/estimate/estimate.h"
#include "core/format/pprof.h"

#define MS 1000000ULL

enum { PROCESSORS = 16, THREADS = 64, PROCEDURES = 4000, LONG_NAME = 1 << 20, FRAMES = 3 };

static const char *const hostile[] = {
	"</script><script>document.title='owned'</script>",
	"<img src=x onerror=\"document.title='owned'\">",
	"\"><svg onload=alert(1)>'",
	"<!--<script>",
	"&lt;b&gt;&amp;",
	"javascript:document.title='owned'",
	"right\xe2\x80\xaeleft\xe2\x80\x8b",
	"line\nfeed\033[31m\x7f",
	"__proto__",
	"constructor",
};

/* The same numbers each time. */
static uint32_t state = 1;

static uint32_t pick(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)state * n >> 32);
}

static uint32_t must(int64_t index)
{
	if (index < 0)
		errx(1, "cannot build a profile: %s", strerror((int)-index));
	return (uint32_t)index;
}

static uint32_t add_procedure(struct qz_profile *p, const char *name)
{
	struct qz_procedure procedure = {(char *)name, "/usr/bin/large", "", 0, QZ_PROCEDURE};
	struct qz_line line = {must(qz_profile__intern_procedure(p, &procedure)), 0};
	struct qz_location location = {0x1000 + 64 * (uint64_t)line.procedure, QZ_NONE, 1, &line};

	return must(qz_profile__intern_location(p, &location));
}

static void add_procedures(struct qz_profile *p, uint32_t locations[PROCEDURES])
{
	char *longest = malloc(LONG_NAME + 1), name[64];
	uint32_t n = 0;

	if (!longest)
		errx(1, "out of memory");
	memset(longest, 'a', LONG_NAME);
	longest[LONG_NAME] = '\0';
	memcpy(longest, "<b>long", 7);
	locations[n++] = add_procedure(p, "main");
	locations[n++] = add_procedure(p, longest);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		locations[n++] = add_procedure(p, hostile[i]);
	for (; n < PROCEDURES; n++) {
		snprintf(name, sizeof(name), "Space::Class%u<int, %u>::method_%u", n % 97, n % 7,
			 n);
		locations[n] = add_procedure(p, name);
	}
	free(longest);
}

static void add_threads(struct qz_profile *p)
{
	for (int i = 0; i < THREADS; i++) {
		struct qz_thread thread = {.scope = 0,
					   .tid = 1000 + i,
					   .pid = 1000,
					   .comm = "<i>large",
					   .name = "",
					   .end_ns = p->scopes[0].elapsed_ns,
					   .blocked_ns = p->scopes[0].elapsed_ns,
					   .ended = true};

		must(qz_profile__add_thread(p, &thread));
	}
}

static void add_stack(struct qz_profile *p, const uint32_t locations[PROCEDURES], uint32_t nth)
{
	struct qz_sample sample = {
		.thread = pick(THREADS), .object = QZ_NONE, .count = 1 + pick(5)};
	uint32_t node = nth ? 1 + pick(p->nnodes - 1) : 0;

	while (node && p->nodes[node].depth > 40)
		node = p->nodes[node].parent;
	if (!node)
		node = must(qz_profile__intern_node(p, 0, locations[0]));
	for (int i = 0; i < FRAMES; i++) {
		uint32_t location = locations[nth < 100 ? nth % 12 : 1 + pick(PROCEDURES - 1)];

		node = must(qz_profile__intern_node(p, node, location));
	}
	sample.node = node;
	sample.level = sample.busy = 1 + pick(PROCESSORS);
	if (sample.level > 1 && !pick(20)) {
		sample.spinning = true;
		sample.busy--;
	}
	must(qz_profile__add_samples(p, &sample));
	p->scopes[0].samples += sample.count;
	p->ledger.accepted += sample.count;
	p->ledger.expected += sample.count;
	if (!pick(4)) {
		struct qz_wait wait = {.thread = sample.thread,
				       .node = node,
				       .object = QZ_NONE,
				       .count = 1,
				       .blocked_ns = 1000 + pick(1000000)};

		wait.cause = must(qz_waits__intern_cause(p, "futex"));
		must(qz_waits__add(p, &wait));
	}
}

/* Each of the first procedures beside the next one, which spins. */
static void add_rounds(struct qz_profile *p)
{
	p->instants = (struct qz_rounds) {.rate_hz = 999, .sampled = true};
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t members[] = {QZ_MEMBER(i, false), QZ_MEMBER(i + 1, true)};

		must(qz_rounds__add(p, &(struct qz_round) {0, 2, members, 1000 - i}));
		p->instants.taken += 1000 - i;
	}
}

int main(int argc, char **argv)
{
	uint64_t level_ns[PROCESSORS + 1];
	struct qz_scope scope = {.kind = QZ_SCOPE_JOB,
				 .pid = 1000,
				 .comm = "<i>large",
				 .command = "large </title><b>",
				 .nlevels = PROCESSORS + 1,
				 .level_ns = level_ns,
				 .ended = true};
	struct qz_profile *p = qz_profile__new();
	static uint32_t locations[PROCEDURES];
	int fd, error;

	if (argc != 3 || !p)
		errx(2, "usage: make_large FILE STACKS");
	p->rate_hz = 999;
	p->processors = PROCESSORS;
	for (uint32_t n = 0; n <= PROCESSORS; n++) {
		level_ns[n] = (1000 + 37 * n) * MS;
		scope.elapsed_ns += level_ns[n];
		scope.cpu_ns += n * level_ns[n];
	}
	p->window_ns = scope.elapsed_ns;
	must(qz_profile__set_string(&p->quartz_version, "0.1.0"));
	must(qz_profile__set_string(&p->kernel, "6.1.0"));
	must(qz_profile__set_string(&p->machine, "<u>host"));
	must(qz_profile__set_string(&p->event, "cpu-clock"));
	must(qz_profile__add_scope(p, &scope));
	add_threads(p);
	add_procedures(p, locations);
	add_rounds(p);
	for (uint32_t i = 0; i < (uint32_t)atoi(argv[2]); i++)
		add_stack(p, locations, i);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	error = fd < 0 ? -1 : qz_estimate__profile(p);
	if (!error)
		error = qz_pprof__write(p, fd);
	if (error || close(fd))
		errx(1, "%s: cannot be written", argv[1]);
	qz_profile__free(p);
	return 0;
}
