/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/tries/running.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/experiment/members.h"
#include "cli/experiment/programs.h"
#include "cli/experiment/trial.h"
#include "cli/knobs/knob_failure.h"
#include "cli/render/output.h"
#include "core/util/clock.h"
#include "core/util/vec.h"

#define SECOND		1000000000ull
#define STANDARD_TIME	SECOND
#define MOST_SETTLE	(SECOND / 2)
#define TICK		(SECOND / 10)
#define COMMAND_TICK	(SECOND / 2)
#define COMMAND_TURNS	50
#define COMMAND_TURN_US 20000
#define PATIENCE	(5 * SECOND)
#define HOLD		0.5 /* seconds for which it may do much worse, */
#define SOME		16  /* or as long as this many events take */

/* ---- which processes ---- */

static pid_t first_of(const struct running *r)
{
	return (pid_t)r->roots.items[0];
}

static bool has_ended(const struct running *r)
{
	struct pollfd ended = {.fd = r->process, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}

/* Only root may change processes of other users. */
static enum status check_owner(const struct running *r)
{
	char path[64];
	struct stat st;

	for (size_t i = 0; geteuid() && i < r->pids.n; i++) {
		snprintf(path, sizeof(path), "/proc/%d", (int)r->pids.items[i]);
		if (stat(path, &st) || st.st_uid == geteuid())
			continue;
		complain("process %d is somebody else's: only root may try something on it",
			 (int)r->pids.items[i]);
		return STATUS_NO_PRIVILEGE;
	}
	return STATUS_OK;
}

static enum status read_comm(struct running *r)
{
	char path[64], comm[17] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", first_of(r));
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	r->comm = output__escape(comm);
	return r->comm ? STATUS_OK : out_of_memory();
}

static enum status find_roots(struct running *r, const char *unit)
{
	if (unit)
		return members__find(unit, NULL, &r->roots);
	r->roots.items = malloc(sizeof(*r->roots.items));
	if (!r->roots.items)
		return out_of_memory();
	r->roots.items[r->roots.n++] = r->runs->config->pid;
	return STATUS_OK;
}

/* Leaves out processors that the processes may not use. */
static void limit_processors(struct running *r)
{
	struct processors *on = &r->runs->on;
	uint32_t kept = 0;

	for (uint32_t i = 0; r->before.n && i < on->n; i++)
		if (CPU_ISSET(on->order[i], &r->before.threads[0].set))
			on->order[kept++] = on->order[i];
	on->n = kept ? kept : on->n;
}

static enum status fail(pid_t pid, const char *what, int err)
{
	if (err == -ESRCH) {
		complain("process %d has ended", pid);
		return STATUS_FAILURE;
	}
	complain("process %d: %s: %s", pid, what, strerror(-err));
	return err == -EPERM || err == -EACCES ? STATUS_NO_PRIVILEGE : STATUS_FAILURE;
}

/* ---- a unit that was restarted ---- */

/* Opens what was open of the first process. False: the new one is not ready yet. */
static bool open_again(struct running *r, pid_t pid)
{
	struct knob_page page;
	int process = pidfd_open(pid, 0);

	if (process < 0)
		return false;
	if (r->has_page && knob_page__open(&page, pid)) {
		close(process);
		return false;
	}
	if (r->has_page) {
		knob_page__close(&r->page);
		r->page = page;
	}
	close(r->process);
	r->process = process;
	return true;
}

/* Finds the current processes of the unit. False: there are none yet. */
static bool find_again(struct running *r)
{
	struct qz_integers roots = {0};

	if (members__of_unit(r->unit, &roots) || !roots.n ||
	    !open_again(r, (pid_t)roots.items[0])) {
		free(roots.items);
		return false;
	}
	free(r->roots.items);
	r->roots = roots;
	return !has_ended(r);
}

/* Whether there are processes. Waits for a unit that is being restarted. */
static bool is_there(struct running *r)
{
	uint64_t until = qz_clock__now() + PATIENCE;

	while (has_ended(r)) {
		if (!r->unit)
			return false;
		r->restarted = find_again(r);
		if (!r->restarted && (qz_clock__now() > until || !trial__pass(TICK)))
			return false;
	}
	return true;
}

static enum run_outcome fail_to_find(struct running *r)
{
	if (r->unit && !trial__signal())
		complain("unit %s has ended", r->unit);
	else if (!trial__signal())
		complain("process %d has ended; where a --knob starts a service anew, --unit finds "
			 "it again",
			 first_of(r));
	return runs__end(r->runs);
}

enum status running__open(struct running *r, struct runs *runs, const char *unit)
{
	uint64_t duration = runs->config->duration;
	enum status status;
	pid_t pid = 0;
	int err;

	*r = (struct running) {.runs = runs,
			       .unit = unit,
			       .process = -1,
			       .duration_ns = duration ? duration : STANDARD_TIME};
	status = find_roots(r, unit);
	if (status != STATUS_OK)
		return status;
	r->process = pidfd_open(first_of(r), 0);
	if (r->process < 0) {
		complain("there is no process %d", first_of(r));
		return STATUS_FAILURE;
	}
	status = read_comm(r);
	if (status != STATUS_OK)
		return status;
	err = members__of_trees(&r->roots, &r->pids);
	if (err)
		return fail(first_of(r), "its children cannot be found", err);
	status = check_owner(r);
	if (status != STATUS_OK)
		return status;
	err = scheduling__keep(&r->before, &r->pids, &pid);
	if (err)
		return fail(pid, "how it is scheduled cannot be read", err);
	limit_processors(r);
	r->has_page = !knob_page__open(&r->page, first_of(r));
	return STATUS_OK;
}

/* ---- putting back ---- */

/* Runs a line as the user of the commands, and drops its output. */
static int run_line(const struct running *r, const char *line)
{
	volatile struct programs_mark *mark = r->state->mark.ended ? NULL : &r->state->mark;
	FILE *out;
	pid_t pid = programs__read(line, r->runs->user, mark, &out);
	char text[256];
	int status = pid;

	while (pid > 0 && fgets(text, sizeof(text), out))
		;
	if (pid > 0)
		status = programs__end(pid, out);
	if (mark)
		mark->line = 0;
	return status;
}

/*
 * Waits for a command that is still running, since it could change something after all was put
 * back.
 */
static void await_command(const struct running *r)
{
	pid_t pid = r->state ? __atomic_load_n(&r->state->mark.line, __ATOMIC_SEQ_CST) : 0;

	for (int i = 0; pid && i < COMMAND_TURNS && !kill(pid, 0); i++)
		usleep(COMMAND_TURN_US);
}

static void undo(struct running *r, const struct qz_remedy_use *use)
{
	const struct qz_knob *k;
	int err = 0;

	if (use->remedy->way != QZ_REMEDY_COMMAND && !is_there(r))
		return;
	switch (use->remedy->way) {
	case QZ_REMEDY_KNOB:
		k = knob_page__find(&r->page, use->knob);
		err = k ? knob_page__set(&r->page, k, k->value, PATIENCE) : 0;
		break;
	case QZ_REMEDY_COMMAND:
		err = run_line(r, use->undo) ? -EIO : 0;
		break;
	default:
		members__of_trees(&r->roots, &r->pids);
		scheduling__restore(&r->before, &r->pids);
	}
	if (err && err != -ESRCH)
		complain("process %d: %s could not be put back: %s", first_of(r), use->name,
			 err == -EIO ? use->undo : strerror(-err));
}

static bool is_among(const struct qz_remedy_use *use, const struct qz_remedy_use *const *uses,
		     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (uses[i] == use)
			return true;
	return false;
}

/* Puts back all changes but these. */
static void put_back(struct running *r, const struct qz_remedy_use *const *uses, uint32_t n)
{
	for (uint32_t i = 0; r->state && i < r->remedies->n; i++) {
		const struct qz_remedy_use *use = &r->remedies->uses[i];

		if (!r->state->changed[i] || is_among(use, uses, n))
			continue;
		undo(r, use);
		r->state->changed[i] = false;
	}
}

static void put_all_back(void *context)
{
	struct running *r = context;

	await_command(r);
	put_back(r, NULL, 0);
	if (r->by == RUNNING_EVENTS)
		knob_page__stop_counting(&r->page);
}

/* In the guard, for one that was killed. */
static void take_over(void *context)
{
	struct running *r = context;

	__atomic_store_n(&r->state->mark.ended, true, __ATOMIC_SEQ_CST);
	put_all_back(r);
}

enum status running__protect(struct running *r, const struct qz_remedies *remedies)
{
	void *shared = mmap(NULL, sizeof(*r->state), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err = shared == MAP_FAILED ? -errno : 0;

	r->remedies = remedies;
	if (!err) {
		r->state = shared;
		err = guard__start(&r->guard, take_over, r);
	}
	return err ? fail(first_of(r), "the process that would put all back cannot be started", err)
		   : STATUS_OK;
}

void running__close(struct running *r)
{
	if (!r->runs)
		return;
	put_all_back(r);
	guard__end(&r->guard);
	if (r->state)
		munmap((void *)r->state, sizeof(*r->state));
	if (r->has_page)
		knob_page__close(&r->page);
	sends__close(&r->sends);
	scheduling__free(&r->before);
	if (r->process >= 0)
		close(r->process);
	free(r->comm);
	free(r->roots.items);
	free(r->pids.items);
	*r = (struct running) {0};
}

/* ---- changing ---- */

static int change(struct running *r, const struct qz_remedy_use *use, pid_t *pid)
{
	const struct change to = {.way = use->remedy->way, .value = use->value};
	const struct qz_knob *k;

	switch (to.way) {
	case QZ_REMEDY_KNOB:
		k = knob_page__find(&r->page, use->knob);
		return k ? knob_page__set(&r->page, k, use->value, PATIENCE) : -ENOENT;
	case QZ_REMEDY_COMMAND:
		return run_line(r, use->change) ? -EIO : 0;
	default:
		return scheduling__change(&r->pids, &to, &r->runs->on, pid);
	}
}

/* Marks the change as made first: if this process is killed meanwhile, the guard puts it back. */
static int change_one(struct running *r, const struct qz_remedy_use *use, char why[RUNS_WHY])
{
	pid_t pid = first_of(r);
	int err;

	r->state->changed[use - r->remedies->uses] = true;
	err = change(r, use, &pid);
	if (err && err != -ESRCH)
		snprintf(why, RUNS_WHY, "process %d: %s", pid,
			 err == -EIO		      ? "its command fails"
			 : knob_failure__refusal(err) ? knob_failure__refusal(err)
						      : strerror(-err));
	return err;
}

/* Commands first: a process that one of them restarts would lose the other changes. */
static enum run_outcome change_all(struct running *r, const struct qz_remedy_use *const *uses,
				   uint32_t n, char why[RUNS_WHY])
{
	int err = 0;

	put_back(r, uses, n);
	for (int commands = 1; commands >= 0; commands--) {
		if (!is_there(r))
			return fail_to_find(r);
		err = err ? err : members__of_trees(&r->roots, &r->pids);
		for (uint32_t i = 0; !err && i < n; i++)
			if ((uses[i]->remedy->way == QZ_REMEDY_COMMAND) == commands)
				err = change_one(r, uses[i], why);
	}
	if (!is_there(r))
		return fail_to_find(r);
	return err && err != -ESRCH ? RUN_FAILED : RUN_DONE;
}

enum run_outcome running__keep(struct running *r, const struct qz_remedy_use *use,
			       char why[RUNS_WHY])
{
	enum run_outcome outcome = change_all(r, &use, 1, why);

	if (outcome == RUN_DONE)
		r->state->changed[use - r->remedies->uses] = false;
	return outcome;
}

/* ---- counting ---- */

struct count {
	double events, at; /* seconds */
};

struct counts {
	uint32_t n;
	struct count *counts;
};

const char *running__events_name(const struct running *r)
{
	static const char *const names[] = {
		[RUNNING_COMMAND] = "what --events counts",
		[RUNNING_EVENTS] = "events",
		[RUNNING_SENDS] = "bytes sent to clients",
	};

	return names[r->by];
}

const char *running__measure_name(const struct running *r)
{
	static const char *const names[] = {[RUNNING_COMMAND] = "command",
					    [RUNNING_EVENTS] = "events",
					    [RUNNING_SENDS] = "sends"};

	return names[r->by];
}

static int count_sends(struct running *r, struct count *c)
{
	uint64_t bytes = 0;
	int err = sends__count(&r->sends, &bytes);

	c->events = (double)bytes;
	return err;
}

/*
 * The count is modulo 2^32. If it has become smaller, quartzd was started or ended, and it began
 * again at 0.
 */
static int count_events(struct running *r, struct count *c)
{
	struct knob_count count = {0};
	int err = knob_page__count(&r->page, &count, (uint64_t)(HOLD * SECOND));
	int32_t more = (int32_t)(count.events - r->last_events);

	/* a stopped process does nothing, and that is what is counted */
	if (err && err != -ETIMEDOUT)
		return err;
	if (!err) {
		r->events += more > 0 ? (double)more : 0;
		r->last_events = count.events;
	}
	c->events = r->events;
	c->at = (double)(err ? qz_clock__now() : count.at) / SECOND;
	return 0;
}

static bool add_count(struct running *r, struct counts *counts)
{
	struct count c = {.at = (double)qz_clock__now() / SECOND};
	int err = 0;

	if (r->by == RUNNING_SENDS)
		err = count_sends(r, &c);
	else if (r->by == RUNNING_EVENTS)
		err = count_events(r, &c);
	else if (!programs__ask(r->runs->config->events, r->runs->user, &c.events))
		return false;
	if (!err)
		err = qz_array__reserve((void **)&counts->counts, counts->n, sizeof(c));
	if (err) {
		fail(first_of(r), "what it does cannot be counted", err);
		return false;
	}
	counts->counts[counts->n++] = c;
	return true;
}

/* ---- one measurement ---- */

static uint64_t settle_ns(const struct running *r)
{
	return r->duration_ns / 2 < MOST_SETTLE ? r->duration_ns / 2 : MOST_SETTLE;
}

uint64_t running__measure_ns(const struct running *r)
{
	return r->duration_ns + settle_ns(r);
}

static void between(const struct count *from, const struct count *to, struct running_figures *f)
{
	f->events = to->events - from->events;
	f->seconds = to->at - from->at;
}

/* Whether the processes did much less than usual for as long as that is allowed. */
static bool does_harm(const struct running *r, const struct counts *c, struct running_figures *f)
{
	const struct count *last = &c->counts[c->n - 1];
	double hold = r->usual > 0 && SOME / r->usual > HOLD ? SOME / r->usual : HOLD;
	uint32_t i = c->n - 1;

	while (i && last->at - c->counts[i].at < hold)
		i--;
	between(&c->counts[i], last, f);
	return f->seconds >= hold && f->events < RUNNING_WORST * r->usual * f->seconds;
}

/* Time between two counts: short enough to see harm soon. A command is run less often. */
static uint64_t tick_of(const struct running *r)
{
	uint64_t most = r->by == RUNNING_COMMAND ? COMMAND_TICK : TICK;

	return r->duration_ns / 4 < most ? r->duration_ns / 4 : most;
}

/*
 * Whether a restarted process works again. Counting may itself cause some events, so they must be
 * near the usual rate.
 */
static bool is_at_work(const struct running *r, const struct counts *c)
{
	struct running_figures f;

	if (c->n < 2)
		return false;
	between(&c->counts[c->n - 2], &c->counts[c->n - 1], &f);
	return f.events > 0 && f.events >= RUNNING_WORST * r->usual * f.seconds;
}

/* Waits for work of restarted processes: they have new sockets, and clients have to return. */
static bool await_work(struct running *r)
{
	uint64_t until = qz_clock__now() + PATIENCE;
	struct counts c = {0};
	bool counted = true;

	r->restarted = false;
	if (r->by == RUNNING_SENDS) {
		sends__close(&r->sends);
		while (sends__open(&r->sends, &r->pids) == -ENOENT && qz_clock__now() < until &&
		       trial__pass(TICK))
			;
	}
	while (counted && !is_at_work(r, &c) && qz_clock__now() < until)
		counted = add_count(r, &c) && trial__pass(TICK);
	free(c.counts);
	return counted;
}

/* Counts until the duration is over, or a change does harm. f: what was counted. */
static enum run_outcome count_for_a_while(struct running *r, bool is_changed, struct counts *c,
					  struct running_figures *f, char why[RUNS_WHY])
{
	uint64_t begin = qz_clock__now() + settle_ns(r);
	uint32_t from = 0;
	double cpu = 0;

	while (!from ||
	       c->counts[c->n - 1].at - c->counts[from].at < (double)r->duration_ns / SECOND) {
		bool begins = !from && qz_clock__now() >= begin;

		if (!add_count(r, c))
			return runs__end(r->runs);
		if (begins) {
			from = c->n - 1;
			cpu = members__cpu_seconds(&r->pids);
		}
		if (is_changed && does_harm(r, c, f)) {
			snprintf(why, RUNS_WHY,
				 "put back at once, since it did less than half as much");
			return RUN_SLOW;
		}
		if (!trial__pass(tick_of(r)))
			return runs__end(r->runs);
	}
	between(&c->counts[from], &c->counts[c->n - 1], f);
	f->cpu_seconds = members__cpu_seconds(&r->pids) - cpu;
	return RUN_DONE;
}

enum run_outcome running__measure(struct running *r, const struct qz_remedy_use *const *uses,
				  uint32_t n, struct running_figures *figures, char why[RUNS_WHY])
{
	struct counts counts = {0};
	enum run_outcome outcome;

	*figures = (struct running_figures) {0};
	if (trial__signal())
		return runs__end(r->runs);
	outcome = change_all(r, uses, n, why);
	if (outcome == RUN_DONE && r->restarted && !await_work(r))
		outcome = runs__end(r->runs);
	if (outcome == RUN_DONE)
		outcome = count_for_a_while(r, n, &counts, figures, why);
	if (outcome != RUN_DONE)
		put_back(r, NULL, 0);
	free(counts.counts);
	if (outcome == RUN_DONE && !n)
		r->usual = figures->events / figures->seconds;
	return outcome;
}

/* ---- what can be counted ---- */

static bool counts_something(struct running *r)
{
	struct running_figures figures;
	char why[RUNS_WHY];

	return running__measure(r, NULL, 0, &figures, why) == RUN_DONE && figures.events > 0;
}

enum status running__choose(struct running *r)
{
	r->by = RUNNING_COMMAND;
	if (r->runs->config->events && counts_something(r))
		return STATUS_OK;
	r->by = RUNNING_EVENTS;
	if (!r->runs->config->events && r->has_page && counts_something(r))
		return STATUS_OK;
	if (r->by == RUNNING_EVENTS && r->has_page)
		knob_page__stop_counting(&r->page);
	r->by = RUNNING_SENDS;
	if (!r->runs->config->events && !trial__signal() && !sends__open(&r->sends, &r->pids) &&
	    counts_something(r))
		return STATUS_OK;
	if (trial__signal())
		return (enum status)(128 + trial__signal());
	if (r->runs->config->events)
		complain("--events '%s': the number has not grown in %.1f s; is there a load?",
			 r->runs->config->events, (double)r->duration_ns / SECOND);
	else
		complain("process %d: what it does cannot be counted, since it reports no events "
			 "(quartz_event) and sends nothing to clients by TCP; is there a load? "
			 "--events 'COMMAND' can count",
			 first_of(r));
	return STATUS_FAILURE;
}
