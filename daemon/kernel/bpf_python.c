// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_python.h"

#include <errno.h>
#include <bpf/bpf.h>
#include <string.h>

#include "daemon/kernel/bpf_runtime_private.h"

static int on_code(void *context, void *data, size_t size)
{
	struct bpf_runtime *bpf = context;
	const struct qz_python_code *code = data;

	if (size >= QZ_PYTHON_CODE_WITHOUT_LINES && bpf->python_call &&
	    code->table.size <= size - QZ_PYTHON_CODE_WITHOUT_LINES)
		bpf->python_call(bpf->python_context, code);
	return 0;
}

int bpf_python__make(struct bpf_runtime *bpf)
{
	bpf->python_codes =
		ring_buffer__new(bpf_map__fd(bpf->skel->maps.python_codes), on_code, bpf, NULL);
	return bpf->python_codes
		       ? 0
		       : bpf_runtime__fail(bpf, -errno, "cannot map the ring of Python's code: %s",
					   strerror(errno));
}

uint32_t bpf_python__layout(struct bpf_runtime *bpf, const struct qz_python_layout *layout)
{
	uint32_t n = bpf->npython_layouts;

	if (!layout->runtime)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (!memcmp(&bpf->python_layouts[i], layout, sizeof(*layout)))
			return i + 1;
	if (n == QZ_PYTHON_LAYOUTS ||
	    bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.python_layouts), &n, layout, BPF_ANY))
		return 0;
	bpf->python_layouts[n] = *layout;
	bpf->npython_layouts++;
	return n + 1;
}

void bpf_python__consume(struct bpf_runtime *bpf, bpf_python_code *call, void *context)
{
	bpf->python_call = call;
	bpf->python_context = context;
	ring_buffer__consume(bpf->python_codes);
}

void bpf_python__forget(struct bpf_runtime *bpf)
{
	memset(bpf->python_known, 0, QZ_PYTHON_KNOWN * sizeof(*bpf->python_known));
}
