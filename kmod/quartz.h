/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the module owe each other. */
#ifndef QUARTZ_KMOD_QUARTZ_H
#define QUARTZ_KMOD_QUARTZ_H

#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/types.h>

#include "quartz/device.h"

/* ---- sets.c: page sets ---- */

struct qz_set;

int qz_sets_init(void);
void qz_sets_exit(void);

/* Makes `file` a page set, held in its private data until qz_set_release. */
long qz_set_open(struct file *file, const struct qz_ioc_open_set *open);
void qz_set_release(struct file *file);
int qz_set_mmap(struct file *file, struct vm_area_struct *vma);
int qz_flag_mmap(struct vm_area_struct *vma);
long qz_sets_list(const struct qz_ioc_list_sets *list);
long qz_set_attach(const struct qz_ioc_attach_set *attach);
long qz_set_answer(const struct qz_ioc_answer_set *answer);

/* Whether a set waits for an answer; `file` is woken when one comes. */
bool qz_sets_poll(struct file *file, struct poll_table_struct *wait);

/* The generation that programs see: a new one while somebody listens, 0 otherwise. */
u32 qz_generation_begin(void);
void qz_generation_end(void);

/* ---- publish.c: figures of the run ---- */

int qz_publish_init(void);
void qz_publish_exit(void);
struct kobject *qz_publish_root(void);
void qz_publish_totals(const struct qz_ioc_publish *figures);
void qz_publish_enable(bool enabled);

/* ---- scopes.c: a directory per scope ---- */

int qz_scopes_init(void);
void qz_scopes_exit(void);
long qz_scope_publish(const struct qz_ioc_publish_scope *scope);
long qz_scope_retire(const char *name);
void qz_scopes_retire_all(void);

/* ---- snapshot.c ---- */

int qz_snapshot_init(void);
void qz_snapshot_exit(void);
long qz_snapshot_take(struct qz_ioc_snapshot *snapshot);

/* ---- device.c ---- */

int qz_device_init(void);
void qz_device_exit(void);

#endif
