/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * libquartz: annotations of a program for the Quartz profiler; see quartz(3). For C11 and C++11,
 * with gcc or clang.
 *
 * Every function but quartz_knob may be called from any thread and from signal handlers, at any
 * time. None of these fails, takes a lock, allocates from the heap or changes errno. The first call
 * of a thread after quartzd has begun to listen asks it for memory, which takes a fraction of a
 * second at most.
 * Without a listener, each call costs a load and a branch. With QUARTZ_DISABLE defined before the
 * inclusion, everything compiles to nothing and the library is not needed.
 *
 * Names that end in _ are private.
 */
#ifndef QUARTZ_QUARTZ_H
#define QUARTZ_QUARTZ_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A procedure that was not pushed, because no quartzd listens or the stack is full. */
#define QUARTZ_NONE UINT32_MAX

/*
 * A procedure named by the program. It must be a static object; all threads may share it. The name
 * is not copied at once and must remain valid. Only its first 255 bytes are used.
 */
struct quartz_procedure {
	const char *name;
	uint32_t id_;
};
#define QUARTZ_PROCEDURE(text)                                                                     \
	{                                                                                          \
		(text), 0                                                                          \
	}

/* A spin lock whose holder and waiters Quartz shows. All bits 0: free. */
struct quartz_spinlock {
	int taken_;
};

/* What a knob is for, by which `quartzctl tune` chooses one. */
enum quartz_knob_role {
	QUARTZ_KNOB_THREADS, /* how many threads work, as of a pool */
	QUARTZ_KNOB_CHUNK,   /* how much work a thread takes at a time */
	QUARTZ_KNOB_OTHER,
};

/* A value of the program that `quartzctl set` may change; see quartz_knob. What is not set is 0. */
struct quartz_knob {
	const char *name; /* 1 to 31 letters, digits, '.', '_' or '-' */
	long *value;	  /* valid until the end of the program; what it has now must be allowed */
	long least, most; /* allowed: least, least + step, ... up to most */
	long step;	  /* 0: 1 */
	/*
	 * Instead of a range: at most 16 names, of at most 23 such characters, NULL at the end. The
	 * value is the index.
	 */
	const char *const *choices;
	enum quartz_knob_role role;
	/*
	 * NULL: a new value is stored by the thread that comes to quartz_knob_point. Otherwise this
	 * is called with it, in a thread of the library, at once, and it is stored afterwards if this
	 * returned 0; other results refuse it.
	 */
	int (*changed)(long value, void *context);
	void *context;
};

/* With -finstrument-functions, the functions of this header must not be instrumented. */
#define QUARTZ_UNSEEN_ __attribute__((no_instrument_function))
#define QUARTZ_INLINE_ static inline QUARTZ_UNSEEN_

#define QUARTZ_JOIN2_(a, b) a##b
#define QUARTZ_JOIN_(a, b)  QUARTZ_JOIN2_(a, b)

#ifndef QUARTZ_DISABLE

/*
 * The beginning of struct qz_slot of quartz/page.h. The layout is part of the ABI of
 * libquartz.so.1.
 */
#define QUARTZ_STACK_ 128
struct quartz_slot_ {
	uint32_t tid, claims, depth, overflows;
	uint64_t wait, task, event, pushes, held, reserved;
	uint32_t stack[QUARTZ_STACK_];
};

/* Call counts of this thread; see struct qz_call of quartz/page.h. */
#define QUARTZ_CALLS_ 1024
struct quartz_call_ {
	uint64_t pair, count;
};

struct quartz_thread_ {
	struct quartz_slot_ *slot;
	struct quartz_call_ *calls;
	uint32_t generation; /* of the quartzd for which the slot was claimed, 0: none */
	uint32_t index;
};

extern __thread struct quartz_thread_ quartz_thread_ __attribute__((tls_model("initial-exec")));
extern const uint32_t *quartz_generation_;
struct quartz_slot_ *quartz_attach_(uint32_t generation);
uint32_t quartz_register_(struct quartz_procedure *procedure);
uint32_t quartz_object_(const void *object);
void quartz_count_(uint32_t caller, uint32_t callee);

/* The slot of this thread, or NULL if no quartzd listens. */
QUARTZ_INLINE_ struct quartz_slot_ *quartz_slot_(void)
{
	uint32_t generation = __atomic_load_n(quartz_generation_, __ATOMIC_RELAXED);

	if (__builtin_expect(!generation, 1))
		return 0;
	if (__builtin_expect(quartz_thread_.generation != generation, 0))
		return quartz_attach_(generation);
	return quartz_thread_.slot;
}

/* Counts in the first entry for this pair, else leaves it to the library. */
QUARTZ_INLINE_ void quartz_call_(uint32_t caller, uint32_t callee)
{
	struct quartz_call_ *call = &quartz_thread_.calls[(caller * 3 + callee) % QUARTZ_CALLS_];

	if (__builtin_expect(call->pair == ((uint64_t)caller << 32 | callee), 1))
		call->count++;
	else
		quartz_count_(caller, callee);
}

/* Stores the depth before the entry: a signal handler in between then pushes above it. */
QUARTZ_INLINE_ uint32_t quartz_push_(struct quartz_slot_ *slot, uint32_t id)
{
	uint32_t depth = __atomic_load_n(&slot->depth, __ATOMIC_RELAXED);

	slot->pushes++;
	if (__builtin_expect(depth >= QUARTZ_STACK_ - 1, 0)) {
		slot->overflows++;
		quartz_count_(0, id);
		return QUARTZ_NONE;
	}
	quartz_call_(slot->stack[depth], id);
	if (slot->stack[depth] == id)
		return depth;
	__atomic_store_n(&slot->depth, depth + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&slot->stack[depth + 1], id, __ATOMIC_RELAXED);
	return depth;
}

/* ---- procedures ---- */

/*
 * Pushes the procedure onto the profile stack of this thread: from now on, its time counts there. A
 * procedure that is already on top is not pushed again. The stack has room for 127; more are only
 * counted.
 *
 * Returns a value for quartz_leave in the same thread: the depth before the call, or QUARTZ_NONE.
 */
QUARTZ_INLINE_ uint32_t quartz_enter(struct quartz_procedure *procedure)
{
	struct quartz_slot_ *slot = quartz_slot_();
	uint32_t id;

	if (!slot)
		return QUARTZ_NONE;
	id = __atomic_load_n(&procedure->id_, __ATOMIC_RELAXED);
	if (__builtin_expect(!id, 0) && !(id = quartz_register_(procedure)))
		return QUARTZ_NONE;
	return quartz_push_(slot, id);
}

/*
 * The same with an object, for example a lock, identified by its address. Call it before the lock
 * is requested, and quartz_leave after it was released: waiting and holding are then charged to it.
 */
QUARTZ_INLINE_ uint32_t quartz_enter_object(const void *object)
{
	struct quartz_slot_ *slot = quartz_slot_();
	uint32_t id = slot ? quartz_object_(object) : 0;

	return id ? quartz_push_(slot, id) : QUARTZ_NONE;
}

/*
 * Restores the profile stack as it was before the quartz_enter or quartz_enter_object that returned
 * `entered`, even if longjmp has skipped other calls of quartz_leave. Accepts QUARTZ_NONE.
 */
QUARTZ_INLINE_ void quartz_leave(uint32_t entered)
{
	if (entered < QUARTZ_STACK_)
		__atomic_store_n(&quartz_thread_.slot->depth, entered, __ATOMIC_RELAXED);
}

/* ---- what a thread waits for ---- */

QUARTZ_INLINE_ void quartz_wait_(struct quartz_slot_ *slot, uint64_t state, const void *object)
{
	uint64_t address = (uint64_t)(uintptr_t)object & UINT64_C(0x00ffffffffffffff);

	if (slot)
		__atomic_store_n(&slot->wait, state << 56 | address, __ATOMIC_RELAXED);
}

/*
 * Until quartz_spin_end, the thread uses a processor but only waits for the object (NULL: unknown),
 * so it is not busy. Waits do not nest.
 */
QUARTZ_INLINE_ void quartz_spin_begin(const void *object)
{
	quartz_wait_(quartz_slot_(), 1, object);
}

/* The thread is busy again. */
QUARTZ_INLINE_ void quartz_spin_end(void)
{
	quartz_wait_(quartz_slot_(), 0, 0);
}

/*
 * Until quartz_block_end, the thread sleeps, or is about to sleep, to wait for the object (NULL:
 * unknown).
 */
QUARTZ_INLINE_ void quartz_block_begin(const void *object)
{
	quartz_wait_(quartz_slot_(), 2, object);
}

/* The thread is busy again. */
QUARTZ_INLINE_ void quartz_block_end(void)
{
	quartz_wait_(quartz_slot_(), 0, 0);
}

/* ---- tasks ---- */

/*
 * Captures the procedures that this thread is in, for a task that another thread will run. Call it
 * where the task is submitted. The result is for quartz_task_begin in any thread of this process,
 * any number of times; it need not be released. 0: no quartzd listens, or there is nothing to capture.
 */
uint32_t quartz_task_capture(void);

/*
 * Until quartz_task_end, the work of this thread counts for the captured procedures instead of
 * those that it was in before. `task` may be 0. Returns a value for quartz_task_end in the same
 * thread. Tasks may nest.
 */
QUARTZ_INLINE_ uint64_t quartz_task_begin(uint32_t task)
{
	struct quartz_slot_ *slot = quartz_slot_();
	uint64_t before;

	if (!slot)
		return UINT64_MAX;
	before = slot->task;
	__atomic_store_n(&slot->task, (uint64_t)slot->depth << 32 | task, __ATOMIC_RELAXED);
	return before;
}

/* Ends the task for which quartz_task_begin returned `begun`. */
QUARTZ_INLINE_ void quartz_task_end(uint64_t begun)
{
	if (begun != UINT64_MAX)
		__atomic_store_n(&quartz_thread_.slot->task, begun, __ATOMIC_RELAXED);
}

/* ---- measurement events ---- */

/*
 * Stores one event, which quartzd reads, timestamps and logs, if it has a reserved processor. An
 * event that the thread overwrites before quartzd has read it is lost and counted.
 */
QUARTZ_INLINE_ void quartz_event(uint32_t value)
{
	struct quartz_slot_ *slot = quartz_slot_();
	uint64_t number;

	if (!slot)
		return;
	number = (__atomic_load_n(&slot->event, __ATOMIC_RELAXED) >> 32) + 1;
	__atomic_store_n(&slot->event, number << 32 | value, __ATOMIC_RELAXED);
}

/* ---- names ---- */

/*
 * Names the object at this address, at any time. Copies the name, up to 255 bytes; the last name
 * applies.
 */
void quartz_object_name(const void *object, const char *name);

/* Names this thread. Copies the name, up to 31 bytes; NULL: no name. */
void quartz_thread_name(const char *name);

/* ---- knobs ---- */

extern const uint32_t *quartz_knobs_asked_;
extern uint32_t quartz_knobs_seen_;
void quartz_knob_apply_(void);

/*
 * Registers a value that the owner of the process and root may set while the program runs (quartzctl
 * knobs, quartzctl set; no quartzd is needed). Copies the structure and all names, keeps `value`,
 * `changed` and `context` for ever. The first knob makes a memory file, which stays open, and the
 * first one with a callback a thread. A child of fork has no knobs, and may register its own. Not
 * from signal handlers.
 *
 * Returns 0, or: -EINVAL, a name, the range, or the value that is there now is not allowed; -EEXIST,
 * there is a knob of that name; -ENOSPC, there are 64; or a negative errno for want of memory. Then
 * there is no such knob.
 */
int quartz_knob(const struct quartz_knob *knob);

/*
 * A safe point: stores the values that were set since the last one, of all knobs without a callback.
 * Costs three loads and a branch if there are none. Of several threads that call it at a time, one
 * stores, and others may still read the old value.
 */
QUARTZ_INLINE_ void quartz_knob_point(void)
{
	if (__builtin_expect(__atomic_load_n(quartz_knobs_asked_, __ATOMIC_RELAXED) !=
				     __atomic_load_n(&quartz_knobs_seen_, __ATOMIC_RELAXED),
			     0))
		quartz_knob_apply_();
}

/* ---- instrumentation by the compiler ---- */

/*
 * With -finstrument-functions: stops recording this function. Its callees then count as callees of
 * its caller.
 */
void quartz_exclude(const void *function);

/*
 * Looks for quartzd now and connects to it. Not needed: the next call does so once quartzd listens.
 */
void quartz_connect(void);

#else /* QUARTZ_DISABLE */

QUARTZ_INLINE_ uint32_t quartz_enter(struct quartz_procedure *procedure)
{
	(void)procedure;
	return QUARTZ_NONE;
}

QUARTZ_INLINE_ uint32_t quartz_enter_object(const void *object)
{
	(void)object;
	return QUARTZ_NONE;
}

QUARTZ_INLINE_ void quartz_leave(uint32_t entered)
{
	(void)entered;
}

QUARTZ_INLINE_ void quartz_spin_begin(const void *object)
{
	(void)object;
}

QUARTZ_INLINE_ void quartz_spin_end(void)
{
}

QUARTZ_INLINE_ void quartz_block_begin(const void *object)
{
	(void)object;
}

QUARTZ_INLINE_ void quartz_block_end(void)
{
}

QUARTZ_INLINE_ uint32_t quartz_task_capture(void)
{
	return 0;
}

QUARTZ_INLINE_ uint64_t quartz_task_begin(uint32_t task)
{
	return task;
}

QUARTZ_INLINE_ void quartz_task_end(uint64_t begun)
{
	(void)begun;
}

QUARTZ_INLINE_ void quartz_event(uint32_t value)
{
	(void)value;
}

QUARTZ_INLINE_ void quartz_object_name(const void *object, const char *name)
{
	(void)object;
	(void)name;
}

QUARTZ_INLINE_ void quartz_thread_name(const char *name)
{
	(void)name;
}

QUARTZ_INLINE_ int quartz_knob(const struct quartz_knob *knob)
{
	(void)knob;
	return 0;
}

QUARTZ_INLINE_ void quartz_knob_point(void)
{
}

QUARTZ_INLINE_ void quartz_exclude(const void *function)
{
	(void)function;
}

QUARTZ_INLINE_ void quartz_connect(void)
{
}

#endif /* QUARTZ_DISABLE */

/* ---- helpers built on the functions above ---- */

QUARTZ_INLINE_ void quartz_relax_(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/*
 * Evaluates `condition` in a loop until it holds; counts as spinning on `object` unless it holds at
 * once: QUARTZ_SPIN_UNTIL(&lock, try_lock(&lock)). The condition must not contain `break` or
 * `return`.
 */
#define QUARTZ_SPIN_UNTIL(object, condition)                                                       \
	do {                                                                                       \
		if (condition)                                                                     \
			break;                                                                     \
		quartz_spin_begin(object);                                                         \
		while (!(condition))                                                               \
			quartz_relax_();                                                           \
		quartz_spin_end();                                                                 \
	} while (0)

QUARTZ_INLINE_ int quartz_spinlock_try_(struct quartz_spinlock *lock)
{
	return !__atomic_load_n(&lock->taken_, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&lock->taken_, 1, __ATOMIC_ACQUIRE);
}

/*
 * Takes the lock, spinning if necessary; not recursive. Returns a value for quartz_spinlock_unlock.
 * Makes at most one store to shared memory while the lock is held.
 */
QUARTZ_INLINE_ uint32_t quartz_spinlock_lock(struct quartz_spinlock *lock)
{
	uint32_t entered = quartz_enter_object(lock);

	QUARTZ_SPIN_UNTIL(lock, quartz_spinlock_try_(lock));
	return entered;
}

/* Releases the lock. `entered` is what quartz_spinlock_lock returned. */
QUARTZ_INLINE_ void quartz_spinlock_unlock(struct quartz_spinlock *lock, uint32_t entered)
{
	__atomic_store_n(&lock->taken_, 0, __ATOMIC_RELEASE);
	quartz_leave(entered);
}

#ifdef __cplusplus
} /* extern "C" */

/* Leaves the procedure in its destructor. */
class quartz_scope_
{
      public:
	QUARTZ_UNSEEN_ explicit quartz_scope_(struct quartz_procedure *procedure)
	    : entered_(quartz_enter(procedure))
	{
	}
	QUARTZ_UNSEEN_ ~quartz_scope_()
	{
		quartz_leave(entered_);
	}
	quartz_scope_(const quartz_scope_ &) = delete;
	quartz_scope_ &operator=(const quartz_scope_ &) = delete;

      private:
	uint32_t entered_;
};

/*
 * QUARTZ_SCOPE("name"): the rest of the block is a procedure of this name, however the block is
 * left.
 */
#define QUARTZ_SCOPE(name)                                                                         \
	static struct quartz_procedure QUARTZ_JOIN_(quartz_procedure_, __LINE__) =                 \
		QUARTZ_PROCEDURE(name);                                                            \
	quartz_scope_ QUARTZ_JOIN_(quartz_entered_, __LINE__)                                      \
	{                                                                                          \
		&QUARTZ_JOIN_(quartz_procedure_, __LINE__)                                         \
	}
#else
QUARTZ_INLINE_ void quartz_cleanup_(const uint32_t *entered)
{
	quartz_leave(*entered);
}

/*
 * QUARTZ_SCOPE("name"): the rest of the block is a procedure of this name, however the block is
 * left.
 */
#define QUARTZ_SCOPE(name)                                                                         \
	static struct quartz_procedure QUARTZ_JOIN_(quartz_procedure_, __LINE__) =                 \
		QUARTZ_PROCEDURE(name);                                                            \
	const uint32_t QUARTZ_JOIN_(quartz_entered_, __LINE__)                                     \
		__attribute__((cleanup(quartz_cleanup_), unused)) =                                \
			quartz_enter(&QUARTZ_JOIN_(quartz_procedure_, __LINE__))
#endif

#endif
