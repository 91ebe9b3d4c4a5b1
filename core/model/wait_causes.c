// SPDX-License-Identifier: GPL-2.0-only
#include "core/model/wait_causes.h"

#include <stdio.h>
#include <string.h>

#include "core/model/syscall_names.h"
#include "quartz/records.h"

const char *qz_wait_cause__name(uint32_t cause, char room[QZ_WAIT_CAUSE_LENGTH])
{
	static const char *const names[] = QZ_WAIT_NAMES;
	const char *name = NULL;

	if (cause < QZ_WAIT_NAMED)
		name = names[cause];
	else if (cause >= QZ_WAIT_SYSCALL)
		name = syscall_names__name(cause - QZ_WAIT_SYSCALL);
	if (name)
		return name;
	snprintf(room, QZ_WAIT_CAUSE_LENGTH, "syscall_%u", cause - QZ_WAIT_SYSCALL);
	return room;
}

/* Those that are met most often come first. */
static const struct {
	const char *name;
	unsigned int kind;
	const char *words; /* NULL: the name of a system call says it */
} causes[] = {
	{"futex", QZ_WAIT_IS_FUTEX, "another thread (futex)"},
	{"poll", QZ_WAIT_IS_POLL, "the first of several (poll)"},
	{"sleep", QZ_WAIT_IS_SLEEP, "the end of a sleep"},
	{"preempted", 0, "a processor"},
	{"socket", QZ_WAIT_IS_SOCKET, "a socket"},
	{"pipe", QZ_WAIT_IS_PIPE, "a pipe"},
	{"disk", QZ_WAIT_IS_DISK, "a disk"},
	{"page_fault", QZ_WAIT_IS_FAULT, "pages of memory"},
	{"child", QZ_WAIT_IS_CHILD, "a child process"},
	{"io_uring", QZ_WAIT_IS_URING, "requests of io_uring"},
	{"kernel", 0, "work of the kernel"},
	{"unknown", 0, "what is not known"},
	{"start", 0, "a processor"},
	{"map_lock", 0, "the memory map's lock"},
	{"stopped", QZ_WAIT_IS_HELD, "a signal to go on (stopped)"},
	{"frozen", QZ_WAIT_IS_HELD, "its group to be thawed (frozen)"},
	{"fsync", QZ_WAIT_IS_SYNC, NULL},
	{"fdatasync", QZ_WAIT_IS_SYNC, NULL},
	{"msync", QZ_WAIT_IS_SYNC, NULL},
	{"sync_file_range", QZ_WAIT_IS_SYNC, NULL},
	{"syncfs", QZ_WAIT_IS_SYNC, NULL},
	{"sync", QZ_WAIT_IS_SYNC, NULL},
};
#define NCAUSES (sizeof(causes) / sizeof(causes[0]))

/* NCAUSES: another system call. */
static size_t find(const char *name)
{
	size_t i = 0;

	while (i < NCAUSES && (*causes[i].name != *name || strcmp(causes[i].name, name) != 0))
		i++;
	return i;
}

unsigned int qz_wait_cause__kind(const char *name)
{
	size_t i = find(name);

	return i < NCAUSES ? causes[i].kind : 0;
}

const char *qz_wait_cause__words(const char *name, char room[QZ_WAIT_CAUSE_LENGTH])
{
	size_t i = find(name);

	if (i < NCAUSES && causes[i].words)
		return causes[i].words;
	snprintf(room, QZ_WAIT_CAUSE_LENGTH, "the call %.22s", name);
	return room;
}
