// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/kernel/kernel_types.h"

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

static int64_t distance(const struct btf *types, const char *from, const char *to)
{
	const struct btf_type *section = percpu_section(types);
	int64_t begin, end;

	if (!section || !find(types, section, from, &begin) || !find(types, section, to, &end))
		return 0;
	return end - begin;
}

static bool has_member(const struct btf *types, const char *name, const char *member)
{
	int32_t id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, id) : NULL;
	const struct btf_member *members = type ? btf_members(type) : NULL;

	for (uint32_t i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(types, members[i].name_off), member))
			return true;
	return false;
}

/* Of a tracepoint, what its programs are given; 0: there is none. */
static uint32_t arguments_of(const struct btf *types, const char *name)
{
	int32_t id = btf__find_by_name_kind(types, name, BTF_KIND_TYPEDEF);
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, id) : NULL;

	type = type ? btf__type_by_id(types, type->type) : NULL; /* a pointer */
	type = type && btf_is_ptr(type) ? btf__type_by_id(types, type->type) : NULL;
	return type && btf_is_func_proto(type) ? btf_vlen(type) - 1
					       : 0; /* the first one is not told */
}

void kernel_types__read(struct kernel_types *types)
{
	struct btf *btf = btf__load_vmlinux_btf();

	*types = (struct kernel_types) {0};
	if (!btf)
		return;
	types->ticks_from_runqueue = distance(btf, "runqueues", "tick_cpu_sched");
	types->tells_ready = has_member(btf, "sched_info", "run_delay") &&
			     has_member(btf, "sched_info", "last_queued") &&
			     has_member(btf, "cfs_rq", "rq") && has_member(btf, "rq", "clock");
	types->switch_tells_state = arguments_of(btf, "btf_trace_sched_switch") > 3;
	btf__free(btf);
}
