// SPDX-License-Identifier: GPL-2.0-only
/* /dev/quartz: permissions, and copying from and to user space. Other files do the work. */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "quartz.h"

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

static long listen(struct file *file, const void __user *arg)
{
	struct qz_ioc_listen l;
	long err = copy_in(&l, sizeof(l), arg);

	if (err)
		return err;
	if (l.reserved)
		return -EINVAL;
	mutex_lock(&listener_lock);
	if (listener) {
		err = -EBUSY;
	} else {
		listener = file;
		qz_sysfs_scopes_retire_all();
		qz_sysfs_enable(true);
	}
	mutex_unlock(&listener_lock);
	return err;
}

static void stop_listening(struct file *file)
{
	mutex_lock(&listener_lock);
	if (listener == file) {
		listener = NULL;
		qz_sysfs_enable(false);
	}
	mutex_unlock(&listener_lock);
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
		else
			err = retire_scope(arg);
	}
	mutex_unlock(&listener_lock);
	return err;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long address)
{
	void __user *arg = (void __user *)address;

	if (!perfmon_capable())
		return -EPERM;
	switch (cmd) {
	case QZ_IOC_LISTEN:
		return listen(file, arg);
	case QZ_IOC_SNAPSHOT:
		return snapshot(arg);
	case QZ_IOC_PUBLISH:
	case QZ_IOC_PUBLISH_SCOPE:
	case QZ_IOC_RETIRE_SCOPE:
		return listener_ioctl(file, cmd, arg);
	default:
		return -ENOTTY;
	}
}

/* ---- the file ---- */

static int device_release(struct inode *inode, struct file *file)
{
	stop_listening(file);
	return 0;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "quartz",
	.mode = 0600,
	.fops = &device_fops,
};

int qz_device_init(void)
{
	return misc_register(&device);
}

void qz_device_exit(void)
{
	misc_deregister(&device);
}
