// SPDX-License-Identifier: LGPL-2.1-only
/* Knobs: values of the program that quartzctl may set; see quartz/knobs.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quartz/knobs.h"
#include "userlib/library.h"

_Static_assert((int)QUARTZ_KNOB_THREADS == QZ_KNOB_THREADS &&
		       (int)QUARTZ_KNOB_CHUNK == QZ_KNOB_CHUNK &&
		       (int)QUARTZ_KNOB_OTHER == QZ_KNOB_OTHER,
	       "quartz.h and knobs.h differ");

/* What is believed of a knob. */
struct own_knob {
	long *value;
	long least, most, step;
	int (*changed)(long value, void *context);
	void *context;
	uint32_t answered;
};

static const uint32_t never;
exported const uint32_t *quartz_knobs_asked_ = &never;
exported uint32_t quartz_knobs_seen_;

static struct own_knob own[QZ_KNOBS];
static uint32_t used; /* of these */
static struct qz_knobs *shared;
static pid_t owner; /* whose file it is: children that ran no handlers of fork share it */
static int file = -1;
static struct stat identity; /* of the file: its number may be another one's by now */
static uint32_t applying, counting, counted; /* two threads excluded; the last count answered */
static bool has_thread;
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

/* ---- requests ---- */

static int check(const struct own_knob *o, long value)
{
	if (value < o->least || value > o->most)
		return -ERANGE;
	return ((unsigned long)value - (unsigned long)o->least) % (unsigned long)o->step ? -EINVAL
											 : 0;
}

static void answer(struct own_knob *o, struct qz_knob *k)
{
	uint32_t asked = load(&k->asked);
	long wanted;
	int status;

	if (asked == o->answered)
		return;
	wanted = load(&k->wanted);
	status = check(o, wanted);
	if (!status && o->changed)
		status = o->changed(wanted, o->context) ? -ECANCELED : 0;
	if (!status)
		store(o->value, wanted);
	o->answered = asked;
	store(&k->status, status);
	store(&k->value, load(o->value));
	store(&k->answered, asked);
}

/* Whichever thread comes first. */
static void answer_count(struct qz_knobs *p)
{
	uint32_t asked = load(&p->count_asked);

	if (asked == load(&counted) || exchange(&counting, 1))
		return;
	asked = load(&p->count_asked);
	client__count(load(&p->counting));
	p->events = attach__events();
	p->events_at = calibrate__now();
	store(&counted, asked);
	store(&p->count_answered, asked);
	store(&counting, 0);
}

/* Of knobs with a callback, or of the others. */
static void answer_all(struct qz_knobs *p, bool with_callback)
{
	for (uint32_t i = 0; i < load(&used); i++)
		if (!!own[i].changed == with_callback)
			answer(&own[i], &p->knobs[i]);
	answer_count(p);
}

/*
 * Of threads that come to a safe point together, one does it. Blocks signals, because a handler could
 * jump away and leave `applying` set.
 */
exported void quartz_knob_apply_(void)
{
	int saved = errno;
	sigset_t all, mask;

	if (getpid() != owner)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	if (!exchange(&applying, 1)) {
		store(&quartz_knobs_seen_, load(load(&quartz_knobs_asked_)));
		answer_all(shared, false);
		store(&applying, 0);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = saved;
}

static void *call_back(void *context)
{
	struct qz_knobs *p = context;

	pthread_setname_np(pthread_self(), "quartz-knobs");
	for (;;) {
		uint32_t asked = load(&p->asked);

		answer_all(p, true);
		syscall(SYS_futex, &p->asked, FUTEX_WAIT, asked, NULL, NULL, 0);
	}
	return NULL;
}

/* Takes no signals of the program. */
static int start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, mask;
	int err;

	if (has_thread)
		return 0;
	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	err = pthread_create(&thread, &attr, call_back, shared);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	has_thread = !err;
	return -err;
}

/* ---- registration ---- */

static bool is_name(const char *name, size_t room)
{
	size_t n = name ? strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789._-")
			: 0;

	return n && n < room && !name[n];
}

/* The number of choices, 0: it has a range, or -EINVAL. */
static int count_choices(const struct quartz_knob *knob)
{
	int n = 0;

	for (; knob->choices && knob->choices[n]; n++)
		if (n == QZ_KNOB_CHOICES || !is_name(knob->choices[n], QZ_KNOB_CHOICE))
			return -EINVAL;
	return knob->choices && !n ? -EINVAL : n;
}

static int open_file(void)
{
	struct qz_knobs *p = MAP_FAILED;

	if (shared)
		return 0;
	file = memfd_create(QZ_KNOBS_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file >= 0 && !ftruncate(file, QZ_KNOBS_SIZE) && !fstat(file, &identity) &&
	    !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		p = mmap(NULL, QZ_KNOBS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (p == MAP_FAILED) {
		int err = -errno;

		if (file >= 0)
			close(file);
		return err;
	}
	p->magic = QZ_KNOBS_MAGIC;
	p->version = QZ_KNOBS_VERSION;
	p->pid = (uint32_t)getpid();
	owner = getpid();
	shared = p;
	store(&quartz_knobs_asked_, &p->asked);
	return 0;
}

static int check_new(const struct quartz_knob *knob, const struct own_knob *o)
{
	if (!is_name(knob->name, QZ_KNOB_NAME_LENGTH) || !knob->value ||
	    (unsigned)knob->role >= QZ_KNOB_ROLES || o->step < 1 || o->least > o->most ||
	    check(o, *knob->value))
		return -EINVAL;
	for (uint32_t i = 0; i < used; i++)
		if (!strcmp(shared->knobs[i].name, knob->name))
			return -EEXIST;
	return used == QZ_KNOBS ? -ENOSPC : 0;
}

static int add_knob(const struct quartz_knob *knob)
{
	int choices = count_choices(knob), err;
	struct own_knob o = {
		.value = knob->value,
		.least = choices ? 0 : knob->least,
		.most = choices ? choices - 1 : knob->most,
		.step = choices || !knob->step ? 1 : knob->step,
		.changed = knob->changed,
		.context = knob->context,
	};
	struct qz_knob *k;

	err = choices < 0 ? choices : check_new(knob, &o);
	err = err ? err : open_file();
	err = err || !o.changed ? err : start_thread();
	if (err)
		return err;
	k = &shared->knobs[used];
	*k = (struct qz_knob) {
		.role = knob->role,
		.choices = (uint32_t)choices,
		.least = o.least,
		.most = o.most,
		.step = o.step,
		.value = *knob->value,
	};
	strncpy(k->name, knob->name, sizeof(k->name) - 1);
	for (int i = 0; i < choices; i++)
		strncpy(k->choice[i], knob->choices[i], QZ_KNOB_CHOICE - 1);
	own[used] = o;
	store(&used, used + 1);
	store(&shared->used, used);
	return 0;
}

exported int quartz_knob(const struct quartz_knob *knob)
{
	int saved = errno, err;

	pthread_mutex_lock(&registering);
	err = add_knob(knob);
	pthread_mutex_unlock(&registering);
	errno = saved;
	return err;
}

/*
 * The file is the parent's. Its place gets private memory, because the fork may have been
 * made by a callback, which returns to what reads it.
 */
void knobs__forget(void)
{
	struct stat st;

	pthread_mutex_init(&registering, NULL);
	if (!shared)
		return;
	store(&quartz_knobs_asked_, &never);
	quartz_knobs_seen_ = 0;
	if (mmap(shared, QZ_KNOBS_SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		munmap(shared, QZ_KNOBS_SIZE);
	if (!fstat(file, &st) && st.st_dev == identity.st_dev && st.st_ino == identity.st_ino)
		close(file);
	shared = NULL;
	file = -1;
	used = applying = counting = counted = 0;
	has_thread = false;
}
