/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/report/kernel_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/figure.h"
#include "core/report/wait_report.h"
#include "core/util/vec.h"

bool qz_procedure__is_kernel(const struct qz_procedure *proc)
{
	return proc->kind == QZ_PROCEDURE && !strcmp(proc->module, "[kernel]");
}

/* ---- how a program gets into the kernel ---- */

/* System calls that are one cause of waits (include/quartz/records.h). Others have their own names in both. */
static const char *const causes_of_calls[][2] = {
	{"poll", "poll"},	  {"ppoll", "poll"},	  {"select", "poll"},
	{"pselect6", "poll"},	  {"epoll_wait", "poll"}, {"epoll_pwait", "poll"},
	{"epoll_pwait2", "poll"}, {"nanosleep", "sleep"}, {"clock_nanosleep", "sleep"},
	{"wait4", "child"},	  {"waitid", "child"},	  {"io_uring_enter", "io_uring"},
};

static const char *cause_of_call(const char *call)
{
	for (size_t i = 0; i < sizeof(causes_of_calls) / sizeof(*causes_of_calls); i++)
		if (!strcmp(call, causes_of_calls[i][0]))
			return causes_of_calls[i][1];
	return call;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* What a procedure of the kernel shows about why the kernel runs, or NULL. */
static const char *entry_of(const char *name, bool *is_call)
{
	static const char *const calls[] = {"__x64_sys_", "__ia32_sys_", "__se_sys_", "ksys_"};
	static const char *const interrupts[] = {"asm_sysvec_", "sysvec_", "asm_common_interrupt",
						 "common_interrupt"};

	*is_call = false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (begins(name, calls[i])) {
			*is_call = true;
			return cause_of_call(name + strlen(calls[i]));
		}
	}
	for (size_t i = 0; i < sizeof(interrupts) / sizeof(*interrupts); i++)
		if (begins(name, interrupts[i]))
			return "interrupts";
	if (!strcmp(name, "asm_exc_page_fault") || !strcmp(name, "exc_page_fault"))
		return "page_fault";
	return NULL;
}

static int make_label(char **label, const char *name, const char *suffix)
{
	int length;

	if (!strcmp(name, "page_fault"))
		length = asprintf(label, "kernel: page faults");
	else
		length = asprintf(label, "kernel: %s%s", name, suffix);
	return length < 0 ? -ENOMEM : 0;
}

/* ---- rows ---- */

static int row_of(struct qz_kernel_rows *rows, const struct qz_report *r, const char *name,
		  const char *suffix, struct qz_kernel_row **row)
{
	char *label;
	uint32_t i = 0;

	if (make_label(&label, name, suffix))
		return -ENOMEM;
	while (i < rows->n && strcmp(rows->rows[i].label, label))
		i++;
	if (i < rows->n) {
		free(label);
	} else if (qz_array__reserve((void **)&rows->rows, rows->n, sizeof(*rows->rows)) ||
		   qz_figure__init(&rows->rows[i].figure, r)) {
		free(label);
		return -ENOMEM;
	} else {
		rows->rows[i].label = label;
		rows->rows[i].waits = (struct qz_wait_figure) {0};
		rows->n++;
	}
	*row = &rows->rows[i];
	return 0;
}

/* Threads of the kernel have no code of a program. */
static bool has_kernel_threads(const struct qz_report *r)
{
	uint32_t kind = r->profile->scopes[r->scope].kind;

	return kind == QZ_SCOPE_MACHINE || kind == QZ_SCOPE_KERNEL;
}

/* The outermost entry on this stack, "other" where none is known; NULL: it is not in the kernel, or not for a program. */
static const char *entry_on(const struct qz_report *r, uint32_t leaf, bool *is_call)
{
	struct qz_frames frames = {.profile = r->profile, .node = leaf};
	const char *found = NULL, *entry;
	uint32_t procedure = qz_frames__next(&frames);
	bool call;

	*is_call = false;
	if (procedure == QZ_NONE || !qz_procedure__is_kernel(&r->profile->procedures[procedure]))
		return NULL;
	for (; procedure != QZ_NONE; procedure = qz_frames__next(&frames)) {
		const struct qz_procedure *proc = &r->profile->procedures[procedure];

		if (!qz_procedure__is_kernel(proc))
			return found ? found : "other";
		entry = entry_of(proc->name, &call);
		if (entry) {
			found = entry;
			*is_call = call;
		}
	}
	return has_kernel_threads(r) ? NULL : found ? found : "other";
}

int qz_kernel_rows__label(const struct qz_report *r, uint32_t leaf, char **label)
{
	bool is_call;
	const char *entry = entry_on(r, leaf, &is_call);

	*label = NULL;
	return entry ? make_label(label, entry, is_call ? " calls" : "") : 0;
}

static void mark_outside(struct qz_kernel_rows *rows, const struct qz_profile *p, uint32_t leaf)
{
	struct qz_frames frames = {.profile = p, .node = leaf};
	uint32_t procedure;

	while ((procedure = qz_frames__next(&frames)) != QZ_NONE)
		rows->inside[procedure] = false;
}

static int add_samples(struct qz_kernel_rows *rows, const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[qz_report__sample(r, i)];
		struct qz_kernel_row *row;
		const char *entry;
		bool is_call;

		if (s->scope != r->scope)
			continue;
		entry = entry_on(r, s->node, &is_call);
		if (!entry) {
			mark_outside(rows, p, s->node);
			continue;
		}
		if (row_of(rows, r, entry, is_call ? " calls" : "", &row))
			return -ENOMEM;
		qz_figure__add(&row->figure, r, s);
	}
	return 0;
}

/* Whether there is a system call of this name among the kernel's procedures, or else a cause of another name. */
static bool is_call(const char *cause)
{
	static const char *const others[] = {"unknown", "disk",	    "page_fault", "pipe",
					     "socket",	"start",    "stopped",	  "frozen",
					     "kernel",	"map_lock", "preempted"};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(cause, others[i]))
			return false;
	return true;
}

static int add_waits(struct qz_kernel_rows *rows, const struct qz_report *r)
{
	const struct qz_profile *p = r->profile;

	for (uint32_t i = 0; i < p->nwaits; i++) {
		const struct qz_wait *w = &p->waits[i];
		const char *cause = p->causes[w->cause];
		struct qz_kernel_row *row;

		if (!w->blocked_ns || !qz_scope__covers(p, r->scope, w->scope))
			continue;
		if (row_of(rows, r, cause, is_call(cause) ? " calls" : " waits", &row))
			return -ENOMEM;
		qz_wait_figure__add(&row->waits, r, w);
	}
	return 0;
}

int qz_kernel_rows__find(const struct qz_report *r, struct qz_kernel_rows *rows)
{
	const struct qz_profile *p = r->profile;

	*rows = (struct qz_kernel_rows) {.inside = calloc((size_t)p->nprocedures + 1, 1)};
	if (!rows->inside)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nprocedures; i++)
		rows->inside[i] = qz_procedure__is_kernel(&p->procedures[i]);
	if (add_samples(rows, r) || add_waits(rows, r))
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n; i++)
		qz_figure__finish(&rows->rows[i].figure, r);
	return 0;
}

void qz_kernel_rows__free(struct qz_kernel_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		qz_figure__clear(&rows->rows[i].figure);
		free(rows->rows[i].label);
	}
	free(rows->rows);
	free(rows->inside);
	*rows = (struct qz_kernel_rows) {0};
}
