/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl scale: why a program is not P times as fast on P processors. */
#include <errno.h>
#include <stdlib.h>

#include "cli/files/page_file.h"
#include "cli/experiment/scale_text.h"
#include "cli/experiment/series.h"
#include "cli/render/output.h"
#include "core/scale/scale_json.h"

static const char *find_misuse(const struct config *config)
{
	bool runs = config->processor_list.n || config->runs || config->baseline ||
		    config->output || config->rate || config->user || config->events ||
		    config->duration;

	if (config->open && !config->html)
		return "--open needs --html";
	if (!!*config->command + !!config->from.n + !!config->pids.n > 1)
		return "a COMMAND, --from and --pid exclude each other";
	if (config->from.n && runs)
		return "--from shows what was measured before: only --scope and what it prints can "
		       "be chosen";
	if (config->from.n)
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

	for (size_t i = 0; status == STATUS_OK && i < config->from.n; i++)
		status = profile_set__add(set, config, config->from.items[i]);
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
	const struct page_file file = {config->html, "--html", put_document, &page, config->open};

	return page_file__write(&file);
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

enum status cmd_scale(const struct config *config)
{
	struct profile_set set = {0};
	enum status status = check(config), shown = STATUS_OK;

	if (status == STATUS_OK && config->from.n)
		status = take_profiles(config, &set);
	else if (status == STATUS_OK)
		status = series__run(config, &set);
	if (status == STATUS_OK || (set.n && !config->from.n))
		shown = show(config, &set);
	profile_set__free(&set);
	free(config->processor_list.items);
	free(config->from.items);
	free(config->pids.items);
	return status == STATUS_OK ? shown : status;
}
