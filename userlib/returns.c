// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Original return addresses of procedures compiled with -pg. They are found by the stack pointer,
 * not by order, so that longjmp, exceptions and other stacks (signals, coroutines) cannot lose any.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userlib/library.h"

#define SIZE (sizeof(struct return_table) * QZ_SLOTS)

/* The call frame information in profile_x86.S depends on this layout. */
_Static_assert(sizeof(struct return_address) == 16 && offsetof(struct return_address, address) == 8,
	       "layout");
_Static_assert((RETURNS - 1) * 16 == 0x3ff0 && RETURN_PROBES == 8, "layout");
_Static_assert(sizeof(struct return_table) == 16512, "layout");

hidden struct returns library_returns;

static bool reserve(void)
{
	struct return_table *tables, *there = NULL;

	if (load(&library_returns.tables))
		return true;
	tables = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (tables == MAP_FAILED)
		return false;
	madvise(tables, SIZE, MADV_NOHUGEPAGE);
	if (!replace(&library_returns.tables, &there, tables))
		munmap(tables, SIZE);
	return true;
}

struct return_table *returns__table(uint32_t slot)
{
	struct return_table *end, *now = load(&library_returns.end);

	if (slot >= QZ_SLOTS || !reserve())
		return NULL;
	end = library_returns.tables + slot + 1;
	while (now < end && !replace(&library_returns.end, &now, end))
		;
	return library_returns.tables + slot;
}

static void forget_between(struct return_table *t, uint64_t low, uint64_t high)
{
	for (int i = 0; i < RETURNS + RETURN_PROBES; i++)
		if (t->entries[i].frame >= low && t->entries[i].frame <= high)
			t->entries[i].frame = 0;
}

/* Only those on this thread's stack: coroutines may continue in another thread. */
void returns__forget(uint32_t slot)
{
	pthread_attr_t attributes;
	void *stack;
	size_t size;

	if (!library_returns.tables || library_returns.tables + slot >= load(&library_returns.end))
		return;
	if (pthread_getattr_np(pthread_self(), &attributes))
		return;
	if (!pthread_attr_getstack(&attributes, &stack, &size))
		forget_between(library_returns.tables + slot, (uintptr_t)stack,
			       (uintptr_t)stack + size);
	pthread_attr_destroy(&attributes);
}

struct return_address *returns__search(uint64_t frame)
{
	static const char lost[] = "libquartz: a procedure compiled with -pg returned to where "
				   "none was called; use -finstrument-functions\n";
	struct return_table *t = library_returns.tables, *end = load(&library_returns.end);
	struct return_address *e = NULL;

	for (; t < end && !e; t++)
		e = returns__find(t, frame);
	if (e)
		return e;
	if (write(STDERR_FILENO, lost, sizeof(lost) - 1) < 0)
		_exit(127);
	__builtin_trap();
}
