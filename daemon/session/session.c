// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/estimate/estimate.h"
#include "daemon/collect/collector.h"
#include "daemon/collect/loss_accounting.h"
#include "daemon/symbolizer/table_cache.h"
#include "daemon/util/limits.h"
#include "daemon/util/log.h"
#include "daemon/session/sd_notify.h"
#include "daemon/privsep/opener.h"
#include "daemon/session/session_state.h"

#define LATE_MS	       5 /* where the timeline is late */
#define MS	       1000000ull
#define HOTPLUG_PERIOD 1000000000ull
#define GOVERN_PERIOD  1000000000ull
#define TEXT_PERIOD    2000000000ull
#define TEXT_UNREAD    8000000000ull /* so much longer while no process reads it */
#define TEXT_SHARE     200 /* one part of so many of the time, at most, is spent on text */
#define KEEP_PERIOD    5000000000ull
#define KEEP_SHARE     500
#define ANSWER_AFTER   200000000ull  /* an interrupt that nothing has ended after */
#define FORWARD_GRACE  2000000000ull /* for a command to end after a SIGTERM that was passed on */

static void take_signal(struct session *s, int number)
{
	if (number == SIGCHLD)
		return;
	if (number == SIGHUP && session__reloads(s)) {
		host__reload(s->host);
		return;
	}
	s->host->pending = ACTION_STOP;
	/*
	 * An interrupt from the terminal reaches the command, too: its end ends the run. A second
	 * interrupt ends the run at once.
	 */
	if (s->options->command && number == SIGINT && !s->signal && !command__ended(&s->command)) {
		s->signal = number;
		s->answer_due = bpf_runtime__now() + ANSWER_AFTER;
		return;
	}
	if (s->options->command && number != SIGINT && !command__ended(&s->command)) {
		kill(s->command.pid, number);
		s->deadline = bpf_runtime__now() + FORWARD_GRACE;
	} else {
		s->deadline = bpf_runtime__now();
	}
	s->signal = number;
}

static void take_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		take_signal(s, info.ssi_signo);
}

/* Says at once what Ctrl-C does: saving may take some seconds. */
static void answer(struct session *s, uint64_t now, bool over)
{
	if (over && s->signal == SIGINT && s->options->private && !s->options->quiet)
		log_info("interrupted; saving the profile");
	if (over || !s->answer_due || now < s->answer_due)
		return;
	s->answer_due = 0;
	log_info("interrupted; the profile is saved when %s and all that it started have ended, "
		 "or at once at the next Ctrl-C",
		 s->options->command[0]);
}

/* Maps have no room for processors that were added to the machine: it is measured anew, a program to its end. */
static void take_in_processors(struct session *s)
{
	if (s->outgrown || s->host->pending != ACTION_NONE)
		return;
	s->outgrown = true;
	if (s->options->system && host__begin_anew(s->host))
		log_warning("a processor was added to this machine; it is measured anew");
	else
		log_warning(
			"a processor was added to this machine; what runs there is not measured");
}

static void follow_hotplug(struct session *s)
{
	int *came = calloc(bpf_runtime__processors(s->bpf), sizeof(*came));
	int n = came ? perf_sampler__follow_hotplug(s->sampler, came) : 0;

	for (int i = 0; i < n; i++)
		bpf_runtime__mark_processor(s->bpf, came[i]);
	for (uint32_t cpu = 0; cpu < bpf_runtime__processors(s->bpf); cpu++)
		bpf_runtime__cpus(s->bpf)[cpu].offline = !perf_sampler__samples(s->sampler, cpu);
	free(came);
	if (perf_sampler__is_outgrown(s->sampler))
		take_in_processors(s);
}

static void govern(struct session *s, uint64_t now)
{
	struct qz_overhead_governor *g = &s->governor;
	struct qz_costs costs;

	if (!g->ceiling_ppm || now < s->govern_due)
		return;
	s->govern_due = now + GOVERN_PERIOD;
	costs = session__costs(s);
	if (!qz_overhead_governor__update(g, now, perf_sampler__online(s->sampler),
					  loss_accounting__idle_ns(s->bpf), &costs))
		return;
	collector__set_halvings(s->collector, g->halvings);
	live__set_windows(s->live, g->time_halvings);
	log_info(
		"Quartz took %.2f%% of the processors, of %.2f%% that it may; sampling at %.4g Hz, "
		"measuring %.3g%% of the time",
		g->costs_ppm / 1e4, g->ceiling_ppm / 1e4,
		(double)options__rate(s->options) / (1u << g->halvings),
		100.0 / (1u << g->time_halvings));
}

static void show_thread(void *context, const struct qz_thread_event *e)
{
	bpffs_tables__add_thread(context, e);
}

/* Of the machine, or else of each scope. */
static void show(struct session *s, uint64_t now)
{
	const struct qz_profile *p = collector__profile(s->collector);
	uint32_t machine;

	if (session__bring_up_to_date(s, now))
		return;
	machine = qz_profile__machine(p);
	for (uint32_t i = 0; i < p->nscopes; i++) {
		struct qz_report *r;

		if (machine != QZ_NONE && machine != i)
			continue;
		r = qz_report__new(p, i);
		if (s->text)
			bpffs_tables__add(s->text, r, machine == i ? 1 : p->nscopes - i);
		if (s->publisher)
			sysfs_publish__add(s->publisher, r);
		qz_report__free(r);
	}
	if (s->text) {
		live__each_alive(s->live, show_thread, s->text);
		bpffs_tables__end(s->text);
	}
	if (s->publisher)
		sysfs_publish__end(s->publisher, p);
}

/* Text that no process reads is made seldom. Readers of /sys are not known, so its text is always made. */
static bool wants_text(struct session *s, uint64_t now)
{
	uint32_t reads = bpf_runtime__control(s->bpf)->text_reads;
	bool is_read = s->publisher || reads != s->text_reads;

	if ((!s->text && !s->publisher) || now < s->text_due + (is_read ? 0 : TEXT_UNREAD))
		return false;
	s->text_reads = reads;
	return true;
}

/* What takes the longer the more has been measured. */
static uint64_t next_in(uint64_t began, uint64_t period, uint64_t share)
{
	uint64_t now = bpf_runtime__now(), rest = (now - began) * share;

	return now + (rest > period ? rest : period);
}

/* Estimated, and without vacant rows: *packed, which the caller frees, where there are any. NULL: no memory. */
static const struct qz_profile *profile_to_save(struct session *s, struct qz_profile **packed)
{
	const struct qz_profile *p = collector__profile(s->collector);
	bool packs = qz_profile__has_vacant_rows(p);

	*packed = packs ? session__packed(p) : NULL;
	return packs ? *packed : p;
}

/* Those of an earlier run, which has left its profile at the same place. */
static void forget_events(struct session *s)
{
	int err = event_log__is_empty(s->events)
			  ? snapshot_file__remove(&s->snapshot, QZ_EVENTS_SUFFIX)
			  : 0;

	if (err)
		log_warning("%s" QZ_EVENTS_SUFFIX ": %s; it is not of this run", s->snapshot.path,
			    strerror(-err));
}

/* Of a recording: should quartzd be killed, this is left. */
static void keep(struct session *s, uint64_t now)
{
	struct qz_profile *packed = NULL;
	const struct qz_profile *p;
	int err;

	if (!s->options->private || now < s->keep_due)
		return;
	err = session__refresh(s, now, false)
		      ?: qz_estimate__profile(collector__profile(s->collector));
	p = err ? NULL : profile_to_save(s, &packed);
	err = p ? snapshot_file__keep(&s->snapshot, p) : -ENOMEM;
	if (!err)
		forget_events(s);
	else
		log_debug("%s: %s; nothing is kept of the run so far", s->snapshot.path,
			  strerror(-err));
	qz_profile__free(packed);
	s->keep_due = next_in(now, KEEP_PERIOD, KEEP_SHARE);
}

static void do_periodic(struct session *s, uint64_t now)
{
	if (s->history && now >= s->slice_due) {
		session__cut_slice(s, session__refresh(s, now, true));
		s->slice_due = now + s->options->slice;
	}
	govern(s, now);
	if (progress__is_due(&s->progress, now))
		progress__update(&s->progress, collector__profile(s->collector),
				 collector__samples(s->collector), now);
	if (now >= s->hotplug_due) {
		follow_hotplug(s);
		s->hotplug_due = now + HOTPLUG_PERIOD;
	}
	if (wants_text(s, now)) {
		show(s, now);
		s->text_due = next_in(now, TEXT_PERIOD, TEXT_SHARE);
	}
	if (s->host->socket && !s->options->private)
		control_socket__run(s->host->socket);
	host__alive(s->host, now);
	keep(s, now);
	if (s->events)
		event_log__write(s->events);
}

static bool is_over(struct session *s, uint64_t now)
{
	if (s->deadline && now >= s->deadline)
		return true;
	if (s->host->pending == ACTION_PAUSE || s->host->pending == ACTION_RELOAD)
		return true;
	if (s->options->system)
		return false;
	return collector__ended(s->collector) &&
	       (!s->options->command || command__ended(&s->command));
}

static void stop_now(struct session *s)
{
	s->host->pending = ACTION_STOP;
	s->deadline = bpf_runtime__now();
}

/* Without it nothing new has a name. */
static void watch_keeper(struct session *s, short revents)
{
	if (!revents || s->keeper_lost)
		return;
	log_error("the process that keeps quartzd's privileges has ended; quartzd ends, too");
	s->keeper_lost = true;
	s->failed = true;
	stop_now(s);
}

/* What was measured until then is saved; the machine is measured anew. */
static void begin_again(struct session *s, uint64_t now)
{
	uint64_t alone = bpf_runtime__left_alone(s->bpf);

	if (!alone || s->host->pending != ACTION_NONE)
		return;
	log_error("quartzd did not run for more than %u s; nothing was measured in the last %.1f s",
		  bpf_runtime__watchdog_seconds(), (double)(now - alone) / 1e9);
	if (host__begin_anew(s->host))
		return;
	log_error("quartzd cannot begin anew, and ends");
	s->failed = true;
	stop_now(s);
}

/* What is mapped is taken in soon after it was, but the more rarely, the lower the rates are. */
static int patience_ms(struct session *s, uint64_t now)
{
	int ms = collector__patience_ms(s->collector);
	uint64_t next = collector__next_tick(s->collector);

	if (collector__behind(s->collector))
		return 0;
	/* a command has ended, and its last switch comes in a moment */
	if (s->timeline_late || (s->options->command && command__ended(&s->command)))
		return LATE_MS;
	if (!next || next >= now + ms * MS)
		return ms;
	return next > now ? (int)((next - now + MS - 1) / MS) : 0;
}

static int run(struct session *s)
{
	struct pollfd fds[] = {
		{.fd = s->signals, .events = POLLIN},
		{.events = POLLIN},
		{.fd = s->host->socket && !s->options->private ? control_socket__fd(s->host->socket)
							       : -1,
		 .events = POLLIN},
		{.fd = opener__keeper()},
	};
	uint64_t now = bpf_runtime__now();
	int err = 0;

	s->hotplug_due = now + HOTPLUG_PERIOD;
	s->text_due = now + TEXT_PERIOD;
	s->keep_due = now + KEEP_PERIOD;
	s->text_reads = bpf_runtime__control(s->bpf)->text_reads - 1; /* the first one is made */
	while (!err && !is_over(s, now)) {
		fds[1].fd = s->governor.halvings ? -1 : collector__event_fd(s->collector);
		poll(fds, sizeof(fds) / sizeof(fds[0]), patience_ms(s, now));
		take_signals(s);
		watch_keeper(s, fds[3].revents);
		err = collector__tick(s->collector);
		now = bpf_runtime__now();
		err = err ?: session__follow_timeline(s, now);
		answer(s, now, false);
		begin_again(s, now);
		do_periodic(s, now);
	}
	answer(s, now, true);
	return err;
}

/* ---- finishing ---- */

static void say_saved(struct session *s, const char *saved, uint64_t samples)
{
	if (!s->options->quiet)
		log_info("%llu samples in %.1f s, saved to %s", (unsigned long long)samples,
			 collector__profile(s->collector)->window_ns / 1e9, saved);
}

/* A word of a shell's command line. */
static void quote(char *to, size_t size, const char *word)
{
	size_t n = 1;

	if (!word[strcspn(word, " \t\n'\"\\$`&|;<>()*?[]#~=%!{}")]) {
		snprintf(to, size, "%s", word);
		return;
	}
	to[0] = '\'';
	for (; *word && n + 6 < size; word++)
		n += snprintf(to + n, size - n, *word == '\'' ? "'\\''" : "%c", *word);
	snprintf(to + n, size - n, "'");
}

/* Whether it is what is shown anyway: the newest one of this user, but beside a service none that may be its own. */
static bool is_found(const struct session *s)
{
	return s->snapshot.named && !(s->beside && s->options->system);
}

/* The command that shows it. */
static void say_next(const struct session *s)
{
	const char *sudo = s->snapshot.kept ? "sudo " : "";
	char file[4 * PATH_MAX];

	quote(file, sizeof(file), s->snapshot.path);
	if (is_found(s))
		log_info("see it with: %squartzctl report", sudo);
	else
		log_info("see it with: %squartzctl report -i %s", sudo, file);
}

static void finish_events(struct session *s)
{
	uint64_t written, dropped;
	int err;

	err = s->events ? event_log__finish(s->events, &written, &dropped) : 0;
	forget_events(s);
	if (!s->events)
		return;
	if (err)
		log_error("%s" QZ_EVENTS_SUFFIX ": %s; events are lost", s->snapshot.path,
			  strerror(-err));
	else if (written && !s->options->quiet)
		log_info("%llu events, saved to %s" QZ_EVENTS_SUFFIX, (unsigned long long)written,
			 s->snapshot.path);
	if (dropped)
		log_warning("%llu events found no room", (unsigned long long)dropped);
}

static void say_not_saved(const struct session *s, int err, const char *saved)
{
	char line[2 * PATH_MAX + 200];

	snprintf(line, sizeof(line), "%s: %s; %s%s", s->snapshot.path, strerror(-err),
		 *saved ? "saved instead to " : "what was sampled is lost", saved);
	limits__explain(err, line, sizeof(line));
	log_error("%s", line);
}

static int save(struct session *s)
{
	struct qz_profile *packed;
	const struct qz_profile *p = profile_to_save(s, &packed);
	char saved[PATH_MAX] = "";
	int err = p ? snapshot_file__save(&s->snapshot, p, saved, sizeof(saved)) : -ENOMEM;

	progress__end(&s->progress);
	if (err) {
		qz_profile__free(packed);
		say_not_saved(s, err, saved);
		return STATUS_FAILURE;
	}
	say_saved(s, saved, collector__samples(s->collector));
	if (s->options->private && !s->options->quiet) {
		session__say_advice(p, is_found(s) ? NULL : s->snapshot.path);
		say_next(s);
	}
	qz_profile__free(packed);
	return 0;
}

static bool has_measured(const struct qz_profile *p)
{
	for (uint32_t i = 0; i < p->nscopes; i++)
		if (qz_scope__is_measured(p, i))
			return true;
	return false;
}

static int finish(struct session *s)
{
	uint64_t until;
	int err;

	progress__say(&s->progress, "reading the rest of");
	perf_sampler__stop(s->sampler);
	if (s->module_rounds)
		module_rounds__stop(s->module_rounds);
	if (s->poller)
		shm_sampler__stop(s->poller);
	err = collector__freeze(s->collector, &until);
	session__count_children(s);
	session__finish_log(s);
	bpf_runtime__detach(s->bpf);
	err = err ?: collector__finish(s->collector);
	if (s->options->remove_maps && s->options->command)
		collector__remove_maps(s->collector, &s->directory);
	err = err ?: session__refresh(s, until, false);
	collector__release(s->collector); /* saving takes its place in memory */
	if (s->history && !err)
		session__cut_slice(s, 0);
	history__free(s->history);
	s->history = NULL;
	err = err ?: qz_estimate__profile(collector__profile(s->collector));
	if (err) {
		log_error("the last samples could not be read: %s", strerror(-err));
		s->failed = true;
	}
	finish_events(s);
	progress__say(&s->progress, "saving the profile of");
	err = save(s);
	if (err || s->failed)
		return err ?: STATUS_FAILURE;
	if (s->options->command && command__ended(&s->command))
		return command__exit_status(&s->command);
	if (s->options->command && s->signal)
		return 128 + s->signal;
	return has_measured(collector__profile(s->collector)) ? 0 : STATUS_NO_SAMPLES;
}

static void announce(const struct session *s)
{
	const struct qz_integers *lists[] = {&s->options->pids, &s->options->trees};
	size_t n = lists[0]->n + lists[1]->n;

	if (s->options->quiet || s->options->command)
		return;
	if (s->options->system)
		log_info("attached to every process%s, sampling at %u Hz (%s)",
			 s->pid_namespace ? " of this PID namespace, not of the host" : "",
			 options__rate(s->options), PERF_SAMPLER_EVENT);
	else if (n == 1)
		log_info("attached to process %d (%s), sampling at %u Hz (%s)", s->first.pid,
			 s->first.comm, options__rate(s->options), PERF_SAMPLER_EVENT);
	else
		log_info("attached to %zu targets, sampling at %u Hz (%s)", n,
			 options__rate(s->options), PERF_SAMPLER_EVENT);
}

/* Of a recording, which is of a person who waits for it. */
static void begin_progress(struct session *s)
{
	const struct options *options = s->options;
	char subject[64];

	if (options->command)
		snprintf(subject, sizeof(subject), "%s", options->command[0]);
	else if (options->system)
		snprintf(subject, sizeof(subject), "all processes");
	else
		snprintf(subject, sizeof(subject), "process %d (%s)%s", s->first.pid, s->first.comm,
			 options->pids.n + options->trees.n > 1 ? " and others" : "");
	progress__begin(&s->progress, subject, !options->private || options->quiet, s->started);
}

static void close_session(struct session *s)
{
	progress__end(&s->progress);
	sysfs_publish__free(s->publisher);
	bpffs_tables__free(s->text);
	shm_server__free(s->page_server);
	if (s->page_directory[0])
		shm_server__remove_directory(s->page_directory);
	command__free(&s->command);
	user__free(&s->user);
	snapshot_file__close(&s->snapshot);
	session__close_log(s);
	if (s->poller)
		shm_sampler__stop(s->poller);
	collector__free(s->collector);
	table_cache__free(s->tables);
	history__free(s->history);
	qz_timeline_cut__free(s->timeline);
	module_rounds__free(s->module_rounds);
	shm_sampler__free(s->poller);
	event_log__free(s->events);
	shm_sets__free(s->sets);
	perf_sampler__free(s->sampler);
	bpf_runtime__free(s->bpf);
	module_device__close(&s->device);
	spin_rules__free(&s->spin_rules);
	if (s->signals >= 0)
		close(s->signals);
}

int session__run(const struct options *options, struct host *host)
{
	struct session s = {.options = options,
			    .host = host,
			    .signals = -1,
			    .device.fd = -1,
			    .directory.fd = -1,
			    .progress.group = getpgrp(),
			    .snapshot.directory = -1,
			    .log_place.directory = -1,
			    .log_file = -1};
	int err = session__prepare(&s);

	err = err ?: session__load(&s);
	err = err ?: session__start(&s);
	if (!err) {
		announce(&s);
		begin_progress(&s);
		host->session = &s;
		sd_notify__send("READY=1\nSTATUS=measuring at %u Hz", options__rate(options));
		err = run(&s);
		host->session = NULL;
		opener__hurry(host->pending != ACTION_PAUSE && host->pending != ACTION_RELOAD);
		if (err) {
			log_error("sampling failed: %s; quartzd ends", strerror(-err));
			s.failed = true;
		}
		err = finish(&s);
	}
	close_session(&s);
	opener__hurry(false);
	return err;
}
