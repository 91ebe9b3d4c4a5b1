/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/deltas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/html/html.h"
#include "core/transform/merge.h"
#include "core/util/options.h"
#include "core/util/systemd_unit.h"

struct deltas {
	const char *socket; /* borrowed */
	char *unit;	    /* NULL: not by this */
	int64_t pid;	    /* 0: not by this */
	struct qz_profile *before;
};

static struct deltas *refuse(struct deltas *d, const char *why, char reason[SOURCE_REASON])
{
	snprintf(reason, SOURCE_REASON, "%s", why);
	deltas__free(d);
	return NULL;
}

struct deltas *deltas__new(const char *socket, const char *scope, char reason[SOURCE_REASON])
{
	struct deltas *d = calloc(1, sizeof(*d));

	if (!d)
		return refuse(d, "memory is short", reason);
	d->socket = socket;
	if (scope && !strncmp(scope, "unit=", 5)) {
		d->unit = strdup(scope + 5);
		if (!d->unit)
			return refuse(d, "memory is short", reason);
	} else if (scope && strcmp(scope, "machine") &&
		   (strncmp(scope, "pid=", 4) ||
		    qz_options__integer(scope + 4, 1, INT32_MAX, &d->pid))) {
		return refuse(d, "scope: none of machine, pid=N, unit=NAME", reason);
	}
	d->before = source__profile(socket, reason);
	if (d->before)
		return d;
	deltas__free(d);
	return NULL;
}

void deltas__free(struct deltas *d)
{
	if (!d)
		return;
	qz_profile__free(d->before);
	free(d->unit);
	free(d);
}

/* ---- scopes ---- */

static bool is_wanted(const struct deltas *d, const struct qz_profile *p, uint32_t i)
{
	const struct qz_scope *scope = &p->scopes[i];
	char unit[QZ_UNIT_LENGTH];

	if (!d->pid && !d->unit)
		return qz_profile__machine(p) == QZ_NONE || qz_profile__machine(p) == i;
	if (scope->kind == QZ_SCOPE_MACHINE || scope->kind == QZ_SCOPE_KERNEL)
		return false;
	if (d->pid)
		return scope->pid == d->pid;
	qz_systemd_unit__of_cgroup(scope->cgroup, unit);
	return !strcmp(unit, d->unit);
}

/* Those that are wanted, those that ran most first. Returns how many. */
static uint32_t select_scopes(const struct deltas *d, const struct qz_profile *p,
			      uint32_t found[DELTAS_SCOPES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nscopes; i++) {
		uint32_t at = n;

		if (!is_wanted(d, p, i))
			continue;
		while (at && p->scopes[found[at - 1]].cpu_ns < p->scopes[i].cpu_ns)
			at--;
		if (at == DELTAS_SCOPES)
			continue;
		n += n < DELTAS_SCOPES;
		memmove(&found[at + 1], &found[at], (n - 1 - at) * sizeof(*found));
		found[at] = i;
	}
	return n;
}

/* ---- documents ---- */

/* -1: memory is short. */
static int write_document(FILE *out, const struct qz_profile *p, const uint32_t *scopes, uint32_t n)
{
	const struct qz_html_names names = {NULL, NULL};
	struct qz_report *reports[DELTAS_SCOPES] = {NULL};
	int err = 0;

	for (uint32_t i = 0; !err && i < n; i++) {
		reports[i] = qz_report__new(p, scopes[i]);
		err = reports[i] ? 0 : -1;
	}
	if (!err && qz_html__write(out, (const struct qz_report *const *)reports, n, &names))
		err = -1;
	for (uint32_t i = 0; i < n; i++)
		qz_report__free(reports[i]);
	return err;
}

/* The document after its length. NULL: memory was short. */
static char *make_message(const struct qz_profile *p, const uint32_t *scopes, uint32_t n,
			  size_t *size)
{
	char *document = NULL, *message = NULL;
	size_t length;
	FILE *out = open_memstream(&document, &length);
	int err;

	if (!out)
		return NULL;
	err = write_document(out, p, scopes, n);
	if (!fclose(out) && !err) {
		int digits = asprintf(&message, "%zu\n%s", length, document);

		*size = digits < 0 ? 0 : (size_t)digits;
		message = digits < 0 ? NULL : message;
	}
	free(document);
	return message;
}

/* What ran, without all that did not. NULL: memory is short. */
static struct qz_profile *leave_out_idle(struct qz_profile *added)
{
	struct qz_profile *busy = qz_profile__new();

	qz_profile__drop_unattributed(added);
	if (busy && !qz_merge__busy(busy, added) && !qz_estimate__profile(busy) &&
	    !qz_estimate__profile(added))
		return busy;
	qz_profile__free(busy);
	return NULL;
}

/* Of a scope that did nothing all of it is told. */
static char *make_delta(const struct deltas *d, struct qz_profile *added, size_t *size,
			char reason[SOURCE_REASON])
{
	struct qz_profile *busy = leave_out_idle(added);
	uint32_t scopes[DELTAS_SCOPES], n = busy ? select_scopes(d, busy, scopes) : 0;
	char *message = n ? make_message(busy, scopes, n, size) : NULL;

	qz_profile__free(busy);
	snprintf(reason, SOURCE_REASON, "memory is short");
	if (!busy || n)
		return message;
	n = select_scopes(d, added, scopes);
	if (n)
		return make_message(added, scopes, n, size);
	snprintf(reason, SOURCE_REASON, "there is no such scope any more");
	return NULL;
}

char *deltas__next(struct deltas *d, size_t *size, char reason[SOURCE_REASON])
{
	struct qz_profile *whole, *added;
	char *message;

	if (source__profile_since(d->socket, d->before, &whole, &added, reason))
		return NULL;
	message = make_delta(d, added, size, reason);
	qz_profile__free(added);
	qz_profile__free(d->before);
	d->before = whole;
	return message;
}
