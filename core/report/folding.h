/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which rows repeat another row. A wrapper is a procedure that does nothing but call or start one other, which has no other
 * caller: both have the same total within the interval, and their blocked times differ by less than a hundredth of the
 * elapsed time. The inner one is kept, which has the work or calls several. Kept are also "main" (Go's is "main.main"),
 * which people look for, what would be there only under a name with an underscore, such as pthread_mutex_lock, and what
 * calls the C library, which says less of the program. The procedures of the kernel are put together in
 * core/report/kernel_rows.h.
 */
#ifndef QUARTZ_CORE_FOLDING_H
#define QUARTZ_CORE_FOLDING_H

#include "core/report/kernel_rows.h"
#include "core/report/report.h"

/* Whether names allow that `outer` is folded into `inner`. */
bool qz_folding__may(const struct qz_procedure *outer, const struct qz_procedure *inner);

struct qz_folding {
	bool *folded;		     /* by row of the report */
	uint32_t nwrappers, nkernel; /* rows folded as wrappers, and as the kernel's */
	struct qz_kernel_rows kernel;
};

/* -ENOMEM; free with qz_folding__free, also after an error. */
int qz_folding__find(const struct qz_report *r, struct qz_folding *f);
void qz_folding__free(struct qz_folding *f);

#endif
