/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that ask processes, which answer 5 ms later; the argument is how many threads, with a process each. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUESTIONS 1600
#define MOST	  64

static atomic_int asked;
static volatile double sink;

static void answer(int fd)
{
	char question;

	while (read(fd, &question, 1) == 1) {
		usleep(5000);
		if (write(fd, &question, 1) != 1)
			break;
	}
	_exit(0);
}

static void *ask(void *fd)
{
	char question = 0;

	while (atomic_fetch_add(&asked, 1) < QUESTIONS) {
		if (write(*(int *)fd, &question, 1) != 1 || read(*(int *)fd, &question, 1) != 1)
			break;
		for (int i = 0; i < 20000; i++)
			sink += i;
	}
	close(*(int *)fd);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4, ends[MOST][2];
	pthread_t threads[MOST];

	n = n < MOST ? n : MOST;
	for (int i = 0; i < n; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends[i]))
			return 1;
		if (!fork()) {
			for (int k = 0; k <= i; k++)
				close(ends[k][0]);
			answer(ends[i][1]);
		}
		close(ends[i][1]);
	}
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, ask, &ends[i][0]))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
