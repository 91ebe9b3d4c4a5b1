/* SPDX-License-Identifier: GPL-2.0-only */
#include "daemon/symbolizer/cache_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/util/order.h"
#include "core/util/save_file.h"
#include "core/util/vec.h"

#define ABANDONED 3600 /* s */

struct kept_file {
	char *name;
	int64_t used;
	uint64_t bytes;
};

static int used_order(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	return qz_order((uint64_t)x->used, (uint64_t)y->used);
}

/* By a process that was killed. */
static bool is_abandoned(const char *name, const struct stat *st)
{
	size_t n = strlen(name), m = strlen(QZ_SAVE_FILE_PART);

	return n > m && !strcmp(name + n - m, QZ_SAVE_FILE_PART) &&
	       st->st_mtim.tv_sec + ABANDONED < time(NULL);
}

static uint32_t list_files(DIR *d, struct kept_file **files, uint64_t *bytes)
{
	const struct dirent *entry;
	uint32_t n = 0;
	struct stat st;

	while ((entry = readdir(d))) {
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (is_abandoned(entry->d_name, &st)) {
			unlinkat(dirfd(d), entry->d_name, 0);
			continue;
		}
		if (qz_array__reserve((void **)files, n, sizeof(**files)))
			break;
		(*files)[n] = (struct kept_file) {strdup(entry->d_name), st.st_mtim.tv_sec,
						  (uint64_t)st.st_blocks * 512};
		*bytes += (*files)[n++].bytes;
	}
	return n;
}

static void trim(DIR *d, uint64_t most)
{
	struct kept_file *files = NULL;
	uint64_t bytes = 0;
	uint32_t n = list_files(d, &files, &bytes);

	if (bytes > most)
		qsort(files, n, sizeof(*files), used_order);
	for (uint32_t i = 0; i < n; i++) {
		if (bytes > most && files[i].name && !unlinkat(dirfd(d), files[i].name, 0))
			bytes -= files[i].bytes;
		free(files[i].name);
	}
	free(files);
}

void cache_directory__trim(int dir, uint64_t most)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d) {
		trim(d, most);
		closedir(d);
	} else if (fd >= 0) {
		close(fd);
	}
}
