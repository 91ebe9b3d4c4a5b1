// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "daemon/privsep/seccomp.h"
#include "quartz/page.h"

#define CALL(name)  SCMP_SYS(name)
#define LIST(calls) calls, sizeof(calls) / sizeof((calls)[0])

/* What every process does: memory, its own descriptors, time, its end. */
static const int common[] = {
	CALL(read),
	CALL(readv),
	CALL(pread64),
	CALL(lseek),
	CALL(close),
	CALL(close_range),
	CALL(fcntl),
	CALL(dup),
	CALL(dup2),
	CALL(dup3),
	CALL(fstat),
	CALL(newfstatat),
	CALL(statx),
	CALL(fstatfs),
	CALL(statfs),
	CALL(access),
	CALL(faccessat),
	CALL(faccessat2),
	CALL(readlink),
	CALL(readlinkat),
	CALL(getdents64),
	CALL(memfd_create),
	CALL(munmap),
	CALL(mremap),
	CALL(madvise),
	CALL(brk),
	CALL(recvmsg),
	CALL(sendmsg),
	CALL(poll),
	CALL(ppoll),
	CALL(futex),
	CALL(getpid),
	CALL(gettid),
	CALL(getppid),
	CALL(getuid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getegid),
	CALL(tgkill),
	CALL(clock_gettime),
	CALL(clock_nanosleep),
	CALL(nanosleep),
	CALL(gettimeofday),
	CALL(getrandom),
	CALL(sysinfo),
	CALL(uname),
	CALL(sched_yield),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(sigaltstack),
	CALL(restart_syscall),
	CALL(exit),
	CALL(exit_group),
	CALL(set_robust_list),
	CALL(rseq),
	CALL(set_tid_address),
};

static const int writing[] = {CALL(write), CALL(writev), CALL(pwrite64)};
static const int mapping[] = {CALL(mmap), CALL(mprotect)};

/* Threads, files of its own, sockets, BPF and perf events. */
static const int quartzd[] = {
	CALL(bpf),
	CALL(perf_event_open),
	CALL(ioctl),
	CALL(openat2),
	CALL(clone),
	CALL(clone3),
	CALL(kill),
	CALL(wait4),
	CALL(waitid),
	CALL(pidfd_open),
	CALL(pidfd_send_signal),
	CALL(mkdir),
	CALL(mkdirat),
	CALL(rmdir),
	CALL(unlink),
	CALL(unlinkat),
	CALL(rename),
	CALL(renameat),
	CALL(renameat2),
	CALL(chmod),
	CALL(fchmod),
	CALL(fchmodat),
	CALL(chown),
	CALL(fchown),
	CALL(fchownat),
	CALL(lchown),
	CALL(ftruncate),
	CALL(fallocate),
	CALL(fsync),
	CALL(fdatasync),
	CALL(msync),
	CALL(mincore),
	CALL(umask),
	CALL(flock),
	CALL(pipe2),
	CALL(eventfd2),
	CALL(signalfd4),
	CALL(epoll_create1),
	CALL(epoll_ctl),
	CALL(epoll_wait),
	CALL(epoll_pwait),
	CALL(select),
	CALL(pselect6),
	CALL(bind),
	CALL(listen),
	CALL(accept4),
	CALL(connect),
	CALL(getsockopt),
	CALL(setsockopt),
	CALL(getsockname),
	CALL(sendto),
	CALL(recvfrom),
	CALL(sendfile),
	CALL(prctl),
	CALL(prlimit64),
	CALL(getrlimit),
	CALL(setrlimit),
	CALL(getrusage),
	CALL(getpriority),
	CALL(sched_getaffinity),
	CALL(sched_setaffinity),
	CALL(sched_getscheduler),
	CALL(sched_setscheduler),
	CALL(sched_getparam),
	CALL(getcpu),
	CALL(membarrier),
	CALL(clock_getres),
	CALL(times),
	CALL(mlock),
};

/* Processes, all that one does that is executed and gives up everything, and perf events. */
static const int keeper[] = {
	CALL(clone),	  CALL(clone3),	    CALL(vfork),     CALL(fork),
	CALL(execve),	  CALL(kill),	    CALL(wait4),     CALL(waitid),
	CALL(pidfd_open), CALL(socketpair), CALL(prctl),     CALL(arch_prctl),
	CALL(prlimit64),  CALL(getrlimit),  CALL(setrlimit), CALL(capget),
	CALL(capset),	  CALL(setgroups),  CALL(setresgid), CALL(setresuid),
	CALL(seccomp),	  CALL(signalfd4),  CALL(ioctl),     CALL(perf_event_open),
};

static int allow(scmp_filter_ctx filter, const int *calls, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
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
	const int *calls;
	size_t n;
	bool writes;	     /* else one word, see allow_waking */
	bool executes;	     /* memory may become code */
	bool opens_to_write; /* files that are there */
	bool makes_files;    /* and connects, within the machine */
} rules[] = {
	[JOB_QUARTZD] = {LIST(quartzd), .writes = true, .makes_files = true},
	[JOB_KEEPER] = {LIST(keeper), .writes = true, .executes = true, .opens_to_write = true},
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

	err = err ?: allow(filter, LIST(common));
	err = err ?: allow(filter, r->calls, r->n);
	err = err ?: (r->writes ? allow(filter, LIST(writing)) : allow_waking(filter));
	err = err ?: (r->executes ? allow(filter, LIST(mapping)) : allow_data(filter));
	err = err ?: allow_files(filter, r);
	err = err ?: seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
