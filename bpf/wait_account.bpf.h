/* SPDX-License-Identifier: GPL-2.0-only */
/* A wait ends: its time is added up with the thread, and moved from there to the table of waits. */
#ifndef QUARTZ_WAIT_ACCOUNT_BPF_H
#define QUARTZ_WAIT_ACCOUNT_BPF_H

/* The bound is made where the compiler cannot take it away for knowing it already. */
static __always_inline struct qz_wait_site *wait_account__at(struct qz_thread_state *t, u32 at)
{
	u64 index = at;

	asm volatile("%0 &= %1" : "+r"(index) : "i"(QZ_SITES - 1));
	return &t->waiting.sites[index];
}

/* The site of the wait that is looked at, or was last. */
static __always_inline u32 wait_account__site(const struct qz_thread_state *t)
{
	return t->waiting.flags & (QZ_SITES - 1);
}

static __always_inline void wait_account__lose(u32 scope, u64 count, u64 blocked_ns, u64 ready_ns)
{
	struct qz_scope_state *s = scope__get(scope);

	if (!s)
		return;
	__sync_fetch_and_add(&s->waits_lost, count);
	__sync_fetch_and_add(&s->lost_blocked_ns, blocked_ns);
	__sync_fetch_and_add(&s->lost_ready_ns, ready_ns);
}

/* What is added to one slot of the table. */
struct waits_figures {
	u64 key;
	u32 object, scope;
	u64 count, blocked_ns, ready_ns, variance;
};

enum waits_room { WAITS_OTHER, WAITS_FULL, WAITS_FOUND, WAITS_NEW };

/* Adds to a slot, which it takes when it is free; not when it is another's. */
__noinline int wait_account__probe(struct waits_figures *add, u32 at)
{
	u32 index = at & (nr_waits - 1);
	struct qz_wait_slot *slot = bpf_map_lookup_elem(&waits, &index);
	u64 taken;

	if (!slot || !add)
		return WAITS_FULL;
	taken = *(volatile u64 *)&slot->key;
	if (!taken) {
		if (!quota__take(add->scope, QZ_SHARE_WAITS, nr_waits))
			return WAITS_FULL;
		taken = __sync_val_compare_and_swap(&slot->key, 0, add->key);
	}
	if (!taken) {
		slot->scope = add->scope;
		barrier(); /* until `object` is there the slot is nobody's */
		*(volatile u32 *)&slot->object = add->object;
	} else if (taken != add->key || *(volatile u32 *)&slot->object != add->object ||
		   slot->scope != add->scope) {
		return WAITS_OTHER;
	}
	if (add->count)
		__sync_fetch_and_add(&slot->count, add->count);
	if (add->blocked_ns)
		__sync_fetch_and_add(&slot->blocked_ns, add->blocked_ns);
	if (add->ready_ns)
		__sync_fetch_and_add(&slot->ready_ns, add->ready_ns);
	if (add->variance)
		__sync_fetch_and_add(&slot->variance, add->variance);
	if (taken)
		return WAITS_FOUND;
	used__mark(USED_WAITS, index);
	return WAITS_NEW;
}

/* Adds to what the table has of this key and object in the scope: those of no thread are in several. */
static __always_inline int wait_account__add_row(struct waits_figures *add)
{
	u64 hash = mix(mix(0, add->key), add->object);
	int room = WAITS_OTHER;

	for (u32 i = 0; i < PROBES && room == WAITS_OTHER; i++)
		room = wait_account__probe(add, first_slot(hash) + i);
	return room;
}

/* Likewise of a part. */
static __always_inline u64 wait_account__part(u32 part)
{
	u64 index = part;

	asm volatile("%0 &= %1" : "+r"(index) : "i"(QZ_PARTS - 1));
	return index;
}

/* Moves one part of what stands at a site to the table of waits; variance is that of the part. */
__noinline int wait_account__flush_part(struct qz_thread_state *t, u32 at, u32 part, u64 variance)
{
	struct waits_figures add;
	struct qz_wait_site *site;
	u64 p = wait_account__part(part);

	if (!t)
		return 0;
	site = wait_account__at(t, at);
	if (!site->count[p])
		return 0;
	add = (struct waits_figures) {
		.key = QZ_WAIT_KEY(site->stack, site->nominal[p], t->serial),
		.object = site->object,
		.scope = t->scope,
		.count = site->count[p],
		.blocked_ns = site->blocked_ns[p],
		.ready_ns = site->ready_ns[p],
		.variance = variance,
	};
	if (wait_account__add_row(&add) <= WAITS_FULL)
		wait_account__lose(t->scope, add.count, add.blocked_ns, add.ready_ns);
	site->count[p] = 0;
	site->blocked_ns[p] = 0;
	site->ready_ns[p] = 0;
	return 0;
}

/* Moves what stands at a site to the table of waits. */
static __always_inline void wait_account__flush(struct qz_thread_state *t, u32 at)
{
	for (u32 i = 0; i < QZ_PARTS; i++)
		wait_account__flush_part(t, at, i, 0);
}

/* The times blocked and ready that are not charged yet. */
struct uncharged {
	u64 blocked, ready;
};

/* What was before the scope's clock began does not count: a command that waited to be let go. */
static __always_inline struct uncharged wait_account__uncharged(const struct qz_thread_state *t,
								const struct qz_scope_state *s)
{
	u64 before = s->began > t->seen ? s->began - t->seen : 0;
	u64 blocked = t->ns[QZ_BLOCKED] > before ? t->ns[QZ_BLOCKED] - before : 0;

	return (struct uncharged) {blocked - t->waiting.charged_blocked,
				   t->ns[QZ_READY] - t->waiting.charged_ready};
}

/*
 * What the wait that is looked at took by itself: until it was woken, and from then on. That is all there is
 * unless others were passed.
 */
static __always_inline struct uncharged
wait_account__own(const struct qz_thread_state *t, const struct uncharged *rest, u64 woken, u64 now)
{
	u64 ns = (u64)(wait_gate__units(now) - t->began) << QZ_BEGAN_SHIFT;
	u64 ready = woken < now ? now - woken : 0;

	if (!(t->waiting.flags & QZ_WAITING_PASSED))
		return *rest;
	return (struct uncharged) {ns > ready ? ns - ready : 0, ready};
}

static __always_inline u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

/*
 * Charges what a wait stands for: its own time as often as its weight says, and no more than is not charged yet.
 * Gives that, and leaves in *rest what remains.
 */
static __always_inline struct uncharged
wait_account__take(struct qz_thread_state *t, struct uncharged *rest, const struct uncharged *own)
{
	u32 weight = t->waiting.weight;
	struct uncharged taken = {smaller(own->blocked << weight, rest->blocked),
				  smaller(own->ready << weight, rest->ready)};

	t->waiting.charged_blocked += taken.blocked;
	t->waiting.charged_ready += taken.ready;
	rest->blocked -= taken.blocked;
	rest->ready -= taken.ready;
	return taken;
}

/* The mean over a wait that ends now, grouped. */
static __always_inline u32 wait_account__nominal(const struct qz_thread_state *t,
						 const struct qz_scope_state *s,
						 const struct uncharged *own, u64 now)
{
	u64 word = *(volatile u64 *)&s->runnable;
	u32 itself = own->ready > own->blocked;

	if (t->state & QZ_SINGLE && !t->skipped) /* of which one is runnable, or none */
		return itself;
	/* the mean is not known, so it is those that run now */
	if (t->skipped || skip__was_after(t->began))
		return qz_nominal__group(itself + SKIP_RUNNING(skip__elsewhere(t->scope, t->tgid)));
	return qz_nominal__group(
		qz_nominal__mean(word, t->waiting.nominal, now, own->blocked + own->ready));
}

/*
 * What a wait adds to the variance of the sum of all, where it was looked at with probability 1/w and stands for w: w (w - 1)
 * times its square (Horvitz and Thompson), in units of 2^20 ns^2; that of its own time, also where less was left to be
 * charged. A second and more counts as one: threads that wait so long are looked at each time.
 */
static __always_inline u64 wait_account__variance(u32 weight, const struct uncharged *own)
{
	u64 unit = (own->blocked + own->ready) >> 10, w = 1ull << weight;

	if (unit >> 20)
		unit = 1 << 20;
	return w * (w - 1) * unit * unit;
}

/*
 * Charges a wait to the site where it was, and leaves in *rest what remains; to the table at once if it stands for others: a
 * site has no place for doubt.
 */
__noinline int wait_account__add(struct qz_thread_state *t, struct uncharged *rest,
				 const struct uncharged *own, u32 nominal)
{
	u32 part = qz_nominal__part(nominal), at;
	u64 p = wait_account__part(part);
	struct qz_wait_site *site;
	struct uncharged taken;

	if (!t || !rest || !own)
		return 0;
	at = wait_account__site(t);
	site = wait_account__at(t, at);
	if (site->nominal[p] != nominal) {
		wait_account__flush_part(t, at, part, 0);
		site->nominal[p] = nominal;
	}
	site->count[p] += 1u << t->waiting.weight;
	taken = wait_account__take(t, rest, own);
	site->blocked_ns[p] += taken.blocked;
	site->ready_ns[p] += taken.ready;
	if (t->waiting.weight)
		wait_account__flush_part(t, at, part,
					 wait_account__variance(t->waiting.weight, own));
	return 0;
}

/*
 * The thread comes back to a processor, having been woken at some time: what it was blocked and ready is charged
 * to the site where it left. What is charged is what the state of the thread grew by, so that the waits of a
 * thread add up to its times whatever was not seen. The mean is that of the threads that were runnable meanwhile;
 * while ready it is itself one of them.
 */
__noinline int wait_account__end(struct qz_thread_state *t, u64 woken, u64 now)
{
	struct uncharged rest, own;
	struct qz_scope_state *s;
	struct qz_waiting *w;

	if (!t)
		return 0;
	w = &t->waiting;
	if (w->queued) /* who woke it did not see it there yet */
		object__leave(t, !wait_spacing && object__is_released(w->queued, t), woken);
	if (w->flags & QZ_WAITING_CLOSED)
		return 0;
	s = scope__get(t->scope);
	if (!s)
		return 0;
	rest = wait_account__uncharged(t, s);
	if (!(rest.blocked | rest.ready))
		return 0;
	own = wait_account__own(t, &rest, woken, now);
	wait_account__add(t, &rest, &own, wait_account__nominal(t, s, &own, now));
	if (wait_spacing)
		w->flags = (w->flags & ~QZ_WAITING_PASSED) | QZ_WAITING_CLOSED |
			   (wait_gate__may_pass(t) || rest.blocked || rest.ready ? QZ_WAITING_PASSED
										 : 0);
	return 0;
}

/* How the thread left its processor was not seen. */
__noinline int wait_account__forget(struct qz_thread_state *t, u64 now)
{
	struct qz_scope_state *s;

	if (!t)
		return 0;
	s = scope__get(t->scope);
	wait_account__flush(t, 0);
	object__leave(t, false, now);
	object__refer(t->waiting.sites[0].object, -1);
	t->waiting.flags = 0;
	t->waiting.sites[0].where = 0;
	t->waiting.sites[0].stack = QZ_WAIT_UNKNOWN;
	t->waiting.sites[0].object = 0;
	if (s)
		t->waiting.nominal = qz_nominal__integral(s->runnable, now);
	return 0;
}

/* What is not charged to a place, of waits that have ended. */
static __always_inline struct uncharged wait_account__passed(const struct qz_thread_state *t,
							     const struct qz_scope_state *s)
{
	struct uncharged rest = wait_account__uncharged(t, s), own;

	if (t->state != QZ_DEAD && !(t->waiting.flags & QZ_WAITING_PASSED))
		return (struct uncharged) {0};
	if (t->waiting.flags & QZ_WAITING_CLOSED || !(t->state & (QZ_SINGLE | QZ_READY)))
		return rest;
	own = wait_account__own(t, &rest, t->since, t->since);
	rest.blocked -= smaller(own.blocked, rest.blocked);
	return rest;
}

/* The thread ends, and there is no room to tell of it: its waits must not be lost with it. */
__noinline int wait_account__flush_all(struct qz_thread_state *t)
{
	struct qz_scope_state *s;
	struct uncharged passed;

	if (!t)
		return 0;
	for (u32 i = 0; i < QZ_SITES; i++)
		wait_account__flush(t, i);
	s = scope__get(t->scope);
	if (!s)
		return 0;
	passed = wait_account__passed(t, s);
	wait_account__lose(t->scope, 0, passed.blocked, passed.ready);
	return 0;
}

/* ---- telling ---- */

/* The wait that the thread is in. Its times are those up to the last change of state. */
__noinline int wait_account__report_open(struct qz_thread_event *e, struct qz_thread_state *t,
					 u64 now)
{
	struct uncharged rest, passed;
	struct qz_scope_state *s;
	struct qz_wait_site *site;
	bool looked;

	if (!e || !t)
		return 0;
	s = scope__get(t->scope);
	if (!s)
		return 0;
	site = wait_account__at(t, wait_account__site(t));
	looked = !(t->waiting.flags & QZ_WAITING_CLOSED);
	rest = wait_account__uncharged(t, s);
	passed = wait_account__passed(t, s);
	rest.blocked -= passed.blocked;
	rest.ready -= passed.ready;
	e->waits[0] = (struct qz_thread_wait) {
		.stack = looked ? site->stack : QZ_WAIT_PASSED,
		.object = looked ? site->object : 0,
		.blocked_ns = rest.blocked,
		.ready_ns = rest.ready,
	};
	if (t->state == QZ_BLOCKED || t->state == QZ_READY)
		rest.blocked += now - t->since;
	if (looked)
		e->waits[0].nominal = wait_account__nominal(t, s, &rest, now);
	return 0;
}

/* What is not charged to a place, if anything, as the n-th. How many there are then. */
__noinline u32 wait_account__report_passed(struct qz_thread_event *e, struct qz_thread_state *t,
					   u32 n)
{
	struct uncharged passed;
	struct qz_scope_state *s;

	if (!e || !t || n > 1)
		return n;
	s = scope__get(t->scope);
	if (!s)
		return n;
	passed = wait_account__passed(t, s);
	if (!(passed.blocked | passed.ready))
		return n;
	e->waits[n] = (struct qz_thread_wait) {
		.stack = QZ_WAIT_PASSED,
		.blocked_ns = passed.blocked,
		.ready_ns = passed.ready,
	};
	return n + 1;
}

/* What stands in one part of a site, if anything, as the n-th. How many there are then. */
__noinline u32 wait_account__report_part(struct qz_thread_event *e, struct qz_thread_state *t,
					 u32 i, u32 n)
{
	struct qz_wait_site *site;
	u64 at = n, p = wait_account__part(i % QZ_PARTS);

	if (!e || !t)
		return n;
	site = wait_account__at(t, i / QZ_PARTS);
	barrier_var(at); /* what is compared is what is used as an index */
	if (!site->count[p] || at >= QZ_THREAD_WAITS)
		return n;
	e->waits[at] = (struct qz_thread_wait) {
		.stack = site->stack,
		.object = site->object,
		.nominal = site->nominal[p],
		.count = site->count[p],
		.blocked_ns = site->blocked_ns[p],
		.ready_ns = site->ready_ns[p],
	};
	return n + 1;
}

/* Gives how many waits there are to tell of. */
static __always_inline u32 wait_account__report(struct qz_thread_event *e,
						struct qz_thread_state *t, u64 now)
{
	u32 n = t->state != QZ_DEAD;

	if (n)
		wait_account__report_open(e, t, now);
	n = wait_account__report_passed(e, t, n);
	for (u32 i = 0; i < QZ_SITES * QZ_PARTS; i++)
		n = wait_account__report_part(e, t, i, n);
	return n < QZ_THREAD_WAITS ? n : QZ_THREAD_WAITS;
}

#endif
