/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * empty EVENT...: attaches to each of these tracepoints a BPF program that does nothing, as one that
 * accounts for threads does to sched_switch and sched_wakeup. What a machine asks for the call alone. It prints
 * "ready" when they are attached, and runs until it is killed.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "tests/programs/truth.h"

static void attach(const char *event)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K}, /* r0 = 0 */
		{.code = BPF_JMP | BPF_EXIT},
	};
	int type = libbpf_find_vmlinux_btf_id(event, BPF_TRACE_RAW_TP), program;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = (uint32_t)type);

	if (type < 0)
		die(event, -type);
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "empty", "GPL", nothing, 2, &opts);
	if (program < 0)
		die("bpf_prog_load", -program);
	if (bpf_raw_tracepoint_open(NULL, program) < 0)
		die("bpf_raw_tracepoint_open", errno);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		attach(argv[i]);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
