// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/util/bits.h"
#include "daemon/kernel/bpf_skips.h"
#include "daemon/kernel/bpf_runtime_private.h"
#include "daemon/kernel/bpf_scopes.h"

#define MAX_PASSES 16 /* of find_threads: each finds what was forked during the one before */

/* ---- opening ---- */

static void clear_levels(struct bpf_runtime *bpf, uint32_t scope)
{
	memset(&bpf->levels[(size_t)scope * bpf->level_stride], 0,
	       bpf->level_stride * sizeof(*bpf->levels));
}

/* Its clock runs from now on. */
static void start_clock(struct qz_scope_state *s)
{
	s->began = bpf_runtime__now();
	s->running = s->began << QZ_LEVEL_BITS;
}

int bpf_scopes__init(struct bpf_runtime *bpf)
{
	bpf->before = calloc(bpf->level_stride, sizeof(*bpf->before));
	if (!bpf->before)
		return bpf_runtime__fail(bpf, -ENOMEM, "out of memory");
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

/* Of the programs that write nothing. */
static int iterate(struct bpf_runtime *bpf, struct bpf_program *prog)
{
	return bpf_runtime__iterate(bpf, prog, NULL, &(struct bpf_runtime_records) {.size = 1});
}

/* From here on each processor that is counted as busy is so for a scope too. */
static void start_machine(struct bpf_runtime *bpf)
{
	struct qz_scope_state state;
	uint64_t now = bpf_runtime__now();

	bpf_scopes__read(bpf, QZ_SCOPE_OF_MACHINE, now, &state, bpf->before);
	bpf->scopes[QZ_SCOPE_OF_MACHINE].began = now;
	bpf->started = true;
}

/* A scope that has never begun would never end. */
static int check_found(struct bpf_runtime *bpf)
{
	for (uint32_t i = 0; i < bpf->next_scope; i++)
		if (!bpf->scopes[i].counters.threads_seen)
			return bpf_runtime__fail(
				bpf, -ESRCH,
				"process %d: none of its threads was found; it has just ended",
				bpf->scopes[i].pid);
	return 0;
}

/* Elsewhere each process is followed from its start. And the sampler must be able to follow one. */
static bool passes_forks(const struct bpf_runtime *bpf)
{
	return bpf->skel->rodata->wanted_groups && bpf->opts.sampled_by_timer;
}

int bpf_scopes__adopt(struct bpf_runtime *bpf)
{
	struct quartz *s = bpf->skel;
	int err = 0;

	for (int pass = 0; !err && pass < MAX_PASSES; pass++) {
		uint64_t before = s->bss->threads_found;

		err = iterate(bpf, s->progs.find_threads);
		if (s->bss->threads_found == before)
			break;
	}
	err = err ?: bpf_runtime__mark_processors(bpf);
	if (bpf->before)
		start_machine(bpf);
	err = err ?: iterate(bpf, s->progs.settle_threads);
	if (!err && passes_forks(bpf))
		s->bss->passed_since = bpf_runtime__now();
	return err ?: check_found(bpf);
}

/* A processor that is offline keeps what it has until it is online. */
static void flush_passed(struct bpf_runtime *bpf)
{
	for (uint32_t i = 0; i < bpf->processors; i++)
		if (__atomic_load_n(&bpf->cpus[i].passed.processes, __ATOMIC_RELAXED))
			bpf_runtime__run_on(bpf->skel->progs.flush_passed, (int)i);
}

int bpf_scopes__dump(struct bpf_runtime *bpf, uint64_t until, bpf_scopes_thread *call,
		     void *context)
{
	const struct bpf_runtime_records records = {.size = sizeof(struct qz_thread_event),
						    .call = (bpf_runtime_record *)call,
						    .context = context};

	flush_passed(bpf);
	bpf->skel->bss->read_until = until;
	return bpf_runtime__iterate(bpf, bpf->skel->progs.dump_threads, NULL, &records);
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

uint32_t bpf_scopes__group(const struct bpf_runtime *bpf, uint32_t scope)
{
	return __atomic_load_n(&bpf->scopes[scope].group, __ATOMIC_SEQ_CST);
}

/* Over the threads of all processes, or of one. */
static int iterate_over(struct bpf_runtime *bpf, struct bpf_program *prog, int pid)
{
	union bpf_iter_link_info which = {.task.pid = (__u32)pid};
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &which,
			    .link_info_len = sizeof(which));

	return bpf_runtime__iterate(bpf, prog, pid ? &opts : NULL,
				    &(struct bpf_runtime_records) {.size = 1});
}

int bpf_scopes__report_threads(struct bpf_runtime *bpf, uint32_t scope, int pid)
{
	if (bpf_scopes__youth(bpf, scope) != QZ_YOUNG)
		return 0;
	return iterate_over(bpf, bpf->skel->progs.report_threads, pid);
}

int bpf_scopes__follow_passed(struct bpf_runtime *bpf, int pid)
{
	return bpf->skel->bss->passed_since ? iterate_over(bpf, bpf->skel->progs.follow_passed, pid)
					    : 0;
}

uint64_t bpf_scopes__forks_passed(const struct bpf_runtime *bpf)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < bpf->processors; i++)
		n += __atomic_load_n(&bpf->cpus[i].forks_passed, __ATOMIC_RELAXED);
	return n;
}

bool bpf_scopes__follow_all_passed(struct bpf_runtime *bpf)
{
	uint64_t began = bpf_runtime__now();

	bpf->skel->bss->passed_left = 0;
	bpf_scopes__follow_passed(bpf, 0);
	bpf->skel->bss->passed_last_look = began;
	return !bpf->skel->bss->passed_left;
}

/* A program that has just found the group still adds to it; quartzd reads it for some more drains. */
void bpf_scopes__end_group(struct bpf_runtime *bpf, uint32_t scope, const struct qz_group_key *key)
{
	bpf_map_delete_elem(bpf_map__fd(bpf->skel->maps.groups), key);
	__atomic_store_n(&bpf->scopes[scope].ended, bpf_runtime__now(), __ATOMIC_SEQ_CST);
	qz_bits__set(bpf->ended_scopes, scope);
}

/* ---- one scope ---- */

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

bool bpf_scopes__lives(const struct bpf_runtime *bpf, uint32_t scope, uint64_t since)
{
	const struct qz_scope_state *s = scope < bpf->opts.max_scopes ? &bpf->scopes[scope] : NULL;

	return s && __atomic_load_n(&s->alive, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(&s->began, __ATOMIC_SEQ_CST) <= since;
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

/*
 * The interval that has not ended is added to its level. While the programs are attached a
 * processor may be between its exchange of the word and its addition to the level: then a copy is
 * short by that interval, never wrong for good.
 */
void bpf_scopes__read(const struct bpf_runtime *bpf, uint32_t scope, uint64_t until,
		      struct qz_scope_state *state, uint64_t *level_ns)
{
	const uint64_t *levels = &bpf->levels[(size_t)scope * bpf->level_stride];
	uint64_t level, elapsed;

	do {
		memcpy(state, &bpf->scopes[scope], sizeof(*state));
		memcpy(level_ns, levels, bpf->level_stride * sizeof(*levels));
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (state->running != __atomic_load_n(&bpf->scopes[scope].running, __ATOMIC_SEQ_CST));
	if (state->youth == QZ_GROUP)
		return; /* its levels are those of its processes */
	level = state->running & QZ_LEVEL_MASK;
	until = bpf_skips__clock(bpf, until);
	elapsed = (until - (state->running >> QZ_LEVEL_BITS)) & QZ_TIME_MASK;
	if (elapsed > QZ_TIME_MASK / 2)
		elapsed = 0;
	if (level >= bpf->level_stride)
		level = bpf->level_stride - 1;
	level_ns[level] += elapsed;
	if (scope == QZ_SCOPE_OF_MACHINE && bpf->started)
		for (uint32_t i = 0; i < bpf->level_stride; i++)
			level_ns[i] -= level_ns[i] < bpf->before[i] ? level_ns[i] : bpf->before[i];
}

void bpf_scopes__add_levels(struct bpf_runtime *bpf, uint32_t scope, const uint64_t *add,
			    uint32_t n)
{
	uint64_t *levels = &bpf->levels[(size_t)scope * bpf->level_stride];

	for (uint32_t i = 0; i < n; i++)
		if (add[i])
			__atomic_fetch_add(&levels[i], add[i], __ATOMIC_SEQ_CST);
}

uint64_t bpf_scopes__running(const struct bpf_runtime *bpf, uint32_t scope)
{
	if (scope >= bpf->opts.max_scopes)
		return 0;
	return __atomic_load_n(&bpf->scopes[scope].running, __ATOMIC_SEQ_CST);
}
