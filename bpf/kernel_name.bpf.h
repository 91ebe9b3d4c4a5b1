/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own names of its code, for quartzd, which else would have to read all of them. */
#ifndef QUARTZ_KERNEL_NAME_BPF_H
#define QUARTZ_KERNEL_NAME_BPF_H

static const char kernel_name_format[] = "%pS";

/* Question and answer; see daemon/kernel/kernel_names.h. */
__u64 kernel_address;
char kernel_name[QZ_KERNEL_NAME];

/* Run by quartzd, one address at a time. */
SEC("raw_tp")
int name_address(void *ctx)
{
	u64 address = kernel_address;

	if (bpf_snprintf(kernel_name, sizeof(kernel_name), kernel_name_format, &address,
			 sizeof(address)) < 0)
		kernel_name[0] = '\0';
	return 0;
}

#endif
