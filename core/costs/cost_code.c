/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/costs/cost_code.h"

#include <string.h>

#include "core/model/spin_rules.h"
#include "core/util/base_name.h"

#define KERNEL	 "[kernel]"
#define JIT	 "[jit]"
#define RUNTIME	 QZ_CODE_RUNTIME
#define WEAK	 QZ_CODE_WEAK
#define BULK	 QZ_CODE_BULK
#define OWN	 QZ_CODE_OWN
#define ASIDE	 QZ_CODE_ASIDE
#define READS	 QZ_CODE_READS
#define WRITES	 QZ_CODE_WRITES
#define LANGUAGE (QZ_CODE_RUNTIME | QZ_CODE_LANGUAGE)

/* Files of Python's own library, of which others may have the name. */
#define PYTHON_LIBRARY(file) "*/lib/python3.1?/" file

/* Rows of one module or language are adjacent. */
#define ROW(module, procedure, cost, origin, flags)                                                \
	{                                                                                          \
		module, procedure, QZ_COST_##cost, QZ_ORIGIN_##origin, flags                       \
	}

/*
 * The first row that fits holds. Patterns without a module are of code that is linked into programs, which may have
 * the program's code inlined: those without a class have RUNTIME.
 */
static const struct qz_cost_code table[] = {
	/* ---- Linux: what is deeper than the entry of a call ---- */
	ROW(KERNEL, "kthread", WORK, OTHER, OWN),
	ROW(KERNEL, "io_wq_worker", WORK, OTHER, OWN),
	ROW(KERNEL, "io_sq_thread", WORK, OTHER, OWN),
	ROW(KERNEL, "vhost_task_fn", WORK, OTHER, OWN),
	ROW(KERNEL, "asm_sysvec_*", WORK, OTHER, ASIDE),
	ROW(KERNEL, "asm_common_interrupt", WORK, OTHER, ASIDE),
	ROW(KERNEL, "ret_from_fork*", STARTING, OTHER, 0),
	ROW(KERNEL, "schedule_tail", STARTING, OTHER, 0),
	ROW(KERNEL, "do_exit", STARTING, OTHER, 0),
	ROW(KERNEL, "do_group_exit", STARTING, OTHER, 0),
	ROW(KERNEL, "*_sys_exit*", STARTING, OTHER, 0),
	ROW(KERNEL, "*_sys_clone*", STARTING, OTHER, 0),
	ROW(KERNEL, "*_sys_*fork", STARTING, PROCESSES, 0),
	ROW(KERNEL, "*_sys_execve*", STARTING, PROCESSES, 0),
	ROW(KERNEL, "load_elf_binary", STARTING, PROCESSES, 0),
	ROW(KERNEL, "*_sys_wait*", STARTING, PROCESSES, 0),
	ROW(KERNEL, "kernel_clone", STARTING, OTHER, 0),
	ROW(KERNEL, "*_sys_set_robust_list", STARTING, OTHER, 0),
	ROW(KERNEL, "*_sys_rseq", STARTING, OTHER, 0),
	ROW(KERNEL, "*_sys_futex*", HANDING, OTHER, 0),
	ROW(KERNEL, "do_futex", HANDING, OTHER, 0),
	ROW(KERNEL, "*sched_yield", HANDING, OTHER, 0),
	ROW(KERNEL, "*_sys_*nanosleep*", HANDING, OTHER, 0),
	ROW(KERNEL, "*_sys_semop", HANDING, OTHER, 0),
	ROW(KERNEL, "*_sys_semtimedop", HANDING, OTHER, 0),
	ROW(KERNEL, "eventfd_*", HANDING, OTHER, 0),
	ROW(KERNEL, "pipe_read", COPYING, PIPES, 0),
	ROW(KERNEL, "pipe_write", COPYING, PIPES, 0),
	ROW(KERNEL, "anon_pipe_*", COPYING, PIPES, 0),
	ROW(KERNEL, "unix_stream_*", COPYING, PIPES, 0),
	ROW(KERNEL, "unix_dgram_*", COPYING, PIPES, 0),
	ROW(KERNEL, "*_sys_mq_*", COPYING, PIPES, 0),
	ROW(KERNEL, "*_sys_process_vm_*", COPYING, OTHER, 0),
	ROW(KERNEL, "*_sys_mmap*", CALLS, MEMORY, WEAK),
	ROW(KERNEL, "vm_mmap_pgoff", CALLS, MEMORY, WEAK),
	ROW(KERNEL, "*_sys_munmap", CALLS, MEMORY, WEAK),
	ROW(KERNEL, "*_sys_brk", CALLS, MEMORY, WEAK),
	ROW(KERNEL, "*_sys_mremap", CALLS, MEMORY, WEAK),
	ROW(KERNEL, "*_sys_madvise", CALLS, MEMORY, WEAK),
	ROW(KERNEL, "*_sys_mprotect", CALLS, MEMORY, WEAK),
	ROW(KERNEL, "*exc_page_fault", CALLS, MEMORY, WEAK | BULK),
	/* of one name each: there are no larger ones */
	ROW(KERNEL, "*_sys_getdents*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_*stat*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_open*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_close*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_*access*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_readlink*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_unlink*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_rename*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_mkdir*", CALLS, FILES, WEAK | BULK),
	ROW(KERNEL, "*_sys_send*", CALLS, SOCKETS, WEAK),
	ROW(KERNEL, "*_sys_recv*", CALLS, SOCKETS, WEAK),
	ROW(KERNEL, "sock_*", CALLS, SOCKETS, WEAK),
	ROW(KERNEL, "tcp_*", CALLS, SOCKETS, WEAK),
	ROW(KERNEL, "*_sys_epoll_*", CALLS, SOCKETS, WEAK),
	ROW(KERNEL, "*_sys_*poll", CALLS, SOCKETS, WEAK),
	ROW(KERNEL, "*_sys_*select*", CALLS, SOCKETS, WEAK),
	ROW(KERNEL, "*_sys_clock_get*", CALLS, CLOCK, WEAK),
	ROW(KERNEL, "*_sys_gettimeofday", CALLS, CLOCK, WEAK),
	ROW(KERNEL, "*_sys_read*", CALLS, BLOCKS, WEAK | READS),
	ROW(KERNEL, "*_sys_write*", CALLS, BLOCKS, WEAK | WRITES),
	ROW(KERNEL, "*_sys_pread*", CALLS, BLOCKS, WEAK | READS),
	ROW(KERNEL, "*_sys_pwrite*", CALLS, BLOCKS, WEAK | WRITES),
	ROW(KERNEL, "ksys_read", CALLS, BLOCKS, WEAK | READS),
	ROW(KERNEL, "ksys_write", CALLS, BLOCKS, WEAK | WRITES),
	ROW(KERNEL, "do_syscall_64", CALLS, OTHER, WEAK),
	ROW(KERNEL, "entry_SYSCALL*", CALLS, OTHER, WEAK),
	ROW(KERNEL, "x64_sys_call", CALLS, OTHER, WEAK),
	ROW(KERNEL, "*_sys_*", CALLS, OTHER, WEAK),
	ROW(KERNEL, "ksys_*", CALLS, OTHER, WEAK),
	/* by the byte, or by the page that is new: to look one up is a part of each call */
	ROW(KERNEL, "*copy_user*", WORK, OTHER, BULK),
	ROW(KERNEL, "_copy_*_iter*", WORK, OTHER, BULK),
	ROW(KERNEL, "copy_folio_*", WORK, OTHER, BULK),
	ROW(KERNEL, "*rep_movs*", WORK, OTHER, BULK),
	ROW(KERNEL, "*rep_stos*", WORK, OTHER, BULK),
	ROW(KERNEL, "clear_page*", WORK, OTHER, BULK),
	ROW(KERNEL, "clear_user*", WORK, OTHER, BULK),
	ROW(KERNEL, "copy_page*", WORK, OTHER, BULK),
	ROW(KERNEL, "memcpy*", WORK, OTHER, BULK),
	ROW(KERNEL, "memset*", WORK, OTHER, BULK),
	ROW(KERNEL, "*copy_folio_from_iter*", WORK, OTHER, BULK),
	ROW(KERNEL, "*folio_alloc*", WORK, OTHER, BULK),
	ROW(KERNEL, "*alloc_pages*", WORK, OTHER, BULK),
	ROW(KERNEL, "filemap_add_folio", WORK, OTHER, BULK),
	ROW(KERNEL, "*_get_block*", WORK, OTHER, BULK),
	ROW(KERNEL, "create_empty_buffers", WORK, OTHER, BULK),
	ROW(KERNEL, "*readahead*", WORK, OTHER, BULK),
	ROW(KERNEL, "*_read_folio*", WORK, OTHER, BULK),
	ROW(KERNEL, "csum_*", WORK, OTHER, BULK),
	ROW(KERNEL, "*", WORK, OTHER, 0),
	ROW("[vdso]", "*", WORK, CLOCK, 0),

	/* ---- the dynamic linker ---- */
	ROW("ld-*", "__tls_get_addr*", WORK, OTHER, 0),
	ROW("ld-*", "*", STARTING, PROCESSES, 0),
	ROW(NULL, "_dl_relocate_*", STARTING, PROCESSES, 0),

	/* ---- C library: in a file of its own, or linked into a program ---- */
	ROW(NULL, "pthread_create*", STARTING, THREADS, 0),
	ROW(NULL, "__pthread_create*", STARTING, THREADS, 0),
	ROW(NULL, "thrd_create", STARTING, THREADS, 0),
	ROW(NULL, "*pthread_join*", STARTING, THREADS, 0),
	ROW(NULL, "*pthread_timedjoin*", STARTING, THREADS, 0),
	ROW(NULL, "*pthread_clockjoin*", STARTING, THREADS, 0),
	ROW(NULL, "pthread_detach", STARTING, THREADS, 0),
	ROW(NULL, "pthread_exit", STARTING, THREADS, 0),
	ROW(NULL, "*nptl_*", STARTING, THREADS, 0),
	ROW(NULL, "allocate_stack", STARTING, THREADS, 0),
	ROW(NULL, "create_thread", STARTING, THREADS, 0),
	ROW(NULL, "__libc_thread_freeres", STARTING, THREADS, 0),
	ROW(NULL, "fork", STARTING, PROCESSES, 0),
	ROW(NULL, "__libc_fork", STARTING, PROCESSES, 0),
	ROW(NULL, "_Fork", STARTING, PROCESSES, 0),
	ROW(NULL, "vfork", STARTING, PROCESSES, 0),
	ROW(NULL, "posix_spawn*", STARTING, PROCESSES, 0),
	ROW(NULL, "__spawni*", STARTING, PROCESSES, 0),
	ROW(NULL, "clone", STARTING, OTHER, 0),
	ROW(NULL, "__clone*", STARTING, OTHER, 0),
	ROW(NULL, "clone3", STARTING, OTHER, 0),
	ROW(NULL, "execv*", STARTING, PROCESSES, 0),
	ROW(NULL, "fexecve", STARTING, PROCESSES, 0),
	ROW(NULL, "_exit", STARTING, PROCESSES, 0),
	ROW(NULL, "exit", STARTING, PROCESSES, 0),
	ROW(NULL, "_Exit", STARTING, PROCESSES, 0),
	ROW(NULL, "wait4", STARTING, PROCESSES, 0),
	ROW(NULL, "__wait4", STARTING, PROCESSES, 0),
	ROW(NULL, "waitpid", STARTING, PROCESSES, 0),
	ROW(NULL, "waitid", STARTING, PROCESSES, 0),
	ROW(NULL, "*pthread_mutex_*", HANDING, THREADS, 0),
	ROW(NULL, "*pthread_cond_*", HANDING, THREADS, 0),
	ROW(NULL, "*pthread_rwlock_*", HANDING, THREADS, 0),
	ROW(NULL, "*pthread_barrier_*", HANDING, THREADS, 0),
	ROW(NULL, "*pthread_spin_*", HANDING, THREADS, 0),
	ROW(NULL, "*pthread_once*", HANDING, THREADS, 0),
	ROW(NULL, "*_lll_*", HANDING, THREADS, 0),
	ROW(NULL, "lll_*", HANDING, THREADS, 0),
	ROW(NULL, "__futex_*", HANDING, THREADS, 0),
	ROW(NULL, "futex_*", HANDING, THREADS, 0),
	ROW(NULL, "mtx_*", HANDING, THREADS, 0),
	ROW(NULL, "cnd_*", HANDING, THREADS, 0),
	ROW(NULL, "sem_wait*", HANDING, THREADS, 0),
	ROW(NULL, "sem_post*", HANDING, THREADS, 0),
	ROW(NULL, "sem_timedwait*", HANDING, THREADS, 0),
	ROW(NULL, "sem_clockwait*", HANDING, THREADS, 0),
	ROW(NULL, "__new_sem_*", HANDING, THREADS, 0),
	ROW(NULL, "sched_yield", HANDING, THREADS, 0),
	ROW(NULL, "__sched_yield", HANDING, THREADS, 0),
	ROW(NULL, "usleep", HANDING, THREADS, 0),
	ROW(NULL, "*nanosleep*", HANDING, THREADS, 0),
	ROW(NULL, "eventfd_*", HANDING, THREADS, 0),
	ROW("libc.so*", "rand", HANDING, RANDOM, 0),
	ROW("libc.so*", "random", HANDING, RANDOM, 0),
	ROW("libc.so*", "__random", HANDING, RANDOM, 0),
	ROW("libc.so*", "read", CALLS, BLOCKS, WEAK | READS),
	ROW("libc.so*", "__read", CALLS, BLOCKS, WEAK | READS),
	ROW("libc.so*", "write", CALLS, BLOCKS, WEAK | WRITES),
	ROW("libc.so*", "__write", CALLS, BLOCKS, WEAK | WRITES),
	ROW("libc.so*", "__libc_read", CALLS, BLOCKS, WEAK | READS),
	ROW("libc.so*", "__libc_write", CALLS, BLOCKS, WEAK | WRITES),
	ROW("libc.so*", "pread*", CALLS, BLOCKS, WEAK | READS),
	ROW("libc.so*", "pwrite*", CALLS, BLOCKS, WEAK | WRITES),
	ROW("libc.so*", "readv", CALLS, BLOCKS, WEAK | READS),
	ROW("libc.so*", "writev", CALLS, BLOCKS, WEAK | WRITES),
	ROW("libc.so*", "lseek*", CALLS, FILES, WEAK),
	ROW("libc.so*", "*open*", CALLS, FILES, WEAK),
	ROW("libc.so*", "close", CALLS, OTHER, WEAK),
	ROW("libc.so*", "__close*", CALLS, OTHER, WEAK),
	ROW("libc.so*", "*stat", CALLS, FILES, WEAK),
	ROW("libc.so*", "*stat64", CALLS, FILES, WEAK),
	ROW("libc.so*", "access", CALLS, FILES, WEAK),
	ROW("libc.so*", "getdents*", CALLS, FILES, WEAK),
	ROW("libc.so*", "send*", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "__send*", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "recv*", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "__recv*", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "poll", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "__poll", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "epoll_*", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "select", CALLS, SOCKETS, WEAK),
	ROW("libc.so*", "mmap*", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "__mmap*", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "munmap", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "__munmap", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "brk", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "*sbrk", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "madvise", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "__madvise", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "mprotect", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "__mprotect", CALLS, MEMORY, WEAK),
	ROW("libc.so*", "syscall", CALLS, OTHER, WEAK),
	ROW("libc.so*", "*", WORK, OTHER, 0),
	ROW("libc.musl*", "*", WORK, OTHER, 0),
	ROW("libm.so*", "*", WORK, OTHER, 0),
	ROW("libpthread*", "*", WORK, OTHER, 0),
	ROW("libgcc_s.so*", "*", WORK, OTHER, 0),

	/* ---- OpenMP ---- */
	ROW("libgomp*", "*", HANDING, OPENMP, WEAK),
	ROW("libomp*", "*", HANDING, OPENMP, WEAK),
	ROW("libiomp*", "*", HANDING, OPENMP, WEAK),
	ROW(NULL, "gomp_*", HANDING, OPENMP, WEAK),
	ROW(NULL, "GOMP_*", HANDING, OPENMP, WEAK),
	ROW(NULL, "__kmp*", HANDING, OPENMP, WEAK),

	/* ---- MPI, and what carries its messages ---- */
	ROW("mca_op_*", "*", WORK, OTHER, RUNTIME),
	ROW("mca_*", "*", HANDING, MPI, WEAK),
	ROW("libmpi*", "*", HANDING, MPI, WEAK),
	ROW("libopen-pal*", "*", HANDING, MPI, WEAK),
	ROW("libopen-rte*", "*", HANDING, MPI, WEAK),
	ROW("libucp*", "*", HANDING, MPI, WEAK),
	ROW("libucs*", "*", HANDING, MPI, WEAK),
	ROW("libuct*", "*", HANDING, MPI, WEAK),
	ROW("libfabric*", "*", HANDING, MPI, WEAK),

	/* ---- oneTBB ---- */
	ROW("libtbbmalloc*", "*", WORK, OTHER, RUNTIME),
	ROW("libtbb*", "*", HANDING, TBB, WEAK),
	ROW(NULL, "tbb::*concurrent_*queue*", HANDING, TBB, 0),
	ROW(NULL, "tbb::*mutex*", HANDING, TBB, 0),
	ROW(NULL, "tbb::*", WORK, TBB, RUNTIME),

	/* ---- OpenBLAS ---- */
	ROW(NULL, "exec_blas*", HANDING, OPENBLAS, WEAK),
	ROW(NULL, "blas_thread_*", HANDING, OPENBLAS, WEAK),

	/* ---- Go ---- */
	ROW(NULL, "runtime.newproc*", STARTING, GO, 0),
	ROW(NULL, "runtime.goexit?", STARTING, GO, 0),
	ROW(NULL, "runtime.gdestroy", STARTING, GO, 0),
	ROW(NULL, "runtime.malg*", STARTING, GO, 0),
	ROW(NULL, "runtime.newm*", STARTING, GO, 0),
	ROW(NULL, "runtime.clone*", STARTING, GO, 0),
	ROW(NULL, "runtime.newstack", STARTING, GO, 0),
	ROW(NULL, "runtime.copystack", STARTING, GO, 0),
	ROW(NULL, "runtime.rt0_go*", STARTING, GO, 0),
	ROW(NULL, "runtime.schedinit*", STARTING, GO, 0),
	ROW(NULL, "runtime.chan*", HANDING, GO, 0),
	ROW(NULL, "runtime.send*", HANDING, GO, 0),
	ROW(NULL, "runtime.recv*", HANDING, GO, 0),
	ROW(NULL, "runtime.select*", HANDING, GO, 0),
	ROW(NULL, "runtime.closechan", HANDING, GO, 0),
	ROW(NULL, "runtime.mcall", HANDING, GO, WEAK),
	ROW(NULL, "runtime.park_m", HANDING, GO, 0),
	ROW(NULL, "runtime.gopark*", HANDING, GO, 0),
	ROW(NULL, "runtime.goready*", HANDING, GO, 0),
	ROW(NULL, "runtime.ready*", HANDING, GO, 0),
	ROW(NULL, "runtime.gosched*", HANDING, GO, 0),
	ROW(NULL, "runtime.schedule", HANDING, GO, 0),
	ROW(NULL, "runtime.find?unnable", HANDING, GO, 0),
	ROW(NULL, "runtime.execute", HANDING, GO, 0),
	ROW(NULL, "runtime.gogo*", HANDING, GO, 0),
	ROW(NULL, "runtime.stealWork", HANDING, GO, 0),
	ROW(NULL, "runtime.runq*", HANDING, GO, 0),
	ROW(NULL, "runtime.globrunq*", HANDING, GO, 0),
	ROW(NULL, "runtime.lock*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.unlock*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.futex*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.note*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.mPark", HANDING, GO, 0),
	ROW(NULL, "runtime.stopm", HANDING, GO, 0),
	ROW(NULL, "runtime.startm", HANDING, GO, 0),
	ROW(NULL, "runtime.wakep", HANDING, GO, 0),
	ROW(NULL, "runtime.resetspinning", HANDING, GO, 0),
	ROW(NULL, "runtime.osyield*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.usleep*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.procyield*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.sem*", HANDING, GO, 0),
	ROW(NULL, "runtime.netpoll*", HANDING, GO, WEAK),
	ROW(NULL, "runtime.sysmon", HANDING, GO, WEAK),
	ROW(NULL, "runtime.timeSleep*", HANDING, GO, 0),
	ROW(NULL, "runtime.*acquireSudog*", HANDING, GO, 0),
	ROW(NULL, "runtime.*releaseSudog*", HANDING, GO, 0),
	ROW(NULL, "runtime.casgstatus", HANDING, GO, WEAK),
	ROW(NULL, "sync.(*Mutex)*", HANDING, GO, 0),
	ROW(NULL, "sync.(*RWMutex)*", HANDING, GO, 0),
	ROW(NULL, "sync.(*WaitGroup)*", HANDING, GO, 0),
	ROW(NULL, "sync.(*Cond)*", HANDING, GO, 0),
	ROW(NULL, "sync.runtime_*", HANDING, GO, 0),
	ROW(NULL, "internal/sync.*", HANDING, GO, 0),
	ROW(NULL, "encoding/gob.*", COPYING, GO, 0),
	ROW(NULL, "internal/runtime/syscall.Syscall*", CALLS, OTHER, WEAK),
	ROW(NULL, "runtime/internal/syscall.Syscall*", CALLS, OTHER, WEAK),
	ROW(NULL, "syscall.*yscall*", CALLS, OTHER, WEAK),
	ROW(NULL, "runtime.*", WORK, GO, RUNTIME),

	/* ---- Java virtual machine ---- */
	ROW("libjvm*", "JVM_StartThread", STARTING, JAVA, 0),
	ROW("libjvm*", "os::create_thread*", STARTING, JAVA, 0),
	ROW("libjvm*", "os::start_thread*", STARTING, JAVA, 0),
	ROW("libjvm*", "os::free_thread*", STARTING, JAVA, 0),
	ROW("libjvm*", "Threads::add*", STARTING, JAVA, 0),
	ROW("libjvm*", "Threads::remove*", STARTING, JAVA, 0),
	ROW("libjvm*", "ThreadsSMRSupport::*", STARTING, JAVA, 0),
	ROW("libjvm*", "ThreadsList::*", STARTING, JAVA, 0),
	ROW("libjvm*", "JavaThread::exit*", STARTING, JAVA, 0),
	ROW("libjvm*", "JavaThread::prepare*", STARTING, JAVA, 0),
	ROW("libjvm*", "JavaThread::JavaThread*", STARTING, JAVA, 0),
	ROW("libjvm*", "JavaThread::~JavaThread*", STARTING, JAVA, 0),
	ROW("libjvm*", "Thread::Thread*", STARTING, JAVA, 0),
	ROW("libjvm*", "Thread::~Thread*", STARTING, JAVA, 0),
	ROW("libjvm*", "StackOverflow::*", STARTING, JAVA, 0),
	ROW("libjvm*", "ObjectMonitor::*", HANDING, JAVA, 0),
	ROW("libjvm*", "ObjectSynchronizer::*", HANDING, JAVA, 0),
	ROW("libjvm*", "JVM_Monitor*", HANDING, JAVA, 0),
	ROW("libjvm*", "Unsafe_Park*", HANDING, JAVA, 0),
	ROW("libjvm*", "Unsafe_Unpark*", HANDING, JAVA, 0),
	ROW("libjvm*", "Parker::*", HANDING, JAVA, 0),
	ROW("libjvm*", "*PlatformEvent::*", HANDING, JAVA, 0),
	ROW("libjvm*", "*PlatformMonitor::*", HANDING, JAVA, 0),
	ROW("libjvm*", "Monitor::*", HANDING, JAVA, 0),
	ROW("libjvm*", "Mutex::*", HANDING, JAVA, 0),
	ROW("libjvm*", "SafepointSynchronize::*", HANDING, JAVA, 0),
	ROW("libjvm*", "Handshake*::*", HANDING, JAVA, 0),
	ROW("libjvm*", "*", WORK, JAVA, RUNTIME),
	ROW("libjava.so", "*", WORK, OTHER, LANGUAGE),
	ROW("libnio.so", "*", WORK, OTHER, LANGUAGE),
	ROW("libnet.so", "*", WORK, OTHER, LANGUAGE),
	ROW(NULL, "java.util.concurrent.locks.*", HANDING, JAVA, 0),
	ROW(NULL, "java.util.concurrent.*Queue*", HANDING, JAVA, 0),
	ROW(NULL, "java.util.concurrent.*getTask*", HANDING, JAVA, 0),
	ROW(NULL, "java.util.concurrent.ForkJoinPool*scan*", HANDING, JAVA, 0),
	ROW(NULL, "java.util.concurrent.ForkJoinPool*wait*", HANDING, JAVA, 0),
	ROW(NULL, "java.util.concurrent.*", WORK, JAVA, RUNTIME),
	ROW(NULL, "java.lang.Thread.start*", STARTING, JAVA, 0),
	ROW(NULL, "java.io.Object*Stream.*", COPYING, JAVA, 0),
	ROW(NULL, "java.io.*", WORK, OTHER, RUNTIME),
	ROW(NULL, "java.net.*", WORK, OTHER, RUNTIME),
	ROW(NULL, "java.nio.*", WORK, OTHER, RUNTIME),
	ROW(NULL, "sun.nio.*", WORK, OTHER, RUNTIME),

	/* ---- Rust ---- */
	ROW(NULL, "std::thread::Builder::spawn*", STARTING, THREADS, 0),
	ROW(NULL, "std::thread::spawn*", STARTING, THREADS, 0),
	ROW(NULL, "std::thread::scoped::*spawn*", STARTING, THREADS, 0),
	ROW(NULL, "std::thread::Thread::new*", STARTING, THREADS, 0),
	ROW(NULL, "std::thread::Join*::join*", STARTING, THREADS, 0),
	ROW(NULL, "std::sys::*thread::Thread::new*", STARTING, THREADS, 0),
	ROW(NULL, "std::sys::*thread::Thread::join*", STARTING, THREADS, 0),
	ROW(NULL, "std::process::Command*", STARTING, PROCESSES, 0),
	ROW(NULL, "std::thread::park*", HANDING, THREADS, 0),
	ROW(NULL, "std::thread::yield*", HANDING, THREADS, 0),
	ROW(NULL, "std::thread::sleep*", HANDING, THREADS, 0),
	ROW(NULL, "std::thread::Thread::unpark*", HANDING, THREADS, 0),
	ROW(NULL, "std::sync::mp*", HANDING, RUST, 0),
	ROW(NULL, "std::sync::*mutex*", HANDING, THREADS, 0),
	ROW(NULL, "std::sync::*condvar*", HANDING, THREADS, 0),
	ROW(NULL, "std::sync::barrier*", HANDING, THREADS, 0),
	ROW(NULL, "std::sys::*sync*", HANDING, THREADS, 0),
	ROW(NULL, "std::sys::*futex*", HANDING, THREADS, 0),
	ROW(NULL, "std::sys::*locks*", HANDING, THREADS, 0),
	ROW(NULL, "crossbeam_channel::*", HANDING, RUST, 0),
	ROW(NULL, "crossbeam_deque::*", HANDING, RUST, 0),
	ROW(NULL, "crossbeam_epoch::*", HANDING, RUST, 0),
	ROW(NULL, "parking_lot*", HANDING, RUST, 0),
	ROW(NULL, "rayon_core::*wait_until*", HANDING, RUST, WEAK),
	ROW(NULL, "rayon_core::sleep::*", HANDING, RUST, 0),
	ROW(NULL, "rayon_core::latch::*", HANDING, RUST, 0),
	ROW(NULL, "rayon_core::registry::Registry::inject*", HANDING, RUST, 0),
	ROW(NULL, "rayon*", WORK, RUST, RUNTIME),
	ROW(NULL, "tokio::sync::*", HANDING, RUST, 0),
	ROW(NULL, "tokio::*spawn*", STARTING, RUST, 0),
	ROW(NULL, "tokio::runtime::*park*", HANDING, RUST, 0),
	ROW(NULL, "tokio::runtime::*queue*", HANDING, RUST, 0),
	ROW(NULL, "tokio::runtime::*inject*", HANDING, RUST, 0),
	ROW(NULL, "tokio::runtime::*steal*", HANDING, RUST, 0),
	ROW(NULL, "tokio::runtime::*wake*", HANDING, RUST, 0),
	ROW(NULL, "tokio::*", WORK, RUST, RUNTIME),

	/* ---- C++ ---- */
	ROW(NULL, "std::thread::_M_start_thread*", STARTING, THREADS, 0),
	ROW(NULL, "std::thread::join*", STARTING, THREADS, 0),
	ROW(NULL, "std::thread::thread*", STARTING, THREADS, WEAK),
	ROW(NULL, "std::async*", STARTING, THREADS, WEAK),
	ROW(NULL, "std::__future_base::*wait*", HANDING, THREADS, 0),
	ROW(NULL, "std::condition_variable*", HANDING, THREADS, 0),
	ROW(NULL, "std::*mutex::*", HANDING, THREADS, 0),
	ROW(NULL, "std::lock_guard*", HANDING, THREADS, 0),
	ROW(NULL, "std::unique_lock*", HANDING, THREADS, 0),
	ROW("libstdc++*", "*", WORK, OTHER, 0),
	ROW("libc++*", "*", WORK, OTHER, 0),
	ROW(NULL, "std::*", WORK, OTHER, RUNTIME),
	ROW(NULL, "google::protobuf::*Serialize*", COPYING, OTHER, 0),
	ROW(NULL, "google::protobuf::*Parse*", COPYING, OTHER, 0),

	/* ---- libuv, in a file of its own or in node ---- */
	ROW(NULL, "uv_spawn", STARTING, PROCESSES, 0),
	ROW(NULL, "uv_thread_create*", STARTING, THREADS, 0),
	ROW(NULL, "uv_*async*", HANDING, LIBUV, 0),
	ROW(NULL, "uv__async*", HANDING, LIBUV, WEAK),
	ROW(NULL, "uv_mutex_*", HANDING, LIBUV, 0),
	ROW(NULL, "uv_cond_*", HANDING, LIBUV, 0),
	ROW(NULL, "uv_sem_*", HANDING, LIBUV, 0),
	ROW(NULL, "uv__work_*", HANDING, LIBUV, WEAK),
	ROW(NULL, "uv_queue_work", HANDING, LIBUV, 0),
	ROW("libuv*", "*", WORK, LIBUV, RUNTIME),
	ROW("node", "*", WORK, OTHER, LANGUAGE),
	ROW("nodejs", "*", WORK, OTHER, LANGUAGE),
	ROW("libnode.so*", "*", WORK, OTHER, LANGUAGE),
	ROW(NULL, "JS:* node:*", WORK, OTHER, RUNTIME),

	/* ---- CPython ---- */
	ROW(NULL, "PyThread_start_new_thread", STARTING, PYTHON, 0),
	ROW(NULL, "PyThread_*lock*", HANDING, PYTHON, 0),
	ROW(NULL, "PyThread_*", HANDING, PYTHON, WEAK),
	ROW(NULL, "take_gil", HANDING, PYTHON, 0),
	ROW(NULL, "drop_gil", HANDING, PYTHON, 0),
	ROW(NULL, "PyEval_SaveThread", HANDING, PYTHON, 0),
	ROW(NULL, "PyEval_RestoreThread", HANDING, PYTHON, 0),
	ROW("_queue.*", "*", HANDING, PYTHON, 0),
	ROW("_multiprocessing.*", "*", HANDING, PYTHON, 0),
	ROW("_pickle.*", "*", COPYING, PYTHON, 0),
	ROW(NULL, "_pickle_*", COPYING, PYTHON, 0),
	ROW(NULL, "_pickle.*", COPYING, PYTHON, 0),
	ROW(NULL, "PyMarshal_*", COPYING, PYTHON, 0),
	ROW("python3*", "*", WORK, OTHER, LANGUAGE),
	ROW("libpython3*", "*", WORK, OTHER, LANGUAGE),
	ROW("*.cpython-3*", "*", WORK, OTHER, LANGUAGE),

	/* ---- functions of Python, by their file: whoever has a pool of processes packs for them, and sends it ---- */
	ROW("*/multiprocessing/connection.py", "wait *", HANDING, PYTHON, 0),
	ROW("*/multiprocessing/connection.py", "*", COPYING, PYTHON, 0),
	ROW("*/multiprocessing/reduction.py", "*", COPYING, PYTHON, 0),
	ROW("*/multiprocessing/queues.py", "*", COPYING, PYTHON, 0),
	ROW("*/multiprocessing/managers.py", "*", COPYING, PYTHON, 0),
	ROW("*/multiprocessing/pool.py", "*", COPYING, PYTHON, WEAK),
	ROW("*/multiprocessing/synchronize.py", "*", HANDING, PYTHON, 0),
	ROW("*/multiprocessing/*", "*", WORK, OTHER, RUNTIME),
	ROW("*/concurrent/futures/process.py", "*", COPYING, PYTHON, WEAK),
	ROW("*/concurrent/futures/*", "*", HANDING, PYTHON, WEAK),
	ROW(PYTHON_LIBRARY("pickle.py"), "*", COPYING, PYTHON, 0),
	ROW(PYTHON_LIBRARY("queue.py"), "*", HANDING, PYTHON, 0),
	ROW(PYTHON_LIBRARY("threading.py"), "Thread.start *", STARTING, PYTHON, 0),
	ROW(PYTHON_LIBRARY("threading.py"), "*", WORK, OTHER, RUNTIME),
	ROW(PYTHON_LIBRARY("subprocess.py"), "Popen._execute_child *", STARTING, PROCESSES, 0),
	ROW(PYTHON_LIBRARY("subprocess.py"), "*", WORK, OTHER, RUNTIME),
	ROW(PYTHON_LIBRARY("selectors.py"), "*", WORK, OTHER, RUNTIME),
	ROW(PYTHON_LIBRARY("socket.py"), "*", WORK, OTHER, RUNTIME),
	ROW(PYTHON_LIBRARY("ssl.py"), "*", WORK, OTHER, RUNTIME),
};

/* The name without a prefix: brackets of Rust, and the return type that Java puts before the names of generated code. */
static const char *plain_name(const struct qz_procedure *procedure)
{
	const char *name = procedure->name + strspn(procedure->name, "<&");
	const char *begin = name;

	if (strcmp(procedure->module, JIT) != 0 || !strncmp(name, "JS:", 3))
		return name;
	for (size_t i = 0; name[i] && name[i] != '('; i++)
		begin = name[i] == ' ' ? &name[i + 1] : begin;
	return begin;
}

/* What patterns of modules are compared with. */
static const char *file_of(const struct qz_procedure *procedure)
{
	return qz_procedure__is_interpreted(procedure) ? procedure->file
						       : qz_base_name(procedure->module);
}

/* Sorts out most rows at the first letter: each procedure is compared with all of them. */
static bool begins_as(const char *pattern, const char *name)
{
	return *pattern == '*' || *pattern == '?' || *pattern == *name;
}

const struct qz_cost_code *qz_cost_code__find(const struct qz_procedure *procedure)
{
	const char *module = file_of(procedure), *name = plain_name(procedure);
	bool kernel = !strcmp(module, KERNEL);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct qz_cost_code *row = &table[i];

		if (!begins_as(row->procedure, name) ||
		    (row->module ? !begins_as(row->module, module) : kernel))
			continue;
		if ((!row->module || spin_rules__matches(row->module, module)) &&
		    spin_rules__matches(row->procedure, name))
			return row->flags & QZ_CODE_OWN ? NULL : row;
	}
	return NULL;
}

const char *qz_cost__name(enum qz_cost cost)
{
	static const char *const names[QZ_COSTS] = {
		[QZ_COST_WORK] = "work",
		[QZ_COST_STARTING] = "starting and ending",
		[QZ_COST_HANDING] = "handing over",
		[QZ_COST_COPYING] = "copying and packing",
		[QZ_COST_SPINNING] = "spinning",
		[QZ_COST_LINES] = "shared lines",
		[QZ_COST_CALLS] = "calls",
	};

	return names[cost];
}

enum qz_cost qz_cost__by_name(const char *name)
{
	enum qz_cost cost = QZ_COST_WORK;

	while (cost < QZ_COSTS && strcmp(qz_cost__name(cost), name))
		cost++;
	return cost;
}

const char *qz_cost__word(enum qz_cost cost)
{
	static const char *const words[QZ_COSTS] = {
		[QZ_COST_WORK] = "work",
		[QZ_COST_STARTING] = "starting_and_ending",
		[QZ_COST_HANDING] = "handing_over",
		[QZ_COST_COPYING] = "copying_and_packing",
		[QZ_COST_SPINNING] = "spinning",
		[QZ_COST_LINES] = "shared_lines",
		[QZ_COST_CALLS] = "calls",
	};

	return words[cost];
}

const char *qz_cost_origin__name(enum qz_cost_origin origin)
{
	static const char *const names[QZ_ORIGINS] = {
		[QZ_ORIGIN_OTHER] = "",
		[QZ_ORIGIN_THREADS] = "threads",
		[QZ_ORIGIN_PROCESSES] = "processes",
		[QZ_ORIGIN_OPENMP] = "OpenMP",
		[QZ_ORIGIN_TBB] = "TBB",
		[QZ_ORIGIN_MPI] = "MPI",
		[QZ_ORIGIN_OPENBLAS] = "OpenBLAS",
		[QZ_ORIGIN_GO] = "Go",
		[QZ_ORIGIN_JAVA] = "Java",
		[QZ_ORIGIN_RUST] = "Rust",
		[QZ_ORIGIN_LIBUV] = "libuv",
		[QZ_ORIGIN_PYTHON] = "Python",
		[QZ_ORIGIN_RANDOM] = "rand",
		[QZ_ORIGIN_MEMORY] = "memory",
		[QZ_ORIGIN_FILES] = "files",
		[QZ_ORIGIN_BLOCKS] = "blocks",
		[QZ_ORIGIN_CLOCK] = "clock",
		[QZ_ORIGIN_SOCKETS] = "sockets",
		[QZ_ORIGIN_PIPES] = "pipes",
	};

	return names[origin];
}
