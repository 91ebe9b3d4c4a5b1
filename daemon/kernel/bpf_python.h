/* SPDX-License-Identifier: GPL-2.0-only */
/* The walks' maps of Python, see bpf/python.bpf.h. Conventions as in bpf_runtime.h. */
#ifndef QUARTZ_DAEMON_BPF_PYTHON_H
#define QUARTZ_DAEMON_BPF_PYTHON_H

#include <stdint.h>

#include "quartz/python.h"

struct bpf_runtime;

/* Maps the ring. Called by bpf_runtime__load(). */
int bpf_python__make(struct bpf_runtime *bpf);

/*
 * The number + 1 by which regions refer to a layout. 0: there is none (runtime is 0), or there are too many different ones.
 * May be called by another thread than the others.
 */
uint32_t bpf_python__layout(struct bpf_runtime *bpf, const struct qz_python_layout *layout);

/* A report, with whatever contents the program wrote; valid during the call only. */
typedef void bpf_python_code(void *context, const struct qz_python_code *code);

/* Takes out what code was met since the last call. */
void bpf_python__consume(struct bpf_runtime *bpf, bpf_python_code *call, void *context);

/* All code is reported again when it is met. */
void bpf_python__forget(struct bpf_runtime *bpf);

#endif
