/* SPDX-License-Identifier: GPL-2.0-only */
/* The files behind descriptors of a thread. */
#ifndef QUARTZ_DESCRIPTOR_BPF_H
#define QUARTZ_DESCRIPTOR_BPF_H

#define MODE_TYPE   0170000
#define MODE_FIFO   0010000
#define MODE_BLOCK  0060000
#define MODE_FILE   0100000
#define MODE_SOCKET 0140000

/* The file behind a descriptor, or NULL. */
static __always_inline struct file *files__at(struct files_struct *of, u64 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(of, fdt);
	struct file **files, *file = NULL;

	if (!fdt || (u32)fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	files = BPF_CORE_READ(fdt, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), &files[(u32)fd]))
		return NULL;
	return file;
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

/* One of MODE_*, 0 of no file. */
static __always_inline u32 file__type(struct file *file)
{
	return file ? BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE : 0;
}

#endif
