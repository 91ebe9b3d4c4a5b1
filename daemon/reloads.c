// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/reloads.h"

#include <stdlib.h>

#include "core/array.h"

struct reload {
	uint32_t image; /* number */
	uint64_t contents;
	struct regions reported;
};

struct reloads {
	struct images *images;
	struct reload *all;
	uint32_t n;
};

struct reloads *reloads__new(struct images *images)
{
	struct reloads *r = calloc(1, sizeof(*r));

	if (r)
		r->images = images;
	return r;
}

void reloads__free(struct reloads *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n; i++)
		regions__free(&r->all[i].reported);
	free(r->all);
	free(r);
}

static bool is_reloaded(const struct reloads *r, const struct image *image)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->all[i].image == image->number)
			return true;
	return false;
}

void reloads__begin(struct reloads *r, struct image *image)
{
	struct reload reload = {.image = image->number, .contents = image->contents};

	if (image->ended || is_reloaded(r, image) ||
	    qz_array__reserve((void **)&r->all, r->n, sizeof(*r->all)) ||
	    regions__copy(&reload.reported, &image->regions))
		return;
	r->all[r->n++] = reload;
	image->reread = false; /* for an address that was nowhere is not for what is there now */
	images__reload(r->images, image);
}

void reloads__end(struct reloads *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct image *image = images__get(r->images, r->all[i].image);

		if (!image) {
			regions__free(&r->all[i].reported);
			continue;
		}
		regions__free(&image->regions);
		image->regions = r->all[i].reported;
		image->contents = r->all[i].contents;
	}
	r->n = 0;
}
