/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files around the BPF object share. Conventions as in bpf_runtime.h. */
#ifndef QUARTZ_DAEMON_BPF_RUNTIME_PRIVATE_H
#define QUARTZ_DAEMON_BPF_RUNTIME_PRIVATE_H

#include "bpf/quartz.skel.h"
#include "daemon/kernel/bpf_python.h"
#include "daemon/kernel/bpf_runtime.h"

/* ns at each level that was reached */
struct bpf_levels {
	uint64_t *ns;
	uint32_t n;
};

struct bpf_runtime {
	struct bpf_runtime_options opts;
	struct quartz *skel;
	struct kernel_types *types;    /* while programs are loaded */
	struct program_loader *loader; /* NULL: all are loaded */
	struct ring_buffer *events;
	bpf_runtime_event *call;
	void *context;
	uint32_t processors, level_stride, next_scope;
	uint32_t nstacks, nframes, nrecords, nregisters;
	struct qz_control *control;
	struct qz_cpu_state *cpus;
	struct qz_scope_state *scopes;
	struct bpf_levels *levels; /* of each scope */
	uint64_t *text_levels;	   /* what text tables show of them: level_stride of each scope */
	struct qz_stack_slot *stacks;
	uint64_t *frames;
	struct qz_sample_record *samples;
	struct qz_register_set *register_sets;
	struct bpf_runtime_waits waits;
	struct qz_object_slot *objects;
	struct qz_object_figures *object_figures;
	uint64_t *used, *used_objects; /* the latter is a part of it */
	uint64_t *ended_scopes;	       /* bits */
	int *row_pieces;	       /* descriptors, 0: not made yet; see bpf_rows.h */
	uint32_t nrow_pieces;	       /* that there can be */
	struct qz_unwind_region *unwind_regions;
	struct qz_spin_address *spin_addresses;
	struct ring_buffer *python_codes;
	bpf_python_code *python_call;
	void *python_context;
	uint64_t *python_known;
	struct qz_python_layout python_layouts[QZ_PYTHON_LAYOUTS];
	uint32_t npython_layouts;
	uint64_t alone_ns;	   /* see bpf_runtime__alone_ns */
	bool blind;		   /* the kernel has no tracepoint for on_map, or refuses it */
	struct qz_log_head **logs; /* by processor; see bpf_log.h */
	struct ring_buffer *log_alarms;
	uint32_t nlog;	  /* records of each */
	int log_template; /* descriptor, 0: there is none */
	char error[256];
};

/* Sets what bpf_runtime__error() gives; gives err. */
__attribute__((format(printf, 3, 4))) int bpf_runtime__fail(struct bpf_runtime *bpf, int err,
							    const char *format, ...);

/* What a task iterator writes: records of one size, each given to `call`. call NULL: it writes none. */
typedef void bpf_runtime_record(void *context, const void *record);

struct bpf_runtime_records {
	size_t size; /* at most 4096 bytes */
	bpf_runtime_record *call;
	void *context;
};

/* Reads a task iterator to its end. opts NULL: over all threads. 0 or -errno. */
int bpf_runtime__iterate(struct bpf_runtime *bpf, struct bpf_program *prog,
			 const struct bpf_iter_attach_opts *opts,
			 const struct bpf_runtime_records *records);

/* Makes all scopes of the machine ready. 0 or -errno. */
int bpf_scopes__init(struct bpf_runtime *bpf);

#endif
