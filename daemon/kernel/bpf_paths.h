/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What quartzd tells the BPF programs of candidates, and reads of paths without them: quartz/critical_path.h. Only
 * where bpf_runtime_options.what_if was set. Conventions as in bpf_runtime.h.
 */
#ifndef QUARTZ_DAEMON_BPF_PATHS_H
#define QUARTZ_DAEMON_BPF_PATHS_H

#include "daemon/kernel/bpf_runtime.h"
#include "quartz/critical_path.h"

/* The sizes of the maps, before they are loaded. 0 or -errno. */
int bpf_paths__set_sizes(struct bpf_runtime *bpf, bool wanted, uint32_t scopes);

/* From now on there are n candidates, and more is known of their code than samples told before. */
void bpf_paths__renew(struct bpf_runtime *bpf, uint32_t n);

/* The candidates' code in an image. 0 or -errno. */
int bpf_paths__set_image(struct bpf_runtime *bpf, uint32_t image, const struct qz_path_image *code);

/* The object of this number is this candidate; QZ_CANDIDATES: it is none. 0 or -errno. */
int bpf_paths__set_object(struct bpf_runtime *bpf, uint32_t number, uint32_t candidate);

/* What is known of a scope in BPF. 0 or -errno. */
int bpf_paths__read(const struct bpf_runtime *bpf, uint32_t scope, struct qz_path_scope *paths);

#endif
