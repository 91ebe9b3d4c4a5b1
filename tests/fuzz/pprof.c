/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzes the reader of snapshots. What it accepts must be good for everything that is done with a
 * profile, and must come back the same when it is written and read again.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/estimate/estimate.h"
#include "core/report/report_json.h"
#include "core/format/pprof.h"
#include "core/report/state_breakdown.h"
#include "core/report/wait_report.h"
#include "core/report/wakeup_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("snapshot", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

static struct qz_profile *read_file(int fd)
{
	const char *why = NULL;
	struct qz_profile *p = qz_pprof__read(fd, &why);

	if (!p && !why)
		abort();
	close(fd);
	return p;
}

static void view_object(const struct qz_report *r, uint32_t object)
{
	struct qz_states states;
	struct qz_stack_row *rows;
	uint32_t n;

	if (qz_state_breakdown__of_object(r, object, &states))
		abort();
	qz_state_breakdown__clear(&states);
	if (qz_wakeup_report__waiters(r, object, &rows, &n))
		abort();
	free(rows);
	if (qz_wakeup_report__wakers(r, object, &rows, &n))
		abort();
	free(rows);
}

static void view(const struct qz_profile *p, uint32_t scope)
{
	struct qz_report *r = qz_report__new(p, scope);
	struct qz_woken woken;
	uint64_t self = 0;
	char *text;

	if (!r)
		abort();
	for (uint32_t i = 0; i < r->nrows; i++)
		self += r->rows[i].self.norm_ns;
	if (self + r->unattributed_ns + r->instrumentation_ns != r->busy_ns)
		abort();
	for (uint32_t i = 0; i < r->nrows && i < 4; i++) {
		struct qz_edge *edges;
		uint32_t n;

		if (qz_call_graph__callees(r, r->rows[i].procedure, &edges, &n))
			abort();
		qz_call_graph__free(edges, n);
		if (qz_call_graph__callers(r, r->rows[i].procedure, &edges, &n))
			abort();
		qz_call_graph__free(edges, n);
	}
	for (uint32_t i = 0; i < r->nobjects && i < 4; i++)
		view_object(r, r->objects[i].object);
	if (qz_wakeup_report__woken(r, &woken))
		abort();
	free(woken.rows);
	text = qz_report_json__report((const struct qz_report *const[]) {r}, 1,
				      &(struct qz_json_rows) {.kinds = ~0u, .max = UINT32_MAX});
	if (!text)
		abort();
	free(text);
	qz_report__free(r);
}

static void use(struct qz_profile *p)
{
	struct qz_profile *again;
	int fd = memfd_create("copy", MFD_CLOEXEC);

	if (fd < 0 || qz_estimate__profile(p) || qz_pprof__write(p, fd) || lseek(fd, 0, SEEK_SET))
		abort();
	for (uint32_t scope = 0; scope < p->nscopes; scope++)
		view(p, scope);
	again = read_file(fd);
	if (!again || again->nsamples != p->nsamples || again->nlocations != p->nlocations ||
	    again->nthreads != p->nthreads || again->nobjects != p->nobjects ||
	    again->nwaits != p->nwaits || again->nwakings != p->nwakings ||
	    again->ncalls != p->ncalls)
		abort();
	qz_profile__free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *why = NULL;
	struct qz_profile *p;

	if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b)
		p = read_file(file_of(data, size));
	else
		p = qz_pprof__parse(data, size, &why);
	if (p)
		use(p);
	qz_profile__free(p);
	return 0;
}
