// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/estimate.h"
#include "core/governor.h"
#include "core/pprof.h"
#include "core/summary.h"
#include "daemon/collector.h"
#include "daemon/command.h"
#include "daemon/costs.h"
#include "daemon/history.h"
#include "daemon/kallsyms.h"
#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/opener.h"
#include "daemon/page_server.h"
#include "daemon/paths.h"
#include "daemon/privileges.h"
#include "daemon/publisher.h"
#include "daemon/reserve.h"
#include "daemon/server.h"
#include "daemon/session.h"
#include "daemon/snapshot.h"
#include "daemon/spin_symbols.h"
#include "daemon/target.h"
#include "daemon/text.h"
#include "quartz/device.h"

#define TICK_MS	       100
#define HURRY_MS       5
#define HOTPLUG_PERIOD 1000000000ull
#define GOVERN_PERIOD  1000000000ull
#define TEXT_PERIOD    2000000000ull
#define FORWARD_GRACE  2000000000ull /* for a command to end after a SIGTERM that was passed on */
#define PROGRAM_SCOPES 64
/* Descriptors: two per processor, one or two per module, clients. */
#define WANTED_FILES 65536

struct session {
	const struct config *config;
	struct host *host;
	cpu_set_t allowed;
	int nreserved, reserved[MAX_RESERVED];
	struct engine *engine;
	struct sampler *sampler;
	struct collector *collector;
	struct device device;
	struct pages *pages;
	struct page_server *page_server;
	struct event_log *events;
	struct poller *poller;
	char page_directory[96]; /* a private one, else "" */
	struct history *history; /* NULL: none is saved */
	uint64_t slice_due;
	struct text *text;
	struct instants *instants;   /* NULL: not asked for */
	struct publisher *publisher; /* NULL without quartz.ko */
	struct spin_rules spin_rules;
	struct command command;
	struct target first; /* names the snapshot */
	bool keeper_lost;
	int signals;
	int signal;	   /* the last one that asked to stop, 0: none */
	uint64_t deadline; /* 0: none */
	uint64_t hotplug_due, text_due, govern_due, started;
	struct qz_governor governor; /* ceiling 0: there is none */
	uint64_t interrupt_ns;
	uint64_t daemon_before; /* costs of earlier sessions */
	char path[PATH_MAX];
};

/* ---- setting up ---- */

static int status_of(int err)
{
	if (err == -EPERM || err == -EACCES)
		return STATUS_PRIVILEGE;
	return err == -ENOSYS || err == -EOPNOTSUPP ? STATUS_UNSUPPORTED : STATUS_FAILURE;
}

static int fail(int err, const char *line)
{
	log_error("%s", line);
	return status_of(err);
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_max < WANTED_FILES)
		limit.rlim_max = WANTED_FILES;
	limit.rlim_cur = WANTED_FILES;
	if (!setrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Looks at all targets before anything is touched. */
static int look_at_targets(struct session *s)
{
	const struct qz_integers *lists[] = {&s->config->pids, &s->config->trees};
	char error[256];
	struct target t;

	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->n; i++) {
			int err = target__look(&t, lists[l]->items[i], error, sizeof(error));

			if (err)
				return fail(err, error);
			if (!s->first.pid)
				s->first = t;
		}
	if (s->config->command) {
		const char *name = strrchr(s->config->command[0], '/');

		snprintf(s->first.comm, sizeof(s->first.comm), "%s",
			 name ? name + 1 : s->config->command[0]);
	} else if (s->config->system) {
		snprintf(s->first.comm, sizeof(s->first.comm), "system");
	}
	return 0;
}

static int watch_signals(struct session *s)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	if (s->config->system)
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signals < 0 ? -errno : 0;
}

static int open_to_others(struct session *s)
{
	struct host *host = s->host;
	int holder = 0, err;
	char line[512];

	if (!host->server)
		host->server = server__new(paths__runtime(), host->calls, host, &holder);
	if (!host->server) {
		if (errno == EBUSY)
			snprintf(line, sizeof(line),
				 "another quartzd runs as process %d; stop it, "
				 "or use --private",
				 holder);
		else
			snprintf(line, sizeof(line), "%s: %s; it must be root's own directory",
				 paths__runtime(), strerror(errno));
		return fail(-EBUSY, line);
	}
	s->text = text__new(s->engine, line, sizeof(line));
	if (!s->text)
		log_warning("%s", line);
	err = device__open(&s->device);
	if (err && err != -ENOENT)
		log_warning(QZ_DEVICE_PATH ": %s; nothing is shown under /sys/kernel/quartz",
			    strerror(-err));
	s->publisher = err ? NULL : publisher__new(&s->device);
	return 0;
}

/*
 * Without it, programs are measured as if they were not instrumented: no reason to fail. A command
 * finds its quartzd by the environment.
 */
static void open_to_programs(struct session *s)
{
	const char *directory = paths__runtime();
	int err = 0;

	if (s->config->private && !s->config->command)
		return;
	if (s->config->private) {
		err = page_server__private_directory(directory, s->page_directory,
						     sizeof(s->page_directory));
		directory = s->page_directory;
	}
	s->pages = err ? NULL : pages__new();
	if (s->pages)
		s->page_server = page_server__new(directory, s->engine, s->pages, &s->device);
	if (!s->page_server || collector__use_pages(s->collector, s->pages))
		log_warning("%s: %s; what programs say of themselves by libquartz is not read",
			    directory, strerror(err ? -err : errno));
	else if (s->config->command)
		setenv("QUARTZ_RUNTIME_DIR", directory, true);
}

/*
 * The pollers need processors that the programs do not use: one that competes with them runs when
 * they do not. Who asks for a rate has it anyway.
 */
static int start_poller(struct session *s)
{
	struct poller_options options = {.ncpus = s->nreserved,
					 .rate = config__page_rate(s->config),
					 .busy = s->config->busy};

	if (!s->page_server || (!s->nreserved && !s->config->page_rate && !s->config->busy))
		return 0;
	if (!s->nreserved)
		log_warning(
			"--page-rate, --busy: no processor is reserved (--cpu); what is seen of "
			"instrumented programs is biased where processors are scarce");
	for (int i = 0; i < s->nreserved; i++)
		options.cpus[i] = s->reserved[i];
	s->events = event_log__new(s->path, s->nreserved ? s->nreserved : 1);
	s->poller = s->events ? poller__new(&options, s->engine, s->pages, s->events) : NULL;
	if (!s->poller || collector__use_poller(s->collector, s->poller))
		return fail(-ENOMEM, "cannot start a thread that polls");
	return 0;
}

static int open_instants(struct session *s)
{
	uint32_t rate = s->config->snapshots;
	char line[160];

	if (!rate)
		return 0;
	s->instants = instants__new(rate, s->engine);
	if (!s->instants) {
		snprintf(line, sizeof(line), "--snapshots: " QZ_DEVICE_PATH ": %s%s",
			 strerror(errno),
			 errno == ENOENT ? "; load the module quartz.ko (modprobe quartz)" : "");
		return fail(errno == ENOENT ? -EOPNOTSUPP : -errno, line);
	}
	return collector__use_instants(s->collector, s->instants, rate)
		       ? fail(-ENOMEM, "out of memory")
		       : 0;
}

static int load(struct session *s)
{
	struct engine_options options = {
		.max_scopes = s->config->system ? config__processes(s->config) + QZ_OWN_SCOPES
						: PROGRAM_SCOPES,
		.woken = s->config->woken,
		.every_process = s->config->system,
	};
	struct symbolizer_options symbolizer = {
		.lines = s->config->lines || s->config->inlines,
		.inlines = s->config->inlines,
	};
	int err;

	s->sampler = sampler__new();
	if (!s->sampler)
		return fail(-ENOMEM, "out of memory");
	options.sampled_by_timer = sampler__by_timer(s->sampler);
	s->engine = engine__new(&options);
	if (!s->engine)
		return fail(-ENOMEM, "out of memory");
	err = engine__load(s->engine);
	if (err)
		return fail(err, engine__error(s->engine));
	s->collector = collector__new(s->engine, s->sampler, &symbolizer, &s->spin_rules);
	if (!s->collector)
		return fail(-ENOMEM, "out of memory");
	err = open_instants(s);
	if (err)
		return err;
	if (!s->config->private && open_to_others(s))
		return STATUS_FAILURE;
	open_to_programs(s);
	err = engine__attach(s->engine);
	return err ? fail(err, engine__error(s->engine)) : 0;
}

static int describe_run(struct session *s)
{
	struct qz_profile *p = collector__profile(s->collector);
	struct utsname host;
	struct timespec ts;
	int err = 0;

	uname(&host);
	clock_gettime(CLOCK_REALTIME, &ts);
	err = err ?: qz_profile__set_string(&p->quartz_version, QUARTZ_VERSION);
	err = err ?: qz_profile__set_string(&p->kernel, host.release);
	err = err ?: qz_profile__set_string(&p->machine, host.nodename);
	err = err ?: qz_profile__set_string(&p->event, sampler__event(s->sampler));
	p->rate_hz = config__rate(s->config);
	p->ceiling_ppm = config__max_overhead(s->config);
	p->wakes_sampled = !s->config->woken;
	p->processors = s->config->command ? (uint32_t)CPU_COUNT(&s->allowed)
					   : sampler__online(s->sampler);
	p->wall_start_ns = (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	return err;
}

static int open_scope(struct session *s, enum qz_scope_kind kind, const struct target *t)
{
	int scope = engine__open_scope(s->engine, t->pid, kind != QZ_SCOPE_PROCESS);

	if (scope < 0)
		return fail(scope, engine__error(s->engine));
	if (collector__add_scope(s->collector, scope, kind, t->pid, t->comm, t->command))
		return fail(-ENOMEM, "out of memory");
	return 0;
}

static int open_targets(struct session *s, const struct qz_integers *pids, enum qz_scope_kind kind)
{
	char error[256];
	struct target t;
	int err;

	for (size_t i = 0; i < pids->n; i++) {
		err = target__look(&t, pids->items[i], error, sizeof(error));
		if (err)
			return fail(err, error);
		err = open_scope(s, kind, &t);
		if (err)
			return err;
	}
	return 0;
}

/* The command line with blanks between the words, cut where it is too long. */
static void join(char *to, size_t size, char *const *words)
{
	size_t n = 0;

	to[0] = '\0';
	for (; *words && n < size; words++)
		n += snprintf(to + n, size - n, "%s%s", n ? " " : "", *words);
}

static int open_command(struct session *s)
{
	int err =
		command__prepare(&s->command, s->config->command, s->config->preload, &s->allowed);

	if (err) {
		log_error("cannot make a process for %s: %s", s->config->command[0],
			  strerror(-err));
		return STATUS_FAILURE;
	}
	s->first.pid = s->command.pid;
	join(s->first.command, sizeof(s->first.command), s->config->command);
	return open_scope(s, QZ_SCOPE_JOB, &s->first);
}

/*
 * The process that waits has quartzd's own libraries mapped: with its report taken in before it
 * starts, the tables of the loader and the C library are there from the first instruction. Those of the
 * program are made, too.
 */
static int start_command(struct session *s)
{
	char path[PATH_MAX];
	int fd = command__open(s->config->command, path), err;

	collector__prepare(s->collector, fd, path);
	usleep(2 * HURRY_MS * 1000);
	err = collector__tick(s->collector);
	if (err)
		return fail(err, "cannot take in the waiting process");
	engine__restart_scope(s->engine, 0);
	err = command__start(&s->command);
	if (!err)
		return 0;
	log_error("%s: %s", s->config->command[0],
		  err == -ENOENT ? "no such command in PATH" : strerror(-err));
	return err == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/*
 * On a busy machine, what is taken in late is lost: stacks have no tables yet. For the threads and children
 * that are started from here on, which does not include the command. The service stays out of the way.
 */
static void take_precedence(const struct session *s)
{
	if (!s->config->system && nice(-10) == -1)
		return; /* then it is as busy as others */
}

static void start_governor(struct session *s)
{
	uint32_t ceiling = config__max_overhead(s->config);

	if (!ceiling)
		return;
	qz_governor__init(&s->governor, ceiling, config__rate(s->config));
	s->interrupt_ns = costs__of_interrupt();
	s->daemon_before = collector__costs(s->collector, 0).daemon_ns;
}

/* The command is there, and has all; and no thread is there that would keep what is given up. */
static int give_up_privileges(const struct session *s)
{
	const struct privileges_needs needs = {
		.signals = s->config->command,
		.priority = s->nreserved,
		.writing = s->config->output,
	};
	int err;

	kallsyms__open();
	err = privileges__give_up(&needs);
	return err ? fail(err, "cannot give up privileges") : 0;
}

static void before_fold(void *context);
static void after_fold(void *context);

/* Once all that is there already has been found. */
static int start_history(struct session *s)
{
	const struct config *c = s->config;
	char line[PATH_MAX];

	if (!c->system || c->private || !c->history)
		return 0;
	s->history = history__new(c->history, (uint64_t)c->history_size << 20);
	if (!s->history) {
		snprintf(line, sizeof(line), "%s/history: %s; it must be root's own directory",
			 paths__state(), strerror(errno));
		return fail(-errno, line);
	}
	s->slice_due = s->started + c->slice;
	collector__on_fold(s->collector, before_fold, after_fold, s);
	return 0;
}

static int start(struct session *s)
{
	int err = sampler__start(s->sampler, engine__processors(s->engine),
				 engine__sampler_fd(s->engine), config__rate(s->config));

	if (err)
		return fail(err, sampler__error(s->sampler));
	if (describe_run(s))
		return fail(-ENOMEM, "out of memory");
	err = open_targets(s, &s->config->pids, QZ_SCOPE_PROCESS);
	err = err ?: open_targets(s, &s->config->trees, QZ_SCOPE_TREE);
	if (!err && s->config->command)
		err = open_command(s);
	if (!err && s->config->system &&
	    (collector__add_own_scopes(s->collector) ||
	     collector__keep_ended(s->collector, (uint64_t)s->config->ended_memory << 20)))
		err = fail(-ENOMEM, "out of memory");
	if (err)
		return err;
	take_precedence(s);
	err = give_up_privileges(s);
	if (!err && s->instants && instants__start(s->instants))
		err = fail(-ENOMEM, "cannot start a thread that takes snapshots");
	if (err)
		return err;
	if (collector__start(s->collector))
		return fail(-ENOMEM, "cannot start a thread");
	err = engine__adopt(s->engine);
	if (err)
		return fail(err, engine__error(s->engine));
	err = start_poller(s);
	if (err)
		return err;
	if (s->page_server && page_server__start(s->page_server))
		return fail(-ENOMEM, "cannot start a thread");
	start_governor(s);
	s->started = engine__now();
	err = start_history(s);
	if (err)
		return err;
	if (s->config->duration)
		s->deadline = s->started + s->config->duration;
	return s->config->command ? start_command(s) : 0;
}

/* ---- running ---- */

static struct qz_costs own_costs(const struct session *s)
{
	struct qz_costs costs = collector__costs(s->collector, s->interrupt_ns);

	costs.daemon_ns -= s->daemon_before;
	return costs;
}

/* All that is counted, and all exact times. */
static int refresh(struct session *s, uint64_t until, bool live)
{
	struct qz_profile *p = collector__profile(s->collector);

	p->live = live;
	p->window_ns = until - s->started;
	if (s->governor.ceiling_ppm)
		p->costs = own_costs(s);
	return collector__refresh(s->collector, until);
}

/* The estimates, too. */
static int bring_up_to_date(struct session *s, uint64_t until, bool live)
{
	return refresh(s, until, live) ?: qz_profile__estimate(collector__profile(s->collector));
}

static int write_summary(struct session *s, int fd, const struct server_wanted *wanted)
{
	const struct qz_profile *p = collector__profile(s->collector);
	struct qz_summary what = {.procedures = wanted->detail == SERVER_PROCEDURES,
				  .whole = QZ_NONE};
	struct qz_profile *summary;
	int err;

	if (wanted->since_ns > p->wall_start_ns) /* else it is of an earlier run */
		what.since_ns = s->started + (wanted->since_ns - p->wall_start_ns);
	if (wanted->whole)
		what.whole = qz_profile__find_scope(p, wanted->pid, wanted->start_ns);
	summary = qz_profile__summary(p, &what);
	err = summary ? qz_profile__estimate(summary) : -errno;
	err = err ?: qz_pprof__write(summary, fd);
	qz_profile__free(summary);
	return err;
}

int session__snapshot(struct session *s, int fd, const struct server_wanted *wanted)
{
	uint64_t now = engine__now();
	int err;

	if (wanted->detail == SERVER_STACKS) {
		err = bring_up_to_date(s, now, true);
		return err ?: qz_pprof__write(collector__profile(s->collector), fd);
	}
	err = refresh(s, now, true);
	return err ?: write_summary(s, fd, wanted);
}

json_t *session__status(struct session *s)
{
	const struct qz_profile *p = collector__profile(s->collector);
	const struct qz_control *control = engine__control(s->engine);
	uint32_t own = s->config->system ? QZ_OWN_SCOPES : 0;
	struct opener_counts openers = opener__counts();

	return json_pack(
		"{s:s, s:i, s:i, s:i, s:i, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}",
		"state", "running", "rate_hz", (int)p->rate_hz, "rate_halvings", (int)p->halvings,
		"overhead_ppm", (int)s->governor.costs_ppm, "max_overhead_ppm",
		(int)s->governor.ceiling_ppm, "event", sampler__event(s->sampler), "processors",
		(int)p->processors, "window_ns", (json_int_t)(engine__now() - s->started),
		"processes", (json_int_t)(p->nscopes - own), "samples",
		(json_int_t)collector__samples(s->collector), "lost",
		(json_int_t)qz_ledger__lost(&p->ledger), "scopes_refused",
		(json_int_t)control->scopes_refused, "openers_late", (json_int_t)openers.late,
		"openers_ended", (json_int_t)openers.ended, "snapshot", s->path);
}

static void take_signal(struct session *s, int number)
{
	if (number == SIGCHLD)
		return;
	if (number == SIGHUP) {
		host__reload(s->host);
		return;
	}
	s->host->wish = WISH_STOP;
	/*
	 * An interrupt from the terminal reaches the command, too: its end ends the run. Whoever
	 * repeats it does not want to wait for that.
	 */
	if (s->config->command && number == SIGINT && !s->signal && !command__ended(&s->command)) {
		s->signal = number;
		return;
	}
	if (s->config->command && number == SIGTERM && !command__ended(&s->command)) {
		kill(s->command.pid, SIGTERM);
		s->deadline = engine__now() + FORWARD_GRACE;
	} else {
		s->deadline = engine__now();
	}
	s->signal = number;
}

static void take_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		take_signal(s, info.ssi_signo);
}

static void follow_hotplug(struct session *s)
{
	int *came = calloc(engine__processors(s->engine), sizeof(*came));
	int n = came ? sampler__follow_hotplug(s->sampler, came) : 0;

	for (int i = 0; i < n; i++)
		engine__mark_processor(s->engine, came[i]);
	for (uint32_t cpu = 0; cpu < engine__processors(s->engine); cpu++)
		if (!sampler__samples(s->sampler, cpu))
			engine__forget_idle(s->engine, cpu);
	free(came);
}

static void govern(struct session *s, uint64_t now)
{
	struct qz_governor *g = &s->governor;
	struct qz_costs costs;

	if (!g->ceiling_ppm || now < s->govern_due)
		return;
	s->govern_due = now + GOVERN_PERIOD;
	costs = own_costs(s);
	if (!qz_governor__look(g, now, sampler__online(s->sampler), &costs))
		return;
	collector__set_halvings(s->collector, g->halvings);
	log_info("Quartz took %.2f%% of the processors, of %.2f%% that it may; sampling at %.4g Hz",
		 g->costs_ppm / 1e4, g->ceiling_ppm / 1e4,
		 (double)config__rate(s->config) / (1u << g->halvings));
}

static void show(struct session *s, uint64_t now)
{
	const struct qz_profile *p = collector__profile(s->collector);

	if (bring_up_to_date(s, now, true))
		return;
	if (s->text)
		text__show(s->text, p);
	if (s->publisher)
		publisher__show(s->publisher, p);
}

/* Without room on the disk the next slice has all. */
static void cut_slice(struct session *s, uint64_t until, bool live)
{
	int err = refresh(s, until, live);

	err = err ?: history__cut(s->history, collector__profile(s->collector));
	if (err)
		log_warning("%s: %s; a slice is missing there", history__directory(s->history),
			    strerror(-err));
}

static void before_fold(void *context)
{
	struct session *s = context;

	cut_slice(s, engine__now(), true);
}

static void after_fold(void *context)
{
	struct session *s = context;
	int err = s->poller ? refresh(s, engine__now(), true) : 0;

	err = err ?: history__told(s->history, collector__profile(s->collector));
	if (err)
		log_warning("%s: %s; slices from now on are wrong", history__directory(s->history),
			    strerror(-err));
}

static void do_periodic(struct session *s, uint64_t now)
{
	if (s->history && now >= s->slice_due) {
		cut_slice(s, now, true);
		s->slice_due = now + s->config->slice;
	}
	govern(s, now);
	if (now >= s->hotplug_due) {
		follow_hotplug(s);
		s->hotplug_due = now + HOTPLUG_PERIOD;
	}
	if ((s->text || s->publisher) && now >= s->text_due) {
		show(s, now);
		s->text_due = now + TEXT_PERIOD;
	}
	if (s->host->server && !s->config->private)
		server__run(s->host->server);
	host__alive(s->host, now);
	if (s->events)
		event_log__write(s->events);
}

static bool is_over(struct session *s, uint64_t now)
{
	if (s->deadline && now >= s->deadline)
		return true;
	if (s->host->wish == WISH_PAUSE || s->host->wish == WISH_RELOAD)
		return true;
	if (s->config->system)
		return false;
	return collector__ended(s->collector) &&
	       (!s->config->command || command__ended(&s->command));
}

/* Without it nothing new has a name. */
static void watch_keeper(struct session *s, short revents)
{
	if (!revents || s->keeper_lost)
		return;
	log_error("the process that keeps quartzd's privileges has ended; quartzd ends, too");
	s->keeper_lost = true;
	s->host->wish = WISH_STOP;
	s->deadline = engine__now();
}

static int run(struct session *s)
{
	struct pollfd fds[] = {
		{.fd = s->signals, .events = POLLIN},
		{.fd = collector__event_fd(s->collector), .events = POLLIN},
		{.fd = s->host->server && !s->config->private ? server__fd(s->host->server) : -1,
		 .events = POLLIN},
		{.fd = opener__keeper()},
	};
	uint64_t now = engine__now();
	int err = 0;

	s->hotplug_due = now + HOTPLUG_PERIOD;
	s->text_due = now + TEXT_PERIOD;
	while (!err && !is_over(s, now)) {
		poll(fds, sizeof(fds) / sizeof(fds[0]),
		     collector__hurries(s->collector) ? HURRY_MS : TICK_MS);
		take_signals(s);
		watch_keeper(s, fds[3].revents);
		err = collector__tick(s->collector);
		now = engine__now();
		do_periodic(s, now);
	}
	return err;
}

/* ---- finishing ---- */

static void say_saved(struct session *s, const char *saved, uint64_t samples)
{
	if (!s->config->quiet)
		log_info("%llu samples in %.1f s, saved to %s", (unsigned long long)samples,
			 collector__profile(s->collector)->window_ns / 1e9, saved);
}

static void finish_events(struct session *s)
{
	uint64_t written, dropped;
	int err;

	if (!s->events)
		return;
	err = event_log__finish(s->events, &written, &dropped);
	if (err)
		log_error("%s" QZ_EVENTS_SUFFIX ": %s; events are lost", s->path, strerror(-err));
	else if (written && !s->config->quiet)
		log_info("%llu events, saved to %s" QZ_EVENTS_SUFFIX, (unsigned long long)written,
			 s->path);
	if (dropped)
		log_warning("%llu events found no room", (unsigned long long)dropped);
}

static int save(struct session *s)
{
	const struct qz_profile *p = collector__profile(s->collector);
	char saved[PATH_MAX];
	int err = snapshot__save(p, s->path, saved, sizeof(saved));

	if (err) {
		log_error("%s: %s; %s%s", s->path, strerror(-err),
			  saved[0] ? "saved instead to " : "what was sampled is lost", saved);
		return STATUS_FAILURE;
	}
	say_saved(s, saved, collector__samples(s->collector));
	return 0;
}

static int finish(struct session *s)
{
	uint64_t until;
	int err;

	sampler__stop(s->sampler);
	if (s->instants)
		instants__stop(s->instants);
	if (s->poller)
		poller__stop(s->poller);
	err = collector__freeze(s->collector, &until);
	engine__detach(s->engine);
	err = err ?: collector__finish(s->collector);
	err = err ?: bring_up_to_date(s, until, false);
	if (err)
		log_error("the last samples could not be read: %s", strerror(-err));
	if (s->history && !err)
		cut_slice(s, until, false);
	finish_events(s);
	err = save(s);
	if (err)
		return err;
	if (s->config->command)
		return command__ended(&s->command) ? command__exit_status(&s->command)
						   : 128 + s->signal;
	return collector__samples(s->collector) ? 0 : STATUS_NO_SAMPLES;
}

static void announce(const struct session *s)
{
	const struct qz_integers *lists[] = {&s->config->pids, &s->config->trees};
	size_t n = lists[0]->n + lists[1]->n;

	if (s->config->quiet || s->config->command)
		return;
	if (s->config->system)
		log_info("attached to every process, sampling at %u Hz (%s)",
			 config__rate(s->config), sampler__event(s->sampler));
	else if (n == 1)
		log_info("attached to process %d (%s), sampling at %u Hz (%s)", s->first.pid,
			 s->first.comm, config__rate(s->config), sampler__event(s->sampler));
	else
		log_info("attached to %zu targets, sampling at %u Hz (%s)", n,
			 config__rate(s->config), sampler__event(s->sampler));
}

static void close_session(struct session *s)
{
	publisher__free(s->publisher);
	text__free(s->text);
	page_server__free(s->page_server);
	if (s->page_directory[0])
		page_server__remove_directory(s->page_directory);
	command__free(&s->command);
	if (s->poller)
		poller__stop(s->poller);
	collector__free(s->collector);
	history__free(s->history);
	instants__free(s->instants);
	poller__free(s->poller);
	event_log__free(s->events);
	pages__free(s->pages);
	sampler__free(s->sampler);
	engine__free(s->engine);
	device__close(&s->device);
	spin_rules__free(&s->spin_rules);
	if (s->signals >= 0)
		close(s->signals);
}

static int prepare(struct session *s)
{
	const struct config *c = s->config;
	char error[512];
	int err;

	if (geteuid())
		return fail(-EPERM, "only root can attach BPF programs; run it with sudo");
	raise_file_limit();
	err = spin_symbols__load(&s->spin_rules, &c->spin_symbols, error, sizeof(error));
	if (err) {
		log_error("%s", error);
		return err == -ENOMEM ? STATUS_FAILURE : STATUS_USAGE;
	}
	err = look_at_targets(s);
	if (err)
		return err;
	s->nreserved = reserve__processors(c->cpu, &s->allowed, s->reserved, error, sizeof(error));
	if (s->nreserved < 0) {
		log_error("%s", error);
		return STATUS_USAGE;
	}
	err = snapshot__choose(c->output, s->first.comm, s->first.pid, s->path, sizeof(s->path));
	if (err) {
		log_error("%s: cannot be written: %s; choose another with --output", s->path,
			  strerror(-err));
		return STATUS_FAILURE;
	}
	return watch_signals(s) ? fail(-EMFILE, "cannot watch signals") : 0;
}

int session__run(const struct config *config, struct host *host)
{
	struct session s = {.config = config, .host = host, .signals = -1, .device.fd = -1};
	int err = prepare(&s);

	err = err ?: load(&s);
	err = err ?: start(&s);
	if (!err) {
		announce(&s);
		host->session = &s;
		notify__send("READY=1\nSTATUS=measuring at %u Hz", config__rate(config));
		err = run(&s);
		host->session = NULL;
		if (err)
			log_error("sampling failed: %s", strerror(-err));
		err = finish(&s);
		if (s.keeper_lost)
			err = STATUS_FAILURE;
	}
	close_session(&s);
	return err;
}
