/* SPDX-License-Identifier: GPL-2.0-only */
/* quartzctl replay: the profile of a scheduler's log that was kept by record --log. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/files/output_file.h"
#include "core/format/pprof.h"
#include "core/replay/log_replay.h"
#include "core/util/save_file.h"

#define SUFFIX ".pb.gz"

static enum status read_log(const char *path, struct qz_profile **p, struct log_replay_figures *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err = fd < 0 ? -errno : 0;
	struct qz_log_header header;
	struct qz_log_file *file = err ? NULL : qz_log_file__new(fd, &header);

	if (!err && !file)
		err = -errno;
	*p = file ? log_replay__profile(file, &header, f) : NULL;
	if (file && !*p)
		err = -errno;
	qz_log_file__free(file);
	if (fd >= 0)
		close(fd);
	if (*p)
		return STATUS_OK;
	complain("%s: %s", path,
		 err == -EBADMSG ? "no scheduler's log of this version of Quartz, or damaged from "
				   "its beginning; quartzctl record --log FILE makes one"
				 : strerror(-err));
	return err == -EACCES ? STATUS_NO_PRIVILEGE : STATUS_FAILURE;
}

static int put_profile(FILE *out, void *context)
{
	return qz_pprof__write(context, fileno(out));
}

static enum status save(struct qz_profile *p, const char *path)
{
	int err = output_file__write(path, put_profile, p);

	if (!err)
		return STATUS_OK;
	complain("%s: %s; choose another file with --output", path, qz_save_file__reason(err));
	return STATUS_FAILURE;
}

static void say_oddities(const char *path, const struct log_replay_figures *f)
{
	const struct replay_counts *c = &f->counts;

	if (!f->complete)
		complain("%s: cut or damaged; the profile is of what comes before", path);
	if (f->overwritten)
		complain("%s: %" PRIu64
			 " records were overwritten before they were read: %.3f s of "
			 "processors are not known",
			 path, f->overwritten, (double)c->lost_ns / 1e9);
	if (c->impossible || c->late)
		complain("%s: %" PRIu64 " records contradict others, %" PRIu64 " came late", path,
			 c->impossible, c->late);
}

static enum status replay(const struct config *config)
{
	struct log_replay_figures figures = {0};
	char output[PATH_MAX];
	struct qz_profile *p;
	enum status status;

	if (!config->procedure) {
		complain("no log given; try 'quartzctl replay --help'");
		return STATUS_USAGE;
	}
	if (snprintf(output, sizeof(output), "%s%s", config->output ?: config->procedure,
		     config->output ? "" : SUFFIX) >= (int)sizeof(output)) {
		complain("%s: %s", config->procedure, strerror(ENAMETOOLONG));
		return STATUS_FAILURE;
	}
	status = read_log(config->procedure, &p, &figures);
	if (status != STATUS_OK)
		return status;
	say_oddities(config->procedure, &figures);
	status = save(p, output);
	if (status == STATUS_OK)
		complain("%" PRIu64 " records of %.1f s, profile saved to %s",
			 figures.counts.records, (double)p->window_ns / 1e9, output);
	qz_profile__free(p);
	return status == STATUS_OK && !figures.complete ? STATUS_FAILURE : status;
}

static const struct qz_option options[] = {
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write the profile to FILE. Default: the name of the\nlog and .pb.gz."},
	{0},
};

const struct command cmd_replay = {
	.name = "replay",
	.operands = " LOG",
	.summary = "Make a profile of a scheduler's log",
	.details =
		"LOG is of 'quartzctl record --log LOG'. The profile has exact times of levels,\n"
		"threads, waits and objects, and no samples. The same log makes the same "
		"profile.\n",
	.options = options,
	.takes_procedure = true,
	.run = replay,
};
