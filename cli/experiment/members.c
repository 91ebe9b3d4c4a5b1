/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/members.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/render/output.h"
#include "core/util/systemd_unit.h"
#include "core/util/vec.h"

#define LEAST_ID 8 /* digits of a container's id: fewer may be in any name */

struct process {
	int64_t pid, parent;
	char comm[17];
	unsigned long ticks; /* of processor time */
	bool member;
};

struct processes {
	struct process *all;
	uint32_t n;
};

/* ---- what /proc says ---- */

/* False: it has ended. */
static bool read_stat(struct process *p)
{
	char path[64], text[512] = "", *open_, *close_;
	unsigned long user, kernel;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	open_ = strchr(text, '(');
	close_ = strrchr(text, ')'); /* a name may have some */
	if (!open_ || !close_ ||
	    sscanf(close_, ") %*c %" SCNd64 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		   &p->parent, &user, &kernel) != 3)
		return false;
	p->ticks = user + kernel;
	snprintf(p->comm, sizeof(p->comm), "%.*s", (int)(close_ - open_ - 1), open_ + 1);
	return true;
}

static int list(struct processes *list)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		struct process p = {0};

		if (qz_options__integer(entry->d_name, 1, INT32_MAX, &p.pid) || !read_stat(&p))
			continue;
		if (qz_array__reserve((void **)&list->all, list->n, sizeof(p)))
			err = -ENOMEM;
		else
			list->all[list->n++] = p;
	}
	closedir(dir);
	return err;
}

/* ---- members ---- */

static bool is_of_unit(const char *group, const char *unit)
{
	char name[QZ_UNIT_LENGTH];
	size_t length = strlen(unit);

	qz_systemd_unit__of_cgroup(group, name);
	return !strncmp(name, unit, length) &&
	       (!name[length] || !strcmp(name + length, ".service"));
}

/* "/docker/ID", "docker-ID.scope", "cri-containerd-ID.scope": the id begins where no other digit of it is before. */
static bool is_of_container(const char *group, const char *id)
{
	const char *at = group;

	while ((at = strstr(at, id))) {
		if (at > group && !strchr("0123456789abcdef", at[-1]))
			return true;
		at++;
	}
	return false;
}

/* In any hierarchy of control groups. */
static bool is_member(int64_t pid, const char *unit, const char *container)
{
	char path[64], line[PATH_MAX];
	bool is = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && !is && fgets(line, sizeof(line), f)) {
		char *group = strchr(line, ':');

		group = group ? strchr(group + 1, ':') : NULL;
		if (!group)
			continue;
		group[strcspn(group, "\n")] = '\0';
		is = unit ? is_of_unit(group + 1, unit) : is_of_container(group + 1, container);
	}
	if (f)
		fclose(f);
	return is;
}

static const struct process *find(const struct processes *list, int64_t pid)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->all[i].pid == pid)
			return &list->all[i];
	return NULL;
}

static int add_root(struct qz_integers *roots, int64_t pid)
{
	int64_t *items = reallocarray(roots->items, roots->n + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	roots->items = items;
	items[roots->n++] = pid;
	return 0;
}

static int add_roots(struct processes *all, const char *unit, const char *container,
		     struct qz_integers *roots)
{
	int err = list(all);

	for (uint32_t i = 0; i < all->n; i++)
		all->all[i].member = is_member(all->all[i].pid, unit, container);
	for (uint32_t i = 0; !err && i < all->n; i++) {
		const struct process *parent = find(all, all->all[i].parent);

		if (all->all[i].member && !(parent && parent->member))
			err = add_root(roots, all->all[i].pid);
	}
	return err;
}

int members__of_unit(const char *unit, struct qz_integers *roots)
{
	struct processes all = {0};
	int err = add_roots(&all, unit, NULL, roots);

	free(all.all);
	return err;
}

/* ---- what they are, and have had ---- */

char *members__list(const struct qz_integers *pids, char between)
{
	size_t room = 21 * pids->n + 1, length = 0; /* of any number */
	char *list = calloc(1, room);

	for (size_t i = 0; list && i < pids->n; i++) {
		if (i)
			list[length++] = between;
		length +=
			(size_t)snprintf(list + length, room - length, "%" PRId64, pids->items[i]);
	}
	return list;
}

double members__cpu_seconds(const struct qz_integers *pids)
{
	double ticks = 0;

	for (size_t i = 0; i < pids->n; i++) {
		struct process p = {.pid = pids->items[i]};

		if (read_stat(&p))
			ticks += (double)p.ticks;
	}
	return ticks / (double)sysconf(_SC_CLK_TCK);
}

enum status members__find(const char *unit, const char *container, struct qz_integers *roots)
{
	struct processes all = {0};
	size_t before = roots->n;
	int err;

	if (container &&
	    (strlen(container) < LEAST_ID || container[strspn(container, "0123456789abcdef")])) {
		complain("--container: '%s' is no id of a container, of %d or more digits as "
			 "'docker ps' shows it",
			 container, LEAST_ID);
		return STATUS_USAGE;
	}
	err = add_roots(&all, unit, container, roots);
	free(all.all);
	if (err)
		return err == -ENOMEM ? out_of_memory()
				      : (complain("/proc: %s", strerror(-err)), STATUS_FAILURE);
	if (roots->n > before)
		return STATUS_OK;
	complain(
		unit ? "--unit: no process runs in the unit '%s'; 'systemctl list-units' names them"
		     : "--container: no process runs in a container '%s'",
		unit ? unit : container);
	return STATUS_FAILURE;
}

/* ---- children ---- */

int members__of_trees(const struct qz_integers *roots, struct qz_integers *all)
{
	struct processes processes = {0};
	struct qz_integers found = {0};
	int err = list(&processes);

	for (size_t i = 0; !err && i < roots->n; i++)
		if (!qz_integers__have(&found, roots->items[i]))
			err = add_root(&found, roots->items[i]);
	/* the children of each process are added at the end, and reached in their turn */
	for (size_t i = 0; !err && i < found.n; i++)
		for (uint32_t k = 0; !err && k < processes.n; k++)
			if (processes.all[k].parent == found.items[i] &&
			    !qz_integers__have(&found, processes.all[k].pid))
				err = add_root(&found, processes.all[k].pid);
	free(processes.all);
	free(all->items);
	*all = found;
	return err;
}

static void say_children(const struct processes *all, const struct qz_integers *pids, int64_t pid)
{
	const struct process *process = find(all, pid), *first = NULL;
	uint32_t n = 0;
	char *name, *child;

	for (uint32_t i = 0; i < all->n; i++) {
		if (all->all[i].parent != pid || qz_integers__have(pids, all->all[i].pid))
			continue;
		first = first ? first : &all->all[i];
		n++;
	}
	if (!n || !process)
		return;
	name = output__escape(process->comm);
	child = output__escape(first->comm);
	complain("process %d (%s) has %u child process%s (%s), left out; --tree %d takes %s in",
		 (int)pid, name ? name : "?", n, n > 1 ? "es" : "", child ? child : "?", (int)pid,
		 n > 1 ? "them" : "it");
	free(name);
	free(child);
}

void members__say_left_out(const struct qz_integers *pids)
{
	struct processes all = {0};

	if (pids->n && !list(&all))
		for (size_t i = 0; i < pids->n; i++)
			say_children(&all, pids, pids->items[i]);
	free(all.all);
}
