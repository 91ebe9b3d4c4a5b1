// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "daemon/costs.h"
#include "daemon/kallsyms.h"
#include "daemon/log.h"
#include "daemon/paths.h"
#include "daemon/privileges.h"
#include "daemon/session_state.h"
#include "daemon/snapshot.h"
#include "quartz/device.h"

#define PROGRAM_SCOPES 64
#define TAKING_IN_MS   10 /* until a process that waits is reported */
/* Descriptors: two per processor, one or two per module, clients. */
#define WANTED_FILES 65536

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

int session__load(struct session *s)
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
	s->interrupt_ns = costs__of_interrupt();
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
	usleep(TAKING_IN_MS * 1000);
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

int session__start(struct session *s)
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
	err = session__start_history(s);
	if (err)
		return status_of(err);
	if (s->config->duration)
		s->deadline = s->started + s->config->duration;
	return s->config->command ? start_command(s) : 0;
}

int session__prepare(struct session *s)
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
