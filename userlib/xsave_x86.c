// SPDX-License-Identifier: LGPL-2.1-only
#include "userlib/library.h"

/* 2 if the processor has XSAVE and the kernel uses it, else 1. For profile_x86.S. */
hidden uint32_t xsave__kind(void);
uint32_t xsave__kind(void)
{
	static uint32_t known;
	uint32_t a = 1, b, c = 0, d;

	if (!known) {
		__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
		known = c >> 27 & 1 ? 2 : 1;
	}
	return known;
}
