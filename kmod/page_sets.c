// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page sets: tmpfs memory that a process maps through /dev/quartz. tmpfs does the sharing and the
 * charging. Each mapping holds a reference to the device's file, so the file is released after the
 * last unmapping. The pages are unevictable: tmpfs does not know these mappings and could not unmap
 * them.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/jiffies.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "compat.h"
#include "quartz.h"
#include "quartz/page.h"

static uint sets_per_user = 512;
module_param(sets_per_user, uint, 0444);
MODULE_PARM_DESC(sets_per_user,
		 "page sets that one user can have, 512 if not given; root any number");

#define MAX_SETS 16384

struct qz_page_set {
	struct qz_set_info info;
	kuid_t user;
	struct file *memory;
	int status; /* the answer; valid once info.awaiting is 0 */
};

/* Guards everything below, and the private data of files. */
static DEFINE_MUTEX(sets_lock);
static DEFINE_XARRAY_ALLOC1(sets);
static u32 next_id;
static uint nsets, nawaiting;

/* The listener waits for arrivals, in poll; processes wait for its answers. */
static DECLARE_WAIT_QUEUE_HEAD(arrivals);
static DECLARE_WAIT_QUEUE_HEAD(answers);

/* One page that every process may map; written under sets_lock. */
static struct qz_page_flag *flag;

/* ---- creation and release ---- */

static uint sets_of(kuid_t user)
{
	struct qz_page_set *set;
	unsigned long id;
	uint n = 0;

	xa_for_each(&sets, id, set)
		n += uid_eq(set->user, user);
	return n;
}

static int set_allowed(kuid_t user)
{
	lockdep_assert_held(&sets_lock);
	if (nsets >= MAX_SETS)
		return -ENOSPC;
	if (!uid_eq(user, GLOBAL_ROOT_UID) && sets_of(user) >= sets_per_user)
		return -EDQUOT;
	return 0;
}

static void set_free(struct qz_page_set *set)
{
	if (set->memory)
		fput(set->memory);
	kfree(set);
}

static void set_describe(struct qz_page_set *set, const struct qz_ioc_open_set *open)
{
	struct task_struct *leader = current->group_leader;

	set->user = current_uid();
	set->info = (struct qz_set_info) {
		.start_boottime = leader->start_boottime,
		.bytes = open->bytes,
		.tables_address = open->tables_address,
		.slots_address = open->slots_address,
		.slots_offset = open->slots_offset,
		.slot_pointer_offset = open->slot_pointer_offset,
		.tgid = task_tgid_nr(current),
		.uid = from_kuid_munged(&init_user_ns, set->user),
		.page_version = open->page_version,
		.generation = READ_ONCE(flag->generation),
	};
}

/* Writes the first fields of the header, which belong to the module. */
static int set_begin(struct qz_page_set *set)
{
	struct qz_page_header header = {
		.magic = QZ_PAGE_MAGIC,
		.version = QZ_PAGE_VERSION,
		.generation = set->info.generation,
	};
	size_t size = offsetofend(struct qz_page_header, generation);
	loff_t at = 0;
	ssize_t n = kernel_write(set->memory, &header, size, &at);

	if (n < 0)
		return n;
	return n == size ? 0 : -EIO;
}

static struct qz_page_set *set_make(const struct qz_ioc_open_set *open)
{
	struct qz_page_set *set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);
	int err;

	if (!set)
		return ERR_PTR(-ENOMEM);
	set_describe(set, open);
	set->memory = shmem_file_setup("quartz", open->bytes, VM_NORESERVE);
	if (IS_ERR(set->memory)) {
		err = PTR_ERR(set->memory);
		set->memory = NULL;
	} else {
		mapping_set_unevictable(set->memory->f_mapping);
		mapping_set_gfp_mask(set->memory->f_mapping, GFP_HIGHUSER);
		err = set_begin(set);
	}
	if (!err)
		return set;
	set_free(set);
	return ERR_PTR(err);
}

static int set_register(struct file *file, struct qz_page_set *set, bool await)
{
	u32 id;
	int err;

	lockdep_assert_held(&sets_lock);
	if (file->private_data)
		return -EBUSY;
	err = set_allowed(set->user);
	if (err)
		return err;
	set->info.awaiting = await && set->info.generation &&
			     set->info.generation == flag->generation;
	err = xa_alloc_cyclic(&sets, &id, set, xa_limit_32b, &next_id, GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;
	set->info.id = id;
	nsets++;
	WRITE_ONCE(nawaiting, nawaiting + set->info.awaiting);
	return 0;
}

static void set_answered(struct qz_page_set *set, int status)
{
	lockdep_assert_held(&sets_lock);
	set->status = status;
	WRITE_ONCE(set->info.awaiting, 0);
	WRITE_ONCE(nawaiting, nawaiting - 1);
}

static void set_unregister(struct qz_page_set *set)
{
	lockdep_assert_held(&sets_lock);
	if (set->info.awaiting)
		set_answered(set, 0);
	xa_erase(&sets, set->info.id);
	nsets--;
}

/* Waits for the answer. The file does not own the set yet, so only this call can free it. */
static int set_await(struct qz_page_set *set, u64 patience_ns)
{
	long left;

	if (!READ_ONCE(set->info.awaiting))
		return 0;
	wake_up(&arrivals);
	left = wait_event_killable_timeout(answers, !READ_ONCE(set->info.awaiting),
					   nsecs_to_jiffies(patience_ns) + 1);
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

/* Gives the set to the file, or unregisters it on an error. */
static int set_commit(struct file *file, struct qz_page_set *set, int err)
{
	lockdep_assert_held(&sets_lock);
	if (!set->info.awaiting)
		err = set->status;
	if (!err && file->private_data)
		err = -EBUSY;
	if (err)
		set_unregister(set);
	else
		file->private_data = set;
	return err;
}

long qz_page_set_open(struct file *file, const struct qz_ioc_open_set *open)
{
	struct qz_page_set *set;
	int err;

	if (!open->bytes || open->bytes > QZ_SET_MAX || !PAGE_ALIGNED(open->bytes) ||
	    open->slots_offset >= open->bytes || open->patience_ns > QZ_SET_PATIENCE_MAX)
		return -EINVAL;
	if (open->page_version != QZ_PAGE_VERSION)
		return -EPROTONOSUPPORT;
	set = set_make(open);
	if (IS_ERR(set))
		return PTR_ERR(set);
	mutex_lock(&sets_lock);
	err = set_register(file, set, open->patience_ns);
	mutex_unlock(&sets_lock);
	if (!err) {
		err = set_await(set, open->patience_ns);
		mutex_lock(&sets_lock);
		err = set_commit(file, set, err);
		mutex_unlock(&sets_lock);
	}
	if (err)
		set_free(set);
	return err;
}

void qz_page_set_release(struct file *file)
{
	struct qz_page_set *set = file->private_data;

	if (!set)
		return;
	mutex_lock(&sets_lock);
	set_unregister(set);
	mutex_unlock(&sets_lock);
	set_free(set);
}

/* ---- mapping ---- */

static vm_fault_t set_fault(struct vm_fault *vmf)
{
	struct qz_page_set *set = vmf->vma->vm_file->private_data;
	struct page *page;

	if (vmf->pgoff >= set->info.bytes >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	page = shmem_read_mapping_page(set->memory->f_mapping, vmf->pgoff);
	if (IS_ERR(page))
		return vmf_error(PTR_ERR(page));
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct set_vm_ops = {.fault = set_fault};

/* The set exists before it can be mapped, and as long as the file. */
int qz_page_set_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct qz_page_set *set;

	mutex_lock(&sets_lock);
	set = file->private_data;
	mutex_unlock(&sets_lock);
	if (!set)
		return -ENXIO;
	if (vma->vm_pgoff + vma_pages(vma) < vma->vm_pgoff ||
	    vma->vm_pgoff + vma_pages(vma) > set->info.bytes >> PAGE_SHIFT)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	vma->vm_ops = &set_vm_ops;
	return 0;
}

int qz_page_sets_mmap_flag(struct vm_area_struct *vma)
{
	if (vma_pages(vma) != 1 || vma->vm_flags & VM_WRITE)
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return remap_vmalloc_range(vma, flag, 0);
}

/* ---- calls of quartzd ---- */

u32 qz_page_sets_begin_generation(void)
{
	u32 generation;

	mutex_lock(&sets_lock);
	if (!++flag->last)
		flag->last = 1;
	generation = flag->last;
	WRITE_ONCE(flag->generation, generation);
	mutex_unlock(&sets_lock);
	return generation;
}

void qz_page_sets_end_generation(void)
{
	struct qz_page_set *set;
	unsigned long id;

	mutex_lock(&sets_lock);
	WRITE_ONCE(flag->generation, 0);
	xa_for_each(&sets, id, set)
		if (set->info.awaiting)
			set_answered(set, -ESHUTDOWN);
	mutex_unlock(&sets_lock);
	wake_up_all(&answers);
}

bool qz_page_sets_poll(struct file *file, struct poll_table_struct *wait)
{
	poll_wait(file, &arrivals, wait);
	return READ_ONCE(nawaiting);
}

long qz_page_set_answer(const struct qz_ioc_answer_set *answer)
{
	struct qz_page_set *set;
	long err = -ESRCH;

	if (answer->status > 0 || answer->status < -MAX_ERRNO)
		return -EINVAL;
	mutex_lock(&sets_lock);
	set = answer->id <= U32_MAX ? xa_load(&sets, answer->id) : NULL;
	if (set && set->info.awaiting) {
		set_answered(set, answer->status);
		err = 0;
	}
	mutex_unlock(&sets_lock);
	if (!err)
		wake_up_all(&answers);
	return err;
}

/* Finds the first set with this id or a higher one. */
static bool set_next(unsigned long id, struct qz_set_info *info)
{
	struct qz_page_set *set;

	mutex_lock(&sets_lock);
	set = xa_find(&sets, &id, U32_MAX, XA_PRESENT);
	if (set)
		*info = set->info;
	mutex_unlock(&sets_lock);
	return set;
}

/* Copies without sets_lock: a fault takes mmap_lock, which is held around set_mmap. */
long qz_page_sets_list(const struct qz_ioc_list_sets *list)
{
	struct qz_set_info __user *to = u64_to_user_ptr(list->sets);
	struct qz_set_info info = {.id = list->after};
	long n = 0;

	while (n < list->room && info.id < U32_MAX && set_next(info.id + 1, &info)) {
		if (copy_to_user(&to[n], &info, sizeof(info)))
			return -EFAULT;
		n++;
	}
	return n;
}

long qz_page_set_attach(const struct qz_ioc_attach_set *attach)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *file = ERR_PTR(-ESRCH);
	struct qz_page_set *set;

	if (fd < 0)
		return fd;
	mutex_lock(&sets_lock);
	set = attach->id <= U32_MAX ? xa_load(&sets, attach->id) : NULL;
	if (set)
		file = dentry_open(&set->memory->f_path, O_RDONLY | O_LARGEFILE, current_cred());
	mutex_unlock(&sets_lock);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

int qz_page_sets_init(void)
{
	flag = vmalloc_user(PAGE_SIZE);
	return flag ? 0 : -ENOMEM;
}

/* The device is gone, so no file holds a set or maps the flag any more. */
void qz_page_sets_exit(void)
{
	WARN_ON(!xa_empty(&sets));
	xa_destroy(&sets);
	vfree(flag);
}
