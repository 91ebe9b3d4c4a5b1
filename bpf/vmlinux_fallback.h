/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that the BPF programs name, for a build where the running kernel has no BTF.
 * Only the members that are used; their places are found at load time (CO-RE) in the BTF of the
 * kernel that runs the programs.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef int pid_t;
typedef _Bool bool;
enum { false = 0, true = 1 };
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum bpf_func_id { BPF_FUNC_find_vma = 180 };

enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1024 };
enum { BPF_F_USER_STACK = 256 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

struct sched_entity {
	u64 sum_exec_runtime;
};

struct bpf_local_storage;

typedef struct {
	s64 counter;
} atomic_long_t;

struct rw_semaphore {
	atomic_long_t count;
	atomic_long_t owner;
};

struct mutex {
	atomic_long_t owner;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct eventfd_ctx {
	int id;
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
	unsigned long exec_vm;
	unsigned long start_stack;
	struct file *exe_file;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
	struct rw_semaphore i_rwsem;
};

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
};

struct file {
	struct inode *f_inode;
	void *private_data;
	struct path f_path;
	struct mutex f_pos_lock;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct thread_info {
	unsigned long flags;
	u32 status;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct thread_struct {
	unsigned long fsbase;
};

struct signal_struct {
	int nr_threads;
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_rq;
	struct sched_entity se;
	struct mm_struct *mm;
	int exit_state;
	pid_t pid;
	pid_t tgid;
	struct pid *thread_pid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	u64 start_time;
	u64 start_boottime;
	char comm[16];
	unsigned in_execve : 1;
	unsigned in_iowait : 1;
	unsigned frozen : 1;
	unsigned long jobctl;
	int nr_cpus_allowed;
	struct files_struct *files;
	struct css_set *cgroups;
	struct signal_struct *signal;
	struct bpf_local_storage *bpf_storage;
	struct thread_struct thread;
};

struct vm_unmapped_area_info {
	unsigned long length;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

struct bpf_map;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};

struct bpf_perf_event_data {
	struct pt_regs regs;
	u64 sample_period;
	u64 addr;
};

#pragma clang attribute pop

#endif
