// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "core/model/syscall_names.h"

static const char *const names[] = {
#include "core/model/syscall_names.inc"
};

const char *syscall_names__name(uint32_t number)
{
	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}
