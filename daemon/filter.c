// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "daemon/filter.h"

#define CALL(name) SCMP_SYS(name)

/* What every process does: memory, its own descriptors, time, its end. */
static const int common[] = {
	CALL(read),
	CALL(write),
	CALL(readv),
	CALL(writev),
	CALL(pread64),
	CALL(pwrite64),
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

#define ALLOW(filter, calls) allow(filter, calls, sizeof(calls) / sizeof((calls)[0]))

/* Memory never becomes code. */
static int allow_data(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0))
		       ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
					   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

static int allow_opening(scmp_filter_ctx filter, int refused)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, refused, 0));
}

static int load(scmp_filter_ctx filter, int err)
{
	err = err ?: seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int filter__quartzd(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err;

	if (!filter)
		return -ENOMEM;
	err = ALLOW(filter, common);
	err = err ?: ALLOW(filter, quartzd);
	err = err ?: allow_data(filter);
	err = err ?: allow_opening(filter, 0);
	err = err
		      ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
					  SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	return load(filter, err);
}

/* What it allows, the openers and symbolizers that it starts have at most. */
int filter__keeper(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err;

	if (!filter)
		return -ENOMEM;
	err = ALLOW(filter, common);
	err = err ?: ALLOW(filter, keeper);
	err = err ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 0);
	err = err ?: seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 0);
	err = err ?: allow_opening(filter, O_CREAT | O_TRUNC);
	return load(filter, err);
}

int filter__opener(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err;

	if (!filter)
		return -ENOMEM;
	err = ALLOW(filter, common);
	err = err ?: allow_data(filter);
	err = err ?: allow_opening(filter, O_CREAT | O_TRUNC);
	return load(filter, err);
}
