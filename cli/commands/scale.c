/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl scale: why a program is not P times as fast on P processors. */
#include <errno.h>
#include <stdlib.h>

#include "cli/files/html_file.h"
#include "cli/experiment/scale_text.h"
#include "cli/experiment/series.h"
#include "cli/render/output.h"
#include "core/scale/scale_json.h"

struct scale_config {
	struct config common;
	struct qz_texts from; /* files and directories */
};

static const char *find_misuse(const struct config *config)
{
	bool runs = config->processor_list.n || config->runs || config->baseline ||
		    config->output || config->rate || config->user || config->events ||
		    config->duration;

	if (config->open && !config->html)
		return "--open needs --html";
	if (!!*config->command + !!OWN(scale_config, config)->from.n + !!config->pids.n > 1)
		return "a COMMAND, --from and --pid exclude each other";
	if (OWN(scale_config, config)->from.n && runs)
		return "--from shows what was measured before: only --scope and what it prints can "
		       "be chosen";
	if (OWN(scale_config, config)->from.n)
		return NULL;
	if (!config->pids.n)
		return !*config->command ? "no command given, nor --from or --pid"
		       : config->events || config->duration ? "--events and --duration need --pid"
							    : NULL;
	if (!config->events)
		return "--pid needs --events, a command that prints how much has been done";
	return config->baseline ? "--baseline needs a COMMAND" : NULL;
}

static enum status check(const struct config *config)
{
	const char *why = find_misuse(config);

	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl scale --help'", why);
	return STATUS_USAGE;
}

static enum status take_profiles(const struct config *config, struct profile_set *set)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < OWN(scale_config, config)->from.n; i++)
		status = profile_set__add(set, config, OWN(scale_config, config)->from.items[i]);
	return status;
}

/* ---- the page ---- */

struct scale_page {
	const struct profile_set *set;
	const struct qz_gaps *gaps;
};

/* All rows: the page leaves out what is not worth a line. */
static int put_document(FILE *out, void *context)
{
	const struct scale_page *page = context;
	json_t *document = qz_scale_json__of(page->set->scale, &page->set->ids, page->gaps,
					     profile_set__command(page->set), UINT32_MAX);
	int err = document ? json_dumpf(document, out, JSON_COMPACT) : -1;

	json_decref(document);
	return err ? -ENOMEM : 0;
}

static enum status write_page(const struct config *config, const struct profile_set *set,
			      const struct qz_gaps *gaps)
{
	struct scale_page page = {set, gaps};
	const struct html_file file = {config->html, "--html", put_document, &page, config->open};

	return html_file__write(&file);
}

/* ---- the rest ---- */

static enum status print_json(const struct config *config, const struct profile_set *set,
			      const struct qz_gaps *gaps)
{
	uint32_t most = config->rows > 0 ? (uint32_t)config->rows : UINT32_MAX;

	return output__json(
		qz_scale_json__of(set->scale, &set->ids, gaps, profile_set__command(set), most), 1);
}

static enum status print_text(const struct config *config, const struct profile_set *set,
			      const struct qz_gaps *gaps)
{
	char *rates = profile_set__rates(set);
	struct output out;
	int err;

	output__open(&out, config);
	if (rates)
		fprintf(out.file,
			"Events per second: %s. Times are for as many events as one "
			"processor has done in the first run.\n",
			rates);
	free(rates);
	err = scale_text__print(set->scale, &set->ids, gaps, profile_set__command(set), config,
				&out);
	output__close(&out);
	return err ? out_of_memory() : STATUS_OK;
}

static enum status show(const struct config *config, struct profile_set *set)
{
	enum status status = profile_set__decompose(set);
	struct qz_gaps gaps = {0};

	if (status != STATUS_OK)
		return status;
	if (qz_gaps__find(set->scale, &set->ids, &gaps))
		status = out_of_memory();
	else if (config->json)
		status = print_json(config, set, &gaps);
	else if (!config->html)
		status = print_text(config, set, &gaps);
	if (status == STATUS_OK && config->html)
		status = write_page(config, set, &gaps);
	qz_gaps__free(&gaps);
	return status == STATUS_OK ? profile_set__check_samples(set) : status;
}

static enum status scale(const struct config *config)
{
	struct profile_set set = {0};
	enum status status = check(config), shown = STATUS_OK;

	if (status == STATUS_OK && OWN(scale_config, config)->from.n)
		status = take_profiles(config, &set);
	else if (status == STATUS_OK)
		status = series__run(config, &set);
	if (status == STATUS_OK || (set.n && !OWN(scale_config, config)->from.n))
		shown = show(config, &set);
	profile_set__free(&set);
	free(config->processor_list.items);
	free(OWN(scale_config, config)->from.items);
	free(config->pids.items);
	return status == STATUS_OK ? shown : status;
}

static const struct qz_option options[] = {
	{"processors", 'P', QZ_OPTION_INTEGERS, FIELD(processor_list), "N[,N...]",
	 "Run COMMAND on so many processors each, and on\none [1, 2, 4, ... and all].", 1, 8192},
	{"runs", 'r', QZ_OPTION_INTEGER, FIELD(runs), "N", "Runs on each number [5].", 1, 1000},
	{"baseline", 'b', QZ_OPTION_STRING, FIELD(baseline), "COMMAND",
	 "Compare with this sequential program, in the words\nof a shell. Default: COMMAND on one "
	 "processor."},
	{"pid", 'p', QZ_OPTION_INTEGERS, FIELD(pids), "PID[,PID...]",
	 "Instead of a COMMAND, confine these processes to so\nmany processors in turn, and put "
	 "them back.",
	 1, INT32_MAX},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "With --pid: measure so long each time [10s].", 1, INT64_MAX},
	{"events", 'e', QZ_OPTION_STRING, FIELD(events), "COMMAND",
	 "With --pid: a line for sh that prints how many\nrequests, or the like, they have done so "
	 "far."},
	{"from", 0, QZ_OPTION_STRINGS, OWN_FIELD(scale_config, from), "FILE|DIRECTORY",
	 "Run nothing, show these profiles; may be repeated."},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "DIRECTORY",
	 "Make DIRECTORY for the profiles. Default: a new one\nin /var/tmp."},
	{"html", 0, QZ_OPTION_STRING, FIELD(html), "FILE",
	 "Write a page with the speed-ups as a figure to FILE,\nin place of the text."},
	{"open", 0, QZ_OPTION_FLAG, FIELD(open), NULL, "With --html: open it in the browser."},
	{"rate", 'F', QZ_OPTION_INTEGER, FIELD(rate), "HZ",
	 "Samples per second and processor [999].", 1, 10000},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER",
	 "Run COMMAND as this user. Default: the user who\ncalled sudo, else root."},
	{"scope", 's', QZ_OPTION_STRING, FIELD(scope), "SCOPE",
	 "With --from: this scope of each profile, as of\n'quartzctl report'."},
	{0},
};

const struct command cmd_scale = {
	.name = "scale",
	.operands = " [[--] COMMAND [ARGUMENT...]]",
	.summary = "Show why a command is not P times as fast on P processors",
	.details =
		"Runs COMMAND on some numbers of processors, several times each. {P} in its words\n"
		"stands for the number, and OMP_NUM_THREADS has it. Needs root, as record.\n",
	.options = options,
	.shared = SHARED_FIGURES,
	.size = sizeof(struct scale_config),
	.takes_command = true,
	.run = scale,
};
