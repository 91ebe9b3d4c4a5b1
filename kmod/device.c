// SPDX-License-Identifier: GPL-2.0-only
/* /dev/quartz: permissions, and copying from and to user space. Other files do the work. */
#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "quartz.h"

static ushort mode = 0660;
module_param(mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/quartz, 0660 if not given");

static uint gid;
module_param(gid, uint, 0444);
MODULE_PARM_DESC(gid, "group of /dev/quartz, 0 if not given");

/* Guards `listener`, and orders what it publishes before its end. */
static DEFINE_MUTEX(listener_lock);
static struct file *listener;

/* ---- ioctls ---- */

/* Copies a structure that begins with its size in the caller's version. */
static int copy_in(void *to, size_t size, const void __user *from)
{
	u32 theirs;

	if (get_user(theirs, (const u32 __user *)from))
		return -EFAULT;
	if (theirs < sizeof(theirs) || theirs > PAGE_SIZE)
		return -EINVAL;
	return copy_struct_from_user(to, size, from, theirs);
}

static bool all_zero(const void *bytes, size_t size)
{
	return !memchr_inv(bytes, 0, size);
}

static long open_set(struct file *file, const void __user *arg)
{
	struct qz_ioc_open_set open;
	int err = copy_in(&open, sizeof(open), arg);

	if (err)
		return err;
	if (!all_zero(open.reserved, sizeof(open.reserved)))
		return -EINVAL;
	return qz_page_set_open(file, &open);
}

static long listen(struct file *file, void __user *arg)
{
	struct qz_ioc_listen __user *user = arg;
	struct qz_ioc_listen l;
	u32 generation;
	long err = copy_in(&l, sizeof(l), arg);

	if (err)
		return err;
	mutex_lock(&listener_lock);
	if (listener) {
		err = -EBUSY;
	} else {
		generation = qz_page_sets_begin_generation();
		err = put_user(generation, &user->generation);
		if (err) {
			qz_page_sets_end_generation();
		} else {
			WRITE_ONCE(listener, file);
			qz_sysfs_scopes_retire_all();
			qz_sysfs_enable(true);
		}
	}
	mutex_unlock(&listener_lock);
	return err;
}

static void stop_listening(struct file *file)
{
	mutex_lock(&listener_lock);
	if (listener == file) {
		WRITE_ONCE(listener, NULL);
		qz_page_sets_end_generation();
		qz_sysfs_enable(false);
	}
	mutex_unlock(&listener_lock);
}

static long list_sets(const void __user *arg)
{
	struct qz_ioc_list_sets list;
	int err = copy_in(&list, sizeof(list), arg);

	if (err)
		return err;
	return list.reserved ? -EINVAL : qz_page_sets_list(&list);
}

static long attach_set(const void __user *arg)
{
	struct qz_ioc_attach_set attach;
	int err = copy_in(&attach, sizeof(attach), arg);

	if (err)
		return err;
	return attach.reserved ? -EINVAL : qz_page_set_attach(&attach);
}

static long answer_set(const void __user *arg)
{
	struct qz_ioc_answer_set answer;
	int err = copy_in(&answer, sizeof(answer), arg);

	return err ?: qz_page_set_answer(&answer);
}

static long publish(const void __user *arg)
{
	struct qz_ioc_publish figures;
	int err = copy_in(&figures, sizeof(figures), arg);

	if (err)
		return err;
	if (!all_zero(figures.reserved, sizeof(figures.reserved)))
		return -EINVAL;
	qz_sysfs_publish(&figures);
	return 0;
}

static long publish_scope(const void __user *arg)
{
	struct qz_ioc_publish_scope scope;
	int err = copy_in(&scope, sizeof(scope), arg);

	if (err)
		return err;
	return scope.reserved ? -EINVAL : qz_sysfs_scope_publish(&scope);
}

static long retire_scope(const void __user *arg)
{
	struct qz_ioc_retire_scope retire;
	int err = copy_in(&retire, sizeof(retire), arg);

	if (err)
		return err;
	if (retire.reserved || strnlen(retire.name, QZ_NAME_MAX) == QZ_NAME_MAX)
		return -EINVAL;
	return qz_sysfs_scope_retire(retire.name);
}

static long snapshot(void __user *arg)
{
	struct qz_ioc_snapshot *s;
	u32 size;
	long err;

	s = kmalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	err = copy_in(s, sizeof(*s), arg);
	if (!err && !all_zero(s->reserved, sizeof(s->reserved)))
		err = -EINVAL;
	if (!err) {
		size = min_t(u32, s->size, sizeof(*s));
		err = qz_cpu_snapshot_take(s);
	}
	if (!err && copy_to_user(arg, s, size))
		err = -EFAULT;
	kfree(s);
	return err;
}

/* Calls that only the listener may make; the lock keeps it from ending meanwhile. */
static long listener_ioctl(struct file *file, unsigned int cmd, void __user *arg)
{
	long err = -EPERM;

	mutex_lock(&listener_lock);
	if (listener == file) {
		if (cmd == QZ_IOC_PUBLISH)
			err = publish(arg);
		else if (cmd == QZ_IOC_PUBLISH_SCOPE)
			err = publish_scope(arg);
		else if (cmd == QZ_IOC_RETIRE_SCOPE)
			err = retire_scope(arg);
		else
			err = answer_set(arg);
	}
	mutex_unlock(&listener_lock);
	return err;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long address)
{
	void __user *arg = (void __user *)address;

	if (cmd == QZ_IOC_OPEN_SET)
		return open_set(file, arg);
	if (!perfmon_capable())
		return -EPERM;
	switch (cmd) {
	case QZ_IOC_LISTEN:
		return listen(file, arg);
	case QZ_IOC_LIST_SETS:
		return list_sets(arg);
	case QZ_IOC_ATTACH_SET:
		return attach_set(arg);
	case QZ_IOC_SNAPSHOT:
		return snapshot(arg);
	case QZ_IOC_PUBLISH:
	case QZ_IOC_PUBLISH_SCOPE:
	case QZ_IOC_RETIRE_SCOPE:
	case QZ_IOC_ANSWER_SET:
		return listener_ioctl(file, cmd, arg);
	default:
		return -ENOTTY;
	}
}

/* ---- the file ---- */

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	if (vma->vm_pgoff == QZ_DEVICE_FLAG >> PAGE_SHIFT)
		return qz_page_sets_mmap_flag(vma);
	return qz_page_set_mmap(file, vma);
}

/* Any file may be polled; only the listener is ever ready. */
static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	bool any = qz_page_sets_poll(file, wait);

	return any && READ_ONCE(listener) == file ? EPOLLIN | EPOLLRDNORM : 0;
}

static int device_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return nonseekable_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	stop_listening(file);
	qz_page_set_release(file);
	return 0;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.mmap = device_mmap,
	.poll = device_poll,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* ---- the node ---- */

static char *device_devnode(QZ_CONST_6_2 struct device *dev, umode_t *node_mode, kuid_t *node_uid,
			    kgid_t *node_gid)
{
	/* NULL when the node is being removed */
	if (node_mode)
		*node_mode = mode & 0777;
	if (node_gid)
		*node_gid = make_kgid(&init_user_ns, gid);
	return NULL;
}

static void device_freed(struct device *dev)
{
}

static struct class quartz_class = {.name = "quartz"};
static const struct device_type device_type = {.name = "quartz", .devnode = device_devnode};
static struct device device;
static struct cdev cdev;
static dev_t number;

int qz_device_init(void)
{
	int err;

	if (!gid_valid(make_kgid(&init_user_ns, gid)))
		return -EINVAL;
	err = alloc_chrdev_region(&number, 0, 1, "quartz");
	if (err)
		return err;
	err = class_register(&quartz_class);
	if (err)
		goto region;
	device_initialize(&device);
	device.class = &quartz_class;
	device.type = &device_type;
	device.devt = number;
	device.release = device_freed;
	err = dev_set_name(&device, "quartz");
	if (err)
		goto put;
	cdev_init(&cdev, &device_fops);
	cdev.owner = THIS_MODULE;
	err = cdev_device_add(&cdev, &device);
	if (!err)
		return 0;
put:
	put_device(&device);
	class_unregister(&quartz_class);
region:
	unregister_chrdev_region(number, 1);
	return err;
}

void qz_device_exit(void)
{
	cdev_device_del(&cdev, &device);
	put_device(&device);
	class_unregister(&quartz_class);
	unregister_chrdev_region(number, 1);
}
