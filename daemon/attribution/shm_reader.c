// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "daemon/attribution/shm_reader.h"

#define CHUNK 4096 /* bytes of a table read at once; a multiple of every entry's size */

static_assert(CHUNK % sizeof(struct qz_symbol) == 0 && CHUNK % sizeof(struct qz_call) == 0,
	      "whole entries");

#define LINE 16 /* stack entries in a cache line */

static_assert(offsetof(struct qz_slot, stack) % 64 == 0 && QZ_SLOT_STACK % LINE == 0,
	      "whole lines");
static_assert((QZ_SYMBOLS & (QZ_SYMBOLS - 1)) == 0, "all places below it, or'ed, are below it");

static bool is_id(uint32_t id)
{
	return id - 1 < QZ_SYMBOLS;
}

/* ---- slots ---- */

/*
 * Copies from shared memory. Volatile, because the compiler must not read it twice: the process may
 * change it in between.
 */
static inline void copy_once(void *to, const volatile void *from, size_t size)
{
	memcpy(to, (const void *)from, size);
	__asm__ volatile("" ::: "memory");
}

/* Leaves out entries that are no ids, and adjusts the base. */
static void drop_invalid(struct page_slot *slot, uint32_t depth, uint32_t base)
{
	slot->n = slot->base = 0;
	for (uint32_t i = 0; i < depth; i++) {
		if (!is_id(slot->ids[i]))
			continue;
		slot->ids[slot->n++] = slot->ids[i];
		if (i < base)
			slot->base = slot->n;
	}
}

/* Copies the cache lines of the slot that are in use. */
static void copy_stack(const struct qz_slot *shared, uint32_t depth, uint32_t base,
		       struct page_slot *slot)
{
	uint32_t places = 0;

	for (uint32_t i = 0; i <= depth; i += LINE)
		copy_once(&slot->stack[i], &shared->stack[i], LINE * sizeof(slot->stack[0]));
	for (uint32_t i = 0; i < depth; i++)
		places |= slot->ids[i] - 1;
	slot->n = depth;
	slot->base = base < depth ? base : depth;
	if (places >= QZ_SYMBOLS)
		drop_invalid(slot, depth, base);
}

enum page_verdict shm_slot__copy(const struct qz_slot *shared, struct page_slot *slot)
{
	struct qz_slot head;

	copy_once(&head, shared, offsetof(struct qz_slot, stack));
	if (!head.tid)
		return PAGE_SLOT_FREE;
	if (head.depth >= QZ_SLOT_STACK || QZ_WAIT_STATE(head.wait) > QZ_WAIT_BLOCKED ||
	    QZ_TASK_ID(head.task) > QZ_TASKS || QZ_TASK_BASE(head.task) >= QZ_SLOT_STACK)
		return PAGE_SLOT_INVALID;
	slot->tid = head.tid;
	slot->claims = head.claims;
	slot->overflows = head.overflows;
	slot->state = QZ_WAIT_STATE(head.wait);
	slot->object = QZ_WAIT_ADDRESS(head.wait);
	slot->event = head.event;
	slot->pushes = head.pushes;
	slot->held = head.held;
	slot->task = QZ_TASK_ID(head.task);
	copy_stack(shared, head.depth, slot->task ? QZ_TASK_BASE(head.task) : 0, slot);
	return PAGE_SLOT_GOOD;
}

void shm_slot__name(const struct qz_slot *shared, char name[QZ_THREAD_NAME_LENGTH])
{
	copy_once(name, shared->name, QZ_THREAD_NAME_LENGTH);
	name[QZ_THREAD_NAME_LENGTH - 1] = '\0';
}

/* ---- tables ---- */

static int read_at(int fd, void *to, size_t size, size_t at)
{
	return pread(fd, to, size, (off_t)at) == (ssize_t)size ? 0 : -EIO;
}

static void limit(uint32_t *n, uint32_t most)
{
	if (*n > most)
		*n = most;
}

int shm_tables__header(int fd, struct qz_page_header *header)
{
	int err = read_at(fd, header, sizeof(*header), 0);

	if (err)
		return err;
	limit(&header->slots_used, QZ_SLOTS);
	limit(&header->segments, QZ_SEGMENTS);
	limit(&header->symbols_used, QZ_SYMBOLS);
	limit(&header->text_used, QZ_TEXT_SIZE);
	limit(&header->tasks_used, QZ_TASKS);
	limit(&header->calls_used, QZ_CALLS);
	return 0;
}

static int read_name(int fd, uint32_t at, char name[QZ_NAME_LENGTH])
{
	size_t size = QZ_NAME_LENGTH;

	name[0] = '\0';
	if (!at)
		return 0;
	if (at >= QZ_TEXT_SIZE)
		return -EINVAL;
	if (size > QZ_TEXT_SIZE - at)
		size = QZ_TEXT_SIZE - at;
	if (read_at(fd, name, size, offsetof(struct qz_tables, text) + at))
		return -EIO;
	name[size - 1] = '\0';
	return 0;
}

static int take_symbol(int fd, const struct qz_symbol *s, struct page_symbol *symbol)
{
	if (!s->kind || !s->address)
		return -ENOENT;
	if (s->kind > QZ_SYMBOL_EXCLUDED)
		return -EINVAL;
	symbol->address = s->address;
	/* a procedure may have been called before it was excluded */
	symbol->kind = s->kind == QZ_SYMBOL_EXCLUDED ? QZ_SYMBOL_FUNCTION : s->kind;
	return read_name(fd, s->text, symbol->name);
}

int shm_tables__symbol(int fd, uint32_t id, struct page_symbol *symbol)
{
	struct qz_symbol s;

	if (!is_id(id))
		return -EINVAL;
	if (read_at(fd, &s, sizeof(s), offsetof(struct qz_tables, symbols) + (id - 1) * sizeof(s)))
		return -EIO;
	return take_symbol(fd, &s, symbol);
}

bool shm_tables__object_name(int fd, uint64_t address, char name[QZ_NAME_LENGTH])
{
	uint32_t place = qz_symbol_place(address);

	for (uint32_t i = 0; address && i < QZ_SYMBOL_PROBES; i++) {
		uint32_t at = (place + i) & (QZ_SYMBOLS - 1);
		struct qz_symbol s;

		if (read_at(fd, &s, sizeof(s),
			    offsetof(struct qz_tables, symbols) + at * sizeof(s)) ||
		    !s.address)
			return false;
		if (s.address == address && s.kind == QZ_SYMBOL_OBJECT)
			return !read_name(fd, s.text, name) && name[0];
	}
	return false;
}

/* Validates a copy of a task in place. Returns its number of procedures. */
static uint32_t check_task(struct qz_task *task)
{
	uint32_t n = 0;

	if (task->count > QZ_TASK_STACK)
		task->count = 0;
	for (uint32_t i = 0; i < task->count; i++)
		if (is_id(task->procedures[i]))
			task->procedures[n++] = task->procedures[i];
	task->count = n;
	return n;
}

uint32_t shm_tables__task(int fd, uint32_t task, uint32_t procedures[QZ_TASK_STACK])
{
	struct qz_task copy;
	uint32_t n;

	if (!task || task > QZ_TASKS ||
	    read_at(fd, &copy, sizeof(copy),
		    offsetof(struct qz_tables, tasks) + (task - 1) * sizeof(copy)))
		return 0;
	n = check_task(&copy);
	memcpy(procedures, copy.procedures, n * sizeof(*procedures));
	return n;
}

/* The next byte from `at` on that the process has ever written; `end`: there is none. */
static size_t next_data(int fd, size_t at, size_t end)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? end : at;
	return (size_t)data > at ? (size_t)data / CHUNK * CHUNK : at;
}

static bool take_calls(const struct qz_call *calls, size_t n, page_call *call, void *context)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t caller = QZ_CALL_CALLER(calls[i].pair);
		uint32_t callee = QZ_CALL_CALLEE(calls[i].pair);

		if (is_id(callee) && (!caller || is_id(caller)) && calls[i].count &&
		    !call(context, caller, callee, calls[i].count))
			return false;
	}
	return true;
}

int shm_tables__calls(int fd, const struct qz_page_header *header, page_call *call, void *context)
{
	size_t end = offsetof(struct qz_tables, thread_calls) +
		     (size_t)header->slots_used * QZ_THREAD_CALLS * sizeof(struct qz_call);
	struct qz_call calls[CHUNK / sizeof(struct qz_call)];

	for (size_t at = offsetof(struct qz_tables, calls); at < end; at += CHUNK) {
		at = next_data(fd, at, end);
		if (at >= end)
			break;
		if (read_at(fd, calls, sizeof(calls), at))
			return -EIO;
		if (!take_calls(calls, sizeof(calls) / sizeof(calls[0]), call, context))
			break;
	}
	return 0;
}
