/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare [-n STOPS] [-m MILLISECONDS] [-r FILE [-a]] [-v] NAME COMMAND...
 *
 * Stops the threads of a program at random and unwinds them twice: with the unwinder of Quartz and
 * with libdw's. Prints one line: what came of it. -r records stops for the unit tests, one of
 * each different stack, on which both agree, or with -a all that are whole; -v shows where they do not. Traces its own child only.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <elfutils/libdwfl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "tests/unwind/process.h"
#include "tests/unwind/recording.h"

#define FRAMES_MAX   4096
#define RECORDED_MAX 24
#define RESTARTS_MAX 10000

enum outcome {
	EQUAL,
	LONGER,	 /* libdw stops earlier, and agrees so far */
	SHORTER, /* the other way round */
	DIFFERENT,
	OUTCOMES,
};

/* What libdw says. */
struct reference {
	uint64_t frames[FRAMES_MAX];
	bool exact[FRAMES_MAX]; /* no return address: the signal frame, or what it interrupted */
	uint32_t n;
	bool complete;
};

struct results {
	uint64_t stops, frames, complete, reference_complete, guessed;
	uint64_t outcomes[OUTCOMES], ends[QZ_UNWIND_ENDS];
};

struct comparison {
	struct process process;
	Dwfl *dwfl;
	bool verbose;
	bool record_all;
	struct results results;
	struct recording recording;
	uint64_t seen[RECORDED_MAX]; /* hashes of what was recorded */
	uint8_t *touched;	     /* by row */
	uint32_t ntouched;
	const char *record;
};

/* ---- libdw ---- */

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **path)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

static int add_frame(Dwfl_Frame *state, void *arg)
{
	struct reference *r = arg;

	if (r->n == FRAMES_MAX || !dwfl_frame_pc(state, &r->frames[r->n], &r->exact[r->n]))
		return DWARF_CB_ABORT;
	r->n++;
	return DWARF_CB_OK;
}

static void refer(struct comparison *c, pid_t tid, struct reference *r)
{
	r->n = 0;
	r->complete = dwfl_getthread_frames(c->dwfl, tid, add_frame, r) == 0;
}

static void report_modules(struct comparison *c)
{
	if (!c->dwfl) {
		c->dwfl = dwfl_begin(&callbacks);
		dwfl_linux_proc_report(c->dwfl, c->process.pid);
		dwfl_report_end(c->dwfl, NULL, NULL);
		if (dwfl_linux_proc_attach(c->dwfl, c->process.pid, true))
			errx(1, "libdw: %s", dwfl_errmsg(-1));
		return;
	}
	dwfl_report_begin(c->dwfl);
	dwfl_linux_proc_report(c->dwfl, c->process.pid);
	dwfl_report_end(c->dwfl, NULL, NULL);
}

/* ---- recording ---- */

struct tracer {
	struct process *process;
	struct recording_stop *stop;
};

/* Keeps whole blocks of what is read; an unreadable one is not kept. */
static bool read_and_keep(void *arg, uint64_t address, void *to, size_t size)
{
	const struct tracer *t = arg;
	struct recording_stop *stop = t->stop;
	uint64_t first = address / RECORDING_BLOCK * RECORDING_BLOCK;

	for (uint64_t at = first; at < address + size; at += RECORDING_BLOCK) {
		struct recording_block block = {.address = at}, *more;
		bool known = false;

		for (uint32_t i = 0; i < stop->nblocks; i++)
			known |= stop->blocks[i].address == at;
		if (known || !process__read_memory(t->process, at, block.bytes, RECORDING_BLOCK))
			continue;
		more = reallocarray(stop->blocks, stop->nblocks + 1, sizeof(*more));
		if (!more)
			err(1, "recording");
		stop->blocks = more;
		stop->blocks[stop->nblocks++] = block;
	}
	return process__read_memory(t->process, address, to, size);
}

static uint64_t hash(const struct unwinder_stack *stack)
{
	uint64_t h = stack->depth;

	for (uint32_t i = 0; i < stack->nframes; i++)
		h = (h ^ stack->frames[i]) * 0x9e3779b97f4a7c15;
	return h;
}

static bool is_new(const struct comparison *c, uint64_t h)
{
	for (uint32_t i = 0; i < c->recording.nstops; i++)
		if (c->seen[i] == h)
			return false;
	return true;
}

static void record(struct comparison *c, struct unwinder w, const struct unwinder_start *start,
		   const struct unwinder_stack *stack)
{
	struct recording_stop *stop = &c->recording.stops[c->recording.nstops];
	struct tracer tracer = {&c->process, stop};
	uint64_t h = hash(stack);

	if (c->recording.nstops == RECORDED_MAX || !is_new(c, h))
		return;
	if (c->ntouched < c->process.nrows) {
		c->touched = realloc(c->touched, c->process.nrows);
		if (!c->touched)
			err(1, "recording");
		memset(c->touched + c->ntouched, 0, c->process.nrows - c->ntouched);
		c->ntouched = c->process.nrows;
	}
	w.touched = c->touched;
	w.read = read_and_keep;
	w.arg = &tracer;
	stop->start = *start;
	unwinder__walk(&w, start, &stop->stack);
	c->seen[c->recording.nstops++] = h;
}

/*
 * Only rows that were read are kept. Those of one region stay in their order, and a search
 * among them ends where it ended among all: at two neighbours that it had both read.
 */
static void write_recording(struct comparison *c)
{
	struct recording *r = &c->recording;
	const struct process *p = &c->process;
	uint32_t *moved = calloc(p->nrows + 1UL, sizeof(*moved));

	r->regions = p->regions;
	r->nregions = p->nregions;
	r->rows = calloc(p->nrows + 1UL, sizeof(*r->rows));
	if (!moved || !r->rows)
		err(1, "recording");
	for (uint32_t i = 0; i < p->nrows; i++) {
		moved[i] = r->nrows;
		if (i < c->ntouched && c->touched[i])
			r->rows[r->nrows++] = p->rows[i];
	}
	moved[p->nrows] = r->nrows;
	for (uint32_t i = 0; i < r->nregions; i++) {
		struct qz_unwind_region *region = &r->regions[i];
		uint32_t end = moved[region->first + region->count];

		if (!region->count)
			continue;
		region->first = moved[region->first];
		region->count = end - region->first;
		/* One whose rows were never read still has a table. */
		if (!region->count) {
			region->first = r->nrows;
			region->count = 1;
		}
	}
	if (recording__write(r, c->record))
		errx(1, "%s cannot be written", c->record);
	free(moved);
	c->process.regions = NULL; /* freed with the recording */
	recording__free(r);
}

/* ---- comparing ---- */

/* The unwinder adds 1 to the address that a signal interrupted, so that it looks like the others. */
static bool frame_equal(uint64_t frame, const struct reference *r, uint32_t i)
{
	return frame == r->frames[i] || (r->exact[i] && i > 0 && frame == r->frames[i] + 1);
}

/* Of a deep stack the outer frames are compared only where libdw has it to the same depth. */
static bool frames_equal(const struct unwinder_stack *s, const struct reference *r, uint32_t n)
{
	uint32_t dropped = s->depth - s->nframes;

	for (uint32_t i = 0; i < s->nframes && i < n; i++) {
		uint32_t at = dropped && i >= QZ_INNER_FRAMES ? i + dropped : i;

		if (dropped && i >= QZ_INNER_FRAMES && n != s->depth)
			break;
		if (!frame_equal(s->frames[i], r, at))
			return false;
	}
	return true;
}

static enum outcome compare(const struct unwinder_stack *s, const struct reference *r)
{
	uint32_t n = s->depth < r->n ? s->depth : r->n;

	if (!frames_equal(s, r, n))
		return DIFFERENT;
	if (s->depth == r->n)
		return EQUAL;
	return s->depth > r->n ? LONGER : SHORTER;
}

static void explain(const struct comparison *c, const struct unwinder_start *start,
		    const struct unwinder_stack *s, const struct reference *r)
{
	static const char *const names[] = QZ_UNWIND_END_NAMES;

	printf("ip %lx sp %lx bp %lx: %s\n", start->ip, start->sp, start->bp, names[s->end]);
	for (uint32_t i = 0; i < 40 && (i < s->nframes || i < r->n); i++)
		printf("  %16lx %16lx\n", i < s->nframes ? s->frames[i] : 0,
		       i < r->n ? r->frames[i] : 0);
}

static bool makes_a_thread(uint64_t call)
{
	return call == 56 || call == 57 || call == 58 || call == 435;
}

/* The thread is stopped. */
static void examine(struct comparison *c, pid_t tid)
{
	static struct reference reference;
	struct unwinder_start start;
	struct unwinder_stack stack;
	struct user_regs_struct regs;
	struct unwinder w;
	enum outcome outcome;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return;
	if (process__refresh(&c->process) > 0 || !c->dwfl)
		report_modules(c);
	start = (struct unwinder_start) {
		.ip = regs.rip,
		.sp = regs.rsp,
		.bp = regs.rbp,
		.at_clone = makes_a_thread(regs.orig_rax),
		.thread_pointer = regs.fs_base,
	};
	w = (struct unwinder) {
		.regions = c->process.regions,
		.nregions = c->process.nregions,
		.rows = c->process.rows,
		.nrows = c->process.nrows,
		.read = process__read_memory,
		.arg = &c->process,
		.registers = (const uint64_t *)&regs, /* as in struct pt_regs */
	};
	unwinder__walk(&w, &start, &stack);
	refer(c, tid, &reference);
	outcome = compare(&stack, &reference);
	c->results.stops++;
	c->results.frames += stack.depth;
	c->results.outcomes[outcome]++;
	c->results.ends[stack.end]++;
	c->results.complete += stack.end == QZ_UNWIND_OUTERMOST;
	c->results.reference_complete += reference.complete;
	c->results.guessed += stack.guessed > 0;
	if (c->verbose && (outcome != EQUAL || stack.end != QZ_UNWIND_OUTERMOST))
		explain(c, &start, &stack, &reference);
	if (c->record && (c->record_all || outcome == EQUAL) && stack.end == QZ_UNWIND_OUTERMOST)
		record(c, w, &start, &stack);
}

/* ---- tracing ---- */

static bool stopped_for_us(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

/* Lets a thread go on from whatever it stopped for; its signals reach it. */
static void let_go(pid_t tid, int status)
{
	long number = WIFSTOPPED(status) && status >> 16 == 0 ? WSTOPSIG(status) : 0;

	ptrace(PTRACE_CONT, tid, NULL, number);
}

static pid_t random_thread(pid_t pid)
{
	struct dirent *entry;
	pid_t chosen = 0;
	char path[64];
	long n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0 && random() % ++n == 0)
			chosen = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	return chosen;
}

/* Serves events until the thread stops as it was asked to. false: the process has ended. */
static bool wait_for(pid_t pid, pid_t tid)
{
	int status;

	for (;;) {
		pid_t who = waitpid(-1, &status, __WALL);

		if (who < 0)
			return false;
		if (!WIFSTOPPED(status)) {
			if (who == pid)
				return false;
			if (who == tid)
				return true; /* gone: nothing will be read of it */
			continue;
		}
		if (who == tid && stopped_for_us(status))
			return true;
		let_go(who, status);
	}
}

static pid_t start(char **command, bool quiet)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (quiet && !freopen("/dev/null", "w", stdout))
			_exit(127);
		raise(SIGSTOP);
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid ||
	    ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		err(1, "%s", command[0]);
	kill(pid, SIGCONT);
	do {
		if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			errx(1, "%s cannot be run", command[0]);
		if (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			let_go(pid, status);
	} while (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8));
	ptrace(PTRACE_CONT, pid, NULL, 0);
	return pid;
}

static void forget(struct comparison *c)
{
	dwfl_end(c->dwfl);
	c->dwfl = NULL;
	process__free(&c->process);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
}

/* One life of the program, up to the number of stops; true when it is still running then. */
static void live(struct comparison *c, char **command, uint64_t stops, long pause_us)
{
	pid_t pid = start(command, !c->verbose);

	process__init(&c->process, pid);
	while (c->results.stops < stops) {
		struct timespec pause = {0, 1000 * (1 + random() % pause_us)};
		pid_t tid;

		nanosleep(&pause, NULL);
		tid = random_thread(pid);
		if (!tid || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) {
			/* It has ended, or is not yet ours. */
			int status;
			pid_t who = waitpid(-1, &status, __WALL | WNOHANG);

			if (who == pid && !WIFSTOPPED(status))
				break;
			if (who < 0)
				break;
			if (who > 0 && WIFSTOPPED(status))
				let_go(who, status);
			continue;
		}
		if (!wait_for(pid, tid))
			break;
		examine(c, tid);
		ptrace(PTRACE_CONT, tid, NULL, 0);
	}
	end(pid);
}

static void print(const struct comparison *c, const char *name)
{
	static const char *const names[] = QZ_UNWIND_END_NAMES;
	const struct results *r = &c->results;
	double percent = r->stops ? 100.0 / (double)r->stops : 0;

	printf("%-18s %6lu %6.1f %6.2f %6.2f %6.2f %6.2f %7.2f %6.2f %6.2f ", name, r->stops,
	       r->stops ? (double)r->frames / (double)r->stops : 0, percent * (double)r->complete,
	       percent * (double)r->reference_complete, percent * (double)r->outcomes[EQUAL],
	       percent * (double)r->outcomes[LONGER], percent * (double)r->outcomes[SHORTER],
	       percent * (double)r->outcomes[DIFFERENT], percent * (double)r->guessed);
	for (int i = 1; i < QZ_UNWIND_ENDS; i++)
		if (r->ends[i])
			printf(" %s %lu", names[i], r->ends[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct comparison c = {0};
	unsigned long wanted = 2000;
	long pause_us = 3000;
	int option;

	while ((option = getopt(argc, argv, "+n:m:r:av")) != -1) {
		switch (option) {
		case 'n':
			wanted = strtoul(optarg, NULL, 10);
			break;
		case 'm':
			pause_us = 1000 * strtol(optarg, NULL, 10);
			break;
		case 'r':
			c.record = optarg;
			break;
		case 'a':
			c.record_all = true;
			break;
		case 'v':
			c.verbose = true;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind < 2 || pause_us <= 0)
		errx(2, "compare [-n STOPS] [-m MILLISECONDS] [-r FILE [-a]] [-v] NAME COMMAND...");
	c.recording.stops = calloc(RECORDED_MAX, sizeof(*c.recording.stops));
	if (!c.recording.stops)
		err(1, "recording");
	/* Tables of one life do not fit another one's addresses: a recording is of one. */
	for (int i = 0; i < (c.record ? 1 : RESTARTS_MAX) && c.results.stops < wanted; i++) {
		if (i > 0)
			forget(&c);
		live(&c, argv + optind + 1, wanted, pause_us);
	}
	print(&c, argv[optind]);
	if (c.record)
		write_recording(&c);
	forget(&c);
	return 0;
}
