/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads wait for: its queue, and the thread that holds it meanwhile. A mutex of glibc has its owner 8 bytes after
 * the word. Other locks (stdio, malloc, Rust) have three states: 0, free; 1, taken by a thread that found it free; 2, taken
 * by a thread that had waited. With 2, the holder is the thread that was woken last, unless it waits again. With 1, the
 * holder is not known; it mostly is the thread that released the lock last, so that one is assumed. The memory behind such
 * a word is what the lock protects, and may look like an owner. Locks of the kernel are treated like locks with three
 * states while a thread waits; of some, the holder is known.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "core/replay/state.h"

#define FUTEX_WAITERS_BIT 0x80000000u
#define FUTEX_TID	  0x3fffffffu
#define LOCK_TAKEN	  1 /* in a lock with three states */
#define LOCK_CONTENDED	  2
/* Plain mutexes of musl have EBUSY in place of their owner. */
#define MUSL_CONTENDED (FUTEX_WAITERS_BIT | EBUSY)

/* ---- time ---- */

/* Charges the time since the last change to the present length of the queue, and to the holder. */
static void replay_queue__charge(const struct replay *r, struct replay_queue *q)
{
	uint64_t elapsed = r->now - q->since, ran;
	uint32_t n = q->pub.waiters;

	q->since = r->now;
	if (n)
		q->pub.length_ns[n < REPLAY_LENGTHS ? n : REPLAY_LENGTHS - 1] += elapsed;
	if (n >= REPLAY_LENGTHS - 1)
		q->pub.beyond_ns += n * elapsed;
	if (q->holder == REPLAY_NONE)
		return;
	ran = replay_row__ran(r, replay__row(r, q->holder));
	if (n) {
		q->pub.held_ns += elapsed;
		q->pub.held_running_ns += ran - q->holder_ran;
	}
	q->holder_ran = ran;
}

/* ---- holders ---- */

static void replay_queue__unlink_holder(struct replay *r, uint32_t i)
{
	struct replay_queue *q = replay__queue(r, i);

	if (q->held_next != REPLAY_NONE)
		replay__queue(r, q->held_next)->held_before = q->held_before;
	if (q->held_before != REPLAY_NONE)
		replay__queue(r, q->held_before)->held_next = q->held_next;
	else
		replay__row(r, q->holder)->held = q->held_next;
	q->holder = REPLAY_NONE;
}

/* The queue must have been charged up to now. */
static void replay_queue__set_holder(struct replay *r, uint32_t i, uint32_t holder)
{
	struct replay_queue *q = replay__queue(r, i);
	struct replay_row *t;

	if (q->holder == holder)
		return;
	if (q->holder != REPLAY_NONE)
		replay_queue__unlink_holder(r, i);
	if (holder == REPLAY_NONE)
		return;
	t = replay__row(r, holder);
	q->holder = holder;
	q->holder_ran = replay_row__ran(r, t);
	q->held_before = REPLAY_NONE;
	q->held_next = t->held;
	if (t->held != REPLAY_NONE)
		replay__queue(r, t->held)->held_before = i;
	t->held = i;
}

void replay_queue__release_all(struct replay *r, struct replay_row *t)
{
	while (t->held != REPLAY_NONE) {
		uint32_t i = t->held;

		replay_queue__charge(r, replay__queue(r, i));
		replay_queue__set_holder(r, i, REPLAY_NONE);
	}
}

uint32_t replay_queue__held(const struct replay *r, const struct replay_row *t)
{
	for (uint32_t i = t->held; i != REPLAY_NONE; i = replay__queue(r, i)->held_next)
		if (replay__queue(r, i)->pub.waiters)
			return i;
	return REPLAY_NONE;
}

static uint32_t replay_ref__row(const struct replay *r, const struct replay_ref *ref)
{
	const struct replay_row *t;

	if (!ref->serial)
		return REPLAY_NONE;
	t = replay__row(r, ref->row);
	return t->lives && t->pub.serial == ref->serial ? ref->row : REPLAY_NONE;
}

/* The thread of the process with this number, in the initial pid namespace or in the process' own. */
static uint32_t replay_queue__named(const struct replay *r, const struct replay_row *t,
				    uint32_t tid)
{
	uint32_t i = replay_row__find(r, tid);

	if (i != REPLAY_NONE && replay__row(r, i)->process_row == t->process_row)
		return i;
	return t->own_tid == t->pub.tid ? REPLAY_NONE : replay_process__own(r, t->process_row, tid);
}

static bool replay_queue__is_kernel_lock(const struct replay_queue *q)
{
	return q->pub.tag >= QZ_TAG_LOCKS && q->pub.tag < QZ_TAGS;
}

#define TOGETHER_NS 200000 /* wake-ups that are closer together are those of one call */

/* Remembers the threads that one call wakes: locks of files and eventfds wake all waiters. */
static void replay_queue__add_woken(const struct replay *r, struct replay_queue *q,
				    const struct replay_row *t, const struct replay_waker *waker)
{
	if (q->nwoken == QUEUE_WOKEN || waker->ref.serial != q->releaser.serial ||
	    r->now - q->woken_at > TOGETHER_NS)
		q->nwoken = 0;
	if (!q->nwoken)
		q->woken_at = r->now;
	q->woken[q->nwoken++] =
		(struct replay_ref) {(uint32_t)(t - replay__row(r, 0)), t->pub.serial};
}

/* If one of these waits again, another one of them holds the object. */
static void replay_queue__take_woken(struct replay_queue *q, const struct replay_row *t)
{
	for (uint32_t i = 0; i < q->nwoken; i++)
		if (q->woken[i].serial == t->pub.serial) {
			q->woken[i] = q->woken[--q->nwoken];
			if (q->nwoken)
				q->acquirer = q->woken[q->nwoken - 1];
			return;
		}
}

/* Objects that programs use as locks: a thread takes a token, and puts it back later. */
static bool replay_queue__is_token(const struct replay_queue *q)
{
	return q->pub.tag == QZ_TAG_PIPE || q->pub.tag == QZ_TAG_SEMAPHORES ||
	       q->pub.tag == QZ_TAG_EVENT;
}

#define TOKEN_LEAST 4 /* times that a token was put back */

/* If the threads that write are not those that read, there are no tokens that are put back. */
static bool replay_queue__is_lock(const struct replay_queue *q)
{
	return q->pub.tag == QZ_TAG_FUTEX || replay_queue__is_kernel_lock(q) ||
	       (q->given_back >= TOKEN_LEAST && 2 * q->given_back > q->pub.wakes);
}

/* The holder of what the thread begins to wait for, as far as the futex word tells. */
static uint32_t replay_queue__find_holder(const struct replay *r, const struct replay_queue *q,
					  const struct replay_row *t, uint64_t words)
{
	uint32_t word = QZ_LOG_WORD(words), owner = QZ_LOG_OWNER(words), self, i;

	self = (uint32_t)(t - replay__row(r, 0));
	if (q->pub.tag != QZ_TAG_FUTEX) {
		i = owner ? replay_row__find(r, owner) : REPLAY_NONE;
		if (i != REPLAY_NONE)
			return i != self ? i : REPLAY_NONE;
		owner = 0;
		word = LOCK_CONTENDED;
	}
	if (word == MUSL_CONTENDED) {
		word = LOCK_CONTENDED;
		owner = 0;
	}
	if (word & FUTEX_WAITERS_BIT && word != UINT32_MAX)
		owner = word & FUTEX_TID;
	i = owner ? replay_queue__named(r, t, owner) : REPLAY_NONE;
	if (i != REPLAY_NONE)
		return i != self ? i : REPLAY_NONE;
	if (owner && replay_row__find(r, owner) != REPLAY_NONE)
		return REPLAY_NONE; /* it belongs to another process */
	i = REPLAY_NONE;
	if (word == LOCK_CONTENDED)
		i = replay_ref__row(r, &q->acquirer);
	if (word == LOCK_TAKEN || i == self)
		i = replay_ref__row(r, &q->releaser);
	return i != self ? i : REPLAY_NONE;
}

/* ---- who had it meanwhile ---- */

void replay_queue__doubt(struct replay *r, const struct replay_row *t, uint32_t cpu,
			 const struct qz_log_record *sample)
{
	struct replay_queue *q = t->released < r->objects.n ? replay__queue(r, t->released) : NULL;
	uint32_t self = (uint32_t)(t - replay__row(r, 0));

	if (!r->options.calls.held || !q || !q->exists || q->ndoubts == QUEUE_DOUBTS ||
	    replay_ref__row(r, &q->releaser) != self)
		return;
	q->doubts[q->ndoubts++] = (struct replay_doubt) {cpu, *sample};
}

/* The thread that released it took it again, since the thread that was woken for it waits again. */
static void replay_queue__settle_doubts(struct replay *r, uint32_t object)
{
	const struct replay_calls *calls = &r->options.calls;
	struct replay_queue *q = replay__queue(r, object);

	for (uint32_t i = 0; i < q->ndoubts; i++)
		calls->held(calls->context, q->doubts[i].cpu, &q->doubts[i].sample, object);
	q->ndoubts = 0;
}

/* ---- queues ---- */

void replay_queue__join(struct replay *r, struct replay_row *t, uint64_t words)
{
	uint32_t i = t->stay.object, found;
	struct replay_queue *q = replay__queue(r, i);

	replay_queue__charge(r, q);
	found = q->pub.waiters++;
	q->pub.arrivals[found < REPLAY_LENGTHS ? found : REPLAY_LENGTHS - 1]++;
	q->refs++;
	t->stay.queued = true;
	if (!replay_queue__is_lock(q))
		return;
	if (q->pub.tag != QZ_TAG_FUTEX)
		replay_queue__take_woken(q, t);
	replay_queue__set_holder(r, i, replay_queue__find_holder(r, q, t, words));
	if (q->holder != REPLAY_NONE && q->holder == replay_ref__row(r, &q->releaser) &&
	    replay_ref__row(r, &q->acquirer) == (uint32_t)(t - replay__row(r, 0)))
		replay_queue__settle_doubts(r, i);
	q->ndoubts = 0;
}

bool replay_waker__wakes_words(const struct replay_waker *waker)
{
	return waker->by_call &&
	       (waker->cause == QZ_WAIT_FUTEX || waker->cause == QZ_WAIT_SYSCALL + SYS_futex ||
		waker->cause == QZ_WAIT_SYSCALL + SYS_exit);
}

/*
 * Whether this wake-up hands over what the thread waited for. Locks of the kernel are also released in page faults, which
 * are no system calls, and when processes end.
 */
static bool replay_queue__is_let_go(const struct replay_queue *q, const struct replay_waker *waker)
{
	if (!waker)
		return false;
	return replay_queue__is_kernel_lock(q) ||
	       (waker->by_call && replay_waker__wakes_words(waker) == (q->pub.tag == QZ_TAG_FUTEX));
}

/* A thread that reads from a full pipe wakes writers, which get room, not a token. */
static bool replay_waker__makes_room(const struct replay_waker *waker)
{
	return waker->cause == QZ_WAIT_SYSCALL + SYS_read ||
	       waker->cause == QZ_WAIT_SYSCALL + SYS_readv ||
	       waker->cause == QZ_WAIT_SYSCALL + SYS_splice;
}

void replay_queue__leave(struct replay *r, struct replay_row *t, const struct replay_waker *waker)
{
	uint32_t i = t->stay.object;
	struct replay_queue *q;

	if (!t->stay.queued)
		return;
	q = replay__queue(r, i);
	t->stay.queued = false;
	replay_queue__charge(r, q);
	q->pub.waiters--;
	if (!replay_queue__is_let_go(q, waker))
		return;
	q->pub.wakes++;
	if (replay_queue__is_token(q) && !replay_waker__makes_room(waker)) {
		q->given_back += waker->ref.serial && replay__row(r, waker->ref.row)->took == i;
		t->took = i;
	}
	if (!replay_queue__is_lock(q))
		return;
	if (q->pub.tag != QZ_TAG_FUTEX)
		replay_queue__add_woken(r, q, t, waker);
	q->acquirer = (struct replay_ref) {(uint32_t)(t - replay__row(r, 0)), t->pub.serial};
	q->releaser = waker->ref;
	q->ndoubts = 0;
	if (waker->ref.serial)
		replay__row(r, waker->ref.row)->released = i;
	replay_queue__set_holder(r, i, q->acquirer.row);
}

/* ---- the table ---- */

/* Found by its number, which processes may share; without a number, by its address. */
struct replay_queue_key {
	uint32_t scope, space;
	uint8_t tag;
	uint64_t address;
	uint32_t number;
};

static uint32_t replay_queue__hash(const struct replay_queue_key *k)
{
	uint32_t hash = qz_hash_table__hash_number(k->number, (uint64_t)k->scope << 32 | k->space);

	return k->number ? hash : qz_hash_table__hash_number(hash + k->tag, k->address);
}

static struct replay_queue_key replay_queue__key(const struct replay_queue *q)
{
	return (struct replay_queue_key) {q->pub.scope, q->space, q->pub.tag, q->pub.address,
					  q->pub.number};
}

static bool replay_queue__is(const void *context, uint32_t i, const void *key)
{
	const struct replay_queue *q = replay__queue(context, i);
	const struct replay_queue_key *k = key;

	return q->pub.scope == k->scope && q->pub.number == k->number &&
	       (k->number ||
		(q->pub.tag == k->tag && q->pub.address == k->address && q->space == k->space));
}

static uint32_t replay_queue__begin(struct replay *r, const struct replay_queue_key *key,
				    uint32_t process)
{
	bool fresh;
	uint32_t i = replay_rows__take(&r->objects, &r->free_objects,
				       offsetof(struct replay_queue, next), &fresh);
	struct replay_parallelism *s = replay__parallelism(r, key->scope);

	*replay__queue(r, i) = (struct replay_queue) {
		.pub = {.scope = key->scope,
			.process = process,
			.number = key->number,
			.tag = key->tag,
			.address = key->address},
		.exists = true,
		.space = key->space,
		.since = r->now,
		.holder = REPLAY_NONE,
		.before = REPLAY_NONE,
		.next = s->objects,
	};
	if (s->objects != REPLAY_NONE)
		replay__queue(r, s->objects)->before = i;
	s->objects = i;
	qz_hash_table__insert(&r->objects.index, replay_queue__hash(key), i);
	return i;
}

uint32_t replay_queue__find(struct replay *r, const struct replay_row *t,
			    const struct replay_place *place)
{
	struct replay_queue_key key = {
		.scope = t->pub.scope,
		.tag = place->tag,
		.address = place->address,
		.number = QZ_LOG_OBJECT(place->place),
	};
	uint32_t i = t->stay.object;

	if (!(key.number || (place->tag && place->address)) || t->pub.scope == REPLAY_NONE)
		return REPLAY_NONE;
	if (key.number)
		key.space = REPLAY_NONE;
	else if (place->tag == QZ_TAG_FUTEX)
		key.space = replay__process(r, t->process_row)->space;
	if (i < r->objects.n && replay__queue(r, i)->exists && replay_queue__is(r, i, &key))
		return i;
	i = qz_hash_table__find(&r->objects.index, replay_queue__hash(&key), replay_queue__is, r,
				&key);
	if (i == REPLAY_NONE)
		return replay_queue__begin(r, &key, t->pub.process);
	if (!replay__queue(r, i)
		     ->pub.tag) { /* a thread that was found waiting here had no SITE record */
		replay__queue(r, i)->pub.tag = key.tag;
		replay__queue(r, i)->pub.address = key.address;
	}
	return i;
}

/* ---- for the user ---- */

uint32_t replay__objects(const struct replay *r)
{
	return r->objects.n;
}

const struct replay_object *replay__object(const struct replay *r, uint32_t object)
{
	struct replay_queue *q;

	if (object >= r->objects.n || !replay__queue(r, object)->exists)
		return NULL;
	q = replay__queue(r, object);
	replay_queue__charge(r, q);
	q->pub.holder = q->pub.waiters && q->holder != REPLAY_NONE
				? replay__row(r, q->holder)->pub.serial
				: 0;
	return &q->pub;
}

bool replay__drop_object(struct replay *r, uint32_t object)
{
	struct replay_queue_key key;
	struct replay_queue *q;

	if (object >= r->objects.n)
		return false;
	q = replay__queue(r, object);
	if (!q->exists || q->refs)
		return false;
	replay_queue__set_holder(r, object, REPLAY_NONE);
	replay_grain__drop_object(r, object);
	if (q->next != REPLAY_NONE)
		replay__queue(r, q->next)->before = q->before;
	if (q->before != REPLAY_NONE)
		replay__queue(r, q->before)->next = q->next;
	else
		replay__parallelism(r, q->pub.scope)->objects = q->next;
	key = replay_queue__key(q);
	qz_hash_table__remove(&r->objects.index, replay_queue__hash(&key), object);
	q->exists = false;
	q->next = r->dropped_objects;
	r->dropped_objects = object;
	return true;
}

void replay_queue__drop_scope(struct replay *r, uint32_t scope)
{
	while (replay__parallelism(r, scope)->objects != REPLAY_NONE)
		replay__drop_object(r, replay__parallelism(r, scope)->objects);
}
