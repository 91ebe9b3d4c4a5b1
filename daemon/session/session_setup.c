// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "core/util/save_file.h"
#include "daemon/kernel/bpf_scopes.h"
#include "daemon/collect/loss_accounting.h"
#include "daemon/collect/self_overhead.h"
#include "daemon/symbolizer/table_cache.h"
#include "daemon/util/limits.h"
#include "daemon/util/log.h"
#include "daemon/target/pid_namespace.h"
#include "daemon/target/time_namespace.h"
#include "daemon/util/paths.h"
#include "daemon/privsep/capabilities.h"
#include "daemon/session/session_state.h"
#include "quartz/candidates.h"
#include "quartz/device.h"

#define PROGRAM_SCOPES 64
#define DELAY_TICK_MS  100
#define TAKING_IN      10000000ull /* ns until a process that waits is reported */

static int status_of(int err)
{
	if (err == -EPERM || err == -EACCES)
		return STATUS_NO_PRIVILEGE;
	return err == -ENOSYS || err == -EOPNOTSUPP ? STATUS_UNSUPPORTED : STATUS_FAILURE;
}

static int fail(int err, const char *line)
{
	char whole[1024];

	snprintf(whole, sizeof(whole), "%s", line);
	limits__explain(err, whole, sizeof(whole));
	log_error("%s", whole);
	return status_of(err);
}

/* Of what only memory or descriptors can be short for. */
static int fail_short(int err)
{
	return fail(err, err == -ENOMEM ? "out of memory" : strerror(-err));
}

/* Checks all targets before anything is touched. */
static int check_targets(struct session *s)
{
	const struct qz_integers *lists[] = {&s->options->pids, &s->options->trees};
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
	if (s->options->command) {
		const char *name = strrchr(s->options->command[0], '/');

		snprintf(s->first.comm, sizeof(s->first.comm), "%s",
			 name ? name + 1 : s->options->command[0]);
	} else if (s->options->system) {
		snprintf(s->first.comm, sizeof(s->first.comm), "system");
	}
	return 0;
}

bool session__reloads(const struct session *s)
{
	return s->options->system && !s->options->private;
}

void session__add_ends(sigset_t *set)
{
	/* what would end a process, but for faults and SIGKILL */
	static const int ends[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				   SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM};
	struct sigaction hangup;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(set, ends[i]);
	/* nohup was asked not to let it end */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler == SIG_IGN)
		sigdelset(set, SIGHUP);
}

static int watch_signals(struct session *s)
{
	sigset_t set;

	sigemptyset(&set);
	session__add_ends(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signals < 0 ? -errno : 0;
}

/* Before anything is measured, nothing need be saved, and no command is let go. */
static int stop_asked(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP && session__reloads(s))
			host__reload(s->host);
		else if (info.ssi_signo != SIGCHLD)
			s->signal = (int)info.ssi_signo;
	}
	if (!s->signal)
		return 0;
	if (s->signal != SIGINT && s->command.started && !command__ended(&s->command))
		kill(s->command.pid, s->signal);
	s->host->pending = ACTION_STOP;
	log_info("stopped before anything was measured; nothing is saved");
	return s->options->command ? 128 + s->signal : STATUS_NO_SAMPLES;
}

static int open_to_others(struct session *s)
{
	struct host *host = s->host;
	int holder = 0, err;
	char line[512];

	if (!host->socket)
		host->socket = control_socket__new(paths__runtime(), host->calls, host, &holder);
	if (!host->socket) {
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
	s->text = bpffs_tables__new(s->bpf, line, sizeof(line));
	if (!s->text)
		log_warning("%s", line);
	/* the module gives and takes the kernel's own pids */
	err = s->pid_namespace ? -ENOENT : module_device__open(&s->device);
	if (err && err != -ENOENT)
		log_warning(QZ_DEVICE_PATH ": %s; nothing is shown under /sys/kernel/quartz",
			    strerror(-err));
	s->publisher = err ? NULL : sysfs_publish__new(&s->device);
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

	if (s->options->private && !s->options->command)
		return;
	if (s->options->private) {
		err = shm_server__private_directory(directory, s->page_directory,
						    sizeof(s->page_directory));
		directory = s->page_directory;
	}
	s->sets = err ? NULL : shm_sets__new();
	if (s->sets)
		s->page_server = shm_server__new(directory, s->bpf, s->sets);
	err = err ?: (s->page_server ? collector__use_pages(s->collector, s->sets) : -errno);
	if (err)
		log_warning("%s: %s; what programs say of themselves by libquartz is not read",
			    directory, strerror(-err));
	else if (s->options->command)
		setenv("QUARTZ_RUNTIME_DIR", directory, true);
}

/*
 * The pollers need processors that the programs do not use: a poller that competes with them runs when
 * they do not. With --page-rate they run anyway.
 */
static int start_poller(struct session *s)
{
	struct shm_sampler_options options = {.ncpus = s->nreserved,
					      .rate = options__page_rate(s->options),
					      .busy = s->options->busy};
	int err;

	if (!s->page_server || (!s->nreserved && !s->options->page_rate && !s->options->busy))
		return 0;
	if (!s->nreserved)
		log_warning(
			"--page-rate, --busy: no processor is reserved (--cpu); what is seen of "
			"instrumented programs is biased where processors are scarce");
	for (int i = 0; i < s->nreserved; i++)
		options.cpus[i] = s->reserved[i];
	s->events = event_log__new(&s->snapshot, s->nreserved ? s->nreserved : 1);
	s->poller = s->events ? shm_sampler__new(&options, s->bpf, s->sets, s->events) : NULL;
	err = s->poller ? collector__use_poller(s->collector, s->poller) : -errno;
	return err ? fail(err, "cannot start a thread that polls") : 0;
}

static int open_instants(struct session *s)
{
	uint32_t rate = s->options->snapshots;
	char line[160];

	if (!rate)
		return 0;
	/* the module serves the initial pid namespace only */
	s->module_rounds = s->pid_namespace ? NULL : module_rounds__new(rate, s->bpf);
	if (!s->module_rounds && (s->pid_namespace || errno == ENOENT)) {
		collector__use_rounds(s->collector, options__rate(s->options));
		return 0;
	}
	if (!s->module_rounds) {
		snprintf(line, sizeof(line), "--snapshots: " QZ_DEVICE_PATH ": %s",
			 strerror(errno));
		return fail(-errno, line);
	}
	return collector__use_instants(s->collector, s->module_rounds, rate)
		       ? fail(-ENOMEM, "out of memory")
		       : 0;
}

static int fail_what_if(const char *names, int err)
{
	if (err != -EINVAL)
		return fail(err, "out of memory");
	log_error(
		"--what-if '%s': give auto, or up to %d names of procedures or objects with commas "
		"between them",
		names, QZ_CANDIDATES);
	return STATUS_USAGE;
}

/* Beside what libbpf does in one thread. */
static void *look_ahead(void *argument)
{
	struct session *s = argument;

	s->interrupt_ns = self_overhead__of_interrupt();
	return NULL;
}

static int load_programs(struct session *s)
{
	pthread_t thread;
	bool beside = sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
		      !pthread_create(&thread, NULL, look_ahead, s);
	int err;

	if (!beside)
		look_ahead(s);
	/* takes the kernel some tenths of a second, and until then signals end quartzd, at once */
	err = bpf_runtime__load(s->bpf);
	if (beside)
		pthread_join(thread, NULL);
	return err;
}

/* While the kernel takes the BPF programs. */
static void start_symbolizer(struct session *s)
{
	char path[PATH_MAX];
	int fd = command__open(s->options->command, path);

	collector__start_ahead(s->collector, fd);
	if (fd >= 0)
		close(fd);
}

int session__load(struct session *s)
{
	struct bpf_runtime_options options = {
		.max_scopes = s->options->system ? options__processes(s->options) + QZ_OWN_SCOPES +
							   QZ_SPARE_SCOPES
						 : PROGRAM_SCOPES,
		.pid_namespace = s->pid_namespace,
		.rate = options__rate(s->options),
		.woken = s->options->woken,
		.lines = s->options->lines || s->options->inlines,
		.what_if = s->options->what_if,
		.every_process = s->options->system,
		.finds_command = s->options->command && !s->options->delay,
		.keep_types = s->options->cache_size,
	};
	struct symbolizer_options symbolizer = {
		.lines = s->options->lines || s->options->inlines,
		.inlines = s->options->inlines,
	};
	int err;

	s->sampler = perf_sampler__new();
	if (!s->sampler)
		return fail_short(-errno);
	s->bpf = bpf_runtime__new(&options);
	if (!s->bpf)
		return fail_short(-errno);
	if (s->options->cache_size)
		s->tables = table_cache__open((uint64_t)s->options->cache_size << 20);
	symbolizer.tables = s->tables;
	err = load_programs(s);
	if (err)
		return fail(err, bpf_runtime__error(s->bpf));
	err = watch_signals(s);
	if (err)
		return fail(err, "cannot watch signals");
	s->collector = collector__new(s->bpf, s->sampler, &symbolizer, &s->spin_rules);
	if (!s->collector)
		return fail_short(-errno);
	if (s->options->command)
		start_symbolizer(s);
	err = open_instants(s);
	if (err)
		return err;
	err = s->options->what_if ? collector__use_what_if(s->collector, s->options->what_if) : 0;
	if (err)
		return fail_what_if(s->options->what_if, err);
	err = bpf_runtime__await_programs(s->bpf);
	if (err)
		return fail(err, bpf_runtime__error(s->bpf));
	if (!s->options->private && open_to_others(s))
		return STATUS_FAILURE;
	open_to_programs(s);
	err = bpf_runtime__attach(s->bpf);
	return err ? fail(err, bpf_runtime__error(s->bpf)) : 0;
}

static int describe_run(struct session *s)
{
	struct qz_profile *p = collector__profile(s->collector);
	struct utsname host;
	int err;

	uname(&host);
	err = qz_profile__set_string(&p->quartz_version, QUARTZ_VERSION);
	err = err ?: qz_profile__set_string(&p->kernel, host.release);
	err = err ?: qz_profile__set_string(&p->machine, host.nodename);
	err = err ?: qz_profile__set_string(&p->event, PERF_SAMPLER_EVENT);
	p->rate_hz = options__rate(s->options);
	p->ceiling_ppm = options__max_overhead(s->options);
	p->wakes_sampled = !s->options->woken;
	p->addresses_sampled = s->options->lines || s->options->inlines;
	p->processors = s->options->command ? (uint32_t)CPU_COUNT(&s->allowed)
					    : perf_sampler__online(s->sampler);
	p->wall_start_ns = qz_clock__read(CLOCK_REALTIME);
	return err;
}

static int open_scope(struct session *s, enum qz_scope_kind kind, const struct target *t)
{
	int scope = bpf_scopes__open(s->bpf, t->pid, kind != QZ_SCOPE_PROCESS);

	if (scope < 0)
		return fail(scope, bpf_runtime__error(s->bpf));
	s->nscopes++;
	if (collector__add_scope(s->collector, scope, kind, t->pid, t->comm, t->command))
		return fail(-ENOMEM, "out of memory");
	return 0;
}

/* Of processes that are profiled without their children: the most that were there at a time. */
void session__count_children(struct session *s)
{
	struct qz_profile *p = collector__profile(s->collector);

	for (uint32_t i = 0; s->options->pids.n && i < p->nscopes; i++) {
		struct qz_scope *scope = &p->scopes[i];
		uint64_t n = 0;

		if (scope->kind == QZ_SCOPE_PROCESS && !scope->ended &&
		    qz_integers__have(&s->options->pids, scope->pid))
			n = target__count_children(scope->pid, &s->options->pids,
						   &s->options->trees);
		if (scope->children < n)
			scope->children = n;
	}
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
	session__count_children(s);
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

static int prepare_command(struct session *s)
{
	const struct user *user = s->options->user ? &s->user : NULL;
	int err = command__prepare(&s->command, s->options->command, &s->allowed, user);

	if (err) {
		char line[512];

		snprintf(line, sizeof(line), "cannot make a process for %s: %s",
			 s->options->command[0], strerror(-err));
		return fail(err, line);
	}
	s->first.pid = s->command.pid;
	snapshot_file__name(&s->snapshot, s->first.comm, s->first.pid);
	join(s->first.command, sizeof(s->first.command), s->options->command);
	return 0;
}

static const char *why_not_found(const char *command)
{
	bool is_here = !access(command, F_OK);

	if (!strchr(command, '/'))
		return is_here ? "no such command in PATH; the one in this directory is ./ and its "
				 "name"
			       : "no such command in PATH";
	return is_here ? "the interpreter or loader that it names does not exist" : "no such file";
}

static int let_go(struct session *s)
{
	int err = command__start(&s->command);

	if (!err)
		return 0;
	log_error("%s: %s", s->options->command[0],
		  err == -ENOENT ? why_not_found(s->options->command[0]) : strerror(-err));
	return err == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static int open_command(struct session *s)
{
	int err = s->command.started ? 0 : prepare_command(s);

	return err ?: open_scope(s, QZ_SCOPE_JOB, &s->first);
}

/*
 * The process that waits has quartzd's own libraries mapped: with its report taken in before it
 * starts, the tables of the loader and the C library are there from the first instruction. Those of the
 * program are made, too.
 */
static int start_command(struct session *s)
{
	uint64_t taken_in = s->started + TAKING_IN, now;
	char path[PATH_MAX];
	int fd = command__open(s->options->command, path), err;

	collector__prepare(s->collector, fd, path);
	now = bpf_runtime__now();
	if (now < taken_in)
		usleep((taken_in - now) / 1000);
	err = collector__tick(s->collector);
	if (err)
		return fail(err, "cannot take in the waiting process");
	err = stop_asked(s);
	if (err)
		return err;
	bpf_scopes__restart(s->bpf, 0);
	if (live__restart_scope(s->live, 0))
		return fail(-ENOMEM, "out of memory");
	return let_go(s);
}

/* ---- before measuring begins ---- */

static void await(struct session *s, uint64_t now)
{
	struct pollfd fds[] = {
		{.fd = s->signals, .events = POLLIN},
		{.fd = s->host->socket ? control_socket__fd(s->host->socket) : -1,
		 .events = POLLIN},
	};
	uint64_t left = s->delayed_until > now ? (s->delayed_until - now) / 1000000 + 1 : 0;

	poll(fds, 2, left < DELAY_TICK_MS ? (int)left : DELAY_TICK_MS);
	if (s->host->socket)
		control_socket__run(s->host->socket);
	host__alive(s->host, bpf_runtime__now());
}

/* --delay: what the command does in this time is not measured. */
static int delay(struct session *s)
{
	uint64_t now = bpf_runtime__now();
	int err = 0;

	s->delayed_until = now + s->options->delay;
	if (s->options->command)
		err = prepare_command(s) ?: let_go(s);
	for (; !err && now < s->delayed_until; now = bpf_runtime__now()) {
		await(s, now);
		err = stop_asked(s);
		if (!err && s->options->command && command__ended(&s->command)) {
			log_error("%s ended within the time of --delay; nothing was measured",
				  s->options->command[0]);
			err = STATUS_NO_SAMPLES;
		}
	}
	return err;
}

/*
 * On a busy machine, what is taken in late is lost: stacks have no tables yet. For the threads and children
 * that are started from here on, which does not include the command. The service stays out of the way, but for the
 * thread that reads the log.
 */
static void take_precedence(const struct session *s)
{
	const struct rlimit as_nice = {20 - LOG_READER_NICE, 20 - LOG_READER_NICE};

	setrlimit(RLIMIT_NICE, &as_nice);
	if (!s->options->system && nice(LOG_READER_NICE) == -1)
		return; /* then it is as busy as others */
}

static void start_governor(struct session *s)
{
	uint32_t ceiling = options__max_overhead(s->options);

	if (!ceiling)
		return;
	qz_overhead_governor__init(&s->governor, ceiling, options__rate(s->options));
	s->daemon_before = collector__costs(s->collector, 0).daemon_ns;
}

/* The command is there, and has all; and no thread is there that would keep what is given up. */
static int give_up_privileges(const struct session *s)
{
	const struct capabilities_needs needs = {
		.signals = s->options->command,
		.priority = s->nreserved,
		.foreign = snapshot_file__is_foreign(&s->snapshot) ||
			   (s->directory.fd >= 0 && !capabilities__may_write(s->directory.fd, ".")),
		.giving = s->snapshot.owner,
	};
	int err;

	err = capabilities__give_up(&needs);
	return err ? fail(err, "cannot give up privileges") : 0;
}

int session__start(struct session *s)
{
	int err = s->options->delay ? delay(s) : stop_asked(s);

	if (err)
		return err;
	err = perf_sampler__start(s->sampler, bpf_runtime__processors(s->bpf),
				  bpf_runtime__sampler_fd(s->bpf), options__rate(s->options),
				  loss_accounting__idle_ns(s->bpf));
	if (err)
		return fail(err, perf_sampler__error(s->sampler));
	if (describe_run(s))
		return fail(-ENOMEM, "out of memory");
	err = session__open_log(s) ?: session__make_live(s);
	if (err)
		return status_of(err);
	err = open_targets(s, &s->options->pids, QZ_SCOPE_PROCESS);
	err = err ?: open_targets(s, &s->options->trees, QZ_SCOPE_TREE);
	if (!err && s->options->command)
		err = open_command(s);
	if (!err && s->options->system &&
	    (collector__add_own_scopes(s->collector) ||
	     collector__keep_ended(s->collector, (uint64_t)s->options->ended_memory << 20)))
		err = fail(-ENOMEM, "out of memory");
	if (err)
		return err;
	session__count_children(s);
	take_precedence(s);
	err = give_up_privileges(s);
	if (err)
		return err;
	err = s->module_rounds ? module_rounds__start(s->module_rounds) : 0;
	if (err)
		return fail(err, "cannot start a thread that takes snapshots");
	err = collector__start(s->collector);
	if (err)
		return fail(err, "cannot start a thread");
	err = live__find(s->live);
	if (err)
		return fail(err, bpf_runtime__error(s->bpf));
	err = session__start_log(s);
	if (err)
		return status_of(err);
	err = start_poller(s);
	if (err)
		return err;
	err = s->page_server ? shm_server__start(s->page_server) : 0;
	if (err)
		return fail(err, "cannot start a thread");
	start_governor(s);
	s->started = bpf_runtime__now();
	err = session__start_history(s);
	if (err)
		return status_of(err);
	if (session__start_timeline(s))
		return fail(-ENOMEM, "out of memory");
	if (s->options->duration)
		s->deadline = s->started + s->options->duration;
	return s->options->command && !s->command.started ? start_command(s) : 0;
}

/* Another quartzd that serves would be asked first by who wants to see the result. */
static bool is_beside_another(const struct session *s)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/quartzd.sock", paths__runtime());
	return s->options->private && !access(path, F_OK);
}

/* What the machine did is for root and the group of readers, whoever started the service. */
static int prepare_saving(struct session *s)
{
	const struct options *options = s->options;
	int err = snapshot_file__open(&s->snapshot, options->output,
				      !options->system || options->private);

	if (err) {
		log_error("%s: cannot be written: %s; choose another file with --output",
			  s->snapshot.path,
			  err == -EPERM && !options->output
				  ? "it must be root's own, where root alone can write"
				  : qz_save_file__reason(err));
		return STATUS_FAILURE;
	}
	if (!options->command)
		snapshot_file__name(&s->snapshot, s->first.comm, s->first.pid);
	s->beside = is_beside_another(s);
	return 0;
}

int session__prepare(struct session *s)
{
	const struct options *options = s->options;
	char error[512];
	int err;

	if (geteuid())
		return fail(-EPERM, "only root can attach BPF programs; run it with sudo");
	err = pid_namespace__look(&s->pid_namespace, error, sizeof(error));
	if (err)
		return fail(-EOPNOTSUPP, error);
	command__ignore_signals();
	err = time_namespace__look(error, sizeof(error)) ?: limits__raise(error, sizeof(error));
	if (err)
		return fail(err, error);
	err = spin_symbols__load(&s->spin_rules, &options->spin_symbols, error, sizeof(error));
	if (err) {
		log_error("%s", error);
		return err == -ENOMEM ? STATUS_FAILURE : STATUS_USAGE;
	}
	err = check_targets(s);
	if (err)
		return err;
	s->nreserved = cpu_reserve__processors(options->cpu, &s->allowed, s->reserved, error,
					       sizeof(error));
	if (s->nreserved < 0) {
		log_error("%s", error);
		return STATUS_USAGE;
	}
	if (options->user && user__look(&s->user, options->user, error, sizeof(error))) {
		log_error("%s", error);
		return STATUS_USAGE;
	}
	if (options->remove_maps && options->command)
		runtime_directory__open(&s->directory);
	err = session__prepare_log(s);
	if (err)
		return status_of(err);
	err = prepare_saving(s);
	return err ?: session__prepare_history(s) ? STATUS_FAILURE : 0;
}
