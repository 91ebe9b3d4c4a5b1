// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/util/clock.h"
#include "core/util/term_escape.h"
#include "core/model/objects.h"
#include "core/report/report.h"
#include "daemon/output/sysfs_publish.h"
#include "quartz/device.h"
#include "quartz/records.h"

#define ROWS 20 /* leading procedures and objects of a scope */

/* What the mean parallelism since the last figures is computed from. */
struct sums {
	uint64_t window_ns, busy_ns, runnable_ns;
};

struct sysfs_publish {
	int device;
	struct sums before, now;
	int err; /* of this time */
};

struct sysfs_publish *sysfs_publish__new(const struct module_device *device)
{
	struct sysfs_publish *p = calloc(1, sizeof(*p));

	if (p)
		p->device = device->fd;
	return p;
}

void sysfs_publish__free(struct sysfs_publish *p)
{
	free(p);
}

/* ---- a scope ---- */

static void set_row(struct qz_top_row *to, const char *name, const char *kind,
		    const struct qz_figure *total, const struct qz_figure *self)
{
	memset(to, 0, sizeof(*to));
	qz_term_escape(to->name, sizeof(to->name), name);
	snprintf(to->kind, sizeof(to->kind), "%s", kind);
	to->normalized_ns = total->norm_ns;
	to->self_normalized_ns = self->norm_ns;
	to->cpu_ns = total->cpu_ns;
	to->spin_ns = total->spin_ns;
}

static void set_object(struct qz_top_row *to, const struct qz_report *r,
		       const struct qz_object_row *row)
{
	const struct qz_object *o = &r->profile->objects[row->object];

	set_row(to, o->name, qz_objects__kind_name(o->kind), &row->figure, &row->figure);
}

/* Procedures and objects in one ranking; gives how many rows there are. */
static uint32_t rank(const struct qz_report *r, struct qz_top_row *top)
{
	uint32_t n = 0, procedure = 0, object = 0;

	while (n < ROWS && (procedure < r->nrows || object < r->nobjects)) {
		const struct qz_row *p = procedure < r->nrows ? &r->rows[procedure] : NULL;
		const struct qz_object_row *o = object < r->nobjects ? &r->objects[object] : NULL;

		if (!p || (o && o->figure.norm_ns > p->total.norm_ns)) {
			set_object(&top[n++], r, o);
			object++;
		} else {
			set_row(&top[n++], r->profile->procedures[p->procedure].name, "procedure",
				&p->total, &p->self);
			procedure++;
		}
	}
	return n;
}

static int show_scope(struct sysfs_publish *p, const struct qz_report *r)
{
	const struct qz_scope *scope = &r->profile->scopes[r->scope];
	struct qz_top_row top[ROWS];
	struct qz_ioc_publish_scope s = {
		.size = sizeof(s),
		.levels = r->nlevels,
		.rows = rank(r, top),
		.elapsed_ns = r->elapsed_ns,
		.normalized_ns = r->busy_ns,
		.cpu_ns = scope->cpu_ns,
		.spin_ns = r->spin_ns,
		.serial_ns = r->serial_ns,
		.mean_parallelism_milli = (uint64_t)(r->parallelism * 1000),
		.level_ns = (uintptr_t)r->effective_ns,
		.top = (uintptr_t)top,
	};

	snprintf(s.name, sizeof(s.name), "%s-%d",
		 scope->kind == QZ_SCOPE_JOB	   ? "job"
		 : scope->kind == QZ_SCOPE_MACHINE ? "machine"
						   : "pid",
		 scope->pid);
	return ioctl(p->device, QZ_IOC_PUBLISH_SCOPE, &s) ? -errno : 0;
}

/* ---- the run ---- */

static void add_up(struct sums *sums, const struct qz_report *r)
{
	for (uint32_t level = 1; level < r->nlevels; level++)
		sums->busy_ns += level * r->effective_ns[level];
	sums->runnable_ns += r->profile->scopes[r->scope].runnable_ns;
}

/* A sum is estimated anew each time and may be smaller than before. */
static uint64_t milli(uint64_t now, uint64_t before, uint64_t elapsed)
{
	return elapsed && now > before ? (now - before) * 1000 / elapsed : 0;
}

static int show_totals(struct sysfs_publish *p, const struct qz_profile *profile)
{
	struct sums now = p->now;
	uint64_t elapsed = now.window_ns - p->before.window_ns;
	uint64_t machine = profile->window_ns * profile->processors;
	struct qz_ioc_publish figures = {
		.size = sizeof(figures),
		.targets = profile->nscopes - profile->vacant_scopes -
			   (qz_profile__machine(profile) == QZ_NONE ? 0 : QZ_OWN_SCOPES),
		.effective_milli = milli(now.busy_ns, p->before.busy_ns, elapsed),
		.nominal_milli = milli(now.runnable_ns, p->before.runnable_ns, elapsed),
		.samples = profile->ledger.accepted,
		.lost = qz_ledger__lost(&profile->ledger),
		.overhead_ppm =
			machine ? qz_clock__read(CLOCK_PROCESS_CPUTIME_ID) * 1000000 / machine : 0,
	};

	p->before = now;
	return ioctl(p->device, QZ_IOC_PUBLISH, &figures) ? -errno : 0;
}

void sysfs_publish__add(struct sysfs_publish *p, const struct qz_report *r)
{
	p->err = p->err ?: (r ? show_scope(p, r) : -ENOMEM);
	if (r)
		add_up(&p->now, r);
}

int sysfs_publish__end(struct sysfs_publish *p, const struct qz_profile *profile)
{
	int err = p->err;

	p->now.window_ns = profile->window_ns;
	err = err ?: show_totals(p, profile);
	p->now = (struct sums) {0};
	p->err = 0;
	return err;
}
