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

const char *qz_wait_cause__words(const char *name, char room[QZ_WAIT_CAUSE_LENGTH])
{
	static const char *const words[][2] = {
		{"unknown", "what is not known"},
		{"futex", "another thread (futex)"},
		{"disk", "a disk"},
		{"page_fault", "pages of memory"},
		{"pipe", "a pipe"},
		{"socket", "a socket"},
		{"poll", "the first of several (poll)"},
		{"io_uring", "requests of io_uring"},
		{"sleep", "the end of a sleep"},
		{"child", "a child process"},
		{"kernel", "work of the kernel"},
		{"preempted", "a processor"},
		{"start", "a processor"},
		{"map_lock", "the memory map's lock"},
		{"stopped", "a signal to go on (stopped)"},
		{"frozen", "its group to be thawed (frozen)"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(name, words[i][0]))
			return words[i][1];
	snprintf(room, QZ_WAIT_CAUSE_LENGTH, "the call %.22s", name);
	return room;
}

bool qz_wait_cause__is_held(const char *name)
{
	return !strcmp(name, "stopped") || !strcmp(name, "frozen");
}

bool qz_wait_cause__is_any(const char *name)
{
	return !strcmp(name, "poll") || !strcmp(name, "io_uring");
}
