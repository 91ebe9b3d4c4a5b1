// SPDX-License-Identifier: GPL-2.0-only
#include "core/model/wait_causes.h"

#include <stdio.h>

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
