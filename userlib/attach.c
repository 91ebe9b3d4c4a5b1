// SPDX-License-Identifier: LGPL-2.1-only
/* How a thread gets a page set and a slot, and what happens to them when it ends or forks. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "userlib/library.h"

#define same(field)                                                                                \
	_Static_assert(offsetof(struct quartz_slot_, field) == offsetof(struct qz_slot, field),    \
		       "quartz.h and page.h differ")
same(depth);
same(overflows);
same(wait);
same(task);
same(event);
same(pushes);
same(held);
same(stack);
_Static_assert(sizeof(struct quartz_call_) == sizeof(struct qz_call) &&
		       offsetof(struct quartz_call_, count) == offsetof(struct qz_call, count) &&
		       QUARTZ_CALLS_ == QZ_THREAD_CALLS,
	       "quartz.h and page.h differ");
_Static_assert(QUARTZ_STACK_ == QZ_SLOT_STACK, "quartz.h and page.h differ");

hidden struct library library;
hidden __thread struct thread_state thread_state;

/* For threads without a slot: a late quartz_leave writes here. */
static struct qz_slot no_slot;

exported __thread struct quartz_thread_ quartz_thread_ = {
	.slot = (struct quartz_slot_ *)&no_slot,
	.index = QZ_SLOTS,
};

static pthread_key_t thread_end;

/*
 * One thread at a time asks quartzd. Other threads wait for it, because their call would be lost
 * otherwise. The wait is short: that thread has its signals blocked, and its time is limited.
 */
static bool become_busy(void)
{
	struct timespec pause = {.tv_nsec = 50000};
	long waited = 0, patience = client__patience_ms() * 1000000l;

	while (exchange(&library.busy, 1)) {
		if (waited > patience)
			return false;
		nanosleep(&pause, NULL);
		waited += pause.tv_nsec;
		if (pause.tv_nsec < 10000000)
			pause.tv_nsec *= 2;
	}
	return true;
}

/* ---- page sets ---- */

static void close_all(const int *fds, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
}

/*
 * Requests the segments of slots that are in use, from the second on. Returns how many there are.
 */
static uint32_t ask_segments(int *fds, uint32_t wanted)
{
	struct client_answer answer;
	uint32_t n = 1;

	while (n < wanted && !client__ask(QZ_PAGE_MORE, n, &answer))
		fds[n++] = answer.fds[0];
	return n;
}

static void fill_header(uint32_t segments)
{
	struct qz_page_header *header = &library.tables->header;

	header->pid = library.pid;
	header->flags = library.flags;
	store(&header->segments, segments);
}

/* Replaces the page set by one from the socket. Returns its generation and its number of segments. */
static int replace_set(uint32_t *generation, uint32_t *segments)
{
	struct client_answer answer;
	int fds[QZ_SEGMENTS];
	int err = client__ask(QZ_PAGE_OPEN, 0, &answer);

	if (err)
		return err;
	fds[0] = answer.fds[1];
	*generation = answer.generation;
	*segments = ask_segments(fds, library.segments);
	err = memory__replace(answer.fds[0], fds, *segments);
	close(answer.fds[0]);
	close_all(fds, *segments);
	return err;
}

/* The present page set will do, with slots that no other process reads. */
static int use_private_set(void)
{
	if (!library.segments)
		library.segments = 1;
	fill_header(library.segments);
	store(&library.generation, QZ_PAGE_LOCAL);
	return 0;
}

static int open_set(uint32_t generation)
{
	uint32_t segments = QZ_SEGMENTS;
	int err;

	if (!memory__reserve())
		return -ENOMEM;
	if (generation == QZ_PAGE_LOCAL)
		return use_private_set();
	err = replace_set(&generation, &segments);
	if (err)
		return err;
	library.segments = segments;
	fill_header(segments);
	calibrate__run(generation);
	store(&library.generation, generation);
	return 0;
}

static void connect_set(uint32_t generation)
{
	if (!become_busy())
		return;
	if (library.generation != generation && library.tried != generation &&
	    (open_set(generation) || library.generation != generation))
		store(&library.tried, generation);
	store(&library.busy, 0);
}

/* `seen` segments were full. Another thread may have added one meanwhile. */
static bool add_segment(uint32_t seen)
{
	struct client_answer answer;
	bool done = false;

	if (!become_busy())
		return false;
	if (library.segments > seen) {
		store(&library.busy, 0);
		return true;
	}
	if (library.segments < QZ_SEGMENTS && library.generation == QZ_PAGE_LOCAL) {
		done = true;
	} else if (library.segments < QZ_SEGMENTS &&
		   !client__ask(QZ_PAGE_MORE, library.segments, &answer)) {
		done = !memory__add_segment(answer.fds[0]);
		close(answer.fds[0]);
	}
	if (done)
		store(&library.tables->header.segments, ++library.segments);
	store(&library.busy, 0);
	return done;
}

/* ---- slots ---- */

/* Claims a free slot. Returns its index, or QZ_SLOTS. */
static uint32_t take_slot(void)
{
	for (uint32_t segment = 0; segment < load(&library.segments); segment++) {
		uint64_t used = load(&library.used[segment]);

		while (~used) {
			uint32_t bit = __builtin_ctzll(~used);

			if (replace(&library.used[segment], &used, used | 1ull << bit))
				return segment * QZ_SEGMENT_SLOTS + bit;
		}
	}
	return QZ_SLOTS;
}

static void raise_to(uint32_t *highest, uint32_t value)
{
	uint32_t now = load(highest);

	while (now < value && !replace(highest, &now, value))
		;
}

static void fill_slot(uint32_t index)
{
	struct qz_slot *slot = &library.slots[index];

	memcpy(slot->name, thread_state.name, sizeof(slot->name));
	slot->claims++;
	library.shadows[index][0] = (struct shadow) {.frame = UINT64_MAX};
	raise_to(&library.tables->header.slots_used, index + 1);
	store(&slot->tid, gettid());
}

static bool claim(uint32_t generation)
{
	uint32_t index, segments;

	do {
		segments = load(&library.segments);
		index = take_slot();
	} while (index == QZ_SLOTS && add_segment(segments));
	if (index == QZ_SLOTS) {
		add(&library.tables->header.slots_refused, 1);
		thread_state.refused = generation;
		return false;
	}
	fill_slot(index);
	quartz_thread_.slot = (struct quartz_slot_ *)&library.slots[index];
	quartz_thread_.calls = (struct quartz_call_ *)library.tables->thread_calls[index];
	quartz_thread_.index = index;
	thread_state.hooks = (struct hooks) {
		.slot = quartz_thread_.slot,
		.shadow = library.shadows[index],
		.calls = library.tables->thread_calls[index],
		.symbols = library.tables->symbols,
	};
	pthread_setspecific(thread_end, &library);
	return true;
}

static bool attach(uint32_t generation)
{
	/*
	 * In a child of vfork or clone, which has not run our fork handlers, the page set is the
	 * parent's.
	 */
	if (getpid() != library.pid)
		return false;
	if (load(&library.generation) != generation)
		connect_set(generation);
	if (load(&library.generation) != generation)
		return false;
	if (quartz_thread_.index == QZ_SLOTS && !claim(generation))
		return false;
	if (quartz_thread_.index >= library.segments * QZ_SEGMENT_SLOTS) {
		thread_state.refused = generation;
		return false;
	}
	quartz_thread_.slot->wait = 0;
	quartz_thread_.generation = generation;
	thread_state.hooks.generation = generation;
	return true;
}

/* Blocks signals and cancellation, because a handler could jump away and leave `busy` set. */
static bool attach_undisturbed(uint32_t generation)
{
	int saved = errno, cancel;
	sigset_t all, mask;
	bool done;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	done = attach(generation);
	pthread_setcancelstate(cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = saved;
	return done;
}

exported struct quartz_slot_ *quartz_attach_(uint32_t generation)
{
	generation = client__called(generation);
	if (!generation)
		return NULL;
	if (load(&library.tried) == generation || thread_state.refused == generation ||
	    thread_state.ended)
		return NULL;
	return attach_undisturbed(generation) ? quartz_thread_.slot : NULL;
}

static void release_slot(void *unused)
{
	uint32_t index = quartz_thread_.index;
	struct qz_slot *slot = &library.slots[index];

	thread_state.ended = true;
	thread_state.hooks.generation = 0;
	quartz_thread_ = (struct quartz_thread_) {
		.slot = (struct quartz_slot_ *)&no_slot,
		.index = QZ_SLOTS,
	};
	slot->depth = 0;
	slot->wait = 0;
	slot->task = 0;
	slot->held = 0;
	store(&slot->tid, 0);
	__atomic_fetch_and(&library.used[index / QZ_SEGMENT_SLOTS],
			   ~(1ull << index % QZ_SEGMENT_SLOTS), __ATOMIC_RELEASE);
}

uint32_t attach__events(void)
{
	uint32_t n = load(&library.segments) * QZ_SEGMENT_SLOTS, sum = 0;

	for (uint32_t i = 0; i < n && i < load(&library.tables->header.slots_used); i++)
		sum += QZ_EVENT_NUMBER(load(&library.slots[i].event));
	return sum;
}

exported void quartz_thread_name(const char *name)
{
	struct quartz_slot_ *slot;
	char *copy = thread_state.name;

	strncpy(copy, name ? name : "", QZ_THREAD_NAME_LENGTH - 1);
	client__find_flag();
	slot = quartz_slot_();
	if (slot)
		memcpy(library.slots[quartz_thread_.index].name, copy, QZ_THREAD_NAME_LENGTH);
}

/* ---- processes ---- */

exported void quartz_connect(void)
{
	int saved = errno;

	client__find_flag();
	quartz_slot_();
	errno = saved;
}

/*
 * A copy of the slot of the thread that forks. Until the child has private memory, the parent keeps
 * writing where the child would read. `forker` excludes forks of other threads meanwhile.
 */
static struct qz_slot forking;
static uint32_t forker;

static void before_fork(void)
{
	const uint32_t self = (uint32_t)gettid();
	uint32_t nobody_forks = 0;

	if (load(&forker) == self)
		return;
	while (!__atomic_compare_exchange_n(&forker, &nobody_forks, self, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		nobody_forks = 0;
		sched_yield();
	}
	if (quartz_thread_.index < QZ_SLOTS)
		forking = library.slots[quartz_thread_.index];
}

static void parent_after_fork(void)
{
	store(&forker, 0);
}

/* The child has only this thread. Others may have been anywhere, so their state is reset. */
static void child_after_fork(void)
{
	uint32_t index = quartz_thread_.index;
	int saved = errno;

	knobs__forget();
	client__forked();
	library.pid = getpid();
	library.busy = library.moving = library.interning = 0;
	library.generation = library.tried = 0;
	thread_state.refused = 0;
	quartz_thread_.generation = 0;
	thread_state.hooks.generation = 0;
	if (library.tables) {
		memory__make_private(index, &forking);
		memset(library.used, 0, sizeof(library.used));
		library.segments = index < QZ_SLOTS ? index / QZ_SEGMENT_SLOTS + 1 : 0;
		library.tables->header.slots_used = index < QZ_SLOTS ? index + 1 : 0;
	}
	if (index < QZ_SLOTS) {
		library.used[index / QZ_SEGMENT_SLOTS] = 1ull << index % QZ_SEGMENT_SLOTS;
		library.slots[index].tid = gettid();
	}
	store(&forker, 0);
	errno = saved;
}

__attribute__((constructor)) static void start(void)
{
	int saved = errno;

	library.pid = getpid();
	pthread_key_create(&thread_end, release_slot);
	pthread_atfork(before_fork, parent_after_fork, child_after_fork);
	client__find_flag();
	client__wait();
	errno = saved;
}
