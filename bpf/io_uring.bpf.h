/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread waits for in io_uring_enter. The kernel says "input or output" of all requests (in_iowait), of timers and
 * sockets, too. What a thread asked for last is in its ring; where what is under way is of one kind, it waits for that.
 */
#ifndef QUARTZ_IO_URING_BPF_H
#define QUARTZ_IO_URING_BPF_H

#define IO_URING_LOOKS 8 /* at the last requests: enough for a batch of most programs */
#define IO_URING_REGISTERED                                                                        \
	(1u << 4) /* IORING_ENTER_REGISTERED_RING: the descriptor is a number of another table */
#define IO_URING_WIDE  (1u << 10) /* IORING_SETUP_SQE128 */
#define IO_URING_FIXED 1	  /* IOSQE_FIXED_FILE: the same for the file of a request */

#define IO_URING_BUCKETS 64
#define IO_URING_BLOCK	 8

/* The members that are used: a kernel may be built without io_uring. */
struct io_hash_bucket___asked {
	struct {
		void *first;
	} list;
} __attribute__((preserve_access_index));

struct io_hash_table___asked {
	struct io_hash_bucket___asked *hbs;
	unsigned int hash_bits;
} __attribute__((preserve_access_index));

/* Descriptors that a thread has registered, by io_uring_register_ring_fd: since 5.18, e7a6c00dc77a. */
struct io_uring_task___asked {
	struct file *registered_rings[16];
} __attribute__((preserve_access_index));

struct task_struct___with_io_uring {
	void *io_uring; /* unless the kernel is built without it */
} __attribute__((preserve_access_index));

struct io_ring_ctx___asked {
	unsigned int flags;
	void *sq_sqes;
	unsigned int cached_sq_head;
	unsigned int sq_entries;
	unsigned int cached_cq_tail;
	struct io_hash_table___asked cancel_table; /* since 5.19, e6f89be61410 */
	struct {
		void *next;
	} timeout_list;
} __attribute__((preserve_access_index));

/* The beginning of struct io_uring_sqe, which programs write. */
struct io_uring_request {
	u8 op, flags;
	u16 ioprio;
	s32 fd;
};

/* enum io_uring_op: numbers are never given anew. */
enum io_uring_asked {
	ASKED_NOP = 0,
	ASKED_READV = 1,
	ASKED_WRITEV = 2,
	ASKED_FSYNC = 3,
	ASKED_READ_FIXED = 4,
	ASKED_WRITE_FIXED = 5,
	ASKED_POLL_ADD = 6,
	ASKED_POLL_REMOVE = 7,
	ASKED_SYNC_FILE_RANGE = 8,
	ASKED_SENDMSG = 9,
	ASKED_RECVMSG = 10,
	ASKED_TIMEOUT = 11,
	ASKED_TIMEOUT_REMOVE = 12,
	ASKED_ACCEPT = 13,
	ASKED_ASYNC_CANCEL = 14,
	ASKED_LINK_TIMEOUT = 15,
	ASKED_CONNECT = 16,
	ASKED_READ = 22,
	ASKED_WRITE = 23,
	ASKED_SEND = 26,
	ASKED_RECV = 27,
	ASKED_PROVIDE_BUFFERS = 31,
	ASKED_REMOVE_BUFFERS = 32,
	ASKED_SEND_ZC = 47,
	ASKED_SENDMSG_ZC = 48,
	ASKED_READ_MULTISHOT = 49,
};

/* Of reading and writing, that of the file. */
static __always_inline u32 io_uring__cause_of_file(struct files_struct *files,
						   const struct io_uring_request *r)
{
	if (r->flags & IO_URING_FIXED)
		return QZ_WAIT_IO_URING;
	switch (file__type((u64)files__at(files, r->fd))) {
	case MODE_FILE:
	case MODE_BLOCK:
		return QZ_WAIT_DISK;
	case MODE_FIFO:
		return QZ_WAIT_PIPE;
	case MODE_SOCKET:
		return QZ_WAIT_SOCKET;
	}
	return QZ_WAIT_IO_URING;
}

/* 0: no thread waits for such a request. */
static __always_inline u32 io_uring__cause_of(struct files_struct *files,
					      const struct io_uring_request *r)
{
	switch (r->op) {
	case ASKED_NOP: /* and of an entry that was never used */
	case ASKED_POLL_REMOVE:
	case ASKED_TIMEOUT_REMOVE:
	case ASKED_ASYNC_CANCEL:
	case ASKED_LINK_TIMEOUT:
	case ASKED_PROVIDE_BUFFERS:
	case ASKED_REMOVE_BUFFERS:
		return 0;
	case ASKED_TIMEOUT:
		return QZ_WAIT_SLEEP;
	case ASKED_POLL_ADD:
		return QZ_WAIT_POLL;
	case ASKED_FSYNC:
	case ASKED_SYNC_FILE_RANGE:
		return QZ_WAIT_DISK;
	case ASKED_SENDMSG:
	case ASKED_RECVMSG:
	case ASKED_ACCEPT:
	case ASKED_CONNECT:
	case ASKED_SEND:
	case ASKED_RECV:
	case ASKED_SEND_ZC:
	case ASKED_SENDMSG_ZC:
		return QZ_WAIT_SOCKET;
	case ASKED_READV:
	case ASKED_WRITEV:
	case ASKED_READ_FIXED:
	case ASKED_WRITE_FIXED:
	case ASKED_READ:
	case ASKED_WRITE:
	case ASKED_READ_MULTISHOT:
		return io_uring__cause_of_file(files, r);
	}
	return QZ_WAIT_IO_URING;
}

/* That of a request of who has these files. The verifier looks once at functions that are not static: they have numbers alone. */
__noinline u32 io_uring__cause_at(u64 files, u64 request)
{
	struct io_uring_request r;

	if (bpf_probe_read_kernel(&r, sizeof(r), (void *)request))
		return QZ_WAIT_IO_URING;
	return io_uring__cause_of((struct files_struct *)files, &r);
}

/* What the requests so far are for: a cause, 0 for none yet, and that not all are for devices, those that are done, too. */
#define IO_URING_CAUSE	0xffffu
#define IO_URING_OTHERS 0x10000u

/*
 * Takes in one request, after which so many were made that are under way; less than 0: it is done. Not static, so that the
 * verifier forgets what each is for.
 */
__noinline u32 io_uring__add(u32 found, u32 cause, s32 later)
{
	u32 so_far = found & IO_URING_CAUSE;
	bool under_way = later >= 0;

	if (!cause)
		return found;
	if (cause != QZ_WAIT_DISK)
		found |= IO_URING_OTHERS;
	/* a time limit for another request, or a clock beside it, is not waited for */
	if (so_far && (!under_way || cause == so_far || cause == QZ_WAIT_SLEEP))
		return found;
	if (so_far && so_far != QZ_WAIT_SLEEP)
		cause = QZ_WAIT_IO_URING;
	return (found & IO_URING_OTHERS) | cause;
}

/* Whether buckets of requests that wait for readiness are empty: of n a block. */
__noinline u32 io_uring__are_empty(u64 bucket, u32 n)
{
	for (u32 i = 0; i < IO_URING_BLOCK && i < n; i++) {
		struct io_hash_bucket___asked *b = (void *)bucket;

		if (BPF_CORE_READ(b, list.first))
			return false;
		bucket += bpf_core_type_size(struct io_hash_bucket___asked);
	}
	return true;
}

/*
 * Whether a request may be under way that no device answers: the last ones may be done, and one of long ago not.
 * Sockets and pipes are in a table by user_data until they are ready, clocks in a list.
 */
__noinline u32 io_uring__has_others(u64 context)
{
	struct io_ring_ctx___asked *ring = (void *)context;
	u64 buckets, size;
	u32 n;

	if (!bpf_core_field_exists(ring->cancel_table.hbs) ||
	    (u64)BPF_CORE_READ(ring, timeout_list.next) !=
		    context + bpf_core_field_offset(ring->timeout_list))
		return true;
	buckets = (u64)BPF_CORE_READ(ring, cancel_table.hbs);
	size = bpf_core_type_size(struct io_hash_bucket___asked);
	n = 1u << (BPF_CORE_READ(ring, cancel_table.hash_bits) & 31);
	for (u32 i = 0; i < IO_URING_BUCKETS && i < n; i += IO_URING_BLOCK)
		if (!io_uring__are_empty(buckets + i * size, n - i))
			return true;
	return n > IO_URING_BUCKETS;
}

static __always_inline struct file *io_uring__registered(u64 own, u64 number)
{
	struct io_uring_task___asked *rings = (void *)own;
	struct file *file = NULL;

	if (!own || !bpf_core_field_exists(rings->registered_rings) ||
	    number >= sizeof(rings->registered_rings) / sizeof(rings->registered_rings[0]))
		return NULL;
	own += bpf_core_field_offset(rings->registered_rings) + number * sizeof(file);
	bpf_probe_read_kernel(&file, sizeof(file), (void *)own);
	return file;
}

/* What else a thread has for it, see io_uring__registered. */
static __always_inline u64 io_uring__of_task(struct task_struct *task)
{
	struct task_struct___with_io_uring *with = (void *)task;

	return bpf_core_field_exists(with->io_uring) ? (u64)BPF_CORE_READ(with, io_uring) : 0;
}

/*
 * Reads the last requests under way: as many as were submitted and not completed. Of a request with many completions, the
 * last one stands for all. A device is the cause only if no other request was found.
 */
__noinline u32 io_uring__cause(u64 files, u64 own, u64 fd, u64 flags)
{
	struct io_ring_ctx___asked *ring;
	u32 entries, head, size, found = 0;
	struct file *file;
	u64 requests;
	s32 under_way;

	if (!bpf_core_type_exists(struct io_ring_ctx___asked))
		return QZ_WAIT_IO_URING;
	file = flags & IO_URING_REGISTERED ? io_uring__registered(own, fd)
					   : files__at((struct files_struct *)files, fd);
	ring = file ? BPF_CORE_READ(file, private_data) : NULL;
	if (!ring)
		return QZ_WAIT_IO_URING;
	entries = BPF_CORE_READ(ring, sq_entries);
	head = BPF_CORE_READ(ring, cached_sq_head);
	under_way = head - BPF_CORE_READ(ring, cached_cq_tail);
	size = BPF_CORE_READ(ring, flags) & IO_URING_WIDE ? 128 : 64;
	requests = (u64)BPF_CORE_READ(ring, sq_sqes);
	for (s32 i = 1; i <= IO_URING_LOOKS && (u32)i <= entries; i++) {
		u64 at = (head - i) & (entries - 1);

		found = io_uring__add(found, io_uring__cause_at(files, requests + at * size),
				      under_way - i);
	}
	if ((found & IO_URING_CAUSE) != QZ_WAIT_DISK)
		return (found & IO_URING_CAUSE) ?: QZ_WAIT_IO_URING;
	return found & IO_URING_OTHERS || io_uring__has_others((u64)ring) ? QZ_WAIT_IO_URING
									  : QZ_WAIT_DISK;
}

#endif
