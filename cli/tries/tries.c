/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/tries/tries.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/experiment/members.h"
#include "cli/experiment/programs.h"
#include "cli/experiment/trial.h"
#include "cli/files/html_file.h"
#include "cli/render/output.h"
#include "cli/tries/ledger.h"

#define STANDARD_LIMIT (60 * 1000000000ull)
#define TUNE_LIMIT     (600 * 1000000000ull)
#define FIRST_TIME     3000000000ull /* ns for which a process is measured to find out what limits it */

/* ---- the place ---- */

/*
 * Finds a library in the loader's usual folders, on Debian and elsewhere (/etc/ld.so.conf may name
 * more), or beside this program.
 */
static const char *library(const char *name)
{
	static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
					      "/usr/lib", "/usr/local/lib"};
	const char *own = programs__library(name);
	char path[256];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		if (!access(path, R_OK))
			return name;
	}
	return access(own, R_OK) ? NULL : own;
}

static const char *variable(const char *name)
{
	return getenv(name);
}

/* ---- preparation ---- */

/* The name of the command, or of the running process. */
static const char *name_of(const struct tries *t)
{
	return t->is_running ? t->running.comm : t->runs.config->command[0];
}

static enum status find_findings(struct tries *t)
{
	const struct config *config = t->runs.config;
	const struct trial once = {.on = &t->runs.on,
				   .processors = t->runs.on.n,
				   .command = t->is_running ? NULL : config->command,
				   .pids = t->is_running ? &t->running.roots : NULL,
				   .trees = true,
				   .duration_ns = FIRST_TIME,
				   .user = t->runs.user};
	enum status status;

	if (config->input) {
		status = measured__read(&t->measured, config);
	} else if (geteuid() && t->tunes) {
		complain(
			"without --knob, %s is measured first, and only root can; run it with sudo",
			name_of(t));
		status = STATUS_NO_PRIVILEGE;
	} else if (geteuid()) {
		complain("--try measures %s first, and only root can; run it with sudo, or name a "
			 "profile of it with --input",
			 name_of(t));
		status = STATUS_NO_PRIVILEGE;
	} else {
		status = measured__take(&t->measured, config, &once, t->tunes ? "tune" : "try");
		if (trial__signal())
			complain("interrupted while %s was measured; nothing was tried",
				 name_of(t));
	}
	if (status != STATUS_OK)
		return status;
	t->advice = qz_advise__new(t->measured.view.reports[0]);
	return t->advice ? STATUS_OK : out_of_memory();
}

/*
 * Adds all values of a knob except the current one, k->start. Lines that replace the command have
 * no current value, so all of them are added.
 */
static enum status add_values(struct tries *t, const struct knob *k,
			      const struct qz_remedy_place *place)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < k->n; i++)
		if (i != k->start || (k->lines && !t->is_running))
			status = tries__add_value(t, k, i, place);
	return status;
}

static enum status add_knobs(struct tries *t, const struct qz_remedy_place *place)
{
	const struct qz_texts *knobs = &OWN(try_config, t->runs.config)->knobs;
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < knobs->n; i++) {
		status = tries__parse_knob(t, knobs->items[i], NULL, &t->knobs[i]);
		if (status == STATUS_OK)
			status = add_values(t, &t->knobs[i], place);
	}
	return status;
}

static enum status list_remedies(struct tries *t, const struct qz_remedy_place *place,
				 uint32_t *nfound)
{
	if (t->tunes)
		return tune__find_values(t, place);
	if (qz_remedies__find(&t->remedies, t->advice, place))
		return out_of_memory();
	*nfound = t->remedies.n;
	return add_knobs(t, place);
}

static enum status find_remedies(struct tries *t)
{
	char *pids = t->is_running ? members__list(&t->running.pids, ' ') : NULL;
	struct qz_remedy_place place = {.processors = t->runs.on.n,
					.order = t->runs.on.order,
					.command = t->is_running ? NULL : t->runs.config->command,
					.pids = pids,
					.knobs = t->running.has_page ? &t->running.page.copy : NULL,
					.is_root = !geteuid(),
					.library = library,
					.variable = variable};
	enum status status;
	uint32_t nfound = 0;

	if (t->is_running && !pids)
		return out_of_memory();
	if (t->advice)
		qz_remedy_code__find(&place.code, t->measured.view.profile);
	status = list_remedies(t, &place, &nfound);
	free(pids);
	t->trials = status == STATUS_OK ? calloc(t->remedies.n + 1, sizeof(*t->trials)) : NULL;
	if (!t->trials)
		return status == STATUS_OK ? out_of_memory() : status;
	if (t->tunes) {
		tune__add_values(t);
		return STATUS_OK;
	}
	/* what the user asked for comes first */
	for (uint32_t i = 0; i < t->remedies.n; i++) {
		const struct qz_remedy_use *use = &t->remedies.uses[(nfound + i) % t->remedies.n];

		if (!use->why_not)
			t->trials[t->n++] = (struct try_trial) {.uses = {use}, .n = 1};
	}
	return STATUS_OK;
}

/* ---- the result ---- */

static int put_document(FILE *out, void *document)
{
	return json_dumpf(document, out, JSON_COMPACT) ? -ENOMEM : 0;
}

static enum status show(const struct tries *t)
{
	const struct config *config = t->runs.config;
	json_t *document = tries__document(t);
	const struct html_file page = {config->html, "--html", put_document, document,
				       config->open};
	enum status status = STATUS_OK;

	if (!document)
		return out_of_memory();
	if (t->first.elapsed_ns && t->n && !t->tunes)
		ledger__keep(document, t->runs.user);
	if (config->json)
		status = output__json(json_incref(document), 1);
	else if (tries__print_result(t))
		status = out_of_memory();
	fflush(stdout);
	if (status == STATUS_OK && config->html)
		status = html_file__write(&page);
	json_decref(document);
	return status;
}

/* Whether there was no time for a single pair; reported on stderr. */
static bool is_too_short(const struct tries *t)
{
	uint64_t seconds;

	if (!t->runs.over || t->runs.status != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->trials[i].pairs.n || *t->trials[i].failure)
			return false;
	seconds = (tries__least_ns(t, tries__run_ns(t)) + 999999999) / 1000000000;
	if (t->first.elapsed_ns)
		complain("--for: no remedy could be tried in this time; %" PRIu64
			 " s are the least for this command",
			 seconds);
	else
		complain("--for: %s did not end in this time", name_of(t));
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
	if (t->tunes && shown == STATUS_OK)
		shown = tune__leave(t);
	return t->runs.status == STATUS_OK ? shown : t->runs.status;
}

/* ---- the command ---- */

static const char *find_misuse(const struct config *config)
{
	bool is_running = config->pid || OWN(try_config, config)->unit;

	if (!*config->command + !config->pid + !OWN(try_config, config)->unit != 2)
		return "--try needs a COMMAND, or a --pid or a --unit";
	if (is_running && config->check)
		return "--check looks at what a COMMAND prints: not with --pid or --unit";
	if (!is_running && (config->events || config->duration))
		return "--events and --duration need --pid or --unit";
	if (OWN(try_config, config)->knobs.n > TRIES_KNOBS)
		return "more than eight times --knob";
	return config->dry_run && config->json ? "--dry-run prints a plan as text: not with --json"
					       : NULL;
}

static enum status check(const struct config *config)
{
	bool tunes = OWN(try_config, config)->tunes;
	const char *why = tunes ? tune__find_misuse(config) : find_misuse(config);

	if (!why)
		return STATUS_OK;
	complain("%s; try 'quartzctl %s --help'", why, tunes ? "tune" : "advise");
	return STATUS_USAGE;
}

/* What runs as the calling user; NULL: nothing does. */
static const char *what_runs(const struct config *config)
{
	if (OWN(try_config, config)->tunes && !config->pid)
		return "the command";
	if (*config->command)
		return config->command[0];
	return config->events ? "--events" : OWN(try_config, config)->knobs.n ? "--knob" : NULL;
}

static enum status prepare(struct tries *t)
{
	const struct config *config = t->runs.config;
	enum status status = STATUS_OK;

	if (t->is_running)
		status = running__open(&t->running, &t->runs, OWN(try_config, config)->unit);
	if (status == STATUS_OK && !(t->tunes && OWN(try_config, config)->knobs.n))
		status = find_findings(t);
	if (status == STATUS_OK)
		status = find_remedies(t);
	if (status != STATUS_OK || config->dry_run || !t->is_running || !t->n)
		return status;
	status = running__choose(&t->running);
	return status == STATUS_OK ? running__protect(&t->running, &t->remedies) : status;
}

enum status tries__run(const struct config *config)
{
	bool tunes = OWN(try_config, config)->tunes;
	/* with another setting, a command may well print something else */
	struct tries t = {.compared = tunes	      ? TRY_COMPARED_STATUS
				      : config->check ? TRY_COMPARED_CHECK
						      : TRY_COMPARED_OUTPUT,
			  .tunes = tunes,
			  .is_running = config->pid || OWN(try_config, config)->unit,
			  .least = config->runs ? (uint32_t)config->runs : QZ_JUDGE_LEAST};
	enum status status = check(config);

	trial__watch();
	if (status == STATUS_OK)
		status = runs__open(&t.runs, config, tunes ? TUNE_LIMIT : STANDARD_LIMIT,
				    what_runs(config));
	if (status == STATUS_OK)
		status = prepare(&t);
	if (status == STATUS_OK && config->dry_run)
		tries__print_plan(&t);
	else if (status == STATUS_OK && (!tunes || t.knobs[0].n))
		status = measure(&t);
	running__close(&t.running);
	trial__unwatch();
	for (int i = 0; i < TRIES_KNOBS; i++)
		knob__free(&t.knobs[i]);
	free(t.search.states);
	free(t.trials);
	qz_remedies__free(&t.remedies);
	qz_advise__free(t.advice);
	measured__free(&t.measured);
	return status;
}
