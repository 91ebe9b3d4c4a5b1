/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/experiment/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/experiment/members.h"
#include "cli/experiment/programs.h"

#define TICK_MS	  200
#define OWN_WORDS 16 /* of the command line of quartzd, before the command */

/* What a signal handler may touch. */
static volatile sig_atomic_t taken, child;

/* What ends an experiment; what it has changed is put back then. */
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define ENDS (sizeof(ends) / sizeof(ends[0]))
static struct sigaction before[ENDS];

/* quartzd passes SIGTERM on to the command. From the terminal, an interrupt has reached both of them. */
static void take(int number, siginfo_t *info, void *context)
{
	(void)context;
	taken = number;
	if (child > 0 && (number == SIGTERM || info->si_code != SI_KERNEL))
		kill((pid_t)child, SIGTERM);
}

void trial__watch(void)
{
	struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};

	taken = 0;
	for (size_t i = 0; i < ENDS; i++) {
		sigaction(ends[i], &action, &before[i]);
		/* nohup was asked not to let it end */
		if (ends[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
			sigaction(ends[i], &before[i], NULL);
	}
}

void trial__unwatch(void)
{
	for (size_t i = 0; i < ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
}

int trial__signal(void)
{
	return taken;
}

bool trial__pass(uint64_t ns)
{
	struct timespec rest = {.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};

	while (!taken && nanosleep(&rest, &rest) && errno == EINTR)
		;
	return !taken;
}

/* ---- the command line ---- */

/* A word with each "{P}" replaced. NULL: memory was short. */
static char *replace(const char *word, uint32_t processors)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (const char *at; (at = strstr(word, "{P}")); word = at + 3)
		fprintf(out, "%.*s%" PRIu32, (int)(at - word), word, processors);
	fputs(word, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Words of `own`, and those of the command, to be freed. NULL: memory was short. */
static char **copy_words(const struct trial *t, const char *const *own, size_t n)
{
	size_t ncommand = 0;
	char **words;

	while (t->command && t->command[ncommand])
		ncommand++;
	words = calloc(n + ncommand + 1, sizeof(*words));
	for (size_t i = 0; words && i < n + ncommand; i++) {
		words[i] = i < n ? strdup(own[i]) : replace(t->command[i - n], t->processors);
		if (words[i])
			continue;
		free_words(words);
		return NULL;
	}
	return words;
}

static char **make_words(const struct trial *t, const char *cpu)
{
	const char *own[OWN_WORDS] = {"quartzctl", "--private", "--quiet", "--cpu",
				      cpu,	   "--output",	t->file};
	char rate[24], duration[40], *pids = t->pids ? members__list(t->pids, ',') : NULL, **words;
	size_t n = 7;

	if (t->rate) {
		snprintf(rate, sizeof(rate), "%" PRId64, t->rate);
		own[n++] = "--rate";
		own[n++] = rate;
	}
	if (t->user) {
		own[n++] = "--user";
		own[n++] = t->user;
	}
	if (t->pids) {
		snprintf(duration, sizeof(duration), "%" PRIu64 ".%09" PRIu64,
			 t->duration_ns / 1000000000, t->duration_ns % 1000000000);
		own[n++] = "--duration";
		own[n++] = duration;
		own[n++] = t->trees ? "--tree" : "--pid";
		own[n++] = pids;
	} else {
		own[n++] = "--";
	}
	words = t->pids && !pids ? NULL : copy_words(t, own, n);
	free(pids);
	return words;
}

/* ---- the process ---- */

/* What the program prints is not the result. */
static void set_output(void)
{
	int fd = open("/dev/null", O_WRONLY);

	if (fd > STDOUT_FILENO)
		dup2(fd, STDOUT_FILENO);
}

static void become_quartzd(const struct trial *t, const cpu_set_t *all, char **words)
{
	char path[PATH_MAX], number[16];

	programs__set_input();
	set_output();
	snprintf(number, sizeof(number), "%" PRIu32, t->processors);
	programs__quartzd(path);
	if (setenv("OMP_NUM_THREADS", number, 1) || sched_setaffinity(0, sizeof(*all), all)) {
		complain("cannot run on %s processors: %s", number, strerror(errno));
		_exit(STATUS_FAILURE);
	}
	trial__unwatch();
	execv(path, words);
	complain("cannot start %s: %s", path, strerror(errno));
	_exit(STATUS_FAILURE);
}

static void tick_until_end(const struct trial *t, pid_t pid)
{
	struct pollfd ended = {.fd = pidfd_open(pid, 0), .events = POLLIN};

	while (ended.fd >= 0 && poll(&ended, 1, TICK_MS) <= 0)
		t->tick(t->context);
	if (ended.fd >= 0)
		close(ended.fd);
}

int trial__await(pid_t pid, const struct trial *t)
{
	int status = 0, err = 0;

	child = pid;
	if (taken) /* before `child` was known, to pass it on to */
		kill(pid, SIGTERM);
	if (t && t->tick)
		tick_until_end(t, pid);
	while (waitpid(pid, &status, 0) < 0 && !err)
		err = errno == EINTR ? 0 : errno;
	child = 0;
	if (err)
		return STATUS_FAILURE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

enum trial_outcome trial__run(const struct trial *t, int *status)
{
	cpu_set_t all;
	char option[32], **words;
	pid_t pid;

	*status = 128 + taken;
	if (taken)
		return TRIAL_INTERRUPTED;
	processors__choose(t->on, t->processors, MAX_SPARE, &all, option);
	words = make_words(t, option);
	*status = STATUS_FAILURE;
	pid = words ? fork() : -1;
	if (pid < 0) {
		complain("cannot start quartzd: %s", strerror(words ? errno : ENOMEM));
		free_words(words);
		return TRIAL_NOT_STARTED;
	}
	if (!pid)
		become_quartzd(t, &all, words);
	*status = trial__await(pid, t);
	free_words(words);
	if (taken) {
		*status = 128 + taken;
		return TRIAL_INTERRUPTED;
	}
	if (!*status)
		return TRIAL_DONE;
	return access(t->file, F_OK) ? TRIAL_NOT_STARTED : TRIAL_FAILED;
}
