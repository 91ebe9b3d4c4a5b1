// SPDX-License-Identifier: LGPL-2.1-only
/* The hash table of procedures and objects, and their names. Lock-free. */
#include <errno.h>
#include <string.h>

#include "userlib/library.h"

bool symbols__begin(void)
{
	add(&library.interning, 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (likely(!load(&library.moving)))
		return true;
	symbols__end();
	return false;
}

/* Never below 0: a thread that stop_interning ignored may still end here. */
void symbols__end(void)
{
	uint32_t now = load(&library.interning);

	while (now && !replace(&library.interning, &now, now - 1))
		;
}

/*
 * Copies a name into the text. Returns its offset, or 0. Only between symbols__begin and
 * symbols__end.
 */
static uint32_t add_text(const char *name)
{
	struct qz_page_header *header = &library.tables->header;
	size_t length = strnlen(name, QZ_NAME_LENGTH - 1);
	uint32_t at = load(&header->text_used);

	do {
		if (at >= QZ_TEXT_SIZE || length + 1 > QZ_TEXT_SIZE - at) {
			add(&header->text_refused, 1);
			return 0;
		}
	} while (!replace(&header->text_used, &at, at + length + 1));
	memcpy(library.tables->text + at, name, length);
	return at;
}

static bool has_name(const struct qz_symbol *s, const char *name)
{
	uint32_t text = load(&s->text);

	return text < QZ_TEXT_SIZE - QZ_NAME_LENGTH &&
	       !strncmp(library.tables->text + text, name, QZ_NAME_LENGTH - 1);
}

/*
 * An incomplete entry is being made by another thread, or by code that this signal handler has
 * interrupted; with the same address, it is the same symbol.
 */
static bool matches(const struct qz_symbol *s, uint32_t kind, const char *name)
{
	uint32_t known = load(&s->kind);

	if (!known || (known == QZ_SYMBOL_EXCLUDED && kind == QZ_SYMBOL_FUNCTION))
		return true;
	return known == kind && (kind != QZ_SYMBOL_PROCEDURE || has_name(s, name));
}

static uint32_t find_or_make(uint64_t address, uint32_t kind, const char *name)
{
	struct qz_tables *tables = library.tables;
	uint32_t place = qz_symbol_place(address);

	for (int i = 0; i < QZ_SYMBOL_PROBES; i++, place = (place + 1) % QZ_SYMBOLS) {
		struct qz_symbol *s = &tables->symbols[place];
		__u64 there = load(&s->address);

		if (!there && replace(&s->address, &there, address)) {
			store(&s->text, name ? add_text(name) : 0);
			store(&s->kind, kind);
			add(&tables->header.symbols_used, 1);
			return place + 1;
		}
		if (there == address && matches(s, kind, name))
			return place + 1;
	}
	add(&tables->header.symbols_refused, 1);
	return 0;
}

/* Finds an existing symbol, without symbols__begin. */
static uint32_t find(uint64_t address, uint32_t kind)
{
	const struct qz_tables *tables = load(&library.tables);
	uint32_t place = qz_symbol_place(address);

	for (int i = 0; tables && i < QZ_SYMBOL_PROBES; i++, place = (place + 1) % QZ_SYMBOLS) {
		const struct qz_symbol *s = &tables->symbols[place];
		__u64 there = load(&s->address);

		if (there == address && load(&s->kind) == kind)
			return place + 1;
		if (!there)
			break;
	}
	return 0;
}

uint32_t symbols__intern(uint64_t address, uint32_t kind, const char *name)
{
	uint32_t id = kind != QZ_SYMBOL_PROCEDURE && address ? find(address, kind) : 0;
	int saved = errno;

	if (id)
		return id;
	if (address && memory__reserve() && symbols__begin()) {
		id = find_or_make(address, kind, name);
		symbols__end();
	}
	errno = saved;
	return id;
}

exported uint32_t quartz_register_(struct quartz_procedure *procedure)
{
	const char *name = procedure->name ? procedure->name : "";
	uint32_t id = symbols__intern((uintptr_t)procedure, QZ_SYMBOL_PROCEDURE, name);

	if (id)
		__atomic_store_n(&procedure->id_, id, __ATOMIC_RELAXED);
	return id;
}

exported uint32_t quartz_object_(const void *object)
{
	return symbols__intern((uintptr_t)object, QZ_SYMBOL_OBJECT, NULL);
}

exported void quartz_object_name(const void *object, const char *name)
{
	uint32_t id = symbols__intern((uintptr_t)object, QZ_SYMBOL_OBJECT, NULL);
	struct qz_symbol *s;

	if (!id || !name || !symbols__begin())
		return;
	s = &library.tables->symbols[id - 1];
	if (!s->text || !has_name(s, name))
		store(&s->text, add_text(name));
	symbols__end();
}
