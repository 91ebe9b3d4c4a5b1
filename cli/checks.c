/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/checks.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OLDEST_MAJOR 5 /* tp_btf programs, task storage and bpf timers as we use them */
#define OLDEST_MINOR 15
#define USUAL_RATE   999 /* of quartzd for one program */

static void find(struct finding *f, enum verdict verdict, const char *remedy, const char *format,
		 ...) __attribute__((format(printf, 4, 5)));

static void find(struct finding *f, enum verdict verdict, const char *remedy, const char *format,
		 ...)
{
	va_list args;

	f->verdict = verdict;
	f->remedy = remedy;
	va_start(args, format);
	vsnprintf(f->detail, sizeof(f->detail), format, args);
	va_end(args);
}

static FILE *open_below(const char *root, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return fopen(full, "re");
}

/* The first line, without its newline. False when there is none. */
static bool read_line(const char *root, const char *path, char *line, int size)
{
	FILE *file = open_below(root, path);
	bool read = file && fgets(line, size, file);

	if (read)
		line[strcspn(line, "\n")] = 0;
	if (file)
		fclose(file);
	return read;
}

static bool read_number(const char *root, const char *path, long *value)
{
	char line[64], *end;

	if (!read_line(root, path, line, sizeof(line)))
		return false;
	*value = strtol(line, &end, 10);
	return end != line;
}

static void check_kernel(const char *root, struct finding *f)
{
	char release[128];
	int major, minor;

	if (!read_line(root, "/proc/sys/kernel/osrelease", release, sizeof(release)) ||
	    sscanf(release, "%d.%d", &major, &minor) != 2)
		find(f, CHECK_WARN, "mount /proc", "release unknown");
	else if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR))
		find(f, CHECK_FAIL, "boot Linux 5.15 or newer", "%s is too old", release);
	else
		find(f, CHECK_OK, NULL, "%s", release);
}

static void check_btf(const char *root, struct finding *f)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	FILE *file = open_below(root, path);

	if (file)
		find(f, CHECK_OK, NULL, "%s", path);
	else
		find(f, CHECK_FAIL, "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y", "%s: %s",
		     path, strerror(errno));
	if (file)
		fclose(file);
}

/* Effective capabilities of this process. */
static bool read_capabilities(const char *root, uint64_t *set)
{
	FILE *file = open_below(root, "/proc/self/status");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, "CapEff:", 7);
		if (found)
			*set = strtoull(line + 7, NULL, 16);
	}
	if (file)
		fclose(file);
	return found;
}

/* CAP_SYS_ADMIN stands for each of the finer ones. */
static bool has_capability(uint64_t set, int capability)
{
	return set & (1ULL << capability | 1ULL << CAP_SYS_ADMIN);
}

static void check_capabilities(const char *root, struct finding *f)
{
	uint64_t set;
	bool bpf, perfmon;

	if (!read_capabilities(root, &set)) {
		find(f, CHECK_WARN, "mount /proc", "unknown");
		return;
	}
	bpf = has_capability(set, CAP_BPF);
	perfmon = has_capability(set, CAP_PERFMON);
	if (bpf && perfmon)
		find(f, CHECK_OK, NULL, "CAP_BPF and CAP_PERFMON are effective");
	else
		find(f, CHECK_FAIL,
		     "run quartzd as root, and its container with these capabilities",
		     "%s%s%s missing", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		     perfmon ? "" : "CAP_PERFMON");
}

static void check_lockdown(const char *root, struct finding *f)
{
	char line[128];

	if (!read_line(root, "/sys/kernel/security/lockdown", line, sizeof(line)))
		find(f, CHECK_OK, NULL, "not in force");
	else if (strstr(line, "[confidentiality]"))
		find(f, CHECK_FAIL, "boot without lockdown=confidentiality",
		     "confidentiality: BPF programs may not read memory");
	else
		find(f, CHECK_OK, NULL, "%s", strstr(line, "[integrity]") ? "integrity" : "none");
}

static bool is_processor_pmu(const char *name)
{
	return !strcmp(name, "cpu") || !strncmp(name, "cpu_", 4) || !strncmp(name, "armv8_", 6);
}

static void check_pmu(const char *root, struct finding *f)
{
	char path[PATH_MAX], name[NAME_MAX + 1] = "";
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices", root);
	dir = opendir(path);
	while (dir && !*name && (entry = readdir(dir)))
		if (is_processor_pmu(entry->d_name))
			strcpy(name, entry->d_name);
	if (dir)
		closedir(dir);
	if (*name)
		find(f, CHECK_OK, NULL, "%s", name);
	else
		find(f, CHECK_WARN, "none needed; a virtual machine may be given a PMU",
		     "no hardware counters: sampling uses cpu-clock");
}

static void check_sample_rate(const char *root, struct finding *f)
{
	long rate;

	if (!read_number(root, "/proc/sys/kernel/perf_event_max_sample_rate", &rate))
		find(f, CHECK_FAIL, "boot a kernel built with CONFIG_PERF_EVENTS=y",
		     "this kernel has no perf events");
	else if (rate < USUAL_RATE)
		find(f, CHECK_WARN, "sysctl kernel.perf_event_max_sample_rate=100000",
		     "at most %ld samples per second, %d are usual", rate, USUAL_RATE);
	else
		find(f, CHECK_OK, NULL, "up to %ld samples per second", rate);
}

static void check_paranoid(const char *root, struct finding *f)
{
	uint64_t set = 0;
	long level;

	if (!read_number(root, "/proc/sys/kernel/perf_event_paranoid", &level))
		find(f, CHECK_WARN, "mount /proc", "unknown");
	else if (level > -1 && !(read_capabilities(root, &set) && has_capability(set, CAP_PERFMON)))
		find(f, CHECK_WARN, "run quartzd with CAP_PERFMON", "%ld, and no CAP_PERFMON",
		     level);
	else if (level > 2 && !has_capability(set, CAP_SYS_ADMIN))
		find(f, CHECK_WARN,
		     "sysctl kernel.perf_event_paranoid=2, or run quartzd with CAP_SYS_ADMIN",
		     "%ld: Debian's kernels let only CAP_SYS_ADMIN sample", level);
	else
		find(f, CHECK_OK, NULL, "%ld, does not bind %s", level,
		     level > 2 ? "CAP_SYS_ADMIN" : "CAP_PERFMON");
}

static void check_kptr(const char *root, struct finding *f)
{
	long level;

	if (!read_number(root, "/proc/sys/kernel/kptr_restrict", &level))
		find(f, CHECK_WARN, "mount /proc", "unknown");
	else if (level > 1)
		find(f, CHECK_WARN, "sysctl kernel.kptr_restrict=1",
		     "%ld: procedures of the kernel have no names", level);
	else
		find(f, CHECK_OK, NULL, "%ld", level);
}

static void check_bpffs(const char *root, struct finding *f)
{
	FILE *file = open_below(root, "/proc/self/mounts");
	char line[1024];
	bool mounted = false;

	while (file && !mounted && fgets(line, sizeof(line), file))
		mounted = strstr(line, " /sys/fs/bpf bpf ");
	if (file)
		fclose(file);
	if (mounted)
		find(f, CHECK_OK, NULL, "mounted at /sys/fs/bpf");
	else
		find(f, CHECK_WARN, "mount -t bpf bpf /sys/fs/bpf",
		     "not mounted: no text files below /sys/fs/bpf/quartz");
}

const struct check checks[] = {
	{"kernel", check_kernel},
	{"btf", check_btf},
	{"capabilities", check_capabilities},
	{"lockdown", check_lockdown},
	{"pmu", check_pmu},
	{"sample_rate", check_sample_rate},
	{"perf_event_paranoid", check_paranoid},
	{"kptr_restrict", check_kptr},
	{"bpffs", check_bpffs},
	{0},
};
