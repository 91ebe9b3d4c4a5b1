// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_candidates.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/kernel/bpf_runtime_private.h"

#define IMAGES 2048 /* that run at a time */

int bpf_candidates__set_sizes(struct bpf_runtime *bpf, bool wanted)
{
	struct quartz *s = bpf->skel;

	s->rodata->wanted_what_if = wanted;
	return wanted ? bpf_map__set_max_entries(s->maps.candidate_codes, IMAGES) : 0;
}

int bpf_candidates__set_image(struct bpf_runtime *bpf, uint32_t image,
			      const struct qz_candidate_code *code)
{
	return bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.candidate_codes), &image, code,
				   BPF_ANY);
}
