/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/core/advise/advised.h"

#include <check.h>
#include <string.h>

#include "core/estimate/estimate.h"

struct advised advised__new(struct fixture *f, uint32_t processors)
{
	struct advised x = {.p = f->p};

	ck_assert_int_eq(f->err, 0);
	f->p->processors = processors;
	ck_assert_int_eq(qz_estimate__profile(f->p), 0);
	x.r = qz_report__new(f->p, 0);
	ck_assert_ptr_nonnull(x.r);
	x.a = qz_advise__new(x.r);
	ck_assert_ptr_nonnull(x.a);
	return x;
}

void advised__free(struct advised *x)
{
	qz_advise__free(x->a);
	qz_report__free(x->r);
	qz_profile__free(x->p);
}

const struct qz_finding *advised__find(const struct qz_advice *a, const char *rule)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (!strcmp(a->findings[i].rule, rule))
			return &a->findings[i];
	return NULL;
}

void advised__waited(struct fixture *f, uint32_t thread, const char *stack, const char *cause,
		     struct advised_waits waits)
{
	fixture__wait(f,
		      &(struct qz_wait) {.thread = thread,
					 .object = QZ_NONE,
					 .nominal = waits.nominal,
					 .count = waits.count,
					 .blocked_ns = waits.blocked * MS,
					 .ready_ns = waits.ready * MS},
		      stack, cause);
}

void advised__lived(struct fixture *f, uint32_t thread, int32_t pid, uint64_t start, uint64_t end,
		    uint64_t running)
{
	struct qz_thread *t = &f->p->threads[thread];

	t->pid = pid;
	t->start_ns = start * MS;
	t->end_ns = end * MS;
	t->running_ns = running * MS;
}
