/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/tries/tries.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/experiment/trial.h"
#include "cli/render/output.h"
#include "cli/tries/ledger.h"

#define STANDARD_LIMIT (60 * 1000000000ull)

/* ---- the place ---- */

/* Where the loader looks for a library by its name, on Debian and elsewhere; /etc/ld.so.conf may have more. */
static bool has_library(const char *name)
{
	static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
					      "/usr/lib", "/usr/local/lib"};
	char path[256];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

static const char *variable(const char *name)
{
	return getenv(name);
}

/* ---- preparation ---- */

static enum status find_findings(struct tries *t)
{
	const struct config *config = t->runs.config;
	const struct trial once = {.on = &t->runs.on,
				   .processors = t->runs.on.n,
				   .command = config->command,
				   .user = t->runs.user};
	enum status status;

	if (config->input) {
		status = measured__read(&t->measured, config);
	} else if (geteuid()) {
		complain("--try measures %s first, and only root can; run it with sudo, or name a "
			 "profile of it with --input",
			 config->command[0]);
		status = STATUS_NO_PRIVILEGE;
	} else {
		status = measured__take(&t->measured, config, &once, "try");
		if (trial__signal())
			complain("interrupted while %s was measured; nothing was tried",
				 config->command[0]);
	}
	if (status != STATUS_OK)
		return status;
	t->advice = qz_advise__new(t->measured.view.reports[0]);
	return t->advice ? STATUS_OK : out_of_memory();
}

static enum status find_remedies(struct tries *t)
{
	struct qz_remedy_place place = {.processors = t->runs.on.n,
					.processor = t->runs.on.order[0],
					.is_root = !geteuid(),
					.has_library = has_library,
					.variable = variable};

	qz_remedy_code__find(&place.code, t->measured.view.profile);
	if (qz_remedies__find(&t->remedies, t->advice, &place))
		return out_of_memory();
	t->trials = calloc(t->remedies.n + 1, sizeof(*t->trials));
	if (!t->trials)
		return out_of_memory();
	for (uint32_t i = 0; i < t->remedies.n; i++)
		if (!t->remedies.uses[i].why_not) {
			t->trials[t->n].uses[0] = &t->remedies.uses[i];
			t->trials[t->n++].n = 1;
		}
	return STATUS_OK;
}

/* ---- the result ---- */

static enum status show(const struct tries *t)
{
	json_t *document = tries__document(t);

	if (!document)
		return out_of_memory();
	if (t->first.elapsed_ns && t->n)
		ledger__keep(document, t->runs.user);
	if (t->runs.config->json)
		return output__json(document, 1);
	json_decref(document);
	return tries__print_result(t) ? out_of_memory() : STATUS_OK;
}

/* One run may have taken all of the time. */
static bool is_too_short(const struct tries *t)
{
	uint64_t seconds;

	if (!t->runs.over || t->runs.status != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->trials[i].pairs.n || *t->trials[i].failure)
			return false;
	seconds = (tries__least_ns(t) + 999999999) / 1000000000;
	if (t->first.elapsed_ns)
		complain("--for: no remedy could be tried in this time; %" PRIu64
			 " s are the least for this command",
			 seconds);
	else
		complain("--for: %s did not end in this time", t->runs.config->command[0]);
	return true;
}

static enum status measure(struct tries *t)
{
	enum status shown;

	if (!t->runs.config->json)
		tries__print_head(t);
	runs__begin(&t->runs);
	if (t->n)
		tries__measure(t);
	if (is_too_short(t))
		return STATUS_FAILURE;
	if (t->runs.status == STATUS_FAILURE)
		return t->runs.status;
	shown = show(t);
	return t->runs.status == STATUS_OK ? shown : t->runs.status;
}

/* ---- the command ---- */

static enum status check(const struct config *config)
{
	const char *why = NULL;

	if (!*config->command)
		why = "--try needs a COMMAND";
	else if (config->dry_run && config->json)
		why = "--dry-run prints a plan as text: not with --json";
	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl advise --help'", why);
	return STATUS_USAGE;
}

enum status tries__run(const struct config *config)
{
	struct tries t = {.compared = config->check ? TRY_COMPARED_CHECK : TRY_COMPARED_OUTPUT,
			  .least = config->runs ? (uint32_t)config->runs : QZ_JUDGE_LEAST};
	enum status status = check(config);

	trial__watch();
	if (status == STATUS_OK)
		status = runs__open(&t.runs, config, STANDARD_LIMIT);
	if (status == STATUS_OK)
		status = find_findings(&t);
	if (status == STATUS_OK)
		status = find_remedies(&t);
	if (status == STATUS_OK && config->dry_run)
		tries__print_plan(&t);
	else if (status == STATUS_OK)
		status = measure(&t);
	trial__unwatch();
	free(t.trials);
	qz_remedies__free(&t.remedies);
	qz_advise__free(t.advice);
	measured__free(&t.measured);
	return status;
}
