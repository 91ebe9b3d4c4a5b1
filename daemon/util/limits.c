// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/util/limits.h"
#include "daemon/util/log.h"

#define WANTED_FILES 65536 /* five per processor, one or two per module, clients */
#define FEW_FILES    512   /* one program has that many modules, but not a machine */
#define OWN_FILES    116   /* of BPF, of processes of its own, of one program */
#define CPU_FILES    5
#define LEFT_FILES   16 /* to save, to name kernel code, to start a symbolizer anew, to answer */

static const struct limit {
	int resource;
	int err;
	const char *name, *remedy;
} limits[] = {
	{RLIMIT_NOFILE, EMFILE, "RLIMIT_NOFILE",
	 "raise the limit of open files (ulimit -n, LimitNOFILE=)"},
	{RLIMIT_FSIZE, EFBIG, "RLIMIT_FSIZE",
	 "raise the limit of file sizes (ulimit -f, LimitFSIZE=)"},
	{RLIMIT_AS, ENOMEM, "RLIMIT_AS", "raise the limit of memory (ulimit -v, LimitAS=)"},
	{RLIMIT_DATA, ENOMEM, "RLIMIT_DATA", "raise the limit of data (ulimit -d, LimitDATA=)"},
	{RLIMIT_NPROC, EAGAIN, "RLIMIT_NPROC",
	 "raise the limit of processes (ulimit -u, LimitNPROC=)"},
};

static rlim_t limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

static void describe(const struct limit *l, char *to, size_t size)
{
	snprintf(to, size, "%s is %llu: %s", l->name, (unsigned long long)limit_of(l->resource),
		 l->remedy);
}

/* What quartzd raises for itself, and what was there before for whom it starts. */
static struct raised {
	int resource;
	bool is;
	struct rlimit before;
} raised[] = {{.resource = RLIMIT_NOFILE}, {.resource = RLIMIT_FSIZE}, {.resource = RLIMIT_CPU}};

/* As far as is allowed, and at least to `wanted` if the hard limit can be raised as well. */
static void raise_limit(struct raised *r, rlim_t wanted)
{
	struct rlimit limit = {wanted, wanted};

	if (getrlimit(r->resource, &r->before))
		return;
	r->is = true;
	if (r->before.rlim_max > wanted)
		limit.rlim_max = r->before.rlim_max;
	if (!setrlimit(r->resource, &limit))
		return;
	limit.rlim_max = r->before.rlim_max;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(r->resource, &limit);
}

void limits__restore(void)
{
	for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		if (raised[i].is)
			setrlimit(raised[i].resource, &raised[i].before);
}

int limits__raise(char *error, size_t size)
{
	rlim_t needed = OWN_FILES + CPU_FILES * (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
	char what[160];

	raise_limit(&raised[0], WANTED_FILES);
	for (size_t i = 1; i < sizeof(raised) / sizeof(raised[0]); i++)
		raise_limit(&raised[i], RLIM_INFINITY);
	describe(&limits[0], what, sizeof(what));
	if (limit_of(RLIMIT_NOFILE) < needed) {
		snprintf(error, size,
			 "too few open files are allowed, at least %llu are needed; %s",
			 (unsigned long long)needed, what);
		return -EMFILE;
	}
	if (limit_of(RLIMIT_NOFILE) < FEW_FILES)
		log_warning("few open files are allowed, what is mapped beyond has no names; %s",
			    what);
	return 0;
}

/*
 * Whether a descriptor may stay open for an optional purpose: the last ones that the limit allows are
 * reserved for what a run needs, such as saving it. A new descriptor is the lowest free one.
 */
static bool has_room(int fd)
{
	rlim_t limit = limit_of(RLIMIT_NOFILE);

	return limit == RLIM_INFINITY || (rlim_t)fd + LEFT_FILES < limit;
}

int limits__spare(int fd)
{
	if (fd < 0 || has_room(fd))
		return fd;
	close(fd);
	return -EMFILE;
}

/* Tries it: a library call that found no free descriptor may have reported another error. */
static bool out_of_files(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EMFILE;
}

/* Below a mounted hierarchy: the least limit of a group and of those above it. 0: there is none. */
static unsigned long long least_in_groups(const char *root, const char *group, char found[PATH_MAX])
{
	unsigned long long least = 0, max;
	char path[PATH_MAX], file[PATH_MAX + 16];
	char *slash;

	snprintf(path, sizeof(path), "%s%s", root, group);
	for (; strlen(path) >= strlen(root); *slash = '\0') {
		FILE *f;

		snprintf(file, sizeof(file), "%s/pids.max", path);
		f = fopen(file, "re");
		if (f && fscanf(f, "%llu", &max) == 1 && (!least || max < least)) {
			least = max;
			strcpy(found, path);
		}
		if (f)
			fclose(f);
		slash = strrchr(path, '/');
		if (!slash)
			break;
	}
	return least;
}

/* The kernel gives the same error for a limit of processes of this control group, in either version. */
static bool describe_group(char *to, size_t size)
{
	char line[PATH_MAX], found[PATH_MAX];
	unsigned long long least = 0;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && !least && fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (!names[1])
			least = least_in_groups("/sys/fs/cgroup", group, found);
		else if (!strcmp(names + 1, "pids"))
			least = least_in_groups("/sys/fs/cgroup/pids", group, found);
	}
	if (f)
		fclose(f);
	if (least)
		snprintf(to, size,
			 "pids.max of %.100s is %llu: raise it (TasksMax= of a unit, --pids-limit "
			 "of "
			 "a container)",
			 found, least);
	return least;
}

void limits__explain(int err, char *line, size_t size)
{
	size_t length = strlen(line);
	char what[320];

	if (out_of_files())
		err = -EMFILE;
	if (err == -EAGAIN && describe_group(what, sizeof(what))) {
		snprintf(line + length, size - length, "; %s", what);
		return;
	}
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (limits[i].err != -err || limit_of(limits[i].resource) == RLIM_INFINITY ||
		    strstr(line, limits[i].name))
			continue;
		describe(&limits[i], what, sizeof(what));
		snprintf(line + length, size - length, "; %s", what);
		return;
	}
}
