// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "daemon/syscalls.h"

static const char *const names[] = {
#include "daemon/syscalls.inc"
};

const char *syscall__name(uint32_t number)
{
	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}
