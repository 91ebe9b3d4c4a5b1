/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands about quartzd itself: status, pause, resume, reload. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <limits.h>
#include <stdlib.h>

#include "client/live.h"
#include "cli/render/output.h"
#include "cli/render/quality.h"
#include "cli/render/cells.h"
#include "cli/query/profile_source.h"
#include "core/estimate/estimate.h"
#include "core/format/json_fields.h"

static enum status call(const char *method, json_t **answer)
{
	char socket[PATH_MAX], reason[512];
	int err;

	profile_source__socket(socket);
	err = live__call(socket, method, answer, reason, sizeof(reason));
	if (err == -ENOENT || err == -ECONNREFUSED) {
		complain(SOURCE_NOT_RUNNING, socket);
		return STATUS_NO_SOURCE;
	}
	return err ? profile_source__explain(socket, err, reason) : STATUS_OK;
}

static uint64_t number(const json_t *status, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(status, key));

	return n > 0 ? (uint64_t)n : 0;
}

static struct qz_profile run_of(const json_t *status)
{
	return (struct qz_profile) {
		.rate_hz = (uint32_t)number(status, "rate_hz"),
		.halvings = (uint32_t)number(status, "rate_halvings"),
		.ceiling_ppm = (uint32_t)number(status, "max_overhead_ppm"),
	};
}

/* The overhead of Quartz, which is known only if there is a limit. */
static void print_overhead(const json_t *status)
{
	const json_t *parts = json_object_get(status, "overhead_parts_ppm");
	uint64_t limit = number(status, "max_overhead_ppm");
	uint64_t costs = number(status, "overhead_ppm"), busy = number(status, "busy_ppm");
	uint64_t accounting = number(parts, "accounting");

	if (!limit)
		return;
	printf("overhead %.2f%% of the processors, at most %.4g%%", (double)costs / 1e4,
	       (double)limit / 1e4);
	if (costs && busy)
		printf("; %.2f%% of the time that they were busy",
		       100 * (double)costs / (double)busy);
	putchar('\n');
	if (costs && parts)
		printf("  quartzd %.2f%%, the scheduler's log %.2f%%, samples %.2f%%, stacks of "
		       "waits %.2f%%\n",
		       (double)number(parts, "daemon") / 1e4, (double)accounting / 1e4,
		       (double)number(parts, "sampling") / 1e4,
		       (double)number(parts, "walking") / 1e4);
}

/* Of each processor, how full one of them was before it was read, and what that missed. */
static void print_log(const json_t *log)
{
	if (!log)
		return;
	printf("scheduler's log %" PRIu64 " KiB a processor, at most %" PRIu64
	       "%% full; %s records a second; "
	       "late %s, overwritten %s\n",
	       number(log, "bytes") >> 10, number(log, "fullest_percent"),
	       cells__count(number(log, "records_per_s")).text,
	       cells__count(number(log, "late")).text,
	       cells__count(number(log, "overwritten")).text);
	if (number(log, "time_halvings"))
		printf("  measuring %.3g%% of the time, since all of it would cost more than the "
		       "limit\n",
		       ldexp(100, -(int)number(log, "time_halvings")));
}

static void print_run(const json_t *status, const char *event)
{
	const struct qz_profile run = run_of(status);

	printf("sampling (%s) at %s\n"
	       "on %" PRIu64 " processors for %.1f s\n"
	       "processes %s, samples %s, lost %s, processes refused %s\n",
	       event, quality__rate(&run).text, number(status, "processors"),
	       (double)number(status, "window_ns") / 1e9,
	       cells__count(number(status, "processes")).text,
	       cells__count(number(status, "samples")).text,
	       cells__count(number(status, "lost")).text,
	       cells__count(number(status, "scopes_refused")).text);
	if (number(status, "behind_ns") >= 100000000)
		printf("quartzd is %.1f s behind with the reports about processes\n",
		       (double)number(status, "behind_ns") / 1e9);
	if (json_is_true(json_object_get(status, "keeper_late")))
		puts("quartzd-keeper does not answer, as if it were stopped; new code gets no "
		     "names until it does");
	if (number(status, "modules_waiting"))
		printf("quartz-symbolizer has ended %s times; files that it will try again: %s\n",
		       cells__count(number(status, "symbolizers_ended")).text,
		       cells__count(number(status, "modules_waiting")).text);
	print_log(json_object_get(status, "log"));
	print_overhead(status);
}

static enum status print_text(const json_t *status)
{
	const char *state = json_string_value(json_object_get(status, "state"));
	const char *version = json_string_value(json_object_get(status, "version"));
	const char *event = json_string_value(json_object_get(status, "event"));
	char *words[] = {output__escape(state ? state : "?"),
			 output__escape(version ? version : "?"),
			 output__escape(event ? event : "?")};
	bool complete = words[0] && words[1] && words[2];

	if (complete) {
		printf("quartzd %s, process %" PRIu64 ": %s\n", words[1], number(status, "pid"),
		       words[0]);
		if (event)
			print_run(status, words[2]);
	}
	for (int i = 0; i < 3; i++)
		free(words[i]);
	return complete ? STATUS_OK : out_of_memory();
}

static enum status print_json(json_t *status)
{
	const struct qz_profile run = run_of(status);
	char *text;

	if (run.rate_hz)
		json_object_set_new(status, "rate_in_force_hz", json_real(qz_profile__rate(&run)));
	json_object_set_new(status, "schema", json_string("quartz.status/v1"));
	text = qz_json_fields__dump(status, JSON_INDENT(1) | JSON_SORT_KEYS);
	if (!text)
		return out_of_memory();
	fputs(text, stdout);
	free(text);
	return STATUS_OK;
}

static enum status status(const struct config *config)
{
	json_t *answer = NULL;
	enum status status = call("io.quartz.Status", &answer);

	if (status == STATUS_OK)
		status = config->json ? print_json(answer) : print_text(answer);
	json_decref(answer);
	return status;
}

static enum status command(const char *method)
{
	json_t *answer = NULL;
	enum status status = call(method, &answer);

	json_decref(answer);
	return status;
}

static enum status pause(const struct config *config)
{
	return command("io.quartz.Pause");
}

static enum status resume(const struct config *config)
{
	return command("io.quartz.Resume");
}

static enum status reload(const struct config *config)
{
	return command("io.quartz.Reload");
}

const struct command cmd_status = {
	.name = "status",
	.summary = "Show the state and the cost of quartzd",
	.shared = SHARED_JSON,
	.run = status,
};

const struct command cmd_pause = {
	.name = "pause",
	.summary = "Make quartzd --system save its snapshot and detach",
	.run = pause,
};

const struct command cmd_resume = {
	.name = "resume",
	.summary = "Make quartzd --system measure again",
	.run = resume,
};

const struct command cmd_reload = {
	.name = "reload",
	.summary = "Make quartzd --system read its settings again",
	.run = reload,
};
