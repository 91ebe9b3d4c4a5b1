/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/names/members.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <dwarf.h>

#define MAX_VARIABLES (1U << 20)
#define MAX_NESTING   16 /* of scopes, types and typedefs */
#define MAX_CHILDREN  65536
#define INDEX_NS      500000000
#define CHECK_EVERY   1024 /* entries between two readings of the clock */

struct variable {
	uint64_t start;
	Dwarf_Off die;
};

struct members {
	Dwarf *dwarf;
	struct variable *all;
	size_t n, room;
};

/* ---- the list of variables ---- */

struct indexing {
	struct members *m;
	uint64_t until;
	uint32_t seen;
	bool procedures; /* collect what is inside procedures; else what is not */
	bool over;	 /* out of time or memory */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void add_variable(struct indexing *x, uint64_t start, Dwarf_Off die)
{
	struct members *m = x->m;

	if (m->n >= MAX_VARIABLES) {
		x->over = true;
		return;
	}
	if (m->n == m->room) {
		size_t room = m->room ? m->room * 2 : 256;
		struct variable *bigger = reallocarray(m->all, room, sizeof(*bigger));

		if (!bigger) {
			x->over = true;
			return;
		}
		m->all = bigger;
		m->room = room;
	}
	m->all[m->n++] = (struct variable) {start, die};
}

/* With DWARF 5, clang puts addresses into a table. */
static bool address_by_index(Dwarf_Attribute *location, uint64_t *address)
{
	Dwarf_Attribute entry;
	Dwarf_Op *ops;
	size_t n;

	return !dwarf_getlocation(location, &ops, &n) && n == 1 &&
	       !dwarf_getlocation_attr(location, &ops[0], &entry) &&
	       !dwarf_formaddr(&entry, address);
}

/*
 * The address of a variable, if it is fixed: thread-local variables and those on stacks have none.
 */
static bool address_of(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute location;
	Dwarf_Block block;

	if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_formblock(&location, &block) ||
	    block.length == 0)
		return false;
	if (block.data[0] == DW_OP_addrx || block.data[0] == DW_OP_GNU_addr_index)
		return address_by_index(&location, address);
	if (block.data[0] != DW_OP_addr || block.length != 1 + sizeof(*address))
		return false;
	memcpy(address, block.data + 1, sizeof(*address));
	return true;
}

static bool has_scope(int tag, bool inside)
{
	if (tag == DW_TAG_namespace || tag == DW_TAG_module)
		return true;
	return inside && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block);
}

static void index_scope(struct indexing *x, Dwarf_Die *scope, bool inside, int depth)
{
	Dwarf_Die die;
	uint64_t address;

	if (depth == MAX_NESTING || dwarf_child(scope, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (++x->seen % CHECK_EVERY == 0 && now_ns() > x->until)
			x->over = true;
		if (tag == DW_TAG_variable && inside == x->procedures && address_of(&die, &address))
			add_variable(x, address, dwarf_dieoffset(&die));
		if (has_scope(tag, x->procedures))
			index_scope(x, &die, inside || tag == DW_TAG_subprogram, depth + 1);
	} while (!x->over && dwarf_siblingof(&die, &die) == 0);
}

static void index_units(struct indexing *x)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!x->over && dwarf_get_units(x->m->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		index_scope(x, &die, false, 0);
}

static int variable_order(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

struct members *members__new(Dwarf *dwarf)
{
	struct members *m = calloc(1, sizeof(*m));
	struct indexing x = {.m = m, .until = now_ns() + INDEX_NS};

	if (!m)
		return NULL;
	m->dwarf = dwarf;
	index_units(&x);
	x.procedures = true;
	index_units(&x);
	if (m->n == 0) {
		members__free(m);
		return NULL;
	}
	qsort(m->all, m->n, sizeof(*m->all), variable_order);
	return m;
}

void members__free(struct members *m)
{
	if (!m)
		return;
	free(m->all);
	free(m);
}

/* ---- types ---- */

/* An attribute of the entry, or of the declaration that it completes. */
static Dwarf_Attribute *attribute(Dwarf_Die *die, unsigned int name, Dwarf_Attribute *out)
{
	Dwarf_Die at = *die;

	for (int i = 0; i < 4; i++) {
		Dwarf_Attribute link;

		if (dwarf_attr(&at, name, out))
			return out;
		if (!dwarf_attr(&at, DW_AT_specification, &link) &&
		    !dwarf_attr(&at, DW_AT_abstract_origin, &link))
			return NULL;
		if (!dwarf_formref_die(&link, &at))
			return NULL;
	}
	return NULL;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return attribute(die, DW_AT_name, &a) ? dwarf_formstring(&a) : NULL;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute a;

	return attribute(die, DW_AT_type, &a) && dwarf_formref_die(&a, type);
}

static bool number_of(Dwarf_Die *die, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) && dwarf_formudata(&a, number) == 0;
}

static bool is_other_name(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/*
 * Types of synchronization objects in C, C++ and Rust, whose members are not named; template
 * arguments are ignored.
 */
static bool is_made_for_waiting(const char *name)
{
	static const char *const names[] = {
		"pthread_mutex_t",
		"pthread_cond_t",
		"pthread_rwlock_t",
		"pthread_barrier_t",
		"pthread_spinlock_t",
		"pthread_once_t",
		"sem_t",
		"mtx_t",
		"cnd_t",
		"mutex",
		"recursive_mutex",
		"timed_mutex",
		"recursive_timed_mutex",
		"shared_mutex",
		"shared_timed_mutex",
		"condition_variable",
		"condition_variable_any",
		"counting_semaphore",
		"once_flag",
		"barrier",
		"latch",
		"atomic",
		"atomic_flag",
		"Mutex",
		"CondVar",
		"RwLock",
		"Condvar",
		"Once",
		"OnceLock",
		"AtomicU32",
	};
	size_t length = strcspn(name, "<");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && memcmp(name, names[i], length) == 0)
			return true;
	return false;
}

/* Follows typedefs to the type. *made: one of them is a synchronization object. */
static bool peel(Dwarf_Die *type, bool *made)
{
	for (int i = 0; i < MAX_NESTING; i++) {
		const char *name = name_of(type);

		if (name && is_made_for_waiting(name))
			*made = true;
		if (*made || !is_other_name(dwarf_tag(type)))
			return true;
		if (!type_of(type, type))
			return false;
	}
	return false;
}

/* The length of one dimension of an array; 0: unknown. */
static uint64_t count_of(Dwarf_Die *range)
{
	uint64_t n;

	if (number_of(range, DW_AT_count, &n))
		return n;
	return number_of(range, DW_AT_upper_bound, &n) && n < UINT32_MAX ? n + 1 : 0;
}

#define MAX_DIMENSIONS 4

struct shape {
	uint64_t counts[MAX_DIMENSIONS];
	uint32_t n;
};

static bool shape_of(Dwarf_Die *array, struct shape *shape)
{
	Dwarf_Die range;

	shape->n = 0;
	if (dwarf_child(array, &range))
		return false;
	do {
		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (shape->n == MAX_DIMENSIONS)
			return false;
		shape->counts[shape->n++] = count_of(&range);
	} while (dwarf_siblingof(&range, &range) == 0);
	return shape->n > 0;
}

/* In bytes; 0: unknown. */
static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Die at = *type;
	uint64_t size, factor = 1;
	struct shape shape;

	for (int i = 0; i < 2 * MAX_NESTING; i++) {
		if (number_of(&at, DW_AT_byte_size, &size))
			return size < UINT32_MAX && factor < UINT32_MAX ? size * factor : 0;
		if (dwarf_tag(&at) == DW_TAG_array_type) {
			if (!shape_of(&at, &shape))
				return 0;
			for (uint32_t k = 0; k < shape.n && factor < UINT32_MAX; k++)
				factor *= shape.counts[k] & UINT32_MAX;
		} else if (!is_other_name(dwarf_tag(&at))) {
			return 0;
		}
		if (!type_of(&at, &at))
			return 0;
	}
	return 0;
}

/* ---- from an address to a member ---- */

static void append_index(struct name *path, uint64_t index)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "[%" PRIu64 "]", index);

	name__append(path, text, (size_t)length);
}

/* Descends into the array element that contains byte *offset. */
static bool enter_array(Dwarf_Die *type, uint64_t *offset, struct name *path)
{
	struct shape shape;
	uint64_t size, index;

	if (!shape_of(type, &shape) || !type_of(type, type))
		return false;
	size = size_of(type);
	if (size == 0)
		return false;
	for (uint32_t i = 1; i < shape.n; i++)
		size *= shape.counts[i] & UINT32_MAX;
	for (uint32_t i = 0; i < shape.n && size; i++) {
		index = *offset / size;
		append_index(path, index);
		*offset -= index * size;
		if (i + 1 < shape.n)
			size /= shape.counts[i + 1] ? shape.counts[i + 1] : 1;
	}
	return true;
}

static bool is_member(Dwarf_Die *die, uint64_t offset, uint64_t *at, Dwarf_Die *type)
{
	int tag = dwarf_tag(die);

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
	    dwarf_hasattr(die, DW_AT_declaration) || dwarf_hasattr(die, DW_AT_bit_size))
		return false;
	if (!number_of(die, DW_AT_data_member_location, at))
		*at = 0;
	return *at <= offset && type_of(die, type) && offset - *at < size_of(type);
}

/* Names that belong to compilers and their libraries. */
static bool is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* Whether it is an array of bytes, with which unions are padded. */
static bool is_array_of_bytes(const Dwarf_Die *type)
{
	Dwarf_Die at = *type;

	return dwarf_tag(&at) == DW_TAG_array_type && type_of(&at, &at) && size_of(&at) == 1;
}

/* The first member that contains the byte. With `bytes`, it may be an array of bytes. */
static bool find_member(Dwarf_Die *type, uint64_t offset, bool bytes, Dwarf_Die *die, uint64_t *at,
			Dwarf_Die *member)
{
	uint32_t n = 0;

	if (dwarf_child(type, die))
		return false;
	while (!is_member(die, offset, at, member) || (!bytes && is_array_of_bytes(member)))
		if (++n == MAX_CHILDREN || dwarf_siblingof(die, die))
			return false;
	return true;
}

/* Descends into the member of a structure or union that contains byte *offset. */
static bool enter_member(Dwarf_Die *type, uint64_t *offset, struct name *path)
{
	Dwarf_Die die, member;
	uint64_t at;

	if (!find_member(type, *offset, false, &die, &at, &member) &&
	    !find_member(type, *offset, true, &die, &at, &member))
		return false;
	if (dwarf_tag(&die) == DW_TAG_member) {
		const char *name = name_of(&die);

		if (name && is_reserved(name))
			return false;
		if (name) {
			name__append(path, ".", 1);
			name__append(path, name, strnlen(name, 256));
		}
	}
	*type = member;
	*offset -= at;
	return true;
}

static void follow(Dwarf_Die *type, struct member *out)
{
	for (int depth = 0; depth < MAX_NESTING; depth++) {
		int tag;

		if (!peel(type, &out->whole) || out->whole)
			return;
		tag = dwarf_tag(type);
		if (tag == DW_TAG_array_type) {
			if (!enter_array(type, &out->rest, &out->path))
				return;
		} else if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type &&
			   tag != DW_TAG_union_type) {
			return;
		} else if (!enter_member(type, &out->rest, &out->path)) {
			return;
		}
	}
}

bool members__find(const struct members *m, uint64_t vaddr, struct member *out)
{
	size_t low = 0, high = m->n;
	Dwarf_Die die, type;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->all[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || !dwarf_offdie(m->dwarf, m->all[low - 1].die, &die) || !type_of(&die, &type))
		return false;
	out->start = m->all[low - 1].start;
	out->rest = vaddr - out->start;
	if (out->rest >= size_of(&type))
		return false;
	out->variable = name_of(&die);
	out->file = dwarf_decl_file(&die);
	out->whole = false;
	name__set(&out->path, "");
	follow(&type, out);
	return true;
}
