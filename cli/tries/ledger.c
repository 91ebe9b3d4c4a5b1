/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/tries/ledger.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/experiment/programs.h"
#include "cli/render/output.h"
#include "cli/render/text_table.h"
#include "core/format/json_fields.h"
#include "core/remedies/record.h"
#include "core/util/ratio_text.h"
#include "core/util/save_file.h"

#define SUFFIX	  ".json"
#define MOST_SIZE (1 << 20) /* of a file, bytes; a document has some KiB */

/* The directory of the current user. False: neither variable is set, which is reported. */
static bool find_directory(char path[PATH_MAX])
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;

	if (data && *data == '/')
		n = snprintf(path, PATH_MAX, "%s/quartz/tries", data);
	else if (home && *home == '/')
		n = snprintf(path, PATH_MAX, "%s/.local/share/quartz/tries", home);
	else
		n = PATH_MAX;
	if (n < PATH_MAX)
		return true;
	complain("tries are kept below XDG_DATA_HOME or HOME, and neither is set to a path");
	return false;
}

/* ---- keeping ---- */

static int make_directories(const char *path)
{
	char part[PATH_MAX + 64];

	for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (*part && mkdir(part, 0700) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int write_text(void *context, int fd)
{
	const char *text = context;

	for (size_t left = strlen(text); left;) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int save(const char *path, char *text)
{
	const char *name;
	int err = make_directories(path), dir;

	if (err)
		return err;
	dir = qz_save_file__directory(path, geteuid(), &name);
	if (dir < 0)
		return dir;
	err = qz_save_file__at(dir, name, 0600, false, write_text, text);
	close(dir);
	return err;
}

/* Runs in a child process, because it becomes the user permanently. */
static void keep_as(const char *user, char *text)
{
	char directory[PATH_MAX], path[PATH_MAX + 64], at[32];
	time_t now = time(NULL);
	struct tm tm;
	int err = programs__become(user);

	if (err)
		complain("the try is not kept: cannot become %s: %s", user, strerror(-err));
	if (err || !find_directory(directory))
		_exit(1);
	strftime(at, sizeof(at), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	snprintf(path, sizeof(path), "%s/%s-%d" SUFFIX, directory, at, (int)getpid());
	err = save(path, text);
	if (err)
		complain("%s: the try is not kept: %s", path, qz_save_file__reason(err));
	_exit(!!err);
}

void ledger__keep(const json_t *document, const char *user)
{
	char *text = qz_json_fields__dump(document, JSON_INDENT(1) | JSON_SORT_KEYS);
	pid_t pid;

	if (!text) {
		out_of_memory();
		return;
	}
	pid = fork();
	if (!pid)
		keep_as(user, text);
	if (pid < 0)
		complain("the try is not kept: %s", strerror(errno));
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(text);
}

/* ---- showing ---- */

static int is_try(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return *entry->d_name != '.' && dot && !strcmp(dot, SUFFIX);
}

static json_t *read_document(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	json_t *document = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MOST_SIZE)
		document = json_loadfd(fd, 0, NULL);
	if (fd >= 0)
		close(fd);
	return document;
}

static void read_all(const char *directory, struct qz_record *record)
{
	struct dirent **entries = NULL;
	int n = scandir(directory, &entries, is_try, alphasort);
	int dir = n > 0 ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	for (int i = 0; i < n; i++) {
		json_t *document = read_document(dir, entries[i]->d_name);
		char *name = output__escape(entries[i]->d_name);

		if (!document || qz_record__add(record, document))
			complain("%s/%s: left out, since 'advise --try' has not written it so; "
				 "remove it",
				 directory, name ? name : "?");
		json_decref(document);
		free(name);
		free(entries[i]);
	}
	free(entries);
	if (dir >= 0)
		close(dir);
}

static void print_dates(const struct qz_record *record, const char *directory)
{
	char first[16], last[16];
	time_t at = (time_t)record->first;
	struct tm tm;

	strftime(first, sizeof(first), "%F", localtime_r(&at, &tm));
	at = (time_t)record->last;
	strftime(last, sizeof(last), "%F", localtime_r(&at, &tm));
	printf("%u %s from %s to %s, in %s\n", record->tries, record->tries == 1 ? "try" : "tries",
	       first, last, directory);
}

static enum status print_text(const struct config *config, const struct qz_record *record)
{
	static const struct column heads[] = {
		{.head = {"", "rule"}, .left = true},
		{.head = {"", "tries"}},
		{.head = {"range", "held"}},
		{.head = {"", "less"}},
		{.head = {"", "more"}},
		{.head = {"mean", "predicted"}},
		{.head = {"mean", "measured"}},
	};
	struct text_table *table;
	struct output out;
	int err;

	if (!record->n) {
		puts("None of them had a remedy of a finding that was measured to the end.");
		return STATUS_OK;
	}
	putchar('\n');
	fflush(stdout);
	table = text_table__new(heads, 7);
	for (uint32_t i = 0; i < record->n; i++) {
		const struct qz_record_row *row = &record->rows[i];
		char *rule = output__escape(row->rule), gain[QZ_RATIO_TEXT];

		text_table__take(table, rule);
		text_table__add(table, PLAIN, "%u", row->tries);
		text_table__add(table, PLAIN, "%u", row->within);
		text_table__add(table, PLAIN, "%u", row->below);
		text_table__add(table, PLAIN, "%u", row->above);
		text_table__add(table, PLAIN, "%.0f to %.0f%%", 100 * row->low / row->tries,
				100 * row->high / row->tries);
		qz_ratio_text__gain(gain, 1 - row->gain / row->tries);
		text_table__add(table, PLAIN, "%s", gain);
	}
	output__open(&out, config);
	err = text_table__print(table, &out);
	output__close(&out);
	return err ? out_of_memory() : STATUS_OK;
}

static json_t *integer_of(double share)
{
	return json_integer((json_int_t)(1e6 * share));
}

static enum status print_json(const struct qz_record *record)
{
	json_t *rows = json_array();
	bool failed = !rows;

	for (uint32_t i = 0; !failed && i < record->n; i++) {
		const struct qz_record_row *row = &record->rows[i];

		failed = json_array_append_new(
			rows, json_pack("{so, si, si, si, si, so, so, so}", "rule",
					qz_json_fields__text(row->rule), "tries", (int)row->tries,
					"within", (int)row->within, "below", (int)row->below,
					"above", (int)row->above, "predicted_low_ppm",
					integer_of(row->low / row->tries), "predicted_high_ppm",
					integer_of(row->high / row->tries), "gain_ppm",
					integer_of(row->gain / row->tries)));
	}
	return output__json(json_pack("{ss, si, sI, sI, so}", "schema", "quartz.tries/v1", "tries",
				      (int)record->tries, "first", (json_int_t)record->first,
				      "last", (json_int_t)record->last, "rules",
				      qz_json_fields__unless(failed, rows)),
			    1);
}

/* With sudo, the tries of the calling user are meant, since commands ran as this user. */
static enum status become_caller(void)
{
	const char *uid = getenv("SUDO_UID");
	int err = !geteuid() && uid && strcmp(uid, "0") != 0 ? programs__become(uid) : 0;

	if (err)
		complain("SUDO_UID: cannot become '%s': %s", uid, strerror(-err));
	return err ? STATUS_FAILURE : STATUS_OK;
}

enum status ledger__show(const struct config *config)
{
	struct qz_record record = {0};
	enum status status = become_caller();
	char directory[PATH_MAX];

	if (status != STATUS_OK || !find_directory(directory))
		return STATUS_FAILURE;
	read_all(directory, &record);
	if (!record.tries) {
		complain("%s: no try is kept there yet; 'quartzctl advise --try -- COMMAND' makes "
			 "one",
			 directory);
		qz_record__free(&record);
		return STATUS_NO_SOURCE;
	}
	qz_record__sort(&record);
	if (!config->json)
		print_dates(&record, directory);
	status = config->json ? print_json(&record) : print_text(config, &record);
	qz_record__free(&record);
	return status;
}
