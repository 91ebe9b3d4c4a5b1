// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "daemon/privsep/seccomp.h"
#include "quartz/page.h"

/* What every process does: memory, its own descriptors, time, its end. */
static const char common[] =
	"read readv pread64 lseek close close_range fcntl dup dup2 dup3 fstat newfstatat "
	"statx fstatfs statfs access faccessat faccessat2 readlink readlinkat getdents64 "
	"memfd_create munmap mremap madvise brk recvmsg sendmsg poll ppoll futex getpid "
	"gettid getppid getuid geteuid getgid getegid tgkill clock_gettime clock_nanosleep "
	"nanosleep gettimeofday getrandom sysinfo uname sched_yield rt_sigaction "
	"rt_sigprocmask rt_sigreturn sigaltstack restart_syscall exit exit_group "
	"set_robust_list rseq set_tid_address";

static const char writing[] = "write writev pwrite64";
static const char mapping[] = "mmap mprotect";

/* Threads, files of its own, sockets, BPF and perf events. */
static const char quartzd[] =
	"bpf perf_event_open ioctl openat2 clone clone3 kill wait4 waitid pidfd_open "
	"pidfd_send_signal mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 "
	"chmod fchmod fchmodat chown fchown fchownat lchown ftruncate fallocate fsync "
	"fdatasync utimensat msync mincore umask flock pipe2 eventfd2 signalfd4 epoll_create1 "
	"epoll_ctl "
	"epoll_wait epoll_pwait select pselect6 bind listen accept4 connect getsockopt "
	"setsockopt getsockname sendto recvfrom sendfile prctl prlimit64 getrlimit setrlimit "
	"getrusage getpriority setpriority sched_getaffinity sched_setaffinity sched_getscheduler "
	"sched_setscheduler sched_getparam getcpu membarrier clock_getres times mlock";

/* Processes, all that one does that is executed and gives up everything, and perf events. */
static const char keeper[] =
	"clone clone3 vfork fork execve pidfd_send_signal pidfd_open socketpair prctl "
	"arch_prctl prlimit64 getrlimit setrlimit capget capset setgroups setresgid setresuid "
	"seccomp ioctl perf_event_open";

/* A name that there is not fails with -EINVAL. */
static int allow(scmp_filter_ctx filter, const char *calls)
{
	char name[32];
	int length, err = 0;

	for (; !err && sscanf(calls, "%31s%n", name, &length) == 1; calls += length)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(name),
				       0);
	return err;
}

/* Memory never becomes code. */
static int allow_data(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0))
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
					   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

/* Files that are there, with one of O_RDONLY, O_WRONLY and O_RDWR. */
static int allow_opening(scmp_filter_ctx filter, int mode)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, O_CREAT | O_TRUNC | O_ACCMODE, mode));
}

/* A waker writes one word, at one place of a file. */
static int allow_waking(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pwrite64), 2,
				SCMP_A2(SCMP_CMP_EQ,
					sizeof(((struct qz_page_flag *)0)->generation)),
				SCMP_A3(SCMP_CMP_EQ, offsetof(struct qz_page_flag, generation)));
}

/* What each may do beyond what all may. What the keeper may, those that it starts may at most. */
static const struct rules {
	const char *calls;
	bool writes;	     /* else one word, see allow_waking */
	bool executes;	     /* memory may become code */
	bool opens_to_write; /* files that are there */
	bool makes_files;    /* and connects, within the machine */
} rules[] = {
	[JOB_QUARTZD] = {quartzd, .writes = true, .makes_files = true},
	[JOB_KEEPER] = {keeper, .writes = true, .executes = true, .opens_to_write = true},
	[JOB_OPENER] = {.writes = true},
	[JOB_WAKER] = {.opens_to_write = true},
};

static int allow_files(scmp_filter_ctx filter, const struct rules *r)
{
	if (r->makes_files)
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 0)
			       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
						   SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	return allow_opening(filter, O_RDONLY)
		       ?: (r->opens_to_write ? allow_opening(filter, O_WRONLY) : 0);
}

int seccomp__confine(enum helper_job job)
{
	const struct rules *r = &rules[job];
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err = filter ? 0 : -ENOMEM;

	err = err ?: allow(filter, common);
	err = err ?: (r->calls ? allow(filter, r->calls) : 0);
	err = err ?: (r->writes ? allow(filter, writing) : allow_waking(filter));
	err = err ?: (r->executes ? allow(filter, mapping) : allow_data(filter));
	err = err ?: allow_files(filter, r);
	err = err ?: seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
