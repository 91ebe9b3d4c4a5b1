/* SPDX-License-Identifier: GPL-2.0-only */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/userlib/programs.h"

static void become(const char *name)
{
	char path[512];

	setenv("LD_LIBRARY_PATH", TEST_BUILD, 1);
	snprintf(path, sizeof(path), "%s/tests/userlib/programs/%s", TEST_BUILD, name);
	execl(path, name, NULL);
	perror(path);
	_exit(127);
}

struct program program__start(const char *name)
{
	struct program p;
	int in[2], out[2];

	ck_assert(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
	p.pid = fork();
	if (!p.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		become(name);
	}
	ck_assert_int_gt(p.pid, 0);
	close(in[0]);
	close(out[1]);
	p.in = in[1];
	p.out = fdopen(out[0], "r");
	return p;
}

void program__let_go(struct program *p)
{
	close(p->in);
	p->in = -1;
}

int program__end(struct program *p)
{
	int status;

	if (p->in >= 0)
		program__let_go(p);
	ck_assert_int_eq(waitpid(p->pid, &status, 0), p->pid);
	fclose(p->out);
	return status;
}

char *program__output(const char *name)
{
	struct program p = program__start(name);
	char *text = NULL;
	size_t size = 0;

	ck_assert_int_gt(getdelim(&text, &size, '\0', p.out), 0);
	ck_assert_int_eq(program__end(&p), 0);
	return text;
}
