/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/live.h"
#include "core/transform/delta.h"
#include "core/util/term_escape.h"
#include "core/format/pprof.h"

static void explain(int err, const char *said, char reason[SOURCE_REASON])
{
	char escaped[SOURCE_REASON / 2];

	switch (err) {
	case -ENOENT:
	case -ECONNREFUSED:
		snprintf(reason, SOURCE_REASON, "quartzd is not running");
		break;
	case -EACCES:
	case -EPERM:
		snprintf(reason, SOURCE_REASON,
			 "quartzd serves root and the group quartz alone; run as a member of it");
		break;
	case -EREMOTEIO:
		qz_term_escape(escaped, sizeof(escaped), said);
		snprintf(reason, SOURCE_REASON, "quartzd cannot do that: %s", escaped);
		break;
	default:
		snprintf(reason, SOURCE_REASON, "no snapshot from quartzd: %s", strerror(-err));
	}
}

/* A descriptor from which to read the snapshot, or -1 with the reason. */
static int ask(const char *socket, const struct live_wanted *wanted, char reason[SOURCE_REASON])
{
	char said[200] = "";
	int fd;

	fd = live__snapshot(socket, wanted, said, sizeof(said));
	if (fd >= 0)
		return fd;
	explain(fd, said, reason);
	return -1;
}

static struct qz_profile *parse(int fd, char reason[SOURCE_REASON])
{
	const char *why = "cannot be read";
	struct qz_profile *p = lseek(fd, 0, SEEK_SET) ? NULL : qz_pprof__read(fd, &why);

	if (!p)
		snprintf(reason, SOURCE_REASON, "the snapshot of quartzd: %s", why);
	return p;
}

struct qz_profile *source__profile(const char *socket, char reason[SOURCE_REASON])
{
	int fd = ask(socket, NULL, reason);
	struct qz_profile *p = fd < 0 ? NULL : parse(fd, reason);

	if (fd >= 0)
		close(fd);
	return p;
}

static int ask_since(const char *socket, const struct live_wanted *wanted,
		     const struct qz_profile *before, struct qz_profile **whole,
		     struct qz_profile **added, char reason[SOURCE_REASON])
{
	int fd = ask(socket, wanted, reason);
	struct qz_profile *p = fd < 0 ? NULL : parse(fd, reason), *rest = NULL;

	if (p)
		rest = parse(fd, reason);
	if (fd >= 0)
		close(fd);
	if (rest && before && qz_delta__since(rest, before) == -ENOMEM) {
		snprintf(reason, SOURCE_REASON, "memory is short");
		qz_profile__free(rest);
		rest = NULL;
	}
	if (!rest) {
		qz_profile__free(p);
		return -1;
	}
	*whole = p;
	*added = rest;
	return 0;
}

int source__profile_since(const char *socket, const struct qz_profile *before,
			  struct qz_profile **whole, struct qz_profile **added,
			  char reason[SOURCE_REASON])
{
	return ask_since(socket, NULL, before, whole, added, reason);
}

int source__figures_since(const char *socket, const struct qz_profile *before,
			  struct qz_profile **whole, struct qz_profile **added,
			  char reason[SOURCE_REASON])
{
	const struct live_wanted wanted = {
		.detail = "scopes",
		.since_ns = before ? before->wall_start_ns + before->window_ns : 0,
		.pid = -1,
	};

	return ask_since(socket, &wanted, before, whole, added, reason);
}

json_t *source__status(const char *socket)
{
	json_t *status = NULL;
	char said[200];
	int err;

	err = live__call(socket, "io.quartz.Status", &status, said, sizeof(said));
	return err ? NULL : status;
}
