/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/symbolizer/symbolizer.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/util/log.h"
#include "daemon/symbolizer/symbolizer_private.h"
#include "daemon/symbolizer/table_cache.h"

#define LOAD_MS	  5000
#define FORGET_MS 2000
#define ASK_MS	  2000
#define RESTS	  120 /* of symbolizer__rest(), until a module is forgotten */

/*
 * A child that has ended may have been ended by others, or for want of memory; and a file may be made to crash
 * it. So it is tried again, the more rarely the more often it happens, and of all the time at most one part in
 * so many goes to such files.
 */
#define FIRST_WAIT_MS 250
#define LAST_WAIT_MS  60000
#define SHARE	      20
#define MAX_HANGS     2
#define TELL_MS	      60000

/* Beside the running program in a build tree, otherwise where it was installed. */
char *symbolizer__program(void)
{
	char self[PATH_MAX], *beside;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		if (asprintf(&beside, "%s/quartz-symbolizer", dirname(self)) < 0)
			return NULL;
		if (access(beside, X_OK) == 0)
			return beside;
		free(beside);
	}
	return strdup(QUARTZ_LIBEXECDIR "/quartz-symbolizer");
}

struct symbolizer *symbolizer__new(const struct symbolizer_options *opts)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->options = *opts;
	s->program = opts->program ? strdup(opts->program) : symbolizer__program();
	if (!s->program) {
		symbolizer__free(s);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

static void close_files(struct symbolizer_module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	if (m->debug_fd >= 0)
		close(m->debug_fd);
	if (m->shared_fd >= 0)
		close(m->shared_fd);
	m->fd = m->debug_fd = m->shared_fd = -1;
}

void symbolizer__free(struct symbolizer *s)
{
	if (!s)
		return;
	opener__end(&s->child.process);
	for (uint32_t i = 0; i < s->nmodules; i++) {
		close_files(s->modules[i]);
		free(s->modules[i]);
	}
	symbolizer__drop_answers(s);
	free(s->spin_text);
	free(s->modules);
	free(s->program);
	free(s);
}

static void read_contents(const struct symbolizer_module *m, int64_t *size,
			  struct timespec *written)
{
	struct stat st = {0};

	fstat(m->fd, &st); /* of what it cannot tell, all is equal */
	*size = st.st_size;
	*written = st.st_mtim;
}

bool symbolizer__was_written(struct symbolizer *s, struct symbolizer_module *m)
{
	struct timespec written;
	int64_t size;

	if (m->kind == SYMBOLIZER_PERF_MAP || m->fd < 0)
		return false;
	read_contents(m, &size, &written);
	if (size == m->contents.size && written.tv_sec == m->contents.written.tv_sec &&
	    written.tv_nsec == m->contents.written.tv_nsec)
		return false;
	symbolizer__refuse(s, m, -ESTALE);
	return true;
}

int symbolizer__add_module(struct symbolizer *s, enum symbolizer_kind kind, int fd, int debug_fd,
			   const char *path)
{
	const char *slash = strrchr(path, '/');
	struct symbolizer_module *m = calloc(1, sizeof(*m)), **bigger;
	int err = -ENOMEM;

	if (!m)
		goto fail;
	err = -ENOSPC;
	if (s->nmodules == PROTOCOL_MAX_MODULES)
		goto fail;
	err = -ENOMEM;
	bigger = reallocarray(s->modules, s->nmodules + 1, sizeof(struct symbolizer_module *));
	if (!bigger)
		goto fail;
	s->modules = bigger;
	m->kind = kind;
	m->fd = fd;
	m->debug_fd = debug_fd;
	m->shared_fd = -1;
	read_contents(m, &m->contents.size, &m->contents.written);
	snprintf(m->label, sizeof(m->label), "%s", slash ? slash + 1 : path);
	s->modules[s->nmodules] = m;
	return (int)s->nmodules++;
fail:
	free(m);
	close(fd);
	if (debug_fd >= 0)
		close(debug_fd);
	return err;
}

struct symbolizer_module *symbolizer__find_module(const struct symbolizer *s, int number)
{
	return number >= 0 && (uint32_t)number < s->nmodules ? s->modules[number] : NULL;
}

void symbolizer__refuse(struct symbolizer *s, struct symbolizer_module *m, int err)
{
	m->error = err;
	m->loaded_by = 0;
	close_files(m);
	s->counters.modules_refused++;
}

void symbolizer__stop_child(struct symbolizer *s)
{
	opener__end(&s->child.process);
	s->loaded = 0;
	s->given = GIVEN_NONE;
}

/* How long to wait after the nth time that something failed. */
static int64_t wait_ms(uint32_t n)
{
	int64_t ms = n < 16 ? (int64_t)FIRST_WAIT_MS << n : LAST_WAIT_MS;

	return ms < LAST_WAIT_MS ? ms : LAST_WAIT_MS;
}

/* Once a minute at most; counters have them all. */
static void warn(struct symbolizer *s, const char *what, const char *label)
{
	int64_t now = qz_clock__now_ms();

	if (s->told_ms && now - s->told_ms < TELL_MS)
		return;
	s->told_ms = now;
	log_warning("quartz-symbolizer %s%s%s; it is started again, and what it has not named is "
		    "tried again later (quartzctl status)",
		    what, *label ? " while it read " : "", label);
}

/* One that has ended while nothing was asked of it has not ended over a file. */
static void bury_child(struct symbolizer *s)
{
	if (!s->child.process.pid || !symbolizer_child__ended(&s->child))
		return;
	s->counters.crashed++;
	symbolizer__stop_child(s);
	warn(s, "has ended", "");
}

void symbolizer__start_ahead(struct symbolizer *s, int fd)
{
	struct table_cache_key key = {0};

	if (table_cache__describe(s->options.tables, fd, &key.file) &&
	    table_cache__has(s->options.tables, &key))
		return;
	/* what fails here is tried again when it is wanted */
	if (!s->child.process.pid)
		symbolizer_child__begin(&s->child, s->program);
}

/* 0 or -EIO, which passes. */
static int ensure_child(struct symbolizer *s)
{
	int err = 0;

	bury_child(s);
	if (s->child.process.pid && s->child.greeted)
		return 0;
	if (qz_clock__now_ms() < s->start_ms)
		return -EIO;
	if (!s->child.process.pid)
		err = symbolizer_child__begin(&s->child, s->program);
	err = err ?: symbolizer_child__greet(&s->child);
	if (err) {
		s->start_ms = qz_clock__now_ms() + wait_ms(s->unstarted++);
		warn(s, "cannot be started", "");
		return err;
	}
	s->unstarted = 0;
	s->counters.started++;
	return 0;
}

static int suspect(struct symbolizer *s, struct symbolizer_module *m)
{
	int64_t now = qz_clock__now_ms();

	m->loaded_by = 0;
	m->again_ms = now + wait_ms(m->accidents++);
	s->suspects_ms = now + (now - s->asked_ms) * SHARE;
	return -EAGAIN;
}

int symbolizer__accident(struct symbolizer *s, uint32_t module, int err)
{
	struct symbolizer_module *m = module < s->nmodules ? s->modules[module] : NULL;
	bool lied = err != -EPIPE && err != -ETIME;

	if (err == -EPIPE)
		s->counters.crashed++;
	else
		s->counters.killed++;
	symbolizer__stop_child(s);
	warn(s, err == -EPIPE ? "has ended" : "was ended for its silence or for nonsense",
	     m ? m->label : "");
	if (!m)
		return -EAGAIN;
	if (m->error)
		return -ETIME;
	m->hangs += err == -ETIME;
	if (!lied && m->hangs < MAX_HANGS)
		return suspect(s, m);
	symbolizer__refuse(s, m, -ETIME);
	return -ETIME;
}

ssize_t symbolizer__exchange(struct symbolizer *s, const struct symbolizer_request *r,
			     uint32_t module)
{
	ssize_t n;

	s->asked_ms = qz_clock__now_ms();
	n = symbolizer_child__exchange(&s->child, r, &s->answer);
	if (n < 0)
		return symbolizer__accident(s, module, (int)n);
	if (module >= s->nmodules)
		return n;
	if (r->type != MESSAGE_LOAD)
		s->modules[module]->accidents = 0;
	/* rows of a table follow its answer, and must be received first */
	if (r->type != MESSAGE_TABLE && symbolizer__was_written(s, s->modules[module]))
		return -ESTALE;
	return n;
}

bool symbolizer__is_passing(int err)
{
	return err == -EAGAIN || err == -EIO;
}

bool symbolizer__may_ask(const struct symbolizer *s, int module)
{
	const struct symbolizer_module *m = symbolizer__find_module(s, module);
	int64_t now = qz_clock__now_ms();

	if (!m || (!s->child.process.pid && now < s->start_ms))
		return false;
	return m->error || !m->accidents || (now >= m->again_ms && now >= s->suspects_ms);
}

uint32_t symbolizer__waiting(const struct symbolizer *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nmodules; i++)
		n += s->modules[i]->accidents && !s->modules[i]->error;
	return n;
}

static int request_load(struct symbolizer *s, uint32_t number)
{
	const struct symbolizer_module *m = s->modules[number];
	const struct load_answer *a = &s->answer.load;
	struct load_request *request = &s->request.load;
	int fds[LOAD_MAX_FILES] = {m->fd};
	struct symbolizer_request r = {
		.bytes = request,
		.length = sizeof(*request),
		.type = MESSAGE_LOAD,
		.fds = fds,
		.nfds = 1,
		.deadline_ms = LOAD_MS,
	};
	ssize_t n;

	if (m->debug_fd >= 0)
		fds[r.nfds++] = m->debug_fd;
	if (m->shared_fd >= 0)
		fds[r.nfds++] = m->shared_fd;
	memset(request, 0, sizeof(*request));
	request->module = number;
	request->kind = m->kind == SYMBOLIZER_PERF_MAP ? MODULE_PERF_MAP : MODULE_ELF;
	request->flags = (m->debug_fd >= 0 ? LOAD_DEBUG_FILE : 0) |
			 (m->shared_fd >= 0 ? LOAD_SHARED_FILE : 0) |
			 (s->options.lines ? LOAD_LINES : 0) |
			 (s->options.inlines ? LOAD_INLINES : 0);
	memcpy(request->label, m->label, sizeof(request->label));
	n = symbolizer__exchange(s, &r, number);
	if (n < 0)
		return (int)n;
	if (n != sizeof(*a) || a->build_id_size > sizeof(a->build_id) || a->error > 0 ||
	    strnlen(a->shared, sizeof(a->shared)) == sizeof(a->shared) ||
	    strnlen(a->link, sizeof(a->link)) == sizeof(a->link))
		return symbolizer__accident(s, number, -EBADMSG);
	return a->error;
}

static void keep_names(struct symbolizer_module *m, const struct load_answer *a)
{
	for (uint32_t i = 0; i < a->build_id_size; i++)
		snprintf(m->build_id + 2 * i, 3, "%02x", a->build_id[i]);
	memcpy(m->shared, a->shared, sizeof(m->shared));
	memcpy(m->link, a->link, sizeof(m->link));
}

static bool has_loaded(const struct symbolizer *s, const struct symbolizer_module *m)
{
	return s->child.process.pid && m->loaded_by == s->counters.started;
}

int symbolizer__try(struct symbolizer *s, uint32_t number, symbolizer_request_fn *request)
{
	int err = ensure_child(s);

	err = err ?: request(s, number);
	if (err != -ENOMEM || !s->loaded)
		return err;
	symbolizer__stop_child(s);
	err = ensure_child(s);
	return err ?: request(s, number);
}

int symbolizer__load(struct symbolizer *s, uint32_t number)
{
	struct symbolizer_module *m = s->modules[number];
	int err;

	if (m->error)
		return m->error;
	m->used = s->rests;
	bury_child(s);
	if (has_loaded(s, m))
		return 0;
	if (!symbolizer__may_ask(s, (int)number))
		return m->accidents ? -EAGAIN : -EIO;
	err = symbolizer__try(s, number, request_load);
	if (m->error)
		return m->error;
	if (symbolizer__is_passing(err))
		return err;
	if (err) {
		symbolizer__refuse(s, m, err == -ENOTSUP ? err : -ENOEXEC);
		return m->error;
	}
	keep_names(m, &s->answer.load);
	m->split = s->answer.load.is_split;
	m->loaded_by = s->counters.started;
	s->loaded++;
	return 0;
}

/* A module whose load answer is there. 0 or -errno. */
static int load_module(struct symbolizer *s, int module, const struct symbolizer_module **m)
{
	*m = symbolizer__find_module(s, module);
	return *m ? symbolizer__load(s, (uint32_t)module) : -EINVAL;
}

int symbolizer__build_id(struct symbolizer *s, int module, const char **build_id)
{
	const struct symbolizer_module *m;
	int err = load_module(s, module, &m);

	if (!err)
		*build_id = m->build_id;
	return err;
}

int symbolizer__shared(struct symbolizer *s, int module, const char **name)
{
	const struct symbolizer_module *m;
	int err = load_module(s, module, &m);

	if (!err)
		*name = m->shared;
	return err;
}

int symbolizer__link(struct symbolizer *s, int module, const char **name)
{
	const struct symbolizer_module *m;
	int err = load_module(s, module, &m);

	if (!err)
		*name = m->link;
	return err;
}

bool symbolizer__refused(const struct symbolizer *s, int module)
{
	const struct symbolizer_module *m = symbolizer__find_module(s, module);

	return m && m->error;
}

static void forget(struct symbolizer *s, uint32_t number)
{
	struct message_module message = {.module = number};
	struct symbolizer_request r = {
		.bytes = &message,
		.length = sizeof(message),
		.type = MESSAGE_FORGET,
		.deadline_ms = FORGET_MS,
	};
	struct symbolizer_module *m = s->modules[number];

	if (has_loaded(s, m)) {
		symbolizer_child__send(&s->child, &r);
		s->loaded--;
	}
	m->loaded_by = 0;
}

/* place: where the module keeps such a file. */
static void give(struct symbolizer *s, int module, int *place, int fd)
{
	if (s->modules[module]->fd < 0 || *place >= 0) {
		close(fd);
		return;
	}
	forget(s, (uint32_t)module);
	*place = fd;
}

void symbolizer__describe(struct symbolizer *s, int module, int fd)
{
	give(s, module, &s->modules[module]->debug_fd, fd);
}

void symbolizer__share(struct symbolizer *s, int module, int fd)
{
	give(s, module, &s->modules[module]->shared_fd, fd);
}

void symbolizer__remove_module(struct symbolizer *s, int module)
{
	struct symbolizer_module *m = symbolizer__find_module(s, module);

	if (!m)
		return;
	forget(s, (uint32_t)module);
	close_files(m);
	if (!m->error)
		m->error = -ENOENT;
}

void symbolizer__rest(struct symbolizer *s)
{
	if (++s->rests % RESTS)
		return;
	for (uint32_t i = 0; i < s->nmodules; i++)
		if (s->modules[i]->loaded_by && s->rests - s->modules[i]->used >= RESTS)
			forget(s, i);
}

/* About the first addresses of those that are left; gives how many were answered. */
static ssize_t ask_some(struct symbolizer *s, uint32_t module, const struct symbolizer_question *q,
			size_t done)
{
	struct resolve_request *request = &s->request.resolve;
	size_t n = q->n - done < q->batch ? q->n - done : q->batch;
	struct symbolizer_request r = {
		.bytes = request,
		.length = sizeof(*request) + n * sizeof(*q->addresses),
		.type = q->type,
		.fds = &s->modules[module]->fd,
		.nfds = q->with_file,
		.deadline_ms = ASK_MS,
	};
	ssize_t length, answered;

	request->module = module;
	request->n = (uint32_t)n;
	memcpy(request + 1, q->addresses + done, n * sizeof(*q->addresses));
	length = symbolizer__exchange(s, &r, module);
	if (length < 0)
		return length;
	answered = q->take(s, (size_t)length, n, q->answers, done);
	return answered == -EBADMSG ? symbolizer__accident(s, module, -EBADMSG) : answered;
}

int symbolizer__ask(struct symbolizer *s, int module, const struct symbolizer_question *q)
{
	int err = -EINVAL;
	size_t done = 0;

	if (symbolizer__find_module(s, module))
		err = symbolizer__load(s, (uint32_t)module);
	while (!err && done < q->n) {
		ssize_t some = ask_some(s, (uint32_t)module, q, done);

		if (some < 0)
			err = (int)some;
		else
			done += (size_t)some;
	}
	return err;
}

const struct symbolizer_counters *symbolizer__counters(const struct symbolizer *s)
{
	return &s->counters;
}

uint64_t symbolizer__cpu_ns(struct symbolizer *s)
{
	return opener__cpu_of(&s->child.process);
}
