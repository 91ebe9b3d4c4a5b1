/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzes the reader of shared pages: the input is laid over a slot, and over the tables at places
 * that it names itself. What is read must be within the limits of the contract.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/attribution/shm_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool law)
{
	if (!law)
		abort();
}

static void read_slot(const uint8_t *data, size_t size)
{
	static struct qz_slot shared;
	char name[QZ_THREAD_NAME_LENGTH];
	struct page_slot slot;

	memset(&shared, 0, sizeof(shared));
	memcpy(&shared, data, size < sizeof(shared) ? size : sizeof(shared));
	shm_slot__name(&shared, name);
	check(memchr(name, 0, sizeof(name)) != NULL);
	if (shm_slot__copy(&shared, &slot) != PAGE_SLOT_GOOD)
		return;
	check(slot.n < QZ_SLOT_STACK && slot.base <= slot.n && slot.task <= QZ_TASKS);
	check(slot.state <= QZ_WAIT_BLOCKED);
	for (uint32_t i = 0; i < slot.n; i++)
		check(slot.ids[i] >= 1 && slot.ids[i] <= QZ_SYMBOLS);
}

static bool take_call(void *context, uint32_t caller, uint32_t callee, uint64_t count)
{
	check(caller <= QZ_SYMBOLS && callee >= 1 && callee <= QZ_SYMBOLS && count);
	return true;
}

/* Each symbol that something was written to. */
static void read_symbols(int fd)
{
	off_t begin = offsetof(struct qz_tables, symbols);
	off_t end = begin + (off_t)(QZ_SYMBOLS * sizeof(struct qz_symbol));
	struct page_symbol symbol;

	for (off_t at = begin; (at = lseek(fd, at, SEEK_DATA)) >= begin && at < end;
	     at += sizeof(struct qz_symbol)) {
		uint32_t id = (uint32_t)((size_t)(at - begin) / sizeof(struct qz_symbol)) + 1;

		if (shm_tables__symbol(fd, id, &symbol))
			continue;
		check(symbol.kind <= QZ_SYMBOL_OBJECT);
		check(memchr(symbol.name, 0, sizeof(symbol.name)) != NULL);
	}
}

/* Pieces of the input: a place in units of 16 bytes (4 bytes, little-endian), then 64 bytes. */
static void fill(int fd, const uint8_t *data, size_t size)
{
	for (; size >= 4; data += 4, size -= 4) {
		uint32_t place;
		size_t n = size - 4 < 64 ? size - 4 : 64;

		memcpy(&place, data, 4);
		place %= QZ_TABLES_SIZE / 16 - 4;
		if (pwrite(fd, data + 4, n, (off_t)place * 16) != (ssize_t)n)
			abort();
		data += n;
		size -= n;
		if (size < 4)
			break;
	}
}

static void read_tables(int fd)
{
	uint32_t procedures[QZ_TASK_STACK], n;
	struct qz_page_header header;

	check(!shm_tables__header(fd, &header));
	check(header.slots_used <= QZ_SLOTS && header.symbols_used <= QZ_SYMBOLS);
	shm_tables__calls(fd, &header, take_call, NULL);
	read_symbols(fd);
	for (uint32_t task = 0; task <= QZ_TASKS + 1; task += 17) {
		n = shm_tables__task(fd, task, procedures);
		check(n <= QZ_TASK_STACK);
		for (uint32_t i = 0; i < n; i++)
			check(procedures[i] >= 1 && procedures[i] <= QZ_SYMBOLS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("tables", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, QZ_TABLES_SIZE))
		abort();
	read_slot(data, size);
	fill(fd, data, size);
	read_tables(fd);
	close(fd);
	return 0;
}
