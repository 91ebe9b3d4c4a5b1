// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/vec.h"
#include "daemon/attribution/address_cache.h"
#include "daemon/attribution/stacks.h"
#include "daemon/spin/spin_tracker.h"

/* As near as this to the sample seen before, a thread may be in the same loop. */
#define NEAR 1024

/* Of a loop that is not longer all addresses are entered when one was sampled. */
#define SMALL_LOOP 64

/*
 * A loop that waits is sampled again and again. User code that was sampled once is not worth reading: where much code
 * runs, as in a compiler, that would be most of what quartzd does. Places are as long as a small loop.
 */
#define PLACES	   16384 /* a power of two */
#define REMEMBERED 4096	 /* samples, until places are forgotten */

/* Callers that are classified, from the innermost one. */
#define BELOW 24

/* Where a thread was. An address that is not known is 0. */
struct point {
	uint32_t image;
	uint64_t kernel, leaf, caller;
	uint64_t time; /* see address_spaces__find() */
};

struct spin_tracker {
	struct bpf_runtime *bpf;
	struct address_spaces *spaces;
	struct spin_classify *classes;
	struct qz_spin_address *table;
	uint32_t since[QZ_SPIN_ADDRESSES]; /* swap with which the sampler learned it */
	uint32_t used, swaps;
	struct point *seen;  /* of each processor when they were read last */
	struct point *asked; /* resolve() takes them */
	uint32_t nasked;
	uint8_t times[PLACES];	      /* sampled there, at most 2 */
	uint32_t remembered;	      /* samples in it */
	struct qz_spin_address *news; /* for the sampler */
	uint32_t nnews;
};

struct spin_tracker *spin_tracker__new(struct bpf_runtime *bpf, struct address_spaces *spaces,
				       struct spin_classify *classes)
{
	struct spin_tracker *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->bpf = bpf;
	s->spaces = spaces;
	s->classes = classes;
	s->table = bpf_runtime__spin_addresses(bpf);
	s->seen = calloc(bpf_runtime__processors(bpf), sizeof(*s->seen));
	if (s->seen)
		return s;
	free(s);
	return NULL;
}

void spin_tracker__free(struct spin_tracker *s)
{
	if (!s)
		return;
	free(s->seen);
	free(s->asked);
	free(s->news);
	free(s);
}

/* ---- the sampler's table ---- */

static struct qz_spin_address *find_slot(const struct spin_tracker *s, uint32_t image,
					 uint64_t address)
{
	uint32_t hash = qz_spin__hash(image, address);

	for (uint32_t i = 0; i < QZ_SPIN_PROBES; i++) {
		struct qz_spin_address *a = &s->table[(hash + i) & (QZ_SPIN_ADDRESSES - 1)];

		if (!a->address || (a->address == address && a->image == image))
			return a;
	}
	return NULL;
}

static bool is_taught(const struct spin_tracker *s, uint32_t image, uint64_t address)
{
	const struct qz_spin_address *a = find_slot(s, image, address);

	return a && a->address;
}

/* The sampler may read meanwhile. It finds fewer addresses then, or one of another process. */
static void forget_all(struct spin_tracker *s)
{
	for (uint32_t i = 0; i < QZ_SPIN_ADDRESSES; i++)
		__atomic_store_n(&s->table[i].address, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	s->used = 0;
}

static void teach_one(struct spin_tracker *s, const struct qz_spin_address *news)
{
	struct qz_spin_address *a;

	if (s->used >= QZ_SPIN_ADDRESSES / 4 * 3)
		forget_all(s);
	a = find_slot(s, news->image, news->address);
	if (!a || a->address)
		return;
	a->image = news->image;
	a->written = news->written;
	a->flags = news->flags;
	a->start = news->start;
	a->at = news->at;
	a->first = news->first;
	a->many = news->many;
	a->counter = news->counter;
	s->since[a - s->table] = s->swaps;
	__atomic_store_n(&a->address, news->address, __ATOMIC_RELEASE);
	s->used++;
}

bool spin_tracker__hurries(const struct spin_tracker *s)
{
	return s->nnews;
}

void spin_tracker__teach(struct spin_tracker *s)
{
	s->swaps++;
	for (uint32_t i = 0; i < s->nnews; i++)
		teach_one(s, &s->news[i]);
	s->nnews = 0;
}

static int add_news(struct spin_tracker *s, const struct qz_spin_address *news)
{
	if (s->nnews >= QZ_SPIN_ADDRESSES / 2)
		return 0; /* it will be sampled again */
	if (qz_array__reserve((void **)&s->news, s->nnews, sizeof(*s->news)))
		return -ENOMEM;
	s->news[s->nnews++] = *news;
	return 0;
}

/* ---- classes ---- */

/* The module of an address of an image, and the address in the unit of struct cached_address. */
static bool locate(struct spin_tracker *s, uint32_t number, uint64_t address, uint64_t time,
		   uint32_t *module, uint64_t *offset)
{
	struct image *image = address_spaces__get(s->spaces, number);

	return image && !image->launcher && address &&
	       address_spaces__locate(s->spaces, image, address, time, module, offset);
}

static int want(struct spin_tracker *s, uint32_t image, uint64_t address, uint64_t time)
{
	uint64_t offset;
	uint32_t module;

	return locate(s, image, address, time, &module, &offset)
		       ? spin_classify__want(s->classes, module, offset)
		       : 0;
}

/* *shift leads from offsets to addresses. */
static const struct code_class *get(struct spin_tracker *s, uint32_t image, uint64_t address,
				    uint64_t time, uint64_t *shift)
{
	uint64_t offset;
	uint32_t module;

	if (!locate(s, image, address, time, &module, &offset))
		return NULL;
	*shift = address - offset;
	return spin_classify__get(s->classes, module, offset);
}

static int ask(struct spin_tracker *s, const struct point *p)
{
	int err = p->kernel ? spin_classify__want(s->classes, MODULE_KERNEL, p->kernel) : 0;

	err = err ?: want(s, p->image, p->leaf, p->time);
	err = err ?: qz_array__reserve((void **)&s->asked, s->nasked, sizeof(*s->asked));
	if (!err)
		s->asked[s->nasked++] = *p;
	return err;
}

/* Lets the sampler know an address, and those of a small loop around it. */
static int enter(struct spin_tracker *s, uint32_t image, uint64_t address,
		 const struct code_class *c, uint64_t shift)
{
	const struct spin_code *code = &c->code;
	struct qz_spin_address news = {.image = image,
				       .written = (uint16_t)code->written,
				       .flags = (uint16_t)code->flags,
				       .start = code->start + shift,
				       .first = code->first,
				       .many = code->many,
				       .counter = code->counter};
	uint64_t first = address, end = address + 1;
	int err = 0;

	if (code->flags & QZ_SPIN_WATCHES) {
		news.flags |= code->base << 8;
		news.at = code->at + (code->base == QZ_SPIN_FIXED ? shift : 0);
	}
	if (is_taught(s, image, address))
		return 0;
	if (code->start <= c->address && c->address < code->end &&
	    code->end - code->start <= SMALL_LOOP) {
		first = code->start + shift;
		end = code->end + shift;
	}
	for (news.address = first; !err && news.address < end; news.address++)
		err = add_news(s, &news);
	return err;
}

static bool waits(const struct code_class *c)
{
	return c && c->code.class != QZ_SPIN_NONE;
}

/* What counts is where it was called from. */
static bool is_by_caller(const struct code_class *c)
{
	return c && c->code.flags & QZ_SPIN_BY_CALLER;
}

static int enter_point(struct spin_tracker *s, const struct point *p)
{
	const struct code_class *c, *leaf;
	uint64_t shift = 0, caller_shift = 0;
	int err = 0;

	c = p->kernel ? spin_classify__get(s->classes, MODULE_KERNEL, p->kernel) : NULL;
	if (waits(c))
		err = enter(s, 0, p->kernel, c, 0);
	leaf = get(s, p->image, p->leaf, p->time, &shift);
	if (err || !leaf)
		return err;
	if (is_by_caller(leaf)) {
		c = get(s, p->image, p->caller, p->time, &caller_shift);
		if (!waits(c))
			return 0; /* a small procedure like any other */
		err = enter(s, p->image, p->caller, c, caller_shift);
	}
	return err || !(waits(leaf) || is_by_caller(leaf))
		       ? err
		       : enter(s, p->image, p->leaf, leaf, shift);
}

/* Those that small procedures were called by. */
static int want_callers(struct spin_tracker *s)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->nasked; i++) {
		const struct point *p = &s->asked[i];
		uint64_t shift;

		if (is_by_caller(get(s, p->image, p->leaf, p->time, &shift)))
			err = want(s, p->image, p->caller, p->time);
	}
	return err;
}

int spin_tracker__resolve(struct spin_tracker *s)
{
	int err;

	spin_classify__resolve(s->classes);
	err = want_callers(s);
	spin_classify__resolve(s->classes);
	for (uint32_t i = 0; !err && i < s->nasked; i++)
		err = enter_point(s, &s->asked[i]);
	s->nasked = 0;
	return err;
}

/*
 * Only where a processor is seen twice in the same place: a question takes its time, in which nothing
 * else is taken in, and what is not a loop will be classified with the other samples.
 */
int spin_tracker__read_processors(struct spin_tracker *s)
{
	const struct qz_cpu_state *cpus = bpf_runtime__cpus(s->bpf);
	int err = 0;

	for (uint32_t i = 0; !err && i < bpf_runtime__processors(s->bpf); i++) {
		struct point p = {
			.image = __atomic_load_n(&cpus[i].leaf_image, __ATOMIC_RELAXED),
			.leaf = __atomic_load_n(&cpus[i].leaf, __ATOMIC_RELAXED),
			.caller = __atomic_load_n(&cpus[i].caller, __ATOMIC_RELAXED),
			.time = ADDRESS_SPACES_NOW,
		};

		if (p.leaf && p.image == s->seen[i].image &&
		    p.leaf - s->seen[i].leaf + NEAR < 2 * NEAR)
			err = ask(s, &p);
		s->seen[i] = p;
	}
	return err ?: spin_tracker__resolve(s);
}

/* ---- stacks ---- */

static struct point point_of(const struct bpf_runtime_buffer *buffer,
			     const struct qz_stack_slot *slot)
{
	const uint64_t *frames = &buffer->frames[slot->offset];

	return (struct point) {
		.image = slot->image,
		.kernel = slot->nkernel ? frames[0] : 0,
		.leaf = slot->nuser ? frames[slot->nkernel] : 0,
		.caller = slot->nuser > 1 ? frames[slot->nkernel + 1] - 1 : 0,
		.time = slot->taken,
	};
}

/* Two places may be one here: code is read for nothing then. */
static uint8_t *times_at(struct spin_tracker *s, const struct point *p)
{
	return &s->times[qz_spin__hash(p->image, p->leaf / SMALL_LOOP) & (PLACES - 1)];
}

static void count_samples(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
			  uint32_t cpu)
{
	uint32_t n;
	const struct qz_sample_record *records = bpf_runtime__records(s->bpf, buffer, cpu, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = QZ_SAMPLE_STACK(records[i].key);
		struct point p;
		uint8_t *times;

		if (at >= buffer->nstacks || !stack_slot__used(buffer, &buffer->stacks[at]))
			continue;
		p = point_of(buffer, &buffer->stacks[at]);
		times = times_at(s, &p);
		if (*times < 2)
			++*times;
		s->remembered++;
	}
}

void spin_tracker__count(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer)
{
	if (s->remembered >= REMEMBERED) {
		memset(s->times, 0, sizeof(s->times));
		s->remembered = 0;
	}
	for (uint32_t i = 0; i < bpf_runtime__processors(s->bpf); i++)
		count_samples(s, buffer, i);
}

/* The nth user frame from the innermost one: of a caller, an address within its call. */
static uint64_t frame_of(const struct bpf_runtime_buffer *buffer, const struct qz_stack_slot *slot,
			 uint32_t n)
{
	return buffer->frames[slot->offset + slot->nkernel + n] - (n > 0);
}

/* How many frames may be those of code that waits with what it calls: most programs have none. */
static uint32_t callers_of(struct spin_tracker *s, const struct qz_stack_slot *slot)
{
	if (slot->nkernel || !spin_classify__has_any_below(s->classes))
		return 0;
	return slot->nuser < BELOW ? slot->nuser : BELOW;
}

/* Callers that may wait with what they call. */
static int want_below(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
		      const struct qz_stack_slot *slot)
{
	uint32_t module, n = callers_of(s, slot);
	uint64_t offset;
	int err = 0;

	for (uint32_t i = 1; !err && i < n; i++)
		if (locate(s, slot->image, frame_of(buffer, slot, i), slot->taken, &module,
			   &offset) &&
		    spin_classify__has_below(s->classes, module))
			err = spin_classify__want(s->classes, module, offset);
	return err;
}

int spin_tracker__want(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
		       const struct qz_stack_slot *slot)
{
	struct point p = point_of(buffer, slot);

	return ask(s, &p) ?: want_below(s, buffer, slot);
}

int spin_tracker__want_repeated(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
				const struct qz_stack_slot *slot)
{
	struct point p = point_of(buffer, slot);

	if (*times_at(s, &p) < 2)
		p.leaf = 0;
	return (p.kernel || p.leaf ? ask(s, &p) : 0) ?: want_below(s, buffer, slot);
}

/* ---- verdicts ---- */

/* Whether the sampler knew an address in the buffer that the last swap has given. */
static bool was_taught(const struct spin_tracker *s, uint32_t image, uint64_t address)
{
	const struct qz_spin_address *a = find_slot(s, image, address);

	return a && a->address && s->since[a - s->table] < s->swaps;
}

/* Of the code of a loop, wherever it is mapped; not 0. */
static uint64_t loop_of(const struct code_class *c)
{
	return ((c->code.start ^ (uint64_t)c->module << 40) * 0x9e3779b97f4a7c15ull) | 1;
}

/* Whether a frame is code of a library that has progress loops. */
static bool has_progress(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
			 const struct qz_stack_slot *slot, uint32_t n)
{
	uint64_t offset;
	uint32_t module;

	return n < callers_of(s, slot) &&
	       locate(s, slot->image, frame_of(buffer, slot, n), slot->taken, &module, &offset) &&
	       spin_classify__has_below(s->classes, module);
}

/* By what places frame n was called; 0: it was not, or not all of them are there. */
static uint64_t callers_at(const struct bpf_runtime_buffer *buffer,
			   const struct qz_stack_slot *slot, uint32_t n)
{
	uint64_t hash = slot->image;

	if (slot->depth > slot->nuser || n + 1 >= slot->nuser)
		return 0;
	for (uint32_t i = n + 1; i < slot->nuser; i++)
		hash = (hash ^ frame_of(buffer, slot, i)) * 0x9e3779b97f4a7c15ull;
	return hash | 1;
}

/* Frame n is in a progress loop. */
static void find_around(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
			const struct qz_stack_slot *slot, uint32_t n, struct around *a)
{
	for (uint32_t i = 0; i < AROUND_CALLERS && has_progress(s, buffer, slot, n); i++)
		a->callers[i] = callers_at(buffer, slot, n++);
}

/* Whether one of its callers waits with what it calls, but for copies of what has come. */
static bool is_below(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
		     const struct qz_stack_slot *slot, struct around *around)
{
	const struct code_class *c;
	uint32_t module, n = callers_of(s, slot);
	uint64_t offset;

	for (uint32_t i = 0; i < n; i++) {
		if (!locate(s, slot->image, frame_of(buffer, slot, i), slot->taken, &module,
			    &offset))
			continue;
		if (!i && spin_classify__is_libc(s->classes, module))
			return false;
		c = spin_classify__has_below(s->classes, module)
			    ? spin_classify__get(s->classes, module, offset)
			    : NULL;
		if (c && c->below) {
			find_around(s, buffer, slot, i, around);
			return true;
		}
	}
	if (has_progress(s, buffer, slot, 0))
		around->leaf = callers_at(buffer, slot, 0);
	else
		around->elsewhere = n;
	return false;
}

static struct spin_verdict judge_leaf(struct spin_tracker *s,
				      const struct bpf_runtime_buffer *buffer,
				      const struct qz_stack_slot *slot)
{
	struct point p = point_of(buffer, slot);
	struct spin_verdict v = {.kind = SPIN_WORKS};
	const struct code_class *c, *leaf;
	uint64_t shift, where = p.leaf;

	c = p.kernel ? spin_classify__get(s->classes, MODULE_KERNEL, p.kernel) : NULL;
	if (waits(c)) {
		v.kind = SPIN_WAITS;
		return v;
	}
	c = leaf = get(s, p.image, p.leaf, p.time, &shift);
	if (is_by_caller(leaf)) {
		where = p.caller;
		c = get(s, p.image, p.caller, p.time, &shift);
	}
	if (!waits(c))
		return v;
	v.kind = c->code.flags & QZ_SPIN_CONFIRM ? SPIN_MAY_WAIT : SPIN_WAITS;
	v.loop = loop_of(c);
	v.written = (uint16_t)(c->code.written | leaf->code.written);
	v.was_taught = was_taught(s, p.image, where) && was_taught(s, p.image, p.leaf);
	return v;
}

struct spin_verdict spin_tracker__judge(struct spin_tracker *s,
					const struct bpf_runtime_buffer *buffer,
					const struct qz_stack_slot *slot)
{
	struct spin_verdict v = judge_leaf(s, buffer, slot);

	if (v.kind != SPIN_WAITS && is_below(s, buffer, slot, &v.around))
		v = (struct spin_verdict) {.kind = SPIN_WAITS, .around = v.around};
	return v;
}

bool spin_tracker__operand(struct spin_tracker *s, const struct bpf_runtime_buffer *buffer,
			   const struct qz_stack_slot *slot, struct qz_operand *operand,
			   uint64_t *shift)
{
	const struct code_class *c;
	struct point p;

	if (!stack_slot__used(buffer, slot))
		return false;
	p = point_of(buffer, slot);
	c = p.kernel ? NULL : get(s, p.image, p.leaf, p.time, shift);
	if (!c || !c->code.operand.size)
		return false;
	*operand = c->code.operand;
	return true;
}
