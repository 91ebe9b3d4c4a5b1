// SPDX-License-Identifier: GPL-2.0-only
#include <fnmatch.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>

#include "core/util/base_name.h"
#include "daemon/waits/futex_classify.h"

/* ---- procedures ---- */

#define MUTEX	  QZ_OBJECT_MUTEX
#define CONDITION QZ_OBJECT_CONDITION
#define BARRIER	  QZ_OBJECT_BARRIER
#define RWLOCK	  QZ_OBJECT_RWLOCK
#define SEMAPHORE QZ_OBJECT_SEMAPHORE
#define JOIN	  QZ_OBJECT_JOIN
#define ONCE	  QZ_OBJECT_ONCE
#define OTHER	  QZ_OBJECT_OTHER

/* The first row that fits counts. */
static const struct futex_classify_function functions[] = {
	/* POSIX threads: glibc and musl, with the names that glibc has for itself */
	{"*pthread_mutex_lock*", MUTEX},
	{"*pthread_mutex_timedlock*", MUTEX},
	{"*pthread_mutex_clocklock*", MUTEX},
	{"*pthread_mutex_cond_lock*", MUTEX},
	{"__lll_lock_wait*", MUTEX},
	{"__lll_mutex_*", MUTEX},
	{"*pthread_cond_wait*", CONDITION},
	{"*pthread_cond_timedwait*", CONDITION},
	{"*pthread_cond_clockwait*", CONDITION},
	{"*pthread_cond_destroy*", CONDITION},
	{"*pthread_barrier_wait*", BARRIER},
	{"*pthread_barrier_destroy*", BARRIER},
	{"*pthread_rwlock_*lock*", RWLOCK},
	{"*new_sem_*wait*", SEMAPHORE},
	{"sem_*wait*", SEMAPHORE},
	{"*pthread_*join*", JOIN},
	{"__thrd_join", JOIN},
	{"thrd_join", JOIN},
	{"*pthread_once*", ONCE},
	{"call_once", ONCE},
	{"*pthread_spin_lock*", QZ_OBJECT_SPIN},
	{"mtx_*lock", MUTEX},
	{"cnd_*wait", CONDITION},

	/* locks that the C library has for itself */
	{"arena_get*", MUTEX, "malloc arena"},
	{"_int_free", MUTEX, "malloc arena"},
	{"_int_malloc", MUTEX, "malloc arena"},
	{"__libc_malloc", MUTEX, "malloc arena"},
	{"__libc_calloc", MUTEX, "malloc arena"},
	{"__libc_realloc", MUTEX, "malloc arena"},
	{"__libc_memalign", MUTEX, "malloc arena"},
	{"malloc", MUTEX, "malloc arena"},
	{"calloc", MUTEX, "malloc arena"},
	{"realloc", MUTEX, "malloc arena"},
	{"free", MUTEX, "malloc arena"},
	{"cfree", MUTEX, "malloc arena"},
	{"aligned_alloc", MUTEX, "malloc arena"},
	{"*memalign", MUTEX, "malloc arena"},
	{"malloc_trim", MUTEX, "malloc arena"},
	{"flockfile", MUTEX, "stdio lock"},
	{"_IO_flockfile", MUTEX, "stdio lock"},
	{"fflush", MUTEX, "stdio lock"},
	{"fputs", MUTEX, "stdio lock"},
	{"fputc", MUTEX, "stdio lock"},
	{"putc", MUTEX, "stdio lock"},
	{"putchar", MUTEX, "stdio lock"},
	{"puts", MUTEX, "stdio lock"},
	{"fwrite", MUTEX, "stdio lock"},
	{"_IO_f*", MUTEX, "stdio lock"},
	{"_IO_puts", MUTEX, "stdio lock"},
	{"_IO_getline*", MUTEX, "stdio lock"},
	{"fread", MUTEX, "stdio lock"},
	{"fgets", MUTEX, "stdio lock"},
	{"fgetc", MUTEX, "stdio lock"},
	{"getc", MUTEX, "stdio lock"},
	{"getline", MUTEX, "stdio lock"},
	{"printf", MUTEX, "stdio lock"},
	{"vprintf", MUTEX, "stdio lock"},
	{"fprintf", MUTEX, "stdio lock"},
	{"vfprintf", MUTEX, "stdio lock"},
	{"__*printf_chk", MUTEX, "stdio lock"},
	{"__vfprintf_internal", MUTEX, "stdio lock"},
	{"dl_open_worker*", MUTEX, "dynamic linker's lock", true},
	{"_dl_open", MUTEX, "dynamic linker's lock", true},
	{"dl*_doit", MUTEX, "dynamic linker's lock", true},
	{"dl_iterate_phdr", MUTEX, "dynamic linker's lock", true},

	/* C++ */
	{"__cxa_guard_acquire", ONCE},
	{"std::condition_variable*", CONDITION},
	{"std::__1::condition_variable*", CONDITION},
	{"std::call_once*", ONCE},
	{"std::__1::__call_once*", ONCE},
	{"std::mutex::lock*", MUTEX},
	{"std::recursive_mutex::lock*", MUTEX},
	{"std::__1::*mutex::lock*", MUTEX},
	{"std::shared_mutex::lock*", RWLOCK},
	{"std::shared_mutex::try_lock*", RWLOCK},
	{"std::__shared_mutex_pthread::*", RWLOCK},
	{"std::thread::join*", JOIN},
	{"std::__1::thread::join*", JOIN},
	{"std::counting_semaphore*", SEMAPHORE},
	{"std::__1::counting_semaphore*", SEMAPHORE},
	{"std::__atomic_semaphore*", SEMAPHORE},
	{"std::barrier*", BARRIER},
	{"std::__tree_barrier*", BARRIER},
	{"std::latch::*wait*", BARRIER, "latch"},
	{"std::__1::latch::*wait*", BARRIER, "latch"},
	{"std::__atomic_wait*", OTHER, "atomic"},
	{"std::__detail::__platform_wait*", OTHER, "atomic"},
	{"std::atomic*wait*", OTHER, "atomic"},
	{"std::__1::__libcpp_atomic*wait*", OTHER, "atomic"},
	{"std::__basic_future*", CONDITION, "future"},
	{"std::__future_base::*wait*", CONDITION, "future"},
	{"absl::*Mutex::*", MUTEX},
	{"absl::*CondVar::*", CONDITION},
	{"absl::*Notification::*", CONDITION, "notification"},
	{"absl::*SpinLock*", QZ_OBJECT_SPIN},
	{"AbslInternalSpinLockDelay*", QZ_OBJECT_SPIN},
	{"folly::*Baton*", SEMAPHORE, "baton"},
	{"folly::*SharedMutex*", RWLOCK},
	{"folly::*MicroLock*", MUTEX},
	{"folly::*Semaphore*", SEMAPHORE},
	{"tbb::*mutex*", MUTEX},
	{"tbb::*semaphore*", SEMAPHORE},
	{"tbb::*concurrent_monitor*", CONDITION, "idle TBB worker"},

	/* OpenMP: GNU's, LLVM's and Intel's */
	{"gomp_*barrier*", BARRIER},
	{"GOMP_barrier*", BARRIER},
	{"GOMP_loop_end", BARRIER},
	{"GOMP_sections_end", BARRIER},
	{"gomp_team_end", BARRIER},
	{"gomp_mutex_lock*", MUTEX},
	{"GOMP_critical_*", MUTEX, "critical section"},
	{"GOMP_atomic_start", MUTEX, "atomic section"},
	{"gomp_set_*lock*", MUTEX},
	{"omp_set_*lock*", MUTEX},
	{"gomp_sem_wait*", SEMAPHORE},
	{"gomp_ptrlock*", ONCE},
	{"gomp_ordered*", OTHER, "ordered section"},
	{"GOMP_ordered*", OTHER, "ordered section"},
	{"GOMP_taskwait*", OTHER, "end of tasks"},
	{"GOMP_taskgroup_end*", OTHER, "end of tasks"},
	{"__kmpc_barrier*", BARRIER},
	{"__kmp_*barrier*", BARRIER},
	{"__kmpc_critical*", MUTEX, "critical section"},
	{"__kmp_acquire_*lock*", MUTEX},
	{"__kmpc_ordered*", OTHER, "ordered section"},
	{"__kmp_suspend*", BARRIER, "idle OpenMP worker"},
	{"__kmp_fork_barrier*", BARRIER},

	/* Rust: today's names, and those before 1.82 */
	{"std::sys::*mutex*", MUTEX},
	{"std::sys::*condvar*", CONDITION},
	{"std::sys::*rwlock*", RWLOCK},
	{"std::sys::*once*", ONCE},
	{"std::sys::*thread_park*", SEMAPHORE, "parked thread"},
	{"std::thread::park*", SEMAPHORE, "parked thread"},
	{"std::thread::JoinInner*", JOIN},
	{"parking_lot::raw_mutex::*", MUTEX},
	{"parking_lot::raw_rwlock::*", RWLOCK},
	{"parking_lot::condvar::*", CONDITION},
	{"parking_lot::once::*", ONCE},

	/* Go: goroutines wait without the kernel, its threads do not */
	{"runtime.lock2", MUTEX, "Go runtime lock"},
	{"runtime.lock", MUTEX, "Go runtime lock"},
	{"runtime.stopm", SEMAPHORE, "idle Go thread", true},
	{"runtime.mPark", SEMAPHORE, "idle Go thread", true},
	{"runtime.notesleep", SEMAPHORE, "Go runtime note"},
	{"runtime.notetsleep*", SEMAPHORE, "Go runtime note"},
	{"runtime.semasleep", SEMAPHORE, "Go runtime semaphore"},
	{"runtime.futexsleep", OTHER, "Go runtime futex"},

	/* Python, the JVM, others */
	{"take_gil", MUTEX, "the interpreter lock", true},
	{"_PyEval_AcquireLock", MUTEX, "the interpreter lock", true},
	{"PyEval_RestoreThread", MUTEX, "the interpreter lock", true},
	{"PyEval_AcquireThread", MUTEX, "the interpreter lock", true},
	{"PyThread_acquire_lock*", SEMAPHORE},
	{"PyMutex_Lock*", MUTEX},
	{"Parker::park*", SEMAPHORE, "parked Java thread"},
	{"Unsafe_Park", SEMAPHORE, "parked Java thread"},
	{"ObjectMonitor::*", MUTEX, "Java monitor"},
	{"ObjectSynchronizer::*", MUTEX, "Java monitor"},
	{"Monitor::wait*", CONDITION, "Java VM monitor"},
	{"Mutex::lock*", MUTEX},
	{"apr_thread_mutex_*lock", MUTEX},
	{"apr_thread_cond_*wait", CONDITION},
	{"g_mutex_lock*", MUTEX},
	{"g_rec_mutex_lock*", MUTEX},
	{"g_cond_wait*", CONDITION},
	{"g_rw_lock_*lock", RWLOCK},
	{"g_once_*", ONCE},
	{"uv_mutex_lock", MUTEX},
	{"uv_cond_*wait", CONDITION},
	{"uv_sem_wait", SEMAPHORE},
	{"uv_barrier_wait", BARRIER},
	{"malloc_mutex_lock_slow", MUTEX, "jemalloc mutex"},
	{"je_malloc_mutex_lock_slow", MUTEX, "jemalloc mutex"},
	{"PGSemaphoreLock", SEMAPHORE},
};

const struct futex_classify_function *futex_classify__function(const char *procedure)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!fnmatch(functions[i].pattern, procedure, 0))
			return &functions[i];
	return NULL;
}

/* Shared libraries by the beginning of their file's name. */
static const char *const runtime_modules[] = {
	"libc.so",  "libc-2.",	"libpthread",  "ld-linux",    "ld-musl",  "libc.musl", "libgomp",
	"libomp",   "libiomp5", "libstdc++",   "libc++",      "libgcc_s", "libtbb",    "librt",
	"libuv.so", "libapr-1", "libjemalloc", "libtcmalloc", NULL,
};

/* What is linked into the program itself: names by their beginning. */
static const char *const runtime_names[] = {
	"std::",
	"core::",
	"alloc::",
	"__gnu_cxx::",
	"__gthread",
	"__cxa_",
	"__futex",
	"futex_",
	"__lll_",
	"__pthread_",
	"pthread_",
	"___pthread_",
	"start_thread",
	"__syscall",
	"syscall",
	"gomp_",
	"GOMP_",
	"__kmp",
	"tbb::",
	"absl::synchronization_internal::",
	"parking_lot::",
	"parking_lot_core::",
	"lock_api::",
	"<lock_api::",
	"<std::",
	"<core::",
	"boost::mutex",
	"boost::condition_variable",
	"boost::unique_lock",
	"boost::lock_guard",
	NULL,
};

static bool begins_with_one(const char *s, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (!strncmp(s, *beginnings, strlen(*beginnings)))
			return true;
	return false;
}

bool futex_classify__is_runtime(const char *procedure, const char *module)
{
	return begins_with_one(qz_base_name(module), runtime_modules) ||
	       begins_with_one(procedure, runtime_names) ||
	       futex_classify__is_musl(procedure, module) || futex_classify__function(procedure);
}

/* What makes the system call, of a program that has it linked in; else by the file, of Alpine and of Debian. */
bool futex_classify__is_musl(const char *procedure, const char *module)
{
	static const char *const names[] = {"__timedwait", "__timedwait_cp",   "__syscall_cp_c",
					    "__cp_begin",  "__syscall_cp_asm", "__syscall_cp"};
	static const char *const files[] = {"ld-musl", "libc.musl", NULL};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(procedure, names[i]))
			return true;
	return begins_with_one(qz_base_name(module), files) || strstr(module, "-musl/libc.so");
}

uint32_t futex_classify__module(const char *module)
{
	return !strncmp(qz_base_name(module), "libgomp", strlen("libgomp")) ? BARRIER : OTHER;
}

/* ---- the futex call ---- */

#define ANY_CLOCK (FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG)

static uint32_t word_at(const struct futex_classify_futex *f, uint32_t offset)
{
	uint32_t word = 0;

	if (offset + sizeof(word) <= f->nbytes)
		memcpy(&word, f->bytes + offset, sizeof(word));
	return word;
}

static uint32_t command(const struct futex_classify_futex *f)
{
	return f->op & ~(uint32_t)ANY_CLOCK;
}

/* glibc's mutexes and locks of its own: 2 is "locked, and threads wait". */
static bool is_lock(const struct futex_classify_futex *f)
{
	return command(f) == FUTEX_WAIT && f->val == 2;
}

/* The word of a robust mutex is its owner's thread id, with the mark that threads wait. */
static bool is_robust(const struct futex_classify_futex *f)
{
	uint32_t owner = f->val & FUTEX_TID_MASK;

	return command(f) == FUTEX_WAIT && f->val & FUTEX_WAITERS && owner &&
	       owner <= 1u << 22; /* the kernel's limit of pids */
}

/*
 * musl's, without a name on the stack: mutexes and read-write locks have their holder, or the number of holders, beside the
 * mark that threads wait (the sign). A semaphore has the sign alone, or, before 1.2.4, all bits, and in its third word that
 * it is of one process. A thread that waits for a condition has the word on its stack, after a member of four bytes; the
 * word of a thread that is joined is not there.
 */
static uint32_t kind_of_musl_word(const struct futex_classify_futex *f)
{
	uint32_t who = f->val & ~FUTEX_WAITERS;

	if (command(f) != FUTEX_WAIT)
		return QZ_OBJECT_OTHER;
	if (f->val == FUTEX_WAITERS ||
	    (f->val == UINT32_MAX && word_at(f, 8) == FUTEX_PRIVATE_FLAG))
		return QZ_OBJECT_SEMAPHORE;
	if (f->val == UINT32_MAX)
		return word_at(f, 4) ? QZ_OBJECT_RWLOCK : QZ_OBJECT_OTHER;
	if (f->val & FUTEX_WAITERS)
		return is_robust(f) && (f->word % 8 || who > word_at(f, 4)) ? QZ_OBJECT_MUTEX
									    : QZ_OBJECT_RWLOCK;
	if (f->val == 2)
		return f->word % 8 ? QZ_OBJECT_CONDITION : QZ_OBJECT_JOIN;
	return QZ_OBJECT_OTHER;
}

/* Without a name on the stack. glibc's sem_t has the number of waiters after the value. */
static uint32_t kind_of_word(const struct futex_classify_futex *f)
{
	bool timed = command(f) == FUTEX_WAIT_BITSET;

	if (timed && f->op & FUTEX_CLOCK_REALTIME && !(f->op & FUTEX_PRIVATE_FLAG) && f->val)
		return QZ_OBJECT_JOIN;
	if (timed && f->val == 0 && f->nbytes)
		return f->word % 8 == 0 && word_at(f, 4) ? QZ_OBJECT_SEMAPHORE
							 : QZ_OBJECT_CONDITION;
	if (timed && f->val == 2) /* the owner follows the mutex's word */
		return !f->nbytes || word_at(f, 8) ? QZ_OBJECT_MUTEX : QZ_OBJECT_RWLOCK;
	if (timed && f->val == 3)
		return QZ_OBJECT_RWLOCK;
	if (command(f) == FUTEX_WAIT && f->val == UINT32_MAX) /* libgomp's locks */
		return QZ_OBJECT_MUTEX;
	return QZ_OBJECT_OTHER;
}

uint32_t futex_classify__kind(const struct futex_classify_futex *f, uint32_t called)
{
	uint32_t c = command(f);

	if (c == FUTEX_LOCK_PI || c == FUTEX_LOCK_PI2)
		return QZ_OBJECT_MUTEX;
	if (f->musl && called == QZ_OBJECT_OTHER)
		return kind_of_musl_word(f);
	if (f->musl) /* in a condition's procedure, it may be getting its mutex back */
		return called == QZ_OBJECT_CONDITION && is_robust(f) ? QZ_OBJECT_MUTEX : called;
	if (is_robust(f))
		return QZ_OBJECT_MUTEX;
	if (c == FUTEX_WAIT_REQUEUE_PI)
		return QZ_OBJECT_CONDITION;
	if (is_lock(f) && (called == QZ_OBJECT_CONDITION || called == QZ_OBJECT_OTHER))
		return QZ_OBJECT_MUTEX;
	return called == QZ_OBJECT_OTHER ? kind_of_word(f) : called;
}

/*
 * Condition variables wait on one of two words side by side, of which the first is aligned; so do
 * readers and writers of a glibc rwlock. Readers of one that prefers writers wait on its first
 * word, whose flags and count are never as small as the values of the other.
 */
uint32_t futex_classify__distance(const struct futex_classify_futex *f, uint32_t kind)
{
	uint32_t second = f->word % 8 ? sizeof(uint32_t) : 0;

	if (kind == QZ_OBJECT_CONDITION && command(f) == FUTEX_WAIT_BITSET)
		return offsetof(pthread_cond_t, __data.__g_signals) + second;
	if (kind == QZ_OBJECT_RWLOCK && f->val <= 3)
		return offsetof(pthread_rwlock_t, __data.__wrphase_futex) + second;
	return 0;
}

const char *futex_classify__word(uint32_t kind)
{
	static const char *const words[QZ_OBJECT_KINDS] = {
		[QZ_OBJECT_OTHER] = "futex",
		[QZ_OBJECT_MUTEX] = "mutex",
		[QZ_OBJECT_CONDITION] = "condition variable",
		[QZ_OBJECT_BARRIER] = "barrier",
		[QZ_OBJECT_RWLOCK] = "rwlock",
		[QZ_OBJECT_SEMAPHORE] = "semaphore",
		[QZ_OBJECT_JOIN] = "end of thread",
		[QZ_OBJECT_ONCE] = "initialization",
		[QZ_OBJECT_SPIN] = "spin lock",
		[QZ_OBJECT_FILE] = "file",
		[QZ_OBJECT_PIPE] = "pipe",
		[QZ_OBJECT_SOCKET] = "socket",
		[QZ_OBJECT_LINE] = "cache line",
		[QZ_OBJECT_LOCK] = "a file",
		[QZ_OBJECT_EVENT] = "eventfd",
	};

	return kind < QZ_OBJECT_KINDS ? words[kind] : words[QZ_OBJECT_OTHER];
}
