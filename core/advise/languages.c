/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/languages.h"

#include <string.h>

#include "core/model/frames.h"
#include "core/util/base_name.h"

#define OVERLAP "or let it overlap with other work"

enum { PYTHON, NODE, PERL, RUBY, JAVA };

static const struct qz_language languages[] = {
	[PYTHON] =
		{.divide = "divide this work among processes (multiprocessing, "
			   "ProcessPoolExecutor): threads of Python run one at a time; " OVERLAP,
		 .loop = "give it to a thread, asyncio.to_thread(), or where Python computes to a "
			 "process: loop.run_in_executor() with a ProcessPoolExecutor"},
	[NODE] = {.divide =
			  "divide this work among worker_threads or processes (cluster), " OVERLAP,
		  .loop = "do it in a thread (worker_threads), or in pieces with setImmediate() "
			  "between them"},
	[PERL] = {.divide = "divide this work among processes (fork, "
			    "Parallel::ForkManager), " OVERLAP},
	[RUBY] = {.divide = "divide this work among processes (fork) or Ractors: threads of Ruby "
			    "run one at a time; " OVERLAP,
		  .lock = "Ruby's interpreter lock lets one of them run",
		  .unlock =
			  "use processes (fork) or Ractors, or code in C that lets go of the lock"},
	[JAVA] = {.divide = "divide this work among threads (ExecutorService, parallel "
			    "streams), " OVERLAP,
		  .loop = "give it to an executor with threads of its own (Netty: an "
			  "EventExecutorGroup)"},
};

/* How the names of their files begin, up to a version. */
static const struct {
	const char *name;
	int language;
} files[] = {
	{"python3", PYTHON},  {"libpython3", PYTHON}, {"node", NODE},	    {"nodejs", NODE},
	{"libnode.so", NODE}, {"perl", PERL},	      {"libperl.so", PERL}, {"ruby", RUBY},
	{"libruby", RUBY},    {"libjvm.so", JAVA},
};

const struct qz_language *qz_language__of(const struct qz_procedure *procedure)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (qz_base_name__is(procedure->module, files[i].name))
			return &languages[files[i].language];
	return NULL;
}

static bool interprets_java(const struct qz_procedure *procedure)
{
	return !strcmp(procedure->module, "[jit]") && !strcmp(procedure->name, "Interpreter");
}

/* Of a library without symbols, which Debian's is, any code may be its loop. */
static bool interprets_ruby(const struct qz_procedure *procedure)
{
	static const char *const loops[] = {"vm_exec", "rb_vm_exec", "vm_exec_core"};

	if (qz_language__of(procedure) != &languages[RUBY])
		return false;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		if (!strcmp(procedure->name, loops[i]))
			return true;
	return strstr(procedure->name, "+0x");
}

const char *qz_language__call(const struct qz_procedure *procedure)
{
	if (interprets_java(procedure))
		return "interpreted Java code";
	return interprets_ruby(procedure) ? "Ruby code" : procedure->name;
}

/* Whether a procedure is called by interpreted code on this stack; below: calls it. */
static bool is_beside(const struct qz_profile *p, uint32_t node, uint32_t procedure, bool below)
{
	struct qz_frames frames = {.profile = p, .node = node};
	bool interpreted = false;
	uint32_t frame;

	while ((frame = qz_frames__next(&frames)) != QZ_NONE && frame != procedure)
		interpreted |= interprets_java(&p->procedures[frame]);
	if (frame == QZ_NONE || below)
		return frame != QZ_NONE && interpreted;
	while (frame == procedure)
		frame = qz_frames__next(&frames);
	return frame != QZ_NONE && interprets_java(&p->procedures[frame]);
}

const char *qz_language__among_nameless(const struct qz_report *r, uint32_t procedure)
{
	const struct qz_profile *p = r->profile;
	bool made = !strcmp(p->procedures[procedure].module, "[jit]");
	uint64_t all = 0, interpreted = 0;

	if (interprets_ruby(&p->procedures[procedure]))
		return "methods of Ruby have no names here: its own samplers give them (stackprof)";
	for (uint32_t i = 0; i < p->nsamples; i++) {
		const struct qz_sample *s = &p->samples[i];

		if (s->scope != r->scope ||
		    !qz_frames__contain((struct qz_frames) {.profile = p, .node = s->node},
					procedure))
			continue;
		all += s->norm_ns;
		if (is_beside(p, s->node, procedure, !made))
			interpreted += s->norm_ns;
	}
	if (interpreted <= all / 2)
		return NULL;
	return made ? "called by methods that Java interprets, which have no names"
		    : "it runs methods that Java interprets, which have no names";
}
