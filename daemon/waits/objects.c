// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/bits.h"
#include "daemon/waits/objects.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/procfs.h"
#include "daemon/attribution/instrumented_stacks.h"

_Static_assert(QZ_NAME_LENGTH <= OBJNAME_SIZE, "room for names that programs give");

/*
 * After so many drains without anything new an object is retired. Longer than waits that name it
 * take to be drained once the last thread has let go of it.
 */
#define IDLE_DRAINS 6

/* So often an object may be named by another wait than the first, whose stack was cut. */
#define MAX_RENAMINGS 8

_Static_assert(OBJNAME_BYTES == QZ_WORD_BYTES, "bytes of a word");
_Static_assert(QZ_QUEUE_LENGTHS == QZ_LENGTHS, "lengths of queues");

/* What is kept of a slot between two drains. */
struct slot {
	uint64_t hash;	/* of what was taken in; 0: nothing */
	uint32_t index; /* in the profile, QZ_NONE: not named yet */
	uint8_t idle, renamings;
	bool retired;
	bool open;	  /* the name is for the time being */
	bool wanted;	  /* to be named at the next objects__name() */
	uint32_t spinner; /* see objects__want() */
};

struct objects {
	struct qz_object_slot *table;
	struct qz_object_figures *figures;
	uint64_t *in_table; /* bits: slots that are in use */
	struct threads *threads;
	const struct stack_context *context;
	struct wait_stacks *stacks;
	struct object_naming_context *names;
	struct slot *slots;
	uint32_t nscopes; /* in BPF */
	uint32_t *used;	  /* by scope in BPF: the last drain at which it had a slot */
	uint32_t drains;
};

struct objects *objects__new(const struct bpf_runtime *bpf, struct threads *threads,
			     const struct stack_context *context, struct wait_stacks *stacks,
			     struct object_naming_context *names)
{
	struct objects *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->table = bpf_runtime__objects(bpf);
	o->figures = bpf_runtime__object_figures(bpf);
	o->in_table = bpf_runtime__used_objects(bpf);
	o->threads = threads;
	o->context = context;
	o->stacks = stacks;
	o->names = names;
	o->nscopes = bpf_runtime__max_scopes(bpf);
	o->slots = calloc(QZ_OBJECT_SLOTS, sizeof(*o->slots));
	o->used = calloc(o->nscopes, sizeof(*o->used));
	if (!o->slots || !o->used) {
		objects__free(o);
		return NULL;
	}
	return o;
}

void objects__free(struct objects *o)
{
	if (!o)
		return;
	free(o->slots);
	free(o->used);
	free(o);
}

/* ---- figures ---- */

static uint64_t waiting_ns(uint64_t queue_ns, uint32_t length)
{
	return length < QZ_LENGTHS - 1 ? queue_ns * length : 0;
}

/* Returns whether there was anything. */
static bool take_figures(struct qz_object_figures *f, struct qz_object *to)
{
	uint64_t wakes = bpf_runtime__take(&f->wakes), any = wakes;

	to->wakes += wakes;
	to->in_vain += bpf_runtime__take(&f->in_vain);
	to->wait_ns += bpf_runtime__take(&f->beyond_ns);
	for (uint32_t i = 0; i < QZ_LENGTHS; i++) {
		uint64_t arrivals = bpf_runtime__take(&f->lengths[i].arrivals),
			 ns = bpf_runtime__take(&f->lengths[i].ns);

		to->arrivals[i] += arrivals;
		to->waits += arrivals;
		to->queue_ns[i] += ns;
		to->wait_ns += waiting_ns(ns, i);
		any |= arrivals | ns;
	}
	return any;
}

/* ---- taking in ---- */

static bool in_use(const struct qz_object_slot *table)
{
	return __atomic_load_n(&table->refs, __ATOMIC_SEQ_CST);
}

/* A retired slot is freed, unless a program found it just before. */
static void end_retirement(struct objects *o, uint32_t i)
{
	struct qz_object_slot *table = &o->table[i];
	struct slot *slot = &o->slots[i];

	if (in_use(table)) {
		slot->retired = false;
		slot->idle = 0;
		__atomic_store_n(&table->hash, slot->hash, __ATOMIC_SEQ_CST);
		return;
	}
	*slot = (struct slot) {.index = QZ_NONE};
	table->stored = 0;
	qz_bits__clear(o->in_table, i);
	__atomic_store_n(&table->hash, 0, __ATOMIC_SEQ_CST);
}

static uint32_t stored(const struct qz_object_slot *table)
{
	return __atomic_load_n(&table->stored, __ATOMIC_SEQ_CST);
}

static bool is_filling(const struct qz_object_slot *table)
{
	uint32_t s = stored(table);

	return s == QZ_OBJECT_FILLING || s == QZ_OBJECT_IDENTIFIED;
}

static void name(struct objects *o, uint32_t i, uint32_t spinner);

static void drain_slot(struct objects *o, uint32_t i, bool aging)
{
	struct qz_object_slot *table = &o->table[i];
	struct qz_object_figures *f = &o->figures[i];
	struct slot *slot = &o->slots[i];
	uint64_t hash = __atomic_load_n(&table->hash, __ATOMIC_SEQ_CST);

	if (table->scope < o->nscopes)
		o->used[table->scope] = o->drains;
	if (is_filling(table))
		return;
	if (!slot->hash) {
		*slot = (struct slot) {.hash = hash, .index = QZ_NONE};
		return;
	}
	/* the next waiter, who would have told more, has not come */
	if (slot->index == QZ_NONE && stored(table) == QZ_OBJECT_ASLEEP && !in_use(table))
		name(o, i, 0);
	if (slot->index == QZ_NONE)
		return;
	if (take_figures(f, &o->context->profile->objects[slot->index]) || in_use(table)) {
		slot->idle = 0;
		if (slot->retired)
			end_retirement(o, i);
		return;
	}
	if (!aging)
		return;
	if (slot->retired) {
		end_retirement(o, i);
	} else if (++slot->idle >= IDLE_DRAINS) {
		slot->retired = true;
		__atomic_store_n(&table->hash, QZ_OBJECT_RETIRED, __ATOMIC_SEQ_CST);
	}
}

void objects__drain(struct objects *o, bool aging)
{
	o->drains++;
	qz_bits__for_each(i, o->in_table, QZ_OBJECT_SLOTS)
		drain_slot(o, i, aging);
}

/* ---- naming ---- */

struct program {
	const struct objects *objects;
	uint32_t image;
};

static bool given_name(void *context, uint64_t address, char *name)
{
	const struct program *p = context;

	return instrumented_stacks__object_name(p->objects->context->instrumented, p->image,
						address, name);
}

/* The memory from a futex word on, of the process that it was meant in; how many bytes. */
static uint32_t read_word(const struct image *image, uint64_t word, uint8_t *bytes)
{
	int dir = image ? procfs__open(image->pid, image->start_boottime) : -1;
	ssize_t n;

	if (dir < 0)
		return 0;
	n = opener__memory(dir, word, bytes, OBJNAME_BYTES);
	close(dir);
	return n == OBJNAME_BYTES ? OBJNAME_BYTES : 0;
}

static void name_word(struct objects *o, const struct qz_object_slot *t, uint32_t spinner,
		      struct object_naming *name)
{
	struct thread *thread = threads__get(o->threads, t->serial);
	struct image *image = address_spaces__get(o->context->spaces, t->image);
	struct program program = {o, t->image};
	struct address_map map = {0};
	uint64_t contents;
	struct object_naming_futex f = {
		.given = o->context->instrumented ? given_name : NULL,
		.context = &program,
		.map = &map,
		.word = t->address,
		.op = t->op,
		.val = t->val,
		.nbytes = t->nbytes <= OBJNAME_BYTES ? t->nbytes : 0,
		.spun = t->op == QZ_OP_SPUN,
	};
	bool lasts = wait_stacks__lasts(o->stacks, t->stack, t->image);
	int64_t node = thread && lasts ? wait_stacks__node(o->stacks, t->stack, thread) : 0;

	memcpy(f.bytes, t->bytes, sizeof(f.bytes));
	if (t->stored == QZ_OBJECT_ASLEEP && !f.spun)
		f.nbytes = read_word(image, f.word, f.bytes);
	f.node = f.spun ? spinner : node > 0 ? node : 0;
	if (image)
		map = address_spaces__copy(o->context->spaces, image, ADDRESS_SPACES_NOW,
					   &contents);
	object_naming__futex(o->names, &f, name);
	address_map__free(&map);
}

static void name_file(struct objects *o, const struct qz_object_slot *t, bool limited,
		      struct object_naming *name)
{
	static const struct {
		uint32_t kind;
		const char *before, *behind; /* its name */
	} tags[QZ_TAGS] = {
		[QZ_TAG_PIPE] = {QZ_OBJECT_PIPE, "", ""},
		[QZ_TAG_SOCKET] = {QZ_OBJECT_SOCKET, "", ""},
		[QZ_TAG_FILE] = {QZ_OBJECT_FILE, "", ""},
		[QZ_TAG_FLOCK] = {QZ_OBJECT_LOCK, "the lock of ", " (flock)"},
		[QZ_TAG_RECORD] = {QZ_OBJECT_LOCK, "the lock of ", " (fcntl)"},
		[QZ_TAG_INODE] = {QZ_OBJECT_LOCK, "the inode's lock of ", ""},
		[QZ_TAG_POSITION] = {QZ_OBJECT_LOCK, "the position's lock of ", ""},
	};
	const struct image *image = address_spaces__get(o->context->spaces, t->image);
	struct object_naming_file f = {
		.pid = image ? image->pid : 0,
		.start_boottime = image ? image->start_boottime : 0,
		.fd = t->fd,
		.inode = t->address,
		.limited = limited,
	};

	if (t->tag >= QZ_TAGS || !tags[t->tag].before)
		return;
	f.kind = tags[t->tag].kind;
	f.before = tags[t->tag].before;
	f.behind = tags[t->tag].behind;
	object_naming__file(&f, name);
}

/* What is no futex word. */
static void name_other(struct objects *o, const struct qz_object_slot *t, bool limited,
		       struct object_naming *name)
{
	struct object_naming named = {.module = "", .address = t->address};

	switch (t->tag) {
	case QZ_TAG_SEMAPHORES:
		named.kind = QZ_OBJECT_SEMAPHORE;
		snprintf(named.name, sizeof(named.name), "the semaphores of set %d (semop)", t->fd);
		break;
	case QZ_TAG_EVENT:
		named.kind = QZ_OBJECT_EVENT;
		snprintf(named.name, sizeof(named.name), "eventfd %" PRIu64,
			 (uint64_t)t->address - 1);
		break;
	case QZ_TAG_MAP:
		named.kind = QZ_OBJECT_LOCK;
		snprintf(named.name, sizeof(named.name),
			 "the process' memory map (mmap, munmap, page faults)");
		break;
	default:
		name_file(o, t, limited, name);
		return;
	}
	*name = named;
}

/*
 * Whether a process of a machine has as many objects as all have room left for. One that makes objects without end must not
 * take the names of others; and names of those that are no longer there do not count.
 */
static bool is_limited(const struct qz_profile *p, uint32_t scope)
{
	uint32_t all = p->nobjects - p->vacant_objects, own = 0;

	if (all >= MAX_OBJECTS || qz_profile__machine(p) == QZ_NONE)
		return all >= MAX_OBJECTS;
	for (uint32_t i = 0; i < p->nobjects; i++)
		own += p->objects[i].scope == scope;
	return own >= MAX_OBJECTS - all;
}

/* One that this slot alone has had, under a name for the time being, keeps what was charged to it. */
static bool is_renamed(const struct objects *o, const struct slot *slot, uint32_t scope)
{
	const struct qz_object *has =
		slot->index == QZ_NONE ? NULL : &o->context->profile->objects[slot->index];

	return has && has->grouped == 1 && has->scope == scope;
}

static int64_t intern(struct objects *o, uint32_t i, uint32_t scope, uint32_t spinner)
{
	static const struct object_naming others = {.name = "[other objects]", .module = ""};
	const struct qz_object_slot *t = &o->table[i];
	const struct image *image = address_spaces__get(o->context->spaces, t->image);
	struct qz_profile *p = o->context->profile;
	struct slot *slot = &o->slots[i];
	struct object_naming name = others;
	struct qz_object object = {.scope = scope, .pid = image ? image->pid : 0};
	bool limited = is_limited(p, scope);

	if (t->tag != QZ_TAG_FUTEX && p->nobjects - p->vacant_objects < MAX_OBJECTS)
		name_other(o, t, limited, &name);
	else if (!limited)
		name_word(o, t, spinner, &name);
	slot->open = name.open || t->op == QZ_OP_SPUN;
	object.kind = name.kind;
	object.address = name.address;
	object.name = name.name;
	object.module = (char *)name.module;
	return is_renamed(o, slot, scope) ? qz_waits__rename_object(p, slot->index, &object)
					  : qz_waits__intern_object(p, &object);
}

/* Has the next waiter fill the slot again, whose stack may tell more. */
static void ask_again(struct objects *o, uint32_t i)
{
	uint32_t filled = QZ_OBJECT_STORED;

	if (o->slots[i].renamings++ < MAX_RENAMINGS)
		__atomic_compare_exchange_n(&o->table[i].stored, &filled, QZ_OBJECT_ASLEEP, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void name(struct objects *o, uint32_t i, uint32_t spinner)
{
	struct slot *slot = &o->slots[i];
	uint32_t scope;
	int64_t index;

	if (!slot->hash || (slot->index != QZ_NONE && !slot->open))
		return;
	scope = stack_context__scope(o->context, o->table[i].scope);
	index = scope == QZ_NONE ? -1 : intern(o, i, scope, spinner);
	if (index < 0)
		return;
	if (slot->open)
		ask_again(o, i);
	if (slot->index == index)
		return;
	slot->index = index;
	o->context->profile->objects[index].grouped++;
}

void objects__name(struct objects *o)
{
	qz_bits__for_each(i, o->in_table, QZ_OBJECT_SLOTS) {
		struct slot *slot = &o->slots[i];

		if (slot->hash && (slot->wanted || stored(&o->table[i]) == QZ_OBJECT_STORED))
			name(o, i, slot->spinner);
		slot->wanted = false;
		slot->spinner = 0;
	}
}

static bool is_known(const struct objects *o, uint32_t number)
{
	return number && number <= QZ_OBJECT_SLOTS && o->slots[number - 1].hash;
}

void objects__want(struct objects *o, uint32_t number, uint32_t spinner)
{
	struct slot *slot = is_known(o, number) ? &o->slots[number - 1] : NULL;

	if (!slot || slot->index != QZ_NONE || stored(&o->table[number - 1]) == QZ_OBJECT_REFILLED)
		return;
	slot->wanted = true;
	slot->spinner = slot->spinner ?: spinner;
}

void objects__want_waited(struct objects *o)
{
	qz_bits__for_each(i, o->in_table, QZ_OBJECT_SLOTS)
		if (o->slots[i].hash && in_use(&o->table[i]))
			objects__want(o, i + 1, 0);
}

bool objects__has_name(const struct objects *o, uint32_t number)
{
	return is_known(o, number) && o->slots[number - 1].index != QZ_NONE;
}

uint32_t objects__peek(const struct objects *o, uint32_t number)
{
	return is_known(o, number) ? o->slots[number - 1].index : QZ_NONE;
}

uint32_t objects__index(struct objects *o, uint32_t number)
{
	if (!is_known(o, number))
		return QZ_NONE;
	o->slots[number - 1].idle = 0;
	return o->slots[number - 1].index;
}

bool objects__use_scope(const struct objects *o, uint32_t scope)
{
	return o->used[scope] == o->drains;
}

void objects__settle(struct objects *o)
{
	qz_bits__for_each(i, o->in_table, QZ_OBJECT_SLOTS) {
		struct slot *slot = &o->slots[i];
		struct qz_object *object;

		if (!slot->hash || slot->index == QZ_NONE)
			continue;
		object = &o->context->profile->objects[slot->index];
		if (take_figures(&o->figures[i], object))
			slot->idle = 0;
	}
}
