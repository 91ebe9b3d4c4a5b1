// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/page_device.h"
#include "daemon/page_server.h"
#include "quartz/device.h"

#define AT_ONCE 64

static int answer(const struct device *device, uint64_t id, int status)
{
	struct qz_ioc_answer_set a = {.size = sizeof(a), .status = status, .id = id};

	return ioctl(device->fd, QZ_IOC_ANSWER_SET, &a) ? -errno : 0;
}

/* The sizes are the process's word, as at the socket. */
static int check_set(const struct qz_set_info *set)
{
	if (set->page_version != QZ_PAGE_VERSION)
		return -EPROTONOSUPPORT;
	if (set->bytes != QZ_TABLES_SIZE + QZ_SEGMENTS * QZ_SEGMENT_SIZE ||
	    set->slots_offset != QZ_TABLES_SIZE)
		return -EPROTO;
	return 0;
}

static int open_memory(const struct device *device, uint64_t id)
{
	struct qz_ioc_attach_set attach = {.size = sizeof(attach), .id = id};
	int fd = ioctl(device->fd, QZ_IOC_ATTACH_SET, &attach);

	return fd < 0 ? -errno : fd;
}

/* Takes pidfd over when it succeeds. */
static int adopt(const struct device *device, struct engine *engine, struct pages *pages,
		 const struct qz_set_info *set, uint32_t image, int pidfd)
{
	struct qz_page_place place = {
		.slots = set->slots_address,
		.tables = set->tables_address,
		.slot_pointer = set->slot_pointer_offset,
	};
	int memory = open_memory(device, set->id), err;

	if (memory < 0)
		return memory;
	err = pages__adopt(pages, image, set->tgid, set->uid, pidfd, memory, QZ_TABLES_SIZE,
			   &place.index);
	if (err) {
		close(memory);
		return err;
	}
	if (set->slot_pointer_offset)
		engine__set_page(engine, image, &place);
	/* Nobody waits any more: the process was killed, and its number may be another's. */
	if (answer(device, set->id, 0))
		pages__end(pages__at(pages, place.index));
	return 0;
}

static void take(const struct device *device, struct engine *engine, struct pages *pages,
		 const struct qz_set_info *set)
{
	int pidfd = -1, err = check_set(set);
	uint32_t image = 0;

	err = err ?: page_server__find_image(engine, set->tgid, &pidfd, &image);
	if (!err) {
		err = adopt(device, engine, pages, set, image, pidfd);
		if (err)
			close(pidfd);
	}
	if (err)
		answer(device, set->id, err);
}

void page_device__answer(const struct device *device, struct engine *engine, struct pages *pages)
{
	struct qz_set_info sets[AT_ONCE];
	struct qz_ioc_list_sets list = {
		.size = sizeof(list), .room = AT_ONCE, .sets = (uintptr_t)sets};
	int n;

	do {
		n = ioctl(device->fd, QZ_IOC_LIST_SETS, &list);
		for (int i = 0; i < n; i++) {
			list.after = sets[i].id;
			if (sets[i].awaiting)
				take(device, engine, pages, &sets[i]);
		}
	} while (n == AT_ONCE);
}
