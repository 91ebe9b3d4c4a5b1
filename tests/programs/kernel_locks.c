/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_locks KIND [WORKERS [ROUNDS]]: workers that queue for a lock of the kernel's, or for one that they made of something
 * of the kernel's: processes where each computes for 2 ms while it has it, or threads that have it in a call that takes
 * long. Tells how long all of them together were in take_turn, which is what they waited and a little more. Kinds: see the
 * table at the end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/truth.h"

#define HELD_SECONDS 0.002
#define BLOCK	     (4 << 20)
#define MOST	     64

static int fd, fds[2], semaphores;
static char *block;

static void done(int result)
{
	if (result < 0)
		die("kernel_locks", errno);
}

/* ---- how it is taken, and given ---- */

static void open_file(void)
{
	fd = open("locked", O_RDWR | O_CREAT, 0600);
	done(fd);
}

/* Its own description of the file: the lock is of that. */
static void take_flock(void)
{
	static __thread int own = -1;

	if (own < 0)
		own = open("locked", O_RDWR);
	fd = own;
	done(flock(own, LOCK_EX));
}

static void give_flock(void)
{
	done(flock(fd, LOCK_UN));
}

static void set_record(short type)
{
	struct flock record = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	done(fcntl(fd, F_SETLKW, &record));
}

static void take_record(void)
{
	set_record(F_WRLCK);
}

static void give_record(void)
{
	set_record(F_UNLCK);
}

static void change_semaphore(short by)
{
	struct sembuf change = {.sem_op = by};

	done(semop(semaphores, &change, 1));
}

static void give_semaphore(void)
{
	change_semaphore(1);
}

static void make_semaphore(void)
{
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	done(semaphores);
	give_semaphore();
}

static void take_semaphore(void)
{
	change_semaphore(-1);
}

static void remove_semaphore(void)
{
	done(semctl(semaphores, 0, IPC_RMID));
}

static void make_event(void)
{
	fd = eventfd(1, EFD_SEMAPHORE);
	done(fd);
}

static void take_event(void)
{
	uint64_t one;

	done((int)read(fd, &one, sizeof(one)));
}

static void give_event(void)
{
	uint64_t one = 1;

	done((int)write(fd, &one, sizeof(one)));
}

static void give_token(void)
{
	done((int)write(fds[1], "", 1));
}

static void make_pipe(void)
{
	done(pipe(fds));
	give_token();
}

static void take_token(void)
{
	char token;

	done((int)read(fds[0], &token, 1));
}

/* ---- calls that have it while they work ---- */

static void make_block(void)
{
	open_file();
	block = calloc(1, BLOCK);
	if (!block)
		die("calloc", ENOMEM);
	done((int)pwrite(fd, block, BLOCK, 0));
}

static void write_block(void)
{
	done((int)pwrite(fd, block, BLOCK, 0));
}

static void read_block(void)
{
	static __thread char *own;

	if (!own)
		own = malloc(BLOCK);
	if (!own)
		die("malloc", ENOMEM);
	done((int)lseek(fd, 0, SEEK_SET));
	done((int)read(fd, own, BLOCK));
}

static void map_block(void)
{
	char *at = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap", errno);
	for (int i = 0; i < BLOCK; i += 4096)
		at[i] = 1;
	done(munmap(at, BLOCK));
}

static void nothing(void)
{
}

static const struct kind {
	const char *name;
	void (*set_up)(void);
	void (*take)(void);
	void (*give)(void); /* NULL: that is done when the call is over */
	void (*end)(void);
} kinds[] = {
	{"flock", open_file, take_flock, give_flock, nothing},
	{"fcntl", open_file, take_record, give_record, nothing},
	{"semop", make_semaphore, take_semaphore, give_semaphore, remove_semaphore},
	{"eventfd", make_event, take_event, give_event, nothing},
	{"pipe", make_pipe, take_token, give_token, nothing},
	{"inode", make_block, write_block, NULL, nothing},
	{"position", make_block, read_block, NULL, nothing},
	{"map", nothing, map_block, NULL, nothing},
};

static const struct kind *kind;
static long rounds;

PROCEDURE static void take_turn(void)
{
	kind->take();
}

PROCEDURE static void hold(void)
{
	compute_seconds(HELD_SECONDS);
}

static uint64_t work(void)
{
	uint64_t ns = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		take_turn();
		ns += clock_ns(CLOCK_MONOTONIC) - start;
		if (kind->give) {
			hold();
			kind->give();
		}
	}
	return ns;
}

static void *work_as_thread(void *arg)
{
	*(uint64_t *)arg = work();
	return NULL;
}

static uint64_t threads(long n)
{
	uint64_t ns[MOST], sum = 0;
	pthread_t ids[MOST];

	for (long i = 0; i < n; i++)
		check("pthread_create", pthread_create(&ids[i], NULL, work_as_thread, &ns[i]));
	for (long i = 0; i < n; i++) {
		check("pthread_join", pthread_join(ids[i], NULL));
		sum += ns[i];
	}
	return sum;
}

static uint64_t processes(long n)
{
	uint64_t *ns = mmap(NULL, (size_t)n * sizeof(*ns), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t sum = 0;

	if (ns == MAP_FAILED)
		die("mmap", errno);
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		done(pid);
		if (!pid) {
			ns[i] = work();
			_exit(0);
		}
	}
	for (long i = 0; i < n; i++) {
		done(wait(NULL));
	}
	for (long i = 0; i < n; i++)
		sum += ns[i];
	return sum;
}

int main(int argc, char **argv)
{
	long n = count_argument(argc, argv, 2, 4);

	if (n > MOST)
		die("kernel_locks: workers", E2BIG);
	rounds = count_argument(argc, argv, 3, 50);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	if (!kind)
		die("kernel_locks: kind", EINVAL);
	kind->set_up();
	printf("waited %s ns %" PRIu64 "\n", kind->name, kind->give ? processes(n) : threads(n));
	kind->end();
	return 0;
}
