/* SPDX-License-Identifier: GPL-2.0-only */
/* What each scope has of the tables that all fill; see bpf/quota.bpf.h. */
#ifndef QUARTZ_DAEMON_MAP_QUOTA_H
#define QUARTZ_DAEMON_MAP_QUOTA_H

#include "daemon/kernel/bpf_runtime.h"

struct map_quota;

/* Borrows bpf. NULL with errno ENOMEM. */
struct map_quota *map_quota__new(struct bpf_runtime *bpf);
void map_quota__free(struct map_quota *quota);

/* The tables have been drained: counts of what scopes hold are corrected by what was freed. */
void map_quota__drained(struct map_quota *quota);

#endif
