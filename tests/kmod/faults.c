/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults MODULE: each allocation that the kernel makes for a use of quartz.ko fails once, the first, the
 * second and so on, until the use makes no more of them; loading and unloading first. The module must say
 * so, leave nothing behind and work afterwards. Needs a kernel with CONFIG_FAULT_INJECTION,
 * root, and the module not loaded, which it is not afterwards either.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quartz/device.h"

#define LIMIT 20000 /* allocations of one use */

static int trigger; /* /proc/self/fail-nth: after N writes N counts down, and at 0 one fails */
static int fd = -1, listener = -1;
static void *image;
static size_t image_size;

static void check(bool wrong, const char *what)
{
	if (!wrong)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static void set(const char *path, const char *value)
{
	int file = open(path, O_WRONLY);

	check(file < 0 || write(file, value, strlen(value)) < 0, path);
	close(file);
}

/* Allocations of every kind, and no word of the kernel about each. */
static void prepare(void)
{
	set("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/failslab/verbose", "0");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	set("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	set("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	set("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	trigger = open("/proc/self/fail-nth", O_RDWR);
	check(trigger < 0, "/proc/self/fail-nth");
}

static void arm(int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", n);

	check(pwrite(trigger, text, (size_t)length, 0) != length, "fail-nth");
}

/* Whether an allocation has failed since. */
static bool disarm(void)
{
	char text[16] = "";

	check(pread(trigger, text, sizeof(text) - 1, 0) <= 0, "fail-nth");
	arm(0);
	return atoi(text) == 0;
}

/* ---- the uses: 0, or -1 with errno ---- */

static bool is_there(void)
{
	return access(QZ_DEVICE_PATH, F_OK) == 0 || access("/sys/kernel/quartz", F_OK) == 0;
}

static int load(void)
{
	int status = (int)syscall(SYS_init_module, image, image_size, ""), error = errno;

	check(status && is_there(), "something is left of a load that failed");
	errno = error;
	return status;
}

static int unload(void)
{
	int status = (int)syscall(SYS_delete_module, "quartz", O_NONBLOCK);

	check(!status && is_there(), "something is left");
	return status;
}

static int open_device(void)
{
	fd = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -1 : 0;
}

static int close_device(void)
{
	return close(fd);
}

static int begin_listening(void)
{
	struct qz_ioc_listen l = {.size = sizeof(l)};

	listener = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return ioctl(listener, QZ_IOC_LISTEN, &l);
}

static int publish(void)
{
	static uint64_t levels[64];
	static struct qz_top_row rows[8];
	struct qz_ioc_publish_scope s = {.size = sizeof(s),
					 .levels = 64,
					 .rows = 8,
					 .name = "job",
					 .level_ns = (uintptr_t)levels,
					 .top = (uintptr_t)rows};

	return ioctl(listener, QZ_IOC_PUBLISH_SCOPE, &s);
}

static int retire(void)
{
	struct qz_ioc_retire_scope r = {.size = sizeof(r), .name = "job"};

	return ioctl(listener, QZ_IOC_RETIRE_SCOPE, &r) && errno != ENOENT ? -1 : 0;
}

static int read_published(void)
{
	char text[4096];
	int file = open("/sys/kernel/quartz/scopes/job/level_ns", O_RDONLY);
	ssize_t n;

	if (file < 0)
		return -1;
	n = read(file, text, sizeof(text));
	close(file);
	return n < 0 ? -1 : 0;
}

static int snapshot(void)
{
	static struct qz_capture captures[64];
	int32_t self = getpid();
	struct qz_ioc_snapshot s = {.size = sizeof(s),
				    .ntargets = 1,
				    .room = 64,
				    .targets = (uintptr_t)&self,
				    .captures = (uintptr_t)captures,
				    .patience_ns = 100000000};

	return ioctl(fd, QZ_IOC_SNAPSHOT, &s);
}

/* ---- one after the other ---- */

/* Undoes what may be half done, too; NULL: nothing is to be undone. */
static void use(const char *name, int (*act)(void), int (*undo)(void))
{
	int n, refused = 0;

	for (n = 1; n <= LIMIT; n++) {
		int status, error;
		bool failed;

		arm(n);
		status = act();
		error = errno;
		failed = disarm();
		if (status) {
			errno = error;
			check(!failed || error != ENOMEM, name);
			refused++;
		}
		if (!failed)
			break;
		check(undo && !status && undo(), name);
	}
	check(n > LIMIT, "no end of allocations");
	check(n > 1 && !refused, "nothing was refused");
	printf("%s: %d allocations, refused without %d of them\n", name, n - 1, refused);
}

/* What a call that was refused began is not in the way of the next one. */
static int publish_anew(void)
{
	int status = publish(), error = errno;

	check(status && retire(), "retire");
	errno = error;
	return status;
}

static void read_module(const char *path)
{
	int file = open(path, O_RDONLY);
	struct stat st;

	check(file < 0 || fstat(file, &st), path);
	image_size = (size_t)st.st_size;
	image = malloc(image_size);
	check(!image || read(file, image, image_size) != st.st_size, path);
	close(file);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	check(argc != 2, "usage: faults MODULE");
	read_module(argv[1]);
	prepare();
	use("load", load, unload);
	use("open", open_device, close_device);
	check(begin_listening() != 0, "listen");
	use("publish", publish_anew, retire);
	use("read", read_published, NULL);
	use("snapshot", snapshot, NULL);
	check(close_device() || close(listener), "close");
	check(unload() != 0, "unload");
	return EXIT_SUCCESS;
}
