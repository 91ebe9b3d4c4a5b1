/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time until woken (Quartz 1990, 3.2.5): when a wait ends, the part of it during which a processor was free is charged to
 * the code that the waker ran until then, from the beginning of the wait or from the waker's own last wake-up. Its samples
 * say which code that was.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/replay/state.h"

#define WINDOW_SAMPLES 32

struct window_sample {
	uint64_t time;
	uint32_t place;
};

/*
 * Samples of a thread since it was woken, evenly spaced: when the room is used up, every other sample is dropped, and from
 * then on only every other one is kept.
 */
struct replay_window {
	uint64_t began; /* when it was woken; 0: not known */
	uint32_t seen, shift, n;
	struct window_sample samples[WINDOW_SAMPLES];
};

/* NULL: memory was short; then its wake-ups count as those of no thread. */
static struct replay_window *window_of(struct replay_row *t)
{
	if (!t->window)
		t->window = calloc(1, sizeof(*t->window));
	return t->window;
}

void replay_window__begin(const struct replay *r, struct replay_row *t)
{
	struct replay_window *w = window_of(t);

	if (!w)
		return;
	w->began = r->now;
	w->seen = w->shift = w->n = 0;
}

void replay_window__sample(const struct replay *r, struct replay_row *t, uint32_t place)
{
	struct replay_window *w = window_of(t);

	if (!w || !place || w->seen++ & ((1u << (w->shift & 31)) - 1))
		return;
	if (w->n == WINDOW_SAMPLES) {
		for (uint32_t i = 0; i < WINDOW_SAMPLES / 2; i++)
			w->samples[i] = w->samples[2 * i];
		w->n = WINDOW_SAMPLES / 2;
		w->shift++;
	}
	w->samples[w->n++] = (struct window_sample) {r->now, place};
}

/*
 * Whether the waker does it on purpose, or an interrupt came while it ran. Not all kernels tell, so the system calls of both
 * threads decide: a program that wakes a thread is in a system call. An interrupt during a call that could do the same
 * is taken for the call.
 */
static bool is_on_purpose(const struct replay_row *t, const struct replay_waker *waker)
{
	if (!waker->ref.serial || !waker->by_call)
		return false;
	switch (t->stay.cause) {
	case QZ_WAIT_SLEEP:
	case QZ_WAIT_DISK:
	case QZ_WAIT_PAGE_FAULT:
		return false;
	case QZ_WAIT_FUTEX:
		return replay_waker__wakes_words(waker) ||
		       waker->cause == QZ_WAIT_SYSCALL + SYS_exit_group;
	}
	return true;
}

/* In equal parts to all samples; consecutive samples of one place are charged at once. */
static void share(struct replay *r, struct replay_wakeup *to, const struct replay_window *w,
		  uint64_t from, uint64_t ns)
{
	uint32_t first = 0, place = to->place, n;
	uint64_t part, sum;

	while (first < w->n && w->samples[first].time < from)
		first++;
	n = w->n - first;
	if (!n) {
		replay_wakeup__put(r, to, 1, ns);
		return;
	}
	part = ns / n;
	sum = ns - part * n;
	for (uint32_t i = first; i < w->n; i++) {
		sum += part;
		if (i + 1 < w->n && w->samples[i + 1].place == w->samples[i].place)
			continue;
		to->place = w->samples[i].place;
		replay_wakeup__put(r, to, 0, sum);
		sum = 0;
	}
	to->place = place;
	replay_wakeup__put(r, to, 1, 0);
}

void replay_window__charge(struct replay *r, const struct replay_row *t,
			   const struct replay_waker *waker, struct replay_wakeup *to,
			   uint64_t free_ns)
{
	struct replay_row *by = waker->ref.serial ? replay__row(r, waker->ref.row) : NULL;
	uint64_t from = t->stay.began, ns;
	struct replay_parallelism *s;

	if (t->pub.scope == REPLAY_NONE)
		return;
	s = replay__parallelism(r, t->pub.scope);
	if (!by || by->pub.scope != t->pub.scope || !is_on_purpose(t, waker) || !window_of(by)) {
		by = NULL;
		to->waker = to->number = to->place = 0;
	} else if (by->window->began > from) {
		from = by->window->began;
	}
	if (s->pub.began > from)
		from = s->pub.began;
	ns = r->now - from < free_ns ? r->now - from : free_ns;
	s->pub.woken_ns += ns;
	if (by && ns)
		share(r, to, by->window, from, ns);
	else
		replay_wakeup__put(r, to, 1, ns);
}
