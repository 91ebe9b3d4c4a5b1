// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/target/pid_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/privsep/procfs.h"

#define INITIAL 0xeffffffcu /* PROC_PID_INIT_INO, include/linux/proc_ns.h, since 3.8 */

/*
 * The numbers of this process in the namespace of /proc and in those below it, as long as it is in them: one
 * number where /proc is of its own namespace, none where it is of one that does not see it.
 */
static int count_numbers(const char *numbers)
{
	int n = 0;

	while (*(numbers += strspn(numbers, "\t "))) {
		n++;
		numbers += strcspn(numbers, "\t ");
	}
	return n;
}

int pid_namespace__look(uint32_t *inode, char *error, size_t size)
{
	int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	char numbers[512];
	struct stat st;

	if (dir >= 0) {
		/* a kernel without namespaces has no such line */
		n = procfs__status(dir, "NSpid", numbers, sizeof(numbers)) ? 1
									   : count_numbers(numbers);
		if (n == 1 && fstatat(dir, "ns/pid", &st, 0))
			st.st_ino = INITIAL;
		close(dir);
	} else if (access("/proc/stat", R_OK)) {
		snprintf(error, size, "/proc is not mounted: mount -t proc proc /proc");
		return -ENOENT;
	}
	if (n != 1) {
		snprintf(error, size,
			 "/proc shows the processes of another PID namespace; mount this one's: "
			 "mount -t proc proc /proc (unshare --mount-proc)");
		return -EINVAL;
	}
	*inode = st.st_ino == INITIAL ? 0 : (uint32_t)st.st_ino;
	return 0;
}
