// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/model/levels.h"
#include "core/util/bits.h"
#include "daemon/kernel/bpf_runtime_private.h"
#include "daemon/kernel/bpf_scopes.h"

#define MAX_PASSES 16 /* of find_threads: each finds what was forked during the one before */

/* ---- opening ---- */

/* Text tables show the time of all levels beyond at the last one that they have room for. */
static void show_levels(struct bpf_runtime *bpf, uint32_t scope)
{
	const struct bpf_levels *l = &bpf->levels[scope];
	uint64_t *shown = &bpf->text_levels[(size_t)scope * bpf->level_stride];
	uint32_t last = bpf->level_stride - 1;

	for (uint32_t i = 0; i < last; i++)
		shown[i] = i < l->n ? l->ns[i] : 0;
	shown[last] = l->n > last ? qz_levels__sum(&l->ns[last], l->n - last) : 0;
}

static void clear_levels(struct bpf_runtime *bpf, uint32_t scope)
{
	struct bpf_levels *l = &bpf->levels[scope];

	free(l->ns);
	*l = (struct bpf_levels) {0};
	show_levels(bpf, scope);
}

/* Its clock runs from now on. */
static void start_clock(struct qz_scope_state *s)
{
	s->began = bpf_runtime__now();
	s->running = s->began << QZ_LEVEL_BITS;
}

int bpf_scopes__init(struct bpf_runtime *bpf)
{
	for (uint32_t i = 0; i < bpf->opts.max_scopes; i++)
		if (i == QZ_SCOPE_OF_MACHINE ||
		    (i == QZ_SCOPE_OF_KERNEL && !bpf->opts.pid_namespace))
			start_clock(&bpf->scopes[i]);
		else if (i >= QZ_OWN_SCOPES)
			bpf_scopes__recycle(bpf, i);
	return 0;
}

int bpf_scopes__open(struct bpf_runtime *bpf, int pid, bool follows)
{
	uint32_t scope = bpf->next_scope, tgid = pid;
	struct qz_scope_state *s;
	int err;

	if (bpf->opts.every_process || scope >= bpf->opts.max_scopes)
		return bpf_runtime__fail(bpf, -ENOSPC,
					 "process %d: no room for more than %u scopes", pid,
					 bpf->opts.max_scopes);
	s = &bpf->scopes[scope];
	s->pid = pid;
	s->follows = follows;
	start_clock(s);
	err = bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.targets), &tgid, &scope, BPF_NOEXIST);
	if (err)
		return bpf_runtime__fail(bpf, err,
					 "process %d: given twice, or too many targets: %s", pid,
					 strerror(-err));
	bpf->next_scope++;
	return scope;
}

void bpf_scopes__restart(struct bpf_runtime *bpf, uint32_t scope)
{
	clear_levels(bpf, scope);
	start_clock(&bpf->scopes[scope]);
}

/* ---- threads ---- */

/* A scope that has never begun would never end. */
static int check_found(struct bpf_runtime *bpf)
{
	for (uint32_t i = 0; i < bpf->next_scope; i++)
		if (!bpf->scopes[i].begun)
			return bpf_runtime__fail(
				bpf, -ESRCH,
				"process %d: none of its threads was found; it has just ended",
				bpf->scopes[i].pid);
	return 0;
}

static int find_threads(struct bpf_runtime *bpf, bpf_scopes_record *call, void *context)
{
	const struct bpf_runtime_records records = {.size = sizeof(struct qz_log_record),
						    .call = (bpf_runtime_record *)call,
						    .context = context};

	return bpf_runtime__iterate(bpf, bpf->skel->progs.find_threads, NULL, &records);
}

int bpf_scopes__find(struct bpf_runtime *bpf, bpf_scopes_record *call, void *context)
{
	struct quartz *s = bpf->skel;
	int err = 0;

	for (int pass = 0; !err && pass < MAX_PASSES; pass++) {
		uint64_t before = s->bss->threads_found;

		err = find_threads(bpf, call, context);
		if (s->bss->threads_found == before)
			break;
	}
	if (!err && bpf->opts.every_process && !bpf->opts.pid_namespace)
		s->bss->told_since = bpf_runtime__now();
	return err ?: check_found(bpf);
}

int bpf_scopes__find_again(struct bpf_runtime *bpf, bpf_scopes_record *call, void *context)
{
	int err;

	bpf->skel->bss->finds_again = true;
	err = find_threads(bpf, call, context);
	bpf->skel->bss->finds_again = false;
	return err;
}

/* ---- young processes ---- */

enum qz_youth bpf_scopes__youth(const struct bpf_runtime *bpf, uint32_t scope)
{
	return scope < bpf->opts.max_scopes
		       ? __atomic_load_n(&bpf->scopes[scope].youth, __ATOMIC_SEQ_CST)
		       : QZ_GROWN;
}

bool bpf_scopes__grow(struct bpf_runtime *bpf, uint32_t scope)
{
	__u32 youth = QZ_YOUNG;

	return __atomic_compare_exchange_n(&bpf->scopes[scope].youth, &youth, QZ_GROWN, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
	       youth == QZ_GROWN;
}

bool bpf_scopes__fold(struct bpf_runtime *bpf, uint32_t scope, uint32_t group)
{
	__u32 youth = QZ_YOUNG;

	__atomic_store_n(&bpf->scopes[scope].group, group, __ATOMIC_SEQ_CST);
	return __atomic_compare_exchange_n(&bpf->scopes[scope].youth, &youth, QZ_FOLDED, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

uint32_t bpf_scopes__group(const struct bpf_runtime *bpf, uint32_t scope)
{
	return __atomic_load_n(&bpf->scopes[scope].group, __ATOMIC_SEQ_CST);
}

/* Over the threads of all processes, or of one. */
static int tell(struct bpf_runtime *bpf, int pid, const struct bpf_runtime_records *records)
{
	union bpf_iter_link_info which = {.task.pid = (__u32)pid};
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &which,
			    .link_info_len = sizeof(which));

	return bpf_runtime__iterate(bpf, bpf->skel->progs.tell_threads, pid ? &opts : NULL,
				    records);
}

/* Of all that live, or of one process. */
int bpf_scopes__tell(struct bpf_runtime *bpf, int pid)
{
	return bpf->skel->bss->told_since
		       ? tell(bpf, pid, &(struct bpf_runtime_records) {.size = 1})
		       : 0;
}

int bpf_scopes__tell_all(struct bpf_runtime *bpf, bpf_scopes_record *call, void *context)
{
	struct quartz__bss *bss = bpf->skel->bss;
	int err;

	if (!bss->counts_transfers)
		return bpf_scopes__tell(bpf, 0);
	bss->tells_transfers = true;
	err = tell(bpf, 0,
		   &(struct bpf_runtime_records) {.size = sizeof(struct qz_log_record),
						  .call = (bpf_runtime_record *)call,
						  .context = context});
	bss->tells_transfers = false;
	return err;
}

void bpf_scopes__end_group(struct bpf_runtime *bpf, uint32_t scope)
{
	__atomic_store_n(&bpf->scopes[scope].ended, bpf_runtime__now(), __ATOMIC_SEQ_CST);
	qz_bits__set(bpf->ended_scopes, scope);
}

/* ---- one scope ---- */

struct qz_scope_state *bpf_scopes__state(struct bpf_runtime *bpf, uint32_t scope)
{
	return &bpf->scopes[scope];
}

int bpf_scopes__set_levels(struct bpf_runtime *bpf, uint32_t scope, const uint64_t *ns, uint32_t n)
{
	struct bpf_levels *l = &bpf->levels[scope];

	if (n && qz_levels__reach(&l->ns, &l->n, n - 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++)
		l->ns[i] = i < n ? ns[i] : 0;
	show_levels(bpf, scope);
	return 0;
}

int bpf_scopes__add_levels(struct bpf_runtime *bpf, uint32_t scope, const uint64_t *ns, uint32_t n)
{
	struct bpf_levels *l = &bpf->levels[scope];

	if (n && qz_levels__reach(&l->ns, &l->n, n - 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		l->ns[i] += ns[i];
	show_levels(bpf, scope);
	return 0;
}

int bpf_scopes__take(struct bpf_runtime *bpf)
{
	uint32_t scope;

	if (bpf_map_lookup_and_delete_elem(bpf_map__fd(bpf->skel->maps.free_scopes), NULL,
					   &scope) &&
	    bpf_map_lookup_and_delete_elem(bpf_map__fd(bpf->skel->maps.spare_scopes), NULL, &scope))
		return -ENOSPC;
	return (int)scope;
}

void bpf_scopes__mark_ended(struct bpf_runtime *bpf, uint32_t scope)
{
	qz_bits__set(bpf->ended_scopes, scope);
}

uint32_t bpf_scopes__next_ended(const struct bpf_runtime *bpf, uint32_t from)
{
	return qz_bits__next(bpf->ended_scopes, bpf->opts.max_scopes, from);
}

bool bpf_scopes__ended(const struct bpf_runtime *bpf, uint32_t scope)
{
	const struct qz_scope_state *s = &bpf->scopes[scope];

	return __atomic_load_n(&s->ended, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&s->alive, __ATOMIC_SEQ_CST) &&
	       !(__atomic_load_n(&s->running, __ATOMIC_SEQ_CST) & QZ_LEVEL_MASK);
}

bool bpf_scopes__is_free(const struct bpf_runtime *bpf, uint32_t scope)
{
	return !__atomic_load_n(&bpf->scopes[scope].began, __ATOMIC_RELAXED);
}

int bpf_scopes__pid(const struct bpf_runtime *bpf, uint32_t scope)
{
	return bpf->scopes[scope].pid;
}

int bpf_scopes__recycle(struct bpf_runtime *bpf, uint32_t scope)
{
	if (scope >= bpf->opts.max_scopes)
		return -EINVAL;
	qz_bits__clear(bpf->ended_scopes, scope);
	memset(&bpf->scopes[scope], 0, sizeof(bpf->scopes[scope]));
	clear_levels(bpf, scope);
	if (!bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.spare_scopes), NULL, &scope, BPF_ANY))
		return 0; /* some of them were in use */
	return bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.free_scopes), NULL, &scope, BPF_ANY);
}

void bpf_scopes__add_spin_turns(struct bpf_runtime *bpf, uint32_t scope, uint64_t n)
{
	bpf->scopes[scope].counters.spin_turns += n;
}

void bpf_scopes__set_share(struct bpf_runtime *bpf, uint32_t scope, enum qz_share what, uint32_t n)
{
	__u32 *share = &bpf->scopes[scope].shares[what];

	if (__atomic_load_n(share, __ATOMIC_RELAXED) != n)
		__atomic_store_n(share, n, __ATOMIC_RELAXED);
}

/* The interval that has not ended is added to its level. */
int bpf_scopes__read_levels(const struct bpf_runtime *bpf, uint32_t scope, uint64_t until,
			    uint64_t **ns, uint32_t *n)
{
	const struct bpf_levels *l = &bpf->levels[scope];
	const struct qz_scope_state *state = &bpf->scopes[scope];
	uint32_t level = state->running & QZ_LEVEL_MASK;
	uint64_t elapsed = (until - (state->running >> QZ_LEVEL_BITS)) & QZ_TIME_MASK;

	if (state->youth == QZ_GROUP || elapsed > QZ_TIME_MASK / 2)
		level = elapsed = 0; /* the levels of a group are those of its processes */
	if (qz_levels__reach(ns, n, l->n > level ? l->n - 1 : level))
		return -ENOMEM;
	for (uint32_t i = 0; i < *n; i++)
		(*ns)[i] = i < l->n ? l->ns[i] : 0;
	(*ns)[level] += elapsed;
	return 0;
}
