// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "daemon/kernel/kernel_types.h"
#include "daemon/kernel/program_loader.h"
#include "daemon/util/guard.h"

#define MAX_PROGRAMS 32
#define MAX_THREADS  8
#define STACK_BYTES  (64u << 10)
#define LICENSE	     "GPL" /* of each object in bpf/ */

/* What the kernel wants of one, in copies: libbpf's own may be gone, should it fail meanwhile. */
struct program {
	struct bpf_program *program;
	enum bpf_prog_type type;
	struct bpf_prog_load_opts *opts;
	struct bpf_insn *insns;
	size_t n;
	bool taken; /* by a thread; with the lock */
	int result; /* descriptor, which is owned, or -errno; of who has taken it */
};

struct program_loader {
	const struct kernel_types *types; /* NULL: libbpf loads */
	pthread_mutex_t lock;
	pthread_cond_t came;
	struct program programs[MAX_PROGRAMS];
	uint32_t nprograms; /* with the lock, as what follows */
	bool complete;
	pthread_t threads[MAX_THREADS];
	uint32_t nthreads, max_threads; /* of the main thread, as what follows */
	const struct bpf_program *last; /* that was begun, or has failed */
};

/* Sections, and what libbpf takes their programs for. */
static const struct section {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
} sections[] = {
	{"tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP},
	{"iter+", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
	{"perf_event", BPF_PROG_TYPE_PERF_EVENT, 0},
};

/* libbpf's callback has no argument that leads to the loader: of the object that is being loaded. */
static struct program_loader *current;

/* ---- threads ---- */

/* The largest first, lest all wait for it in the end. NULL: there will be no more. */
static struct program *take(struct program_loader *l)
{
	struct program *best = NULL;
	GUARD(&l->lock);

	for (;;) {
		for (struct program *p = l->programs; p < l->programs + l->nprograms; p++)
			if (!p->taken && (!best || p->n > best->n))
				best = p;
		if (best || l->complete)
			break;
		pthread_cond_wait(&l->came, &l->lock);
	}
	if (best)
		best->taken = true;
	return best;
}

static void load(struct program *p)
{
	p->result = bpf_prog_load(p->type, bpf_program__name(p->program), LICENSE, p->insns, p->n,
				  p->opts);
}

static void *run(void *argument)
{
	struct program *p;

	while ((p = take(argument)))
		load(p);
	return NULL;
}

/* Where there is none, all are loaded in the end. */
static void ensure_thread(struct program_loader *l)
{
	pthread_attr_t attr;

	if (l->nthreads == l->max_threads)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (!pthread_create(&l->threads[l->nthreads], &attr, run, l))
		l->nthreads++;
	pthread_attr_destroy(&attr);
}

static void complete(struct program_loader *l)
{
	GUARD(&l->lock);

	l->complete = true;
	pthread_cond_broadcast(&l->came);
}

static void end_threads(struct program_loader *l)
{
	complete(l);
	while (l->nthreads)
		pthread_join(l->threads[--l->nthreads], NULL);
}

/* ---- taking ---- */

static void *copy(const void *from, size_t size)
{
	void *to = malloc(size);

	return to ? memcpy(to, from, size) : NULL;
}

static void free_program(struct program *p)
{
	if (p->opts) {
		free((void *)p->opts->func_info);
		free((void *)p->opts->line_info);
	}
	free(p->opts);
	free(p->insns);
	if (p->result >= 0)
		close(p->result);
}

/* Behind the slash; NULL: it is attached to nothing that has a type. */
static const char *target_of(const struct bpf_program *program)
{
	const char *slash = strchr(bpf_program__section_name(program), '/');

	return slash ? slash + 1 : NULL;
}

/* What the kernel is to take it for. libbpf takes it for something else, see set_target(). */
static enum bpf_prog_type type_of(const struct bpf_program *program)
{
	return target_of(program) ? BPF_PROG_TYPE_TRACING : bpf_program__type(program);
}

static int copy_program(struct program *p, struct bpf_program *program,
			const struct bpf_prog_load_opts *opts)
{
	*p = (struct program) {
		.program = program,
		.type = type_of(program),
		.n = bpf_program__insn_cnt(program),
		.result = -ECANCELED,
	};
	p->insns = copy(bpf_program__insns(program), p->n * sizeof(*p->insns));
	p->opts = copy(opts, opts->sz); /* as large as libbpf's version has it */
	if (!p->opts)
		return -ENOMEM;
	p->opts->func_info =
		copy(opts->func_info, (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	p->opts->line_info =
		copy(opts->line_info, (size_t)opts->line_info_cnt * opts->line_info_rec_size);
	return p->insns && p->opts->func_info && p->opts->line_info ? 0 : -ENOMEM;
}

static void add(struct program_loader *l, const struct program *p)
{
	GUARD(&l->lock);

	l->programs[l->nprograms++] = *p;
	pthread_cond_signal(&l->came);
}

/* What a module of the kernel has, or what has no type, is libbpf's; nothing of the kind is attached to by types. */
static bool is_taken(const struct program_loader *l, const struct bpf_prog_load_opts *opts)
{
	return l && l->types && l->nprograms < MAX_PROGRAMS && !opts->fd_array &&
	       opts->func_info_cnt && opts->line_info_cnt;
}

/* Called by libbpf before it loads a program. */
static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	struct bpf_insn empty[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct program_loader *l = current;
	struct program p;
	int err;

	(void)cookie;
	if (l)
		l->last = program;
	if (!is_taken(l, opts))
		return 0;
	ensure_thread(l);
	err = copy_program(&p, program, opts);
	if (!err && target_of(program))
		p.opts->attach_btf_id =
			kernel_types__target(l->types, bpf_program__section_name(program));
	err = err ?: bpf_program__set_insns(program, empty, sizeof(empty) / sizeof(empty[0]));
	if (err) {
		free_program(&p);
		return err;
	}
	opts->func_info_cnt = 0;
	opts->line_info_cnt = 0;
	add(l, &p);
	return 0;
}

int program_loader__register(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare);
	static bool done;

	for (size_t i = 0; !done && i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct section *s = &sections[i];
		int id = libbpf_register_prog_handler(s->name, s->type, s->attach, &opts);

		if (id < 0)
			return id;
	}
	done = true;
	return 0;
}

/*
 * As libbpf does it for sections of its own. Where the types are known, it must not think that this one needs them: for such
 * programs it reads all types of the kernel, whatever else it is given.
 */
static int set_target(const struct program_loader *l, struct bpf_program *p)
{
	if (!l->types)
		return bpf_program__set_attach_target(p, 0, target_of(p));
	return kernel_types__target(l->types, bpf_program__section_name(p))
		       ? bpf_program__set_type(p, BPF_PROG_TYPE_RAW_TRACEPOINT)
		       : -ESRCH;
}

static int set_targets(struct program_loader *l, struct bpf_object *object)
{
	struct bpf_program *p;
	int err = 0;

	bpf_object__for_each_program(p, object)
	{
		l->last = p;
		if (bpf_program__autoload(p) && target_of(p))
			err = set_target(l, p);
		if (err)
			return err;
	}
	l->last = NULL;
	return 0;
}

int program_loader__begin(struct program_loader **loader, struct bpf_object *object,
			  const struct kernel_types *types)
{
	struct program_loader *l = calloc(1, sizeof(*l));
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	current = *loader = l;
	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->came, NULL);
	l->types = types;
	if (types && n > 1)
		l->max_threads = n < MAX_THREADS ? n : MAX_THREADS;
	return set_targets(l, object);
}

static int put(const struct program *p)
{
	if (p->result < 0)
		return p->result;
	return dup3(p->result, bpf_program__fd(p->program), O_CLOEXEC) < 0 ? -errno : 0;
}

int program_loader__await(struct program_loader *l, const struct bpf_program *spare)
{
	complete(l);
	run(l); /* while the threads load what they have taken */
	end_threads(l);
	l->last = NULL;
	for (uint32_t i = 0; i < l->nprograms; i++) {
		int err = put(&l->programs[i]);

		if (err)
			l->last = l->programs[i].program;
		if (err && l->last != spare)
			return err;
	}
	return 0;
}

const struct bpf_program *program_loader__failed(const struct program_loader *l)
{
	return l ? l->last : NULL;
}

void program_loader__free(struct program_loader *l)
{
	if (!l)
		return;
	current = NULL;
	end_threads(l);
	for (uint32_t i = 0; i < l->nprograms; i++)
		free_program(&l->programs[i]);
	pthread_cond_destroy(&l->came);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
