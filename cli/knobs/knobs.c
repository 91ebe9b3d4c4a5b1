/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl knobs, set: what running programs let their owner change (quartz_knob of libquartz). */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/knobs/knob_failure.h"
#include "cli/knobs/knob_page.h"
#include "cli/render/cells.h"
#include "cli/render/output.h"
#include "core/format/json_fields.h"

#define SECOND	 1000000000ull
#define PATIENCE (5 * SECOND)

static const char *const roles[QZ_KNOB_ROLES] = {"threads", "chunk", "other"};

static char *name_of(pid_t pid)
{
	char path[64], comm[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f) {
		if (fgets(comm, sizeof(comm), f))
			comm[strcspn(comm, "\n")] = 0;
		fclose(f);
	}
	return output__escape(comm);
}

static bool is_pending(const struct qz_knob *k)
{
	return k->asked != k->answered;
}

/* ---- as text ---- */

static void add_value(struct text_table *table, const struct qz_knob *k, int64_t value)
{
	char text[KNOB_VALUE];

	text_table__add(table, PLAIN, "%s", knob_page__value(k, value, text));
}

static void add_range(struct text_table *table, const struct qz_knob *k)
{
	char text[QZ_KNOB_CHOICES * (QZ_KNOB_CHOICE + 1)] = "";

	for (uint32_t i = 0; i < k->choices; i++)
		sprintf(text + strlen(text), "%s%s", i ? "," : "", k->choice[i]);
	if (k->choices)
		text_table__add(table, PLAIN, "%s", text);
	else if (k->step == 1)
		text_table__add(table, PLAIN, "%" PRId64 " to %" PRId64, (int64_t)k->least,
				(int64_t)k->most);
	else
		text_table__add(table, PLAIN, "%" PRId64 " to %" PRId64 " by %" PRId64,
				(int64_t)k->least, (int64_t)k->most, (int64_t)k->step);
}

static enum status print_text(const struct knob_page *p, const struct output *out)
{
	const struct column heads[] = {
		{.head = {"", "knob"}, .left = true},
		{.head = {"", "value"}},
		{.head = {"", "pending"}},
		{.head = {"", "role"}, .left = true},
		{.head = {"", "range"}, .left = true},
	};
	struct text_table *table = text_table__new(heads, sizeof(heads) / sizeof(heads[0]));
	char *name = name_of(p->pid);

	fprintf(out->file, "process %d, %s:\n", p->pid, name ? name : "?");
	free(name);
	for (uint32_t i = 0; i < p->copy.used; i++) {
		const struct qz_knob *k = &p->copy.knobs[i];

		text_table__add(table, PLAIN, "%s", k->name);
		add_value(table, k, k->value);
		if (is_pending(k))
			add_value(table, k, k->wanted);
		else
			text_table__add(table, PLAIN, "%s", "");
		text_table__add(table, PLAIN, "%s", roles[k->role]);
		add_range(table, k);
	}
	return text_table__print(table, out) ? out_of_memory() : STATUS_OK;
}

/* ---- as JSON ---- */

static json_t *choices_of(const struct qz_knob *k)
{
	json_t *array = k->choices ? json_array() : json_null();
	bool failed = !array;

	for (uint32_t i = 0; !failed && i < k->choices; i++)
		failed = json_array_append_new(array, json_string(k->choice[i]));
	return qz_json_fields__unless(failed, array);
}

static json_t *knob_of(const struct qz_knob *k)
{
	return json_pack("{ss, ss, sI, sI, sI, sI, so, so}", "name", k->name, "role",
			 roles[k->role], "value", (json_int_t)k->value, "least",
			 (json_int_t)k->least, "most", (json_int_t)k->most, "step",
			 (json_int_t)k->step, "choices", choices_of(k), "pending",
			 is_pending(k) ? json_integer(k->wanted) : json_null());
}

static enum status keep_json(json_t *list, const struct knob_page *p)
{
	json_t *knobs = json_array();
	char *name = name_of(p->pid);
	bool failed = !knobs || !name;

	for (uint32_t i = 0; !failed && i < p->copy.used; i++)
		failed = json_array_append_new(knobs, knob_of(&p->copy.knobs[i]));
	failed = failed ||
		 json_array_append_new(list, json_pack("{si, so, sO}", "pid", (int)p->pid, "comm",
						       qz_json_fields__text(name), "knobs", knobs));
	json_decref(knobs);
	free(name);
	return failed ? out_of_memory() : STATUS_OK;
}

/* ---- quartzctl knobs ---- */

struct listing {
	json_t *list; /* NULL: as text */
	struct output out;
	uint32_t n;
};

static enum status show(struct listing *l, const struct knob_page *p)
{
	if (l->list)
		return keep_json(l->list, p);
	if (l->n++)
		fputc('\n', l->out.file);
	return print_text(p, &l->out);
}

/* All processes that the caller may read, in the order of the kernel. */
static enum status show_all(struct listing *l)
{
	DIR *d = opendir("/proc");
	enum status status = STATUS_OK;
	const struct dirent *e;

	if (!d) {
		complain("/proc: %s; is it mounted?", strerror(errno));
		return STATUS_FAILURE;
	}
	while (status == STATUS_OK && (e = readdir(d))) {
		struct knob_page p;

		if (!isdigit((unsigned char)*e->d_name) ||
		    knob_page__open(&p, (pid_t)strtol(e->d_name, NULL, 10)))
			continue;
		status = show(l, &p);
		knob_page__close(&p);
	}
	closedir(d);
	if (status == STATUS_OK && !l->list && !l->n)
		complain("no process that you may change has knobs; programs register them with "
			 "quartz_knob(), see quartz(3)");
	return status;
}

static enum status show_one(struct listing *l, pid_t pid)
{
	struct knob_page p;
	int err = knob_page__open(&p, pid);
	enum status status;

	if (err)
		return knob_failure__open(pid, err);
	status = show(l, &p);
	knob_page__close(&p);
	return status;
}

static enum status list_knobs(const struct config *config)
{
	struct listing l = {.list = config->json ? json_array() : NULL};
	enum status status;

	if (config->json && !l.list)
		return out_of_memory();
	if (!config->json)
		output__open(&l.out, config);
	status = config->pid ? show_one(&l, (pid_t)config->pid) : show_all(&l);
	if (!config->json)
		output__close(&l.out);
	else if (status == STATUS_OK)
		return output__json(
			json_pack("{ss, so}", "schema", "quartz.knobs/v1", "processes", l.list), 1);
	json_decref(l.list);
	return status;
}

/* ---- quartzctl set ---- */

/* A choice by its name, else a number. */
static bool parse_value(const struct qz_knob *k, const char *text, int64_t *value)
{
	for (uint32_t i = 0; i < k->choices; i++) {
		*value = i;
		if (!strcmp(text, k->choice[i]))
			return true;
	}
	return !k->choices && !qz_options__integer(text, INT64_MIN, INT64_MAX, value);
}

static void tell_change(const struct qz_knob *k, pid_t pid, int64_t value)
{
	char before[KNOB_VALUE], after[KNOB_VALUE];

	printf("%s of process %d: %s -> %s\n", k->name, pid, knob_page__value(k, k->value, before),
	       knob_page__value(k, value, after));
}

static enum status set_in(struct knob_page *p, const struct config *config, const char *name,
			  const char *text)
{
	const struct qz_knob *k = knob_page__find(p, name);
	int64_t value;
	int err;

	if (!k)
		return knob_failure__missing(p->pid, name);
	if (!parse_value(k, text, &value)) {
		complain("%s of process %d cannot be '%s'; 'quartzctl knobs %d' shows what is "
			 "allowed",
			 k->name, p->pid, text, p->pid);
		return STATUS_USAGE;
	}
	err = knob_page__set(p, k, value, config->limit ? config->limit : PATIENCE);
	if (err)
		return knob_failure__set(p->pid, k, text, err);
	tell_change(k, p->pid, value);
	return STATUS_OK;
}

static enum status set_knob(const struct config *config)
{
	const char *equal = config->procedure ? strchr(config->procedure, '=') : NULL;
	struct knob_page p;
	enum status status;
	char *name;
	int err;

	if (!config->pid || !equal) {
		complain("PID and NAME=VALUE are needed; try 'quartzctl set --help'");
		return STATUS_USAGE;
	}
	err = knob_page__open(&p, (pid_t)config->pid);
	if (err)
		return knob_failure__open((pid_t)config->pid, err);
	name = strndup(config->procedure, (size_t)(equal - config->procedure));
	status = name ? set_in(&p, config, name, equal + 1) : out_of_memory();
	free(name);
	knob_page__close(&p);
	return status;
}

const struct command cmd_knobs = {
	.name = "knobs",
	.operands = " [PID]",
	.summary = "List what running programs let their owner set",
	.details = "Programs register knobs with quartz_knob() of libquartz.\n",
	.shared = SHARED_JSON,
	.takes_pid = true,
	.run = list_knobs,
};

static const struct qz_option options[] = {
	{"limit", 0, QZ_OPTION_DURATION, FIELD(limit), "TIME",
	 "Wait so long until the program has taken it [5s].", 1, INT64_MAX},
	{0},
};

const struct command cmd_set = {
	.name = "set",
	.operands = " PID NAME=VALUE",
	.summary = "Set a knob of a running program",
	.details = "Only the owner of the process and root may.\n",
	.options = options,
	.takes_pid = true,
	.takes_procedure = true,
	.run = set_knob,
};
