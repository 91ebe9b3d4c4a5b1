/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define NOBODY 65534

/*
 * The user quartz-symbolizer, else nobody. Reads /etc/passwd itself, since name services would load
 * libraries.
 */
static void find_identity(uid_t *uid, gid_t *gid)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *pw;

	*uid = NOBODY;
	*gid = NOBODY;
	if (!file)
		return;
	while ((pw = fgetpwent(file))) {
		if (strcmp(pw->pw_name, "quartz-sym") == 0 && pw->pw_uid && pw->pw_gid) {
			*uid = pw->pw_uid;
			*gid = pw->pw_gid;
			break;
		}
	}
	fclose(file);
}

static int drop_identity(void)
{
	uid_t uid;
	gid_t gid;

	if (geteuid() != 0)
		return 0;
	find_identity(&uid, &gid);
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

/*
 * Dropping the bounding set needs CAP_SETPCAP, so it comes before the change of identity. Without
 * the capability, the set stays.
 */
static void drop_bounding_set(void)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		cap_drop_bound(cap);
}

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int err = 0;

	if (!none)
		return -ENOMEM;
	if (cap_set_proc(none))
		err = -errno;
	cap_free(none);
	return err;
}

/*
 * No RLIMIT_CPU: this process lives as long as quartzd does, and a sum over its life says nothing
 * about one file. quartzd gives each request its deadline.
 */
static int limit_resources(void)
{
	static const struct {
		__rlimit_resource_t resource;
		rlim_t limit;
	} limits[] = {
#if !defined(__SANITIZE_ADDRESS__) /* maps terabytes */
		{RLIMIT_AS, 512UL << 20},
#endif
		{RLIMIT_STACK, 8UL << 20},
		{RLIMIT_NOFILE, 64},
		{RLIMIT_NPROC, 0},
		{RLIMIT_FSIZE, 0},
		{RLIMIT_CORE, 0},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit rl = {limits[i].limit, limits[i].limit};

		if (setrlimit(limits[i].resource, &rl))
			return -errno;
	}
	return 0;
}

static int close_all_but(int fd)
{
	if (fd > 0 && close_range(0, (unsigned int)fd - 1, 0))
		return -errno;
	return close_range((unsigned int)fd + 1, ~0U, 0) ? -errno : 0;
}

/*
 * mmap and mprotect must not make code. No file is mapped, as it may be cut; libdw then reads what it would map. glibc's fstat is newfstatat without a path, and its qsort
 * asks sysinfo how much memory there is; libelf asks by fcntl whether a descriptor is one. What
 * takes a path fails rather than kills: libdw looks for the name of the file it reads, and tries to
 * open a supplementary debug file by its name.
 */
static int add_rules(scmp_filter_ctx filter)
{
	static const int plain[] = {
		SCMP_SYS(read),	      SCMP_SYS(pread64),       SCMP_SYS(lseek),
		SCMP_SYS(fstat),      SCMP_SYS(munmap),	       SCMP_SYS(mremap),
		SCMP_SYS(brk),	      SCMP_SYS(madvise),       SCMP_SYS(futex),
		SCMP_SYS(recvmsg),    SCMP_SYS(sendmsg),       SCMP_SYS(poll),
		SCMP_SYS(ppoll),      SCMP_SYS(close),	       SCMP_SYS(exit),
		SCMP_SYS(exit_group), SCMP_SYS(clock_gettime), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(sysinfo),
	};
	static const int refused[] = {SCMP_SYS(openat), SCMP_SYS(readlink), SCMP_SYS(readlinkat)};
	int err = 0;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, plain[i], 0);
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
				       SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(mmap), 1,
				       SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				       SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, F_GETFD));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
	return err;
}

static int filter_system_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err;

	if (!filter)
		return -ENOMEM;
	err = add_rules(filter);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int sandbox__enter(int fd)
{
	int err;

	clearenv();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	drop_bounding_set();
	err = drop_identity();
	if (!err)
		err = drop_capabilities();
	if (err)
		return err;
	/* Only now: a change of identity resets both. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return -errno;
	err = close_all_but(fd);
	if (!err)
		err = limit_resources();
	return err ? err : filter_system_calls();
}
