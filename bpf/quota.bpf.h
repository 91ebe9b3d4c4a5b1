/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fair shares of the tables that all scopes fill. A scope may take as much as is still free of three quarters of
 * the table: one scope alone gets three eighths, N scopes a share of 1/(N + 1) of the three quarters each, and the
 * next one finds as much. Every scope is guaranteed 1/QUOTA_LEAST of the table; the last quarter is reserved for
 * that. Refusals are counted by scope.
 */
#ifndef QUARTZ_QUOTA_BPF_H
#define QUARTZ_QUOTA_BPF_H

#define QUOTA_LEAST 256 /* a part of the table */

static __always_inline bool quota__is_fair(u32 mine, u32 all, u32 size)
{
	u32 usable = size - size / 4;

	return mine < size / QUOTA_LEAST || (all < usable && mine < usable - all);
}

static __always_inline void quota__refuse(struct qz_scope_state *s, struct qz_control *ctl,
					  u32 what)
{
	__sync_fetch_and_add(&s->counters.limited, 1);
	__sync_fetch_and_add(&ctl->limited[what], 1);
}

/* Whether a scope may take one more slot of a table of this size. It then has it. */
__noinline int quota__take(u32 scope, u32 what, u32 size)
{
	struct qz_scope_state *s = scope__get(scope);
	struct qz_control *ctl = control__get();

	if (!every_process || !s || !ctl || what >= QZ_SHARES)
		return 1;
	if (!quota__is_fair(*(volatile u32 *)&s->shares[what], *(volatile u32 *)&ctl->shared[what],
			    size)) {
		quota__refuse(s, ctl, what);
		return 0;
	}
	__sync_fetch_and_add(&s->shares[what], 1);
	__sync_fetch_and_add(&ctl->shared[what], 1);
	return 1;
}

/* The same of n words of the ring of frames, which is emptied at each drain. */
__noinline int quota__take_frames(u32 scope, u32 n)
{
	struct qz_scope_state *s = scope__get(scope);
	struct qz_control *ctl = control__get();
	u32 used;

	if (!every_process || !s || !ctl)
		return 1;
	if (s->drain != *(volatile u32 *)&ctl->drain) {
		s->drain = *(volatile u32 *)&ctl->drain;
		s->shares[QZ_SHARE_FRAMES] = 0;
	}
	used = *(volatile u32 *)&ctl->wait_frames_used - *(volatile u32 *)&ctl->wait_frames_read;
	if (!quota__is_fair(*(volatile u32 *)&s->shares[QZ_SHARE_FRAMES], used, nr_wait_frames)) {
		quota__refuse(s, ctl, QZ_SHARE_FRAMES);
		return 0;
	}
	__sync_fetch_and_add(&s->shares[QZ_SHARE_FRAMES], n);
	return 1;
}

#endif
