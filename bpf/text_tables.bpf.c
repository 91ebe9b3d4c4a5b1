// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text tables under /sys/fs/bpf/quartz: tab-separated, ns integers, the first line tells how
 * long ago quartzd was heard of, the second names the columns. The kernel prints them when they are
 * read, from the maps, so that they cost nothing otherwise and stay readable, and visibly stale,
 * after quartzd has died.
 *
 * An object of their own, because some kernels refuse iterators over maps: that must cost these tables alone. The maps of
 * bpf/text_maps.bpf.h are those of bpf/quartz.bpf.c.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "quartz/records.h"
#include "bpf/text_maps.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define STALE_NS 5000000000ull

/* Key: any. Written by quartzd now and then, read by text_procedures. Holds the leading ones. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, struct qz_text_procedure);
} procedures SEC(".maps");

/* Read by text_threads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct qz_text_thread);
} living SEC(".maps");

const volatile char version[32] = "";

/* Each table begins with it: quartzd brings the tables up to date when one has been read. */
static __always_inline void heartbeat(struct seq_file *seq)
{
	struct qz_control *ctl = control__get();
	u64 age = ctl ? bpf_ktime_get_ns() - ctl->heartbeat : ~0ull;

	if (ctl)
		__sync_fetch_and_add(&ctl->text_reads, 1);
	if (age > STALE_NS)
		BPF_SEQ_PRINTF(seq, "# heartbeat_age_ms %llu stale\n", age / 1000000);
	else
		BPF_SEQ_PRINTF(seq, "# heartbeat_age_ms %llu\n", age / 1000000);
}

SEC("iter/bpf_map_elem")
int text_version(struct bpf_iter__bpf_map_elem *ctx)
{
	struct seq_file *seq = ctx->meta->seq;

	if (!ctx->value)
		return 0;
	heartbeat(seq);
	BPF_SEQ_PRINTF(seq, "# quartz\ttable\n%s\t1\n", (const char *)version);
	return 0;
}

SEC("iter/bpf_map_elem")
int text_parallelism(struct bpf_iter__bpf_map_elem *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct qz_scope_state *s = ctx->value;
	u32 *key = ctx->key, scope;

	if (ctx->meta->seq_num == 0) {
		heartbeat(seq);
		BPF_SEQ_PRINTF(seq, "# scope\tpid\talive\teffective\tnominal\tlevel_ns\n");
	}
	if (!s || !key || !s->began)
		return 0;
	scope = *key;
	BPF_SEQ_PRINTF(seq, "%u\t%d\t%llu\t%llu\t%llu\t", scope, s->pid, s->alive,
		       s->running & QZ_LEVEL_MASK, s->runnable);
	for (u32 i = 0; i < QZ_TEXT_LEVELS; i++) {
		u32 at = scope * level_stride + i;
		u64 *ns;

		if (i >= level_stride)
			break;
		ns = bpf_map_lookup_elem(&levels, &at);
		if (i)
			BPF_SEQ_PRINTF(seq, ",");
		if (ns)
			BPF_SEQ_PRINTF(seq, "%llu", *ns);
	}
	BPF_SEQ_PRINTF(seq, "\n");
	return 0;
}

SEC("iter/bpf_map_elem")
int text_threads(struct bpf_iter__bpf_map_elem *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct qz_text_thread *t = ctx->value;

	if (ctx->meta->seq_num == 0) {
		heartbeat(seq);
		BPF_SEQ_PRINTF(seq, "# scope\tpid\ttid\tstate\trunning_ns\tready_ns\tblocked_ns\n");
	}
	if (!t || !t->used)
		return 0;
	BPF_SEQ_PRINTF(seq, "%u\t%d\t%d\t%u\t", t->scope, t->pid, t->tid, t->state);
	BPF_SEQ_PRINTF(seq, "%llu\t%llu\t%llu\n", t->running_ns, t->ready_ns, t->blocked_ns);
	return 0;
}

SEC("iter/bpf_map_elem")
int text_procedures(struct bpf_iter__bpf_map_elem *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct qz_text_procedure *p = ctx->value;

	if (ctx->meta->seq_num == 0) {
		heartbeat(seq);
		BPF_SEQ_PRINTF(seq, "# scope\ttotal_norm_ns\tself_norm_ns\tself_cpu_ns\tsamples\t"
				    "name\n");
	}
	if (!p || !p->rank)
		return 0;
	BPF_SEQ_PRINTF(seq, "%u\t%llu\t%llu\t%llu\t%llu\t", p->scope, p->total_norm_ns,
		       p->self_norm_ns, p->self_cpu_ns, p->samples);
	BPF_SEQ_PRINTF(seq, "%s\n", p->name);
	return 0;
}
