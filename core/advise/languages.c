/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/advise/languages.h"

#include <string.h>

#include "core/model/frames.h"
#include "core/util/base_name.h"

#define OVERLAP "or let it overlap with other work"

enum { PYTHON, NODE, PERL, RUBY, JAVA, SHELL, PHP, R, LUA, TCL };

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
			    "Parallel::ForkManager), " OVERLAP,
		  .code = "Perl code",
		  .loops = {"Perl_runops_standard", "Perl_runops_debug", "perl_run",
			    "Perl_call_sv"},
		  .nameless = "procedures of Perl have no names here: its own profilers give them "
			      "(Devel::NYTProf)"},
	[RUBY] = {.divide = "divide this work among processes (fork) or Ractors: threads of Ruby "
			    "run one at a time; " OVERLAP,
		  .lock = "Ruby's interpreter lock lets one of them run",
		  .unlock =
			  "use processes (fork) or Ractors, or code in C that lets go of the lock",
		  .code = "Ruby code",
		  .loops = {"vm_exec", "rb_vm_exec", "vm_exec_core"},
		  .nameless = "methods of Ruby have no names here: its own samplers give them "
			      "(stackprof)"},
	[JAVA] = {.divide = "divide this work among threads (ExecutorService, parallel "
			    "streams), " OVERLAP,
		  .loop = "give it to an executor with threads of its own (Netty: an "
			  "EventExecutorGroup)"},
	[SHELL] = {.divide = "let a program do the loop (awk, sort, a compiled one), or start "
			     "several at a time: & and wait, xargs -P",
		   .code = "Shell code",
		   .loops = {"execute_command_internal", "execute_command", "parse_and_execute",
			     "evaltree"},
		   .nameless = "lines of shell scripts have no names here"},
	[PHP] = {.divide = "divide this work among processes (pcntl_fork, a queue with several "
			   "workers), " OVERLAP,
		 .code = "PHP code",
		 .loops = {"execute_ex", "zend_execute", "zend_execute_scripts",
			   "zend_call_function"},
		 .nameless = "functions of PHP have no names here: its own profilers give them "
			     "(Excimer, Xdebug)"},
	[R] = {.divide = "divide this work among processes (parallel::mclapply, foreach), or call "
			 "a function that works on whole vectors",
	       .code = "R code",
	       .loops = {"Rf_eval", "bcEval", "Rf_applyClosure", "R_execMethod"},
	       .nameless =
		       "functions of R have no names here: its own profiler gives them (Rprof)"},
	[LUA] = {.divide = "divide this work among processes, " OVERLAP,
		 .code = "Lua code",
		 .loops = {"luaV_execute", "luaD_call", "lua_callk", "lua_pcallk"},
		 .nameless = "functions of Lua have no names here"},
	[TCL] = {.divide = "divide this work among threads (package Thread) or processes, " OVERLAP,
		 .code = "Tcl code",
		 .loops = {"TclNRRunCallbacks", "TEBCresume", "Tcl_EvalObjEx", "Tcl_FSEvalFileEx"},
		 .nameless = "procedures of Tcl have no names here"},
};

/* How the names of their files begin, up to a version. */
static const struct {
	const char *name;
	int language;
} files[] = {
	{"python3", PYTHON},  {"libpython3", PYTHON}, {"node", NODE},	    {"nodejs", NODE},
	{"libnode.so", NODE}, {"perl", PERL},	      {"libperl.so", PERL}, {"ruby", RUBY},
	{"libruby", RUBY},    {"libjvm.so", JAVA},    {"bash", SHELL},	    {"dash", SHELL},
	{"php", PHP},	      {"libphp", PHP},	      {"libR.so", R},	    {"lua", LUA},
	{"liblua", LUA},      {"luajit", LUA},	      {"tclsh", TCL},	    {"libtcl", TCL},
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

/* The language whose interpreter's loop this procedure is. NULL: of none. */
static const struct qz_language *interpreted_by(const struct qz_procedure *procedure)
{
	const struct qz_language *language = qz_language__of(procedure);

	if (!language || !language->code)
		return NULL;
	for (const char *const *loop = language->loops; *loop; loop++)
		if (!strcmp(procedure->name, *loop))
			return language;
	return strstr(procedure->name, "+0x") ? language : NULL;
}

const char *qz_language__call(const struct qz_procedure *procedure)
{
	const struct qz_language *language = interpreted_by(procedure);

	if (interprets_java(procedure))
		return "interpreted Java code";
	return language ? language->code : procedure->name;
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

/* Whether the interpreter's frames were read, so that what has no name is not of the language. */
static bool has_names(const struct qz_profile *p, const struct qz_language *language)
{
	for (uint32_t i = 0; language == &languages[RUBY] && i < p->nprocedures; i++)
		if (!strcmp(p->procedures[i].module, QZ_RUBY_MODULE))
			return true;
	return false;
}

const char *qz_language__among_nameless(const struct qz_report *r, uint32_t procedure)
{
	const struct qz_profile *p = r->profile;
	const struct qz_language *language = interpreted_by(&p->procedures[procedure]);
	bool made = !strcmp(p->procedures[procedure].module, "[jit]");
	uint64_t all = 0, interpreted = 0;

	if (language)
		return has_names(p, language) ? NULL : language->nameless;
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
