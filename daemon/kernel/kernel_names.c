// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/kernel_names.h"

#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/kernel/bpf_runtime_private.h"

/* The number after a prefix; *end is what follows. */
static bool read_number(const char *text, const char *prefix, uint64_t *value, char **end)
{
	size_t n = strlen(prefix);

	if (strncmp(text, prefix, n))
		return false;
	*value = strtoull(text + n, end, 16);
	return *end > text + n;
}

bool kernel_names__read(char *text, uint64_t address, struct kernel_code *code)
{
	char *plus = strrchr(text, '+'), *rest;
	uint64_t offset, size;

	if (!plus || plus == text || !read_number(plus, "+0x", &offset, &rest) ||
	    !read_number(rest, "/0x", &size, &rest) || (*rest && *rest != ' ') ||
	    offset > address || address - offset > UINT64_MAX - size)
		return false;
	*plus = '\0';
	*code = (struct kernel_code) {text, address - offset, address - offset + size};
	return true;
}

bool kernel_names__find(struct bpf_runtime *bpf, uint64_t address, struct kernel_code *code)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct quartz *s = bpf->skel;

	s->bss->kernel_address = address;
	s->bss->kernel_name[0] = '\0';
	if (bpf_prog_test_run_opts(bpf_program__fd(s->progs.name_address), &opts))
		return false;
	s->bss->kernel_name[QZ_KERNEL_NAME - 1] = '\0';
	return kernel_names__read(s->bss->kernel_name, address, code);
}
