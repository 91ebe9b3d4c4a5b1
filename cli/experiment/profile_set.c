/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/profile_set.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/query/paths.h"
#include "cli/query/profile_source.h"
#include "cli/render/output.h"
#include "core/util/base_name.h"
#include "core/util/vec.h"

/* ---- files ---- */

static void take_rate(struct profile_of_run *run, const char *name)
{
	const char *word = strstr(name, RATE_WORD);
	unsigned int processors = 0;
	double rate = word ? strtod(word + strlen(RATE_WORD), NULL) : 0;

	if (!(rate > 0 && isfinite(rate)) || sscanf(name, "on%u-", &processors) != 1 || !processors)
		return;
	run->rate = rate;
	run->processors = processors;
}

static enum status add_file(struct profile_set *set, const struct config *config, char *file)
{
	const char *name = qz_base_name(file);
	struct profile_of_run *run;

	if (qz_array__reserve((void **)&set->runs, set->n, sizeof(*set->runs))) {
		free(file);
		return out_of_memory();
	}
	run = &set->runs[set->n++];
	*run = (struct profile_of_run) {.file = file, .config = *config};
	run->baseline = !strncmp(name, BASELINE_PREFIX, strlen(BASELINE_PREFIX));
	take_rate(run, name);
	return STATUS_OK;
}

static int is_profile(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(SOURCE_SUFFIX);

	return entry->d_name[0] != '.' && length > suffix &&
	       !strcmp(entry->d_name + length - suffix, SOURCE_SUFFIX);
}

static enum status add_directory(struct profile_set *set, const struct config *config,
				 const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_profile, alphasort);
	enum status status = STATUS_OK;
	char *file;

	if (n < 0)
		return paths__fail(path, errno);
	for (int i = 0; i < n; i++) {
		if (status == STATUS_OK && asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			status = out_of_memory();
		else if (status == STATUS_OK)
			status = add_file(set, config, file);
		free(entries[i]);
	}
	free(entries);
	if (status != STATUS_OK || n)
		return status;
	complain("%s: no profiles (*%s) there", path, SOURCE_SUFFIX);
	return STATUS_FAILURE;
}

enum status profile_set__add(struct profile_set *set, const struct config *config, const char *path)
{
	struct stat st;
	char *file;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return add_directory(set, config, path);
	file = strdup(path);
	return file ? add_file(set, config, file) : out_of_memory();
}

/* ---- what they tell ---- */

static enum status open_run(struct profile_of_run *run)
{
	enum status status;

	run->config.input = run->file;
	status = view__open(&run->view, &run->config);
	if (status == STATUS_OK && run->processors)
		run->view.profile->processors = run->processors;
	if (status != STATUS_OK || run->view.n == 1)
		return status;
	complain("%s has %u scopes; choose one with --scope", run->file, run->view.n);
	return STATUS_USAGE;
}

static const struct qz_scope *scope_of(const struct profile_of_run *run)
{
	return &run->view.profile->scopes[run->view.scopes[0]];
}

/* All but the baseline are of one program. */
static enum status check_program(const struct profile_set *set, const struct profile_of_run *run)
{
	for (uint32_t i = 0; !run->baseline && i < set->n; i++) {
		const struct profile_of_run *other = &set->runs[i];
		char *a, *b;

		if (other->baseline || other == run)
			continue;
		if (!strcmp(scope_of(run)->comm, scope_of(other)->comm))
			return STATUS_OK;
		a = output__escape(scope_of(other)->comm);
		b = output__escape(scope_of(run)->comm);
		complain("%s is of %s, and %s of %s: runs of one program are compared", other->file,
			 a ? a : "?", run->file, b ? b : "?");
		free(a);
		free(b);
		return STATUS_FAILURE;
	}
	return STATUS_OK;
}

static enum status open_all(struct profile_set *set)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < set->n; i++)
		status = open_run(&set->runs[i]);
	for (uint32_t i = 0; status == STATUS_OK && i < set->n; i++)
		status = check_program(set, &set->runs[i]);
	for (uint32_t i = 0; status == STATUS_OK && i < set->n; i++)
		if (qz_identities__add_profile(&set->ids, set->runs[i].view.profile))
			status = out_of_memory();
	return status;
}

/* What the first run on one processor did in a second is what all others are compared by. */
static double standard_rate(const struct profile_set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->runs[i].processors == 1)
			return set->runs[i].rate;
	return 0;
}

static enum status decompose(struct profile_set *set, struct qz_scale_run **runs,
			     struct qz_scale_run **baseline)
{
	uint32_t nruns = 0, nbaseline = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		struct qz_scale_run *run =
			qz_scale_run__new(&set->ids, set->runs[i].view.reports[0]);

		if (!run)
			return out_of_memory();
		if (set->runs[i].rate > 0)
			qz_scale_run__stretch(run, standard_rate(set) / set->runs[i].rate);
		if (set->runs[i].baseline)
			baseline[nbaseline++] = run;
		else
			runs[nruns++] = run;
	}
	set->scale = qz_scale__new(&set->ids, runs, nruns, baseline, nbaseline);
	if (set->scale)
		return STATUS_OK;
	if (errno != EINVAL)
		return out_of_memory();
	complain("there is no run on one processor, which all others are compared with");
	return STATUS_FAILURE;
}

enum status profile_set__decompose(struct profile_set *set)
{
	struct qz_scale_run **runs =
		calloc(2 * ((size_t)set->n + 1), sizeof(struct qz_scale_run *));
	enum status status = runs ? open_all(set) : out_of_memory();

	if (status == STATUS_OK)
		status = decompose(set, runs, runs + set->n + 1);
	for (uint32_t i = 0; runs && i < 2 * (set->n + 1); i++)
		qz_scale_run__free(runs[i]);
	free(runs);
	return status;
}

const char *profile_set__command(const struct profile_set *set)
{
	const struct profile_of_run *most = NULL;

	for (uint32_t i = 0; i < set->n; i++) {
		const struct profile_of_run *run = &set->runs[i];

		if (!run->baseline &&
		    (!most || run->view.profile->processors > most->view.profile->processors))
			most = run;
	}
	return most ? scope_of(most)->command : "";
}

/* The mean of the rates on so many processors. */
static double rate_on(const struct profile_set *set, uint32_t processors)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->n; i++)
		if (set->runs[i].processors == processors) {
			sum += set->runs[i].rate;
			n++;
		}
	return n ? sum / n : 0;
}

char *profile_set__rates(const struct profile_set *set)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!(standard_rate(set) > 0) || !set->scale)
		return NULL;
	out = open_memstream(&text, &size);
	for (uint32_t i = 0; out && i < set->scale->n; i++) {
		uint32_t processors = set->scale->points[i].processors;

		fprintf(out, "%s%.6g on %u", i ? ", " : "", rate_on(set, processors), processors);
	}
	if (out && !fclose(out))
		return text;
	free(text);
	return NULL;
}

enum status profile_set__check_samples(const struct profile_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		if (set->runs[i].baseline || scope_of(&set->runs[i])->samples)
			continue;
		complain("%s: no samples were captured, so that its procedures are not known; let "
			 "the command run longer",
			 set->runs[i].file);
		return STATUS_NO_SAMPLES;
	}
	return STATUS_OK;
}

void profile_set__free(struct profile_set *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		view__close(&set->runs[i].view);
		free(set->runs[i].file);
	}
	free(set->runs);
	qz_scale__free(set->scale);
	qz_identities__free(&set->ids);
	*set = (struct profile_set) {0};
}
