// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/bpf_paths.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/kernel/bpf_runtime_private.h"

#define IMAGES 2048 /* that run at a time */

int bpf_paths__set_sizes(struct bpf_runtime *bpf, bool wanted, uint32_t scopes)
{
	struct quartz *s = bpf->skel;
	int err;

	s->rodata->wanted_what_if = wanted;
	bpf_program__set_autoload(s->progs.on_path, wanted);
	if (!wanted)
		return bpf_map__set_max_entries(s->maps.path_objects, 1);
	err = bpf_map__set_max_entries(s->maps.path_segments, QZ_PATH_SEGMENTS);
	err = err ?: bpf_map__set_max_entries(s->maps.path_scopes, scopes);
	return err ?: bpf_map__set_max_entries(s->maps.path_images, IMAGES);
}

void bpf_paths__renew(struct bpf_runtime *bpf, uint32_t n)
{
	bpf->skel->bss->path_candidates = n;
	__atomic_add_fetch(&bpf->skel->bss->path_generation, 1, __ATOMIC_SEQ_CST);
}

int bpf_paths__set_image(struct bpf_runtime *bpf, uint32_t image, const struct qz_path_image *code)
{
	return bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.path_images), &image, code, BPF_ANY);
}

int bpf_paths__set_object(struct bpf_runtime *bpf, uint32_t number, uint32_t candidate)
{
	uint32_t value = candidate < QZ_CANDIDATES ? candidate + 1 : 0;

	return bpf_map_update_elem(bpf_map__fd(bpf->skel->maps.path_objects), &number, &value,
				   BPF_ANY);
}

int bpf_paths__read(const struct bpf_runtime *bpf, uint32_t scope, struct qz_path_scope *paths)
{
	return bpf_map_lookup_elem(bpf_map__fd(bpf->skel->maps.path_scopes), &scope, paths);
}
