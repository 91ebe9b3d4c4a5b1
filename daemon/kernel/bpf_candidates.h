/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives the sampler the code of candidates: quartz/candidates.h. Only where bpf_runtime_options.what_if was set.
 * Conventions as in bpf_runtime.h.
 */
#ifndef QUARTZ_DAEMON_BPF_CANDIDATES_H
#define QUARTZ_DAEMON_BPF_CANDIDATES_H

#include "daemon/kernel/bpf_runtime.h"
#include "quartz/candidates.h"

/* The size of the map, before it is loaded. 0 or -errno. */
int bpf_candidates__set_sizes(struct bpf_runtime *bpf, bool wanted);

/* The candidates' code in an image. 0 or -errno. */
int bpf_candidates__set_image(struct bpf_runtime *bpf, uint32_t image,
			      const struct qz_candidate_code *code);

#endif
