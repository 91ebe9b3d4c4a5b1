/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/languages.h"

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
