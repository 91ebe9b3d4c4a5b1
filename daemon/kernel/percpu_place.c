// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/percpu_place.h"

#include <stdbool.h>
#include <string.h>

#include <bpf/btf.h>

static const struct btf_type *percpu_section(const struct btf *types)
{
	for (uint32_t id = btf__type_cnt(types) - 1; id > 0; id--) {
		const struct btf_type *type = btf__type_by_id(types, id);

		if (btf_is_datasec(type) &&
		    !strcmp(btf__name_by_offset(types, type->name_off), ".data..percpu"))
			return type;
	}
	return NULL;
}

static bool find(const struct btf *types, const struct btf_type *section, const char *name,
		 int64_t *place)
{
	const struct btf_var_secinfo *variables = btf_var_secinfos(section);

	for (uint32_t i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *variable = btf__type_by_id(types, variables[i].type);

		if (strcmp(btf__name_by_offset(types, variable->name_off), name))
			continue;
		*place = variables[i].offset;
		return true;
	}
	return false;
}

int64_t percpu_place__distance(const char *from, const char *to)
{
	struct btf *types = btf__load_vmlinux_btf();
	const struct btf_type *section = types ? percpu_section(types) : NULL;
	int64_t begin, end, distance = 0;

	if (section && find(types, section, from, &begin) && find(types, section, to, &end))
		distance = end - begin;
	btf__free(types);
	return distance;
}
