// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/collector.h"
#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/opener.h"
#include "daemon/session_state.h"
#include "daemon/snapshot.h"

#define TICK_MS	       100
#define HURRY_MS       5
#define HOTPLUG_PERIOD 1000000000ull
#define GOVERN_PERIOD  1000000000ull
#define TEXT_PERIOD    2000000000ull
#define TEXT_SHARE     200 /* one part of so many of the time, at most, is spent on text */
#define FORWARD_GRACE  2000000000ull /* for a command to end after a SIGTERM that was passed on */

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
	costs = session__costs(s);
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

	if (session__bring_up_to_date(s, now, true))
		return;
	if (s->text)
		text__show(s->text, p);
	if (s->publisher)
		publisher__show(s->publisher, p);
}

/* Showing takes the longer the more has been measured. */
static uint64_t next_text(uint64_t began)
{
	uint64_t now = engine__now(), rest = (now - began) * TEXT_SHARE;

	return now + (rest > TEXT_PERIOD ? rest : TEXT_PERIOD);
}

static void do_periodic(struct session *s, uint64_t now)
{
	if (s->history && now >= s->slice_due) {
		session__cut_slice(s, now, true);
		s->slice_due = now + s->config->slice;
	}
	govern(s, now);
	if (now >= s->hotplug_due) {
		follow_hotplug(s);
		s->hotplug_due = now + HOTPLUG_PERIOD;
	}
	if ((s->text || s->publisher) && now >= s->text_due) {
		show(s, now);
		s->text_due = next_text(now);
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

static void stop_now(struct session *s)
{
	s->host->wish = WISH_STOP;
	s->deadline = engine__now();
}

/* Without it nothing new has a name. */
static void watch_keeper(struct session *s, short revents)
{
	if (!revents || s->keeper_lost)
		return;
	log_error("the process that keeps quartzd's privileges has ended; quartzd ends, too");
	s->keeper_lost = true;
	stop_now(s);
}

/* What was measured until then is saved; the machine is measured anew. */
static void begin_again(struct session *s, uint64_t now)
{
	uint64_t alone = engine__left_alone(s->engine);

	if (!alone || s->host->wish != WISH_NONE)
		return;
	log_error("quartzd did not run for more than a minute; nothing was measured in the last "
		  "%.1f s",
		  (double)(now - alone) / 1e9);
	if (!host__begin_anew(s->host))
		stop_now(s);
}

/* What is mapped is taken in soon after it was, but the more rarely, the lower the rates are. */
static int patience_ms(const struct session *s)
{
	int ms = collector__hurries(s->collector) ? HURRY_MS << s->governor.halvings : TICK_MS;

	if (collector__behind(s->collector))
		return 0;
	return ms < TICK_MS ? ms : TICK_MS;
}

static int run(struct session *s)
{
	struct pollfd fds[] = {
		{.fd = s->signals, .events = POLLIN},
		{.events = POLLIN},
		{.fd = s->host->server && !s->config->private ? server__fd(s->host->server) : -1,
		 .events = POLLIN},
		{.fd = opener__keeper()},
	};
	uint64_t now = engine__now();
	int err = 0;

	s->hotplug_due = now + HOTPLUG_PERIOD;
	s->text_due = now + TEXT_PERIOD;
	while (!err && !is_over(s, now)) {
		fds[1].fd = s->governor.halvings ? -1 : collector__event_fd(s->collector);
		poll(fds, sizeof(fds) / sizeof(fds[0]), patience_ms(s));
		take_signals(s);
		watch_keeper(s, fds[3].revents);
		err = collector__tick(s->collector);
		now = engine__now();
		begin_again(s, now);
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
	err = err ?: session__bring_up_to_date(s, until, false);
	if (err)
		log_error("the last samples could not be read: %s", strerror(-err));
	if (s->history && !err)
		session__cut_slice(s, until, false);
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

int session__run(const struct config *config, struct host *host)
{
	struct session s = {.config = config, .host = host, .signals = -1, .device.fd = -1};
	int err = session__prepare(&s);

	err = err ?: session__load(&s);
	err = err ?: session__start(&s);
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
