/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hands page sets to the processes that ask for them (quartz/page.h), on a socket that everybody may
 * connect to: who asks is what the kernel says of the peer, and only a process that is being
 * profiled gets one. In a thread of its own, so that a program that starts does not wait for
 * whatever quartzd is busy with.
 */
#ifndef QUARTZ_DAEMON_PAGE_SERVER_H
#define QUARTZ_DAEMON_PAGE_SERVER_H

#include <stddef.h>

#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/pages.h"

struct page_server;

/*
 * Listens in `directory`, which is there, without telling anybody yet, and at the device unless
 * that is closed. Borrows the engine, the pages and the device, which must outlive it. NULL with errno.
 */
struct page_server *page_server__new(const char *directory, struct engine *engine,
				     struct pages *pages, const struct device *device);

/*
 * The image that a process is at this moment, and a pidfd of it, which the caller closes. 0, -ESRCH
 * when it is not profiled or is gone, or -errno. Any thread.
 */
int page_server__find_image(const struct engine *engine, pid_t pid, int *pidfd, uint32_t *image);

/* Serves, and tells the programs that run already that quartzd listens. 0 or -errno. */
int page_server__start(struct page_server *s);

/* Tells the programs that nobody listens any more, and removes the socket. Accepts NULL. */
void page_server__free(struct page_server *s);

/*
 * Makes a directory below `runtime` for the private quartzd of one command, and removes those that
 * killed ones have left. 0 or -errno.
 */
int page_server__private_directory(const char *runtime, char *path, size_t size);

/* Removes it with what is in it. */
void page_server__remove_directory(const char *path);

#endif
