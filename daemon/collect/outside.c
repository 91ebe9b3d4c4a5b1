// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/outside.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/systemd_unit.h"
#include "core/util/utf8.h"
#include "daemon/privsep/procfs.h"

#define PROGRAMS 200 /* with a name of their own, below QZ_MAX_CAUSES */
#define REST	 "other programs"

static void find_unit(uint32_t pid, char unit[QZ_UNIT_LENGTH])
{
	char cgroup[PATH_MAX] = "";
	int dir = procfs__open((pid_t)pid, 0);

	unit[0] = '\0';
	if (dir < 0)
		return; /* it has ended */
	procfs__cgroup(dir, cgroup, sizeof(cgroup));
	close(dir);
	qz_systemd_unit__of_cgroup(cgroup, unit);
}

static bool has_room(const struct outside *o, const char *name)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (!strcmp(o->programs[i].cause, name))
			return true;
	return o->n < PROGRAMS;
}

static void add(void *context, uint32_t pid, const struct qz_outside *what)
{
	char unit[QZ_UNIT_LENGTH], name[QZ_COMM_LEN + QZ_UNIT_LENGTH + 4];
	struct outside *o = context;
	char *valid;

	find_unit(pid, unit);
	snprintf(name, sizeof(name), *unit ? "%.*s (%s)" : "%.*s", QZ_COMM_LEN, what->comm, unit);
	valid = qz_utf8__replace(name);
	qz_losses__add(&o->programs, &o->n, valid && has_room(o, valid) ? valid : REST,
		       what->samples);
	free(valid);
}

void outside__take(struct outside *o, struct bpf_runtime *bpf)
{
	bpf_runtime__take_outside(bpf, add, o);
}

void outside__ledger(const struct outside *o, struct qz_ledger *ledger)
{
	for (uint32_t i = 0; i < o->n; i++)
		qz_ledger__add_outside(ledger, o->programs[i].cause, o->programs[i].count);
}

void outside__free(struct outside *o)
{
	qz_losses__free(o->programs, o->n);
	*o = (struct outside) {0};
}
