// SPDX-License-Identifier: LGPL-2.1-only
/* Page sets of /dev/quartz, if quartz.ko is loaded and the process may open the device. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "quartz/device.h"
#include "userlib/library.h"

_Static_assert(QZ_TABLES_SIZE + QZ_SEGMENTS * QZ_SEGMENT_SIZE <= QZ_SET_MAX,
	       "larger than the module allows");

static int open_device(void)
{
	int fd = open(QZ_DEVICE_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISCHR(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

static const struct qz_page_flag *module_flag;

const struct qz_page_flag *device__flag(void)
{
	int fd = open_device();
	void *flag;

	if (fd < 0)
		return NULL;
	flag = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, QZ_DEVICE_FLAG);
	close(fd);
	if (flag == MAP_FAILED)
		return NULL;
	store(&module_flag, flag);
	return flag;
}

/* The device's generation of the flag's quartzd; 0: it does not listen there. */
static uint32_t generation_there(void)
{
	const struct qz_page_flag *flag = load(&client_flag);

	return flag == load(&module_flag) ? load(&flag->generation) : load(&flag->device);
}

static bool is_of(int fd, uint32_t generation)
{
	const struct qz_page_header *header = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	bool same;

	if (header == MAP_FAILED)
		return false;
	same = header->generation == generation;
	munmap((void *)header, PAGE_BYTES);
	return same;
}

/* A refusal by quartzd itself is final. After any other error, the socket is tried: -ENODEV. */
static int ask(int fd, uint32_t generation)
{
	const struct qz_ioc_open_set request = {
		.size = sizeof(request),
		.page_version = QZ_PAGE_VERSION,
		.bytes = QZ_TABLES_SIZE + QZ_SEGMENTS * QZ_SEGMENT_SIZE,
		.tables_address = (uintptr_t)library.tables,
		.slots_address = (uintptr_t)library.slots,
		.slots_offset = QZ_TABLES_SIZE,
		.slot_pointer_offset = client__slot_pointer_offset(),
		.patience_ns = client__patience_ms() * 1000000ull,
	};

	if (ioctl(fd, QZ_IOC_OPEN_SET, &request))
		return errno == ESRCH || errno == ETIMEDOUT ? -errno : -ENODEV;
	return is_of(fd, generation) ? 0 : -ENODEV;
}

int device__open_set(uint32_t segments)
{
	uint32_t generation = generation_there();
	int fd = generation ? open_device() : -1, err;

	if (fd < 0)
		return -ENODEV;
	err = ask(fd, generation);
	err = err ?: memory__replace_all(fd, segments);
	close(fd);
	return err;
}
