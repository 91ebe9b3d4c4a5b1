/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands that concern quartzd itself: status, pause, resume, reload. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "cli/live.h"
#include "cli/output.h"
#include "cli/section.h"
#include "cli/source.h"
#include "core/fields.h"

static enum status call(const char *method, json_t **answer)
{
	char socket[PATH_MAX], reason[512];
	int err;

	source__socket(socket);
	err = live__call(socket, method, answer, reason, sizeof(reason));
	if (err == -ENOENT || err == -ECONNREFUSED) {
		complain("quartzd is not running: nobody serves %s", socket);
		return STATUS_NO_SOURCE;
	}
	return err ? source__explain(socket, err, reason) : STATUS_OK;
}

static uint64_t number(const json_t *status, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(status, key));

	return n > 0 ? (uint64_t)n : 0;
}

/* What Quartz itself costs, where it watches that. */
static void print_overhead(const json_t *status)
{
	uint64_t limit = number(status, "max_overhead_ppm"),
		 halvings = number(status, "rate_halvings");

	if (!limit)
		return;
	printf("overhead %.2f%% of the processors, at most %.4g%%",
	       (double)number(status, "overhead_ppm") / 1e4, (double)limit / 1e4);
	if (halvings)
		printf("; sampling at %.4g Hz",
		       ldexp((double)number(status, "rate_hz"), -(int)halvings));
	putchar('\n');
}

static enum status print_text(const json_t *status)
{
	const char *state = json_string_value(json_object_get(status, "state"));
	const char *version = json_string_value(json_object_get(status, "version"));
	const char *event = json_string_value(json_object_get(status, "event"));
	char *words[] = {escape_name(state ? state : "?"), escape_name(version ? version : "?"),
			 escape_name(event ? event : "?")};
	bool complete = words[0] && words[1] && words[2];

	if (complete) {
		printf("quartzd %s, process %" PRIu64 ": %s\n", words[1], number(status, "pid"),
		       words[0]);
		if (event)
			printf("%" PRIu64 " Hz (%s) on %" PRIu64 " processors for %.1f s\n"
			       "processes %s, samples %s, lost %s, processes refused %s\n",
			       number(status, "rate_hz"), words[2], number(status, "processors"),
			       (double)number(status, "window_ns") / 1e9,
			       group_digits(number(status, "processes")).text,
			       group_digits(number(status, "samples")).text,
			       group_digits(number(status, "lost")).text,
			       group_digits(number(status, "scopes_refused")).text);
	}
	if (complete && number(status, "behind_ns") >= 100000000)
		printf("%.1f s of what processes reported is still to be taken in\n",
		       (double)number(status, "behind_ns") / 1e9);
	if (complete && event)
		print_overhead(status);
	for (int i = 0; i < 3; i++)
		free(words[i]);
	return complete ? STATUS_OK : out_of_memory();
}

static enum status print_json(json_t *status)
{
	char *text;

	json_object_set_new(status, "schema", json_string("quartz.status/v1"));
	text = qz_fields__dump(status, JSON_INDENT(1) | JSON_SORT_KEYS);
	if (!text)
		return out_of_memory();
	fputs(text, stdout);
	free(text);
	return STATUS_OK;
}

enum status cmd_status(const struct config *config)
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

enum status cmd_pause(const struct config *config)
{
	return command("io.quartz.Pause");
}

enum status cmd_resume(const struct config *config)
{
	return command("io.quartz.Resume");
}

enum status cmd_reload(const struct config *config)
{
	return command("io.quartz.Reload");
}
