/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits KIND [N]: waits N times for something of one kind, each time for some milliseconds, in a
 * procedure wait_KIND. Tells how long these procedures took in all, which is what they waited and a
 * little more. Kinds: see the table at the end.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define PAUSE_US 3000

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static long rounds;

/* ---- what a helper thread does after a pause, for as many rounds ---- */

typedef void release_call(void);

static void *release_rounds(void *arg)
{
	release_call **release = arg;

	for (long i = 0; i < rounds; i++) {
		usleep(PAUSE_US);
		(*release)();
	}
	return NULL;
}

static uint64_t with_helper(release_call *release, void (*wait)(void))
{
	pthread_t helper;
	uint64_t ns = 0;

	check("pthread_create", pthread_create(&helper, NULL, release_rounds, &release));
	for (long i = 0; i < rounds; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		wait();
		ns += clock_ns(CLOCK_MONOTONIC) - start;
	}
	check("pthread_join", pthread_join(helper, NULL));
	return ns;
}

static uint64_t alone(void (*wait)(void))
{
	uint64_t ns = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		wait();
		ns += clock_ns(CLOCK_MONOTONIC) - start;
	}
	return ns;
}

/* ---- descriptors ---- */

static int fds[2];

static void release_byte(void)
{
	if (write(fds[1], "", 1) != 1)
		die("write", errno);
}

static void take_byte(void)
{
	char byte;

	if (read(fds[0], &byte, 1) != 1)
		die("read", errno);
}

PROCEDURE static void wait_pipe(void)
{
	take_byte();
}

PROCEDURE static void wait_socket(void)
{
	char byte;

	if (recv(fds[0], &byte, 1, 0) != 1)
		die("recv", errno);
}

PROCEDURE static void wait_epoll(void)
{
	static int epoll = -1;
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll < 0) {
		epoll = epoll_create1(0);
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	}
	if (epoll_wait(epoll, &event, 1, -1) != 1)
		die("epoll_wait", errno);
	take_byte();
}

PROCEDURE static void wait_poll(void)
{
	struct pollfd fd = {.fd = fds[0], .events = POLLIN};

	if (poll(&fd, 1, -1) != 1)
		die("poll", errno);
	take_byte();
}

PROCEDURE static void wait_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	if (select(fds[0] + 1, &set, NULL, NULL, NULL) != 1)
		die("select", errno);
	take_byte();
}

static uint64_t by_pipe(void (*wait)(void))
{
	if (pipe(fds))
		die("pipe", errno);
	return with_helper(release_byte, wait);
}

static uint64_t by_socket(void (*wait)(void))
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		die("socketpair", errno);
	return with_helper(release_byte, wait);
}

/* ---- time, children, other calls ---- */

PROCEDURE static void wait_sleep(void)
{
	usleep(PAUSE_US);
}

PROCEDURE static void wait_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		usleep(PAUSE_US);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid", errno);
}

/* A call that has a name and no kind: rt_sigtimedwait. */
PROCEDURE static void wait_signal(void)
{
	struct timespec pause = {.tv_nsec = PAUSE_US * 1000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &pause);
}

/* ---- pthreads ---- */

pthread_mutex_t a_mutex = PTHREAD_MUTEX_INITIALIZER, pi_mutex, robust_mutex;
pthread_cond_t a_condition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t a_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t a_barrier;
sem_t a_semaphore;
static int signals_given;

/* The helper has a lock; it gives it away after a pause and takes it again when it was used. */
static void (*take_handed)(void), (*give_handed)(void);
static sem_t is_held, was_used;

static void *hold_rounds(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		take_handed();
		sem_post(&is_held);
		usleep(PAUSE_US);
		give_handed();
		sem_wait(&was_used);
	}
	return NULL;
}

static uint64_t by_holder(void (*take)(void), void (*give)(void), void (*wait)(void))
{
	pthread_t holder;
	uint64_t ns = 0;

	take_handed = take;
	give_handed = give;
	sem_init(&is_held, 0, 0);
	sem_init(&was_used, 0, 0);
	check("pthread_create", pthread_create(&holder, NULL, hold_rounds, NULL));
	for (long i = 0; i < rounds; i++) {
		uint64_t start;

		sem_wait(&is_held);
		start = clock_ns(CLOCK_MONOTONIC);
		wait();
		ns += clock_ns(CLOCK_MONOTONIC) - start;
		sem_post(&was_used);
	}
	check("pthread_join", pthread_join(holder, NULL));
	return ns;
}

static pthread_mutex_t *handed;

static void take_mutex(void)
{
	pthread_mutex_lock(handed);
}

static void give_mutex(void)
{
	pthread_mutex_unlock(handed);
}

PROCEDURE static void wait_mutex(void)
{
	pthread_mutex_lock(handed);
	pthread_mutex_unlock(handed);
}

static uint64_t by_mutex(pthread_mutex_t *mutex, void (*wait)(void))
{
	handed = mutex;
	return by_holder(take_mutex, give_mutex, wait);
}

static uint64_t plain_mutex(void (*wait)(void))
{
	return by_mutex(&a_mutex, wait);
}

static uint64_t priority_mutex(void (*wait)(void))
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi_mutex, &attr);
	return by_mutex(&pi_mutex, wait);
}

static void take_for_reading(void)
{
	pthread_rwlock_rdlock(&a_rwlock);
}

static void take_for_writing(void)
{
	pthread_rwlock_wrlock(&a_rwlock);
}

static void give_rwlock(void)
{
	pthread_rwlock_unlock(&a_rwlock);
}

PROCEDURE static void wait_reader(void)
{
	pthread_rwlock_rdlock(&a_rwlock);
	pthread_rwlock_unlock(&a_rwlock);
}

PROCEDURE static void wait_writer(void)
{
	pthread_rwlock_wrlock(&a_rwlock);
	pthread_rwlock_unlock(&a_rwlock);
}

static uint64_t by_writer(void (*wait)(void))
{
	return by_holder(take_for_writing, give_rwlock, wait);
}

static uint64_t by_reader(void (*wait)(void))
{
	return by_holder(take_for_reading, give_rwlock, wait);
}

/* Each holder ends with the mutex in its hands. */
static void *die_holding(void *arg)
{
	pthread_mutex_lock(&robust_mutex);
	sem_post(&is_held);
	usleep(PAUSE_US);
	return NULL;
}

PROCEDURE static void wait_owner_death(void)
{
	if (pthread_mutex_lock(&robust_mutex) != EOWNERDEAD)
		die("robust mutex", EINVAL);
	pthread_mutex_consistent(&robust_mutex);
	pthread_mutex_unlock(&robust_mutex);
}

static uint64_t by_owner_death(void (*wait)(void))
{
	pthread_mutexattr_t attr;
	uint64_t ns = 0;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust_mutex, &attr);
	sem_init(&is_held, 0, 0);
	for (long i = 0; i < rounds; i++) {
		pthread_t holder;
		uint64_t start;

		check("pthread_create", pthread_create(&holder, NULL, die_holding, NULL));
		sem_wait(&is_held);
		start = clock_ns(CLOCK_MONOTONIC);
		wait();
		ns += clock_ns(CLOCK_MONOTONIC) - start;
		pthread_join(holder, NULL);
	}
	return ns;
}

static void release_condition(void)
{
	pthread_mutex_lock(&a_mutex);
	signals_given++;
	pthread_cond_signal(&a_condition);
	pthread_mutex_unlock(&a_mutex);
}

PROCEDURE static void wait_condition(void)
{
	pthread_mutex_lock(&a_mutex);
	while (!signals_given)
		pthread_cond_wait(&a_condition, &a_mutex);
	signals_given--;
	pthread_mutex_unlock(&a_mutex);
}

static uint64_t by_condition(void (*wait)(void))
{
	return with_helper(release_condition, wait);
}

static void release_semaphore(void)
{
	sem_post(&a_semaphore);
}

PROCEDURE static void wait_semaphore(void)
{
	while (sem_wait(&a_semaphore))
		;
}

static uint64_t by_semaphore(void (*wait)(void))
{
	sem_init(&a_semaphore, 0, 0);
	return with_helper(release_semaphore, wait);
}

/* Whoever comes first waits, so this one's time counts as well. */
static uint64_t released_barrier_ns;

static void release_barrier(void)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	pthread_barrier_wait(&a_barrier);
	released_barrier_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

PROCEDURE static void wait_barrier(void)
{
	pthread_barrier_wait(&a_barrier);
}

static uint64_t by_barrier(void (*wait)(void))
{
	uint64_t ns;

	pthread_barrier_init(&a_barrier, NULL, 2);
	ns = with_helper(release_barrier, wait);
	return ns + released_barrier_ns;
}

static void *sleep_once(void *arg)
{
	usleep(PAUSE_US);
	return NULL;
}

PROCEDURE static void wait_join(void)
{
	pthread_t thread;

	check("pthread_create", pthread_create(&thread, NULL, sleep_once, NULL));
	check("pthread_join", pthread_join(thread, NULL));
}

/* ---- bare futexes ---- */

static _Atomic uint32_t word;
static int futex_flags = FUTEX_PRIVATE_FLAG;

static long futex(void *at, int op, uint32_t val, void *time_or_val2, void *at2, uint32_t val3)
{
	return syscall(SYS_futex, at, op | futex_flags, val, time_or_val2, at2, val3);
}

/* Not before the last one was taken: two would be one for whoever comes late. */
static void release_word(void)
{
	while (word)
		usleep(PAUSE_US);
	word = 1;
	futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

PROCEDURE static void wait_word(void)
{
	while (!word)
		futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0);
	word = 0;
}

static uint64_t by_word(void (*wait)(void))
{
	return with_helper(release_word, wait);
}

static uint64_t by_shared_word(void (*wait)(void))
{
	futex_flags = 0;
	return with_helper(release_word, wait);
}

PROCEDURE static void wait_timeout(void)
{
	struct timespec pause = {.tv_nsec = PAUSE_US * 1000};

	futex(&word, FUTEX_WAIT, 0, &pause, NULL, 0);
}

struct waitv {
	uint64_t val, uaddr;
	uint32_t flags, reserved;
};

PROCEDURE static void wait_several(void)
{
	static uint32_t other;
	struct waitv several[2] = {{.uaddr = (uintptr_t)&word, .flags = 0x82},
				   {.uaddr = (uintptr_t)&other, .flags = 0x82}};

	while (!word)
		if (syscall(SYS_futex_waitv, several, 2, 0, NULL, 0) < 0 && errno == ENOSYS)
			die("futex_waitv", errno);
	word = 0;
}

/* Waits at one word, is requeued to another one and woken there. */
static _Atomic uint32_t first_word, second_word;
static _Atomic long requeues;

/* Again, where it came before the wait. */
static void release_requeued(void)
{
	static long given;

	for (given++; requeues < given; usleep(PAUSE_US)) {
		futex(&first_word, FUTEX_REQUEUE, 0, (void *)1, &second_word, 0);
		usleep(PAUSE_US);
		futex(&second_word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

PROCEDURE static void wait_requeued(void)
{
	futex(&first_word, FUTEX_WAIT, 0, NULL, NULL, 0);
	requeues++;
}

static uint64_t by_requeue(void (*wait)(void))
{
	return with_helper(release_requeued, wait);
}

/* Waits at one word, is requeued to a lock with priority inheritance, and gets that. */
static _Atomic uint32_t pi_word;

static void release_to_lock(void)
{
	static long given;

	for (given++; requeues < given; usleep(PAUSE_US)) {
		futex(&pi_word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
		futex(&first_word, FUTEX_CMP_REQUEUE_PI, 1, NULL, &pi_word, 0);
		usleep(PAUSE_US);
		futex(&pi_word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	}
}

PROCEDURE static void wait_for_lock(void)
{
	if (futex(&first_word, FUTEX_WAIT_REQUEUE_PI, 0, NULL, &pi_word, 0))
		die("FUTEX_WAIT_REQUEUE_PI", errno);
	requeues++;
	futex(&pi_word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
}

static uint64_t by_requeue_to_lock(void (*wait)(void))
{
	return with_helper(release_to_lock, wait);
}

/* A word that two processes map, both of which wait for the next turn. */
static struct {
	_Atomic uint32_t turn;
	_Atomic uint32_t asleep;
	uint64_t child_ns;
} * common;

/* Not before both are about to wait. */
static void release_turn(void)
{
	for (; common->asleep < 2; usleep(PAUSE_US))
		;
	common->asleep = 0;
	common->turn++;
	futex(&common->turn, FUTEX_WAKE, 2, NULL, NULL, 0);
}

PROCEDURE static void wait_turn(void)
{
	uint32_t turn = common->turn;

	common->asleep++;
	while (common->turn == turn)
		futex(&common->turn, FUTEX_WAIT, turn, NULL, NULL, 0);
}

static uint64_t by_processes(void (*wait)(void))
{
	uint64_t ns;
	pid_t pid;

	common = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (common == MAP_FAILED)
		die("mmap", errno);
	futex_flags = 0;
	pid = fork();
	if (!pid) {
		common->child_ns = alone(wait);
		_exit(0);
	}
	ns = with_helper(release_turn, wait);
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid", errno);
	return ns + common->child_ns;
}

/* Signals that a handler takes, during one wait. */
static void take_signal(int number)
{
}

static pthread_t interrupted;
static _Atomic long interruptions;

/* Again, where the signal came before the wait. */
static void release_by_signals(void)
{
	static long given;

	for (given++; interruptions < given; usleep(PAUSE_US))
		pthread_kill(interrupted, SIGUSR1);
}

PROCEDURE static void wait_interrupted(void)
{
	if (futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0) != -1 || errno != EINTR)
		die("an interrupted futex", errno);
	interruptions++;
}

static uint64_t by_signals(void (*wait)(void))
{
	struct sigaction action = {.sa_handler = take_signal};

	sigaction(SIGUSR1, &action, NULL);
	interrupted = pthread_self();
	return with_helper(release_by_signals, wait);
}

/* Each time at another word, of many pages. A timeout as short as can be. */
PROCEDURE static void wait_distinct(void)
{
	static uint32_t *words, next;
	struct timespec pause = {.tv_nsec = 1};

	if (!words)
		words = mmap(NULL, 1u << 26, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (words == MAP_FAILED)
		die("mmap", errno);
	futex(&words[next++ & ((1u << 24) - 1)], FUTEX_WAIT, 0, &pause, NULL, 0);
}

/* The page of the word goes away under the waiter. */
static void *doomed;

static void release_unmapped(void)
{
	munmap(doomed, 4096);
}

PROCEDURE static void wait_unmapped(void)
{
	struct timespec pause = {.tv_nsec = 2 * PAUSE_US * 1000};

	doomed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	futex(doomed, FUTEX_WAIT, 0, &pause, NULL, 0);
}

static uint64_t by_unmapping(void (*wait)(void))
{
	return with_helper(release_unmapped, wait);
}

/* ---- files: one page of a file at a time, none of which is in memory ---- */

#define PAGE 4096
/* Farther apart than the kernel reads ahead or maps around a fault. */
#define STRIDE (1ul << 20)

static int file = -1;
static long next_page;

/* A file that is on the disk, and nowhere else. */
static void make_file(void)
{
	char page[PAGE] = "";

	next_page = 0;
	file = open("waits.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file < 0)
		die("open", errno);
	for (long i = 0; i < rounds; i++)
		if (pwrite(file, page, sizeof(page), i * STRIDE) != sizeof(page))
			die("pwrite", errno);
	if (fsync(file))
		die("fsync", errno);
	check("posix_fadvise", posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
	check("posix_fadvise", posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
}

PROCEDURE static void wait_disk(void)
{
	char page[PAGE];

	if (pread(file, page, sizeof(page), next_page++ * STRIDE) != sizeof(page))
		die("pread", errno);
}

static volatile char *mapped, seen;

PROCEDURE static void wait_page_fault(void)
{
	seen = mapped[next_page++ * STRIDE];
}

static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static uint64_t by_new_file(void (*wait)(void), long *slept)
{
	uint64_t ns;

	make_file();
	mapped = mmap(NULL, rounds * STRIDE, PROT_READ, MAP_SHARED, file, 0);
	if (mapped == MAP_FAILED)
		die("mmap", errno);
	check("madvise", madvise((void *)mapped, rounds * STRIDE, MADV_RANDOM));
	*slept = -sleeps();
	ns = alone(wait);
	*slept += sleeps();
	munmap((void *)mapped, rounds * STRIDE);
	close(file);
	return ns;
}

/*
 * Not each page must be waited for: a disk may be faster than the way to sleep. Where none is in many files,
 * as with files in memory, nothing can be measured.
 */
static uint64_t by_file(void (*wait)(void))
{
	uint64_t ns = 0;
	long slept = 0;

	for (int i = 0; i < 100 && !slept; i++)
		ns += by_new_file(wait, &slept);
	printf("slept %ld of %ld\n", slept, sleeps());
	if (!slept)
		exit(77);
	return ns;
}

static const struct {
	const char *name;
	uint64_t (*run)(void (*wait)(void));
	void (*wait)(void);
} kinds[] = {
	{"pipe", by_pipe, wait_pipe},
	{"socket", by_socket, wait_socket},
	{"epoll", by_pipe, wait_epoll},
	{"poll", by_pipe, wait_poll},
	{"select", by_socket, wait_select},
	{"sleep", alone, wait_sleep},
	{"child", alone, wait_child},
	{"signal", alone, wait_signal},
	{"mutex", plain_mutex, wait_mutex},
	{"pi", priority_mutex, wait_mutex},
	{"owner_death", by_owner_death, wait_owner_death},
	{"reader", by_writer, wait_reader},
	{"writer", by_reader, wait_writer},
	{"condition", by_condition, wait_condition},
	{"semaphore", by_semaphore, wait_semaphore},
	{"barrier", by_barrier, wait_barrier},
	{"join", alone, wait_join},
	{"word", by_word, wait_word},
	{"shared", by_shared_word, wait_word},
	{"timeout", alone, wait_timeout},
	{"several", by_word, wait_several},
	{"requeued", by_requeue, wait_requeued},
	{"requeued_to_lock", by_requeue_to_lock, wait_for_lock},
	{"processes", by_processes, wait_turn},
	{"interrupted", by_signals, wait_interrupted},
	{"distinct", alone, wait_distinct},
	{"unmapped", by_unmapping, wait_unmapped},
	{"disk", by_file, wait_disk},
	{"page_fault", by_file, wait_page_fault},
};

/* So long that there are samples of a program that does nothing but wait. */
static void compute(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 100;

	while (clock() < end)
		;
}

int main(int argc, char **argv)
{
	compute();
	rounds = count_argument(argc, argv, 2, 50);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1])) {
			printf("waited %s ns %" PRIu64 "\n", argv[1], kinds[i].run(kinds[i].wait));
			return 0;
		}
	die("waits: kind", EINVAL);
}
