// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/shm/shm_device.h"
#include "quartz/device.h"

#define AT_ONCE 64

static int answer(const struct module_device *device, uint64_t id, int status)
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

static int take_memory(const struct module_device *device, const struct qz_set_info *set,
		       struct shm_server *server, uint32_t *index)
{
	struct qz_ioc_attach_set attach = {.size = sizeof(attach), .id = set->id};
	struct qz_page_place place = {
		.slots = set->slots_address,
		.tables = set->tables_address,
		.slot_pointer = set->slot_pointer_offset,
	};
	const struct ucred process = {.pid = set->tgid, .uid = set->uid};
	struct page_memory memory = {.device = ioctl(device->fd, QZ_IOC_ATTACH_SET, &attach)};
	int err = memory.device < 0 ? -errno : 0;

	err = err ?: shm_server__open_set(server, &process, &place, &memory);
	if (err && memory.device >= 0)
		close(memory.device);
	*index = place.index;
	return err;
}

static void take(const struct module_device *device, const struct qz_set_info *set,
		 struct shm_server *server, struct shm_sets *sets)
{
	uint32_t index;
	int err = check_set(set);

	err = err ?: take_memory(device, set, server, &index);
	/* The process no longer waits: it was killed, and its number may be another's. */
	if (answer(device, set->id, err) && !err)
		shm_sets__end(shm_sets__at(sets, index));
}

void shm_device__answer(const struct module_device *device, struct shm_server *server,
			struct shm_sets *sets)
{
	struct qz_set_info infos[AT_ONCE];
	struct qz_ioc_list_sets list = {
		.size = sizeof(list), .room = AT_ONCE, .sets = (uintptr_t)infos};
	int n;

	do {
		n = ioctl(device->fd, QZ_IOC_LIST_SETS, &list);
		for (int i = 0; i < n; i++) {
			list.after = infos[i].id;
			if (infos[i].awaiting)
				take(device, &infos[i], server, sets);
		}
	} while (n == AT_ONCE);
}
