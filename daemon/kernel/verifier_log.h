/* SPDX-License-Identifier: GPL-2.0-only */
/* The verifier's work for each BPF program: one line each in the messages of --verbose. */
#ifndef QUARTZ_DAEMON_VERIFIER_LOG_H
#define QUARTZ_DAEMON_VERIFIER_LOG_H

struct bpf_object;
struct verifier_log;

/* Asks for it, before the programs of an open object are loaded. NULL: there is no memory for it. */
struct verifier_log *verifier_log__new(struct bpf_object *object);

/*
 * Prints it when they have been loaded, or one was refused: "verifier: PROGRAM N instructions, PROCESSED, MILLISECONDS", and why
 * it was.
 */
void verifier_log__print(const struct verifier_log *log, struct bpf_object *object);

/* NULL is allowed. Not while programs are being loaded. */
void verifier_log__free(struct verifier_log *log);

#endif
