/* SPDX-License-Identifier: GPL-2.0-only */
/* The waits of a thread: gathered with the thread, and the table that takes what it puts down. */
#ifndef QUARTZ_WAITS_BPF_H
#define QUARTZ_WAITS_BPF_H

/* The bound is made where the compiler cannot take it away for knowing it already. */
static __always_inline struct qz_wait_site *wait__at(struct qz_thread_state *t, u32 at)
{
	u64 index = at;

	asm volatile("%0 &= %1" : "+r"(index) : "i"(QZ_SITES - 1));
	return &t->waiting.sites[index];
}

static __always_inline void wait__lose(u32 scope, u64 count, u64 blocked_ns, u64 ready_ns)
{
	struct qz_scope_state *s = scope__get(scope);

	if (!s)
		return;
	__sync_fetch_and_add(&s->waits_lost, count);
	__sync_fetch_and_add(&s->lost_blocked_ns, blocked_ns);
	__sync_fetch_and_add(&s->lost_ready_ns, ready_ns);
}

struct waits_figures {
	u64 count, blocked_ns, ready_ns;
};

/* Adds to what the table has of this key and object. false: there is no room. */
static __always_inline bool waits__add(u64 key, u32 object, u32 scope,
				       const struct waits_figures *add)
{
	u64 hash = mix(mix(0, key), object);

	for (u32 i = 0; i < PROBES; i++) {
		u32 index = (first_slot(hash) + i) & (nr_waits - 1);
		struct qz_wait_slot *slot = bpf_map_lookup_elem(&waits, &index);
		u64 taken;

		if (!slot)
			break;
		taken = __sync_val_compare_and_swap(&slot->key, 0, key);
		if (!taken) {
			slot->scope = scope;
			*(volatile u32 *)&slot->object = object;
		} else if (taken != key || *(volatile u32 *)&slot->object != object) {
			continue;
		}
		__sync_fetch_and_add(&slot->count, add->count);
		if (add->blocked_ns)
			__sync_fetch_and_add(&slot->blocked_ns, add->blocked_ns);
		if (add->ready_ns)
			__sync_fetch_and_add(&slot->ready_ns, add->ready_ns);
		return true;
	}
	return false;
}

static __always_inline struct qz_wait_part *wait__part(struct qz_wait_site *site, u32 part)
{
	u64 index = part;

	asm volatile("%0 &= %1" : "+r"(index) : "i"(QZ_PARTS - 1));
	return &site->parts[index];
}

/* Moves one part of what stands at a site to the table of waits. */
__noinline int wait__flush_part(struct qz_thread_state *t, u32 at, u32 part)
{
	struct waits_figures add;
	struct qz_wait_site *site;
	struct qz_wait_part *p;

	if (!t)
		return 0;
	site = wait__at(t, at);
	p = wait__part(site, part);
	if (!p->count)
		return 0;
	add = (struct waits_figures) {p->count, p->blocked_ns, p->ready_ns};
	if (!waits__add(QZ_WAIT_KEY(site->stack, p->nominal, t->serial), site->object, t->scope,
			&add))
		wait__lose(t->scope, add.count, add.blocked_ns, add.ready_ns);
	p->count = 0;
	p->blocked_ns = 0;
	p->ready_ns = 0;
	return 0;
}

/* Moves what stands at a site to the table of waits. */
static __always_inline void wait__flush(struct qz_thread_state *t, u32 at)
{
	for (u32 i = 0; i < QZ_PARTS; i++)
		wait__flush_part(t, at, i);
}

/* The times blocked and ready that are not charged yet; they count as charged from now on. */
struct uncharged {
	u64 blocked, ready;
};

/* What was before the scope's clock began does not count: a command that waited to be let go. */
static __always_inline struct uncharged wait__take(struct qz_thread_state *t,
						   const struct qz_scope_state *s)
{
	struct qz_waiting *w = &t->waiting;
	u64 before = s->began > t->seen ? s->began - t->seen : 0;
	u64 blocked = t->ns[QZ_BLOCKED] > before ? t->ns[QZ_BLOCKED] - before : 0;
	struct uncharged rest;

	rest.blocked = blocked - w->charged_blocked;
	rest.ready = t->ns[QZ_READY] - w->charged_ready;
	w->charged_blocked = blocked;
	w->charged_ready = t->ns[QZ_READY];
	return rest;
}

/*
 * The thread comes back to a processor: all that it was blocked and ready since the last time is
 * charged to the site where it left. What is charged is what the state of the thread grew by, so
 * that the waits of a thread add up to its times whatever was not seen. The mean is that of the
 * threads that were runnable meanwhile; while ready it is itself one of them.
 */
__noinline int wait__end(struct qz_thread_state *t, u64 now)
{
	struct qz_scope_state *s;
	struct qz_waiting *w;
	struct qz_wait_part *p;
	struct uncharged rest;
	u32 nominal, part;
	u64 word;

	if (!t)
		return 0;
	s = scope__get(t->scope);
	w = &t->waiting;
	if (w->queued) /* nobody was seen to wake it */
		object__leave(t, false, now);
	if (!s)
		return 0;
	rest = wait__take(t, s);
	if (!(rest.blocked | rest.ready))
		return 0;
	word = *(volatile u64 *)&s->runnable;
	nominal = qz_nominal__mean(word, w->nominal, now, rest.blocked + rest.ready);
	nominal = qz_nominal__group(nominal);
	part = qz_nominal__part(nominal);
	p = wait__part(wait__at(t, w->site), part);
	if (p->nominal != nominal) {
		wait__flush_part(t, w->site, part);
		p->nominal = nominal;
	}
	p->count++;
	p->blocked_ns += rest.blocked;
	p->ready_ns += rest.ready;
	return 0;
}

/* How the thread left its processor was not seen. */
__noinline int wait__forget(struct qz_thread_state *t, u64 now)
{
	struct qz_scope_state *s;

	if (!t)
		return 0;
	s = scope__get(t->scope);
	wait__flush(t, 0);
	object__leave(t, false, now);
	object__refer(t->waiting.sites[0].object, -1);
	t->waiting.site = 0;
	t->waiting.sites[0].where = 0;
	t->waiting.sites[0].stack = QZ_WAIT_UNKNOWN;
	t->waiting.sites[0].object = 0;
	if (s)
		t->waiting.nominal = qz_nominal__integral(s->runnable, now);
	return 0;
}

/* The thread ends, and there is no room to tell of it: its waits must not be lost with it. */
__noinline int wait__flush_all(struct qz_thread_state *t)
{
	struct qz_scope_state *s;
	struct uncharged rest;

	if (!t)
		return 0;
	s = scope__get(t->scope);
	if (!s)
		return 0;
	rest = wait__take(t, s);
	for (u32 i = 0; i < QZ_SITES; i++)
		wait__flush(t, i);
	wait__lose(t->scope, !!(rest.blocked | rest.ready), rest.blocked, rest.ready);
	return 0;
}

#endif
