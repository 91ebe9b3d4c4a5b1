/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Images whose regions stand aside while stacks that were walked with stale tables are named: by what
 * is mapped now. It may not have been reported yet, and what was sampled in the code before it not have
 * been named; when the report comes it must show that it takes the place of other code. So what was read
 * holds until the end of a drain only.
 *
 * One thread at a time.
 */
#ifndef QUARTZ_DAEMON_RELOADS_H
#define QUARTZ_DAEMON_RELOADS_H

#include "daemon/images.h"

struct reloads;

/* Borrows the images. NULL with errno ENOMEM. */
struct reloads *reloads__new(struct images *images);
void reloads__free(struct reloads *r);

/* The image has what its process has mapped now, at the first call for it; else, without effect. */
void reloads__begin(struct reloads *r, struct image *image);

/* All images have the regions again that were reported. */
void reloads__end(struct reloads *r);

#endif
