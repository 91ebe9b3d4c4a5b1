// SPDX-License-Identifier: GPL-2.0-only
/* All BPF programs that measure, one object: they share their maps. One concern per header. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "quartz/records.h"
#include "quartz/spin.h"
#include "quartz/unwind.h"
#include "quartz/python.h"
#include "quartz/page.h"

char LICENSE[] SEC("license") = "GPL";

#define TASK_DEAD_BIT  0x80	  /* include/linux/sched.h, unchanged since 4.14 */
#define TASK_NEW_BIT   0x800	  /* unchanged since 4.14 */
#define PF_KTHREAD_BIT 0x00200000 /* unchanged since 2.6.27 */
#define IO_WORKER_BIT  0x10	  /* PF_IO_WORKER, since 5.12 */

#include "bpf/arch.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/namespace.bpf.h"
#include "bpf/hash.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/scope.bpf.h"
#include "bpf/quota.bpf.h"
#include "bpf/descriptor.bpf.h"
#include "bpf/io_uring.bpf.h"
#include "bpf/kernel_lock.bpf.h"
#include "bpf/wait_cause.bpf.h"
#include "bpf/futex_key.bpf.h"
#include "bpf/object.bpf.h"
#include "bpf/spin.bpf.h"
#include "bpf/thread.bpf.h"
#include "bpf/event.bpf.h"
#include "bpf/uretprobe.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/python.bpf.h"
#include "bpf/candidates.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/followed.bpf.h"
#include "bpf/log_record.bpf.h"
#include "bpf/transfers.bpf.h"
#include "bpf/tell.bpf.h"
#include "bpf/remap.bpf.h"
#include "bpf/wait_stack.bpf.h"
#include "bpf/running_stack.bpf.h"
#include "bpf/lifecycle.bpf.h"
#include "bpf/kernel_name.bpf.h"
#include "bpf/attach.bpf.h"
#include "bpf/log.bpf.h"
#include "bpf/page.bpf.h"
#include "bpf/watchdog.bpf.h"
#include "bpf/sample.bpf.h"
