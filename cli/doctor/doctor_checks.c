/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/doctor/doctor_checks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define OLDEST_MAJOR 5 /* first with tp_btf programs, task storage and bpf timers as used here */
#define OLDEST_MINOR 15
#define USUAL_RATE   999 /* quartzd's default for one program */
/* Inode numbers of the initial namespaces, include/linux/proc_ns.h, since 3.8. */
#define INITIAL_USERS 0xeffffffdUL
#define INITIAL_PIDS  0xeffffffcUL

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

/* Reads the first line, without its newline. False: there is none. */
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

/* Reads the value of "KEY:" in this process's status. */
static bool read_status(const char *root, const char *key, char *value, int size)
{
	FILE *file = open_below(root, "/proc/self/status");
	size_t length = strlen(key);
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, key, length) && line[length] == ':';
		if (found)
			snprintf(value, size, "%s", line + length + 1);
	}
	if (file)
		fclose(file);
	return found;
}

/* Reads the effective capabilities of this process. */
static bool read_capabilities(const char *root, uint64_t *set)
{
	char value[256];
	bool found = read_status(root, "CapEff", value, sizeof(value));

	if (found)
		*set = strtoull(value, NULL, 16);
	return found;
}

/* Whether this process is in another namespace of this kind than the initial one. */
static bool is_contained(const char *root, const char *kind, unsigned long initial)
{
	char path[PATH_MAX], name[64], *number;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/proc/self/ns/%s", root, kind);
	n = readlink(path, name, sizeof(name) - 1);
	if (n < 0)
		return false; /* the kernel has none */
	name[n] = 0;
	number = strchr(name, '['); /* KIND:[INODE] */
	return number && strtoul(number + 1, NULL, 10) != initial;
}

/* CAP_SYS_ADMIN includes each of these capabilities. */
static bool has_capability(uint64_t set, int capability)
{
	return set & (1ULL << capability | 1ULL << CAP_SYS_ADMIN);
}

/* For an invalid call, a seccomp filter returns EPERM, the kernel another error. */
static bool refuses(long number)
{
	errno = 0;
	syscall(number, 0, NULL, 0, 0, 0);
	return errno == EPERM;
}

/*
 * The seccomp profiles of some container runtimes allow these two calls only with CAP_SYS_ADMIN.
 * Checked on this machine only (`root` is "").
 */
static const char *refused_calls(const char *root)
{
	bool bpf = !*root && refuses(SYS_bpf), perf = !*root && refuses(SYS_perf_event_open);

	if (bpf && perf)
		return "bpf and perf_event_open";
	return bpf ? "bpf" : perf ? "perf_event_open" : NULL;
}

static void check_capabilities(const char *root, struct finding *f)
{
	const char *refused;
	uint64_t set;
	bool bpf, perfmon;

	if (!read_capabilities(root, &set)) {
		find(f, CHECK_WARN, "mount /proc", "unknown");
		return;
	}
	bpf = has_capability(set, CAP_BPF);
	perfmon = has_capability(set, CAP_PERFMON);
	refused = bpf && perfmon ? refused_calls(root) : NULL;
	if (bpf && perfmon && is_contained(root, "user", INITIAL_USERS))
		find(f, CHECK_FAIL,
		     "run quartzd, or its container, as root outside of user namespaces",
		     "effective in a user namespace only, which is not enough");
	else if (refused)
		find(f, CHECK_FAIL,
		     "use a seccomp profile that allows them (--security-opt seccomp=...)",
		     "CAP_BPF and CAP_PERFMON, but system calls are refused: %s", refused);
	else if (bpf && perfmon)
		find(f, CHECK_OK, NULL, "CAP_BPF and CAP_PERFMON are effective");
	else
		find(f, CHECK_FAIL, "run quartzd as root; in a container, add these capabilities",
		     "%s%s%s missing", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		     perfmon ? "" : "CAP_PERFMON");
}

/* Capabilities for names and complete stacks; containers often lack some. */
static void check_helpers(const char *root, struct finding *f)
{
	static const struct {
		int capability;
		const char *name;
	} wanted[] = {
		{CAP_SYS_PTRACE, "SYS_PTRACE"}, {CAP_DAC_READ_SEARCH, "DAC_READ_SEARCH"},
		{CAP_SETUID, "SETUID"},		{CAP_SETGID, "SETGID"},
		{CAP_SETPCAP, "SETPCAP"},	{CAP_KILL, "KILL"},
	};
	char missing[128] = "";
	size_t n = 0;
	uint64_t set;

	if (!read_capabilities(root, &set)) {
		find(f, CHECK_WARN, "mount /proc", "unknown");
		return;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!(set & 1ULL << wanted[i].capability))
			n += snprintf(missing + n, sizeof(missing) - n, "%s%s", n ? "," : "",
				      wanted[i].name);
	/* CAP_SYS_ADMIN includes only this one */
	if (!has_capability(set, CAP_CHECKPOINT_RESTORE))
		snprintf(missing + n, sizeof(missing) - n, "%sCHECKPOINT_RESTORE", n ? "," : "");
	if (*missing)
		find(f, CHECK_WARN, "run quartzd as root; in a container, add these capabilities",
		     "names will be missing without %s", missing);
	else
		find(f, CHECK_OK, NULL, "names can be looked up");
}

/*
 * Number of PIDs of this process, from the namespace of /proc down: 1 if that is its own namespace,
 * 0 if /proc belongs to a child namespace.
 */
static int count_numbers(const char *root)
{
	char value[256];
	int n = 0;

	if (!read_line(root, "/proc/self/status", value, sizeof(value)))
		return 0;
	if (!read_status(root, "NSpid", value, sizeof(value)))
		return 1; /* the kernel has no namespaces */
	for (char *p = strtok(value, "\t \n"); p; p = strtok(NULL, "\t \n"))
		n++;
	return n;
}

static void check_pids(const char *root, struct finding *f)
{
	int n = count_numbers(root);
	char line[64];

	if (!n && !read_line(root, "/proc/stat", line, sizeof(line)))
		find(f, CHECK_WARN, "mount /proc", "unknown");
	else if (n != 1)
		find(f, CHECK_FAIL, "mount -t proc proc /proc, as unshare --mount-proc does",
		     "/proc shows the processes of another PID namespace");
	else if (is_contained(root, "pid", INITIAL_PIDS))
		find(f, CHECK_OK, NULL,
		     "a container's: its processes are measured, the host's are not");
	else
		find(f, CHECK_OK, NULL, "the initial namespace");
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

static void check_sample_rate(const char *root, struct finding *f)
{
	long rate;

	if (!read_number(root, "/proc/sys/kernel/perf_event_max_sample_rate", &rate))
		find(f, CHECK_FAIL, "boot a kernel built with CONFIG_PERF_EVENTS=y",
		     "this kernel has no perf events");
	else if (rate < USUAL_RATE)
		find(f, CHECK_WARN, "sysctl kernel.perf_event_max_sample_rate=100000",
		     "at most %ld samples per second; the default is %d", rate, USUAL_RATE);
	else
		find(f, CHECK_OK, NULL, "up to %ld samples per second", rate);
}

static void check_transfers(const char *root, struct finding *f)
{
	char line[64];

	if (read_line(root, "/proc/self/io", line, sizeof(line)))
		find(f, CHECK_OK, NULL, "reads and writes are counted");
	else
		find(f, CHECK_WARN, "boot a kernel built with CONFIG_TASK_IO_ACCOUNTING=y",
		     "reads and writes are not counted");
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
		     "%ld: Debian's kernels allow sampling only with CAP_SYS_ADMIN", level);
	else
		find(f, CHECK_OK, NULL, "%ld, no restriction with %s", level,
		     level > 2 ? "CAP_SYS_ADMIN" : "CAP_PERFMON");
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

/* An empty program of a kind that some kernels refuse: 0 or -errno. */
static int try_iterator(void)
{
	static const struct bpf_insn empty[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_ITER);
	int id, fd;

	libbpf_set_print(NULL);
	id = libbpf_find_vmlinux_btf_id("bpf_map_elem", BPF_TRACE_ITER);
	if (id < 0)
		return id;
	opts.attach_btf_id = id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", empty, 2, &opts);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Tried on this machine only (`root` is ""). */
static void check_text_files(const char *root, struct finding *f)
{
	uint64_t set = 0;
	bool able = read_capabilities(root, &set) && has_capability(set, CAP_BPF) &&
		    has_capability(set, CAP_PERFMON);
	int err = able && !*root ? try_iterator() : 0;

	if (!able)
		find(f, CHECK_WARN, "run quartzctl doctor as root",
		     "unknown: to try it takes CAP_BPF and CAP_PERFMON");
	else if (*root)
		find(f, CHECK_OK, NULL, "not tried");
	else if (err)
		find(f, CHECK_WARN, "none needed; all else works",
		     "none below /sys/fs/bpf/quartz: BPF programs of iter/bpf_map_elem: %s",
		     strerror(-err));
	else
		find(f, CHECK_OK, NULL, "the kernel takes BPF programs of iter/bpf_map_elem");
}

/* A kernel without time namespaces has no such file. */
static void check_time(const char *root, struct finding *f)
{
	FILE *file = open_below(root, "/proc/self/timens_offsets");
	long long seconds, ns;
	bool shifted = false;

	while (file && !shifted && fscanf(file, "%*s %lld %lld", &seconds, &ns) == 2)
		shifted = seconds || ns;
	if (file)
		fclose(file);
	if (shifted)
		find(f, CHECK_FAIL, "run Quartz outside: nsenter -t 1 -T",
		     "its clocks differ from the kernel's by %lld s", seconds);
	else
		find(f, CHECK_OK, NULL, "clocks as the kernel's");
}

/* Bytes of the disk and number of the files of a directory; false: it cannot be read. */
static bool measure(const char *path, uint64_t *bytes, unsigned int *n)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	*bytes = *n = 0;
	while (dir && (entry = readdir(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		*bytes += (uint64_t)st.st_blocks * 512;
		++*n;
	}
	if (dir)
		closedir(dir);
	return dir;
}

/* Without these tables each run makes its own, which is all that is wrong then. */
static void check_unwind_cache(const char *root, struct finding *f)
{
	const char *own = getenv("QUARTZ_CACHE_DIR"), *name = "/var/cache/quartz";
	char path[PATH_MAX];
	struct statvfs fs;
	uint64_t bytes;
	unsigned int n;
	struct stat st;

	if (own && *own)
		name = own;
	snprintf(path, sizeof(path), "%s%s", root, name);
	if (lstat(path, &st) || statvfs(path, &fs))
		find(f, CHECK_OK, NULL, "no unwind tables are kept yet in %.100s", name);
	else if (!S_ISDIR(st.st_mode) || st.st_uid || st.st_mode & (S_IWGRP | S_IWOTH))
		find(f, CHECK_WARN, "make it root's (chown root) and no others' (chmod 700)",
		     "not used: others than root can write %.100s", name);
	else if (fs.f_flag & ST_RDONLY)
		find(f, CHECK_WARN, "mount it to be written, or record with --cache-size 0",
		     "read-only, so no unwind tables are kept: %.100s", name);
	else if (!fs.f_bavail)
		find(f, CHECK_WARN, "make room, or record with --cache-size 0",
		     "the disk is full, so no unwind tables are kept: %.100s", name);
	else if (!measure(path, &bytes, &n))
		find(f, CHECK_OK, NULL, "root alone can look at %.100s", name);
	else
		find(f, CHECK_OK, NULL,
		     "%u unwind tables, %.1f MiB; to make them anew, remove %.80s", n,
		     (double)bytes / (1 << 20), name);
}

const struct check checks[] = {
	{"kernel", check_kernel},
	{"btf", check_btf},
	{"capabilities", check_capabilities},
	{"helpers", check_helpers},
	{"pid_namespace", check_pids},
	{"time_namespace", check_time},
	{"lockdown", check_lockdown},
	{"sample_rate", check_sample_rate},
	{"perf_event_paranoid", check_paranoid},
	{"io_accounting", check_transfers},
	{"bpffs", check_bpffs},
	{"text_files", check_text_files},
	{"unwind_cache", check_unwind_cache},
	{0},
};
