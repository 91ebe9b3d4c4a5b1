/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a thread's descriptors. */
#ifndef QUARTZ_DESCRIPTOR_BPF_H
#define QUARTZ_DESCRIPTOR_BPF_H

#define MODE_TYPE   0170000
#define MODE_FIFO   0010000
#define MODE_BLOCK  0060000
#define MODE_DIR    0040000
#define MODE_FILE   0100000
#define MODE_SOCKET 0140000

/* The address of a descriptor's file, or 0. A global function, which the verifier follows once. */
__noinline u64 files__address(u64 of, u64 fd)
{
	struct fdtable *fdt = BPF_CORE_READ((struct files_struct *)of, fdt);
	struct file **files, *file = NULL;

	if (!fdt || (u32)fd >= BPF_CORE_READ(fdt, max_fds))
		return 0;
	files = BPF_CORE_READ(fdt, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), &files[(u32)fd]))
		return 0;
	return (u64)file;
}

static __always_inline struct file *files__at(struct files_struct *of, u64 fd)
{
	return (struct file *)files__address((u64)of, fd);
}

static __always_inline struct file *file__of_fd(struct task_struct *task, u64 fd)
{
	return files__at(BPF_CORE_READ(task, files), fd);
}

static __always_inline struct inode *inode__of_fd(struct task_struct *task, u64 fd)
{
	struct file *file = file__of_fd(task, fd);

	return file ? BPF_CORE_READ(file, f_inode) : NULL;
}

#define ANONYMOUS_MAGIC 0x09041934 /* of what has no file: eventfd, timerfd, epoll */

static __always_inline bool file__is_anonymous(struct file *file)
{
	return BPF_CORE_READ(file, f_inode, i_sb, s_magic) == ANONYMOUS_MAGIC;
}

/* One of MODE_*, 0 of no file. What is anonymous is said to be a file since Linux 6.16. */
__noinline u32 file__type(u64 address)
{
	struct file *file = (struct file *)address;
	u32 type = file ? BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE : 0;

	return type == MODE_FILE && file__is_anonymous(file) ? 0 : type;
}

/* The number of an eventfd + 1; 0: it is none, or has no number. */
__noinline u64 files__event(u64 files, u64 fd)
{
	struct file *file = files__at((struct files_struct *)files, fd);
	struct eventfd_ctx *event = NULL;
	char name[sizeof("[eventf")] = {};

	if (!file || !file__is_anonymous(file) || !bpf_core_field_exists(event->id))
		return 0;
	bpf_probe_read_kernel(name, sizeof(name), BPF_CORE_READ(file, f_path.dentry, d_name.name));
	if (__builtin_memcmp(name, "[eventfd", sizeof(name)))
		return 0;
	event = BPF_CORE_READ(file, private_data);
	return (u64)(u32)BPF_CORE_READ(event, id) + 1;
}

#endif
