/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hands page sets to the processes that ask for them (quartz/page.h), on a socket that any process may connect to. The
 * kernel identifies the peer, and only a process that is being profiled gets a page set. In a thread of its own, so that a
 * program that starts does not wait for whatever quartzd is busy with.
 */
#ifndef QUARTZ_DAEMON_SHM_SERVER_H
#define QUARTZ_DAEMON_SHM_SERVER_H

#include <stddef.h>
#include <sys/socket.h>

#include "daemon/kernel/bpf_runtime.h"
#include "daemon/attribution/shm_sets.h"

/* In the directory: held by the quartzd that uses it, for as long as it lives. */
#define PAGE_SERVER_LOCK "page.lock"

struct shm_server;

/*
 * Listens in `directory`, which must exist. Programs are not told yet. Borrows bpf and the page sets, which must outlive it.
 * NULL with errno.
 */
struct shm_server *shm_server__new(const char *directory, struct bpf_runtime *bpf,
				   struct shm_sets *sets);

/* Serves, and tells the programs that run already that quartzd listens. 0 or -errno. */
int shm_server__start(struct shm_server *s);

/* Tells the programs that no quartzd listens any more, and removes the socket. Accepts NULL. */
void shm_server__free(struct shm_server *s);

/*
 * Makes a directory below `runtime` for the private quartzd of one command, and removes those that
 * killed ones have left. 0 or -errno.
 */
int shm_server__private_directory(const char *runtime, char *path, size_t size);

/* Removes it with what is in it. */
void shm_server__remove_directory(const char *path);

#endif
